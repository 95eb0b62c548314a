"""The thread that captions: a bounded queue of segments in front of a slow model."""

import threading
import time
from collections.abc import Callable, Sequence

from rclpy.impl.rcutils_logger import RcutilsLogger

from remembr_ros.captioning.backlog import Backlog
from remembr_ros.captioning.placer import PlacedSegment
from remembr_ros.memory.model.record import Observation


class CaptionWorker:
    """Has segments described on a thread of its own, in the order of time, and publishes what comes of them.

    :param describe: takes as long as it takes; whatever it raises is logged, and its segments are kept
    :param keep: makes an observation of a segment that is not described; any thread calls it
    :param publish: one call at a time
    :param batch: so many segments are described at once, if so many wait
    """

    def __init__(
        self,
        describe: Callable[[Sequence[PlacedSegment]], Sequence[Observation]],
        keep: Callable[[PlacedSegment], Observation],
        publish: Callable[[Observation], None],
        *,
        log: RcutilsLogger,
        backlog: Backlog,
        batch: int = 1,
    ) -> None:
        self._describe = describe
        self._keep = keep
        self._publish = publish
        self._log = log
        self._backlog = backlog
        self._batch = batch
        self._changed = threading.Condition()
        self._taken: list[PlacedSegment] = []
        self._closed = False
        self.latency_s = 0.0
        """How long the last description took [s]."""
        self.problem = ''
        self._thread = threading.Thread(target=self._loop, name='captioner', daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many segments are not described yet."""
        with self._changed:
            return len(self._backlog) + len(self._taken)

    def put(self, segment: PlacedSegment) -> None:
        """Queue a segment; returns at once."""
        with self._changed:
            before = self._backlog.overflows
            too_many = self._backlog.put(segment)
            for one in too_many:
                self._send(one)
            self._changed.notify_all()
            overflows = self._backlog.overflows
        if overflows > before:
            self._log.warning(
                f'the captioner is slower than the camera: {self._backlog.kept} segments are kept without a '
                f'caption, {self._backlog.merged} merged and {self._backlog.dropped} dropped so far',
                throttle_duration_sec=10.0,
            )

    def drain(self, timeout_s: float | None) -> bool:
        """Wait until every segment is published; tell whether that is so."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._backlog and not self._taken, timeout_s)

    def close(self) -> int:
        """Take no further segment; what is not described yet is kept without a caption: return how many.

        Also those that the captioner is at: where it hangs nobody waits for it.
        """
        with self._changed:
            self._closed = True
            given_up = [*self._taken, *self._backlog.clear()]
            self._taken = []
            for segment in given_up:
                self._send(segment)
            self._changed.notify_all()
        return len(given_up)

    def _loop(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: len(self._backlog) > 0 or self._closed)
                if self._closed:
                    return
                segments = self._taken = self._backlog.take(self._batch)
            started = time.monotonic()
            observed: Sequence[Observation] = []
            problem = ''
            try:
                observed = self._describe(segments)
            except Exception as error:  # noqa: BLE001  the top of the thread
                problem = f'{type(error).__name__}: {error}'
                self._log.error(f'{len(segments)} segments are kept without a caption: {problem}')
            with self._changed:
                if self._closed:
                    return  # they were given up meanwhile
                self.latency_s = time.monotonic() - started
                self.problem = problem
                for one in segments if problem else observed:
                    self._send(one)
                self._taken = []
                self._changed.notify_all()

    def _send(self, one: Observation | PlacedSegment) -> None:
        """Publish an observation, or a segment without a caption; what cannot be sent is logged."""
        try:
            self._publish(one if isinstance(one, Observation) else self._keep(one))
        except Exception as error:  # noqa: BLE001  the thread has to go on
            self.problem = f'a caption was not published: {type(error).__name__}: {error}'
            self._log.error(self.problem)
