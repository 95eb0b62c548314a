"""Two nodes of one name: it is told, and neither answers."""

import signal

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.parameter import Parameter

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Ask, Recall, Remember
from remembr_ros.memory.deeds.deed import facts_of
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base.lifecycle import bring_up
from remembr_ros.nodes.base.memory_conversion import memory_from_msg
from remembr_ros.nodes.memory.node import MemoryNode

HASHING = {'embedder': 'hashing'}


def recall(robot) -> Recall.Response:
    return robot.call(Recall, 'recall', Recall.Request(limit=1))


@pytest.fixture
def memory(robot, tmp_path):
    return robot.start(MemoryNode, uri=str(tmp_path / 'one.db'), **HASHING)


def second(robot, tmp_path):
    """A memory node of another robot, or of an earlier run, that knows nothing."""
    overrides = {'uri': str(tmp_path / 'two.db'), **HASHING}
    parameters = [Parameter(name, value=value) for name, value in overrides.items()]
    return robot.add(MemoryNode(parameter_overrides=parameters))


def test_two_memory_nodes_of_one_name_are_told_of_and_neither_answers(robot, memory, tmp_path):
    agent = robot.start(AgentNode, pose_source='none')
    deeds = robot.listen(MemoryMsg, 'captions')
    statuses = robot.listen(DiagnosticArray, '/diagnostics')
    assert not memory.twins.problem
    assert recall(robot).error_code == Recall.Response.NONE
    twin = second(robot, tmp_path)
    twin.trigger_configure()
    robot.wait(lambda: memory.twins.problem and twin.twins.problem, 'both notice')
    twin.trigger_activate()
    for _ in range(5):  # whichever is the first to answer
        answer = recall(robot)
        assert answer.error_code == Recall.Response.STORE_UNAVAILABLE
        assert 'another node is called /remembr/memory, process ' in answer.error_msg
        assert 'namespace:=robot1' in answer.error_msg
    assert robot.call(Remember, 'remember', Remember.Request(text='a note')).error_code
    asked = robot.call(Ask, 'ask', Ask.Request(question='Where is the lift?'))
    assert asked.error_code == Ask.Response.MEMORY_UNAVAILABLE
    assert 'another node is called /remembr/memory' in asked.error_msg
    robot.wait(lambda: deeds, 'the deed')
    (deed,) = (facts_of(memory_from_msg(msg)) for msg in deeds)
    assert (deed.outcome, deed.reason) == ('failed', asked.error_msg), 'and not that it was not seen'

    def told() -> bool:
        found = [one for msg in statuses for one in msg.status if one.name == '/remembr/memory: status']
        return any(one.level == b'\2' and 'another node is called' in one.message for one in found)

    robot.wait(told, 'an error in the diagnostics')
    assert not agent.twins.problem
    twin.trigger_deactivate()
    twin.trigger_cleanup()
    robot.wait(lambda: not memory.twins.problem, 'it is alone again')
    assert recall(robot).error_code == Recall.Response.NONE


def test_two_agents_of_one_name_do_not_both_drive(robot, memory):
    first, other = (robot.start(AgentNode, pose_source='none') for _ in range(2))
    robot.wait(lambda: first.twins.problem and other.twins.problem, 'both notice')
    asked = robot.call(Ask, 'ask', Ask.Request(question='Where is the lift?', navigate=True))
    assert asked.error_code == Ask.Response.INTERNAL
    assert 'another node is called /remembr/agent' in asked.error_msg


def test_the_successor_of_a_node_that_was_killed_answers_at_once(robot, processes, tmp_path):
    uri = str(tmp_path / 'one.db')
    process = processes.start('memory', uri=uri, **HASHING)
    bring_up(robot.client, ['/remembr/memory'])
    process.send_signal(signal.SIGKILL)
    process.wait(10.0)
    topic = '/remembr/memory/instance'
    successor = robot.start(MemoryNode, uri=uri, **HASHING)
    assert successor.count_publishers(topic) == 2, 'DDS still knows the one that was killed'
    assert not successor.twins.problem
    assert not recall(robot).error_code
    assert successor.count_publishers(topic) == 2
