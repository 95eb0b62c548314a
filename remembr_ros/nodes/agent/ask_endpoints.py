"""The three ways to ask the agent node: an action, a service and a topic; and where its answers go."""

import time
from collections import deque
from collections.abc import Callable
from functools import partial

from rclpy.callback_groups import ReentrantCallbackGroup
from std_msgs.msg import String

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.srv import Ask as AskSrv
from remembr_ros.memory.model.recall import Scope
from remembr_ros.nodes.agent.ask_request import FULL, AskOutcome, Inquiries, Inquiry
from remembr_ros.nodes.agent.inquiry_action import InquiryAction
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.bounds import check_asked
from remembr_ros.nodes.base.conversions import duration_from_msg, time_from_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.worker_pool import WorkerPool

TOPIC_ASKER = 'topic question'  # who asks by topic, for follow-up questions


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
        self.answers = node.create_publisher(AnswerMsg, 'answer', qos.ANSWERS)
        self.answer_texts = node.create_publisher(String, 'answer_text', qos.ANSWERS)
        # Reentrant: a question that awaits its answer does not keep the next one waiting.
        group = ReentrantCallbackGroup()
        InquiryAction(
            node,
            AskAction,
            'ask',
            inquiries=inquiries,
            pool=pool,
            inquiry=self._inquiry,
            result=lambda _, outcome: outcome.fill(AskAction.Result()),
        )
        service = node.create_service(
            AskSrv, 'ask', self._on_service, qos_profile=qos.SERVICES, callback_group=group
        )
        node.topics.subscribe(
            String, 'question', self._on_topic, qos.QUESTIONS, yields=True, eager=True, callback_group=group
        )
        for publisher in (self.answers, self.answer_texts):
            node.while_configured.callback(node.destroy_publisher, publisher)
        node.while_configured.callback(node.destroy_service, service)

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
    check_asked(request)
    return Scope(
        after_ns=time_from_msg(request.after) or None,  # a time of zero is no limit
        before_ns=time_from_msg(request.before) or None,
        robots=tuple(request.robots),
        map_id=request.map_id if request.map_id or request.match_map else None,
    )
