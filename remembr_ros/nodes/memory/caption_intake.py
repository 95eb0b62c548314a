"""Captions as they come to the memory node: checked, queued for the store, and answered."""

import time
from collections.abc import Callable

from rclpy.duration import Duration

from remembr_msgs.msg import CaptionAck
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.keyframes.files import check_jpeg
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.store import MemoryStore
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.bounds import MAX_NAME, MAX_REASON
from remembr_ros.nodes.base.conversions import acks_topic
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.memory_conversion import caption_id, observation_from_msg
from remembr_ros.nodes.memory.parameters import MemoryParameters
from remembr_ros.nodes.memory.services import READ_ONLY
from remembr_ros.nodes.memory.store_writer import StoreWriter

ARRIVE_S = 0.2
"""When the publisher goes, for the last answers to arrive [s]."""


class CaptionIntake:
    """Hears captions from listen() on, has them stored, and answers each until close().

    :param on_stored: called with memories once they are durable, in the writer's thread
    """

    def __init__(
        self,
        node: ManagedNode,
        store: MemoryStore,
        parameters: MemoryParameters,
        on_stored: Callable[[list[Memory]], None],
    ) -> None:
        self._node = node
        self.read_only = parameters.read_only
        self._on_stored = on_stored
        self.last_at = float('-inf')
        """When the last caption came, on time.monotonic()."""
        self.invalid = 0
        """How many made no sense."""
        self.unwanted = 0
        """How many came to a memory that is only read."""
        topic = acks_topic(node.resolve_topic_name('captions'))
        self._acks = node.create_publisher(CaptionAck, topic, qos.CAPTIONS)
        self.writer = StoreWriter(
            store,
            self._stored,
            lambda observation, why: self._answer(observation.memory.id, CaptionAck.REFUSED, why),
            node.get_logger(),
            parameters,
        )

    def listen(self) -> None:
        """Hear captions, until the node is out of service."""
        self._node.topics.subscribe(MemoryMsg, 'captions', self._hear, qos.CAPTIONS, eager=True)

    def close(self) -> None:
        """Answer no more; wait a little for the last answers to arrive."""
        self._acks.wait_for_all_acked(Duration(seconds=ARRIVE_S))
        self._node.destroy_publisher(self._acks)

    def _hear(self, msg: MemoryMsg) -> None:
        self.last_at = time.monotonic()
        if self.read_only:
            self.unwanted += 1
            self._node.get_logger().warning(
                f'a caption is not stored: {READ_ONLY}', throttle_duration_sec=60.0
            )
            self._answer(caption_id(msg), CaptionAck.READ_ONLY, READ_ONLY)
            return
        try:
            observation = observation_from_msg(msg)
            for image in observation.images:  # now: one that waits for a server is not looked at before
                check_jpeg(image)
        except InvalidRequest as error:
            self.invalid += 1
            self._node.get_logger().warning(f'caption rejected: {error}', throttle_duration_sec=1.0)
            self._answer(caption_id(msg), CaptionAck.REFUSED, str(error))
            return
        self.writer.put(observation)

    def _stored(self, observations: list[Observation], memories: list[Memory]) -> None:
        for observation in observations:
            self._answer(observation.memory.id, CaptionAck.STORED)
        self._on_stored(memories)

    def _answer(self, memory_id: str, result: int, reason: str = '') -> None:
        ack = CaptionAck(id=memory_id[:MAX_NAME], result=result, reason=reason[:MAX_REASON])
        try:
            self._acks.publish(ack)
        except Exception as error:  # noqa: BLE001  a callback: without an answer the caption comes again
            self._node.get_logger().warning(f'caption {ack.id} is not answered: {error}')
