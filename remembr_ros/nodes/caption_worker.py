"""The thread that captions: a bounded queue of segments in front of a slow model."""

import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

S = TypeVar('S')


class CaptionWorker(Generic[S]):
    """Captions segments one after the other on a thread of its own.

    When the queue is full the oldest segment is dropped: the robot's present counts more than its past.

    :param work: captions and publishes a segment; whatever it raises is logged, and the next one is taken
    :param log: a node's logger
    :param queue_size: segments that may wait
    """

    def __init__(self, work: Callable[[S], None], log: Any, queue_size: int) -> None:
        self._work = work
        self._log = log
        self._queue_size = queue_size
        self._queue: deque[S] = deque()
        self._changed = threading.Condition()
        self._busy = False
        self._closed = False
        self.done = 0
        self.dropped = 0
        self.failed = 0
        self.latency_s = 0.0
        self.problem = ''
        self._thread = threading.Thread(target=self._loop, name='captioner', daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many segments are not captioned yet."""
        with self._changed:
            return len(self._queue) + self._busy

    def put(self, segment: S) -> None:
        """Queue a segment; returns at once."""
        with self._changed:
            if len(self._queue) >= self._queue_size:
                self._queue.popleft()
                self.dropped += 1
                self._log.warning(
                    f'the captioner is too slow: {self.dropped} segments dropped so far',
                    throttle_duration_sec=10.0,
                )
            self._queue.append(segment)
            self._changed.notify_all()

    def drain(self, timeout_s: float | None) -> bool:
        """Wait until every segment is captioned; tell whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._queue and not self._busy, timeout_s)

    def close(self) -> int:
        """Take no further segment; return how many were given up."""
        with self._changed:
            self._closed = True
            given_up = len(self._queue) + self._busy
            self._queue.clear()
            self._changed.notify_all()
        return given_up

    def _loop(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._queue or self._closed)
                if self._closed:
                    return
                segment = self._queue.popleft()
                self._busy = True
            started = time.monotonic()
            try:
                self._work(segment)
                self.done += 1
                self.problem = ''
            except Exception as error:  # noqa: BLE001  the top of the thread
                self.failed += 1
                self.problem = f'{type(error).__name__}: {error}'
                self._log.error(f'a segment was not captioned: {self.problem}')
            self.latency_s = time.monotonic() - started
            with self._changed:
                self._busy = False
                self._changed.notify_all()
