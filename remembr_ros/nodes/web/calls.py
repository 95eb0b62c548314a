"""Services and actions of other nodes, called by threads that may wait."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any

from rclpy.action import ActionClient
from rclpy.action.client import ClientGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.task import Future

from remembr_ros.errors import StoreUnavailable
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.managed_node import ManagedNode

LOOK_S = 0.05  # [s] what wakes nobody is looked at this often
GONE_S = 2.0  # [s] an action's server that is out of sight for so long has gone
CANCEL_S = 2.0  # [s] for what becomes of a goal that was cancelled


class Calls:
    """Calls other nodes as long as this one is active; from any thread but the executor's.

    :param timeout_s: for finding a node, and again for its response [s]
    """

    def __init__(self, node: ManagedNode, timeout_s: float) -> None:
        self.node = node
        self.timeout_s = timeout_s
        self.group = ReentrantCallbackGroup()
        self.ended = threading.Event()
        """Set when this node goes out of service: nobody waits any longer."""

    def service(self, kind: type[Any], name: str, whose: str) -> Callable[[Any], Any]:
        """Return what calls a service and returns its response, or raises StoreUnavailable.

        :param whose: the node that offers it, such as 'memory'
        """
        client = self.node.create_client(kind, name, qos_profile=qos.SERVICES, callback_group=self.group)
        self.node.while_active.callback(self.node.destroy_client, client)

        def call(request: Any) -> Any:
            with self.in_service():
                self.find(client.service_is_ready, client.service_name, whose)
                responses: SimpleQueue[Future] = SimpleQueue()
                future = client.call_async(request)
                future.add_done_callback(responses.put)
                for _ in self.looks(self.timeout_s):
                    with suppress(Empty):
                        return responses.get(timeout=LOOK_S).result()
                client.remove_pending_request(future)
            raise StoreUnavailable(
                f'the {whose} node did not answer {client.service_name} within {self.timeout_s:g} s; '
                'try again, or see its log'
            )

        return call

    def find(self, is_ready: Callable[[], bool], name: str, whose: str) -> None:
        """Wait for a service or an action; raise StoreUnavailable if there is none."""
        for _ in self.looks(self.timeout_s):
            if is_ready():
                return
            self.ended.wait(LOOK_S)
        raise StoreUnavailable(
            f'there is no {name}: is the {whose} node running and active '
            f'(ros2 lifecycle get {name.rpartition("/")[0]}/{whose})?'
        )

    def looks(self, timeout_s: float) -> Iterator[None]:
        """Yield until the time is over; raise StoreUnavailable once this node goes out of service."""
        until = time.monotonic() + timeout_s
        while time.monotonic() < until:
            if self.ended.is_set():
                raise StoreUnavailable('the web node goes out of service')
            yield

    @contextmanager
    def in_service(self) -> Iterator[None]:
        """Raise StoreUnavailable where a client was destroyed that is called inside."""
        try:
            yield
        except InvalidHandle as error:
            raise StoreUnavailable('the web node goes out of service') from error


@dataclass(eq=False)
class _Goal:
    """A goal under way; written by the executor's thread, read by the one that waits for it."""

    feedback: SimpleQueue[Any] = field(default_factory=SimpleQueue)
    handle: ClientGoalHandle | None = None
    response: Future | None = None
    unwanted: bool = False


class ActionCall:
    """Calls one action, of the agent node.

    :param kind: the type of the action
    """

    def __init__(self, calls: Calls, kind: type[Any], name: str) -> None:
        self._calls = calls
        self._node = calls.node
        self._client = ActionClient(calls.node, kind, name, callback_group=calls.group)
        self._name = calls.node.resolve_service_name(name)
        self._open: set[_Goal] = set()
        calls.node.while_active.callback(self._close)

    def result(
        self,
        goal: Any,
        on_feedback: Callable[[Any], None],
        *,
        cancel: threading.Event,
        timeout_s: Callable[[], float],
    ) -> Any:
        """Send a goal and return its result; when it is cancelled, what comes within CANCEL_S, or None.

        :param on_feedback: called in this thread
        :param timeout_s: from now on, of now: it may be put off by feedback [s]
        :raises StoreUnavailable: the agent node takes no goals, or is silent
        """
        calls = self._calls
        one = _Goal()
        self._open.add(one)
        try:
            with calls.in_service():
                calls.find(self._client.server_is_ready, self._name, 'agent')
                self._in_executor(lambda: self._send(goal, one))
                return self._followed(one, on_feedback, cancel, timeout_s)
        finally:
            self._open.discard(one)
            if one.response is None or not one.response.done():
                one.unwanted = True
                self._in_executor(lambda: self._cancel(one))

    def _followed(
        self,
        one: _Goal,
        on_feedback: Callable[[Any], None],
        cancel: threading.Event,
        timeout_s: Callable[[], float],
    ) -> Any:
        begun = seen = time.monotonic()
        cancelled = 0.0
        for _ in self._calls.looks(float('inf')):
            with suppress(Empty):
                on_feedback(one.feedback.get(timeout=LOOK_S))
                continue
            now = time.monotonic()
            if one.handle is not None and not one.handle.accepted:
                raise StoreUnavailable(f'{self._name} takes no goals: is the agent node active?')
            if one.response is not None and one.response.done():
                return one.response.result().result
            if cancel.is_set() and not cancelled:
                cancelled, one.unwanted = now, True
                self._in_executor(lambda: self._cancel(one))
            if cancelled and now - cancelled > CANCEL_S:
                return None
            if self._client.server_is_ready():
                seen = now
            if now - seen > GONE_S:
                raise StoreUnavailable('the agent node has gone; ask again when it is back')
            if now - begun > timeout_s():
                raise StoreUnavailable(f'the agent node does not answer {self._name}; see its log')
        return None

    def _in_executor(self, task: Callable[[], None]) -> None:
        # An action client is not made for several threads: it could take a response before it knows of the
        # request.
        executor = self._node.executor
        if executor is not None and not self._calls.ended.is_set():
            executor.create_task(task)

    # In the executor's thread

    def _send(self, goal: Any, one: _Goal) -> None:
        def on_sent(sent: Future) -> None:
            one.handle = sent.result()
            if one.handle.accepted:
                one.response = one.handle.get_result_async()
                if one.unwanted:
                    self._cancel(one)

        with self._calls.in_service():
            sent = self._client.send_goal_async(goal, lambda message: one.feedback.put(message.feedback))
            sent.add_done_callback(on_sent)

    def _close(self) -> None:
        for one in list(self._open):
            self._cancel(one)
        self._client.destroy()

    @staticmethod
    def _cancel(one: _Goal) -> None:
        if one.handle is not None and one.handle.accepted:
            one.handle.cancel_goal_async()
