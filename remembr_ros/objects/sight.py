"""What a depth image says of places where things should be: rays through them, as in Khronos (RSS 2024)."""

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import inverse
from remembr_ros.objects.camera import rotation_matrix, to_parent
from remembr_ros.objects.lifting import NEAREST_M, DepthView

HIDDEN, FILLED, CLEAR = 0, 1, 2
"""Something is in front, or it is out of sight; something is there; nothing is."""

CORE = 0.25  # of a box's sides: rays go through its middle and the corners of that part
SHOWN, RAYS = 4, 0.7  # so many rays have to go past what is in front, and such a share of these to agree
PASSED = 0.6  # of its way through the box, a ray has to go on for: things do not fill their boxes
DEPTH_STD = (0.01, 0.0025)  # [m], and per m2: of stereo and structured light

_CORNERS = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)] + [(0, 0, 0)]) * CORE / 2.0

_Numbers = NDArray[np.float64]


def looks_at(view: DepthView, low: _Numbers, high: _Numbers, reach_m: _Numbers) -> NDArray[np.int8]:
    """Return what is at the places of boxes: HIDDEN, FILLED or CLEAR, shape (n,).

    :param low: least coordinates [m] in the map, shape (n, 3); as high
    :param reach_m: what is further away could not be told, shape (n,)
    """
    found = np.full(len(low), HIDDEN, np.int8)
    points = (low + high)[:, None] / 2.0 + (high - low)[:, None] * _CORNERS
    camera, pose = view.camera, view.pose
    x, y, z = to_parent(points.reshape(-1, 3), inverse(pose)).T.reshape(3, *points.shape[:2])
    away = np.maximum(z, NEAREST_M)
    u, v = camera.fx * x / away + camera.cx, camera.fy * y / away + camera.cy
    inside = (z > NEAREST_M) & (u >= 0) & (v >= 0) & (u <= camera.width - 1) & (v <= camera.height - 1)
    near = np.linalg.norm(points[:, -1] - np.array(pose[0]), axis=1) <= reach_m
    some = np.flatnonzero(inside.all(axis=1) & near)
    if not len(some):
        return found
    column, row = np.rint(u[some]).astype(np.intp), np.rint(v[some]).astype(np.intp)
    measured = view.metres[row, column].astype(np.float64)
    # Where each ray enters its box and leaves it, along the optical axis.
    rays = np.stack([x[some] / z[some], y[some] / z[some], np.ones(column.shape)], axis=2)
    rays = rays @ rotation_matrix(pose).T
    rays = np.where(np.abs(rays) < 1e-9, 1e-9, rays)
    ends = [(edge[some][:, None] - np.array(pose[0])) / rays for edge in (low, high)]
    enters, leaves = np.minimum(*ends).max(axis=2), np.maximum(*ends).min(axis=2)
    margin = 3.0 * (DEPTH_STD[0] + DEPTH_STD[1] * enters**2)
    sound = np.isfinite(measured) & (measured > NEAREST_M)
    clear = sound & (measured > enters + np.maximum(PASSED * (leaves - enters), margin))
    shown = sound & (measured > enters - margin)
    rays_shown = shown.sum(axis=1)
    free = clear.sum(axis=1) >= RAYS * rays_shown
    found[some] = np.where(rays_shown < SHOWN, HIDDEN, np.where(free, CLEAR, FILLED))
    return found
