"""Between messages and the package's own types; pure functions, exact in time."""

import math
from collections.abc import Iterable, Sequence

from builtin_interfaces.msg import Duration as DurationMsg
from builtin_interfaces.msg import Time as TimeMsg
from geometry_msgs.msg import Point as PointMsg
from geometry_msgs.msg import Pose as PoseMsg
from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped, Quaternion
from nav_msgs.msg import Odometry
from sensor_msgs.msg import CompressedImage, Image

from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Recall as RecallSrv
from remembr_ros import errors, images
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.geometry import (
    MAX_COORDINATE,
    Point,
    Pose,
    StampedPose,
    is_place,
    quaternion_from_yaw,
    yaw_from_quaternion,
)
from remembr_ros.images import Frame
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.record import SOURCES, Memory, Observation, memory_id
from remembr_ros.nodes.base.bounds import check_caption
from remembr_ros.timestamps import LATEST_NS, NS, is_stamp

MIN_WIRE_NS = -(2**31) * NS
"""The earliest time that builtin_interfaces/Time can hold."""

MAX_WIRE_NS = LATEST_NS
"""The latest time that builtin_interfaces/Time can hold, in January 2038."""

KINDS = {
    Kind.TEXT: AnswerMsg.TEXT,
    Kind.BINARY: AnswerMsg.BINARY,
    Kind.POSITION: AnswerMsg.POSITION,
    Kind.TIME: AnswerMsg.TIME,
    Kind.DURATION: AnswerMsg.DURATION,
    Kind.NOT_SEEN: AnswerMsg.NOT_SEEN,
}


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
    return msg.sec * NS + msg.nanosec


def stamp_from_msg(msg: TimeMsg, arrival_ns: int) -> int:
    """Return when something was seen [ns]: when it arrived if the stamp was not set, or by no real clock."""
    stamp_ns = time_from_msg(msg)
    return stamp_ns if is_stamp(stamp_ns) else arrival_ns


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
    return msg.sec + msg.nanosec / NS


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
    return StampedPose(
        stamp_from_msg(msg.header.stamp, arrival_ns), pose_from_msg(pose), frame_name(msg.header.frame_id)
    )


def frame_name(frame_id: str) -> str:
    """Return the frame without the slash that ROS 1 put in front; 'map' if there is none."""
    return frame_id.lstrip('/') or 'map'


def frame_from_image(msg: Image | CompressedImage, arrival_ns: int) -> Frame:
    """Return an image whose pixels are decoded when they are asked for.

    :param arrival_ns: stands in for a stamp of zero, or one that cannot be
    """
    stamp_ns = stamp_from_msg(msg.header.stamp, arrival_ns)
    if isinstance(msg, CompressedImage):
        return Frame(stamp_ns, lambda: images.decode_compressed(msg.format, msg.data), msg.header.frame_id)
    return Frame(
        stamp_ns,
        lambda: images.decode_raw(
            msg.encoding, msg.width, msg.height, msg.step, bool(msg.is_bigendian), msg.data
        ),
        msg.header.frame_id,
    )


def memory_to_msg(memory: Memory, keyframes: Iterable[bytes] = ()) -> MemoryMsg:
    """Return a memory as a message.

    :param keyframes: on their way to the store, JPEG
    :raises InvalidRequest: a time that no message can hold
    """
    msg = MemoryMsg(
        id=memory.id,
        robot=memory.robot,
        map_id=memory.map_id,
        start=time_to_msg(memory.start_ns),
        end=time_to_msg(memory.end_ns),
        placed=memory.pose is not None,
        travelled=float(memory.travelled),
        caption=memory.caption,
        scene_text=list(memory.scene_text),
        captioner=memory.captioner,
        camera=memory.camera,
        source=memory.source,
        keyframes=list(memory.keyframes),
        merged=memory.merged,
        distance=math.nan,
        time_offset=math.nan,
    )
    if memory.pose is not None:
        msg.pose = stamped_pose_to_msg(StampedPose(memory.start_ns, memory.pose, memory.frame_id))
    for jpeg in keyframes:
        keyframe = CompressedImage(format='jpeg', data=jpeg)
        keyframe.header.stamp = msg.start
        msg.keyframe_images.append(keyframe)
    return msg


