import threading
from collections.abc import Sequence

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from remembr_ros.captioning.backlog import Backlog
from remembr_ros.captioning.placer import PlacedSegment
from remembr_ros.captioning.segmenter import SampledFrame, Segment
from remembr_ros.memory.model.record import UNCAPTIONED, Memory, Observation
from remembr_ros.nodes.captioner.worker import CaptionWorker
from remembr_ros.timestamps import NS

IMAGE = np.zeros((2, 2, 3), np.uint8)


def segment(second: int) -> PlacedSegment:
    frame = SampledFrame(second * NS, IMAGE, 1.0)
    return PlacedSegment(Segment(second * NS, second * NS, (frame,)), None)


def observation(placed: PlacedSegment, caption: str) -> Observation:
    second = placed.segment.start_ns
    return Observation(Memory(f'm{second // NS}', 'r', second, second, caption))


class Log:
    """Keeps what is logged."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.errors: list[str] = []

    def warning(self, text: str, **_) -> None:
        self.warnings.append(text)

    def error(self, text: str, **_) -> None:
        self.errors.append(text)


class Station:
    """A worker whose captioner works when the gate is open, and breaks at second 13."""

    def __init__(self, size: int = 2, policy: str = 'drop', batch: int = 1) -> None:
        self.published: list[tuple[str, str]] = []
        self.batches: list[int] = []
        self.begun = threading.Event()
        self.gate = threading.Event()
        self.gate.set()
        self.log = Log()
        self.backlog = Backlog(size, policy)
        self.worker = CaptionWorker(
            self.describe,
            lambda placed: observation(placed, UNCAPTIONED),
            self.publish,
            log=self.log,
            backlog=self.backlog,
            batch=batch,
        )

    def describe(self, segments: Sequence[PlacedSegment]) -> list[Observation]:
        self.begun.set()
        assert self.gate.wait(10)
        self.batches.append(len(segments))
        if any(placed.segment.start_ns == 13 * NS for placed in segments):
            raise ValueError('bad segment')
        return [observation(placed, 'seen') for placed in segments]

    def publish(self, one: Observation) -> None:
        if one.memory.id == 'm17':
            raise UnicodeEncodeError('utf-8', '', 0, 1, 'half a character')
        self.published.append((one.memory.id, one.memory.caption))

    def hold(self) -> None:
        """Have it work at second 0 until the gate opens."""
        self.begun.clear()
        self.gate.clear()
        self.worker.put(segment(0))
        assert self.begun.wait(10)


@pytest.fixture
def make():
    made: list[Station] = []

    def station(*arguments, **options) -> Station:
        made.append(Station(*arguments, **options))
        return made[-1]

    yield station
    for one in made:
        one.gate.set()
        one.worker.close()


def test_segments_are_captioned_in_order_and_what_breaks_is_kept(make):
    station = make()
    for second in (1, 13):
        station.worker.put(segment(second))
        assert station.worker.drain(10)
    worker = station.worker
    assert worker.problem == 'ValueError: bad segment'
    worker.put(segment(2))
    assert worker.drain(10)
    assert station.published == [('m1', 'seen'), ('m13', UNCAPTIONED), ('m2', 'seen')]
    assert (worker.done, worker.failed, worker.waiting, worker.problem) == (2, 1, 0, '')
    assert station.log.errors == ['1 segments are kept without a caption: ValueError: bad segment']


@pytest.mark.parametrize(('policy', 'kept'), [('drop', []), ('keep', [('m1', UNCAPTIONED)])])
def test_of_a_full_queue_the_oldest_is_dropped_or_kept(make, policy, kept):
    station = make(policy=policy)
    station.hold()
    for second in (1, 2, 3):
        station.worker.put(segment(second))
    assert station.worker.waiting == 3
    assert station.published == kept, 'at once'
    assert not station.worker.drain(0.01)
    station.gate.set()
    assert station.worker.drain(10)
    assert station.published == [*kept, ('m0', 'seen'), ('m2', 'seen'), ('m3', 'seen')]
    assert len(station.log.warnings) == 1
    assert 'slower than the camera' in station.log.warnings[0]


def test_what_waits_is_captioned_together(make):
    station = make(size=10, batch=3)
    station.hold()
    for second in range(1, 6):
        station.worker.put(segment(second))
    station.gate.set()
    assert station.worker.drain(10)
    assert station.batches == [1, 3, 2]
    assert [memory_id for memory_id, _ in station.published] == [f'm{i}' for i in range(6)]


def test_closing_keeps_what_waits_and_what_is_worked_at_and_nothing_comes_later(make):
    station = make()
    station.hold()
    station.worker.put(segment(1))
    assert station.worker.close() == 2
    kept = [('m0', UNCAPTIONED), ('m1', UNCAPTIONED)]
    assert station.published == kept
    station.gate.set()
    station.worker._thread.join(10)
    assert station.published == kept


def test_what_cannot_be_published_stops_nothing(make):
    station = make()
    for second in (17, 1):
        station.worker.put(segment(second))
        assert station.worker.drain(10)
    assert station.published == [('m1', 'seen')]
    assert any('half a character' in error for error in station.log.errors)
    station.hold()
    station.worker.put(segment(17))
    station.worker.put(segment(2))
    assert station.worker.close() == 3
    assert station.published[1:] == [('m0', UNCAPTIONED), ('m2', UNCAPTIONED)]
