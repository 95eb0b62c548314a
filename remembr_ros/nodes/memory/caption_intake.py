"""Captions as they come to the memory node: checked, stored by a thread, and answered."""

import time
from collections.abc import Callable, Collection
from dataclasses import replace

from rclpy.duration import Duration
from rclpy.impl.rcutils_logger import RcutilsLogger

from remembr_msgs.msg import CaptionAck
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.errors import EmbedderLoading, EmbedderUnavailable, InvalidRequest, StoreUnavailable
from remembr_ros.memory.keyframes.files import check_jpeg
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.store import MemoryStore
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import MAX_NAME, MAX_REASON, acks_topic
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.memory_conversion import caption_id, observation_from_msg
from remembr_ros.nodes.base.worker_pool import WorkThread
from remembr_ros.nodes.memory.parameters import MemoryParameters
from remembr_ros.nodes.memory.requests import heard_ns
from remembr_ros.nodes.memory.services import READ_ONLY

ARRIVE_S = 0.2  # [s] when the publisher goes, for the last answers to arrive
LOADING_S = 0.2  # [s] between attempts while the embedder is being loaded, which is no failure
MAX_HEARD = 10_000  # captions not stored, of which is known when they were heard first
MAX_BYTES = 256_000_000  # that captions which wait for the store may take, their keyframes for the most part


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
        self.since = time.monotonic()
        """When it began, on time.monotonic()."""
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
            self._answer,
            node.get_logger(),
            parameters,
        )
        store.late.queues.append(self.writer)
        self._store = store

    def listen(self) -> None:
        """Hear captions, until the node is out of service."""
        self._node.topics.subscribe(MemoryMsg, 'captions', self._hear, qos.CAPTIONS, eager=True)

    def close(self) -> None:
        """Answer no more; wait a little for the last answers to arrive."""
        self._store.late.queues.remove(self.writer)
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
        self.writer.put(replace(observation, heard_ns=heard_ns(self._node, observation.memory)))

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


