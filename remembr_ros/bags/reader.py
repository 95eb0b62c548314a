"""A recording as a stream of camera frames and poses."""

import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

from remembr_ros import images
from remembr_ros.bags.frames import Event, FrameStream
from remembr_ros.bags.poses import PoseSource, TopicPoses, stamp_of
from remembr_ros.bags.recording import RawMessage, Recording
from remembr_ros.bags.topics import choose_image_topic, choose_pose_source
from remembr_ros.geometry import MAX_POSITION_STD_M
from remembr_ros.images import Bgr, Frame
from remembr_ros.timestamps import format_iso, is_stamp

_log = logging.getLogger(__name__)


class BagReader(FrameStream):
    """An open recording, a context manager; see :func:`open_bag`."""

    recording: Recording

    def __init__(self, recording: Recording, image_topic: str, poses: PoseSource | None) -> None:
        span, count = (recording.start_ns, recording.end_ns), recording.topics[image_topic].count
        super().__init__(image_topic, poses.name if poses else None, span, count)
        self.recording = recording
        self._poses = poses
        if poses:
            self.hold_s, self.left_out = poses.hold_s, poses.left_out
        self._behind_ns = 0
        self._untimed = 0

    @property
    def datum(self) -> tuple[float, float, float] | None:
        return self._poses.datum if self._poses else None

    def _read(self, besides: Collection[str], hear: Callable[[RawMessage], object]) -> Iterator[Event]:
        topics = {self.image_topic, *(self._poses.topics if self._poses else ())}
        for message in self.recording.messages({*topics, *besides}):
            hear(message)
            if message.topic != self.image_topic:
                if self._poses and message.topic in topics:
                    yield from self._poses.feed(message)
                continue
            frame = self._frame(message)
            if not is_stamp(frame.stamp_ns):
                if not self._untimed:
                    _log.warning('an image is left out: it is of %s', format_iso(frame.stamp_ns))
                self._untimed += 1
                continue
            if self._poses:
                yield from self._poses.at_frame(frame.stamp_ns)
            yield frame

    def close(self) -> None:
        """Close the recording."""
        self.recording.close()

    def __enter__(self) -> 'BagReader':
        return self

    def _frame(self, message: RawMessage) -> Frame:
        try:
            image = self.recording.deserialize(message)
        except ValueError as error:
            # As old as the last one: another time would cut the segment here.
            return Frame(message.log_ns - self._behind_ns, _garbage(str(error)))
        stamp_ns = stamp_of(image.header, message.log_ns)
        self._behind_ns = message.log_ns - stamp_ns
        return frame_of(image, stamp_ns)


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
        # What the clock of the poses says is known before the first image is read.
        for message in islice(recording.messages(source.topics if source else ()), 1):
            recording.deserialize_or_skip(message)
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


def _garbage(reason: str) -> Any:
    def decode() -> Bgr:
        raise ValueError(reason)

    return decode
