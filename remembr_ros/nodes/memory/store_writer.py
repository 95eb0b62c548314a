"""The queue between captions as they come and the store: batches, and patience while it is out of reach."""

import threading
import time
from collections.abc import Callable

from rclpy.impl.rcutils_logger import RcutilsLogger

from remembr_ros.errors import EmbedderLoading, EmbedderUnavailable, InvalidRequest, StoreUnavailable
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.store import MemoryStore
from remembr_ros.nodes.memory.parameters import MemoryParameters

DROPPING_S = 60.0  # [s] so long after an observation was dropped that counts as happening now
LOADING_S = 0.2  # [s] between attempts while the embedder is being loaded, which is no failure


class StoreWriter:
    """Stores observations on a thread of its own, in their order.

    While the store is out of reach it tries again and again; when the queue is full the oldest is dropped:
    the robot's present counts more than its past. An observation that the store refuses is logged and left
    out.

    :param on_stored: called with each batch and its memories, once they are durable: one for each
        observation, so that a memory that several of them extended comes several times
    :param on_refused: called with an observation that makes no sense to the store, and why
    :param parameters: the batch that is being stored does not count to the bytes of the queue
    """

    def __init__(
        self,
        store: MemoryStore,
        on_stored: Callable[[list[Observation], list[Memory]], None],
        on_refused: Callable[[Observation, str], None],
        log: RcutilsLogger,
        parameters: MemoryParameters,
    ) -> None:
        self._store = store
        self._on_stored = on_stored
        self._on_refused = on_refused
        self._log = log
        self._queue_size = parameters.queue_size
        self._queue_bytes = round(parameters.queue_bytes_mb * 1e6)
        self._batch_size = parameters.batch_size
        self._retry_period_s = parameters.retry_period
        self._queue: dict[str, Observation] = {}
        self._queued_bytes = 0
        self._batch: list[Observation] = []
        self._changed = threading.Condition()
        self._closed = False
        self._given_up = False
        self.stored = 0
        self.merged = 0
        """How many of those extended a memory."""
        self.dropped = 0
        self._dropped_at = float('-inf')
        self.rejected = 0
        self.latency_s = 0.0
        self.problem = ''
        self._thread = threading.Thread(target=self._work, name='store-writer', daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many observations are not stored yet."""
        with self._changed:
            return len(self._queue) + len(self._batch)

    @property
    def filled(self) -> float:
        """How full the queue is, by number or by bytes, whichever is more: 0 to 1."""
        with self._changed:
            return max(len(self._queue) / self._queue_size, self._queued_bytes / self._queue_bytes)

    @property
    def dropping(self) -> bool:
        """Whether an observation was dropped a moment ago."""
        return time.monotonic() - self._dropped_at < DROPPING_S

    def put(self, observation: Observation) -> None:
        """Queue an observation; returns at once. What waits already, and is sent again, is queued once."""
        with self._changed:
            size, key = _size(observation), observation.memory.id
            if observation in self._batch or self._queue.get(key) == observation:
                return
            if key in self._queue:
                self._take(key)
            # One that is larger than the whole queue is let in alone.
            while self._queue and (
                len(self._queue) >= self._queue_size or self._queued_bytes + size > self._queue_bytes
            ):
                self._take(next(iter(self._queue)))
                self.dropped += 1
                self._dropped_at = time.monotonic()
                self._log.error(
                    f'the queue to the store is full, {self.dropped} captions dropped so far',
                    throttle_duration_sec=10.0,
                )
            self._queued_bytes += size
            self._queue[key] = observation
            self._changed.notify_all()

    def drain(self, timeout_s: float) -> bool:
        """Wait until everything is stored; tell whether it is."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._queue and not self._batch, timeout_s)

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

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._closed)
                if self._closed:
                    return
                while self._queue and len(self._batch) < self._batch_size:
                    self._batch.append(self._take(next(iter(self._queue))))
            self._store_batch()
            with self._changed:
                if self._given_up:
                    return
                self._batch.clear()
                self._changed.notify_all()

    def _take(self, key: str) -> Observation:
        observation = self._queue.pop(key)
        self._queued_bytes -= _size(observation)
        return observation

    def _store_batch(self) -> None:
        """Store the batch at once; where the store refuses it, one by one, to keep the good ones."""
        if self._store_or_wait(self._batch) is not None:
            for observation in list(self._batch):
                if self._given_up:
                    return
                if (error := self._store_or_wait([observation])) is not None:
                    self.rejected += 1
                    self._log.error(f'a caption was refused: {self.problem}')
                    if isinstance(error, InvalidRequest):  # else it may be stored when it is sent again
                        self._on_refused(observation, str(error))
        self.problem = ''

    def _store_or_wait(self, batch: list[Observation]) -> Exception | None:
        """Store the batch, however long it takes; return why the store refuses it."""
        started = time.monotonic()
        while True:
            try:
                memories = self._store.add(list(batch))
            except EmbedderLoading:
                if self._closed_within(LOADING_S):
                    return None
            except (StoreUnavailable, EmbedderUnavailable) as error:
                self.problem = str(error)
                self._log.error(
                    f'{len(batch)} captions wait for the store: {error}', throttle_duration_sec=10.0
                )
                if self._closed_within(self._retry_period_s):
                    return None
            except Exception as error:  # noqa: BLE001  the top of the thread
                self.problem = f'{type(error).__name__}: {error}'
                return error
            else:
                self.latency_s = time.monotonic() - started
                self.stored += len(memories)
                self.merged += sum(m.id != o.memory.id for m, o in zip(memories, batch, strict=True))
                self._on_stored(list(batch), memories)
                return None

    def _closed_within(self, pause_s: float) -> bool:
        """Wait before the next attempt; tell whether it was given up meanwhile."""
        with self._changed:
            self._given_up = self._changed.wait_for(lambda: self._closed, pause_s)
            return self._given_up  # what was given up still counts as waiting


def _size(observation: Observation) -> int:
    """Return about what an observation takes in memory [bytes]."""
    memory = observation.memory
    return 1000 + len(memory.caption) + sum(map(len, memory.scene_text)) + sum(map(len, observation.images))
