"""Waiting for what others do, never longer than told: in a coroutine, or in a thread."""

import math
import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.client import Client
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rclpy.task import Future

from remembr_ros.errors import EmbedderLoading, InvalidRequest, ObjectsChanged, StoreUnavailable
from remembr_ros.nodes.base.worker_pool import settle

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
        self._waiting: set[threading.Event] = set()
        self._given_up = False

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
    kinds = {2: InvalidRequest, 3: EmbedderLoading, 4: ObjectsChanged}  # as in KeepObjects.srv, which has all
    if response.error_code:
        raise kinds.get(response.error_code, StoreUnavailable)(response.error_msg)
    return response
