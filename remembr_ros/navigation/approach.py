"""How to stand before what was seen."""

import math

import numpy as np

from remembr_ros.geometry import Pose, wrap_angle
from remembr_ros.navigation.grid import Grid

# How far ahead a thing is taken to be where no map tells: a common distance indoors, and the direction of a
# thing changes little with it.
AHEAD_M = 2.0
SIGHT_M = 6.0  # how far ahead the map is asked for an obstacle that the camera looked at
AT_LEAST_M = 0.3  # from nearer than this a thing has no direction worth turning to


def place_seen(pose: Pose, grid: Grid | None = None) -> tuple[float, float]:
    """Return where the thing is that was seen from a pose, x and y [m].

    That is the first occupied cell of the map in the direction of view, else AHEAD_M ahead.

    :param pose: of the robot when it saw it, which looks ahead
    """
    cosine, sine = math.cos(pose.yaw), math.sin(pose.yaw)
    away = AHEAD_M
    if grid is not None:
        steps = np.arange(0.0, SIGHT_M, grid.resolution / 2.0)
        points = np.stack([pose.x + cosine * steps, pose.y + sine * steps], axis=1)
        occupied = grid.values(points) >= grid.occupied_from
        # The pose itself may lie in what is occupied now.
        start = int(np.argmin(occupied))
        hit = occupied[start:].nonzero()[0]
        if len(hit) and not occupied[start]:
            away = float(steps[start + hit[0]])
    return pose.x + cosine * away, pose.y + sine * away


def approach(pose: Pose, place: tuple[float, float], thing: tuple[float, float]) -> Pose:
    """Return how to stand at a place: facing the thing, at the height of the pose it was seen from.

    :param pose: from where it was seen; its heading is kept where the place is the same
    """
    dx, dy = thing[0] - place[0], thing[1] - place[1]
    if place == (pose.x, pose.y) or math.hypot(dx, dy) < AT_LEAST_M:
        return Pose(*place, pose.z, wrap_angle(pose.yaw))
    return Pose(*place, pose.z, wrap_angle(math.atan2(dy, dx)))
