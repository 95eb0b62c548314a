"""Days by the agent node: the service day, and the same question by action and service ask."""

import threading

import pytest
from rclpy.lifecycle import TransitionCallbackReturn

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.msg import DayEntry
from remembr_msgs.srv import Ask, Day
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base.conversions import time_from_msg
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import NS, parse_time
from test.node.agent.fake_agent import SUCCEEDED, Asker
from test.unit.agent.overview.driven_tour import drive

START_NS = parse_time('2026-03-02T09:00:00Z')
ROBOT = 'robbie'


@pytest.fixture(scope='module')
def tour():
    return drive(0, START_NS, dwell=20.0, robot=ROBOT)


@pytest.fixture
def nodes(robot, tour, tmp_path, monkeypatch):
    """The agent node beside a memory node that holds a tour; and what day it is."""
    memory = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    note = Memory('note', 'ann', START_NS - 86_400 * NS, START_NS - 86_400 * NS, 'A note.', source='person')
    memory._store.add([Observation(one) for one in (*tour.memories, note)])
    agent = robot.start(AgentNode, pose_source='none', time_zone='UTC', timeout=30.0)
    monkeypatch.setattr(agent, 'now_ns', lambda: START_NS + 8 * 3_600 * NS)
    return agent


def ask_day(client, **fields) -> Day.Response:
    return client.call(Day, 'day', Day.Request(**fields))


def test_a_day_is_told_by_service(robot, nodes, tour):
    told = ask_day(robot, day='today', robot=[ROBOT])
    assert (told.error_code, told.error_msg) == (Day.Response.NONE, '')
    assert time_from_msg(told.start) == parse_time('2026-03-02T00:00:00Z')
    assert time_from_msg(told.end) == parse_time('2026-03-03T00:00:00Z')
    stays = [entry for entry in told.entries if entry.kind == DayEntry.STAY]
    assert len(stays) == len(tour.stops)
    for entry, stop in zip(stays, tour.stops, strict=True):
        assert (entry.part, entry.pose.header.frame_id) == ('morning', 'map')
        # The store merged what was seen while the robot stood with the end of its braking.
        assert abs(time_from_msg(entry.start) - stop.start_ns) <= 3 * NS
        assert abs(entry.pose.pose.position.x - stop.pose.x) <= 0.5
        assert entry.seen
        assert set(entry.memories) <= {memory.id for memory in tour.memories}
    legs = [entry for entry in told.entries if entry.kind == DayEntry.LEG]
    assert sum(entry.travelled for entry in legs) == pytest.approx(tour.length_m, rel=0.05)
    assert 'CAFETERIA' in {text for entry in told.entries for text in entry.read}
    assert told.text.startswith('Monday, 2026-03-02, morning:\n09:00:00 to ')
    assert ask_day(robot).text == told.text, 'today, and every robot, where nothing is said'


def test_a_time_with_nothing_names_the_days_that_there_are(robot, nodes):
    told = ask_day(robot, day='this afternoon')
    assert (told.error_code, len(told.entries)) == (Day.Response.NONE, 0)
    assert 'there are memories of 2026-03-02, 2026-03-01.' in told.text
    assert '2026-03-02' not in ask_day(robot, day='2026-02-01', robot=['ann']).text


def test_another_day_has_its_own_memories(robot, nodes):
    (entry,) = ask_day(robot, day='yesterday').entries
    assert (list(entry.seen), list(entry.memories), entry.pose.header.frame_id) == (['A note.'], ['note'], '')


@pytest.mark.parametrize(
    'fields', [{'day': 'purple'}, {'day': 'x' * 5_000}, {'robot': ['x' * 5_000]}], ids=str
)
def test_what_makes_no_sense_is_refused(robot, nodes, fields):
    told = ask_day(robot, **fields)
    assert told.error_code == Day.Response.INVALID_REQUEST
    assert told.error_msg
    assert not told.entries


def test_without_a_memory_node_it_says_so(robot):
    robot.start(AgentNode, pose_source='none', recall_timeout=0.2)
    told = ask_day(robot, day='today')
    assert told.error_code == Day.Response.STORE_UNAVAILABLE
    assert 'memory node' in told.error_msg


def test_the_executor_is_free_while_a_day_is_told(robot, nodes, monkeypatch):
    begun, released = threading.Event(), threading.Event()

    def hanging() -> int:
        if threading.current_thread().name.startswith('day'):
            begun.set()
            assert released.wait(20.0)
        return START_NS + 3_600 * NS

    monkeypatch.setattr(nodes, 'now_ns', hanging)
    told = robot.client.create_client(Day, '/remembr/day').call_async(Day.Request())
    robot.wait(begun.is_set, 'the day is being told')
    assert robot.call(Ask, 'ask', Ask.Request(question='')).error_code == Ask.Response.INVALID_QUESTION
    released.set()
    robot.wait(told.done, 'the day')
    assert told.result().entries


def test_it_is_there_while_the_node_is_active(robot, nodes):
    client = robot.client.create_client(Day, '/remembr/day')
    assert client.wait_for_service(20.0)
    assert nodes.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    robot.wait(lambda: not client.service_is_ready(), 'the service is gone')
    assert nodes.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert ask_day(robot).entries


def test_what_did_you_do_today_is_answered_by_action_and_service(robot, nodes, tour):
    asker = Asker(robot)
    question = 'What did you do today?'
    result = asker.result(asker.send(question))
    asker.client.destroy()
    answer = result.result.answer
    assert (result.status, result.result.error_code) == (SUCCEEDED, AskAction.Result.NONE)
    assert (answer.kind, answer.planner) == (AnswerMsg.TEXT, 'offline')
    assert answer.text.startswith('Monday, 2026-03-02, morning:\n')
    assert answer.text.count(' stood ') == len(tour.stops)
    assert len(answer.evidence) == len(answer.text.splitlines()) - 1
    assert answer.confidence > 0.5
    by_service = robot.call(Ask, 'ask', Ask.Request(question=question)).answer
    assert by_service.text == answer.text
    navigating = robot.call(Ask, 'ask', Ask.Request(question=question, navigate=True))
    assert navigating.error_code == Ask.Response.NO_PLACE, 'a day is nowhere to drive to'
