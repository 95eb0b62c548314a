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
from remembr_ros.objects.camera import Depth, Pinhole, rotation_matrix, to_parent
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
    placed, best = [], sound[:MOST]
    boxes = cloud.boxes(best) if cloud else [_within_sight(detection, view) for detection in best]
    for detection, found, look in zip(best, boxes, appearances_of(best, view.image), strict=True):
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
        self._metres, own, colour = depth.metres, depth.camera.matrix, view.camera.matrix
        measured = self._metres[(self._metres > NEAREST_M) & (self._metres < FARTHEST_M)]  # no NaN
        self._reach = (float(measured.min()), float(measured.max())) if len(measured) else None
        self._focal = (view.camera.fx + view.camera.fy) / 2.0
        place = compose(inverse(depth.pose), view.pose)  # of the colour camera in the depth camera's frame
        turn, at = rotation_matrix(place), np.array(place[0])[:, None]
        # From a camera's pixels (u z, v z, z) to the other one's, and to the map.
        self._to_depth = own @ turn @ np.linalg.inv(colour), own @ at
        self._to_colour = colour @ turn.T @ np.linalg.inv(own), -colour @ turn.T @ at
        self._to_map = rotation_matrix(view.pose) @ np.linalg.inv(colour), np.array(view.pose[0])[:, None]

    def boxes(self, detections: Sequence[Detection]) -> list[_Box | None]:
        """Return the boxes of detections; None: too little of one was measured."""
        if self._reach is None or not detections:
            return [None] * len(detections)
        # Pixels have their middles at whole numbers.
        edges = np.array([detection.box for detection in detections]) - 0.5
        # The part of the depth image that can show a box: its corners, as near and as far as anything is.
        corners = np.stack([edges[:, [0, 0, 2, 2]], edges[:, [1, 3, 1, 3]], np.ones((len(edges), 4))], axis=1)
        turn, at = self._to_depth
        ends = np.concatenate([turn @ (corners * z) + at for z in self._reach], axis=2)
        pixels = ends[:, :2] / np.maximum(ends[:, 2:], NEAREST_M)
        size = np.array(self._metres.shape[::-1])
        first = np.clip(np.floor(pixels.min(axis=2)), 0, size).astype(int).tolist()
        last = np.clip(np.ceil(pixels.max(axis=2)) + 1.0, 0, size).astype(int).tolist()
        return [self._box(*each) for each in zip(detections, edges.tolist(), first, last, strict=True)]

    def _box(
        self, detection: Detection, edges: Sequence[float], first: Sequence[int], last: Sequence[int]
    ) -> _Box | None:
        (left, top, right, bottom), (column, row) = edges, first
        area = max(last[0] - column, 0) * max(last[1] - row, 0)
        step = max(1, int(math.sqrt(area / MOST_POINTS)))
        part = self._metres[row : last[1] : step, column : last[0] : step]
        down, across = np.nonzero((part > NEAREST_M) & (part < FARTHEST_M))
        z = part[down, across].astype(np.float64)
        turn, at = self._to_colour
        u, v, z = turn @ np.array([(across * step + column) * z, (down * step + row) * z, z]) + at
        z = np.maximum(z, NEAREST_M)
        u /= z
        v /= z
        inside = np.flatnonzero((u >= left) & (u <= right) & (v >= top) & (v <= bottom) & (z > NEAREST_M))
        u, v, z = u[inside], v[inside], z[inside]
        if detection.mask is not None:
            height, width = detection.mask.shape
            rows = np.clip(np.rint(v), 0, height - 1).astype(np.intp)
            own = detection.mask[rows, np.clip(np.rint(u), 0, width - 1).astype(np.intp)]
        else:
            own = self._foreground(z, u, v, edges)
            # What lies near the edges of the box was left out: as wide as the box.
            u = (u - (left + right) / 2.0) / (1.0 - 2.0 * SHRUNK) + (left + right) / 2.0
            v = (v - (top + bottom) / 2.0) / (1.0 - 2.0 * SHRUNK) + (top + bottom) / 2.0
        ordered = np.sort(z[own])
        if len(ordered) < LEAST_POINTS:
            return None
        cut = int(TRIMMED * (len(ordered) - 1))
        kept = np.flatnonzero(own & (z >= ordered[cut]) & (z <= ordered[-1 - cut]))
        u, v, z = u[kept], v[kept], z[kept]
        turn, at = self._to_map
        there = turn @ np.array([u * z, v * z, z]) + at
        edge = int(STRAY * (len(kept) - 1))
        there.partition((edge, len(kept) - 1 - edge), axis=1)
        # The error of stereo and structured light grows with the square of the distance.
        return there[:, edge], there[:, -1 - edge], 0.01 + 0.0025 * float(ordered[len(ordered) // 2]) ** 2

    def _foreground(
        self, z: NDArray[np.float64], u: NDArray[np.float64], v: NDArray[np.float64], edges: Sequence[float]
    ) -> NDArray[np.bool_]:
        """Return which points of a box are its thing's: those in one piece with what its middle shows."""
        left, top, right, bottom = edges
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
