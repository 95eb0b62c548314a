"""What the agent node demands of a goal before anything drives: maps, keep-out areas, a person's yes."""

import math
import re
from dataclasses import replace

import pytest
from geometry_msgs.msg import PoseArray, PoseStamped
from nav_msgs.msg import OccupancyGrid
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.node import Node
from rclpy.parameter import Parameter

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.srv import Ask as AskSrv
from remembr_msgs.srv import Confirm
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base import qos
from test.node.agent.fake_agent import ABORTED, CANCELED, LIFT, SUCCEEDED, Asker, FakeAgent
from test.node.base.test_managed_node_live_parameters import change

CODES = AskAction.Result


class Scene:
    """An agent that publishes goals, and an asker."""

    def __init__(self, robot, **parameters) -> None:
        self.robot = robot
        self.agent = robot.start(AgentNode, pose_source='pose', **parameters)
        self.agent._agent = FakeAgent()
        self.there = ['lift-1']  # of the memories that goals rest on
        self.agent._navigator._get = lambda ids: [i for i in ids if i in self.there]
        self.proposals = robot.listen(PoseArray, 'proposed_goals', qos.MARKERS)
        self.goals = robot.listen(PoseStamped, 'goal_pose')
        self.asker = Asker(robot)

    def ask(self):
        return self.asker.send('Take me to the lift', navigate=True)

    def go(self):
        return self.asker.result(self.ask())

    def publish(self, topic: str, rows: list[str], frame_id: str = 'map', **changes) -> None:
        """Publish a grid of 10 x 10 cells of 1 m, and wait until the agent knows it."""
        before = self.agent._navigator._layers.terrain
        self.talk = self.robot.client.create_publisher(OccupancyGrid, topic, qos.MAPS)
        self.talk.publish(grid(rows, frame_id, **changes))
        self.robot.wait(lambda: self.agent._navigator._layers.terrain is not before, f'{topic} is known')

    def wait_for_goal(self) -> tuple[float, float]:
        self.robot.wait(lambda: self.goals, 'a goal')
        return self.goals[-1].pose.position.x, self.goals[-1].pose.position.y


def grid(rows: list[str], frame_id: str = 'map', **changes) -> OccupancyGrid:
    """Return a message of rows, the top one first, of which characters say '#' occupied, '?' unknown."""
    msg = OccupancyGrid(data=[{'#': 100, '?': -1}.get(c, 0) for row in reversed(rows) for c in row])
    msg.header.frame_id = frame_id
    msg.info.width, msg.info.height, msg.info.resolution = len(rows[0]), len(rows), 1.0
    msg.info.origin.orientation.w = 1.0
    for name, value in changes.items():
        setattr(msg.info, name, value)
    return msg


OPEN = ['.' * 10] * 10
BLOCKED = [*['.' * 10] * 7, '...###....', '.' * 10, '.' * 10]
"""LIFT was seen from x 4, y 2; the cell there is occupied."""
BLOCKED_BELOW = [*['.' * 10] * 6, '....#.....', '....#.....', '....#.....', '....#.....']


@pytest.fixture
def scene(robot):
    made = []

    def make(**parameters):
        made.append(Scene(robot, **parameters))
        return made[0]

    yield make
    for one in made:
        one.asker.client.destroy()


def test_a_goal_in_a_wall_moves_to_the_nearest_free_place(scene):
    one = scene()
    one.publish('map', BLOCKED)
    assert one.go().result.error_code == CODES.NONE
    assert one.wait_for_goal() == (3.5, 1.5)


def test_a_map_that_was_published_before_counts(robot, scene):
    publisher = robot.client.create_publisher(OccupancyGrid, 'map', qos.MAPS)
    publisher.publish(grid(BLOCKED))
    one = scene(goal_search_radius=0.0)
    robot.wait(lambda: one.agent._navigator._layers.terrain.map, 'the map')
    result = one.go().result
    assert result.error_code == CODES.GOAL_REJECTED
    assert 'occupied in the map' in result.error_msg
    assert not one.goals


def test_the_costmap_counts_too(scene):
    one = scene(goal_search_radius=0.0)
    one.publish('map', OPEN)
    one.publish('global_costmap/costmap', BLOCKED)
    assert 'occupied in the global costmap' in one.go().result.error_msg


