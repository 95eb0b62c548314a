import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.captioning.backlog import MOST_APART_M, MOST_SPAN_NS, POLICIES, Backlog, fit, joined
from remembr_ros.captioning.placer import PlacedSegment
from remembr_ros.captioning.segmenter import SampledFrame, Segment
from remembr_ros.geometry import Pose
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS
IMAGE = np.zeros((2, 2, 3), np.uint8)


def segment(index: float, x: float | None = 0.0, frames: int = 6, frame_id: str = 'map') -> PlacedSegment:
    start_ns = T0 + round(3 * index * NS)
    sampled = tuple(SampledFrame(start_ns + i * NS // 2, IMAGE, 1.0) for i in range(frames))
    pose = None if x is None else Pose(x, 0.0)
    return PlacedSegment(Segment(start_ns, start_ns + 29 * NS // 10, sampled), pose, frame_id, 1.0)


def test_segments_come_out_in_the_order_of_time():
    backlog = Backlog(5)
    for index in range(4):
        assert backlog.put(segment(index)) == []
    assert [p.segment.start_ns for p in backlog.take(3)] == [T0, T0 + 3 * NS, T0 + 6 * NS]
    assert len(backlog) == 1
    assert len(backlog.clear()) == 1
    assert backlog.take(3) == []


def test_one_too_many_is_given_back_to_be_kept():
    backlog = Backlog(2)
    given_back = [backlog.put(segment(index)) for index in range(4)]
    assert [[p.segment.start_ns for p in some] for some in given_back] == [[], [], [T0], [T0 + 3 * NS]]
    assert (backlog.kept, backlog.merged, backlog.dropped) == (2, 0, 0)


def test_one_too_many_is_dropped_where_that_is_asked_for():
    backlog = Backlog(2, 'drop')
    assert [backlog.put(segment(index)) for index in range(4)] == [[]] * 4
    assert (backlog.kept, backlog.merged, backlog.dropped) == (0, 0, 2)
    assert [p.segment.start_ns for p in backlog.clear()] == [T0 + 6 * NS, T0 + 9 * NS]


def test_neighbours_are_merged_where_that_is_asked_for_the_shortest_first():
    backlog = Backlog(2, 'merge')
    assert [backlog.put(segment(index, 0.5 * index)) for index in range(5)] == [[]] * 5
    first, second = backlog.clear()
    assert (first.merged, second.merged) in {(2, 3), (3, 2), (4, 1)}
    assert (backlog.merged, first.segment.start_ns, second.segment.end_ns) == (
        3,
        T0,
        segment(4).segment.end_ns,
    )


@pytest.mark.parametrize(
    'other',
    [
        segment(1, MOST_APART_M + 1.0),
        segment(1, frame_id='odom'),
        segment(1, None),
        segment(2),
        segment(-1),
        segment(0.5),
    ],
    ids=['far away', 'another frame', 'unplaced', 'after a gap', 'before', 'overlapping'],
)
def test_what_does_not_belong_together_is_not_merged(other: PlacedSegment):
    backlog = Backlog(1, 'merge')
    assert backlog.put(segment(0)) == []
    (kept,) = backlog.put(other)
    assert kept.segment.start_ns == T0
    assert (backlog.kept, backlog.merged) == (1, 0)


def test_no_segment_is_merged_beyond_the_longest():
    backlog = Backlog(1, 'merge')
    kept = [placed for index in range(40) for placed in backlog.put(segment(index))]
    spans = [p.segment.end_ns - p.segment.start_ns for p in [*kept, *backlog.clear()]]
    assert max(spans) <= MOST_SPAN_NS
    assert max(spans) > MOST_SPAN_NS - 4 * NS


def test_merged_segments_keep_their_time_way_and_place():
    one = joined(joined(segment(0, 1.0), segment(1, 2.0)), segment(2, 6.0))
    assert (one.segment.start_ns, one.segment.end_ns) == (T0, segment(2).segment.end_ns)
    assert one.pose is not None
    assert one.pose.x == pytest.approx(3.0), 'the mean of three'
    assert (one.merged, one.travelled) == (3, 3.0)
    stamps = [frame.stamp_ns for frame in one.segment.frames]
    assert len(stamps) == 6
    assert stamps == sorted(stamps)
    assert (stamps[0], stamps[-1]) == (T0, segment(2).segment.frames[-1].stamp_ns)


def test_unplaced_segments_are_merged_by_time():
    assert fit(segment(0, None), segment(1, None))
    assert joined(segment(0, None), segment(1, None)).pose is None


@given(
    st.sampled_from(POLICIES),
    st.integers(1, 5),
    st.lists(st.one_of(st.none(), st.integers(1, 4)), max_size=40),
)
def test_counts_add_up_and_the_queue_is_bounded(policy: str, size: int, steps: list[int | None]):
    backlog = Backlog(size, policy)
    put = taken = kept = 0
    for index, step in enumerate(steps):
        if step is None:
            given_back = backlog.put(segment(index))
            put += 1
            kept += sum(placed.merged for placed in given_back)
        else:
            taken += sum(placed.merged for placed in backlog.take(step))
        assert len(backlog) <= size
        waiting = sum(placed.merged for placed in backlog._waiting)
        assert put == taken + kept + backlog.dropped + waiting
        assert backlog.kept == kept


@pytest.mark.parametrize('policy', POLICIES)
def test_what_waits_takes_no_more_memory_than_allowed(policy: str):
    backlog = Backlog(100, policy, max_bytes=20 * IMAGE.nbytes)
    for index in range(10):
        backlog.put(segment(index, 0.1 * index))
        assert sum(len(placed.segment.frames) for placed in backlog._waiting) <= 20
    assert backlog.overflows > 0
    large = Backlog(5, policy, max_bytes=1)
    assert large.put(segment(0)) == [], 'one may wait, however large'
    assert len(large) == 1
