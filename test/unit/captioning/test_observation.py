import math
from collections.abc import Iterator, Sequence

import cv2
import numpy as np
import pytest

from remembr_ros.captioning.captioners.captioner import Caption, Clip
from remembr_ros.captioning.observation import Describer, Remembering, observations
from remembr_ros.captioning.placer import PlacedSegment, place
from remembr_ros.captioning.pose_buffer import PoseBuffer
from remembr_ros.captioning.segmenter import SampledFrame, Segment, SegmenterConfig
from remembr_ros.captioning.still_scene import StillScene
from remembr_ros.errors import CaptionerFailed
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.images import Bgr, Frame
from remembr_ros.memory.model.record import UNCAPTIONED, Observation, memory_id
from remembr_ros.timestamps import NS
from test.fake_captioner import FakeCaptioner

T0 = 1_700_000_000_000_000_000


class RecordingCaptioner(FakeCaptioner):
    """Keeps what it was asked, and fails when told to."""

    name = 'recording'

    def __init__(self, fail_at: Sequence[int] = (), read: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.asked: list[list[Bgr]] = []
        self._fail_at = fail_at
        self._read = read

    def describe(self, images: Sequence[Bgr]) -> Caption:
        self.asked.append(list(images))
        if len(self.asked) in self._fail_at:
            raise CaptionerFailed('the server is gone; start it', self._read)
        return Caption(f'Call {len(self.asked)}.', ('EXIT',))


def grey(value: int, width: int = 64, height: int = 48) -> Bgr:
    return np.full((height, width, 3), value, np.uint8)


def ns(seconds: float) -> int:
    return T0 + round(seconds * NS)


def pose(seconds: float, x: float, y: float = 0.0, yaw: float = 0.0, frame_id: str = 'map') -> StampedPose:
    return StampedPose(ns(seconds), Pose(x, y, 0.0, yaw), frame_id)


def segment(*times: float, end: float | None = None, image: Bgr | None = None) -> Segment:
    frames = tuple(
        SampledFrame(ns(t), grey(10 * i) if image is None else image, float(i)) for i, t in enumerate(times)
    )
    return Segment(frames[0].stamp_ns, frames[-1].stamp_ns if end is None else ns(end), frames)


def buffer(*poses: StampedPose) -> PoseBuffer:
    made = PoseBuffer()
    for stamped in poses:
        made.add(stamped)
    return made


def test_pose_is_the_mean_at_image_time_and_yaw_the_circular_mean():
    poses = buffer(
        pose(0, 0.0, 0.0, math.radians(170)), pose(1, 3.0, 4.0, math.radians(-170)), frame_id_pose(2)
    )
    placed = place(segment(0, 1), poses)
    assert placed.pose is not None
    assert (placed.pose.x, placed.pose.y) == pytest.approx((1.5, 2.0))
    assert abs(placed.pose.yaw) == pytest.approx(math.pi)
    assert placed.travelled == pytest.approx(5.0)
    assert placed.frame_id == 'map'


def frame_id_pose(seconds: float) -> StampedPose:
    return pose(seconds, 99.0)


def test_travelled_is_the_path_not_the_distance_of_its_ends():
    poses = buffer(*(pose(t, x) for t, x in [(0, 0.0), (1, 5.0), (2, 0.0)]))
    assert place(segment(0, 1, 2), poses).travelled == pytest.approx(10.0)


def test_way_after_the_last_sampled_frame_counts():
    poses = buffer(*(pose(t, float(t)) for t in range(4)))
    placed = place(segment(0, 1, end=1.5), poses)
    assert placed.travelled == pytest.approx(1.5)
    assert placed.pose is not None
    assert placed.pose.x == pytest.approx(0.5)


def test_frames_without_a_pose_do_not_count_and_without_any_it_is_unplaced():
    poses = buffer(pose(0, 1.0), pose(0.1, 1.0))
    placed = place(segment(0, 2), poses)
    assert placed.pose == Pose(1.0, 0.0)
    assert placed.travelled == 0.0
    unplaced = place(segment(10, 11), poses)
    assert unplaced.pose is None
    assert unplaced.travelled == 0.0


def test_frame_id_is_that_of_the_poses():
    assert place(segment(0), buffer(pose(0, 1.0, frame_id='odom'))).frame_id == 'odom'


def test_memory_says_what_where_when_and_by_whom():
    captioner = RecordingCaptioner()
    made = segment(0, 1)
    placed = place(made, buffer(pose(0, 1.0), pose(1, 1.0)))
    observation = Describer(captioner, Remembering('spot', 'floor2')).observe_all([placed])[0]
    memory = observation.memory
    assert memory.id == memory_id('spot', 'captioner', T0)
    assert (memory.robot, memory.map_id, memory.frame_id) == ('spot', 'floor2', 'map')
    assert (memory.start_ns, memory.end_ns) == (T0, T0 + NS)
    assert (memory.caption, memory.scene_text, memory.captioner) == ('Call 1.', ('EXIT',), 'recording')
    assert (memory.source, memory.merged, memory.keyframes) == ('captioner', 1, ())
    assert memory.pose == Pose(1.0, 0.0)
    assert [image.max() for image in captioner.asked[0]] == [0, 10], 'frames come in order of time'


def described(placed: PlacedSegment, keyframes: int = 2) -> Observation:
    return Describer(RecordingCaptioner(), Remembering('r', keyframes=keyframes)).observe_all([placed])[0]


def decode(jpeg: bytes) -> Bgr:
    return cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)


