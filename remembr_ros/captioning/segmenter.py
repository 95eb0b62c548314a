"""Cuts a stream of frames into segments of a few seconds (ReMEmbR, section III-A)."""

import logging
import statistics
from collections import deque
from dataclasses import dataclass

from remembr_ros.captioning.frame_choice import sharpness
from remembr_ros.errors import InvalidRequest
from remembr_ros.images import Bgr, Frame
from remembr_ros.timestamps import NS

_log = logging.getLogger(__name__)
_INTERVALS = 15  # intervals between frames that the usual one is the median of
_SLOW_CAMERA = 3.0  # a gap has at least so many usual intervals: a camera at 0.5 Hz has no gaps of 2 s
# A frame that is older than the one before by no more than this, or than the interval of a slow camera, came
# out of order and is passed over; by more: the clock jumped back, which ends a segment.
_LATE_NS = NS // 10
_SWAPPED = 1.5  # a frame that swapped places with its neighbour is up to this many usual intervals late


@dataclass(frozen=True, slots=True)
class SegmenterConfig:
    """How frames become segments.

    :param length_s: a segment spans less than this [s]
    :param rate_hz: frames that are decoded and kept, per second of a segment
    :param max_gap_s: a longer time without frames ends a segment, unless the camera is that slow [s]
    :raises InvalidRequest: a value makes no sense
    """

    length_s: float = 3.0
    rate_hz: float = 2.0
    max_gap_s: float = 1.5

    def __post_init__(self) -> None:
        for name in ('length_s', 'rate_hz', 'max_gap_s'):
            if not 0.0 < getattr(self, name) < 1e6:
                raise InvalidRequest(f'{name} is {getattr(self, name)}; it must be positive and below 1e6')


@dataclass(frozen=True, slots=True, eq=False)
class SampledFrame:
    """A frame that was decoded, with its :func:`~remembr_ros.captioning.frame_choice.sharpness`."""

    stamp_ns: int
    image: Bgr
    sharpness: float


@dataclass(frozen=True, slots=True, eq=False)
class Segment:
    """A stretch of time without gaps, and the frames that were sampled from it.

    :param start_ns: stamp of the first sampled frame
    :param end_ns: stamp of the last frame, sampled or not
    :param frames: at least one, in order of time
    """

    start_ns: int
    end_ns: int
    frames: tuple[SampledFrame, ...]


class Segmenter:
    """Cuts a stream of frames into segments.

    Frames are sampled on a grid of time from the start of the segment: the first frame at or after each grid
    point is decoded, the others never are. A frame that cannot be decoded is replaced by the next one.
    """

    def __init__(self, config: SegmenterConfig | None = None) -> None:
        self.adjust(config or SegmenterConfig())
        self._intervals: deque[int] = deque(maxlen=_INTERVALS)
        self._frames: list[SampledFrame] = []
        self._origin_ns: int | None = None  # of the grid; None: no segment is open
        self._next_ns = 0  # the grid point that waits for a frame
        self._last_ns = 0
        self.dropped = 0  # how many frames could not be decoded
        self.problem = ''  # why the last frame could not be decoded; empty: it could

    @property
    def is_open(self) -> bool:
        """Whether a segment has begun."""
        return self._origin_ns is not None

    def adjust(self, config: SegmenterConfig) -> None:
        """Go by other numbers from the next frame on, within the open segment, too."""
        self._length_ns = round(config.length_s * NS)
        self._period_ns = max(1, round(NS / config.rate_hz))
        self._max_gap_ns = round(config.max_gap_s * NS)

    def add(self, frame: Frame) -> Segment | None:
        """Take the next frame; return the segment that it ends, if any. That frame starts the next one."""
        stamp_ns = frame.stamp_ns
        finished = None
        if self._origin_ns is not None:
            interval_ns = stamp_ns - self._last_ns
            usual_ns = statistics.median_low(self._intervals) if self._intervals else 0
            if -max(_LATE_NS, round(_SWAPPED * usual_ns)) <= interval_ns <= 0:
                return None
            longest_ns = max(self._max_gap_ns, round(_SLOW_CAMERA * usual_ns))
            too_long = stamp_ns - self._origin_ns >= self._length_ns
            if too_long or not 0 <= interval_ns <= longest_ns:
                finished = self.flush()
            if interval_ns > 0:
                self._intervals.append(interval_ns)
        if self._origin_ns is None:
            self._origin_ns = self._next_ns = stamp_ns
        self._last_ns = stamp_ns
        if stamp_ns >= self._next_ns:
            self._sample(frame)
        return finished

    def flush(self) -> Segment | None:
        """End the open segment and return it; None if there is none, or nothing in it could be decoded."""
        frames, self._frames = tuple(self._frames), []
        self._origin_ns = None
        return Segment(frames[0].stamp_ns, self._last_ns, frames) if frames else None

    def _sample(self, frame: Frame) -> None:
        assert self._origin_ns is not None
        try:
            image = frame.decode()
        except ValueError as error:
            self.dropped += 1
            self.problem = str(error)
            _log.log(
                logging.WARNING if self.dropped == 1 else logging.DEBUG,
                'the frame at %d ns is left out: %s',
                frame.stamp_ns,
                error,
            )
            return
        self.problem = ''
        self._frames.append(SampledFrame(frame.stamp_ns, image, sharpness(image)))
        periods = (frame.stamp_ns - self._origin_ns) // self._period_ns + 1
        self._next_ns = self._origin_ns + periods * self._period_ns
