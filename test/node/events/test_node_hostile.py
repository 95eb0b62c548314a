"""Whatever comes, and however much of it: it is remembered, or refused and counted, and the node goes on."""

import math
import sys

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from nav2_msgs.msg import BehaviorTreeLog
from rclpy.lifecycle import TransitionCallbackReturn
from sensor_msgs.msg import BatteryState

from remembr_msgs.msg import Event
from remembr_msgs.srv import Recall, RememberEvent
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.base.lifecycle import bring_up
from remembr_ros.nodes.base.managed_node import Level
from remembr_ros.nodes.base.memory_conversion import memory_from_msg
from remembr_ros.nodes.events.node import EventsNode
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import NS
from test.node.events.test_node import drive, pose_at
from test.node.test_clock import Time
from test.patience import patiently

T0 = 1_700_000_000 * NS
BURST = 10_000


@pytest.fixture
def memory(robot, tmp_path):
    return robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')


@pytest.fixture
def navigator(processes):
    """Make a server of its own process, as one that waits to be cancelled would hold up all nodes here."""

    def make(*arguments):
        return processes.start_module('test.node.events.action_servers', '--ros-args', *arguments)

    return make


def event(second: float = 0.0, end: float | None = None, **about) -> Event:
    made = Event(**{'kind': 'pick', 'object': 'cup', **about})
    made.begin = time_to_msg(T0 + round(second * NS))
    if end is not None:
        made.end = time_to_msg(T0 + round(end * NS))
    return made


def placed(x: float, **about) -> Event:
    made = event(**about)
    made.use_pose = True
    made.pose.pose.position.x = x
    return made


def remembered(robot, limit: int = 100):
    found = robot.call(Recall, 'recall', Recall.Request(limit=limit, source='agent'), 60.0)
    return {one.object: one for one in map(_Remembered, map(memory_from_msg, found.memories))}


class _Remembered:
    """A deed of the memory, called by its object."""

    def __init__(self, memory) -> None:
        self.memory, self.facts = memory, memory.facts
        self.object = self.facts.get('object', '') or self.facts.get('text', '')


def total(robot) -> int:
    return robot.call(Recall, 'recall', Recall.Request(limit=1, source='agent'), 60.0).total


