"""Driving to poses on a simulator's map, with what a robot is off when it says that it is there."""

import math
from collections.abc import Sequence

from remembr_ros.geometry import Pose, wrap_angle
from remembr_ros.simulation.simulator import Simulator

WITHIN_M, WITHIN_RAD = 0.25, 0.25  # of a goal, where Nav2's goal checker is content by default


def drive_to(start: Pose, poses: Sequence[Pose], simulator: Simulator) -> tuple[list[Pose], float]:
    """Drive from pose to pose on the shortest ways; return where the robot ended each time, and how far it
    drove [m]. What it cannot reach ends the drive.

    It stops as soon as it is within WITHIN_M, and turns as little as WITHIN_RAD allows.
    """
    at, driven, ended = start, 0.0, []
    for goal in poses:
        corners = simulator.way((at.x, at.y), (goal.x, goal.y))
        if not corners:
            break
        at, metres = _along(corners, goal, at.yaw)
        driven += metres
        ended.append(at)
    return ended, driven


def _along(corners: Sequence[tuple[float, float]], goal: Pose, yaw: float) -> tuple[Pose, float]:
    """Return where a robot is when it has arrived, and how far it drove [m]."""
    driven, here = 0.0, corners[0]
    for to in corners[1:]:
        leg = math.dist(here, to)
        if leg > 0.0:
            yaw = math.atan2(to[1] - here[1], to[0] - here[0])
        part = 1.0
        if to == corners[-1]:
            part = max(leg - WITHIN_M, 0.0) / leg if leg > 0.0 else 0.0
        driven += part * leg
        here = (here[0] + part * (to[0] - here[0]), here[1] + part * (to[1] - here[1]))
    left = wrap_angle(goal.yaw - yaw)
    turned = wrap_angle(goal.yaw - math.copysign(WITHIN_RAD, left)) if abs(left) > WITHIN_RAD else yaw
    return Pose(*here, 0.0, turned), driven
