"""A drive that a person wants: checked, shown, confirmed, and then driven."""

import math
from dataclasses import replace

import pytest
from geometry_msgs.msg import PoseArray, PoseStamped
from nav_msgs.msg import OccupancyGrid
from std_srvs.srv import Trigger

from remembr_msgs.action import Ask, GoTo
from remembr_msgs.srv import Confirm
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base import qos
from test.node.action_client import ActionClient
from test.node.agent.fake_agent import ABORTED, CANCELED, LIFT, SUCCEEDED, FakeAgent, FakeMemoryNode
from test.node.agent.test_navigator import BLOCKED, grid

CODES = Ask.Result


class Scene:
    """An agent beside a memory that knows where the lift is, and somebody who wants to go there."""

    def __init__(self, robot, **parameters) -> None:
        self.robot = robot
        self.memory = robot.add(FakeMemoryNode([LIFT, replace(LIFT, id='nowhere', pose=None)]))
        self.agent = robot.start(AgentNode, **{'pose_source': 'none', **parameters})
        self.goals = robot.listen(PoseStamped, 'goal_pose')
        self.proposals = robot.listen(PoseArray, 'proposed_goals', qos.MARKERS)
        self.client = ActionClient(robot.client, GoTo, '/remembr/go_to')
        assert self.client.wait_for_server(20.0)
        self.feedback: list[GoTo.Feedback] = []

    def send(self, **fields):
        goal = GoTo.Goal(asker='act token from 10.0.0.3', **fields)
        sent = self.client.send_goal_async(goal, lambda message: self.feedback.append(message.feedback))
        self.robot.wait(sent.done, 'the goal is taken')
        return sent.result()

    def end(self, handle):
        future = handle.get_result_async()
        self.robot.wait(future.done, 'a result')
        return future.result()

    def wait_for_proposal(self) -> PoseArray:
        self.robot.wait(lambda: self.proposals and self.proposals[-1].poses, 'a proposal')
        return self.proposals[-1]

    def say(self, yes: bool) -> None:
        request = Confirm.Request(yes=yes, goals=self.wait_for_proposal().header.stamp)
        assert self.robot.call(Confirm, 'agent/confirm', request).success


@pytest.fixture
def scene(robot):
    made = []

    def make(**parameters):
        made.append(Scene(robot, **parameters))
        return made[0]

    yield make
    for one in made:
        one.client.destroy()


def place(x: float, y: float, frame_id: str = 'map') -> PoseStamped:
    pose = PoseStamped()
    pose.header.frame_id = frame_id
    pose.pose.position.x, pose.pose.position.y = x, y
    return pose


def test_where_a_memory_was_made_is_driven_to_when_a_person_has_said_yes(robot, scene, monkeypatch):
    one = scene(min_confidence_to_drive=0.0)  # which spares the goals of answers the question
    infos = []
    monkeypatch.setattr(one.agent.get_logger(), 'info', lambda text, **_: infos.append(text))
    handle = one.send(memory_id='lift-1')
    proposal = one.wait_for_proposal()
    assert (proposal.header.frame_id, proposal.poses[0].position.x, one.goals) == ('map', 4.0, [])
    robot.wait(lambda: one.feedback, 'feedback')
    assert (one.feedback[0].stage, one.feedback[0].goal.pose.position.y) == ('confirming', 2.0)
    assert math.isnan(one.feedback[0].distance_remaining)
    one.say(True)
    ended = one.end(handle)
    assert (ended.status, ended.result.error_code, ended.result.goal.pose.position.x) == (SUCCEEDED, 0, 4.0)
    robot.wait(lambda: one.goals, 'a goal')
    assert one.goals[0].pose.position.x == 4.0
    assert [feedback.stage for feedback in one.feedback] == ['confirming', 'navigating']
    assert one.memory.requests[0].id == ['lift-1']
    drives = next(text for text in infos if text.startswith('drives'))
    assert "'act token from 10.0.0.3'" in drives
    assert 'memory lift-1' in drives


def test_a_place_is_checked_as_the_goal_of_an_answer_is(robot, scene):
    one = scene()
    layers = one.agent._navigator._layers
    robot.client.create_publisher(OccupancyGrid, 'map', qos.MAPS).publish(grid(BLOCKED))
    robot.wait(lambda: layers.terrain.map, 'the map')
    handle = one.send(pose=place(4.0, 2.0))
    at = one.wait_for_proposal().poses[0].position
    assert (at.x, at.y) == (3.5, 1.5)
    one.say(True)
    assert one.end(handle).result.goal.pose.position.x == 3.5


