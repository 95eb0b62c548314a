"""The robot's drive along a building's route: rounded corners, limited speed and acceleration."""

import math
import random

import numpy as np
from numpy.typing import NDArray

from remembr_bench.simulation.building import Building, Waypoint
from remembr_ros.geometry import Pose, wrap_angle

CRUISE_M_PER_S = 0.8
CORNER_M_PER_S = 0.5
ACCELERATION_M_PER_S2 = 0.5
CORNER_RADIUS_M = 1.0

_STEP_M = 0.01

Array = NDArray[np.float64]


class Tour:
    """Where the robot is at each moment of its drive, in the map frame.

    :param building: whose route is driven
    """

    def __init__(self, building: Building) -> None:
        path, dwells = _rounded(building.route)
        self._x, self._y = path[:, 0], path[:, 1]
        headings = np.arctan2(np.diff(self._y), np.diff(self._x))
        self._yaw = np.unwrap(np.append(headings, headings[-1]))
        steps = np.hypot(np.diff(self._x), np.diff(self._y))
        self._s: Array = np.concatenate([[0.0], np.cumsum(steps)])
        speed = self._speed_profile(steps, dwells)
        self._times, self._at = self._schedule(steps, speed, dwells)

    def _speed_profile(self, steps: Array, dwells: dict[int, float]) -> Array:
        """Return the fastest allowed speed at each point of the path [m/s]."""
        limit = np.where(np.abs(np.gradient(self._yaw)) > 1e-4, CORNER_M_PER_S, CRUISE_M_PER_S)
        limit[[0, -1, *dwells]] = 0.0
        for points in (range(1, len(limit)), range(len(limit) - 2, -1, -1)):
            for i in points:
                before = i - 1 if points.step > 0 else i + 1
                gained = 2 * ACCELERATION_M_PER_S2 * steps[min(i, before)]
                limit[i] = min(limit[i], math.sqrt(limit[before] ** 2 + gained))
        return limit

    def _schedule(self, steps: Array, speed: Array, dwells: dict[int, float]) -> tuple[Array, Array]:
        """Return times [s] and path lengths [m]; where the robot stands, two rows."""
        rows = []
        now = 0.0
        for i in range(len(speed)):
            if i:
                now += 2 * steps[i - 1] / (speed[i - 1] + speed[i])
            rows.append((now, self._s[i]))
            if i in dwells:
                now += dwells[i]
                rows.append((now, self._s[i]))
        times, at = np.array(rows).T
        return times, at

    @property
    def duration_s(self) -> float:
        """How long the drive takes."""
        return float(self._times[-1])

    def pose_at(self, t_s: float) -> Pose:
        """Return where base_link is, t_s after the start; before it and after the end the robot stands."""
        s = float(np.interp(t_s, self._times, self._at))
        yaw = float(np.interp(s, self._s, self._yaw))
        return Pose(
            float(np.interp(s, self._s, self._x)), float(np.interp(s, self._s, self._y)), 0.0, wrap_angle(yaw)
        )


def misplaced(pose: Pose, position_m: float, yaw_rad: float, rng: random.Random) -> Pose:
    """Return a pose as a localisation with these standard deviations, of x, y and yaw, reports it."""
    x, y = pose.x + rng.gauss(0.0, position_m), pose.y + rng.gauss(0.0, position_m)
    return Pose(x, y, pose.z, wrap_angle(pose.yaw + rng.gauss(0.0, yaw_rad)))


def _rounded(route: tuple[Waypoint, ...]) -> tuple[Array, dict[int, float]]:
    """Return points 1 cm apart, shape (n, 2), with arcs for corners; and the dwells, index -> [s]."""
    corners = [np.array([stop.x, stop.y]) for stop in route]
    points: list[Array] = []
    dwells: dict[int, float] = {}
    at = corners[0]
    for i, stop in enumerate(route):
        bend = _bend(corners[i - 1], corners[i], corners[i + 1]) if 0 < i < len(route) - 1 else 0.0
        if abs(bend) < 1e-6:
            points += _line(at, corners[i])
            at = corners[i]
            if stop.dwell_s > 0.0:
                dwells[len(points)] = stop.dwell_s
            continue
        into, out = corners[i] - corners[i - 1], corners[i + 1] - corners[i]
        length_in, length_out = float(np.linalg.norm(into)), float(np.linalg.norm(out))
        setback = min(CORNER_RADIUS_M * math.tan(abs(bend) / 2), 0.48 * min(length_in, length_out))
        begin = corners[i] - into / length_in * setback
        points += _line(at, begin)
        points += _arc(begin, into / length_in, bend, setback / math.tan(abs(bend) / 2))
        at = corners[i] + out / length_out * setback
    points.append(at)
    return np.array(points), dwells


def _bend(before: Array, corner: Array, after: Array) -> float:
    """Return by how much the heading changes at a corner [rad], positive to the left."""
    into, out = corner - before, after - corner
    return math.atan2(float(into[0] * out[1] - into[1] * out[0]), float(into @ out))


def _line(start: Array, end: Array) -> list[Array]:
    """Return points from start (included) to end (excluded); none if they are the same."""
    length = float(np.linalg.norm(end - start))
    count = max(1, round(length / _STEP_M)) if length > 1e-9 else 0
    return [start + (end - start) * k / count for k in range(count)]


def _arc(start: Array, heading: Array, bend: float, radius: float) -> list[Array]:
    """Return points of an arc from start (included) to its end (excluded)."""
    left = np.array([-heading[1], heading[0]]) * math.copysign(1.0, bend)
    centre = start + left * radius
    count = max(2, round(abs(bend) * radius / _STEP_M))
    angles = bend * np.arange(count) / count
    (x, y), cosine, sine = -left * radius, np.cos(angles), np.sin(angles)
    return list(centre + np.column_stack([x * cosine - y * sine, x * sine + y * cosine]))