def test_of_ten_thousand_at_once_none_is_lost(robot, processes, tmp_path):
    processes.start('memory', uri=tmp_path / 'm.db', embedder='hashing', batch_size=500)
    bring_up(robot.client, ['/remembr/memory'], 60.0)
    node = robot.start(EventsNode, pose_source='pose', left_out=['*'])
    pose_at(robot, robot.talk(PoseStamped, 'pose'), 1.0)
    processes.start_module('test.node.events.many_events', str(BURST), str(T0 // NS))
    robot.wait(lambda: node.diagnose()[2]['remembered'], 'the first ones')
    told = RememberEvent.Request(event=event(BURST, object='the last one'))
    stored = robot.call(RememberEvent, 'remember_event', told, patiently(30.0))
    assert (stored.error_code, stored.error_msg) == (0, '')
    assert node.diagnose()[2]['remembered'] < BURST, 'it answers while others wait'
    robot.wait(lambda: node.diagnose()[2]['remembered'] > BURST, 'all are heard', patiently(60.0))
    robot.wait(lambda: not node.diagnose()[2]['not stored yet'], 'all are stored', patiently(60.0))
    assert total(robot) == BURST + 1
    assert node.diagnose()[:2] == (Level.OK, 'watching')


def test_what_can_be_understood_is_remembered(robot, memory):
    node = robot.start(EventsNode, pose_source='pose', map_id='cellar', left_out=['*'])
    events, poses = robot.talk(Event, 'event'), robot.talk(PoseStamped, 'pose')
    pose_at(robot, poses, 2.0)
    robot.wait(lambda: node._placer.newest_ns, 'the pose')
    no_numbers = event(50, object='without a pose')
    no_numbers.pose.pose.position.x = math.nan
    at_end = Event(kind='pick', object='of an end', end=time_to_msg(T0 + 60 * NS))
    sent = [
        event(20, 25, object='late'),
        event(10, 15, object='early'),
        event(0, object='without an end'),
        placed(7.0, second=30, object='elsewhere', map_id='attic'),
        event(40, object='somewhere', map_id='attic'),
        no_numbers,
        at_end,
        event(80, object='told much of', details='{"much": "' + 100_000 * 'x' + '", "by": "ann"}'),
        Event(kind='pick', object='now'),
        event(90, object='known\nto\x1b[31m nobody'),
        event(100, object='twice'),
        event(100, 110, object='twice', outcome='failed', reason='it slipped'),
        event(100, 110, object='twice', outcome='failed', reason='it slipped'),
    ]
    for one in sent:
        events.publish(one)

    def are_stored() -> bool:
        pose_at(robot, poses, 2.0)  # so that nobody waits for a later one
        if total(robot) < len(sent) - 2:
            return False
        # What was told twice may be stored by its beginning before its end is.
        return remembered(robot)['twice'].facts['outcome'] == 'failed'

    robot.wait(are_stored, 'all of them')
    found = remembered(robot)
    assert len(found) == total(robot) == len(sent) - 2
    times = {
        name: ((one.memory.start_ns - T0) // NS, (one.memory.end_ns - T0) // NS)
        for name, one in found.items()
    }
    assert (times['late'], times['early'], times['without an end']) == ((20, 25), (10, 15), (0, 0))
    elsewhere, somewhere = found['elsewhere'].memory, found['somewhere'].memory
    assert (elsewhere.map_id, elsewhere.pose.x) == ('attic', 7.0)
    assert (somewhere.map_id, somewhere.pose) == ('attic', None), 'where the robot was is of another map'
    now = found['now'].memory
    assert (now.map_id, now.pose.x) == ('cellar', 2.0)
    assert found['without a pose'].memory.pose is None, 'no pose is known of that time'
    assert times['of an end'] == (60, 60)
    assert found['told much of'].facts['details'] == {'by': 'ann'}
    assert 'object_id' not in found['late'].facts
    assert 'known to\x1b[31m nobody' in found
    assert (times['twice'], found['twice'].facts['outcome']) == ((100, 110), 'failed')
    assert found['twice'].memory.caption == 'Failed to pick the twice: it slipped'
    assert node.diagnose()[2]['made no sense'] == 0


def test_what_makes_no_sense_is_refused_and_counted(robot, memory):
    node = robot.start(EventsNode, pose_source='none', left_out=['*'])
    told = robot.listen(DiagnosticArray, '/diagnostics')
    events = robot.talk(Event, 'event')
    wrong = [
        (event(outcome='nonsense'), 'outcome'),
        (placed(math.nan), 'no place'),
        (placed(math.inf), 'no place'),
        (placed(1e30), 'no place'),
        (event(text=100_000 * 'x'), 'text'),
        (event(reason=100_000 * 'x'), 'reason'),
        (event(object=1000 * 'x'), 'object'),
        (event(10, 5), 'ends before it begins'),
        (Event(), 'needs a kind'),
        (event(kind=' ', object='cup'), 'needs a kind'),
        (event(details='[1]'), 'no JSON object'),
        (event(details='{'), 'no JSON object'),
        (event(details=100_000 * '['), 'no JSON object'),
        (event(details='{"a": NaN}'), 'finite'),
        (event(details='{"a": "\\ud800"}'), 'JSON'),
        (event(details='{"a": ' + 500 * '[' + 500 * ']' + '}'), 'details'),
        (event(details='{"a": ' + 5000 * '9' + '}'), 'no JSON object'),
        (event(-1_700_000_001), ''),
        (event(-1_600_000_000), ''),
        (event(robot=1000 * 'x'), 'robot'),
        (event(map_id=1000 * 'x'), 'map id'),
    ]
    for number, (one, said) in enumerate(wrong):
        events.publish(one)
        robot.wait(lambda n=number: node.diagnose()[2]['made no sense'] > n, f'{said!r} is refused')
        level, why, _ = node.diagnose()
        assert level == Level.WARN
        assert said in why
        assert len(why) < 3000
    request = RememberEvent.Request()
    for one, said in wrong:
        request.event = one
        refused = robot.call(RememberEvent, 'remember_event', request)
        assert refused.error_code == RememberEvent.Response.INVALID_REQUEST
        assert said in refused.error_msg
    events.publish(event(object='a good one'))
    robot.wait(lambda: total(robot) == 1, 'the good one')

    def counted():
        values = [v for msg in told for s in msg.status if 'events' in s.name for v in s.values]
        return any((v.key, v.value) == ('made no sense', str(len(wrong))) for v in values)

    robot.wait(counted, 'the diagnostics')


def test_what_cannot_be_read_here_is_named(robot, monkeypatch):
    log = robot.client.create_publisher(BehaviorTreeLog, '/behavior_tree_log', 10)
    monkeypatch.setitem(sys.modules, 'nav2_msgs.msg', None)
    batteries = robot.client.create_publisher(BatteryState, '/battery_state', 10)
    node = robot.start(EventsNode, pose_source='none', look_period=0.1)
    robot.wait(lambda: node.diagnose()[0] == Level.WARN, 'it is told')
    why = node.diagnose()[1]
    assert why == '/behavior_tree_log cannot be read: apt install ros-$ROS_DISTRO-nav2-msgs'
    robot.wait(batteries.get_subscription_count, 'the rest is heard')
    robot.client.destroy_publisher(log)
    robot.wait(lambda: node.diagnose()[0] == Level.OK, 'it is gone')


def test_time_that_jumps_back_an_hour(robot, memory, navigator):
    node = robot.start(EventsNode, pose_source='pose', look_period=0.1, use_sim_time=True)
    time = Time(robot, node)
    time.set(T0)
    navigator('-p', 'use_sim_time:=true')
    events, poses = robot.talk(Event, 'event'), robot.talk(PoseStamped, 'pose')
    batteries = robot.client.create_publisher(BatteryState, '/battery_state', 10)

    def be_at(x: float, ns: int) -> None:
        msg = PoseStamped()
        msg.header.frame_id, msg.header.stamp, msg.pose.position.x = 'map', time_to_msg(ns), x
        poses.publish(msg)
        robot.wait(lambda: node._placer.newest_ns == ns, 'the pose')

    be_at(1.0, T0)
    robot.wait(lambda: node._graph.topics >= 4 and batteries.get_subscription_count(), 'what tells')
    batteries.publish(BatteryState(percentage=0.15))
    events.publish(Event(kind='pick', object='before'))
    handle = drive(robot, 'cancel')
    robot.wait(lambda: len(node._watch.goals), 'under way')
    time.set(T0 + 10 * NS)
    robot.wait(lambda: total(robot) == 2, 'what was before, and the battery')
    hour_ago = T0 - 3600 * NS
    time.set(hour_ago)
    be_at(5.0, hour_ago)
    handle.cancel_goal_async()
    batteries.publish(BatteryState(percentage=0.9))
    events.publish(Event(kind='pick', object='after'))
    robot.wait(lambda: 'after' in remembered(robot), 'what is heard before the clock goes on')
    for second in range(1, 12):
        time.set(hour_ago + second * NS)
    robot.wait(lambda: total(robot) == 4, 'what was after')
    found = remembered(robot)
    before, after = found['before'].memory, found['after'].memory
    assert T0 <= before.start_ns <= T0 + NS
    assert hour_ago <= after.start_ns <= hour_ago + NS
    assert (before.pose.x, after.pose.x) == (1.0, 5.0)
    assert {one.facts['outcome'] for one in found.values()} >= {'cancelled'}
    assert all(one.memory.end_ns >= one.memory.start_ns for one in found.values())
    assert not len(node._watch.goals)


def test_out_of_service_in_the_middle_of_a_goal(robot, memory, navigator):
    navigator('-p', 'use_sim_time:=false')
    node = robot.start(EventsNode, pose_source='none', look_period=0.1)
    robot.wait(lambda: node._graph.topics >= 4, 'the action and its topics')
    handle = drive(robot, 'cancel')
    robot.wait(lambda: len(node._watch.goals), 'under way')
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    robot.wait(lambda: total(robot) == 1, 'what is known of it')
    (known,) = remembered(robot).values()
    assert known.facts['outcome'] == 'unknown'
    assert known.facts['reason'] == 'nobody saw how it ended'
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    robot.wait(lambda: len(node._watch.goals), 'under way again')
    handle.cancel_goal_async()
    robot.wait(
        lambda: [one.facts['outcome'] for one in remembered(robot).values()] == ['cancelled'], 'its end'
    )
    (ended,) = remembered(robot).values()
    assert (ended.memory.id, ended.memory.start_ns) == (known.memory.id, known.memory.start_ns)
    assert ended.memory.end_ns > known.memory.end_ns
