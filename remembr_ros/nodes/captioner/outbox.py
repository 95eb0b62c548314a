"""Captions on their way to the memory node: kept until it says that it has stored them."""

import threading
import time
from collections import deque
from typing import Any

from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.node import NodeNameNonExistentError

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.keyframes.jpeg import check_jpeg
from remembr_ros.memory.milvus.schema import storable
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import observation_from_msg, time_from_msg
from remembr_ros.nodes.base.managed_node import ManagedNode

MAX_CAPTIONS = 1000
"""Captions kept; then the oldest is given up."""

MAX_BYTES = 64_000_000
"""What they may take, their keyframes for the most part."""

OVERDUE_S = 5.0
"""A memory node that is there says by then that it has stored a caption [s]."""

_KIND = 'remembr_msgs/msg/Memory'

ARRIVE_S = 0.5
"""When the publisher goes, for the last captions to arrive [s]."""


class Outbox:
    """Publishes captions, and again those that were not stored when a memory node comes; until :meth:`close`.

    DDS notices only after many seconds that a node was killed, and does not hand on to its successor what it
    had not taken. Storing twice changes nothing, for the id of a memory comes from robot and time.

    Where a memory node hears captions whose `memories` do not come here, nothing is kept: what is stored
    there is not told here, and what was forgotten there must not come back. Who only listens does not count.

    What a memory node refuses, by its own rules, is not sent: nothing would tell, and it would be sent again
    to each one that comes.
    """

    def __init__(self, node: ManagedNode) -> None:
        self._node = node
        self._lock = threading.Lock()
        self._kept: deque[tuple[MemoryMsg, float]] = deque()  # each with when it was sent first
        self._bytes = 0
        self.given_up = 0
        """How many captions were not kept any longer though nobody has stored them, as far as is known."""
        self.refused = 0
        """How many captions were not sent, as no memory node would store them."""
        self._reason = ''
        self._publisher: Any = node.create_publisher(
            MemoryMsg,
            'captions',
            qos.CAPTIONS,
            event_callbacks=PublisherEventCallbacks(matched=self._on_matched),
        )
        self._stored = node.topics.subscribe(MemoryMsg, 'memories', self._on_stored, qos.CAPTIONS)

    def __len__(self) -> int:
        """Return how many captions are not known to be stored."""
        with self._lock:
            return len(self._kept)

    @property
    def problem(self) -> str:
        """What was not or will not be stored, and why; empty: all is, as far as is known."""
        found = []
        if self.given_up:
            found.append(f'no memory node stores the captions: {self.given_up} given up')
        if self.refused:
            found.append(f'{self.refused} captions cannot be stored and were not sent: {self._reason}')
        return '; '.join(found)

    def overdue(self) -> int:
        """Return how many captions should be known to be stored by now, and are not."""
        sent_by = time.monotonic() - OVERDUE_S
        with self._lock:
            return sum(sent < sent_by for _, sent in self._kept)

    def get_subscription_count(self) -> int:
        """Return how many nodes hear captions."""
        return int(self._publisher.get_subscription_count())

    def publish(self, caption: MemoryMsg) -> None:
        """Send a caption; any thread may."""
        try:
            check_storable(caption)
        except InvalidRequest as error:
            with self._lock:
                self.refused += 1
                self._reason = str(error)
            self._node.get_logger().error(f'a caption cannot be stored and is not sent: {error}')
            return
        with self._lock:
            self._publisher.publish(caption)  # first: what cannot be sent is not kept
            if not self._is_stored_untold():
                self._kept.append((caption, time.monotonic()))
                self._bytes += _size(caption)
                while len(self._kept) > MAX_CAPTIONS or (self._bytes > MAX_BYTES and len(self._kept) > 1):
                    self._bytes -= _size(self._kept.popleft()[0])
                    self.given_up += 1
                    self._node.get_logger().warning(
                        f'no memory node stores the captions: {self.given_up} given up so far',
                        throttle_duration_sec=10.0,
                    )

    def close(self) -> None:
        """Send no more; wait a little for the last ones to arrive."""
        self._publisher.wait_for_all_acked(Duration(seconds=ARRIVE_S))
        self._node.topics.close(self._stored)
        self._node.destroy_publisher(self._publisher)

    def _is_stored_untold(self) -> bool:
        """Tell whether a memory node hears captions, and none tells what it has stored."""
        if self._node.count_publishers(self._stored.topic):
            return False
        topic = self._publisher.topic_name
        return any(map(self._is_memory_node, self._node.get_subscriptions_info_by_topic(topic)))

    def _is_memory_node(self, listener: Any) -> bool:
        try:
            published = self._node.get_publisher_names_and_types_by_node(
                listener.node_name, listener.node_namespace
            )
        except NodeNameNonExistentError:  # it is gone
            return False
        return any(_KIND in kinds for _, kinds in published)

    def _on_stored(self, memory: MemoryMsg) -> None:
        """Give up what is stored: a caption, or several that one memory was extended by."""
        start_ns, end_ns = time_from_msg(memory.start), time_from_msg(memory.end)
        with self._lock:
            kept = [
                (caption, sent)
                for caption, sent in self._kept
                if (caption.robot, caption.camera) != (memory.robot, memory.camera)
                or not start_ns <= time_from_msg(caption.start) <= end_ns
            ]
            self._kept = deque(kept)
            self._bytes = sum(_size(caption) for caption, _ in kept)

    def _on_matched(self, event: Any) -> None:
        if event.current_count_change <= 0:
            return
        with self._lock:
            for caption, _ in self._kept:
                self._publisher.publish(caption)
            count = len(self._kept)
        if count:
            self._node.get_logger().info(f'{count} captions that were not stored are sent again')


def check_storable(caption: MemoryMsg) -> None:
    """Return if a memory node stores such a caption.

    :raises InvalidRequest: it refuses it
    """
    observation = observation_from_msg(caption)
    storable(observation.memory)
    for image in observation.images:
        check_jpeg(image)


def _size(caption: MemoryMsg) -> int:
    return 1000 + len(caption.caption) + sum(len(image.data) for image in caption.keyframe_images)