def test_keyframes_are_jpegs_sharpest_first():
    observation = described(place(segment(0, 1, 2), buffer()), keyframes=2)
    assert [round(float(decode(jpeg).mean())) for jpeg in observation.images] == [20, 10]


@pytest.mark.parametrize(('keyframes', 'count'), [(0, 0), (1, 1), (9, 3)])
def test_number_of_keyframes(keyframes: int, count: int):
    placed = place(segment(0, 1, 2), buffer())
    assert len(described(placed, keyframes=keyframes).images) == count


def test_large_keyframes_are_reduced_and_small_ones_kept():
    large = segment(0, image=grey(5, 1280, 720))
    observation = described(place(large, buffer()))
    assert decode(observation.images[0]).shape == (360, 640, 3)
    small = described(place(segment(0), buffer()))
    assert decode(small.images[0]).shape == (48, 64, 3)


def test_what_a_captioner_fails_on_is_kept_with_what_could_be_read():
    placed = place(segment(0, 1), buffer(pose(0, 4.0), pose(1, 4.0)))
    captioner = RecordingCaptioner(fail_at=[1, 2], read=('EXIT',))
    describer = Describer(captioner, Remembering('r', 'm', 'front'))
    kept = describer.observe_all([placed])[0]
    assert (kept.memory.caption, kept.memory.captioner, kept.memory.scene_text) == (
        UNCAPTIONED,
        '',
        ('EXIT',),
    )
    assert not kept.memory.is_captioned
    assert kept.memory.id == memory_id('r', 'captioner', T0, 'front')
    assert (kept.memory.pose, kept.memory.map_id, kept.memory.camera) == (Pose(4.0, 0.0), 'm', 'front')
    assert len(kept.images) == 2
    assert (describer.uncaptioned, describer.problem) == (1, 'the server is gone; start it')
    assert describer.observe_all([placed])[0].memory.caption == 'Call 3.'
    assert (describer.captioned, describer.problem) == (1, '')


def test_two_cameras_of_one_moment_are_two_memories():
    placed = place(segment(0), buffer())
    ids = {
        Describer(RecordingCaptioner(), Remembering('r', camera=c)).observe_all([placed])[0].memory.id
        for c in ('a', 'b', '')
    }
    assert len(ids) == 3


class BatchCaptioner(RecordingCaptioner):
    """Keeps how many segments came together."""

    def __init__(self, fail_at: Sequence[int] = ()) -> None:
        super().__init__(fail_at)
        self.batches: list[int] = []
        self.broken = False

    def caption(self, clips: Sequence[Clip]) -> Iterator[Caption | CaptionerFailed]:
        self.batches.append(len(clips))
        if self.broken and len(clips) > 1:
            return (CaptionerFailed('out of memory') for _ in clips)
        return super().caption(clips)


def test_segments_are_captioned_together_where_the_captioner_can():
    captioner = BatchCaptioner()
    found = list(observations(recording(14), Describer(captioner, Remembering('r')), batch=3))
    assert captioner.batches == [3, 2]
    assert [o.memory.start_ns for o in found] == [ns(t) for t in (0, 3, 6, 9, 12)]
    assert [o.memory.caption for o in found] == [f'Call {i}.' for i in range(1, 6)]


