"""Lifts detections to boxes in the map, by the depth of their pixels.

The points of the depth image are projected into the colour image, whatever the sizes, intrinsics and places
of the two cameras. A mask names its points. A box also holds background: of its points those count whose
depths lie together, around what its middle shows. The nearest and the farthest tenth are left out.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Transform, compose, inverse
from remembr_ros.images import Bgr
from remembr_ros.objects.appearance import Appearance, appearances_of, picture_of
from remembr_ros.objects.camera import NO_CAMERA, Depth, Pinhole, Points, rotation_matrix, to_parent
from remembr_ros.objects.detectors.detection import MOST, Detection, Extent, PixelBox

LEAST_POINTS = 4  # fewer are noise
NEAREST_M, FARTHEST_M = 0.15, 12.0  # depth cameras measure no nearer and no further
TRIMMED = 0.1  # share of the nearest and of the farthest points that is left out
BORDER_PX, CUT_STD_M = 2.0, 0.1  # a box so near to the image's border is cut by it, and less certain
NONE = 1e9  # in place of a coordinate [m] that does not count
STRAY = 0.02  # share of the outermost points along each axis
MOST_POINTS = 250  # of a detection that are looked at
GOLDEN = 0.6180339887498949  # so far apart, round a side, they leave the most even gaps
SHRUNK = 0.08  # of a box's sides, where it holds background
BREAK_M = 0.12  # a jump in depth ends a thing, where nothing else tells; more with its size
TOLD_M = 1000.0  # what is told to be further away is a mistake
SIGHT_M, SIGHT_STD_M = 2.0, 1.2  # where a thing is put that has no depth, and how uncertain that is

CUBE = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])

_Numbers = NDArray[np.float64]
_Mask = NDArray[np.bool_]
_Indices = NDArray[np.intp]
_Box = tuple[_Numbers, _Numbers, float]
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

    def measured(self, points: Points) -> tuple[_Numbers, _Numbers]:
        """Return what was measured towards points of the map, and how far away they are, shape (n,).

        :return: both along the optical axis [m]; of points beyond the image NaN was measured, else 0: nothing
        """
        x, y, z = to_parent(points, inverse(self.pose)).T
        away, camera = np.maximum(z, NEAREST_M), self.camera
        u, v = camera.fx * x / away + camera.cx, camera.fy * y / away + camera.cy
        inside = (z > NEAREST_M) & (u >= 0) & (v >= 0) & (u <= camera.width - 1) & (v <= camera.height - 1)
        row, column = np.rint(np.where(inside, (v, u), 0.0)).astype(np.intp)
        return np.where(inside, np.nan_to_num(self.metres[row, column], posinf=0.0), np.nan), z


@dataclass(frozen=True, slots=True, eq=False)
class CameraView:
    """One colour image that a detector looks at, and from where.

    :param stamp_ns: when it was taken
    :param image: of the camera's size; None: there is none, only what somebody detected
    :param camera: NO_CAMERA: it is of no use for what was detected
    :param pose: of its optical frame in the map; without a camera, of the frame that was looked from
    :param depth: of nearly the same moment; None: there is none
    """

    stamp_ns: int
    image: Bgr | None
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
    :param measured: by depth or by who detected it; False: only its bearing is, and that it is within sight
    :param crop: returns its picture as JPEG, None if there is none; holds the image until then
    :param shift: by what low and high were moved, for the frame's pose is wrong [m], shape (3,)
    """

    detection: Detection
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    std_m: float
    cut: bool
    measured: bool
    appearance: Appearance
    crop: Callable[[], bytes | None]
    shift: NDArray[np.float64] = field(default_factory=partial(np.zeros, 3))


def lift(detections: Sequence[Detection], view: CameraView, dropped: Counter[str]) -> list[Lifted]:
    """Return detections with the boxes that they take in the map.

    :param dropped: counts what is left out, by the reason
    """
    sound = [fitted for d in detections if d.is_sound() and (fitted := _fitted(d, view))]
    dropped['detections without a sound box, mask or score'] += len(detections) - len(sound)
    sound.sort(key=lambda detection: -detection.score)
    dropped['detections beyond the number that fits a frame'] += max(0, len(sound) - MOST)
    placed, best = [], sound[:MOST]
    flat = [detection for detection in best if detection.extent is None]
    cloud = _Cloud(view, view.depth) if view.depth is not None and flat else None
    lifted = iter(cloud.boxes(flat) if cloud else [_within_sight(detection, view) for detection in flat])
    boxes = [_told(found.extent, view) if found.extent else next(lifted) for found in best]
    for detection, found, look in zip(best, boxes, appearances_of(best, view.image), strict=True):
        if found is None:
            dropped['detections without depth'] += 1
            continue
        low, high, std_m = found
        has_extent = detection.extent is not None
        unseen = has_extent and detection.box == _whole(view)  # where it appears is not known
        cut = not unseen and _is_cut(detection, view.camera)
        std_m += CUT_STD_M if cut else 0.0
        own = Appearance(detection.embedding) if unseen else look
        picture = partial(picture_of, detection, None if unseen else view.image)
        placed.append(Lifted(detection, low, high, std_m, cut, has_extent or cloud is not None, own, picture))
    return placed


