"""Recall through the memory node's service."""

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node

from remembr_msgs.srv import Recall as RecallSrv
from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.recall import ANYTHING, Hit, Scope
from remembr_ros.nodes import qos
from remembr_ros.nodes.conversions import hit_from_msg, point_to_msg, time_to_msg

MAX_LIMIT = 1000
"""As many memories as one request may ask for."""


class RecallClient:
    """Implements remembr_ros.memory.recall.Recall; may be called from any thread but the executor's.

    :param node: has to be spinning while a call waits
    :param timeout_s: for finding the memory node, and again for its response [s]
    """

    def __init__(self, node: Node, timeout_s: float = 5.0) -> None:
        self._node = node
        self._timeout_s = timeout_s
        self._of_thread = threading.local()
        self._client = node.create_client(
            RecallSrv, 'recall', qos_profile=qos.SERVICES, callback_group=ReentrantCallbackGroup()
        )

    def close(self) -> None:
        """Give the client back."""
        self._node.destroy_client(self._client)

    @contextmanager
    def until(self, deadline: float) -> Iterator[None]:
        """Let no call of this thread inside wait beyond the deadline, on time.monotonic's clock [s]."""
        self._of_thread.deadline = deadline
        try:
            yield
        finally:
            self._of_thread.deadline = math.inf

    def by_text(self, text: str, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        if not text.strip():
            raise InvalidRequest('a recall by text needs a text')
        return self._hits(_request(scope, limit, 'text', text=text))

    def by_position(self, position: Point, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        if scope.near is None or tuple(scope.near) == tuple(position):
            request = _request(scope, limit, 'place')
            request.use_place, request.place = True, point_to_msg(position)
            return self._hits(request)
        # A request has one place. The radius is around another one: rank here what lies within it.
        hits = [
            replace(hit, distance_m=distance(position, hit.memory.pose.position))
            for hit in self._hits(_request(scope, MAX_LIMIT, 'place'))
            if hit.memory.pose is not None
        ]
        return sorted(hits, key=lambda hit: hit.distance_m or 0.0)[:limit]

    def by_time(self, time_ns: int, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        request = _request(scope, limit, 'time')
        request.use_time, request.time = True, time_to_msg(time_ns, clamp=True)
        return self._hits(request)

    def newest(self, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._hits(_request(scope, limit, 'newest'))

    def count(self, scope: Scope = ANYTHING) -> int:
        return int(self._call(_request(scope, 1, 'newest')).total)

    def _hits(self, request: RecallSrv.Request) -> list[Hit]:
        return [hit_from_msg(msg) for msg in self._call(request).memories]

    def _call(self, request: RecallSrv.Request) -> RecallSrv.Response:
        name = self._client.service_name
        deadline = getattr(self._of_thread, 'deadline', math.inf)
        if not self._client.wait_for_service(self._wait_s(deadline)):
            raise StoreUnavailable(
                f'there is no service {name}: is the memory node running and active '
                f'(ros2 lifecycle get {name.rpartition("/")[0]}/memory)?'
            )
        future = self._client.call_async(request)
        done = threading.Event()
        future.add_done_callback(lambda _: done.set())
        wait_s = self._wait_s(deadline)
        if not done.wait(wait_s):
            self._client.remove_pending_request(future)
            raise StoreUnavailable(f'the memory node did not answer {name} within {wait_s:.3g} s')
        response = future.result()
        if response.error_code == RecallSrv.Response.INVALID_REQUEST:
            raise InvalidRequest(response.error_msg)
        if response.error_code != RecallSrv.Response.NONE:
            raise StoreUnavailable(response.error_msg)
        return response

    def _wait_s(self, deadline: float) -> float:
        return max(0.0, min(self._timeout_s, deadline - time.monotonic()))


def _request(scope: Scope, limit: int, order: str, text: str = '') -> RecallSrv.Request:
    """Return the request for a scope.

    :raises InvalidRequest: the limit or the scope makes no sense
    """
    if limit < 1:
        raise InvalidRequest(f'the limit is {limit}; ask for at least one memory')
    if (scope.near is None) != (scope.radius_m is None):
        raise InvalidRequest('near and radius go together')
    request = RecallSrv.Request(
        text=text,
        robot=scope.robot or '',
        map_id=scope.map_id or '',
        match_map=scope.map_id is not None,
        source=scope.source or '',
        limit=min(limit, 2**32 - 1),
        order=order,
    )
    if scope.after_ns is not None:
        request.after = time_to_msg(scope.after_ns, clamp=True)
    if scope.before_ns is not None:
        # A time of zero means no limit; nothing was remembered before it.
        request.before = time_to_msg(max(scope.before_ns, 1), clamp=True)
    if scope.near is not None and scope.radius_m is not None:
        request.use_place = True
        request.place = point_to_msg(scope.near)
        # A radius of zero means no limit.
        request.radius = max(float(scope.radius_m), 1e-6) if scope.radius_m >= 0.0 else scope.radius_m
    return request
