"""More questions at once than a robot can answer: what is taken is answered, the rest is counted."""

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from std_msgs.msg import String

from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.srv import Ask
from remembr_ros.nodes.agent import ask_request as inquiry
from remembr_ros.nodes.agent.node import AgentNode
from test.node.agent.fake_agent import Asker, FakeAgent

FLOOD = 1_000

TAKEN = 100
"""As many may be under way."""


@pytest.fixture
def agent(robot):
    node = robot.start(AgentNode, pose_source='none')
    node._agent = FakeAgent()
    yield node
    node._agent.release.set()


def agent_status(heard) -> DiagnosticStatus:
    """Return the newest status of the agent."""
    statuses = [one for array in heard for one in array.status if one.name == '/remembr/agent: status']
    return statuses[-1] if statuses else DiagnosticStatus()


def dropped(heard) -> int:
    """Return how many questions the agent says that it has dropped."""
    return sum(int(one.value) for one in agent_status(heard).values if one.key == 'dropped')


@pytest.mark.parametrize('question', ['Where?', 'wait'], ids=['quick', 'slow'])
def test_each_of_many_questions_is_answered_or_counted(robot, agent, question):
    texts = robot.listen(String, 'answer_text', FLOOD)
    answers = robot.listen(AnswerMsg, 'answer', FLOOD)
    diagnostics = robot.listen(DiagnosticArray, '/diagnostics')
    robot.wait(lambda: agent.count_subscribers('answer_text') and agent.count_subscribers('answer'), 'ears')
    talker = robot.talk(String, 'question', FLOOD)
    for number in range(FLOOD):
        talker.publish(String(data=f'{question} {number}'))
    if question == 'wait':
        robot.wait(lambda: dropped(diagnostics) == FLOOD - TAKEN, 'the count of all that are not taken')
        agent._agent.release.set()
    robot.wait(lambda: len(texts) + dropped(diagnostics) == FLOOD, 'each one answered or counted')
    robot.wait(lambda: len(answers) == len(texts), 'the answers')
    assert len({text.data for text in texts}) == len(texts) >= TAKEN
    if count := dropped(diagnostics):
        assert f'{count} dropped so far' in agent_status(diagnostics).message


def test_questions_that_come_together_are_asked_in_their_order(robot, agent):
    talker = robot.talk(String, 'question', FLOOD)
    asked = [f'wait for {number}' for number in range(4)]  # each of which has a thread
    for question in asked:
        talker.publish(String(data=question))
    robot.wait(lambda: len(agent._agent.questions) == 4, 'the questions')
    assert [question.text for question, _ in agent._agent.questions] == asked


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
