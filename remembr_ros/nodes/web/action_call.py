"""A call of an agent action, for threads that may block."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.task import Future

from remembr_ros.errors import Cancelled, StoreUnavailable
from remembr_ros.nodes.base.managed_node import ManagedNode

LOOK_S = 0.05  # [s] what wakes nobody is looked at this often
GONE_S = 2.0  # [s] a server that is out of sight for so long has gone
CANCEL_S = 2.0  # [s] for what becomes of a goal that was cancelled
FIND_S = 10.0  # [s] for finding a server: DDS has taken 5 to tell of one that was there


@dataclass(eq=False)
class _Goal:
    """A goal under way; written by the executor's thread, read by the one that waits for it."""

    feedback: SimpleQueue[Any] = field(default_factory=SimpleQueue)
    handle: ClientGoalHandle | None = None
    response: Future | None = None
    unwanted: bool = False


class ActionCall:
    """Calls one action while a node is active; any number of goals at a time.

    :param kind: the type of the action
    """

    def __init__(self, node: ManagedNode, kind: type[Any], name: str) -> None:
        self._node = node
        self._find_s = FIND_S
        self._name = node.resolve_service_name(name)
        self._client = ActionClient(node, kind, name, callback_group=ReentrantCallbackGroup())
        self._open: set[_Goal] = set()
        self._ended = threading.Event()
        self._destroyed = False
        node.while_active.callback(self._destroy)

    def give_up(self) -> None:
        """Have whoever waits, and whoever calls later, get StoreUnavailable at once; from any thread."""
        self._ended.set()

    def result(
        self, goal: Any, on_feedback: Callable[[Any], None], *, cancel: threading.Event, limit_s: float
    ) -> Any:
        """Send a goal and return its result; from any thread but the executor's.

        :param on_feedback: called in this thread
        :param limit_s: after which the agent node is taken to be dead [s]
        :raises Cancelled: it was cancelled, and no result came in time
        :raises StoreUnavailable: the agent node is not there, takes no goals, or is silent
        """
        self._find()
        if cancel.is_set():
            raise Cancelled('it was cancelled')
        goal_sent = _Goal()
        self._open.add(goal_sent)
        self._in_executor(lambda: self._send(goal, goal_sent))
        try:
            return self._followed(goal_sent, on_feedback, cancel, limit_s)
        finally:
            if goal_sent.response is None or not goal_sent.response.done():
                goal_sent.unwanted = True
                self._in_executor(lambda: self._cancel(goal_sent))
            # The executor, which may be ending this node's service, gets no turn before the client is gone:
            # what is open then is cancelled with it.
            if not self._ended.is_set():
                self._open.discard(goal_sent)

    def _find(self) -> None:
        until = time.monotonic() + self._find_s
        while not self._is_ready():
            if time.monotonic() > until:
                raise StoreUnavailable(
                    f'there is no action {self._name}: is the agent node running and active '
                    f'(ros2 lifecycle get {self._node.get_namespace().rstrip("/")}/agent)?'
                )
            self._ended.wait(LOOK_S)

    def _is_ready(self) -> bool:
        if self._ended.is_set():
            raise StoreUnavailable('the web node goes out of service')
        return bool(self._client.server_is_ready())

    def _followed(
        self, goal: _Goal, on_feedback: Callable[[Any], None], cancel: threading.Event, limit_s: float
    ) -> Any:
        begun = seen = time.monotonic()
        cancelled_at: float | None = None
        while True:
            with suppress(Empty):
                on_feedback(goal.feedback.get(timeout=LOOK_S))
                continue
            if goal.response is not None and goal.response.done():
                return goal.response.result().result
            if goal.handle is not None and not goal.handle.accepted:
                raise StoreUnavailable(f'{self._name} takes no goals: is the agent node active?')
            now = time.monotonic()
            if cancel.is_set() and cancelled_at is None:
                cancelled_at, goal.unwanted = now, True
                self._in_executor(lambda: self._cancel(goal))
            if cancelled_at is not None and now - cancelled_at > CANCEL_S:
                raise Cancelled('it was cancelled; the agent node has not confirmed that')
            if self._is_ready():
                seen = now
            if now - seen > GONE_S:
                raise StoreUnavailable('the agent node has gone; ask again when it is back')
            if now - begun > limit_s:
                raise StoreUnavailable(f'the agent node does not answer {self._name}; see its log')

    def _in_executor(self, task: Callable[[], None]) -> None:
        # An action client is made for one thread: it could take a response before it knows of the request.
        executor = self._node.executor
        if executor is not None:
            executor.create_task(task)

    # In the executor's thread

    def _send(self, goal: Any, call: _Goal) -> None:
        def on_sent(sent: Future) -> None:
            call.handle = sent.result()
            if call.handle.accepted:
                call.response = call.handle.get_result_async()
                if call.unwanted:
                    self._cancel(call)

        if not self._ended.is_set():
            sent = self._client.send_goal_async(goal, lambda message: call.feedback.put(message.feedback))
            sent.add_done_callback(on_sent)

    def _cancel(self, goal: _Goal) -> None:
        over = goal.response is not None and goal.response.done()
        if goal.handle is not None and goal.handle.accepted and not over and not self._destroyed:
            goal.handle.cancel_goal_async()

    def _destroy(self) -> None:
        self._ended.set()
        for goal in list(self._open):
            self._cancel(goal)
        self._destroyed = True
        self._client.destroy()
