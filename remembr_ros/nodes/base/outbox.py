"""Captions on their way to the memory node, kept until acknowledged."""

import math
import threading
import time
from dataclasses import dataclass
from typing import Any

from rclpy.duration import Duration
from rclpy.event_handler import PublisherEventCallbacks

from remembr_msgs.msg import CaptionAck
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import MAX_REASON, acks_topic
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.memory_conversion import caption_id
from remembr_ros.printable import printable

MAX_CAPTIONS = 1000  # captions kept; then the oldest is given up
MAX_BYTES = 64_000_000  # what they may take, their keyframes for the most part
OVERDUE_S = 5.0  # [s] a memory node that is there has answered by then; else a caption is sent again
MAX_PAUSE_S = 60.0  # [s] before it is sent once more, twice as long each time until then
AT_ONCE = 50  # captions that are sent again within a second, to a memory node that does not answer
ARRIVE_S = 0.5  # [s] when the publisher goes, for the last captions to arrive


@dataclass(slots=True)
class _Kept:
    """A caption without an answer; times are on time.monotonic()."""

    caption: MemoryMsg
    sent: float
    due: float
    pause_s: float = OVERDUE_S


class Outbox:
    """Publishes captions, and again those that are not answered, while the node is configured.

    Each is kept until the memory node says that it is stored or forgotten, or refuses it. It is sent again
    after a while, and to whoever comes: DDS notices only after many seconds that a node was killed, and does
    not hand on to its successor what it had not taken. Storing twice changes nothing, for the id comes from
    robot and time. While nobody is there to answer it is sent to whoever comes only: a recording has it once.
    """

    def __init__(self, node: ManagedNode) -> None:
        self._node = node
        self._lock = threading.Lock()
        self._kept: dict[str, _Kept] = {}
        self._bytes = 0
        self.given_up = 0
        """How many captions were not kept any longer though nobody has said that they are stored."""
        self.refused = 0
        """How many captions the memory node refused."""
        self._reason = ''
        self._publisher: Any = node.create_publisher(
            MemoryMsg,
            'captions',
            qos.CAPTIONS,
            event_callbacks=PublisherEventCallbacks(matched=self._on_matched),
        )
        node.while_configured.callback(node.destroy_publisher, self._publisher)
        topic = acks_topic(self._publisher.topic_name)
        self._acks = node.topics.subscribe(CaptionAck, topic, self._on_ack, qos.CAPTIONS, eager=True)
        self._timer = node.every(1.0, self.send_due)
        node.while_configured.callback(self._close)

    def __len__(self) -> int:
        """Return how many captions are not known to be stored."""
        with self._lock:
            return len(self._kept)

    def keeps(self, key: str) -> bool:
        """Tell whether the memory of an id is not known to be stored."""
        with self._lock:
            return key in self._kept

    @property
    def problem(self) -> str:
        """What was not stored, and why; empty: all is or may be."""
        found = []
        if self.given_up:
            found.append(f'no memory node stores the captions: {self.given_up} given up')
        if self.refused:
            found.append(f'{self.refused} captions were refused by the memory node: {self._reason}')
        return '; '.join(found)

    def overdue(self) -> int:
        """Return how many captions should be known to be stored by now, and are not."""
        sent_by = time.monotonic() - OVERDUE_S
        with self._lock:
            return sum(kept.sent < sent_by for kept in self._kept.values())

    def publish(self, caption: MemoryMsg) -> None:
        """Send a caption; any thread may."""
        with self._lock:
            self._publisher.publish(caption)  # first: what cannot be sent is not kept
            self._drop(key := caption_id(caption))
            self._timer.reset()
            now = time.monotonic()
            self._kept[key] = _Kept(caption, now, now + OVERDUE_S)
            self._bytes += _size(caption)
            while len(self._kept) > MAX_CAPTIONS or (self._bytes > MAX_BYTES and len(self._kept) > 1):
                self._drop(next(iter(self._kept)))
                self.given_up += 1
                self._node.get_logger().warning(
                    f'no memory node stores the captions: {self.given_up} given up so far',
                    throttle_duration_sec=10.0,
                )

    def _close(self) -> None:
        """Tell what was lost; wait a little for the last ones to arrive."""
        if lost := self.overdue():
            self._node.get_logger().warning(f'{lost} captions were not stored, as far as is known here')
        self._publisher.wait_for_all_acked(Duration(seconds=ARRIVE_S))

    def send_due(self) -> None:
        """Send again what should have been answered by now, if anybody is there to answer."""
        answered = self._node.count_publishers(self._acks.topic)
        now = time.monotonic()
        with self._lock:
            if not self._kept:
                self._timer.cancel()  # until there is something to send
            if not answered:
                return
            due = [kept for kept in self._kept.values() if kept.due <= now]
            for kept in due[:AT_ONCE]:
                self._publisher.publish(kept.caption)
                kept.pause_s = min(2 * kept.pause_s, MAX_PAUSE_S)
                kept.due = now + kept.pause_s

    def _on_ack(self, ack: CaptionAck) -> None:
        with self._lock:
            if ack.id not in self._kept:
                return  # another captioner's, or it was told before
            if ack.result == CaptionAck.READ_ONLY:
                self._kept[ack.id].due = math.inf
                return
            if ack.result not in (CaptionAck.STORED, CaptionAck.REFUSED, CaptionAck.FORGOTTEN):
                return
            self._drop(ack.id)
        if ack.result == CaptionAck.REFUSED:
            self._reason = printable(ack.reason[:MAX_REASON])
            self.refused += 1
            self._node.get_logger().error(
                f'a caption was refused by the memory node: {self._reason}', throttle_duration_sec=1.0
            )

    def _on_matched(self, event: Any) -> None:
        if event.current_count_change <= 0:
            return
        with self._lock:
            due = time.monotonic() + OVERDUE_S
            for kept in self._kept.values():
                self._publisher.publish(kept.caption)
                kept.due, kept.pause_s = due, OVERDUE_S
            count = len(self._kept)
        if count:
            self._node.get_logger().info(f'{count} captions that were not stored are sent again')

    def _drop(self, key: str) -> None:
        if (kept := self._kept.pop(key, None)) is not None:
            self._bytes -= _size(kept.caption)


def _size(caption: MemoryMsg) -> int:
    return 1000 + len(caption.caption) + sum(len(image.data) for image in caption.keyframe_images)
