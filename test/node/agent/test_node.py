from dataclasses import replace

import pytest
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.srv import Ask
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base.conversions import time_from_msg, time_to_msg
from remembr_ros.timestamps import NS
from test.node.agent.fake_agent import (
    ABORTED,
    CANCELED,
    LIFT,
    SUCCEEDED,
    T0,
    Asker,
    FakeAgent,
    FakeMemoryNode,
)


@pytest.fixture
def agent(robot):
    """An agent node whose agent is a fake."""
    node = robot.start(AgentNode, pose_source='pose', recall_timeout=0.5)
    node._agent = FakeAgent()
    yield node
    node._agent.release.set()


@pytest.fixture
def asker(robot, agent):
    made = Asker(robot)
    yield made
    made.client.destroy()


def test_action_answers_with_feedback_and_without_a_goal(robot, agent, asker):
    goals = robot.listen(PoseStamped, 'goal_pose')
    handle = asker.send('Where is the lift?', asker='ann', timeout=Duration(sec=7))
    result = asker.result(handle)
    assert (result.status, result.result.error_code) == (SUCCEEDED, AskAction.Result.NONE)
    answer = result.result.answer
    assert (answer.kind, answer.planner, answer.text) == (
        AnswerMsg.POSITION,
        'fake',
        'Where is the lift?: over there.',
    )
    assert (answer.pose.pose.position.x, answer.pose.header.frame_id) == (4.0, 'map')
    assert [memory.id for memory in answer.evidence] == ['lift-1']
    question, timeout_s = agent._agent.questions[0]
    assert (question.asker, timeout_s, question.here) == ('ann', pytest.approx(7.0, abs=0.5), None)
    robot.wait(lambda: asker.feedback, 'feedback')
    assert (asker.feedback[0].stage, asker.feedback[0].memories_found) == ('recalling', 2)
    assert not goals


def test_navigate_publishes_the_place_as_goal(robot, agent, asker):
    goals = robot.listen(PoseStamped, 'goal_pose')
    assert asker.result(asker.send('Take me to the lift', navigate=True)).status == SUCCEEDED
    robot.wait(lambda: goals, 'a goal')
    position = goals[0].pose.position
    assert (position.x, position.y, goals[0].header.frame_id) == (4.0, 2.0, 'map')
    robot.wait(lambda: 'navigating' in [f.stage for f in asker.feedback], 'feedback of navigating')


def test_a_rejected_goal_keeps_the_answer(robot, agent, asker):
    goals = robot.listen(PoseStamped, 'goal_pose')
    agent._agent.answer = replace(agent._agent.answer, frame_id='another_map')
    result = asker.result(asker.send('Take me to the lift', navigate=True)).result
    assert result.error_code == AskAction.Result.GOAL_REJECTED
    assert 'another_map' in result.error_msg
    assert result.answer.evidence[0].id == 'lift-1'
    assert not goals


def test_not_seen_is_a_success_and_never_a_goal(robot, agent, asker):
    agent._agent.answer = Answer(Kind.NOT_SEEN, 'No.', 'fake')
    result = asker.result(asker.send('Where is the pool?'))
    assert (result.status, result.result.answer.kind) == (SUCCEEDED, AnswerMsg.NOT_SEEN)
    assert result.result.error_code == AskAction.Result.NONE


@pytest.mark.parametrize('kind', [kind for kind in Kind if kind is not Kind.POSITION])
def test_whoever_wants_to_drive_and_has_nowhere_to_learns_it_from_the_code(robot, agent, asker, kind):
    goals = robot.listen(PoseStamped, 'goal_pose')
    agent._agent.answer = Answer(kind, 'No.', 'fake')
    result = asker.result(asker.send('Take me to the pool', navigate=True))
    assert (result.status, result.result.error_code) == (ABORTED, AskAction.Result.NO_PLACE)
    assert kind.value in result.result.error_msg
    response = robot.call(Ask, 'ask', Ask.Request(question='Take me to the pool', navigate=True))
    assert (response.error_code, response.answer.kind) == (Ask.Response.NO_PLACE, result.result.answer.kind)
    assert (agent._inquiries.answered, agent._inquiries.failed) == (2, 0), 'there was an answer'
    assert not goals


def test_a_robot_that_does_not_drive_rejects_places_only(robot):
    node = robot.start(AgentNode, pose_source='none', navigation='none')
    node._agent = FakeAgent()
    node._agent.release.set()
    for kind, code in ((Kind.NOT_SEEN, Ask.Response.NO_PLACE), (Kind.POSITION, Ask.Response.GOAL_REJECTED)):
        pose = Pose(1.0, 2.0, 0.0, 0.0) if kind is Kind.POSITION else None
        node._agent.answer = Answer(
            kind, 'So.', 'fake', pose=pose, evidence=(Hit(LIFT, 0.9),) if pose else ()
        )
        assert robot.call(Ask, 'ask', Ask.Request(question='Go', navigate=True)).error_code == code


