"""A recording as a stream of camera frames and poses."""

import logging
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from remembr_ros import images
from remembr_ros.bags.poses import POOR, PoseSource, TopicPoses, stamp_of
from remembr_ros.bags.recording import RawMessage, Recording
from remembr_ros.bags.topics import choose_image_topic, choose_pose_source
from remembr_ros.geometry import MAX_POSITION_STD_M, Lost, StampedPose
from remembr_ros.images import Bgr, Frame
from remembr_ros.timestamps import format_iso, is_stamp

_log = logging.getLogger(__name__)

Placing = StampedPose | Lost
Span = tuple[int, int] | None
"""From the first time to the last [ns]."""


class BagReader:
    """An open recording, a context manager; see :func:`open_bag`.

    :ivar recording: what is read
    :ivar image_topic: the topic that frames are read from
    :ivar pose_source: where poses come from, to print: 'tf map -> base_link', '/pose (PoseStamped)'; None
        if the recording has none, or none were asked for
    :ivar start_ns: when the first message was recorded, nanoseconds since the Unix epoch
    :ivar end_ns: when the last message was recorded
    :ivar frame_count: number of images on the topic
    :ivar frames_ns: when the first and the last image were taken, of those read so far; None: none was
    :ivar poses_ns: of when the first and the last pose are
    :ivar undecoded: how many of the images that were looked at are no pictures, by the reason
    """

    def __init__(self, recording: Recording, image_topic: str, poses: PoseSource | None) -> None:
        self.recording = recording
        self._poses = poses
        self.image_topic = image_topic
        self.pose_source = poses.name if poses else None
        self.start_ns = recording.start_ns
        self.end_ns = recording.end_ns
        self.frame_count = recording.topics[image_topic].count
        self.frames_ns: Span = None
        self.poses_ns: Span = None
        self.undecoded: Counter[str] = Counter()
        self._behind_ns = 0
        self._untimed = 0

    @property
    def datum(self) -> tuple[float, float, float] | None:
        """Latitude and longitude [deg] and altitude [m] of the first fix, the origin of poses from NavSatFix.

        None for other poses, and before the first fix has been read.
        """
        return self._poses.datum if self._poses else None

    @property
    def uncertain(self) -> int:
        """How many poses so far were none, because localisation was poor."""
        return self.left_out[POOR]

    @property
    def left_out(self) -> Counter[str]:
        """How many messages so far were no pose, by the reason."""
        return self._poses.left_out if self._poses else Counter()

    @property
    def hold_s(self) -> float:
        """How long a pose stays valid while no newer one comes, by what its source is [s]."""
        return self._poses.hold_s if self._poses else 0.0

    def events(
        self, besides: Collection[str] = (), hear: Callable[[RawMessage], object] = lambda _: None
    ) -> Iterator[Frame | StampedPose | Lost]:
        """Yield frames and poses in the order in which they were recorded, one at a time.

        Stamps are those of the headers; the time of recording where a header has none. To be called once.

        :param besides: further topics that are read
        :param hear: takes every message before what it makes known is yielded
        :raises BagUnreadable: the recording is damaged from here on
        """
        topics = {self.image_topic, *(self._poses.topics if self._poses else ())}
        for message in self.recording.messages({*topics, *besides}):
            hear(message)
            if message.topic != self.image_topic:
                if self._poses and message.topic in topics:
                    yield from self._noted(self._poses.feed(message))
                continue
            frame = self._frame(message)
            if not is_stamp(frame.stamp_ns):
                if not self._untimed:
                    _log.warning('an image is left out: it is of %s', format_iso(frame.stamp_ns))
                self._untimed += 1
                continue
            if self._poses:
                yield from self._noted(self._poses.at_frame(frame.stamp_ns))
            self.frames_ns = _with(self.frames_ns, frame.stamp_ns)
            yield frame

    def __enter__(self) -> 'BagReader':
        return self

    def __exit__(self, *_: object) -> None:
        self.recording.close()

    def _noted(self, poses: Iterator[Placing]) -> Iterator[Placing]:
        for pose in poses:
            if isinstance(pose, StampedPose):
                self.poses_ns = _with(self.poses_ns, pose.stamp_ns)
            yield pose

    def _frame(self, message: RawMessage) -> Frame:
        try:
            image = self.recording.deserialize(message)
        except ValueError as error:
            # As old as the last one: another time would cut the segment here.
            return Frame(message.log_ns - self._behind_ns, self._counted(_garbage(str(error))))
        stamp_ns = stamp_of(image.header, message.log_ns)
        self._behind_ns = message.log_ns - stamp_ns
        frame = frame_of(image, stamp_ns)
        return replace(frame, decode=self._counted(frame.decode))

    def _counted(self, decode: Callable[[], Bgr]) -> Callable[[], Bgr]:
        def counting() -> Bgr:
            try:
                return decode()
            except ValueError as error:
                self.undecoded[str(error)] += 1
                raise

        return counting


def open_bag(
    path: Path | str,
    image_topic: str | None = None,
    pose_topic: str | None = None,
    tf: tuple[str, str] | None = None,
    poses: bool = True,
    *,
    max_position_std_m: float = MAX_POSITION_STD_M,
) -> BagReader:
    """Open a recording and find out what to read from it.

    :param path: a rosbag2 directory (mcap or sqlite3), a .mcap or .db3 file, or a ROS 1 .bag
    :param image_topic: the camera's topic, where several fit
    :param pose_topic: the topic of the robot's pose; None: chosen as topics.choose_pose_source says
    :param tf: take the pose of the second frame in the first from TF
    :param poses: False: read frames only
    :param max_position_std_m: poses that their covariance calls less certain are none; 0: all count [m]
    :raises BagUnreadable: missing, damaged, empty, without images, or several topics fit; the message lists
        what there is and names the option to choose
    :raises InvalidRequest: both pose_topic and tf were given, or tf names one frame twice
    """
    recording = Recording(path)
    with ExitStack() as undo:
        undo.callback(recording.close)
        topic, frame_id = choose_image_topic(recording, image_topic)
        source = choose_pose_source(recording, frame_id, pose_topic, tf) if poses else None
        if isinstance(source, TopicPoses):
            source.max_position_std_m = max_position_std_m
        undo.pop_all()
    return BagReader(recording, topic.name, source)


def frame_of(image: Any, stamp_ns: int) -> Frame:
    """Return the frame of a sensor_msgs/Image or CompressedImage."""

    def decode() -> Bgr:
        if hasattr(image, 'format'):
            return images.decode_compressed(image.format, image.data)
        return images.decode_raw(
            image.encoding, image.width, image.height, image.step, bool(image.is_bigendian), image.data
        )

    return Frame(stamp_ns, decode, image.header.frame_id.lstrip('/'))


def _with(span: Span, stamp_ns: int) -> Span:
    return (min(span[0], stamp_ns), max(span[1], stamp_ns)) if span else (stamp_ns, stamp_ns)


def _garbage(reason: str) -> Any:
    def decode() -> Bgr:
        raise ValueError(reason)

    return decode
