"""Segments to observations: placed first, where the frames were taken, then described."""

import logging
from collections.abc import Callable, Iterable, Iterator

from remembr_ros.captioning.captioner import Caption, Captioner
from remembr_ros.captioning.placer import PlacedSegment, Placer
from remembr_ros.captioning.pose_buffer import PoseBuffer
from remembr_ros.captioning.segmenter import Segment, Segmenter, SegmenterConfig
from remembr_ros.errors import CaptionerFailed
from remembr_ros.geometry import StampedPose
from remembr_ros.images import Bgr, Frame, encode_jpeg
from remembr_ros.memory.record import Memory, Observation, memory_id

_log = logging.getLogger(__name__)

UNCAPTIONED = '(not captioned)'
"""Caption of a segment that the captioner failed on: place, time and keyframes are kept all the same."""


def describe(
    placed: PlacedSegment,
    captioner: Captioner,
    robot: str,
    map_id: str = '',
    *,
    keyframes: int = 2,
    keyframe_quality: int = 90,
    keyframe_width: int = 640,
) -> Observation:
    """Return what is remembered of a segment. Takes as long as the captioner does.

    :param robot: name of the robot
    :param map_id: the map that the pose refers to
    :param keyframes: how many of the sharpest frames go along
    :param keyframe_quality: of the JPEGs, 1 to 100
    :param keyframe_width: wider frames are reduced to this [px]
    :raises CaptionerFailed: there is no caption; :func:`keep_uncaptioned` keeps the rest
    """
    caption = captioner.caption([frame.image for frame in placed.segment.frames])
    images = _keyframes(placed.segment, keyframes, keyframe_quality, keyframe_width)
    return _observation(placed, caption, captioner.name, robot=robot, map_id=map_id, images=images)


def keep_uncaptioned(
    placed: PlacedSegment,
    robot: str,
    map_id: str = '',
    *,
    keyframes: int = 2,
    keyframe_quality: int = 90,
    keyframe_width: int = 640,
) -> Observation:
    """Return what is remembered of a segment that no caption could be had for; parameters as in describe."""
    images = _keyframes(placed.segment, keyframes, keyframe_quality, keyframe_width)
    return _observation(placed, Caption(UNCAPTIONED), '', robot=robot, map_id=map_id, images=images)


def observations(
    events: Iterable[Frame | StampedPose],
    captioner: Captioner,
    robot: str,
    map_id: str = '',
    *,
    config: SegmenterConfig | None = None,
    on_frame: Callable[[Frame], None] | None = None,
    poses: PoseBuffer | None = None,
) -> Iterator[Observation]:
    """Turn a recording into observations, one by one; holds a few segments at a time.

    A segment that the captioner fails on, twice, is logged and kept without a caption.

    :param events: frames and poses, roughly in order of time
    :param config: None: the defaults
    :param on_frame: called with each frame, for progress
    :param poses: None: a buffer with its defaults
    """
    config = config or SegmenterConfig()
    describer = _Describer(captioner, robot, map_id, config.keyframes)
    placer = Placer(Segmenter(config), poses or PoseBuffer())
    for event in events:
        if on_frame is not None and isinstance(event, Frame):
            on_frame(event)
        yield from map(describer.observe, placer.add(event))
    yield from map(describer.observe, placer.flush())


class _Describer:
    """Describes segments and does not let a captioner that fails stop the rest."""

    def __init__(self, captioner: Captioner, robot: str, map_id: str, keyframes: int) -> None:
        self._captioner = captioner
        self._robot = robot
        self._map_id = map_id
        self._keyframes = keyframes
        self._working = True

    def observe(self, placed: PlacedSegment) -> Observation:
        # One that failed on the last segment is not tried twice on this one: a dead server costs time.
        for last in (False, True) if self._working else (True,):
            try:
                observation = describe(
                    placed, self._captioner, self._robot, self._map_id, keyframes=self._keyframes
                )
            except CaptionerFailed as error:
                _log.log(
                    logging.ERROR if last else logging.WARNING,
                    'the segment at %d ns is %s: %s',
                    placed.segment.start_ns,
                    'kept without a caption' if last else 'tried once more',
                    error,
                )
            else:
                self._working = True
                return observation
        self._working = False
        return keep_uncaptioned(placed, self._robot, self._map_id, keyframes=self._keyframes)


def _observation(
    placed: PlacedSegment,
    caption: Caption,
    captioner: str,
    *,
    robot: str,
    map_id: str,
    images: tuple[bytes, ...],
) -> Observation:
    start_ns = placed.segment.start_ns
    memory = Memory(
        id=memory_id(robot, 'captioner', start_ns),
        robot=robot,
        start_ns=start_ns,
        end_ns=placed.segment.end_ns,
        caption=caption.text,
        pose=placed.pose,
        frame_id=placed.frame_id,
        map_id=map_id,
        travelled=placed.travelled,
        scene_text=caption.scene_text,
        captioner=captioner,
        source='captioner',
    )
    return Observation(memory, images)


def _keyframes(segment: Segment, n: int, quality: int, width: int) -> tuple[bytes, ...]:
    best_first = sorted(segment.sharpest(n), key=lambda frame: -frame.sharpness)
    return tuple(encode_jpeg(_reduced(frame.image, width), quality) for frame in best_first)


def _reduced(image: Bgr, width: int) -> Bgr:
    import cv2

    if image.shape[1] <= width:
        return image
    size = (width, max(1, round(image.shape[0] * width / image.shape[1])))
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA)  # type: ignore[return-value]
