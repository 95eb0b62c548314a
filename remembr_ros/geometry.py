"""Planar poses in a map frame: metres, radians counter-clockwise from the x axis (REP-103)."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

Point = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]  # x, y, z, w, as in geometry_msgs


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


@dataclass(frozen=True, slots=True)
class StampedPose:
    """A pose at a time, in a frame.

    :param stamp_ns: nanoseconds since the Unix epoch (or since the start of a simulation)
    :param frame_id: the frame that the pose refers to, 'map' for a localised robot (REP-105)
    """

    stamp_ns: int
    pose: Pose
    frame_id: str = 'map'


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
    if math.hypot(sine, cosine) < 1e-12:
        return 0.0
    return wrap_angle(math.atan2(sine, cosine))


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
