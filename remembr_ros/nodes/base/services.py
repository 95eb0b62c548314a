"""Calling and answering services on threads, waiting for them in coroutines, and their error codes."""

import math
import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future

from remembr_ros.errors import EmbedderLoading, InvalidRequest, ObjectsChanged, RemembrError, StoreUnavailable
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import check_texts
from remembr_ros.nodes.base.worker_pool import settle

STORE_UNAVAILABLE = 1
_CODES = {2: InvalidRequest, 3: EmbedderLoading, 4: ObjectsChanged}  # as in KeepObjects.srv, which has all


class ServiceCalls:
    """Calls services; from any thread but the executor's.

    :param node: has to be spinning while a call waits
    :param timeout_s: for finding a service, and again for its response [s]
    :param deadline: returns until when a call may wait at most, on time.monotonic's clock [s]
    """

    def __init__(
        self, node: Node, timeout_s: float, deadline: Callable[[], float] = lambda: math.inf
    ) -> None:
        self._node = node
        self.timeout_s = timeout_s
        self._deadline = deadline
        self._group = ReentrantCallbackGroup()
        self._clients: list[Client] = []
        self._waiting: set[threading.Event] = set()
        self._given_up = False

    def client(self, kind: type[Any], name: str) -> Client:
        """Return a client for :meth:`call`, there until :meth:`close`."""
        made = self._node.create_client(kind, name, qos_profile=qos.SERVICES, callback_group=self._group)
        self._clients.append(made)
        return made

    def close(self) -> None:
        """Give the clients back."""
        for client in self._clients:
            self._node.destroy_client(client)

    def give_up(self) -> None:
        """Have whoever waits, and whoever calls later, get StoreUnavailable at once; from any thread."""
        self._given_up = True
        for done in list(self._waiting):
            done.set()

    def call(self, client: Client, request: Any, whose: str = 'memory', timeout_s: float = 0.0) -> Any:
        """Return a service's response.

        :param whose: the node that offers it
        :param timeout_s: for its response, where that may take longer than that of others [s]
        :raises StoreUnavailable: there is none within the time allowed
        """
        self._raise_if_given_up()
        name = client.service_name
        if not self._is_ready(client):
            raise StoreUnavailable(
                f'there is no service {name}: is the {whose} node running and active '
                f'(ros2 lifecycle get {self._node.get_namespace().rstrip("/")}/{whose})?'
            )
        done = threading.Event()
        self._waiting.add(done)
        try:
            self._raise_if_given_up()
            future = client.call_async(request)
            future.add_done_callback(lambda _: done.set())
            wait_s = self._wait_s(timeout_s)
            answered = done.wait(wait_s)
            self._raise_if_given_up()
        finally:
            self._waiting.discard(done)
        if not answered:
            client.remove_pending_request(future)
            raise StoreUnavailable(f'the {whose} node did not answer {name} within {wait_s:.3g} s')
        return future.result()

    def _raise_if_given_up(self) -> None:
        if self._given_up:
            raise StoreUnavailable('the node goes out of service')

    def _wait_s(self, least_s: float = 0.0) -> float:
        return max(0.0, min(max(self.timeout_s, least_s), self._deadline() - time.monotonic()))

    def _is_ready(self, client: Client) -> bool:
        """Wait for a service; rclpy's own way sleeps for 0.25 s at a time, past any deadline."""
        until = time.monotonic() + self._wait_s()
        while True:
            self._raise_if_given_up()
            if client.service_is_ready():
                return True
            if time.monotonic() >= until:
                return False
            time.sleep(0.02)


def checked(response: Any) -> Any:
    """Return a response; raise what it says went wrong, by the codes that the services share.

    :raises InvalidRequest, EmbedderLoading, ObjectsChanged, StoreUnavailable: as the response says
    """
    if response.error_code:
        raise _CODES.get(response.error_code, StoreUnavailable)(response.error_msg)
    return response


def refuse(response: Any, error: Exception) -> None:
    """Fill a response with an error, by the same codes."""
    codes = (code for code, kind in _CODES.items() if isinstance(error, kind))
    response.error_code, response.error_msg = next(codes, STORE_UNAVAILABLE), str(error)


def answering(node: Node, work: Callable[..., None]) -> Callable[..., Any]:
    """Return what has work(request, response, ...) done and returns the response, on a thread of a pool.

    A request whose texts are too long is refused, and errors become the response's error_code.
    """

    def answer(request: Any, response: Any, *arguments: Any) -> Any:
        try:
            check_texts(request)
            work(request, response, *arguments)
        except RemembrError as error:
            refuse(response, error)
        except Exception as error:  # noqa: BLE001  the top of a service's callback
            reason = f'{type(error).__name__}: {error}'
            node.get_logger().error(f'{type(request).__name__} failed: {reason}')
            refuse(response, StoreUnavailable(f'unexpected error: {reason}'))
        return response

    return answer


STEADY = Clock(clock_type=ClockType.STEADY_TIME)  # goes on whatever simulated time does
LOOK_S = 0.05  # [s] what nobody tells of is looked at this often


async def first_of(node: Node, timeout_s: float, *futures: Future) -> bool:
    """Wait for the first of some futures, and return whether one came in time."""
    gate = Future()
    timer = node.create_timer(max(0.0, timeout_s), lambda: settle(node, gate, False), clock=STEADY)
    for future in futures:
        future.add_done_callback(lambda _: settle(node, gate, True))
    try:
        return bool(await gate)
    finally:
        node.destroy_timer(timer)


async def until(node: Node, timeout_s: float, condition: Callable[[], bool], *futures: Future) -> bool:
    """Wait until a condition holds, or one of the futures is there; return whether the condition holds."""
    if condition():
        return True
    held = Future()

    def look() -> None:
        if condition():
            settle(node, held)

    timer = node.create_timer(LOOK_S, look, clock=STEADY)
    try:
        await first_of(node, timeout_s, held, *futures)
    finally:
        node.destroy_timer(timer)
    return bool(held.done())
