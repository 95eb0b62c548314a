"""The ways to ask the agent node: two actions, a service and a topic; and where its answers go."""

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
from remembr_msgs.action import GoTo
from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.srv import Ask as AskSrv
from remembr_ros.memory.model.recall import Scope
from remembr_ros.nodes.agent.ask_request import FULL, AskOutcome, Inquiries, Inquiry
from remembr_ros.nodes.agent.go_to import described, drive_feedback, drive_result, drive_target
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.agent.recall_client import RecallClient
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.bounds import check_texts
from remembr_ros.nodes.base.conversions import duration_from_msg, scope_from_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.worker_pool import WorkerPool

TOPIC_ASKER = 'topic question'  # who asks by topic, for follow-up questions


class AskEndpoints:
    """Takes questions, and drives that a person wants, and gives their outcomes back.

    It is there while the node is configured. What comes while the node is not active is refused.

    :param parameters: those of now: 'timeout' [s] and 'navigate_on_topic' may change at any time
    """

    def __init__(
        self,
        node: ManagedNode,
        parameters: Callable[[], AgentParameters],
        inquiries: Inquiries,
        recall: RecallClient,
    ) -> None:
        self._node = node
        self._parameters = parameters
        self._inquiries = inquiries
        self._recall = recall
        self._heard: deque[str] = deque()
        self._pool = WorkerPool(node, parameters().parallel_questions, 'question')
        # Whoever wants a drive does not wait until a language model has replied to a question.
        drives = WorkerPool(node, 1, 'go_to')
        for pool in (self._pool, drives):
            node.while_configured.callback(pool.close)
        self.answers = node.advertise(AnswerMsg, 'answer', qos.ANSWERS)
        self.answer_texts = node.advertise(String, 'answer_text', qos.ANSWERS)
        self._offer_action(
            AskAction, 'ask', self._pool, self._question, lambda _, outcome: outcome.fill(AskAction.Result())
        )
        self._offer_action(GoTo, 'go_to', drives, self._drive, drive_result)
        node.offer(AskSrv, 'ask', self._on_service)
        node.topics.subscribe(String, 'question', self._on_topic, qos.QUESTIONS, yields=True, eager=True)

    def _offer_action(
        self,
        kind: type[Any],
        name: str,
        pool: WorkerPool,
        inquiry_of: Callable[[Any, Callable[[Any], None]], Inquiry],
        result_of: Callable[[Inquiry, AskOutcome], Any],
    ) -> None:
        """Offer an action; a goal can be cancelled at any point.

        :param inquiry_of: makes one of a goal's request, and of what publishes feedback
        :param result_of: makes the action's result of what became of one
        """
        inquiries, by_goal = self._inquiries, dict[bytes, Inquiry]()

        async def execute(goal: ServerGoalHandle) -> Any:
            inquiry = by_goal[bytes(goal.goal_id.uuid)] = inquiry_of(goal.request, goal.publish_feedback)
            inquiry.follow = True
            if goal.is_cancel_requested:
                inquiries.cancel(inquiry)
            outcome = await inquiries.outcome(inquiry, pool)
            del by_goal[bytes(goal.goal_id.uuid)]
            if outcome.error_code == AskAction.Result.NONE:
                goal.succeed()
            elif outcome.error_code == AskAction.Result.CANCELLED and goal.is_cancel_requested:
                goal.canceled()
            else:
                goal.abort()
            return result_of(inquiry, outcome)

        def cancel(goal: ServerGoalHandle) -> CancelResponse:
            if (inquiry := by_goal.get(bytes(goal.goal_id.uuid))) is not None:
                inquiries.cancel(inquiry)
            return CancelResponse.ACCEPT

        server = ActionServer(
            self._node,
            kind,
            name,
            execute,
            # Reentrant: a goal that awaits its outcome does not keep the next one waiting.
            callback_group=ReentrantCallbackGroup(),
            goal_callback=lambda _: GoalResponse.ACCEPT if self._node.active else GoalResponse.REJECT,
            cancel_callback=cancel,
            goal_service_qos_profile=qos.SERVICES,
            result_service_qos_profile=qos.SERVICES,
            cancel_service_qos_profile=qos.SERVICES,
        )
        self._node.while_configured.callback(server.destroy)

    async def _on_service(self, request: AskSrv.Request, response: AskSrv.Response) -> AskSrv.Response:
        if not self._node.active:
            return AskOutcome(AskSrv.Response.INTERNAL, 'the agent node is not active').fill(response)
        outcome = await self._inquiries.outcome(self._question(request), self._pool)
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

    def _question(
        self,
        request: AskAction.Goal | AskSrv.Request,
        publish: Callable[[AskAction.Feedback], None] = lambda feedback: None,
    ) -> Inquiry:
        timeout_s = duration_from_msg(request.timeout)
        deadline = time.monotonic() + (timeout_s if timeout_s > 0.0 else self._parameters().timeout)
        scope = partial(asked_scope, request)
        return Inquiry(request.question, request.navigate, deadline, request.asker, publish, scope=scope)

    def _drive(self, request: GoTo.Goal, publish: Callable[[GoTo.Feedback], None]) -> Inquiry:
        inquiry = Inquiry(
            f'drive to {described(request)}',
            navigate=True,
            deadline=time.monotonic() + self._parameters().timeout,
            asker=request.asker,
            target=partial(drive_target, request, self._recall),
        )

        def feed_back(feedback: AskAction.Feedback) -> None:
            if inquiry.goals:
                publish(drive_feedback(feedback, inquiry.goals[0]))

        inquiry.on_feedback = feed_back
        return inquiry


def asked_scope(request: AskAction.Goal | AskSrv.Request) -> Scope:
    """Return which memories a question is about.

    :raises InvalidRequest: that makes no sense
    """
    check_texts(request)
    return scope_from_msg(request)