@pytest.mark.parametrize(
    ('parameters', 'goal', 'code', 'reason'),
    [
        ({}, {'memory_id': 'gone'}, CODES.INVALID_QUESTION, 'no memory gone; it may have been forgotten'),
        ({}, {'memory_id': 'nowhere'}, CODES.NO_PLACE, 'no place'),
        ({}, {'memory_id': 'a' * 201}, CODES.INVALID_QUESTION, 'memory_id has 201'),
        ({}, {}, CODES.INVALID_QUESTION, 'give a memory_id, or a pose'),
        ({}, {'pose': place(math.nan, 0.0)}, CODES.INVALID_QUESTION, 'no place'),
        ({}, {'pose': place(1.0, 1.0, 'odom')}, CODES.GOAL_REJECTED, "in the frame 'odom'"),
        ({}, {'pose': place(1.0, 1.0), 'map': 'cellar'}, CODES.GOAL_REJECTED, "on the map 'cellar'"),
        ({'keep_out': ['0 0, 9 0, 9 9, 0 9']}, {'memory_id': 'lift-1'}, CODES.GOAL_REJECTED, 'keep-out'),
        ({'max_goal_distance': 3.0}, {'memory_id': 'lift-1'}, CODES.GOAL_REJECTED, 'where the robot is'),
        ({'require_map': True}, {'memory_id': 'lift-1'}, CODES.GOAL_REJECTED, 'require_map'),
        ({'navigation': 'none'}, {'memory_id': 'lift-1'}, CODES.GOAL_REJECTED, 'navigation is none'),
    ],
    ids=['gone', 'unplaced', 'long', 'nothing', 'nan', 'frame', 'map', 'keep-out', 'far', 'no map', 'none'],
)
def test_what_cannot_be_driven_to_is_refused_with_the_reason(scene, parameters, goal, code, reason):
    one = scene(**parameters)
    ended = one.end(one.send(**goal))
    assert (ended.status, ended.result.error_code) == (ABORTED, code), ended.result.error_msg
    assert reason in ended.result.error_msg
    assert ended.result.goal.header.frame_id == ''
    assert not one.goals
    assert not any(msg.poses for msg in one.proposals)


def test_a_memory_node_that_is_away_is_told(robot, scene):
    one = scene()
    one.memory.error = 'the disk is full'
    ended = one.end(one.send(memory_id='lift-1'))
    assert (ended.result.error_code, ended.result.error_msg) == (CODES.MEMORY_UNAVAILABLE, 'the disk is full')


def test_a_no_ends_it(robot, scene):
    one = scene()
    handle = one.send(memory_id='lift-1')
    one.wait_for_proposal()
    one.say(False)
    ended = one.end(handle)
    assert (ended.status, ended.result.error_code) == (ABORTED, CODES.NOT_CONFIRMED)
    assert (ended.result.goal.header.frame_id, one.goals) == ('', [])


def test_it_can_be_cancelled_and_stopped_while_it_waits_for_a_yes(robot, scene):
    one = scene()
    handle = one.send(memory_id='lift-1')
    one.wait_for_proposal()
    handle.cancel_goal_async()
    ended = one.end(handle)
    assert (ended.status, ended.result.error_code) == (CANCELED, CODES.CANCELLED)
    assert ended.result.error_msg == 'the drive was cancelled'
    robot.wait(lambda: not one.proposals[-1].poses, 'the proposal is taken back')

    handle = one.send(memory_id='lift-1')
    one.wait_for_proposal()
    assert robot.call(Trigger, 'agent/stop', Trigger.Request()).success
    ended = one.end(handle)
    assert (ended.status, ended.result.error_code) == (ABORTED, CODES.CANCELLED)
    assert not one.goals


def test_it_does_not_wait_for_the_questions_and_is_none(robot, scene):
    one = scene(parallel_questions=1)
    one.agent._agent = FakeAgent()
    asker = ActionClient(robot.client, Ask, '/remembr/ask')
    assert asker.wait_for_server(20.0)
    asker.send_goal_async(Ask.Goal(question='wait')).add_done_callback(lambda _: None)
    robot.wait(one.agent._agent.waiting.is_set, 'a question under way')
    handle = one.send(memory_id='lift-1')
    one.wait_for_proposal()
    one.say(True)
    assert one.end(handle).result.error_code == CODES.NONE
    assert one.agent.diagnose()[2]['answered'] == 0
    one.agent._agent.release.set()
    asker.destroy()


def test_nav2_drives_and_tells_how_far_it_is(robot, scene):
    pytest.importorskip('nav2_msgs', reason='needs nav2_msgs: make setup')
    from test.node.nav2.fake_nav2 import FakeNav2

    robot.add(FakeNav2('arrive'))
    one = scene(navigation='nav2', nav2_namespace='/')
    robot.wait(one.agent._navigator._nav2._one.is_ready, 'Nav2')
    handle = one.send(memory_id='lift-1')
    one.wait_for_proposal()
    one.say(True)
    ended = one.end(handle)
    assert (ended.status, ended.result.goal.pose.position.x) == (SUCCEEDED, 4.0)
    robot.wait(lambda: not all(math.isnan(f.distance_remaining) for f in one.feedback), 'a distance')