def test_what_changes_in_the_costmap_counts(robot, scene):
    messages = pytest.importorskip('map_msgs.msg', reason='needs map_msgs: make setup')
    one = scene(goal_search_radius=0.0)
    updates = robot.talk(messages.OccupancyGridUpdate, 'global_costmap/costmap_updates')
    layers = one.agent._navigator._layers
    updates.publish(messages.OccupancyGridUpdate(x=0, y=0, width=1, height=1, data=[100]))
    one.publish('global_costmap/costmap', OPEN)
    assert one.go().result.error_code == CODES.NONE
    updates.publish(messages.OccupancyGridUpdate(x=3, y=1, width=2, height=2, data=[100] * 4))
    robot.wait(lambda: layers.terrain.costmap.cells.max() == 100, 'the update')
    assert 'occupied in the global costmap' in one.go().result.error_msg


def test_how_near_makes_one_place_is_a_parameter_and_a_wall_of_the_map_makes_two(robot, scene):
    one = scene(same_place=4.5)

    def same_place():
        one.asker.result(one.asker.send('Where is the lift?'))
        question, _ = one.agent._agent.questions[-1]
        return question.same_place

    def joins(x: float) -> bool:
        return same_place().joins(('map', ''), (1.5, 1.5, 0.0), [(x, 1.5, 0.0)])[0]

    assert (joins(5.5), joins(6.5)) == (True, False)
    one.publish('map', BLOCKED_BELOW)
    assert (joins(2.5), joins(5.5)) == (True, False)
    assert one.agent.set_parameters([Parameter('same_place', value=0.5)])[0].successful
    assert not joins(2.5)


def test_a_required_map_that_is_not_there_is_named(scene):
    one = scene(require_map=True)
    result = one.go().result
    assert result.error_code == CODES.GOAL_REJECTED
    assert 'require_map' in result.error_msg
    one.publish('map', OPEN)
    assert one.go().result.error_code == CODES.NONE


def test_a_place_that_cannot_be_reached_from_here_is_refused(robot, scene):
    one = scene(goal_search_radius=1.0)
    one.publish('map', [*['.' * 10] * 4, '#' * 10, *['.' * 10] * 5])
    poses = robot.talk(PoseStamped, 'pose')
    here = PoseStamped()
    here.header.frame_id = 'map'
    here.pose.position.x, here.pose.position.y, here.pose.orientation.w = 4.0, 8.0, 1.0
    poses.publish(here)
    robot.wait(lambda: one.agent._here, 'a pose')
    assert 'cannot be reached' in one.go().result.error_msg
    here.pose.position.y = 1.0
    poses.publish(here)
    robot.wait(lambda: one.agent._here.pose.y == 1.0, 'another pose')
    assert one.go().result.error_code == CODES.NONE


@pytest.mark.parametrize(
    ('changes', 'reason'),
    [
        ({'frame_id': 'odom'}, "'odom'.*map_frame"),
        ({'resolution': 0.0}, 'resolution'),
        ({'width': 3}, '100 values'),
    ],
    ids=['frame', 'resolution', 'size'],
)
def test_a_map_that_makes_no_sense_is_not_used(robot, scene, monkeypatch, changes, reason):
    one = scene()
    errors = []
    # What the process prints cannot be read while another thread prints.
    monkeypatch.setattr(one.agent.get_logger(), 'error', lambda text, **_: errors.append(text))
    publisher = robot.client.create_publisher(OccupancyGrid, 'map', qos.MAPS)
    publisher.publish(grid(BLOCKED, **changes))
    robot.wait(lambda: errors, 'a reason')
    assert re.search(f'topic map is not used: .*{reason}', errors[0])
    assert one.agent._navigator._layers.terrain.map is None
    assert one.go().result.error_code == CODES.NONE


@pytest.mark.parametrize(
    ('parameters', 'reason'),
    [
        ({'keep_out': ['0 0, 9 0, 9 9, 0 9']}, 'keep-out'),
        ({'max_goal_distance': 3.0}, 'where the robot is'),
        ({'navigation': 'none'}, 'navigation is none'),
    ],
    ids=['keep-out', 'distance', 'none'],
)
def test_what_the_parameters_forbid_is_refused(scene, parameters, reason):
    one = scene(**parameters)
    result = one.go()
    assert (result.status, result.result.error_code) == (ABORTED, CODES.GOAL_REJECTED)
    assert reason in result.result.error_msg
    assert result.result.answer.evidence[0].id == 'lift-1'
    assert not one.goals


