"""The agent node: questions by action, service and topic; answers, and goals to drive to."""

import math
import sys
import time
from collections.abc import Callable
from typing import Any

from geometry_msgs.msg import PoseStamped
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from std_msgs.msg import String

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.srv import Ask as AskSrv
from remembr_ros.agent.agent import AgentConfig, build_agent
from remembr_ros.agent.answer import Answer, Kind, Question
from remembr_ros.errors import BudgetExceeded, Cancelled, RemembrError
from remembr_ros.geometry import StampedPose
from remembr_ros.navigation.goal import goal_from_answer
from remembr_ros.nodes import qos
from remembr_ros.nodes.conversions import (
    answer_to_msg,
    ask_error_code,
    duration_from_msg,
    is_finite,
    stamped_pose_to_msg,
)
from remembr_ros.nodes.inquiry import Feedback, Inquiries, Inquiry, Outcome
from remembr_ros.nodes.lifecycle import run
from remembr_ros.nodes.managed_node import ManagedNode
from remembr_ros.nodes.parameters import AgentParameters
from remembr_ros.nodes.pose_source import PoseSource, check_pose_parameters
from remembr_ros.nodes.recall_client import RecallClient
from remembr_ros.nodes.worker_pool import WorkerPool, settle


class AgentNode(ManagedNode):
    """Answers questions about what the memory node knows."""

    parameters: AgentParameters

    def __init__(self, **kwargs: Any) -> None:
        super().__init__('agent', AgentParameters, **kwargs)
        self._here: StampedPose | None = None
        self._inquiries = Inquiries(self, self._steady)
        self._by_goal: dict[bytes, Inquiry] = {}
        self._poses: PoseSource | None = None
        self._recall: RecallClient | None = None
        self._endpoints: list[Callable[[], Any]] = []

    def load(self) -> None:
        p = self.parameters
        check_pose_parameters(p)
        self._recall = RecallClient(self, p.recall_timeout)
        self._agent = build_agent(
            self._recall,
            AgentConfig(
                llm=p.llm,
                llm_url=p.llm_url,
                rounds=p.rounds,
                calls_per_round=p.calls_per_round,
                memories_per_call=p.memories_per_call,
                timeout_s=p.timeout,
            ),
        )
        self.get_logger().info(f'planner: {self._agent.planner}')
        self._pool = WorkerPool(self, p.parallel_questions, 'question')
        self._goals = self.create_publisher(PoseStamped, 'goal_pose', qos.ANSWERS)
        self._answers = self.create_publisher(AnswerMsg, 'answer', qos.ANSWERS)
        self._answer_texts = self.create_publisher(String, 'answer_text', qos.ANSWERS)
        # Reentrant: a question that awaits its answer does not keep the next one waiting.
        group = ReentrantCallbackGroup()
        action = ActionServer(
            self,
            AskAction,
            'ask',
            self._execute,
            callback_group=group,
            goal_callback=lambda _: GoalResponse.ACCEPT if self._active else GoalResponse.REJECT,
            cancel_callback=self._on_cancel,
            goal_service_qos_profile=qos.SERVICES,
            result_service_qos_profile=qos.SERVICES,
            cancel_service_qos_profile=qos.SERVICES,
        )
        service = self.create_service(
            AskSrv, 'ask', self._on_service, qos_profile=qos.SERVICES, callback_group=group
        )
        topic = self.create_subscription(
            String, 'question', self._on_topic, qos.ANSWERS, callback_group=group
        )
        self._endpoints = [
            action.destroy,
            lambda: self.destroy_service(service),
            lambda: self.destroy_subscription(topic),
            *(
                lambda p=p: self.destroy_publisher(p)
                for p in (self._goals, self._answers, self._answer_texts)
            ),
        ]

    def start(self) -> None:
        self._here = None
        self._poses = PoseSource(self, self.parameters, self._on_pose)

    def stop(self) -> None:
        self._inquiries.cancel_all()
        if self._poses is not None:
            self._poses.close()
            self._poses = None

    def release(self) -> None:
        for destroy in self._endpoints:
            destroy()
        self._endpoints = []
        if self._recall is not None:
            self._pool.close()
            self._recall.close()
            self._recall = None

    def linger(self) -> None:
        self._active = False
        self._inquiries.cancel_all()
        deadline = time.monotonic() + 2.0
        while self._inquiries and time.monotonic() < deadline:
            time.sleep(0.02)

    def diagnose(self) -> tuple[bool, str, dict[str, Any]]:
        values = {
            'planner': self._agent.planner,
            'under way': len(self._inquiries),
            'answered': self._inquiries.answered,
            'failed': self._inquiries.failed,
            'latency [s]': f'{self._inquiries.latency_s:.3f}',
        }
        return True, 'answering' if self._inquiries else 'waiting for questions', values

    # The three ways to ask

    async def _execute(self, goal: Any) -> AskAction.Result:
        key = bytes(goal.goal_id.uuid)
        inquiry = self._inquiry(goal.request, goal.publish_feedback)
        self._by_goal[key] = inquiry
        if goal.is_cancel_requested:
            self._inquiries.cancel(inquiry)
        outcome = await self._outcome(inquiry)
        del self._by_goal[key]
        if outcome.error_code == AskAction.Result.NONE:
            goal.succeed()
        elif outcome.error_code == AskAction.Result.CANCELLED and goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return outcome.fill(AskAction.Result())

    def _on_cancel(self, goal: Any) -> CancelResponse:
        inquiry = self._by_goal.get(bytes(goal.goal_id.uuid))
        if inquiry is not None:
            self._inquiries.cancel(inquiry)
        return CancelResponse.ACCEPT

    async def _on_service(self, request: AskSrv.Request, response: AskSrv.Response) -> AskSrv.Response:
        if not self._active:
            return Outcome(AskSrv.Response.INTERNAL, 'the agent node is not active').fill(response)
        return (await self._outcome(self._inquiry(request))).fill(response)

    async def _on_topic(self, msg: String) -> None:
        if not self._active:
            return
        p = self.parameters
        inquiry = Inquiry(msg.data, p.navigate_on_topic, deadline=time.monotonic() + p.timeout)
        outcome = await self._outcome(inquiry)
        # A goal that was rejected still leaves an answer.
        if outcome.answer.text:
            self._answers.publish(outcome.answer)
        self._answer_texts.publish(String(data=outcome.answer.text or outcome.error_msg))

    # Answering

    def _inquiry(
        self, request: Any, on_feedback: Callable[[Feedback], None] = lambda feedback: None
    ) -> Inquiry:
        timeout_s = duration_from_msg(request.timeout)
        deadline = time.monotonic() + (timeout_s if timeout_s > 0.0 else self.parameters.timeout)
        return Inquiry(request.question, request.navigate, deadline, request.asker, on_feedback)

    async def _outcome(self, inquiry: Inquiry) -> Outcome:
        return await self._inquiries.outcome(inquiry, lambda: self._pool.call(self._work, inquiry))

    def _work(self, inquiry: Inquiry) -> None:
        """Answer a question, on a thread of the pool."""
        answer = AnswerMsg()
        try:
            if (recall := self._recall) is None:
                raise Cancelled('the agent node was cleaned up')
            with recall.until(inquiry.deadline):
                found = self._ask(inquiry)
                answer = answer_to_msg(found)
                if inquiry.navigate and found.kind is Kind.POSITION:
                    self._navigate(found, inquiry)
            outcome = Outcome(answer=answer)
        except RemembrError as error:
            outcome = Outcome(ask_error_code(error), str(error), answer)
        except Exception as error:  # noqa: BLE001  the top of a callback's thread
            if not inquiry.cancel.is_set():  # else it is the end of what it worked with
                self.get_logger().error(f'{inquiry.text[:100]!r} failed: {type(error).__name__}: {error}')
            outcome = Outcome(AskAction.Result.INTERNAL, f'{type(error).__name__}: {error}', answer)
        settle(self, inquiry.outcome, outcome)

    def _ask(self, inquiry: Inquiry) -> Answer:
        if inquiry.cancel.is_set():
            raise Cancelled('the question was cancelled')
        left_s = inquiry.deadline - time.monotonic()
        if left_s <= 0.0:
            raise BudgetExceeded('other questions took the time allowed; ask again with a longer timeout')
        here = self._here
        question = Question(
            text=inquiry.text,
            now_ns=self._now_or_newest_ns(),
            here=here.pose if here is not None else None,
            frame_id=here.frame_id if here is not None else self.parameters.map_frame,
            map_id=self.parameters.map_id,
            asker=inquiry.asker,
        )
        return self._agent.ask(
            question,
            timeout_s=left_s,
            on_progress=lambda p: self._feed_back(inquiry, p.stage, p.detail, p.memories_found),
            cancel=inquiry.cancel,
        )

    def _navigate(self, answer: Answer, inquiry: Inquiry) -> None:
        p = self.parameters
        goal = goal_from_answer(
            answer, frame_id=p.map_frame, map_id=p.map_id, stamp_ns=self._now_or_newest_ns()
        )
        if inquiry.cancel.is_set():
            raise Cancelled('the question was cancelled; no goal was sent')
        self._goals.publish(stamped_pose_to_msg(goal))
        x, y = goal.pose.x, goal.pose.y
        self._feed_back(inquiry, 'navigating', f'to x {x:.2f} m, y {y:.2f} m', len(answer.evidence))

    def _feed_back(self, inquiry: Inquiry, stage: str, detail: str, memories_found: int) -> None:
        if not inquiry.cancel.is_set():
            inquiry.on_feedback(
                Feedback(
                    stage=stage, detail=detail, memories_found=memories_found, distance_remaining=math.nan
                )
            )

    def _now_or_newest_ns(self) -> int:
        """Return the node's time; before simulated time begins, the end of the newest memory."""
        now_ns = self.now_ns()
        if now_ns == 0 and self._recall is not None:
            newest = self._recall.newest(limit=1)
            return newest[0].memory.end_ns if newest else 0
        return now_ns

    def _on_pose(self, pose: StampedPose) -> None:
        if is_finite(pose.pose):
            self._here = pose


def main(args: list[str] | None = None) -> None:
    """Run the agent node until it is told to end."""
    sys.exit(run(AgentNode, args))


if __name__ == '__main__':
    main()
