"""Questions and drives on their way through the agent node: outcomes, error codes, messages."""

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rclpy.node import Node
from rclpy.task import Future

from remembr_msgs.action import Ask
from remembr_msgs.action import Ask as AskAction
from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.srv import Ask as AskSrv
from remembr_ros import errors
from remembr_ros.agent.arrival import Errand
from remembr_ros.agent.model.answer import Answer, Kind, Usage
from remembr_ros.errors import Cancelled, InvalidRequest, RemembrError
from remembr_ros.geometry import StampedPose
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.nodes.base.conversions import (
    duration_from_msg,
    duration_to_msg,
    pose_from_msg,
    stamped_pose_to_msg,
    time_from_msg,
    time_to_msg,
)
from remembr_ros.nodes.base.memory_conversion import hit_from_msg, hit_to_msg
from remembr_ros.nodes.base.services import STEADY
from remembr_ros.nodes.base.worker_pool import WorkerPool, settle

AskResponse = TypeVar('AskResponse', AskAction.Result, AskSrv.Response)
MOST = 100  # questions under way, most of which wait; one more would be answered too late
DROPPING_S = 60.0  # so long after a question was dropped that counts as happening now [s]
GRACE_S = 0.5  # what the agent says of its own accord at the deadline comes within this after it [s]


@dataclass(eq=False)
class Inquiry:
    """One question under way; nothing of it is shared with another.

    :param text: the question; of a drive without one, what it is, for the log
    :param deadline: on time.monotonic's clock; nobody waits for the answer any longer [s]
    :param follow: whoever asks waits until the robot has arrived, and not just until it drives
    :param look: once there, the robot looks whether what it was sent to is
    :param search: and where that is, if it is not
    :param scope: finds which memories count, on a thread of the node
    :param target: of a drive without a question: finds where to, on a thread of the node
    :param outcome: completes with an AskOutcome
    :param answer: what is known of it: first what was asked, and by whom
    :param errand: what is looked for; None: nothing is, or it is not known yet
    :param goals: where the robot is to drive, as checked; empty until that is known
    :param sent: the robot was sent there
    :param begin_ns: when it was asked, by the node's clock; 0: not known
    """

    text: str
    navigate: bool = False
    deadline: float = math.inf
    asker: str = ''
    on_feedback: Callable[[AskAction.Feedback], None] = lambda feedback: None
    follow: bool = False
    look: bool = False
    search: bool = False
    scope: Callable[[], Scope] = lambda: ANYTHING
    target: Callable[[], Answer] | None = None
    cancel: threading.Event = field(default_factory=threading.Event)
    outcome: Future = field(default_factory=Future)
    answer: AnswerMsg = field(init=False)
    errand: Errand | None = None
    goals: tuple[StampedPose, ...] = ()
    sent: bool = False
    memories_found: int = 0
    begin_ns: int = 0

    def __post_init__(self) -> None:
        self.answer = AnswerMsg(question=self.text, asker=self.asker)

    @property
    def kind(self) -> str:
        """What it is, for a person."""
        return 'question' if self.target is None else 'drive'

    def feed_back(self, stage: str, detail: str, **fields: Any) -> None:
        """Tell whoever asks what is being done, unless it is over.

        :param fields: further fields of the action's feedback
        """
        if not self.cancel.is_set():
            driving = {'distance_remaining': math.nan, **fields}
            self.on_feedback(
                AskAction.Feedback(stage=stage, detail=detail, memories_found=self.memories_found, **driving)
            )

    def check(self) -> None:
        """Return if somebody still waits for it.

        :raises Cancelled: nobody does
        """
        if self.cancel.is_set():
            raise Cancelled(f'the {self.kind} was cancelled')

    def waits(self, why: str) -> None:
        """Tell why nothing is recalled yet.

        :raises Cancelled: nobody waits for it any more
        """
        self.check()
        self.feed_back('recalling', why)


@dataclass(frozen=True)
class AskOutcome:
    """What became of a question."""

    error_code: int = AskAction.Result.NONE
    error_msg: str = ''
    answer: AnswerMsg = field(default_factory=AnswerMsg)

    @classmethod
    def failed(cls, error: Exception, answer: AnswerMsg) -> 'AskOutcome':
        """Return what becomes of a question that ends with an error.

        :param answer: what is known of it
        """
        reason = str(error) if isinstance(error, RemembrError) else f'{type(error).__name__}: {error}'
        return cls(ask_error_code(error), reason, answer)

    def fill(self, response: AskResponse) -> AskResponse:
        """Return the action's result, or the service's response, with this in it."""
        response.error_code, response.error_msg = self.error_code, self.error_msg
        response.answer = self.answer
        return response


