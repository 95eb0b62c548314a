"""Conversions between messages and the package's types: pure, exact in time; limits on received texts."""

import math
from collections.abc import Sequence
from typing import Any

from builtin_interfaces.msg import Duration as DurationMsg
from builtin_interfaces.msg import Time as TimeMsg
from geometry_msgs.msg import Point as PointMsg
from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped, Quaternion
from nav_msgs.msg import OccupancyGrid, Odometry
from sensor_msgs.msg import CompressedImage, Image

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Remember
from remembr_ros import errors, images
from remembr_ros.bags.poses import stamp_of
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, Pose, StampedPose, quaternion_from_yaw, yaw_from_quaternion
from remembr_ros.images import Frame
from remembr_ros.memory.search import MAX_LIMIT
from remembr_ros.navigation.grid import MAP_OCCUPIED, Grid
from remembr_ros.timestamps import LATEST_NS, NS

MIN_WIRE_NS = -(2**31) * NS  # the earliest time that builtin_interfaces/Time can hold
MAX_WIRE_NS = LATEST_NS  # the latest time that builtin_interfaces/Time can hold, in January 2038


def time_to_msg(ns: int, *, clamp: bool = False) -> TimeMsg:
    """Return a time as a message.

    :param clamp: true: the nearest time that fits, for the bounds of a search
    :raises InvalidRequest: out of the range of 32 bit seconds (without clamp)
    """
    if clamp:
        ns = min(max(ns, MIN_WIRE_NS), MAX_WIRE_NS)
    if not MIN_WIRE_NS <= ns <= MAX_WIRE_NS:
        raise errors.InvalidRequest(f'time {ns} ns does not fit a ROS message, whose seconds end in 2038')
    sec, nanosec = divmod(ns, NS)
    return TimeMsg(sec=sec, nanosec=nanosec)


def time_from_msg(msg: TimeMsg) -> int:
    """Return nanoseconds since the epoch."""
    return int(msg.sec * NS + msg.nanosec)


def duration_to_msg(seconds: float) -> DurationMsg:
    """Return a duration as a message, cut to the range that it can hold.

    :raises InvalidRequest: not a number
    """
    if math.isnan(seconds):
        raise errors.InvalidRequest('a duration is not a number')
    limit = float(2**31 - 1)
    sec, nanosec = divmod(round(min(max(seconds, -limit), limit) * NS), NS)
    return DurationMsg(sec=sec, nanosec=nanosec)


def duration_from_msg(msg: DurationMsg) -> float:
    """Return seconds."""
    return float(msg.sec + msg.nanosec / NS)


def pose_to_msg(pose: Pose) -> PoseMsg:
    """Return a pose as a message, turned about z only."""
    x, y, z, w = quaternion_from_yaw(pose.yaw)
    return PoseMsg(
        position=PointMsg(x=float(pose.x), y=float(pose.y), z=float(pose.z)),
        orientation=Quaternion(x=x, y=y, z=z, w=w),
    )


def pose_from_msg(msg: PoseMsg) -> Pose:
    """Return position and heading; numbers that are not finite come through."""
    p, q = msg.position, msg.orientation
    return Pose(p.x, p.y, p.z, yaw_from_quaternion(q.x, q.y, q.z, q.w))


def stamped_pose_to_msg(stamped: StampedPose) -> PoseStamped:
    """Return a stamped pose as a message."""
    msg = PoseStamped(pose=pose_to_msg(stamped.pose))
    msg.header.stamp = time_to_msg(stamped.stamp_ns)
    msg.header.frame_id = stamped.frame_id
    return msg


def stamped_pose_from_msg(
    msg: PoseStamped | PoseWithCovarianceStamped | Odometry, arrival_ns: int
) -> StampedPose:
    """Return the pose of a message; its frame is that of the header.

    :param arrival_ns: stands in for a stamp of zero, or one that cannot be
    """
    pose = msg.pose if isinstance(msg, PoseStamped) else msg.pose.pose
    return StampedPose(stamp_of(msg.header, arrival_ns), pose_from_msg(pose), frame_name(msg.header.frame_id))


def frame_name(frame_id: str) -> str:
    """Return the frame without the slash that ROS 1 put in front; 'map' if there is none."""
    return frame_id.lstrip('/') or 'map'