def test_a_second_question_is_answered_while_the_first_one_runs(robot, agent, asker):
    first = asker.send('wait for it')
    robot.wait(agent._agent.waiting.is_set, 'the first question is under way')
    second = asker.result(asker.send('quick'))
    assert second.result.answer.text == 'quick: over there.'
    by_service = robot.call(Ask, 'ask', Ask.Request(question='by service'))
    assert by_service.answer.text == 'by service: over there.'
    agent._agent.release.set()
    assert asker.result(first).result.answer.text == 'wait for it: over there.'


@pytest.mark.parametrize('deaf', [False, True], ids=['heeded', 'unheeded'])
def test_cancel_ends_a_question_at_once(robot, agent, asker, deaf):
    agent._agent.deaf = deaf
    handle = asker.send('wait', navigate=True)
    robot.wait(agent._agent.waiting.is_set, 'the question is under way')
    cancelled = handle.cancel_goal_async()
    robot.wait(cancelled.done, 'the cancellation is taken')
    result = asker.result(handle)
    assert (result.status, result.result.error_code) == (CANCELED, AskAction.Result.CANCELLED)


def test_a_question_that_is_too_late_ends_even_if_a_thread_is_stuck(robot, agent, asker):
    agent._agent.deaf = True
    goals = robot.listen(PoseStamped, 'goal_pose')
    handle = asker.send('wait', navigate=True, timeout=Duration(nanosec=NS // 10))
    result = asker.result(handle)
    assert (result.status, result.result.error_code) == (ABORTED, AskAction.Result.BUDGET_EXCEEDED)
    agent._agent.release.set()
    assert asker.result(asker.send('fine', navigate=True)).status == SUCCEEDED
    robot.wait(lambda: goals, 'the goal of the second question')
    assert len(goals) == 1


@pytest.mark.parametrize(
    ('question', 'code'),
    [('fail', AskAction.Result.CHAT_UNAVAILABLE), ('break', AskAction.Result.INTERNAL)],
)
def test_errors_have_their_code_and_the_node_goes_on(robot, agent, asker, question, code):
    result = asker.result(asker.send(question))
    assert (result.status, result.result.error_code) == (ABORTED, code)
    assert result.result.error_msg
    assert robot.call(Ask, 'ask', Ask.Request(question=question)).error_code == code
    assert asker.result(asker.send('fine')).status == SUCCEEDED


def test_a_window_the_wrong_way_round_is_invalid(robot, agent, asker):
    request = Ask.Request(question='Where?', after=time_to_msg(2 * NS), before=time_to_msg(NS))
    response = robot.call(Ask, 'ask', request)
    assert response.error_code == Ask.Response.INVALID_QUESTION
    assert 'time window is empty' in response.error_msg


def test_topic_is_answered_and_does_not_drive(robot, agent):
    goals = robot.listen(PoseStamped, 'goal_pose')
    answers, texts = robot.listen(AnswerMsg, 'answer'), robot.listen(String, 'answer_text')
    robot.wait(agent._endpoints.answer_texts.get_subscription_count, 'listeners')
    question = robot.talk(String, 'question')
    question.publish(String(data='Where is the lift?'))
    robot.wait(lambda: answers and texts, 'an answer')
    assert texts[0].data == answers[0].text == 'Where is the lift?: over there.'
    question.publish(String(data='fail'))
    robot.wait(lambda: len(texts) > 1, 'the reason')
    assert texts[1].data == 'the model is out of reach'
    assert (len(answers), goals) == (1, [])


def test_here_and_now_come_from_pose_and_clock(robot):
    agent = robot.start(AgentNode, pose_source='pose_with_covariance', use_sim_time=True)
    agent._agent = FakeAgent()
    poses = robot.talk(PoseWithCovarianceStamped, 'pose_with_covariance')
    clock = robot.talk(Clock, '/clock', 1)
    clock.publish(Clock(clock=time_to_msg(T0)))
    robot.wait(lambda: agent.now_ns() == T0, 'simulated time')
    pose = PoseWithCovarianceStamped()
    pose.header.frame_id = 'map'
    pose.pose.pose.position.x, pose.pose.pose.orientation.w = 3.0, 1.0
    poses.publish(pose)
    robot.wait(lambda: agent._here, 'a pose')
    assert robot.call(Ask, 'ask', Ask.Request(question='hello')).error_code == Ask.Response.NONE
    question = agent._agent.questions[0][0]
    assert (question.now_ns, question.here, question.frame_id) == (T0, Pose(3.0, 0.0, 0.0, 0.0), 'map')


def test_before_simulated_time_begins_now_is_the_newest_memory(robot):
    robot.add(FakeMemoryNode([LIFT]))
    agent = robot.start(AgentNode, pose_source='none', use_sim_time=True)
    agent._agent = FakeAgent()
    assert robot.call(Ask, 'ask', Ask.Request(question='hello')).error_code == Ask.Response.NONE
    assert agent._agent.questions[0][0].now_ns == LIFT.end_ns


def test_offline_planner_answers_from_the_memory_service(robot, monkeypatch):
    for name in ('OPENAI_API_KEY', 'REMEMBR_LLM', 'REMEMBR_LLM_URL'):
        monkeypatch.delenv(name, raising=False)
    memory = robot.add(FakeMemoryNode([LIFT]))
    robot.start(AgentNode, pose_source='none')
    response = robot.call(Ask, 'ask', Ask.Request(question='Where is the lift?'))
    assert (response.error_code, response.error_msg) == (Ask.Response.NONE, '')
    assert (response.answer.kind, response.answer.planner) == (AnswerMsg.POSITION, 'offline')
    assert response.answer.pose.pose.position.x == 4.0
    assert any('lift' in request.text.lower() for request in memory.requests)


def test_without_memory_node_the_answer_says_so(robot, monkeypatch):
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    robot.start(AgentNode, pose_source='none', recall_timeout=0.3)
    response = robot.call(Ask, 'ask', Ask.Request(question='Where is the lift?'))
    assert response.error_code == Ask.Response.MEMORY_UNAVAILABLE
    assert 'memory node' in response.error_msg


def test_without_memory_node_the_asker_waits_no_longer_than_the_timeout(robot, monkeypatch):
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    robot.start(AgentNode, pose_source='none', recall_timeout=60.0)
    request = Ask.Request(question='Where is the lift?', timeout=Duration(nanosec=NS // 2))
    response = robot.call(Ask, 'ask', request)
    assert response.error_code == Ask.Response.MEMORY_UNAVAILABLE
    assert 'memory node' in response.error_msg


def test_a_store_in_trouble_is_named(robot, monkeypatch):
    monkeypatch.delenv('OPENAI_API_KEY', raising=False)
    robot.add(FakeMemoryNode([], error='the disk is gone'))
    robot.start(AgentNode, pose_source='none')
    response = robot.call(Ask, 'ask', Ask.Request(question='Where is the lift?'))
    assert (response.error_code, response.error_msg) == (Ask.Response.MEMORY_UNAVAILABLE, 'the disk is gone')


@pytest.mark.parametrize('question', ['', '   '])
def test_an_empty_question_is_invalid(robot, question):
    robot.start(AgentNode, pose_source='none')
    response = robot.call(Ask, 'ask', Ask.Request(question=question))
    assert response.error_code == Ask.Response.INVALID_QUESTION


def test_configure_fails_readably_and_can_be_tried_again(robot, capfd):
    node = robot.make(AgentNode, pose_source='navsat', datum=[1.0, 2.0])
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert 'cannot configure: datum' in capfd.readouterr().err
    node.set_parameters([Parameter('datum', value=[1.0, 2.0, 3.0])])
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS


def test_the_life_cycle_can_be_walked_twice_and_inactive_means_silent(robot, agent):
    assert agent.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    response = robot.call(Ask, 'ask', Ask.Request(question='anyone?'))
    assert (response.error_code, response.error_msg) == (
        Ask.Response.INTERNAL,
        'the agent node is not active',
    )
    for step in (agent.trigger_cleanup, agent.trigger_configure, agent.trigger_activate):
        assert step() == TransitionCallbackReturn.SUCCESS
    agent._agent = FakeAgent()
    assert robot.call(Ask, 'ask', Ask.Request(question='hello')).answer.text == 'hello: over there.'


def test_deactivation_cancels_what_is_under_way(robot, agent, asker):
    handle = asker.send('wait')
    robot.wait(agent._agent.waiting.is_set, 'the question is under way')
    assert agent.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert asker.result(handle).result.error_code == AskAction.Result.CANCELLED


def test_times_of_evidence_are_exact(robot, agent, asker):
    memory = replace(LIFT, start_ns=T0 + 123_456_789, end_ns=T0 + 123_456_790)
    agent._agent.answer = replace(agent._agent.answer, evidence=(Hit(memory, 0.5),))
    evidence = asker.result(asker.send('when?')).result.answer.evidence[0]
    assert (time_from_msg(evidence.start), time_from_msg(evidence.end)) == (memory.start_ns, memory.end_ns)
