import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped
from moveit_msgs.msg import AttachedCollisionObject, PlanningScene
from nav2_msgs.action import NavigateToPose
from nav2_msgs.msg import CollisionMonitorState
from rclpy.qos import qos_profile_system_default
from rclpy.service_introspection import ServiceIntrospectionState
from sensor_msgs.msg import BatteryState
from std_srvs.srv import Trigger

from remembr_msgs.msg import Event
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Recall, RememberEvent
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.memory_conversion import memory_from_msg
from remembr_ros.nodes.events.node import EventsNode
from remembr_ros.nodes.memory.node import MemoryNode
from test.node.action_client import ActionClient
from test.node.events.action_servers import Navigator


@pytest.fixture
def navigator(robot):
    node = robot.add(Navigator())
    yield node
    node.ends.set()
    node.server.destroy()


@pytest.fixture
def deeds(robot):
    return robot.listen(MemoryMsg, 'captions')


def goal(how: str, x: float = 3.0) -> NavigateToPose.Goal:
    pose = PoseStamped()
    pose.header.frame_id, pose.pose.position.x = 'map', x
    return NavigateToPose.Goal(pose=pose, behavior_tree=how)


def drive(robot, how: str, **about):
    client = ActionClient(robot.client, NavigateToPose, '/navigate_to_pose')
    assert client.wait_for_server(10.0)
    sent = client.send_goal_async(goal(how, **about))
    robot.wait(sent.done, 'accepted')
    return sent.result()


def pose_at(robot, poses, x: float) -> None:
    msg = PoseStamped()
    msg.header.frame_id, msg.header.stamp = 'map', robot.client.get_clock().now().to_msg()
    msg.pose.position.x, msg.pose.orientation.w = x, 1.0
    poses.publish(msg)


def test_a_goal_of_any_action_is_remembered_with_how_it_ended(robot, navigator, deeds):
    node = robot.start(EventsNode, pose_source='pose', look_period=0.1)
    poses = robot.talk(PoseStamped, 'pose')
    pose_at(robot, poses, 1.0)
    robot.wait(lambda: node._graph.topics >= 4, 'the action and its topics')
    drive(robot, 'succeed')
    drive(robot, 'abort')
    robot.wait(lambda: len(deeds) >= 2, 'two deeds')
    good, bad = map(memory_from_msg, deeds)
    assert good.caption == 'Drove to another place'
    assert good.facts['outcome'] == 'succeeded'
    assert good.pose.position == (1.0, 0.0, 0.0)
    assert good.facts['goal'] == [2.0, 0.0, 0.0]
    assert good.facts['details']['number_of_recoveries'] == 2
    assert bad.caption == 'Failed to drive to another place: FollowPath failed'
    assert bad.facts['details']['failed_nodes'] == ['FollowPath']


def test_what_is_cancelled_and_what_nobody_serves_any_more(robot, processes, deeds):
    processes.start_module('test.node.events.action_servers')
    node = robot.start(EventsNode, pose_source='none', look_period=0.1)
    robot.wait(lambda: node._graph.topics >= 4, 'the action and its topics')
    handle = drive(robot, 'cancel')
    robot.wait(lambda: len(node._watch.goals), 'under way')
    handle.cancel_goal_async()
    robot.wait(lambda: deeds, 'the cancelled one')
    server = robot.client.create_publisher(GoalStatusArray, '/water_plants/_action/status', qos.LATCHED_POSE)
    goal = GoalStatus(status=GoalStatus.STATUS_EXECUTING)
    server.publish(GoalStatusArray(status_list=[goal]))
    robot.wait(lambda: len(node._watch.goals), 'another one under way')
    robot.client.destroy_publisher(server)
    robot.wait(lambda: len(deeds) > 1, 'the end of the server is noticed')
    cancelled, lost = map(memory_from_msg, deeds)
    assert cancelled.caption == 'Was stopped before it could drive to another place'
    assert lost.caption == 'Began to water plants: its action server went away'
    assert (cancelled.facts['outcome'], lost.facts['outcome']) == ('cancelled', 'unknown')
    assert cancelled.pose is None