def _whole(view: CameraView) -> PixelBox:
    return 0.0, 0.0, float(view.camera.width), float(view.camera.height)


def _fitted(detection: Detection, view: CameraView) -> Detection | None:
    """Return a detection with its box in the image; None: it does not lie in it, or is nowhere near."""
    _, _, width, height = _whole(view)
    if detection.extent is not None:
        corners = _corners(detection.extent, view)
        if not np.all(np.abs(corners - np.array(view.pose[0])) <= TOLD_M):
            return None
        return replace(detection, box=_seen(corners, view), mask=None)
    left, top, right, bottom = detection.box
    inside = right > 1.0 and bottom > 1.0 and left < width - 1 and top < height - 1
    mask = detection.mask
    if not inside or not (mask is None or (mask.shape == (height, width) and mask.dtype == np.bool_)):
        return None
    if min(left, top) >= 0.0 and right <= width and bottom <= height:
        return detection
    return replace(detection, box=(max(left, 0.0), max(top, 0.0), min(right, width), min(bottom, height)))


def _corners(extent: Extent, view: CameraView) -> Points:
    """Return the eight corners of a box that was told in the map."""
    return to_parent(CUBE * extent.size, extent.pose if extent.in_map else compose(view.pose, extent.pose))


def _told(extent: Extent, view: CameraView) -> _Box:
    corners = _corners(extent, view)
    return corners.min(axis=0), corners.max(axis=0), extent.std_m


def _seen(corners: Points, view: CameraView) -> PixelBox:
    """Return the part of the image in which corners lie; the whole image where nobody knows."""
    ahead = to_parent(corners, inverse(view.pose))
    ahead = ahead[ahead[:, 2] > NEAREST_M]
    if view.camera == NO_CAMERA or not len(ahead):
        return _whole(view)
    pixels = (ahead @ view.camera.matrix.T)[:, :2] / ahead[:, 2:] + 0.5
    ends = np.concatenate((pixels.min(axis=0), pixels.max(axis=0)))
    left, top, right, bottom = np.clip(ends, 0.0, np.array(_whole(view)[2:] * 2)).tolist()
    return (left, top, right, bottom) if right - left > 1.0 and bottom - top > 1.0 else _whole(view)


