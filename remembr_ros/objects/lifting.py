"""Detections to boxes in the map, by the depth behind their pixels.

The points of the depth image are projected into the colour image, whatever the sizes, intrinsics and places
of the two cameras. A mask names its points. A box also holds background: of its points those count whose
depths lie together, around what its middle shows. The nearest and the farthest tenth are left out.
"""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Transform, compose, inverse
from remembr_ros.images import Bgr
from remembr_ros.objects.appearance import Appearance, appearances_of, picture_of
from remembr_ros.objects.camera import Pinhole, rotation_matrix, to_parent
from remembr_ros.objects.depth_image import Depth
from remembr_ros.objects.detection import Detection

MOST = 300  # detections of a frame that are looked at, the most certain ones
LEAST_POINTS = 6  # fewer are noise
NEAREST_M, FARTHEST_M = 0.15, 12.0  # depth cameras measure no nearer and no further
TRIMMED = 0.1  # share of the nearest and of the farthest points that is left out
BORDER_PX, CUT_STD_M = 2.0, 0.1  # a box so near to the image's border is cut by it, and less certain
STRAY = 0.02  # share of the outermost points along each axis
MOST_POINTS = 500  # of a detection that are looked at
SHRUNK = 0.08  # of a box's sides, where it holds background
BREAK_M = 0.12  # a jump in depth ends a thing, where nothing else tells; more with its size
SIGHT_M, SIGHT_STD_M = 2.0, 1.2  # where a thing is put that has no depth, and how uncertain that is


