"""Poses and transforms between frames: metres, radians counter-clockwise from the x axis (REP-103)."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from remembr_ros.errors import InvalidRequest

Point = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # x, y, z, w, as in geometry_msgs

Transform = tuple[Point, Quaternion]
"""Translation [m] and rotation, of length 1, of a child frame in its parent: p_parent = R p_child + t."""


@dataclass(frozen=True, slots=True)
class Pose:
    """Where a robot is and which way it faces, in a map frame.

    :param x: [m]
    :param y: [m]
    :param z: [m]
    :param yaw: heading [rad], in (-pi, pi]
    """

    x: float
    y: float
    z: float = 0.0
    yaw: float = 0.0

    @property
    def position(self) -> Point:
        return (self.x, self.y, self.z)

    def in_map(self, place: Point) -> Point:
        """Return a place that is given from the pose along its axes [m] in the map."""
        cosine, sine = math.cos(self.yaw), math.sin(self.yaw)
        x, y, z = place
        return (self.x + cosine * x - sine * y, self.y + sine * x + cosine * y, self.z + z)

    def relative(self, place: Point) -> Point:
        """Return a place in the map from the pose along its axes [m]."""
        x, y, z = (a - b for a, b in zip(place, self.position, strict=True))
        cosine, sine = math.cos(self.yaw), math.sin(self.yaw)
        return (cosine * x + sine * y, cosine * y - sine * x, z)


MAX_COORDINATE = 1e9  # [m] No map is larger; a square of it still fits the 32-bit floats of an index


MAX_SPEED_M_S = 300.0
"""[m/s] What is further apart was not driven, nor flown by a robot: a wrong fix, or another map."""


def is_place(pose: Pose) -> bool:
    """Tell whether a robot can be there: what is not finite, or beyond MAX_COORDINATE, is no pose."""
    return math.isfinite(pose.yaw) and all(abs(value) <= MAX_COORDINATE for value in pose.position)


def check_point(point: Point) -> Point:
    """Return the point if it is three finite numbers, none beyond MAX_COORDINATE.

    :raises InvalidRequest: it is not
    """
    try:
        is_point = len(point) == 3 and all(abs(value) <= MAX_COORDINATE for value in point)
    except TypeError:  # texts, or nothing that has a length
        is_point = False
    if not is_point:  # a NaN compares false
        raise InvalidRequest(
            f'{point} is not a position; give x, y and z in metres, at most {MAX_COORDINATE:g} each'
        )
    return point


def listed(position: Any) -> Any:
    """Return a position {'x', 'y', 'z'}, as other programs write it, as a list; anything else as it is."""
    if isinstance(position, Mapping) and {'x', 'y'} <= position.keys() <= {'x', 'y', 'z'}:
        return [position[axis] for axis in 'xyz' if axis in position]
    return position


@dataclass(frozen=True, slots=True)
class StampedPose:
    """A pose at a time, in a frame.

    :param stamp_ns: nanoseconds since the Unix epoch (or since the start of a simulation)
    :param frame_id: the frame that the pose refers to, 'map' for a localised robot (REP-105)
    """

    stamp_ns: int
    pose: Pose
    frame_id: str = 'map'


def can_be_driven(a: StampedPose, b: StampedPose) -> bool:
    """Tell whether a robot gets from one pose to the other in the time between them, a second at least."""
    seconds = max(abs(b.stamp_ns - a.stamp_ns) / 1e9, 1.0)
    return math.dist(a.pose.position, b.pose.position) <= MAX_SPEED_M_S * seconds


@dataclass(frozen=True, slots=True)
class Lost:
    """From a time on it is not known where the robot is, until the next pose: localisation is poor.

    :param stamp_ns: nanoseconds since the Unix epoch
    """

    stamp_ns: int


MAX_POSITION_STD_M = 1.0  # [m] a pose that is less certain than this is none, unless somebody says otherwise


def position_std(covariance: Sequence[float]) -> float:
    """Return the standard deviation of a position in the plane, along its least certain direction [m].

    All zeros, or a negative variance, say that it is not known: that is 0. What is no number is infinite.

    :param covariance: 6 x 6, row by row, of x, y, z and the rotations about them
    """
    xx, xy, yy = covariance[0], covariance[1], covariance[7]
    if not all(map(math.isfinite, (xx, xy, yy))):
        return math.inf
    if xx < 0.0 or yy < 0.0:
        return 0.0
    return math.sqrt((xx + yy) / 2.0 + math.hypot((xx - yy) / 2.0, xy))


def wrap_angle(angle: float) -> float:
    """Return the same direction in (-pi, pi]."""
    wrapped = math.remainder(angle, math.tau)
    return math.pi if wrapped == -math.pi else wrapped


def yaw_from_quaternion(x: float, y: float, z: float, w: float) -> float:
    """Return the heading of the rotated x axis on the x-y plane [rad], in (-pi, pi].

    The quaternion need not be of unit length.
    """
    norm = x * x + y * y + z * z + w * w
    if norm == 0.0:
        return 0.0
    return wrap_angle(math.atan2(2.0 * (w * z + x * y) / norm, 1.0 - 2.0 * (y * y + z * z) / norm))


def quaternion_from_yaw(yaw: float) -> Quaternion:
    """Return the rotation about z by yaw [rad]."""
    return (0.0, 0.0, math.sin(yaw / 2.0), math.cos(yaw / 2.0))


def circular_mean(angles: Iterable[float]) -> float:
    """Return the mean direction [rad] in (-pi, pi]; 0 if there are none or they cancel out."""
    sine = cosine = 0.0
    for angle in angles:
        sine += math.sin(angle)
        cosine += math.cos(angle)
    return 0.0 if math.hypot(sine, cosine) < 1e-12 else wrap_angle(math.atan2(sine, cosine))


def interpolate(a: Pose, b: Pose, fraction: float) -> Pose:
    """Return the pose between a (fraction 0) and b (fraction 1), turning the short way round."""
    return Pose(
        a.x + (b.x - a.x) * fraction,
        a.y + (b.y - a.y) * fraction,
        a.z + (b.z - a.z) * fraction,
        wrap_angle(a.yaw + wrap_angle(b.yaw - a.yaw) * fraction),
    )


def mean_pose(poses: Iterable[Pose]) -> Pose:
    """Return the mean position and the circular mean of the headings.

    :raises ValueError: there are no poses
    """
    poses = list(poses)
    if not poses:
        raise ValueError('the mean of no poses')
    n = len(poses)
    return Pose(
        math.fsum(p.x for p in poses) / n,
        math.fsum(p.y for p in poses) / n,
        math.fsum(p.z for p in poses) / n,
        circular_mean(p.yaw for p in poses),
    )


def distance(a: Point, b: Point) -> float:
    """Return the distance between two points [m]."""
    return math.dist(a, b)


def rotate(rotation: Quaternion, vector: Point) -> Point:
    """Return the vector turned by a rotation of length 1."""
    x, y, z, w = rotation
    a, b, c = vector
    # t = 2 q x v; v' = v + w t + q x t
    tx, ty, tz = 2.0 * (y * c - z * b), 2.0 * (z * a - x * c), 2.0 * (x * b - y * a)
    return (a + w * tx + y * tz - z * ty, b + w * ty + z * tx - x * tz, c + w * tz + x * ty - y * tx)


def compose(a: Transform, b: Transform) -> Transform:
    """Return the pose in A's parent of what b places in A."""
    (ax, ay, az), (x1, y1, z1, w1) = a
    x2, y2, z2, w2 = b[1]
    rx, ry, rz = rotate(a[1], b[0])
    rotation = (
        w1 * x2 + x1 * w2 + y1 * z2 - z1 * y2,
        w1 * y2 - x1 * z2 + y1 * w2 + z1 * x2,
        w1 * z2 + x1 * y2 - y1 * x2 + z1 * w2,
        w1 * w2 - x1 * x2 - y1 * y2 - z1 * z2,
    )
    return (ax + rx, ay + ry, az + rz), rotation