def test_a_keep_out_area_that_is_none_fails_configure(robot, capfd):
    node = robot.make(AgentNode, pose_source='none', keep_out=['0 0, 1 1'])
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert 'x y, x y, x y' in capfd.readouterr().err


def test_of_several_places_goal_pose_has_the_first_and_the_asker_is_told(robot, scene):
    one = scene(goal_order='as_cited')
    places = [Hit(replace(LIFT, id=f'lift-{x}', pose=Pose(x, 2.0)), 0.9) for x in (20.0, 40.0)]
    one.agent._agent.answer = replace(
        one.agent._agent.answer, evidence=tuple(places), pose=places[0].memory.pose, every_place=True
    )
    assert one.go().result.error_code == CODES.NONE
    assert one.wait_for_goal() == (20.0, 2.0)
    robot.wait(lambda: any('navigation nav2' in f.detail for f in one.asker.feedback), 'what is missing')


# Nobody drives


@pytest.fixture
def alone(robot):
    """An agent whose goals nobody listens to."""
    agent = robot.start(AgentNode, pose_source='pose', nav2_server_timeout=0.3)
    agent._agent = FakeAgent()
    asker = Asker(robot)
    yield lambda: asker.result(asker.send('Take me to the lift', navigate=True))
    asker.client.destroy()


def test_a_goal_that_nobody_listens_to_is_an_error(robot, alone):
    result = alone()
    assert (result.status, result.result.error_code) == (ABORTED, CODES.NO_DRIVER)
    for part in (
        '/remembr/goal_pose, geometry_msgs/PoseStamped',
        'bt_navigator',
        'goal_topic:=',
        'navigation:=nav2',
    ):
        assert part in result.result.error_msg
    assert result.result.answer.text, 'the answer itself is there'


@pytest.mark.parametrize('name', ['web', 'rviz2', 'rosbag2_recorder', 'foxglove_bridge', '_ros2cli_4711'])
def test_who_only_looks_at_goals_does_not_drive(robot, alone, name):
    onlooker = robot.add(Node(name, namespace='/remembr'))
    onlooker.create_subscription(PoseStamped, 'goal_pose', print, 10)
    robot.wait(lambda: robot.client.count_subscribers('/remembr/goal_pose'), 'the onlooker')
    result = alone().result
    assert result.error_code == CODES.NO_DRIVER
    assert f'({name} only look' in result.error_msg


def test_what_drives_may_come_while_the_goal_waits_for_it(robot):
    one = Scene.__new__(Scene)
    agent = robot.start(AgentNode, pose_source='pose', nav2_server_timeout=20.0)
    agent._agent = FakeAgent()
    one.asker = Asker(robot)
    handle = one.ask()
    robot.wait(lambda: one.asker.feedback, 'it is asked')
    goals = robot.add(Node('bt_navigator')).create_subscription(
        PoseStamped, '/remembr/goal_pose', (heard := []).append, 10
    )
    assert one.asker.result(handle).result.error_code == CODES.NONE
    robot.wait(lambda: heard, 'the goal')
    assert goals.topic_name == '/remembr/goal_pose'
    one.asker.client.destroy()


# Confirmation


def proposed(one: Scene) -> PoseArray:
    """Return the goals that wait, once they are shown."""
    one.robot.wait(lambda: one.proposals and one.proposals[-1].poses, 'a proposal')
    return one.proposals[-1]


def confirm(one: Scene, yes: bool, goals: PoseArray | None = None) -> Confirm.Response:
    """Say yes or no; to the goals that wait unless others are given."""
    stamp = (goals or proposed(one)).header.stamp
    return one.robot.call(Confirm, 'agent/confirm', Confirm.Request(yes=yes, goals=stamp))


def test_a_goal_is_driven_to_when_a_person_has_confirmed_it(robot, scene):
    one = scene(confirm_goals=True)
    handle = one.ask()
    proposal = proposed(one)
    robot.wait(lambda: 'confirming' in [f.stage for f in one.asker.feedback], 'feedback')
    assert proposal.header.frame_id == 'map'
    assert (proposal.poses[0].position.x, one.goals) == (4.0, [])
    assert confirm(one, True).success
    assert one.asker.result(handle).result.error_code == CODES.NONE
    assert one.wait_for_goal() == (4.0, 2.0)
    robot.wait(lambda: not one.proposals[-1].poses, 'the proposal is taken back')