def memory_from_msg(msg: MemoryMsg) -> Memory:
    """Return the memory of a message; an empty id is derived from robot, source, start and camera.

    :raises InvalidRequest: the message makes no sense
    """
    start_ns, end_ns = time_from_msg(msg.start), time_from_msg(msg.end)
    source = msg.source or 'captioner'
    pose = pose_from_msg(msg.pose.pose) if msg.placed else None
    if end_ns < start_ns:
        raise errors.InvalidRequest(f'the memory ends ({end_ns} ns) before it starts ({start_ns} ns)')
    if start_ns < 0:
        raise errors.InvalidRequest(f'the memory starts at {start_ns} ns, before 1970')
    if source not in SOURCES:
        raise errors.InvalidRequest(f'source {source!r} is none of {", ".join(SOURCES)}')
    if pose is not None and not is_place(pose):
        raise errors.InvalidRequest('the pose of the memory is no place; leave placed false without a pose')
    if not math.isfinite(msg.travelled) or msg.travelled < 0.0:
        raise errors.InvalidRequest(f'travelled is {msg.travelled} m')
    return Memory(
        id=msg.id or memory_id(msg.robot, source, start_ns, msg.camera),
        robot=msg.robot,
        start_ns=start_ns,
        end_ns=end_ns,
        caption=msg.caption,
        pose=pose,
        frame_id=frame_name(msg.pose.header.frame_id),
        map_id=msg.map_id,
        travelled=msg.travelled,
        scene_text=tuple(msg.scene_text),
        captioner=msg.captioner,
        camera=msg.camera,
        source=source,
        keyframes=tuple(msg.keyframes),
        merged=max(1, msg.merged),
    )


def observation_to_msg(observation: Observation) -> MemoryMsg:
    """Return an observation as a message with an empty id, for the memory node to store."""
    msg = memory_to_msg(observation.memory, observation.images)
    msg.id = ''
    return msg


def observation_from_msg(msg: MemoryMsg) -> Observation:
    """Return the observation of a message; any names of keyframes are left out.

    :raises InvalidRequest: the message makes no sense
    """
    check_caption(msg)
    msg.keyframes = []
    position = point_from_msg(msg.pose.pose.position)
    # A corrupt pose is none, and what was seen is true without; one of no numbers is refused below.
    msg.placed = msg.placed and not MAX_COORDINATE < max(map(abs, position)) < math.inf
    return Observation(memory_from_msg(msg), tuple(bytes(image.data) for image in msg.keyframe_images))


def hit_to_msg(hit: Hit) -> MemoryMsg:
    """Return a found memory as a message."""
    msg = memory_to_msg(hit.memory)
    msg.score = float(hit.score)
    msg.distance = math.nan if hit.distance_m is None else float(hit.distance_m)
    msg.time_offset = math.nan if hit.offset_s is None else float(hit.offset_s)
    return msg


def hit_from_msg(msg: MemoryMsg) -> Hit:
    """Return the found memory of a message.

    :raises InvalidRequest: the message makes no sense
    """
    return Hit(
        memory_from_msg(msg),
        msg.score,
        None if math.isnan(msg.distance) else msg.distance,
        None if math.isnan(msg.time_offset) else msg.time_offset,
    )


def answer_to_msg(answer: Answer) -> AnswerMsg:
    """Return an answer as a message."""
    msg = AnswerMsg(
        kind=KINDS[answer.kind],
        text=answer.text,
        binary=bool(answer.binary),
        map_id=answer.map_id,
        evidence=[hit_to_msg(hit) for hit in answer.evidence],
        planner=answer.planner,
        llm_calls=answer.cost.llm_calls,
        prompt_tokens=answer.cost.prompt_tokens,
        completion_tokens=answer.cost.completion_tokens,
        latency=float(answer.cost.latency_s),
    )
    if answer.pose is not None:
        stamp_ns = answer.evidence[0].memory.start_ns if answer.evidence else 0
        msg.pose = stamped_pose_to_msg(StampedPose(stamp_ns, answer.pose, answer.frame_id))
    if answer.time_ns is not None:
        msg.time = time_to_msg(answer.time_ns)
    if answer.duration_s is not None:
        msg.duration = duration_to_msg(answer.duration_s)
    return msg


def point_from_msg(msg: PointMsg) -> Point:
    """Return a point [m]."""
    return (msg.x, msg.y, msg.z)


def point_to_msg(point: Sequence[float]) -> PointMsg:
    """Return a point [m] as a message."""
    x, y, z = point
    return PointMsg(x=float(x), y=float(y), z=float(z))


def window_from_msgs(after: TimeMsg, before: TimeMsg) -> Scope:
    """Return the time window of a request, in which a time of zero is no limit."""
    return Scope(after_ns=time_from_msg(after) or None, before_ns=time_from_msg(before) or None)


def recall_error_code(error: errors.RemembrError) -> int:
    """Return the error_code of service Recall, Remember or Forget for an error."""
    if isinstance(error, errors.EmbedderLoading):
        return RecallSrv.Response.LOADING
    if isinstance(error, errors.InvalidRequest):
        return RecallSrv.Response.INVALID_REQUEST
    return RecallSrv.Response.STORE_UNAVAILABLE