FULL = AskOutcome(
    AskAction.Result.BUDGET_EXCEEDED, f'{MOST} questions wait for their answers already; ask again later'
)
"""What becomes of a question that is one too many."""


class Inquiries:
    """The questions under way; nobody waits for an answer longer than the question allows.

    :param node: its executor is woken when a question ends
    :param work: has one answered, or driven; called on a thread, completes the outcome
    :param on_over: called with what became of each
    """

    def __init__(
        self,
        node: Node,
        work: Callable[[Inquiry], None],
        on_over: Callable[[Inquiry, AskOutcome], None],
    ) -> None:
        self._node = node
        self._work = work
        self._on_over = on_over
        self._open: set[Inquiry] = set()
        self.answered = 0
        self.failed = 0
        self.dropped = 0  # how many were one too many
        self._dropped_at = float('-inf')
        self.latency_s = 0.0  # of the last answer

    def __len__(self) -> int:
        return len(self._open)

    @property
    def dropping(self) -> bool:
        """Whether a question was one too many a moment ago."""
        return time.monotonic() - self._dropped_at < DROPPING_S

    async def outcome(self, inquiry: Inquiry, pool: WorkerPool) -> AskOutcome:
        """Return what becomes of a question; at once when cancelled or too late, even if a thread works.

        Of one too many that is FULL.

        :param pool: on whose threads it is worked at
        """
        if len(self._open) >= MOST:
            self.dropped += 1
            self._dropped_at = time.monotonic()
            self._node.get_logger().warning(
                f'more questions than can be answered, {self.dropped} dropped so far',
                throttle_duration_sec=10.0,
            )
            return FULL
        self._open.add(inquiry)
        inquiry.begin_ns = self._node.get_clock().now().nanoseconds
        left_s = max(0.0, inquiry.deadline - time.monotonic())
        timer = self._node.create_timer(left_s + GRACE_S, lambda: self._give_up(inquiry), clock=STEADY)
        try:
            pool.call(self._work, inquiry)
            outcome: AskOutcome = await inquiry.outcome
        finally:
            self._open.discard(inquiry)
            self._node.destroy_timer(timer)
        # That there is nowhere to drive is an answer, too: whoever wanted to drive learns it from the code.
        failed = outcome.error_code not in (AskAction.Result.NONE, AskAction.Result.NO_PLACE)
        if inquiry.target is None:
            self.failed += failed
            self.answered += not failed
            self.latency_s = self.latency_s if failed else outcome.answer.latency
        if failed:
            self._node.get_logger().warning(f'{inquiry.text[:100]!r}: {outcome.error_msg}')
        self._on_over(inquiry, outcome)
        return outcome

    def cancel(self, inquiry: Inquiry) -> None:
        """End a question that nobody wants answered any more."""
        self._end(inquiry, AskAction.Result.CANCELLED, f'the {inquiry.kind} was cancelled')

    def cancel_all(self) -> None:
        """End every question."""
        for inquiry in list(self._open):
            self.cancel(inquiry)

    def _give_up(self, inquiry: Inquiry) -> None:
        if time.monotonic() < inquiry.deadline:
            return  # it was put off: the answer is there, and the robot drives
        reason = 'no answer within the time allowed; ask again with a longer timeout'
        self._end(inquiry, AskAction.Result.BUDGET_EXCEEDED, reason)

    def _end(self, inquiry: Inquiry, error_code: int, reason: str) -> None:
        inquiry.cancel.set()
        settle(self._node, inquiry.outcome, AskOutcome(error_code, reason, inquiry.answer))


