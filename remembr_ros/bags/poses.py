"""Poses out of recorded messages: PoseStamped, PoseWithCovarianceStamped, Odometry and NavSatFix."""

import math
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator
from typing import Any

from remembr_ros.bags.recording import RawMessage, Recording, Topic
from remembr_ros.geometry import (
    MAX_COORDINATE,
    MAX_POSITION_STD_M,
    Lost,
    Point,
    Pose,
    Quaternion,
    StampedPose,
    can_be_driven,
    is_place,
    position_std,
    rotate,
    yaw_from_quaternion,
)
from remembr_ros.timestamps import NS, is_stamp

POSE_WITH_COVARIANCE = 'geometry_msgs/msg/PoseWithCovarianceStamped'
POSE_STAMPED = 'geometry_msgs/msg/PoseStamped'
ODOMETRY = 'nav_msgs/msg/Odometry'
NAV_SAT_FIX = 'sensor_msgs/msg/NavSatFix'

ENU_FRAME = 'enu'  # the frame of poses that come from NavSatFix: east, north, up from the first fix

NO_FIX = -1  # sensor_msgs/NavSatStatus.STATUS_NO_FIX

MIN_COURSE_M = 1.0
"""Course over ground is taken over at least this distance; below it a receiver's noise decides."""


AMCL_HOLD_S = 600.0
"""[s] AMCL and its like publish a pose with covariance only while the robot moves."""

GARBAGE = 'damaged, or without finite numbers'
POOR = 'less certain than --max-position-std lets count'


class PoseSource(ABC):
    """Where the robot's poses come from.

    :ivar name: what to print, such as '/pose (PoseStamped)'
    :ivar topics: what it reads
    :ivar datum: latitude, longitude [deg] and altitude [m] of the origin, where poses have one
    :ivar hold_s: how long a pose stays valid while no newer one comes [s]
    :ivar left_out: how many of its messages are no pose, by the reason
    """

    datum: tuple[float, float, float] | None = None
    hold_s = 0.0

    def __init__(self, recording: Recording, name: str, topics: frozenset[str]) -> None:
        self.name = name
        self.topics = topics
        self.left_out: Counter[str] = Counter()
        self._recording = recording

    @abstractmethod
    def feed(self, message: RawMessage) -> Iterator[StampedPose | Lost]:
        """Yield the poses that this message makes known."""

    def at_frame(self, stamp_ns: int) -> Iterator[StampedPose]:
        """Yield the pose at an image, where it comes with images only."""
        return iter(())


class TopicPoses(PoseSource):
    """Poses of a topic of type PoseStamped, PoseWithCovarianceStamped or Odometry, in its own frame.

    :ivar max_position_std_m: less certain poses, by their own covariance, are none; 0: all count [m]
    """

    def __init__(self, recording: Recording, topic: Topic) -> None:
        super().__init__(recording, _title(topic), frozenset({topic.name}))
        self.max_position_std_m = MAX_POSITION_STD_M
        if topic.msgtype == POSE_WITH_COVARIANCE:
            self.hold_s = AMCL_HOLD_S

    def feed(self, message: RawMessage) -> Iterator[StampedPose | Lost]:
        """Yield the message's pose; nothing if it is no place or not readable."""
        received = self._recording.deserialize_or_skip(message)
        if received is None:
            self.left_out[GARBAGE] += 1
            return
        pose = received.pose
        if message.msgtype != POSE_STAMPED:
            pose = received.pose.pose
            if 0.0 < self.max_position_std_m < position_std(received.pose.covariance):
                self.left_out[POOR] += 1
                yield Lost(stamp_of(received.header, message.log_ns))
                return
        position, q = pose.position, pose.orientation
        point = (float(position.x), float(position.y), float(position.z))
        rotation = (float(q.x), float(q.y), float(q.z), float(q.w))
        child = received.child_frame_id if message.msgtype == ODOMETRY else ''
        place = placed(point, rotation, child)
        if not (is_place(place) and all(map(math.isfinite, rotation))):
            self.left_out[GARBAGE] += 1
            return
        yield StampedPose(
            stamp_of(received.header, message.log_ns),
            place,
            received.header.frame_id.lstrip('/') or ('odom' if message.msgtype == ODOMETRY else 'map'),
        )


