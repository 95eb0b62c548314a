"""More questions at once than a robot can answer: what is taken is answered, the rest is counted."""

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from std_msgs.msg import String

from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.srv import Ask
from remembr_ros.nodes import inquiry, qos
from remembr_ros.nodes.agent_node import AgentNode
from test.node.fake_agent import Asker, FakeAgent

FLOOD = 1_000


@pytest.fixture
def agent(robot):
    node = robot.start(AgentNode, pose_source='none')
    node._agent = FakeAgent()
    yield node
    node._agent.release.set()


def diagnosed(heard) -> dict[str, str]:
    """Return the newest values of the agent's diagnostics."""
    statuses = [one for array in heard for one in array.status if one.name == '/remembr/agent']
    return {one.key: one.value for one in statuses[-1].values} | {'': statuses[-1].message} if statuses else {}


@pytest.mark.parametrize('question', ['Where?', 'wait'])
def test_each_of_many_questions_is_answered_or_counted(robot, agent, question):
    texts = robot.listen(String, 'answer_text', qos.ANSWERS)
    answers = robot.listen(AnswerMsg, 'answer', qos.ANSWERS)
    diagnostics = robot.listen(DiagnosticArray, '/diagnostics')
    robot.wait(lambda: agent.count_subscribers('answer_text') and agent.count_subscribers('answer'), 'ears')
    talker = robot.talk(String, 'question', qos.QUESTIONS)
    for number in range(FLOOD):
        talker.publish(String(data=f'{question} {number}'))
    robot.wait(lambda: agent._inquiries.answered + agent._inquiries.dropped + len(agent._inquiries) == FLOOD, 'all')
    if question == 'wait':
        assert agent._inquiries.dropped == FLOOD - inquiry.MOST
        agent._agent.release.set()
    robot.wait(lambda: not len(agent._inquiries), 'every question that was taken')
    taken = FLOOD - agent._inquiries.dropped
    robot.wait(lambda: len(texts) == len(answers) == taken, f'{taken} answers')
    # The first ones, which came first, each once.
    assert [text.data for text in texts][:1] == [f'{question} 0: over there.'] or question == 'wait'
    assert len({text.data for text in texts}) == taken >= inquiry.MOST
    if agent._inquiries.dropped:
        robot.wait(lambda: diagnosed(diagnostics).get('dropped') == str(FLOOD - taken), 'the count')
        assert f'{FLOOD - taken} dropped so far' in diagnosed(diagnostics)['']


def test_who_waits_for_an_answer_is_told_that_there_are_too_many(robot, agent, monkeypatch):
    monkeypatch.setattr(inquiry, 'MOST', 1)
    asker = Asker(robot)
    first = asker.send('wait for it')
    robot.wait(agent._agent.waiting.is_set, 'the first question')
    response = robot.call(Ask, 'ask', Ask.Request(question='Where?'))
    second = asker.result(asker.send('Where?')).result
    for refused in (response, second):
        assert refused.error_code == Ask.Response.BUDGET_EXCEEDED
        assert 'ask again later' in refused.error_msg
    assert agent._inquiries.dropped == 2
    agent._agent.release.set()
    assert asker.result(first).result.answer.text == 'wait for it: over there.'
    asker.client.destroy()