_ASK_CODES: tuple[tuple[type[errors.RemembrError], int], ...] = (
    (errors.InvalidRequest, Ask.Result.INVALID_QUESTION),
    (errors.StoreUnavailable, Ask.Result.MEMORY_UNAVAILABLE),
    (errors.StoreMismatch, Ask.Result.MEMORY_UNAVAILABLE),
    (errors.EmbedderUnavailable, Ask.Result.MEMORY_UNAVAILABLE),
    (errors.ChatUnavailable, Ask.Result.CHAT_UNAVAILABLE),
    (errors.ReplyInvalid, Ask.Result.REPLY_INVALID),
    (errors.Ungrounded, Ask.Result.UNGROUNDED),
    (errors.BudgetExceeded, Ask.Result.BUDGET_EXCEEDED),
    (errors.NoPlace, Ask.Result.NO_PLACE),
    (errors.GoalRejected, Ask.Result.GOAL_REJECTED),
    (errors.NavigationUnavailable, Ask.Result.NAV_UNAVAILABLE),
    (errors.NobodyDrives, Ask.Result.NO_DRIVER),
    (errors.NavigationRefused, Ask.Result.NAV_REJECTED),
    (errors.NavigationAborted, Ask.Result.NAV_ABORTED),
    (errors.NavigationCancelled, Ask.Result.NAV_CANCELLED),
    (errors.NavigationTimedOut, Ask.Result.NAV_TIMEOUT),
    (errors.Preempted, Ask.Result.PREEMPTED),
    (errors.NotConfirmed, Ask.Result.NOT_CONFIRMED),
    (errors.NotThere, Ask.Result.NOT_THERE),
    (errors.NotLooked, Ask.Result.NOT_LOOKED),
    (errors.Cancelled, Ask.Result.CANCELLED),
)


def ask_error(error_code: int, error_msg: str) -> errors.RemembrError:
    """Return the error of an error_code of action and service Ask, for who asked."""
    kind = next((kind for kind, code in _ASK_CODES if code == error_code), errors.RemembrError)
    return kind(error_msg)


def ask_error_code(error: BaseException) -> int:
    """Return the error_code of action and service Ask for an error."""
    return next((code for kind, code in _ASK_CODES if isinstance(error, kind)), int(Ask.Result.INTERNAL))


KINDS = {kind: int(getattr(AnswerMsg, kind.name)) for kind in Kind}


def answer_to_msg(answer: Answer, *, question: str = '', asker: str = '') -> AnswerMsg:
    """Return an answer as a message.

    :param question: what was asked
    :param asker: who asked; may be empty
    """
    msg = AnswerMsg(
        kind=KINDS[answer.kind],
        text=answer.text,
        binary=bool(answer.binary),
        map_id=answer.map_id,
        evidence=[hit_to_msg(hit) for hit in answer.evidence],
        planner=answer.planner,
        confidence=answer.confidence,
        llm_calls=answer.cost.calls,
        prompt_tokens=answer.cost.prompt_tokens,
        completion_tokens=answer.cost.completion_tokens,
        latency=float(answer.cost.seconds),
        question=question,
        asker=asker,
    )
    if answer.pose is not None:
        stamp_ns = answer.evidence[0].memory.start_ns if answer.evidence else 0
        msg.pose = stamped_pose_to_msg(StampedPose(stamp_ns, answer.pose, answer.frame_id))
    if answer.time_ns is not None:
        msg.time = time_to_msg(answer.time_ns)
    if answer.duration_s is not None:
        msg.duration = duration_to_msg(answer.duration_s)
    return msg


def answer_from_msg(msg: AnswerMsg) -> Answer:
    """Return the answer that a message holds; whether it is about every place is not in it.

    :raises InvalidRequest: the message makes no sense
    """
    kind = next((kind for kind, number in KINDS.items() if number == msg.kind), None)
    if kind is None:
        raise InvalidRequest(f'an answer of kind {msg.kind}; is the agent node of another version?')
    if not (math.isfinite(msg.confidence) and math.isfinite(msg.latency)):
        raise InvalidRequest(f'an answer of confidence {msg.confidence}, after {msg.latency} s: no numbers')
    return Answer(
        kind,
        msg.text,
        msg.planner,
        binary=msg.binary if kind is Kind.BINARY else None,
        pose=pose_from_msg(msg.pose.pose) if msg.pose.header.frame_id else None,
        frame_id=msg.pose.header.frame_id,
        map_id=msg.map_id,
        time_ns=time_from_msg(msg.time) if kind is Kind.TIME else None,
        duration_s=duration_from_msg(msg.duration) if kind is Kind.DURATION else None,
        evidence=tuple(hit_from_msg(memory) for memory in msg.evidence),
        confidence=msg.confidence,
        cost=Usage(msg.llm_calls, msg.prompt_tokens, msg.completion_tokens, msg.latency),
    )