UNSURE = {'confidence': 0.31}


@pytest.mark.parametrize('sure', [0.31, 0.0, math.nan])
def test_a_place_that_is_not_sure_enough_waits_for_a_yes_whoever_planned_it(robot, scene, sure):
    one = scene()
    one.agent._agent = FakeAgent(confidence=sure)
    handle = one.ask()
    proposed(one)
    robot.wait(lambda: 'confirming' in [f.stage for f in one.asker.feedback], 'feedback')
    detail = next(f.detail for f in one.asker.feedback if f.stage == 'confirming')
    stamp = proposed(one).header.stamp
    # To be copied as it is.
    assert (
        'ros2 service call /remembr/agent/confirm remembr_msgs/srv/Confirm '
        f'"{{yes: true, goals: {{sec: {stamp.sec}, nanosec: {stamp.nanosec}}}}}"'
    ) in detail
    assert f'{sure:.2f} sure, min_confidence_to_drive is 0.5' in detail
    assert not one.goals
    assert confirm(one, True).success
    assert one.asker.result(handle).result.error_code == CODES.NONE
    assert one.wait_for_goal() == (4.0, 2.0)


def test_a_place_that_is_sure_enough_needs_no_yes(scene):
    one = scene(min_confidence_to_drive=0.31)
    one.agent._agent = FakeAgent(confidence=0.31)
    assert one.go().result.error_code == CODES.NONE
    assert 'confirming' not in [f.stage for f in one.asker.feedback]


def test_a_no_to_a_place_that_is_not_sure_enough_ends_it(robot, scene):
    one = scene()
    one.agent._agent = FakeAgent(**UNSURE)
    handle = one.ask()
    assert confirm(one, False).success
    assert one.asker.result(handle).result.error_code == CODES.NOT_CONFIRMED
    assert not one.goals


def test_the_service_tells_that_nobody_confirmed(robot, scene):
    one = scene(confirm_timeout=0.2)
    one.agent._agent = FakeAgent(**UNSURE)
    response = robot.call(AskSrv, 'ask', AskSrv.Request(question='Take me to the lift', navigate=True))
    assert response.error_code == AskSrv.Response.NOT_CONFIRMED
    assert response.answer.confidence == pytest.approx(0.31)
    assert not one.goals


def test_how_sure_a_place_has_to_be_can_change(robot, scene):
    one = scene()
    one.agent._agent = FakeAgent(**UNSURE)
    assert change(one.agent, min_confidence_to_drive=0.3).successful
    assert one.go().result.error_code == CODES.NONE
    assert change(one.agent, min_confidence_to_drive=0.4).successful
    handle = one.ask()
    assert confirm(one, True).success
    assert one.asker.result(handle).result.error_code == CODES.NONE
    assert not change(one.agent, min_confidence_to_drive=1.5).successful


def test_a_goal_that_a_person_refuses_is_not_driven_to(robot, scene):
    one = scene(confirm_goals=True)
    handle = one.ask()
    assert confirm(one, False).success
    result = one.asker.result(handle)
    assert (result.status, result.result.error_code) == (ABORTED, CODES.NOT_CONFIRMED)
    assert 'refused' in result.result.error_msg
    assert not one.goals


def test_a_goal_that_nobody_confirms_is_dropped_in_time(scene):
    one = scene(confirm_goals=True, confirm_timeout=0.2)
    result = one.go().result
    assert result.error_code == CODES.NOT_CONFIRMED
    assert (
        'ros2 service call /remembr/agent/confirm remembr_msgs/srv/Confirm "{yes: true, ' in result.error_msg
    )
    assert '<header.stamp of /remembr/proposed_goals>' in result.error_msg
    response = confirm(one, True, one.proposals[0])
    assert (response.success, response.message) == (False, 'no goal waits for confirmation')
    assert not one.goals