class StoreWriter(WorkThread[Observation]):
    """Stores observations on a thread of its own, in their order.

    While the store is out of reach it tries again and again. What there is no room for meanwhile is not
    taken: without an answer it stays with whoever sent it, and comes again. An observation that the store
    refuses is logged and left out.

    :param on_stored: called with each batch and its memories, once they are durable: one for each
        observation, so that a memory that several of them extended comes several times
    :param answer: called with the id of what is not stored, why as in CaptionAck, and why for people
    """

    def __init__(
        self,
        store: MemoryStore,
        on_stored: Callable[[list[Observation], list[Memory]], None],
        answer: Callable[[str, int, str], None],
        log: RcutilsLogger,
        parameters: MemoryParameters,
    ) -> None:
        self._store = store
        self._on_stored = on_stored
        self._answer = answer
        self._log = log
        self._batch_size = parameters.batch_size
        self._retry_period_s = parameters.retry_period
        self._waiting: dict[str, Observation] = {}
        self._heard: dict[str, int] = {}
        self._bytes = 0
        self.is_full = False
        """Whether there was no room for the last one that came; until there is again."""
        self.stored = self.merged = self.rejected = 0
        """How many are durable, how many of these extended a memory, and how many the store refused."""
        super().__init__('store-writer', self._waiting)

    def put(self, observation: Observation) -> None:
        """Queue an observation; returns at once. What waits already, and is sent again, is queued once."""
        key, waiting = observation.memory.id, self._waiting
        with self._changed:
            if any((at.memory, at.images) == (observation.memory, observation.images) for at in self._at):
                return
            heard_ns = self._heard[key] = min(
                observation.heard_ns, self._heard.pop(key, observation.heard_ns)
            )
            while len(self._heard) > MAX_HEARD:
                del self._heard[next(iter(self._heard))]
            more = _size(observation) - (_size(waiting[key]) if key in waiting else 0)
            self.is_full = self._bytes + more > MAX_BYTES
            if self.is_full:
                self._log.error(
                    f'{len(waiting)} captions wait for the store, and there is no room for more',
                    throttle_duration_sec=10.0,
                )
                return
            waiting[key] = replace(observation, heard_ns=heard_ns)
            self._bytes += more
            self._changed.notify_all()

    def queued(self) -> list[Observation]:
        """Return what waits and what is being stored."""
        with self._changed:
            return [*self._waiting.values(), *self._at]

    def forget(self, ids: Collection[str]) -> None:
        """Take out what waits of these ids; of what is being stored the store says so."""
        with self._changed:
            gone = [self._waiting.pop(key) for key in self._waiting.keys() & set(ids)]
            self._bytes -= sum(map(_size, gone))
        for observation in gone:
            self._answer(observation.memory.id, CaptionAck.FORGOTTEN, '')

    def close(self, timeout_s: float = 5.0) -> int:
        """End the thread, after the batch it is at; return how many observations were given up.

        :param timeout_s: for that batch: a store that hangs is left to itself, see :attr:`hangs`
        """
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._thread.join(timeout_s)
        return self.waiting

    @property
    def hangs(self) -> bool:
        """Whether the store is still at a batch; after close: it did not come back in time."""
        return self._thread.is_alive()

    def _take(self) -> list[Observation]:
        batch = [self._waiting.pop(key) for key in list(self._waiting)[: self._batch_size]]
        self._bytes -= sum(map(_size, batch))
        self.is_full = False
        return batch

    def _work(self, batch: list[Observation]) -> None:
        """Store the batch at once; where the store refuses it, one by one, to keep the good ones."""
        if self._store_or_wait(batch) is not None:
            for observation in batch:
                if (error := self._store_or_wait([observation])) is not None:
                    self.rejected += 1
                    self._log.error(f'a caption was refused: {self.problem}')
                    self._settle([observation])
                    if isinstance(error, InvalidRequest):  # else it may be stored when it is sent again
                        self._answer(observation.memory.id, CaptionAck.REFUSED, str(error))
        if not self._at:  # else it was given up, and this is why
            self.problem = ''

    def _store_or_wait(self, batch: list[Observation]) -> Exception | None:
        """Store the batch, however long it takes, or until close; return why the store refuses it."""
        started = time.monotonic()
        while True:
            try:
                memories = self._store.add_heard(list(batch))
            except EmbedderLoading:
                pause_s = LOADING_S
            except (StoreUnavailable, EmbedderUnavailable) as error:
                self.problem, pause_s = str(error), self._retry_period_s
                self._log.error(
                    f'{len(batch)} captions wait for the store: {error}', throttle_duration_sec=10.0
                )
            except Exception as error:  # noqa: BLE001  the top of the thread
                self.problem = f'{type(error).__name__}: {error}'
                return error
            else:
                self.latency_s = time.monotonic() - started
                self._settle(batch)
                stored = [(o, m) for o, m in zip(batch, memories, strict=True) if m is not None]
                for observation, _ in stored:
                    self._heard.pop(observation.memory.id, None)
                self.stored += len(stored)
                self.merged += sum(memory.id != observation.memory.id for observation, memory in stored)
                if stored:
                    self._on_stored([observation for observation, _ in stored], [m for _, m in stored])
                for observation, memory in zip(batch, memories, strict=True):
                    if memory is None:
                        self._answer(observation.memory.id, CaptionAck.FORGOTTEN, '')
                return None
            with self._changed:
                if self._changed.wait_for(lambda: self._closed, pause_s):
                    return None

    def _settle(self, batch: list[Observation]) -> None:
        """Take what is settled out of what is being stored."""
        settled = {observation.memory.id for observation in batch}
        with self._changed:
            self._at = [observation for observation in self._at if observation.memory.id not in settled]


def _size(observation: Observation) -> int:
    """Return about what an observation takes in memory [bytes], rather more than less."""
    memory = observation.memory
    return 10_000 + len(memory.caption) + sum(map(len, memory.scene_text)) + sum(map(len, observation.images))
