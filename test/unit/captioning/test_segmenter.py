from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.captioning.frame_choice import sharpness
from remembr_ros.captioning.segmenter import Segment, Segmenter, SegmenterConfig
from remembr_ros.errors import InvalidRequest
from remembr_ros.images import Frame
from remembr_ros.timestamps import NS

START_NS = 1_700_000_000_123_456_789
IMAGE = np.zeros((8, 8, 3), np.uint8)


def frames_at(stamps: Iterable[int], decoded: list[int] | None = None) -> list[Frame]:
    def frame(stamp_ns: int) -> Frame:
        def decode() -> np.ndarray:
            if decoded is not None:
                decoded.append(stamp_ns)
            return IMAGE

        return Frame(stamp_ns, decode)

    return [frame(stamp_ns) for stamp_ns in stamps]


def camera(rate_hz: float, seconds: float, start_ns: int = START_NS) -> list[int]:
    return [start_ns + round(i * NS / rate_hz) for i in range(round(seconds * rate_hz))]


def cut(frames: Iterable[Frame], segmenter: Segmenter | None = None) -> list[Segment]:
    segmenter = segmenter or Segmenter()
    segments = [segment for frame in frames if (segment := segmenter.add(frame)) is not None]
    last = segmenter.flush()
    return [*segments, last] if last is not None else segments


def sampled(segments: Iterable[Segment]) -> list[int]:
    return [frame.stamp_ns for segment in segments for frame in segment.frames]


