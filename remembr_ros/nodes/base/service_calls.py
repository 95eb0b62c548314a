"""Calls of other nodes' services that never wait longer than told."""

import math
import threading
import time
from collections.abc import Callable
from typing import Any

from rclpy.client import Client
from rclpy.node import Node

from remembr_ros.errors import StoreUnavailable


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
