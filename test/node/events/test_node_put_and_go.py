"""Told of by topic, asked in words, driven to: where the robot put a thing, whatever was seen elsewhere."""

import pytest
from geometry_msgs.msg import PoseStamped

from remembr_msgs.action import Ask
from remembr_msgs.msg import Answer, Event
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Recall
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base.memory_conversion import observation_to_msg
from remembr_ros.nodes.events.node import EventsNode
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import NS
from test.node.agent.fake_agent import SUCCEEDED, Asker
from test.node.events.test_node import pose_at

QUESTION = 'Where did you put the cup?'


def total(robot) -> int:
    return robot.call(Recall, 'recall', Recall.Request(limit=1)).total


class Hands:
    """Puts things somewhere, and tells of it."""

    def __init__(self, robot, node) -> None:
        self._robot, self._node = robot, node
        self._events, self._poses = robot.talk(Event, 'event'), robot.talk(PoseStamped, 'pose')

    def put(self, x: float, **about) -> None:
        newest_ns, known = self._node._placer.newest_ns, total(self._robot)

        def is_there() -> bool:
            pose_at(self._robot, self._poses, x)  # of many within 0.2 s one counts
            return self._node._placer.newest_ns != newest_ns

        self._robot.wait(is_there, 'the pose')
        about = {'object': 'cup', 'receptacle': 'shelf', 'outcome': 'succeeded', **about}
        self._events.publish(Event(kind='place', **about))

        def is_stored() -> bool:
            pose_at(self._robot, self._poses, x)  # so that nobody waits for a later one
            return total(self._robot) > known

        self._robot.wait(is_stored, 'the deed')


@pytest.fixture
def hands(robot, tmp_path, monkeypatch):
    """A robot that has put a cup on a shelf, at x = 2, and can be asked."""
    for name in ('OPENAI_API_KEY', 'REMEMBR_LLM', 'REMEMBR_LLM_URL'):
        monkeypatch.delenv(name, raising=False)
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    made = Hands(robot, robot.start(EventsNode, pose_source='pose', left_out=['*']))
    robot.start(AgentNode, pose_source='none', remember_own=False)
    made.put(2.0)
    return made


@pytest.fixture
def ask(robot, hands, goals):
    made = Asker(robot)
    yield lambda text: made.result(made.send(text, navigate=True))
    made.client.destroy()


def see(robot, text: str, x: float) -> None:
    """Have something seen, later than all before."""
    known = total(robot)
    now_ns = robot.client.get_clock().now().nanoseconds
    memory = Memory('', 'robot', now_ns, now_ns + 3 * NS, text, Pose(x, 0.0))
    robot.talk(MemoryMsg, 'captions').publish(observation_to_msg(Observation(memory)))
    robot.wait(lambda: total(robot) == known + 1, 'the caption')


def assert_drives_to(robot, goals, ended, x: float) -> None:
    result = ended.result
    assert (ended.status, result.error_code) == (SUCCEEDED, Ask.Result.NONE), result.error_msg
    assert result.answer.kind == Answer.POSITION
    assert result.answer.text.startswith(f'Put the cup on the shelf: at ({x}, 0.0)')
    robot.wait(lambda: goals, 'a goal')
    assert [(goal.header.frame_id, goal.pose.position.x) for goal in goals] == [('map', x)]


def test_it_drives_to_where_it_put_the_cup(robot, ask, goals):
    assert_drives_to(robot, goals, ask(QUESTION), 2.0)


def test_another_cup_that_was_seen_later_elsewhere_is_not_meant(robot, ask, goals):
    see(robot, 'A cup stands on a shelf beside a window. The cup is on the shelf.', 40.0)
    see(robot, 'A cup.', 50.0)
    assert_drives_to(robot, goals, ask(QUESTION), 2.0)


def test_the_cup_that_was_put_elsewhere_later_is_there(robot, ask, goals, hands):
    hands.put(8.0)
    hands.put(12.0, object='plate', receptacle='table')
    hands.put(16.0, receptacle='sink', outcome='failed', reason='it is full')
    assert_drives_to(robot, goals, ask(QUESTION), 8.0)