def inverse(transform: Transform) -> Transform:
    """Return the pose of the parent in the child."""
    translation, (x, y, z, w) = transform
    back = (-x, -y, -z, w)
    tx, ty, tz = rotate(back, translation)
    return (-tx, -ty, -tz), back


@dataclass(frozen=True, slots=True)
class RigidTransform:
    """Where a frame is in another one, such as an old map in a new one: p_new = R p_old + t.

    :param translation: the old frame's origin in the new frame [m]
    :param rotation: of the old frame in the new one (x, y, z, w); is brought to length 1
    :raises InvalidRequest: a number is not finite, or the rotation is far from length 1
    """

    translation: Point
    rotation: Quaternion = (0.0, 0.0, 0.0, 1.0)

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, (*self.translation, *self.rotation))):
            raise InvalidRequest(f'{self} is not finite; give numbers in metres and radians')
        length = math.hypot(*self.rotation)
        # Rounded to two digits it is off by a hundredth; more than a tenth is something else than a rotation.
        if abs(length - 1.0) > 0.1:
            raise InvalidRequest(
                f'the rotation {self.rotation} has length {length:.3g}, not 1; give a quaternion as x y z w'
            )
        x, y, z, w = (value / length for value in self.rotation)
        object.__setattr__(self, 'rotation', (x, y, z, w))

    @classmethod
    def parse(cls, numbers: Sequence[float | str]) -> 'RigidTransform':
        """Return the transform of x y yaw [m, rad], or of x y z qx qy qz qw.

        :raises InvalidRequest: these are neither
        """
        try:
            values = [float(number) for number in numbers]
        except ValueError as error:
            raise InvalidRequest(f'{" ".join(map(str, numbers))}: {error}; give numbers') from None
        if len(values) == 3:
            x, y, yaw = values
            if not math.isfinite(yaw):
                raise InvalidRequest(f'{yaw} is not an angle; give radians')
            return cls((x, y, 0.0), quaternion_from_yaw(yaw))
        if len(values) == 7:
            x, y, z, qx, qy, qz, qw = values
            return cls((x, y, z), (qx, qy, qz, qw))
        raise InvalidRequest(
            f'a transform of {len(values)} numbers; give 3 (x y yaw) or 7 (x y z and the quaternion x y z w)'
        )

    def point(self, point: Point) -> Point:
        """Return a point of the old frame in the new one [m]."""
        x, y, z = rotate(self.rotation, point)
        return (x + self.translation[0], y + self.translation[1], z + self.translation[2])

    def pose(self, pose: Pose) -> Pose:
        """Return a pose of the old frame in the new one; a heading that would point straight up becomes 0."""
        x, y, _ = rotate(self.rotation, (math.cos(pose.yaw), math.sin(pose.yaw), 0.0))
        yaw = wrap_angle(math.atan2(y, x)) if math.hypot(x, y) > 1e-9 else 0.0
        return Pose(*self.point(pose.position), yaw)
