"""Simulated time that starts anywhere, jumps ahead and back, and stands still."""

import pytest
from rosgraph_msgs.msg import Clock

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Ask, Recall
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base.conversions import time_from_msg, time_to_msg
from remembr_ros.nodes.memory import housekeeping
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import NS
from test.node.agent.fake_agent import FakeAgent
from test.node.captioner.test_node import Drive, jpeg, pose
from test.node.memory.test_node_keeping import T0, caption, figures

DAY_NS = 86_400 * NS


class Time:
    """Sets a node's clock."""

    def __init__(self, robot, node) -> None:
        self._robot = robot
        self._node = node
        self._clock = robot.talk(Clock, '/clock')

    def set(self, ns: int) -> None:
        """Publish a time, and wait until the node has it."""

        def has() -> bool:
            self._clock.publish(Clock(clock=time_to_msg(ns)))  # it is heard at best effort
            return self._node.now_ns() == ns

        self._robot.wait(has, 'the time')


@pytest.fixture
def keeper(robot, tmp_path, monkeypatch):
    """A memory of four days that keeps two, by simulated time, with a clock that is believed after 100 s."""
    monkeypatch.setattr(housekeeping, 'CONFIRMED_NS', 100 * NS)
    options = {'uri': str(tmp_path / 'm.db'), 'embedder': 'hashing', 'use_sim_time': True}
    node = robot.start(MemoryNode, **options, max_age_days=2.0)
    stored = robot.listen(MemoryMsg, 'memories')
    captions = robot.talk(MemoryMsg, 'captions')
    for day in range(4):
        captions.publish(caption(86_400.0 * day, f'thing number {day}', 10.0 * day))
    robot.wait(lambda: len(stored) == 4, 'four memories')
    return node


def total(robot) -> int:
    return robot.call(Recall, 'recall', Recall.Request()).total


@pytest.mark.parametrize('days', [6, 30, 3000], ids=['six_days', 'a_month', 'years'])
def test_no_memory_is_deleted_because_time_jumped_ahead(robot, keeper, days):
    time = Time(robot, keeper)
    time.set(T0 + 3 * DAY_NS)
    time.set(T0 + days * DAY_NS)
    keeper._housekeeping.retain()
    assert total(robot) == 4
    assert 'nothing is deleted for its age' in figures(keeper)['last retention']


@pytest.mark.parametrize('start', [0, T0 - 3000 * DAY_NS], ids=['zero', 'years_before'])
def test_no_memory_is_deleted_because_time_jumped_back_or_began_at_zero(robot, keeper, start):
    time = Time(robot, keeper)
    time.set(T0 + 3 * DAY_NS)
    time.set(start + NS)
    keeper._housekeeping.retain()
    assert total(robot) == 4


def test_time_that_goes_on_without_a_jump_is_believed(robot, keeper):
    time = Time(robot, keeper)
    time.set(T0 + 3 * DAY_NS + DAY_NS // 2)
    for step in range(1, 5):
        time.set(T0 + 3 * DAY_NS + DAY_NS // 2 + step * 30 * NS)
    keeper._housekeeping.retain()
    assert total(robot) == 2, 'those of the last two days'


def test_a_loop_of_a_recording_makes_the_clock_doubtful_again(robot, keeper):
    time = Time(robot, keeper)
    late = T0 + 3 * DAY_NS + DAY_NS // 2
    for step in range(5):
        time.set(late + step * 30 * NS)
    assert keeper._clock_watch.doubt() == ''
    time.set(late)
    assert keeper._clock_watch.doubt() != ''
    keeper._housekeeping.retain()
    assert total(robot) == 4


def test_by_the_wall_clock_nothing_is_in_doubt(robot, tmp_path):
    node = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing', max_age_days=2.0)
    assert node._clock_watch.doubt() == ''


def test_a_jump_ahead_ends_the_segment_and_both_keep_their_stamps_and_places(robot):
    drive = Drive(robot)
    year = 365.0 * 86_400.0
    for start, x in ((0.0, 1.0), (year, 2.0)):
        for second in (0.0, 0.5, 1.0):
            drive.pose(pose(start + second, x))
            drive.image(jpeg(start + second))
    drive.flush()
    robot.wait(lambda: len(drive.captions) == 2, 'two segments')
    assert [round((time_from_msg(msg.start) - time_from_msg(msg.end)) / NS, 1) for msg in drive.captions] == [
        -1.0,
        -1.0,
    ]
    assert [msg.pose.pose.position.x for msg in drive.captions] == [1.0, 2.0]


def test_now_follows_the_clock_wherever_it_jumps(robot):
    node = robot.start(AgentNode, pose_source='none', use_sim_time=True)
    node._agent = FakeAgent()
    time = Time(robot, node)
    moments = [T0, T0 + 3000 * DAY_NS, T0 - 3000 * DAY_NS]
    for ns in moments:
        time.set(ns)
        assert robot.call(Ask, 'ask', Ask.Request(question='What time is it?')).error_code == 0
    assert [question.now_ns for question, _ in node._agent.questions] == moments


def test_while_time_stands_still_a_question_still_ends_in_time(robot):
    node = robot.start(AgentNode, pose_source='none', use_sim_time=True)
    node._agent = FakeAgent()
    node._agent.deaf = True
    Time(robot, node).set(T0)
    request = Ask.Request(question='wait')
    request.timeout.sec = 1
    response = robot.call(Ask, 'ask', request)
    node._agent.release.set()
    assert response.error_code == Ask.Response.BUDGET_EXCEEDED