class FixTrack:
    """Satellite fixes as poses: metres east, north and up of a datum.

    Yaw is the course over ground, counter-clockwise from east; 0 until the robot has moved. A fix that nobody
    can have driven to is left out, unless the next one is near it: then the one before was wrong, and is no
    origin if it was the first.

    :ivar datum: latitude, longitude [deg] and altitude [m] of the origin
    :ivar left_out: how many fixes are no pose, by the reason
    :param datum: None: the first fix
    """

    def __init__(self, datum: tuple[float, float, float] | None = None) -> None:
        self.datum = datum
        self.left_out: Counter[str] = Counter()
        self.why_none = ''
        """Why the last fix was no pose; empty: it was one."""
        self._is_given = datum is not None
        self._anchor: Point | None = None
        self._yaw = 0.0
        self._taken = 0
        self._last: StampedPose | None = None
        self._doubted: StampedPose | None = None

    def pose(self, fix: Any, stamp_ns: int) -> Pose | None:
        """Return the pose of a sensor_msgs/NavSatFix; None where the receiver had no fix."""
        self.why_none = self._objection(fix)
        pose = None if self.why_none else self._place(fix, stamp_ns)
        if self.why_none:
            self.left_out[self.why_none] += 1
        return pose

    def _objection(self, fix: Any) -> str:
        latitude, longitude = float(fix.latitude), float(fix.longitude)
        # Drivers that never set the status leave it unknown, -2 in newer messages.
        if fix.status.status == NO_FIX:
            return f'without a fix (status {NO_FIX})'
        if not (abs(latitude) <= 90.0 and abs(longitude) <= 360.0):  # also refuses NaN
            return 'without a latitude and longitude that can be'
        if latitude == longitude == 0.0:
            return 'of exactly 0, 0, which receivers report before their first fix'
        return ''

    def _place(self, fix: Any, stamp_ns: int) -> Pose | None:
        import pymap3d  # type: ignore[import-untyped]

        latitude, longitude, altitude = float(fix.latitude), float(fix.longitude), float(fix.altitude)
        if not abs(altitude) <= MAX_COORDINATE:  # a fix in two dimensions, NaN
            altitude = self.datum[2] if self.datum else 0.0
        x, y, z = map(float, pymap3d.geodetic2ecef(latitude, longitude, 0.0))
        here = StampedPose(stamp_ns, Pose(x, y, z))
        if self._last and not can_be_driven(self._last, here):
            if not (self._doubted and can_be_driven(self._doubted, here)):
                self._doubted = here
                self.why_none = 'further from the one before than anything drives'
                return None
            if self._taken == 1 and not self._is_given:
                self.datum = self._anchor = None
        self._last, self._doubted = here, None
        self._taken += 1
        if self.datum is None:
            self.datum = (latitude, longitude, altitude)
        east, north, up = (float(m) for m in pymap3d.geodetic2enu(latitude, longitude, altitude, *self.datum))
        if self._anchor is None:
            self._anchor = (east, north, up)
        dx, dy = east - self._anchor[0], north - self._anchor[1]
        if math.hypot(dx, dy) >= MIN_COURSE_M:
            self._yaw = math.atan2(dy, dx)
            self._anchor = (east, north, up)
        return Pose(east, north, up, self._yaw)


class FixPoses(PoseSource):
    """Poses from satellite fixes, see :class:`FixTrack`, in the frame 'enu'; the datum is the first fix."""

    def __init__(self, recording: Recording, topic: Topic) -> None:
        super().__init__(recording, _title(topic), frozenset({topic.name}))
        self._track = FixTrack()
        self.left_out = self._track.left_out

    def feed(self, message: RawMessage) -> Iterator[StampedPose]:
        """Yield the fix's pose; nothing where the receiver had no fix."""
        fix = self._recording.deserialize_or_skip(message)
        if fix is None:
            self.left_out[GARBAGE] += 1
            return
        stamp_ns = stamp_of(fix.header, message.log_ns)
        pose = self._track.pose(fix, stamp_ns)
        if pose is not None:
            self.datum = self._track.datum
            yield StampedPose(stamp_ns, pose, ENU_FRAME)


def stamp_of(header: Any, log_ns: int) -> int:
    """Return the header's stamp [ns]; the time of recording where the header has none that can be."""
    stamp_ns = int(header.stamp.sec) * NS + int(header.stamp.nanosec)
    return stamp_ns if is_stamp(stamp_ns) else log_ns


def placed(point: Point, rotation: Quaternion, frame: str) -> Pose:
    """Return where a frame is and which way it faces.

    Yaw is that of the frame's x axis (REP-103); of an optical frame, whose z axis points into the picture,
    that of z, and for a camera that looks straight down or up that of the picture's upper edge.

    :param frame: the child frame's name; optical frames have 'optical' in it
    """
    if 'optical' not in frame:
        return Pose(*point, yaw_from_quaternion(*rotation))
    norm = math.sqrt(sum(value * value for value in rotation))
    if norm == 0.0:
        return Pose(*point)
    x, y, z, w = (value / norm for value in rotation)
    ahead = rotate((x, y, z, w), (0.0, 0.0, 1.0))
    if math.hypot(ahead[0], ahead[1]) < 1e-3:
        ahead = rotate((x, y, z, w), (0.0, -1.0, 0.0))
    return Pose(*point, math.atan2(ahead[1], ahead[0]))


def _title(topic: Topic) -> str:
    return f'{topic.name} ({topic.msgtype.rsplit("/", 1)[-1]})'
