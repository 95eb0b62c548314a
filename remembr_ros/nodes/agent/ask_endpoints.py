"""The ways to ask the agent node (actions ask and go_to, a service, a topic), and where answers go."""

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
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.faces import from_message
from remembr_ros.forms.scope import ScopeForm
from remembr_ros.geometry import StampedPose, is_place
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.agent.ask_request import FULL, AskOutcome, Inquiries, Inquiry
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.agent.recall_client import RecallClient
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import (
    check_texts,
    duration_from_msg,
    frame_name,
    pose_from_msg,
    stamped_pose_to_msg,
)
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
        inquiry = Inquiry(text, p.navigate_on_topic, time.monotonic() + p.timeout, asker=TOPIC_ASKER)
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
        inquiry = Inquiry(request.question, request.navigate, deadline, request.asker, publish, scope=scope)
        if isinstance(request, AskAction.Goal):
            inquiry.look, inquiry.search = request.look_on_arrival, request.search_on_arrival
        return inquiry

    def _drive(self, request: GoTo.Goal, publish: Callable[[GoTo.Feedback], None]) -> Inquiry:
        inquiry = Inquiry(
            f'drive to {described(request)}',
            navigate=True,
            deadline=time.monotonic() + self._parameters().timeout,
            asker=request.asker,
            look=request.look_on_arrival,
            search=request.search_on_arrival,
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
    return from_message(ScopeForm, request).scope()


CONFIDENCE = 1.0  # that a place is the one meant which a person has pointed at


def drive_target(request: GoTo.Goal, recall: RecallClient) -> Answer:
    """Return where to drive as an answer: what holds for the goal of one holds for this, too.

    :raises InvalidRequest: there is no such memory, or nothing is named
    :raises StoreUnavailable: the memory node does not answer
    """
    check_texts(request)
    frame_id = request.pose.header.frame_id
    if (request.look_on_arrival or request.search_on_arrival) and not request.memory_id:
        raise InvalidRequest('at a pose there is nothing to look for; give the memory_id of a thing')
    if request.memory_id:
        memory = next(iter(recall.get([request.memory_id])), None)
        if memory is None:
            raise InvalidRequest(
                f'there is no memory {request.memory_id}; it may have been forgotten meanwhile'
            )
    elif frame_id:
        pose = pose_from_msg(request.pose.pose)
        if not is_place(pose):
            raise InvalidRequest(f'the pose {pose} is no place')
        # As a person's note is: where it cannot be reached, the robot stands beside it and faces it.
        frame_id = frame_name(frame_id)
        memory = Memory('', '', 0, 0, 'a place', pose, frame_id, request.map, source='person')
    else:
        raise InvalidRequest('give a memory_id, or a pose with the frame_id of the map')
    return Answer(
        Kind.POSITION,
        '',
        '',
        pose=memory.pose,
        frame_id=memory.frame_id,
        map_id=memory.map_id,
        evidence=(Hit(memory, CONFIDENCE),),
        confidence=CONFIDENCE,
    )


def described(request: GoTo.Goal) -> str:
    """Return where a request is about to drive to, for the log."""
    at = request.pose.pose.position
    return f'memory {request.memory_id}' if request.memory_id else f'x {at.x:.2f} m, y {at.y:.2f} m'


def drive_feedback(feedback: AskAction.Feedback, goal: StampedPose) -> GoTo.Feedback:
    """Return the feedback of a question's drive as that of this action."""
    return GoTo.Feedback(
        stage=feedback.stage,
        detail=feedback.detail,
        goal=stamped_pose_to_msg(goal),
        distance_remaining=feedback.distance_remaining,
        estimated_time_remaining=feedback.estimated_time_remaining,
    )


def drive_result(inquiry: Inquiry, outcome: AskOutcome) -> GoTo.Result:
    """Return what became of a drive; its goal, if the robot was sent there."""
    result = GoTo.Result(error_code=outcome.error_code, error_msg=outcome.error_msg)
    if inquiry.sent:
        result.goal = stamped_pose_to_msg(inquiry.goals[0])
    return result
