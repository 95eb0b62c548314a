"""A stream of camera frames and poses, out of whatever was recorded."""

import re
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from remembr_ros.bags.recording import RawMessage, Recording
from remembr_ros.geometry import Lost, StampedPose
from remembr_ros.images import Bgr, Frame

Event = Frame | StampedPose | Lost
Span = tuple[int, int] | None
"""From the first time to the last [ns]."""


class FrameStream(ABC):
    """What frames and poses are read from; a context manager.

    :ivar recording: the recording that is read; None: there is no more in it than frames and poses
    :ivar image_topic: what frames are read from, to print
    :ivar pose_source: where poses come from, to print: 'tf map -> base_link', '/pose (PoseStamped)'; None if
        the recording has none, or none were asked for
    :ivar start_ns: when the first message was recorded, nanoseconds since the Unix epoch
    :ivar end_ns: when the last message was recorded
    :ivar frame_count: number of images
    :ivar hold_s: how long a pose stays valid while no newer one comes, by what its source is [s]
    :ivar left_out: how many messages so far were no pose, by the reason
    :ivar frames_ns: when the first and the last image were taken, of those read so far; None: none was
    :ivar poses_ns: of when the first and the last pose are
    :ivar undecoded: how many of the images that were looked at are no pictures, by the reason
    """

    recording: Recording | None = None
    hold_s = 0.0

    def __init__(self, image_topic: str, pose_source: str | None, span: tuple[int, int], count: int) -> None:
        self.image_topic, self.pose_source = image_topic, pose_source
        (self.start_ns, self.end_ns), self.frame_count = span, count
        self.left_out: Counter[str] = Counter()
        self.frames_ns: Span = None
        self.poses_ns: Span = None
        self.undecoded: Counter[str] = Counter()
        self._reasons: dict[str, str] = {}

    @property
    def datum(self) -> tuple[float, float, float] | None:
        """Latitude and longitude [deg] and altitude [m] of the origin of poses that are satellite fixes.

        It is the first fix; None before that has been read, and for other poses.
        """
        return None

    @abstractmethod
    def _read(self, besides: Collection[str], hear: Callable[[RawMessage], object]) -> Iterator[Event]:
        """Yield what :meth:`events` does."""

    def events(
        self, besides: Collection[str] = (), hear: Callable[[RawMessage], object] = lambda _: None
    ) -> Iterator[Event]:
        """Yield frames and poses in the order in which they were recorded, one at a time.

        Stamps are those of the headers; the time of recording where a header has none. To be called once.

        :param besides: further topics that are read
        :param hear: takes every message before what it makes known is yielded
        :raises BagUnreadable: the recording is damaged from here on
        """
        for event in self._read(besides, hear):
            if isinstance(event, Frame):
                self.frames_ns = _with(self.frames_ns, event.stamp_ns)
                yield replace(event, decode=self._counted(event.decode))
                continue
            if isinstance(event, StampedPose):
                self.poses_ns = _with(self.poses_ns, event.stamp_ns)
            yield event

    def close(self) -> None:  # noqa: B027  not everything that is read has to be closed
        """Let go of the files."""

    def __enter__(self) -> 'FrameStream':
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _counted(self, decode: Callable[[], Bgr]) -> Callable[[], Bgr]:
        def counting() -> Bgr:
            try:
                return decode()
            except ValueError as error:
                # Of those that differ in their numbers only, the first stands for all.
                text = str(error)
                self.undecoded[self._reasons.setdefault(re.sub(r'\d+', '', text), text)] += 1
                raise

        return counting


def _with(span: Span, stamp_ns: int) -> Span:
    return (min(span[0], stamp_ns), max(span[1], stamp_ns)) if span else (stamp_ns, stamp_ns)
