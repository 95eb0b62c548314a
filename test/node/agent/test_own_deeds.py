"""What the agent was asked, and what came of it, becomes memories; and none of these is evidence."""

from dataclasses import replace

import pytest
from geometry_msgs.msg import PoseStamped
from rclpy.parameter import Parameter

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Ask, Forget
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import TALK, facts_of
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base.memory_conversion import memory_from_msg
from remembr_ros.nodes.memory.node import MemoryNode
from test.node.agent.fake_agent import T0, Asker, FakeAgent


@pytest.fixture
def agent(robot):
    node = robot.start(AgentNode, pose_source='pose', recall_timeout=0.5, map_id='cellar')
    node._agent = FakeAgent()
    yield node
    node._agent.release.set()


@pytest.fixture
def asker(robot, agent):
    made = Asker(robot)
    yield made
    made.client.destroy()


@pytest.fixture
def deeds(robot, agent):
    heard = robot.listen(MemoryMsg, 'captions')
    robot.wait(agent._own_deeds._outbox._publisher.get_subscription_count, 'a listener')
    return heard


def told(robot, deeds, count: int = 1):
    robot.wait(lambda: len(deeds) >= count, 'the deed')
    return memory_from_msg(deeds[-1])


def test_a_question_and_its_answer(robot, agent, asker, deeds):
    poses = robot.talk(PoseStamped, 'pose')
    here = PoseStamped()
    here.header.frame_id, here.pose.position.x = 'map', 2.5
    poses.publish(here)
    robot.wait(lambda: agent._here, 'the pose')
    asker.result(asker.send('Where is the lift?', asker='ann'))
    memory = told(robot, deeds)
    assert memory.caption == 'Ann asked "Where is the lift?"; answered: Where is the lift?: over there.'
    facts = facts_of(memory)
    assert (facts.kind, facts.outcome, memory.captioner, memory.source) == (
        'answer',
        'succeeded',
        TALK,
        'agent',
    )
    assert (memory.pose.x, memory.map_id) == (2.5, 'cellar')
    assert memory.end_ns >= memory.start_ns > 0


def test_what_could_not_be_driven_to_says_why(robot, agent, asker, deeds):
    agent._agent.answer = replace(agent._agent.answer, frame_id='another_map')
    result = asker.result(asker.send('Take me to the lift', navigate=True)).result
    memory = told(robot, deeds)
    assert result.error_code == AskAction.Result.GOAL_REJECTED
    assert facts_of(memory).outcome == 'failed'
    assert memory.caption.startswith('Was asked "Take me to the lift"; failed: ')
    assert memory.caption.endswith(result.error_msg)


def test_what_is_cancelled(robot, agent, asker, deeds):
    handle = asker.send('wait')
    robot.wait(lambda: agent._agent.questions, 'the question')
    handle.cancel_goal_async()
    assert facts_of(told(robot, deeds)).outcome == 'cancelled'


def test_it_can_be_left_undone(robot, agent, asker, deeds):
    assert agent.set_parameters([Parameter('remember_own', value=False)])[0].successful
    asker.result(asker.send('Where is the lift?'))
    assert agent.set_parameters([Parameter('remember_own', value=True)])[0].successful
    asker.result(asker.send('Where is the stair?'))
    assert 'stair' in told(robot, deeds).caption
    assert len(deeds) == 1


def test_an_answer_is_no_evidence_of_what_it_says(robot, tmp_path, monkeypatch):
    for name in ('OPENAI_API_KEY', 'REMEMBR_LLM', 'REMEMBR_LLM_URL'):
        monkeypatch.delenv(name, raising=False)
    memory = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    node = robot.start(AgentNode, pose_source='none')
    for _ in range(3):
        answer = robot.call(Ask, 'ask', Ask.Request(question='Where is the red fire extinguisher?')).answer
        assert answer.kind == answer.NOT_SEEN
        robot.wait(lambda: not len(node._own_deeds._outbox), 'stored')
    assert memory._store.count() == 3


CONDITIONS = [{'text': 'blue'}, {'map': 'hall'}, {'use_near': True, 'radius': 1.0}, {'id': ['desk']}]


@pytest.mark.parametrize('how', CONDITIONS)
def test_an_answer_is_forgotten_with_what_it_quotes(robot, tmp_path, monkeypatch, how):
    for name in ('OPENAI_API_KEY', 'REMEMBR_LLM', 'REMEMBR_LLM_URL'):
        monkeypatch.delenv(name, raising=False)
    memory = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    node = robot.start(AgentNode, pose_source='none')
    seen = Memory('desk', 'robot', T0, T0 + 1, 'A woman named Zorblax sits at the blue desk.', Pose(0.0, 0.0))
    memory._store.add([Observation(replace(seen, map_id='hall'))])
    answer = robot.call(Ask, 'ask', Ask.Request(question='Where is Zorblax?')).answer
    assert [hit.id for hit in answer.evidence] == ['desk']
    robot.wait(lambda: memory._store.count() == 2 and not len(node._own_deeds._outbox), 'the answer stored')
    (told,) = memory._store.matching(scope=Scope(source='agent'))
    assert facts_of(told).evidence == ('desk',)
    assert robot.call(Forget, 'forget', Forget.Request(**how)).count == 2
    assert memory._store.count() == 0
    left = [path for path in tmp_path.rglob('*') if path.is_file() and b'Zorblax' in path.read_bytes()]
    assert left == []
    again = robot.call(Ask, 'ask', Ask.Request(question='Where is Zorblax?')).answer
    assert again.kind == again.NOT_SEEN
