"""The three ways to ask the agent node: an action, a service and a topic; and where its answers go."""

import time
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from std_msgs.msg import String

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.srv import Ask as AskSrv
from remembr_ros.memory.model.recall import Scope
from remembr_ros.nodes.agent.ask_request import FULL, AskOutcome, Inquiries, Inquiry
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.bounds import check_texts
from remembr_ros.nodes.base.conversions import duration_from_msg, scope_from_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.worker_pool import WorkerPool

TOPIC_ASKER = 'topic question'  # who asks by topic, for follow-up questions


class InquiryAction:
    """Offers an action while the node is configured; a goal can be cancelled at any point.

    :param node: goals are taken while it is active, else rejected
    :param pool: on whose threads they are worked at
    :param inquiry: made of a goal's request, and of what publishes feedback
    :param result: the action's, of what became of one
    """

    def __init__(
        self,
        node: ManagedNode,
        kind: type[Any],
        name: str,
        *,
        inquiries: Inquiries,
        pool: WorkerPool,
        inquiry: Callable[[Any, Callable[[Any], None]], Inquiry],
        result: Callable[[Inquiry, AskOutcome], Any],
    ) -> None:
        self._inquiries = inquiries
        self._pool = pool
        self._inquiry = inquiry
        self._result = result
        self._by_goal: dict[bytes, Inquiry] = {}
        server = ActionServer(
            node,
            kind,
            name,
            self._execute,
            # Reentrant: a goal that awaits its outcome does not keep the next one waiting.
            callback_group=ReentrantCallbackGroup(),
            goal_callback=lambda _: GoalResponse.ACCEPT if node.active else GoalResponse.REJECT,
            cancel_callback=self._on_cancel,
            goal_service_qos_profile=qos.SERVICES,
            result_service_qos_profile=qos.SERVICES,
            cancel_service_qos_profile=qos.SERVICES,
        )
        node.while_configured.callback(server.destroy)

    async def _execute(self, goal: ServerGoalHandle) -> Any:
        key = bytes(goal.goal_id.uuid)
        inquiry = self._inquiry(goal.request, goal.publish_feedback)
        inquiry.follow = True
        self._by_goal[key] = inquiry
        if goal.is_cancel_requested:
            self._inquiries.cancel(inquiry)
        outcome = await self._inquiries.outcome(inquiry, self._pool)
        del self._by_goal[key]
        if outcome.error_code == AskAction.Result.NONE:
            goal.succeed()
        elif outcome.error_code == AskAction.Result.CANCELLED and goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return self._result(inquiry, outcome)

    def _on_cancel(self, goal: ServerGoalHandle) -> CancelResponse:
        inquiry = self._by_goal.get(bytes(goal.goal_id.uuid))
        if inquiry is not None:
            self._inquiries.cancel(inquiry)
        return CancelResponse.ACCEPT


class AskEndpoints:
    """Takes questions and gives their outcomes back; while the node is configured.

    :param node: questions are answered while it is active, else refused
    :param parameters: those of now: 'timeout' [s] and 'navigate_on_topic' may change at any time
    :param pool: on whose threads they are answered
    """

    def __init__(
        self,
        node: ManagedNode,
        parameters: Callable[[], AgentParameters],
        inquiries: Inquiries,
        pool: WorkerPool,
    ) -> None:
        self._node = node
        self._parameters = parameters
        self._inquiries = inquiries
        self._pool = pool
        self._heard: deque[str] = deque()
        self.answers = node.advertise(AnswerMsg, 'answer', qos.ANSWERS)
        self.answer_texts = node.advertise(String, 'answer_text', qos.ANSWERS)
        InquiryAction(
            node,
            AskAction,
            'ask',
            inquiries=inquiries,
            pool=pool,
            inquiry=self._inquiry,
            result=lambda _, outcome: outcome.fill(AskAction.Result()),
        )
        node.offer(AskSrv, 'ask', self._on_service)
        node.topics.subscribe(String, 'question', self._on_topic, qos.QUESTIONS, yields=True, eager=True)

    async def _on_service(self, request: AskSrv.Request, response: AskSrv.Response) -> AskSrv.Response:
        if not self._node.active:
            return AskOutcome(AskSrv.Response.INTERNAL, 'the agent node is not active').fill(response)
        outcome = await self._inquiries.outcome(self._inquiry(request), self._pool)
        return outcome.fill(response)

    def _on_topic(self, msg: String) -> None:
        if self._node.active and (executor := self._node.executor) is not None:
            self._heard.append(msg.data)
            executor.create_task(self._answer_next)

    async def _answer_next(self) -> None:
        text = self._heard.popleft()  # the oldest: the executor begins with the newest of its tasks
        p = self._parameters()
        # A topic does not say who asks: whoever speaks to the robot goes on with the last question.
        deadline = time.monotonic() + p.timeout
        inquiry = Inquiry(text, p.navigate_on_topic, deadline, asker=TOPIC_ASKER)
        outcome = await self._inquiries.outcome(inquiry, self._pool)
        if outcome is FULL:
            return  # it is counted; as many complaints would be a flood, too
        # A goal that was rejected still leaves an answer.
        if outcome.answer.text:
            self.answers.publish(outcome.answer)
        self.answer_texts.publish(String(data=outcome.answer.text or outcome.error_msg))

    def _inquiry(
        self,
        request: AskAction.Goal | AskSrv.Request,
        on_feedback: Callable[[AskAction.Feedback], None] = lambda feedback: None,
    ) -> Inquiry:
        timeout_s = duration_from_msg(request.timeout)
        deadline = time.monotonic() + (timeout_s if timeout_s > 0.0 else self._parameters().timeout)
        scope = partial(asked_scope, request)
        return Inquiry(request.question, request.navigate, deadline, request.asker, on_feedback, scope=scope)


def asked_scope(request: AskAction.Goal | AskSrv.Request) -> Scope:
    """Return which memories a question is about.

    :raises InvalidRequest: that makes no sense
    """
    check_texts(request)
    return scope_from_msg(request)
