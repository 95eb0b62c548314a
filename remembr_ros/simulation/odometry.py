"""Wheel odometry that drifts, and the localisation that corrects it (REP-105: map -> odom -> base_link)."""

import math
import random
from collections.abc import Sequence
from itertools import pairwise

from remembr_ros.geometry import Pose, wrap_angle

SCALE_ERROR = 0.01  # standard deviation of the error of the wheels' radius, as a part of it
YAW_DRIFT_RAD_PER_M = 0.002
"""Standard deviation of the heading's random walk, per square root of a metre driven."""


def drifting_odometry(poses: Sequence[Pose], rng: random.Random) -> list[Pose]:
    """Return what wheel odometry makes of a drive.

    :param poses: the true poses in the map frame, close together
    :return: as many poses in the odom frame, whose origin is where the robot started
    """
    scale = 1.0 + rng.gauss(0.0, SCALE_ERROR)
    x = y = yaw = 0.0
    drifted = [Pose(0.0, 0.0, 0.0, 0.0)]
    for before, after in pairwise(poses):
        dx, dy = after.x - before.x, after.y - before.y
        forward = scale * (dx * math.cos(before.yaw) + dy * math.sin(before.yaw))
        left = scale * (dy * math.cos(before.yaw) - dx * math.sin(before.yaw))
        x += forward * math.cos(yaw) - left * math.sin(yaw)
        y += forward * math.sin(yaw) + left * math.cos(yaw)
        turned = wrap_angle(after.yaw - before.yaw)
        yaw = wrap_angle(yaw + turned + rng.gauss(0.0, YAW_DRIFT_RAD_PER_M * math.sqrt(math.hypot(dx, dy))))
        drifted.append(Pose(x, y, 0.0, yaw))
    return drifted


def correction(in_map: Pose, in_odom: Pose) -> Pose:
    """Return the transform map -> odom under which both poses of base_link are the same."""
    yaw = wrap_angle(in_map.yaw - in_odom.yaw)
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return Pose(
        in_map.x - (in_odom.x * cosine - in_odom.y * sine),
        in_map.y - (in_odom.x * sine + in_odom.y * cosine),
        0.0,
        yaw,
    )