def test_thirty_hertz_make_segments_of_three_seconds_sampled_at_two_hertz():
    decoded: list[int] = []
    segments = cut(frames_at(camera(30, 9), decoded))
    assert [segment.start_ns - START_NS for segment in segments] == [0, 3 * NS, 6 * NS]
    assert [len(segment.frames) for segment in segments] == [6, 6, 6]
    assert [s - START_NS for s in sampled(segments[:1])] == [i * NS // 2 for i in range(6)]
    assert segments[0].end_ns == START_NS + round(89 * NS / 30)
    assert decoded == sampled(segments), 'only sampled frames are decoded'


@pytest.mark.parametrize('rate_hz', [1.0, 2.0, 6.0, 7.5, 14.9, 60.0])
def test_rate_of_samples_does_not_depend_on_the_camera(rate_hz: float):
    segments = cut(frames_at(camera(rate_hz, 12)))
    wanted = 3 if rate_hz == 1.0 else 6
    assert {len(segment.frames) for segment in segments[:-1]} <= {wanted, wanted - 1}
    assert max(len(segment.frames) for segment in segments) == wanted


@pytest.mark.parametrize('interval_s', [1.4, 2.0, 5.0])
def test_slow_camera_has_no_gaps(interval_s: float):
    stamps = camera(1 / interval_s, 60 * interval_s)
    segments = cut(frames_at(stamps), Segmenter(SegmenterConfig(length_s=20.0)))
    assert sampled(segments) == stamps
    # The first interval is unknown; after it none is a gap.
    assert all(len(segment.frames) >= 4 for segment in segments[1:-1])


@pytest.mark.parametrize('jump_s', [1.6, 100.0, -0.5, -1.0, -1000.0])
def test_gap_or_clock_jump_ends_a_segment(jump_s: float):
    before = camera(10, 1)
    after = camera(10, 1, before[-1] + round(jump_s * NS))
    segments = cut(frames_at([*before, *after]))
    assert [(s.start_ns, s.end_ns) for s in segments] == [(before[0], before[-1]), (after[0], after[-1])]


def test_short_pause_is_no_gap():
    before = camera(10, 1)
    after = camera(10, 0.5, before[-1] + round(1.4 * NS))
    assert len(cut(frames_at([*before, *after]))) == 1


def test_frame_that_ends_a_segment_starts_the_next():
    segmenter = Segmenter()
    first, second = frames_at([START_NS, START_NS + 3 * NS])
    assert segmenter.add(first) is None
    finished = segmenter.add(second)
    assert finished is not None
    assert sampled([finished]) == [START_NS]
    rest = segmenter.flush()
    assert rest is not None
    assert sampled([rest]) == [START_NS + 3 * NS]


def test_duplicate_and_slightly_late_frames_are_passed_over():
    stamps = camera(10, 2)
    late = [s - 20_000_000 for s in stamps]
    mixed = [stamp for pair in zip(stamps, stamps, late, strict=True) for stamp in pair]
    assert [(s.start_ns, s.end_ns, sampled([s])) for s in cut(frames_at(mixed))] == [
        (s.start_ns, s.end_ns, sampled([s])) for s in cut(frames_at(stamps))
    ]


@pytest.mark.parametrize('rate_hz', [1, 2, 6, 30])
def test_neighbours_that_swapped_places_do_not_end_a_segment(rate_hz: int):
    stamps = camera(rate_hz, 30)
    swapped = list(stamps)
    for i in range(rate_hz, len(swapped) - 1, 7):
        swapped[i], swapped[i + 1] = swapped[i + 1], swapped[i]
    segments = cut(frames_at(swapped))
    assert len(segments) <= len(cut(frames_at(stamps))) + 1
    assert all(a.end_ns < b.start_ns for a, b in pairwise(segments))


def test_last_segment_is_not_lost_and_flush_comes_once():
    segmenter = Segmenter()
    assert segmenter.flush() is None
    segmenter.add(frames_at([START_NS])[0])
    last = segmenter.flush()
    assert last is not None
    assert (last.start_ns, last.end_ns) == (START_NS, START_NS)
    assert segmenter.flush() is None


def test_frames_after_a_flush_start_a_new_grid():
    segmenter = Segmenter()
    segmenter.add(frames_at([START_NS])[0])
    segmenter.flush()
    segmenter.add(frames_at([START_NS + NS // 10])[0])
    again = segmenter.flush()
    assert again is not None
    assert again.start_ns == START_NS + NS // 10


def broken(stamp_ns: int) -> Frame:
    def decode() -> np.ndarray:
        raise ValueError('damaged')

    return Frame(stamp_ns, decode)


def test_damaged_frame_is_counted_and_the_next_takes_its_place():
    stamps = camera(10, 2)
    frames = frames_at(stamps)
    frames[5] = broken(stamps[5])  # a grid point
    segmenter = Segmenter()
    segments = cut(frames, segmenter)
    assert segmenter.dropped == 1
    assert len(segments) == 1
    assert sampled(segments) == [stamps[i] for i in (0, 6, 10, 15)]


def test_nothing_but_damaged_frames_makes_no_segment():
    segmenter = Segmenter()
    assert cut([broken(stamp_ns) for stamp_ns in camera(2, 10)], segmenter) == []
    assert segmenter.dropped == 20


def test_other_errors_of_decode_are_not_hidden():
    def decode() -> np.ndarray:
        raise RuntimeError('a bug')

    with pytest.raises(RuntimeError, match='a bug'):
        Segmenter().add(Frame(START_NS, decode))


@settings(max_examples=150)
@given(
    st.lists(st.integers(-5 * NS, 5 * NS) | st.integers(0, NS // 2), max_size=60),
    st.sampled_from([0.5, 3.0, 10.0]),
    st.sampled_from([0.5, 2.0, 30.0]),
)
def test_any_stamps_make_ordered_segments_without_loss_or_gap(
    steps: list[int], length_s: float, rate_hz: float
):
    stamps = [START_NS]
    for step in steps:
        stamps.append(stamps[-1] + step)
    config = SegmenterConfig(length_s=length_s, rate_hz=rate_hz)
    decoded: list[int] = []
    segmenter = Segmenter(config)
    segments = cut(frames_at(stamps, decoded), segmenter)
    assert sampled(segments) == decoded, 'every sampled frame is in exactly one segment, in order of arrival'
    for segment in segments:
        own = [frame.stamp_ns for frame in segment.frames]
        assert all(type(stamp) is int for stamp in own)
        assert own == sorted(set(own))
        assert segment.start_ns == own[0]
        assert own[-1] <= segment.end_ns < segment.start_ns + round(length_s * NS)
        assert len(own) <= length_s * rate_hz + 1


@settings(max_examples=60)
@given(
    st.integers(2, 60),
    st.lists(st.tuples(st.integers(1, 100), st.integers(1_600_000_000, 10**12)), max_size=5),
)
def test_no_segment_spans_a_gap(rate_hz: int, runs: list[tuple[int, int]]):
    stamps = [START_NS + round(i * NS / rate_hz) for i in range(30)]
    gaps = []
    for count, gap_ns in runs:
        gaps.append((stamps[-1], stamps[-1] + gap_ns))
        stamps += [stamps[-1] + gap_ns + round(i * NS / rate_hz) for i in range(count)]
    segments = cut(frames_at(stamps))
    for before, after in gaps:
        assert not any(s.start_ns <= before and s.end_ns >= after for s in segments)


def test_sharp_image_is_sharper_than_its_blurred_copy():
    import cv2

    image = np.random.default_rng(1).integers(0, 255, (480, 640, 3), np.uint8)
    image = cv2.resize(image[:60, :80], (640, 480), interpolation=cv2.INTER_NEAREST)
    assert sharpness(image) > 2 * sharpness(cv2.GaussianBlur(image, (31, 31), 0))
    assert sharpness(IMAGE) == 0.0
    assert sharpness(np.zeros((1, 2000, 3), np.uint8)) == 0.0


@pytest.mark.parametrize(
    'values',
    [
        {'length_s': 0.0},
        {'rate_hz': -1.0},
        {'max_gap_s': float('nan')},
    ],
)
def test_configuration_without_sense_is_refused(values: dict[str, float]):
    with pytest.raises(InvalidRequest, match=next(iter(values))):
        SegmenterConfig(**values)


def test_other_numbers_hold_from_the_next_frame_on_in_the_open_segment_too():
    segmenter = Segmenter(SegmenterConfig(length_s=60.0, rate_hz=1.0))
    before = frames_at(camera(10, 2))
    assert [segmenter.add(frame) for frame in before] == [None] * 20
    segmenter.adjust(SegmenterConfig(length_s=3.0, rate_hz=5.0))
    first, *_ = cut(frames_at(camera(10, 4, START_NS + 2 * NS)), segmenter)
    assert (first.start_ns, first.end_ns) == (START_NS, START_NS + 29 * NS // 10)
    assert len(first.frames) == 2 + 5