def test_an_event_by_topic_and_by_service(robot, tmp_path):
    node = robot.start(EventsNode, pose_source='pose', look_period=0.1, map_id='cellar')
    events, poses = robot.talk(Event, 'event'), robot.talk(PoseStamped, 'pose')
    pose_at(robot, poses, 2.0)
    robot.wait(lambda: node._placer.newest_ns, 'the pose')
    refused = robot.call(RememberEvent, 'remember_event', RememberEvent.Request())
    assert refused.error_code == RememberEvent.Response.INVALID_REQUEST
    assert "needs a kind, such as 'pick'" in refused.error_msg
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    events.publish(Event(kind='place', object='cup', receptacle='shelf', outcome='succeeded'))
    event = Event(text='watered the plants', place='hall', outcome='nonsense')
    assert robot.call(RememberEvent, 'remember_event', RememberEvent.Request(event=event)).error_code == 2
    event.outcome = ''
    stored = robot.call(RememberEvent, 'remember_event', RememberEvent.Request(event=event))
    assert (stored.error_code, stored.error_msg) == (0, '')
    request = Recall.Request(limit=5, source='agent')
    found = robot.wait(lambda: (ms := robot.call(Recall, 'recall', request).memories)[1:] and ms, 'two')
    assert {(m.caption, m.map_id, m.pose.pose.position.x) for m in found} == {
        ('Put the cup on the shelf', 'cellar', 2.0),
        ('Watered the plants (hall)', 'cellar', 2.0),
    }
    assert stored.id in {m.id for m in found}


def test_whatever_tells_of_deeds(robot, deeds):
    """MoveIt, Nav2's collision monitor, diagnostics, a battery, and a service that is introspected."""
    node = robot.start(EventsNode, pose_source='none', look_period=0.1)
    service = robot.client.create_service(Trigger, '/open_gripper', lambda _, response: response)
    contents = ServiceIntrospectionState.CONTENTS
    service.configure_introspection(robot.client.get_clock(), qos_profile_system_default, contents)
    talkers = {
        kind: robot.client.create_publisher(kind, f'/{kind.__name__.lower()}', 10)
        for kind in (
            AttachedCollisionObject,
            PlanningScene,
            CollisionMonitorState,
            DiagnosticArray,
            BatteryState,
        )
    }
    robot.wait(lambda: node._graph.topics >= len(talkers) + 1, 'the topics')

    def say(message) -> None:
        robot.wait(talkers[type(message)].get_subscription_count, 'the node')
        talkers[type(message)].publish(message)

    held = AttachedCollisionObject(link_name='hand')
    held.object.id, held.object.operation = 'red_mug', held.object.ADD
    say(held)
    robot.wait(lambda: len(deeds) == 1, 'a pick')
    say(PlanningScene())
    robot.wait(lambda: len(deeds) == 2, 'a place')
    say(CollisionMonitorState(action_type=CollisionMonitorState.STOP, polygon_name='PolygonStop'))
    say(DiagnosticArray(status=[DiagnosticStatus(level=DiagnosticStatus.ERROR, name='motor', message='hot')]))
    say(BatteryState(percentage=0.15, power_supply_status=BatteryState.POWER_SUPPLY_STATUS_DISCHARGING))
    assert not robot.call(Trigger, '/open_gripper', Trigger.Request()).success
    robot.wait(lambda: len(deeds) == 6, 'all')
    captions = [memory_from_msg(one).caption for one in deeds]
    assert captions[:2] == ['Picked the red mug', 'Put the red mug']
    assert sorted(captions[2:]) == [
        'Failed to open the gripper',
        'Motor failed: hot',
        'The battery low at 15%',
        'The collision monitor made the robot stop (PolygonStop)',
    ]
