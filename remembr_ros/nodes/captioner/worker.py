"""The captioning thread, with a bounded queue of segments before a slow model."""

import time
from collections.abc import Callable, Sequence

from rclpy.impl.rcutils_logger import RcutilsLogger

from remembr_ros.captioning.backlog import Backlog
from remembr_ros.captioning.placer import PlacedSegment
from remembr_ros.memory.model.record import Observation
from remembr_ros.nodes.base.worker_pool import WorkThread


class CaptionWorker(WorkThread[PlacedSegment]):
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
        super().__init__('captioner', backlog)

    def put(self, segment: PlacedSegment) -> None:
        """Queue a segment; returns at once."""
        backlog = self._backlog
        with self._changed:
            before = backlog.overflows
            for kept in backlog.put(segment):
                self._send(kept)
            self._changed.notify_all()
            overflows = backlog.overflows
        if overflows > before:
            self._log.warning(
                f'the captioner is slower than the camera: {backlog.kept} segments are kept without a '
                f'caption, {backlog.merged} merged and {backlog.dropped} dropped so far',
                throttle_duration_sec=10.0,
            )

    def close(self) -> int:
        """Take no further segment; what is not described yet is kept without a caption: return how many.

        Also those that the captioner is at: where it hangs nobody waits for it.
        """
        with self._changed:
            self._closed = True
            given_up = [*self._at, *self._backlog.clear()]
            self._at = []
            for segment in given_up:
                self._send(segment)
            self._changed.notify_all()
        return len(given_up)

    def _take(self) -> list[PlacedSegment]:
        return self._backlog.take(self._batch)

    def _work(self, segments: list[PlacedSegment]) -> None:
        started = time.monotonic()
        found: Sequence[Observation | PlacedSegment] = segments
        problem = ''
        try:
            found = self._describe(segments)
        except Exception as error:  # noqa: BLE001  the top of the thread
            problem = f'{type(error).__name__}: {error}'
            self._log.error(f'{len(segments)} segments are kept without a caption: {problem}')
        with self._changed:
            if self._closed:
                return  # they were given up meanwhile
            self.latency_s = time.monotonic() - started
            self.problem = problem
            for observed in found:
                self._send(observed)
            self._at = []

    def _send(self, found: Observation | PlacedSegment) -> None:
        """Publish an observation, or a segment without a caption; what cannot be sent is logged."""
        try:
            self._publish(found if isinstance(found, Observation) else self._keep(found))
        except Exception as error:  # noqa: BLE001  the thread has to go on
            self.problem = f'a caption was not published: {type(error).__name__}: {error}'
            self._log.error(self.problem)
