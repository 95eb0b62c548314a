"""Turns segments into observations: placed where the frames were taken, then described."""

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from remembr_ros.captioning.captioners.captioner import Caption, Captioner, Clip
from remembr_ros.captioning.placer import PlacedSegment, Placer
from remembr_ros.captioning.pose_buffer import PoseBuffer
from remembr_ros.captioning.segmenter import Segment, Segmenter, SegmenterConfig
from remembr_ros.captioning.still_scene import StillScene
from remembr_ros.errors import CaptionerFailed
from remembr_ros.geometry import Lost, StampedPose
from remembr_ros.images import Frame, encode_jpeg, scaled_down
from remembr_ros.memory.model.record import UNCAPTIONED, Memory, Observation, memory_id

_log = logging.getLogger(__name__)
KEYFRAME_QUALITY = 90  # of the JPEGs, 1 to 100
KEYFRAME_WIDTH = 640  # wider frames are reduced to this [px]


@dataclass(frozen=True, slots=True)
class Remembering:
    """Who remembers a segment, and what is kept beside its caption.

    :param robot: name of the robot
    :param map_id: the map that poses refer to
    :param camera: which camera it is; empty if the robot has only one
    :param keyframes: how many of the sharpest frames go along
    """

    robot: str
    map_id: str = ''
    camera: str = ''
    keyframes: int = 2


class Describer:
    """Makes observations of segments. Whatever the captioner does, each segment becomes one.

    A segment that the captioner fails on is tried once more, unless it failed on the one before, too: a dead
    server costs time. Then place, time, keyframes and what could be read are kept, with UNCAPTIONED for a
    caption. Used by one thread at a time.

    :param still: where nothing has changed the last caption is said again; None: every segment is captioned
    """

    def __init__(
        self, captioner: Captioner, remembering: Remembering, still: StillScene | None = None
    ) -> None:
        self.captioner = captioner
        self.remembering = remembering  # may be replaced at any time
        self._still = still
        self._counting = threading.Lock()
        self._last: Caption | CaptionerFailed = Caption('')
        self.captioned = 0  # how many segments the captioner described
        self.repeated = 0  # how many showed nothing new
        self.uncaptioned = 0  # how many are kept without a caption
        self.problem = ''
        """Why the captioner failed on the last one that it was asked for; empty: it did not."""

    def observe_all(self, segments: Sequence[PlacedSegment]) -> list[Observation]:
        """Return what is remembered of segments, captioned together; takes as long as the captioner does.

        :param segments: at least one, in the order of time
        """
        unchanged = [self._is_unchanged(placed) for placed in segments]
        asked = [not same for same in unchanged]
        # What it failed on is still there: it is asked again, once.
        asked[0] |= isinstance(self._last, CaptionerFailed)
        last = self._last
        if any(asked):
            # Whatever else a captioner raises: what was said before is not said of what it broke on.
            self._last = CaptionerFailed('the captioner broke')
        captions = self._captions([p for p, asks in zip(segments, asked, strict=True) if asks])
        observed = []
        for placed, asks, same in zip(segments, asked, unchanged, strict=True):
            last = next(captions) if asks else last
            if isinstance(last, CaptionerFailed):
                # What can be seen in it can be seen in the one before.
                observed.append(self.keep(placed, last.scene_text, with_images=not same))
                continue
            self.captioned += asks
            self.repeated += not asks
            observed.append(self._observation(placed, last, self.captioner.name))
        self._last = last
        return observed

    def keep(
        self, placed: PlacedSegment, scene_text: Sequence[str] = (), *, with_images: bool = True
    ) -> Observation:
        """Return what is remembered of a segment that is not described now; safe to call from any thread.

        `remembr recaption` describes it later by its keyframes.
        """
        with self._counting:
            self.uncaptioned += 1
        observation = self._observation(placed, Caption(UNCAPTIONED, tuple(scene_text)), '')
        return observation if with_images else replace(observation, images=())

    def _is_unchanged(self, placed: PlacedSegment) -> bool:
        if self._still is None:
            return False
        if self._still.is_unchanged(placed):
            return True
        self._still.keep(placed)
        return False

    def _captions(self, segments: Sequence[PlacedSegment]) -> Iterator[Caption | CaptionerFailed]:
        """Yield what the captioner says of each segment, or how it failed."""
        clips = [
            Clip([frame.image for frame in segment.frames], (segment.start_ns, segment.end_ns))
            for segment in (placed.segment for placed in segments)
        ]
        for clip, placed, caption in zip(clips, segments, self.captioner.caption(clips), strict=True):
            outcome, start_ns = caption, placed.segment.start_ns
            # One that failed on the last segment is not tried twice on this one.
            if isinstance(outcome, CaptionerFailed) and not self.problem:
                _log.warning('the segment at %d ns is tried once more: %s', start_ns, outcome)
                (outcome,) = self.captioner.caption([clip])
            if isinstance(outcome, CaptionerFailed):
                _log.error('the segment at %d ns is kept without a caption: %s', start_ns, outcome)
            self.problem = str(outcome) if isinstance(outcome, CaptionerFailed) else ''
            yield outcome

    def _observation(self, placed: PlacedSegment, caption: Caption, captioner: str) -> Observation:
        remembering, segment = self.remembering, placed.segment
        memory = Memory(
            id=memory_id(remembering.robot, 'captioner', segment.start_ns, remembering.camera),
            robot=remembering.robot,
            start_ns=segment.start_ns,
            end_ns=segment.end_ns,
            caption=caption.text,
            pose=placed.pose,
            frame_id=placed.frame_id,
            map_id=remembering.map_id,
            travelled=placed.travelled,
            scene_text=caption.scene_text,
            captioner=captioner,
            camera=remembering.camera,
            source='captioner',
            merged=placed.merged,
        )
        return Observation(memory, _keyframes(segment, remembering.keyframes))


def observations(
    events: Iterable[Frame | StampedPose | Lost],
    describer: Describer,
    config: SegmenterConfig | None = None,
    *,
    poses: PoseBuffer | None = None,
    unplaced: Callable[[str], object] = lambda _: None,
    batch: int = 1,
) -> Iterator[Observation]:
    """Turn a recording into observations, one by one; holds a few segments at a time.

    :param events: frames and poses, roughly in order of time
    :param config: None: the defaults
    :param poses: an empty one; None: one with the defaults
    :param unplaced: is told of each segment without a place why that is
    :param batch: so many segments are described together
    """
    placer = Placer(Segmenter(config), poses or PoseBuffer())
    waiting: list[PlacedSegment] = []

    def wait(placed: list[PlacedSegment]) -> None:
        waiting.extend(placed)
        for segment in placed:
            if segment.pose is None:
                unplaced(segment.why)

    for event in events:
        wait(placer.add(event))
        while len(waiting) >= batch:
            yield from describer.observe_all(waiting[:batch])
            del waiting[:batch]
    wait(placer.flush())
    for start in range(0, len(waiting), batch):
        yield from describer.observe_all(waiting[start : start + batch])


def _keyframes(segment: Segment, n: int) -> tuple[bytes, ...]:
    best_first = sorted(segment.frames, key=lambda frame: -frame.sharpness)[:n]
    smaller = (scaled_down(frame.image, KEYFRAME_WIDTH / frame.image.shape[1]) for frame in best_first)
    return tuple(encode_jpeg(image, KEYFRAME_QUALITY) for image in smaller)