def _is_cut(detection: Detection, camera: Pinhole) -> bool:
    left, top, right, bottom = detection.box
    beyond = max(right - camera.width, bottom - camera.height)
    return min(left, top, -beyond) <= BORDER_PX


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
        first = np.clip(np.floor(pixels.min(axis=2)), 0, size).astype(np.intp)
        last = np.clip(np.ceil(pixels.max(axis=2)) + 1.0, 0, size).astype(np.intp)
        u, v, z, own = self._points(first, last - first)
        left, top, right, bottom = edges.T[:, :, None]
        own &= (u >= left) & (u <= right) & (v >= top) & (v <= bottom) & (z > NEAREST_M)
        wide, high = right - left, bottom - top
        # From the middle, as parts of the sides.
        across, down = (u - (left + right) / 2.0) / wide, (v - (top + bottom) / 2.0) / high
        far = np.maximum(np.abs(across), np.abs(down))
        shown = self._foreground(z, own & (far <= 0.5 - SHRUNK), own & (far <= 0.25), np.maximum(wide, high))
        # What lies near the edges of the box was left out: as wide as the box.
        wider = np.full((len(detections), 1), 2.0 * SHRUNK / (1.0 - 2.0 * SHRUNK))
        for i, mask in enumerate(detection.mask for detection in detections):
            if mask is not None:
                at = np.clip(np.rint((v[i], u[i])).T, 0, np.array(mask.shape) - 1).astype(np.intp)
                shown[i], wider[i] = own[i] & mask[at[:, 0], at[:, 1]], 0.0
        u, v = u + wider * wide * across, v + wider * high * down
        count = shown.sum(axis=1)
        ordered = _ordered(z, shown)
        nearest, farthest = _ends(ordered, count, TRIMMED)
        kept = shown & (z >= nearest[:, None]) & (z <= farthest[:, None])
        turn, at = self._to_map
        in_map = (turn @ np.stack([u * z, v * z, z]).reshape(3, -1) + at).reshape(3, *z.shape)
        low, most = _ends(_ordered(in_map, kept), kept.sum(axis=1), STRAY)
        # The error of stereo and structured light grows with the square of the distance.
        std_m = 0.01 + 0.0025 * ordered[np.arange(len(z)), count // 2] ** 2
        boxes = zip(low.T, most.T, std_m.tolist(), strict=True)
        return [box if points >= LEAST_POINTS else None for box, points in zip(boxes, count, strict=True)]

    def _points(self, first: _Indices, sizes: _Indices) -> tuple[_Numbers, _Numbers, _Numbers, _Mask]:
        """Return columns, rows and depths of points in the colour image, and which are points at all.

        :param first: column and row of the depth image where each part begins, shape (n, 2)
        :param sizes: columns and rows of each
        :return: each of shape (n, points)
        """
        columns, rows = np.maximum(sizes, 1).T[:, :, None]
        count = np.minimum(sizes.prod(axis=1), MOST_POINTS)[:, None]
        number = np.arange(max(1, int(count.max())))
        # All points; of too many some whose columns and rows fill the sides evenly (a Kronecker sequence).
        every = columns * rows <= MOST_POINTS
        across = np.where(every, number % columns, number * GOLDEN % 1.0 * columns)
        down = np.where(every, number // columns, (number + 0.5) / MOST_POINTS * rows)
        x, y = first[:, :1] + across.astype(np.intp), first[:, 1:] + down.astype(np.intp)
        height, width = self._metres.shape
        z = self._metres[np.minimum(y, height - 1), np.minimum(x, width - 1)].astype(np.float64)
        is_point = (number < count) & (z > NEAREST_M) & (z < FARTHEST_M)
        z = np.where(is_point, z, 1.0)
        turn, at = self._to_colour
        u, v, z = (turn @ np.stack([x * z, y * z, z]).reshape(3, -1) + at).reshape(3, *z.shape)
        away = np.maximum(z, NEAREST_M)
        return u / away, v / away, away, is_point

    def _foreground(self, z: _Numbers, inner: _Mask, core: _Mask, sides: _Numbers) -> _Mask:
        """Return which points of boxes are their things': those in one piece with what the middle shows.

        :param inner: those that lie not at the box's edges
        :param core: those in its middle
        :param sides: the longer one of each box [px], shape (n, 1)
        """
        few = core.sum(axis=1) < LEAST_POINTS // 2
        core[few] = inner[few]
        # What one sees through a thing, or beside it, is behind it: its own is the nearer half of the middle.
        near = _ends(_ordered(z, core), core.sum(axis=1), 0.35)[0][:, None]
        extent = sides / self._focal * near  # as wide as it looks: few things are deeper
        ordered = _ordered(z, inner)
        number = np.arange(ordered.shape[1] - 1)
        at = (ordered < near).sum(axis=1)[:, None]
        breaks = np.diff(ordered, axis=1) > np.maximum(BREAK_M, 0.25 * extent)  # one is behind the last point
        begin = np.where(breaks & (number < at), number + 1, 0).max(axis=1, initial=0, keepdims=True)
        end = np.where(breaks & (number >= at), number, last := len(number))
        end = end.min(axis=1, initial=last, keepdims=True)
        start, stop = np.take_along_axis(ordered, begin, axis=1), np.take_along_axis(ordered, end, axis=1)
        return inner & (z >= np.maximum(start, near - extent)) & (z <= np.minimum(stop, near + extent))


def _ordered(values: _Numbers, which: _Mask) -> _Numbers:
    """Return some of the values along the last axis in order, NONE behind them."""
    return np.sort(np.where(which, values, NONE), axis=-1)


def _ends(ordered: _Numbers, count: _Indices, left_out: float) -> tuple[_Numbers, _Numbers]:
    """Return the least and the greatest of so many ordered values, but for a share of the outermost ones."""
    at = (left_out * np.maximum(count - 1, 0)).astype(np.intp)
    row = np.arange(len(count))
    return ordered[..., row, at], ordered[..., row, np.maximum(count - 1, 0) - at]
