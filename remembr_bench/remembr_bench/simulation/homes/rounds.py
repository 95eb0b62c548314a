"""The robot's drive through a home: from stop to stop through the doors, turning around at each stop."""

import math
from collections.abc import Iterator

from remembr_bench.simulation.homes.home import Visit
from remembr_ros.geometry import Pose, wrap_angle
from remembr_ros.timestamps import NS

SPEED_M_PER_S = 0.5
TURN_RAD_PER_S = math.radians(30.0)

_Leg = tuple[float, Pose, float]
"""How long it takes [s], the pose at its end, by how much the robot turns on it [rad]."""


def drive(visit: Visit, rate_hz: float) -> Iterator[tuple[int, Pose]]:
    """Yield the stamps [ns] of the frames of a visit, and where base_link is at each, in the map frame."""
    legs = list(_legs(visit))
    before, since_s, number = legs[0][1], 0.0, 0
    for length_s, end, turn in legs:
        while (into_s := number / rate_hz - since_s) < length_s:
            part = into_s / length_s
            x, y = (a + (b - a) * part for a, b in zip(before.position[:2], end.position[:2], strict=True))
            yaw = wrap_angle(end.yaw - turn * (1.0 - part))
            yield visit.start_ns + round(number * NS / rate_hz), Pose(x, y, 0.0, yaw)
            number += 1
        before, since_s = end, since_s + length_s


def arrival(visit: Visit) -> tuple[int, Pose]:
    """Return when a visit is over [ns], and where the robot is then."""
    legs = list(_legs(visit))
    return visit.start_ns + round(sum(length_s for length_s, _, _ in legs) * NS), legs[-1][1]


def _legs(visit: Visit) -> Iterator[_Leg]:
    yaw = visit.yaw
    yield 0.0, Pose(*visit.corners[0][:2], yaw=yaw), 0.0
    following = (*visit.corners[1:], visit.corners[-1])
    for (x, y, turns), (to_x, to_y, _) in zip(visit.corners, following, strict=True):
        far = math.hypot(to_x - x, to_y - y)
        heading = math.atan2(to_y - y, to_x - x) if far > 0.0 else yaw
        least = wrap_angle(heading - yaw)
        turn = least + math.copysign(math.tau * turns, least)
        yaw = heading
        if turn:
            yield abs(turn) / TURN_RAD_PER_S, Pose(x, y, 0.0, yaw), turn
        if far:
            yield far / SPEED_M_PER_S, Pose(to_x, to_y, 0.0, yaw), 0.0
