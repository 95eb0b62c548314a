"""When a robot stood."""

import pytest

from remembr_ros.memory.motion.track import halts, tracks
from remembr_ros.timestamps import NS
from test.unit.agent.offline.test_motion_questions import START_NS, drive, recall
from test.unit.memory.motion.test_motion import STRAIGHT, way


@pytest.mark.parametrize('seed', range(4))
def test_stops_shorter_than_a_memory_are_found_and_measured(seed: int) -> None:
    (track,) = tracks(recall(seed).memories)
    found = [((start - START_NS) / NS, (end - START_NS) / NS) for start, end in halts(track)]
    true = drive(seed).halts
    assert len(found) == len(true)
    for (start, end), (true_start, true_end) in zip(found, true, strict=True):
        assert (start + end) / 2 == pytest.approx((true_start + true_end) / 2, abs=2.0)
        assert end - start == pytest.approx(true_end - true_start, abs=1.5)


def test_who_never_moved_stood_all_the_time() -> None:
    (track,) = tracks(way(*[(0.0, 0.0)] * 3))
    assert list(halts(track)) == [(track.memories[0].start_ns, track.memories[-1].end_ns)]


def test_who_never_stopped_did_not_stand() -> None:
    (track,) = tracks(way(*[STRAIGHT] * 3))
    assert list(halts(track)) == []