def frame_from_image(msg: Image | CompressedImage, arrival_ns: int) -> Frame:
    """Return an image whose pixels are decoded when they are asked for.

    :param arrival_ns: stands in for a stamp of zero, or one that cannot be
    """
    stamp_ns = stamp_of(msg.header, arrival_ns)

    def decode() -> images.Bgr:
        if isinstance(msg, CompressedImage):
            return images.decode_compressed(msg.format, msg.data)
        big = bool(msg.is_bigendian)
        return images.decode_raw(msg.encoding, msg.width, msg.height, msg.step, big, msg.data)

    return Frame(stamp_ns, decode, msg.header.frame_id)


def grid_from_msg(msg: OccupancyGrid, *, frame_id: str, occupied_from: int = MAP_OCCUPIED) -> Grid:
    """Return the grid of a message.

    :param frame_id: the frame that the robot navigates in
    :param occupied_from: cells of this value and above are occupied
    :raises InvalidRequest: it is in another frame, or the numbers make no grid
    """
    found = frame_name(msg.header.frame_id)
    if found != frame_id:
        raise errors.InvalidRequest(
            f'it is in the frame {found!r}, the robot navigates in {frame_id!r}; set map_frame'
        )
    info = msg.info
    return Grid.from_data(
        msg.data,
        width=info.width,
        height=info.height,
        resolution=info.resolution,
        origin=pose_from_msg(info.origin),
        occupied_from=occupied_from,
    )


def acks_topic(captions: str) -> str:
    """Return the topic of the answers to captions, by theirs in full: where that is remapped, so is this."""
    return f'{captions}/acks'


def point_from_msg(msg: PointMsg) -> Point:
    """Return a point [m]."""
    return (msg.x, msg.y, msg.z)


def point_to_msg(point: Sequence[float]) -> PointMsg:
    """Return a point [m] as a message."""
    x, y, z = point
    return PointMsg(x=float(x), y=float(y), z=float(z))


def map_from_msg(request: Any) -> str | None:
    """Return the map that a request is about; None: any. The empty name is that of the only map."""
    return request.map if request.map or request.use_map else None


MAX_NAME = 200  # characters of a name: robot, map, camera, captioner, frame, asker, id
MAX_TEXT = 60_000  # characters of a caption, and of all that was read in a scene: what the store keeps
MAX_QUERY = 10_000  # characters of a text that is searched for
MAX_SIGNS = 1_000  # texts read in one scene
MAX_KEYFRAMES = 20  # keyframes that come with a caption; the captioner sends at most 10
MAX_KEYFRAME_BYTES = 50_000_000  # of all keyframes of a caption
MAX_REASON = 500  # characters of why a caption is not stored
MAX_IDS = MAX_LIMIT  # ids, or robots, named in one request or response

_LONGER = {'text': MAX_QUERY, 'question': MAX_TEXT, 'caption': MAX_TEXT, 'facts': MAX_TEXT}
_OF_KIND = {Remember.Request: {'text': MAX_TEXT}}
"""How long a field may be that is more than a name: of any message, and of one kind."""

_NO_NAMES = ('scene_text', 'passages', 'keyframes')
"""Lists of texts of a memory, of which the first is checked as a whole and the others are not stored."""


def check_caption(msg: MemoryMsg) -> None:
    """Raise InvalidRequest if a caption is too long to be remembered."""
    check_texts(msg)
    _check('scene_text', len(msg.scene_text), MAX_SIGNS, 'texts')
    _check('scene_text', sum(map(len, msg.scene_text)), MAX_TEXT, 'characters')
    _check('keyframe_images', len(msg.keyframe_images), MAX_KEYFRAMES, 'images')
    size = sum(len(image.data) for image in msg.keyframe_images)
    _check('keyframe_images', size, MAX_KEYFRAME_BYTES, 'bytes')


def check_texts(message: Any) -> None:
    """Raise InvalidRequest if a text of a message, a list of texts or the name of a frame is too long."""
    most = {**_LONGER, **_OF_KIND.get(type(message), {})}
    for field, kind in message.get_fields_and_field_types().items():
        value = getattr(message, field)
        if kind == 'string':
            _check(field, len(value), most.get(field, MAX_NAME), 'characters')
        elif kind == 'geometry_msgs/PoseStamped':
            _check('frame_id', len(value.header.frame_id), MAX_NAME, 'characters')
        elif kind == 'sequence<string>' and field not in _NO_NAMES:
            _check(field, len(value), most.get(field, MAX_IDS), 'texts')
            for text in value:
                _check(field, len(text), MAX_NAME, 'characters')


def _check(field: str, length: int, most: int, unit: str) -> None:
    if length > most:
        raise InvalidRequest(f'{field} has {length} {unit}; at most {most} are taken')