_Box = tuple[NDArray[np.float64], NDArray[np.float64], float]
"""Least and greatest coordinates, shape (3,), and the standard deviation of the middle [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class DepthView:
    """A depth image and where it was taken.

    :param metres: along the optical axis; not finite or 0: not measured
    :param camera: of the same size
    :param pose: of its optical frame in the map
    """

    metres: Depth
    camera: Pinhole
    pose: Transform


@dataclass(frozen=True, slots=True, eq=False)
class CameraView:
    """One colour image that a detector looks at, and from where.

    :param stamp_ns: when it was taken
    :param image: of the camera's size
    :param pose: of its optical frame in the map
    :param depth: of nearly the same moment; None: there is none
    """

    stamp_ns: int
    image: Bgr
    camera: Pinhole
    pose: Transform
    depth: DepthView | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Lifted:
    """A detection with the axis-aligned box that it takes in the map.

    :param low: least coordinates [m], shape (3,)
    :param high: greatest ones
    :param std_m: of the box's middle, one standard deviation [m]
    :param cut: the image's border cuts it off: the thing reaches further than its box
    :param measured: by depth; False: only its bearing is, and that it is within sight
    :param crop: returns its picture as JPEG; holds the image until then
    """

    detection: Detection
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    std_m: float
    cut: bool
    measured: bool
    appearance: Appearance
    crop: Callable[[], bytes]


def lift(detections: Sequence[Detection], view: CameraView, dropped: Counter[str]) -> list[Lifted]:
    """Return detections with the boxes that they take in the map.

    :param dropped: counts what is left out, by the reason
    """
    sound = [_clipped(d, view) for d in detections if d.is_sound() and _meets(d, view)]
    dropped['detections without a sound box, mask or score'] += len(detections) - len(sound)
    sound.sort(key=lambda detection: -detection.score)
    dropped['detections beyond the number that fits a frame'] += max(0, len(sound) - MOST)
    cloud = _Cloud(view, view.depth) if view.depth is not None and sound else None
    placed = []
    for detection, look in zip(sound[:MOST], appearances_of(sound[:MOST], view.image), strict=True):
        found = cloud.box(detection) if cloud else _within_sight(detection, view)
        if found is None:
            dropped['detections without depth'] += 1
            continue
        low, high, std_m = found
        cut = _is_cut(detection, view.camera)
        std_m += CUT_STD_M if cut else 0.0
        picture = partial(picture_of, detection, view.image)
        placed.append(Lifted(detection, low, high, std_m, cut, cloud is not None, look, picture))
    return placed


def _meets(detection: Detection, view: CameraView) -> bool:
    left, top, right, bottom = detection.box
    height, width = view.image.shape[:2]
    inside = right > 1.0 and bottom > 1.0 and left < width - 1 and top < height - 1
    mask = detection.mask
    return inside and (mask is None or (mask.shape == (height, width) and mask.dtype == np.bool_))


def _clipped(detection: Detection, view: CameraView) -> Detection:
    left, top, right, bottom = detection.box
    height, width = view.image.shape[:2]
    if min(left, top) >= 0.0 and right <= width and bottom <= height:
        return detection
    return replace(detection, box=(max(left, 0.0), max(top, 0.0), min(right, width), min(bottom, height)))


def _is_cut(detection: Detection, camera: Pinhole) -> bool:
    left, top, right, bottom = detection.box
    return (
        min(left, top) <= BORDER_PX
        or right >= camera.width - BORDER_PX
        or bottom >= camera.height - BORDER_PX
    )


def _within_sight(detection: Detection, view: CameraView) -> _Box:
    """Return a box for a detection without depth: its bearing is known, and that it is within sight."""
    left, top, right, bottom = detection.box
    u, v = np.array([left, left, right, right]), np.array([top, bottom, top, bottom])
    corners = to_parent(view.camera.unproject(u, v, np.full(4, SIGHT_M)), view.pose)
    return corners.min(axis=0), corners.max(axis=0), SIGHT_STD_M


class _Cloud:
    """What a depth image measured, by where the colour camera sees it."""

    def __init__(self, view: CameraView, depth: DepthView) -> None:
        self._view, self._depth = view, depth
        self._to_depth = compose(inverse(depth.pose), view.pose)
        """The place of the colour camera in the depth camera's frame."""
        measured = depth.metres[
            (depth.metres > NEAREST_M) & (depth.metres < FARTHEST_M)
        ]  # a NaN compares false
        self._reach = (float(measured.min()), float(measured.max())) if len(measured) else None
        self._focal = (view.camera.fx + view.camera.fy) / 2.0
        # What is the same for each detection.
        own, self._to_colour = depth.camera, rotation_matrix(self._to_depth).T
        self._beside = -self._to_colour @ np.array(self._to_depth[0])[:, None]
        self._turned, self._eye = rotation_matrix(view.pose), np.array(view.pose[0])[:, None]
        self._rays = (np.arange(own.width) - own.cx) / own.fx, (np.arange(own.height) - own.cy) / own.fy

    def box(self, detection: Detection) -> _Box | None:
        """Return a detection's box; None: too little of it was measured."""
        points, u, v = self._seen(detection)
        if detection.mask is not None:
            height, width = detection.mask.shape
            rows = np.clip(np.rint(v), 0, height - 1).astype(np.intp)
            own = detection.mask[rows, np.clip(np.rint(u), 0, width - 1).astype(np.intp)]
        else:
            own = self._foreground(points[2], u, v, detection)
        points = points[:, np.flatnonzero(own)]
        z = np.sort(points[2])
        if len(z) < LEAST_POINTS:
            return None
        if detection.mask is None:  # as wide as its box
            left, top, right, bottom = detection.box
            camera, more = self._view.camera, 2.0 * SHRUNK / (1.0 - 2.0 * SHRUNK)
            points[0] += more * (points[0] - ((left + right - 1.0) / 2.0 - camera.cx) / camera.fx * points[2])
            points[1] += more * (points[1] - ((top + bottom - 1.0) / 2.0 - camera.cy) / camera.fy * points[2])
        cut = int(TRIMMED * (len(z) - 1))
        kept = points[:, np.flatnonzero((points[2] >= z[cut]) & (points[2] <= z[-1 - cut]))]
        there = self._turned @ kept + self._eye
        edge = int(STRAY * (there.shape[1] - 1))
        there.partition((edge, there.shape[1] - 1 - edge), axis=1)
        # The error of stereo and structured light grows with the square of the distance.
        return there[:, edge], there[:, -1 - edge], 0.01 + 0.0025 * float(z[len(z) // 2]) ** 2

    def _seen(
        self, detection: Detection
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the measured points in a box, (3, n), in the colour camera's frame, and their pixels."""
        metres, own, colour = self._depth.metres, self._depth.camera, self._view.camera
        # Pixels have their middles at whole numbers.
        left, top, right, bottom = (edge - 0.5 for edge in detection.box)
        if self._reach is None:
            return np.zeros((3, 0)), np.zeros(0), np.zeros(0)
        # The part of the depth image that can show the box: its corners, as near and as far as anything is.
        across = (left - colour.cx) / colour.fx, (right - colour.cx) / colour.fx
        down = (top - colour.cy) / colour.fy, (bottom - colour.cy) / colour.fy
        corners = np.array([(x * z, y * z, z) for z in self._reach for x in across for y in down])
        corners = corners @ self._to_colour + np.array(self._to_depth[0])
        columns, rows = own.project(np.maximum(corners, (-np.inf, -np.inf, NEAREST_M)))
        (first_row, last_row), (first, last) = (
            (int(max(0.0, np.floor(ends.min()))), int(min(size, np.ceil(ends.max()) + 1.0)))
            for ends, size in ((rows, own.height), (columns, own.width))
        )
        step = max(1, int(math.sqrt(max(last_row - first_row, 0) * max(last - first, 0) / MOST_POINTS)))
        part = metres[first_row:last_row:step, first:last:step]
        row, column = np.nonzero((part > NEAREST_M) & (part < FARTHEST_M))
        z = part[row, column].astype(np.float64)
        rays = self._rays[0][first:last:step], self._rays[1][first_row:last_row:step]
        points = self._to_colour @ np.stack([rays[0][column] * z, rays[1][row] * z, z]) + self._beside
        z = np.maximum(points[2], NEAREST_M)
        u, v = points[0] / z * colour.fx + colour.cx, points[1] / z * colour.fy + colour.cy
        inside = (u >= left) & (u <= right) & (v >= top) & (v <= bottom) & (points[2] > NEAREST_M)
        found = np.flatnonzero(inside)
        return points[:, found], u[found], v[found]

    def _foreground(
        self, z: NDArray[np.float64], u: NDArray[np.float64], v: NDArray[np.float64], detection: Detection
    ) -> NDArray[np.bool_]:
        """Return which points of a box are its thing's: those in one piece with what its middle shows."""
        left, top, right, bottom = (edge - 0.5 for edge in detection.box)
        wide, high = right - left, bottom - top
        # How far from the middle, as parts of the sides.
        across, down = np.abs(u - (left + right) / 2.0) / wide, np.abs(v - (top + bottom) / 2.0) / high
        off = np.maximum(across, down)
        inner = off <= 0.5 - SHRUNK
        core = z[off <= 0.25]
        core = np.sort(core if len(core) >= LEAST_POINTS // 2 else z[inner])
        if not len(core):
            return inner
        # What one sees through a thing, or beside it, is behind it: its own is the nearer half of the middle.
        near = float(core[int(0.35 * (len(core) - 1))])
        extent = max(wide, high) / self._focal * near  # as wide as it looks: few things are deeper
        ordered = np.sort(z[inner])
        at = int(np.searchsorted(ordered, near))
        breaks = np.flatnonzero(np.diff(ordered) > max(BREAK_M, 0.25 * extent))
        before, behind = breaks[breaks < at], breaks[breaks >= at]
        start = ordered[before[-1] + 1] if len(before) else ordered[0]
        end = ordered[behind[0]] if len(behind) else ordered[-1]
        own: NDArray[np.bool_] = inner & (z >= max(start, near - extent)) & (z <= min(end, near + extent))
        return own