def test_what_fails_together_is_captioned_one_by_one():
    captioner = BatchCaptioner()
    captioner.broken = True
    found = list(observations(recording(6), Describer(captioner, Remembering('r')), batch=2))
    assert [o.memory.caption for o in found] == ['Call 1.', 'Call 2.']


def standing(seconds: float, changes: Sequence[tuple[float, int]] = ()) -> Iterator[Frame | StampedPose]:
    """A robot that stands; at some times, a square of its view gets another shade."""
    view = np.random.default_rng(0).integers(60, 200, (48, 64, 3), np.uint8)
    for i in range(round(seconds * 4)):
        t = i / 4
        image = view.copy()
        for since, shade in changes:
            if t >= since:
                image[10:20, 10:20] = shade
        yield StampedPose(ns(t), Pose(1.0, 0.0))
        yield Frame(ns(t), lambda image=image: image)  # type: ignore[misc]


def watch(events: Iterator[Frame | StampedPose], captioner: RecordingCaptioner, batch: int = 1) -> list[str]:
    describer = Describer(captioner, Remembering('r'), StillScene())
    found = list(observations(events, describer, batch=batch))
    assert len(found) == describer.captioned + describer.repeated + describer.uncaptioned
    return [o.memory.caption for o in found]


@pytest.mark.parametrize('batch', [1, 2, 10])
def test_where_nothing_changes_the_captioner_rests(batch: int):
    captioner = BatchCaptioner()
    captions = watch(standing(30, [(15, 0)]), captioner, batch)
    assert captions == ['Call 1.'] * 5 + ['Call 2.'] * 5
    assert len(captioner.asked) == 2


def test_what_a_captioner_failed_on_is_tried_again_though_nothing_changes():
    captioner = RecordingCaptioner(fail_at=[1, 2, 3])
    describer = Describer(captioner, Remembering('r'), StillScene())
    found = list(observations(standing(15), describer))
    assert [o.memory.caption for o in found] == [UNCAPTIONED, UNCAPTIONED, 'Call 4.', 'Call 4.', 'Call 4.']
    assert [len(o.images) for o in found] == [2, 0, 2, 2, 2], 'the second shows what the first does'
    assert (describer.captioned, describer.repeated, describer.uncaptioned) == (1, 2, 2)


def recording(
    seconds: float, start: float = 0.0, pose_delay_s: float = 0.0, rate_hz: int = 10
) -> Iterator[Frame | StampedPose]:
    """A robot that drives along x at 1 m/s; poses at 2 Hz."""
    events: list[tuple[float, Frame | StampedPose]] = []
    for i in range(round(seconds * rate_hz)):
        t = start + i / rate_hz
        events.append((t, Frame(ns(t), lambda: grey(1))))
    for i in range(round(seconds * 2) + 1):
        t = start + i / 2
        events.append((t + pose_delay_s, pose(t, t)))
    return (event for _, event in sorted(events, key=lambda item: item[0]))


def collect(
    events: Iterator[Frame | StampedPose], captioner: RecordingCaptioner | None = None
) -> list[Observation]:
    return list(observations(events, Describer(captioner or RecordingCaptioner(), Remembering('r'))))


@pytest.mark.parametrize('pose_delay_s', [0.0, 0.3, 1.5])
def test_recording_becomes_placed_observations_even_if_poses_come_late(pose_delay_s: float):
    found = [o.memory for o in collect(recording(10, pose_delay_s=pose_delay_s))]
    assert [memory.start_ns for memory in found] == [ns(0), ns(3), ns(6), ns(9)]
    assert [m.pose.x for m in found if m.pose is not None] == pytest.approx([1.25, 4.25, 7.25, 9.25])
    assert [m.travelled for m in found] == pytest.approx([2.9, 2.9, 2.9, 0.9])


def test_observations_come_while_the_recording_is_read():
    events = recording(1_000)
    first = next(iter(observations(events, Describer(RecordingCaptioner(), Remembering('r')))))
    assert first.memory.start_ns == T0
    following = next(events)
    assert following.stamp_ns < ns(7)