def test_a_newer_goal_waits_in_place_of_the_older(robot, scene):
    one = scene(confirm_goals=True)
    first = one.ask()
    shown = proposed(one)
    second = one.ask()
    assert one.asker.result(first).result.error_code == CODES.PREEMPTED
    robot.wait(lambda: proposed(one).header.stamp != shown.header.stamp, 'the second is shown')
    for yes in (True, False):
        late = confirm(one, yes, shown)  # to the first, at the same place as the second
        assert (late.success, late.message[:11]) == (False, 'other goals')
    assert 'header.stamp' in confirm(one, True, PoseArray()).message
    assert not one.goals
    assert confirm(one, True).success
    assert one.asker.result(second).status == SUCCEEDED
    one.wait_for_goal()
    assert len(one.goals) == 1


@pytest.mark.parametrize('how', ['cancel', 'deactivate'])
def test_a_goal_that_nobody_wants_any_more_does_not_wait(robot, scene, how):
    one = scene(confirm_goals=True)
    handle = one.ask()
    robot.wait(lambda: one.agent._navigator._confirmation._waiting, 'it waits')
    if how == 'cancel':
        handle.cancel_goal_async()
    else:
        assert one.agent.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    result = one.asker.result(handle)
    assert (result.status, result.result.error_code) == (
        CANCELED if how == 'cancel' else ABORTED,
        CODES.CANCELLED,
    )
    robot.wait(lambda: one.agent._navigator._confirmation._waiting is None, 'it waits no longer')
    assert not one.goals


def test_keep_out_areas_and_clearance_that_change_count_for_the_next_goal(scene):
    one = scene(goal_search_radius=0.0)
    one.publish('map', [*['.' * 10] * 4, '#' * 10, *['.' * 10] * 5])  # 3 m from the place
    assert one.go().result.error_code == CODES.NONE
    assert change(one.agent, keep_out=['0 0, 9 0, 9 9, 0 9']).successful
    assert 'keep-out' in one.go().result.error_msg
    assert change(one.agent, keep_out=[], goal_clearance=5.0).successful
    assert 'is nearer than 5 m to an obstacle' in one.go().result.error_msg
    assert change(one.agent, goal_clearance=0.0).successful
    assert one.go().result.error_code == CODES.NONE


def test_a_change_while_inactive_counts_when_the_node_is_active_again(scene):
    one = scene()
    assert one.agent.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert change(one.agent, keep_out=['0 0, 9 0, 9 9, 0 9']).successful
    assert one.agent.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert 'keep-out' in one.go().result.error_msg


def test_whether_a_person_confirms_can_change_and_what_waits_goes_on_waiting(robot, scene):
    one = scene()
    assert one.go().result.error_code == CODES.NONE
    assert change(one.agent, confirm_goals=True).successful
    waiting = one.ask()
    robot.wait(lambda: one.agent._navigator._confirmation._waiting, 'it waits')
    assert change(one.agent, confirm_goals=False).successful
    assert len(one.goals) == 1
    assert confirm(one, True).success
    assert one.asker.result(waiting).result.error_code == CODES.NONE
    assert one.go().result.error_code == CODES.NONE
    robot.wait(lambda: len(one.goals) == 3, 'the third goal')


@pytest.mark.parametrize('yes', [True, False])
def test_a_goal_whose_memory_was_forgotten_meanwhile_is_not_driven_to(robot, scene, yes):
    one = scene(confirm_goals=True)
    waiting = one.ask()
    proposal = proposed(one)
    one.there.clear()
    assert confirm(one, yes, proposal).success
    result = one.asker.result(waiting).result
    assert (result.error_code, one.goals) == (CODES.GOAL_REJECTED if yes else CODES.NOT_CONFIRMED, [])
    assert ('forgotten' in result.error_msg) == yes


def test_a_goal_is_looked_at_again_when_a_person_has_confirmed_it(robot, scene):
    one = scene(confirm_goals=True)
    waiting = one.ask()
    robot.wait(lambda: one.agent._navigator._confirmation._waiting, 'it waits')
    assert change(one.agent, keep_out=['0 0, 9 0, 9 9, 0 9']).successful
    assert confirm(one, True).message == 'confirmed; whether it drives is told with the drive'
    result = one.asker.result(waiting).result
    assert (result.error_code, one.goals) == (CODES.GOAL_REJECTED, [])
    assert 'meanwhile the goal is in a keep-out area' in result.error_msg