def test_recording_without_poses_is_unplaced():
    frames = (event for event in recording(4) if isinstance(event, Frame))
    assert [o.memory.pose for o in collect(frames)] == [None, None]


@pytest.mark.parametrize('poses_first', [False, True])
def test_recording_that_starts_over_keeps_the_poses_of_both_runs(poses_first: bool):
    def twice() -> Iterator[Frame | StampedPose]:
        yield from recording(4)
        again = list(recording(2, start=-50))
        if poses_first:
            again.sort(key=lambda event: (event.stamp_ns, isinstance(event, Frame)))
        yield from again

    found = [o.memory for o in collect(twice())]
    assert [m.start_ns for m in found] == [ns(0), ns(3), ns(-50)]
    assert [m.pose.x for m in found if m.pose is not None] == pytest.approx([1.25, 3.25, -49.25])


def test_configuration_is_used():
    describer = Describer(RecordingCaptioner(), Remembering('r', 'm', keyframes=1))
    found = list(observations(recording(3), describer, SegmenterConfig(length_s=1.0)))
    assert len(found) == 3
    assert {len(o.images) for o in found} == {1}
    assert {o.memory.map_id for o in found} == {'m'}


def test_captioner_that_fails_once_is_asked_again(caplog: pytest.LogCaptureFixture):
    captioner = RecordingCaptioner(fail_at=[1])
    found = collect(recording(6), captioner)
    assert [o.memory.caption for o in found] == ['Call 2.', 'Call 3.']
    assert 'the server is gone; start it' in caplog.text


def test_segment_that_cannot_be_captioned_is_kept_and_the_rest_goes_on():
    captioner = RecordingCaptioner(fail_at=[1, 2, 3])
    found = collect(recording(12), captioner)
    # Twice for the first, then once each until it works again.
    assert [o.memory.caption for o in found] == [UNCAPTIONED, UNCAPTIONED, 'Call 4.', 'Call 5.']
    assert [o.memory.captioner for o in found] == ['', '', 'recording', 'recording']
    assert all(o.memory.pose is not None and o.images for o in found)


@pytest.mark.parametrize('batch', [1, 4])
def test_a_dead_server_costs_one_try_more_however_many_segments_come_together(batch: int):
    captioner = RecordingCaptioner(fail_at=range(100))
    found = list(observations(recording(12), Describer(captioner, Remembering('r')), batch=batch))
    assert [o.memory.caption for o in found] == [UNCAPTIONED] * 4
    assert len(captioner.asked) == 5


def test_nothing_in_nothing_out():
    assert collect(iter([])) == []
    assert collect(iter([pose(0, 1.0)])) == []


def test_a_captioner_that_goes_by_time_is_told_the_time_of_the_segment():
    class Timed(RecordingCaptioner):
        def describe(self, images: Sequence[Bgr]) -> Caption:
            start_ns, end_ns = self.spans[-1]
            return Caption(f'{len(images)} frames from {start_ns - T0} to {end_ns - T0}.')

    placed = place(segment(1.0, 1.5, 2.0, end=2.4), buffer(pose(1.0, 0.0), pose(3.0, 1.0)))
    observation = Describer(Timed(), Remembering('robbie')).observe_all([placed])[0]
    assert observation.memory.caption == f'3 frames from {NS} to {round(2.4 * NS)}.'


def test_what_a_captioner_breaks_on_never_gets_the_caption_of_the_one_before():
    class Breaking(RecordingCaptioner):
        def describe(self, images: Sequence[Bgr]) -> Caption:
            self.asked.append(list(images))
            if len(self.asked) == 2:
                raise KeyError('not a CaptionerFailed')
            return Caption(f'Call {len(self.asked)}.')

    describer = Describer(Breaking(), Remembering('r'), StillScene())
    white, black = (np.full((48, 64, 3), shade, np.uint8) for shade in (255, 0))
    here, there = (buffer(pose(t, x), pose(t + 2, x)) for t, x in ((0, 0.0), (3, 9.0)))
    assert describer.observe_all([place(segment(0, 1, image=white), here)])[0].memory.caption == 'Call 1.'
    with pytest.raises(KeyError):
        describer.observe_all([place(segment(3, 4, image=black), there)])
    later = place(segment(4.5, 5, image=black), there)
    assert describer.observe_all([later])[0].memory.caption == 'Call 3.'
