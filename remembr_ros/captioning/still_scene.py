"""Detects whether the scene changed since the last caption, so that an idle robot is not captioned again."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from remembr_ros.captioning.placer import PlacedSegment
from remembr_ros.geometry import Pose, distance, wrap_angle
from remembr_ros.images import Bgr
from remembr_ros.timestamps import NS

SIZE = (64, 48)  # images are reduced to so many cells: noise averages out [width, height]
PATCH = 4  # cells; of so many squared, the patch that changed most counts: what moves in a corner is a change
Cells = NDArray[np.float32]  # shades of grey, 0 to 255, shape (48, 64)


# When nothing has changed. How the numbers were measured: docs/captioning.md.
MOST_CHANGE = 6.0  # mean difference of a patch from the captioned segment [shades of grey of 255]
MOST_LIGHT = 8.0  # so much of it may be light that changed everywhere [shades of grey of 255]
STANDS_WITHIN_M = 0.5  # the robot stands while it is so near to where the caption was made [m]
STANDS_WITHIN_RAD = math.radians(20.0)  # and turned by no more [rad]
MAX_GAP_NS = 60 * NS  # after a longer time without segments the scene is looked at anew
MAX_SPAN_NS = 3600 * NS  # a caption stands for no longer time


@dataclass(frozen=True, slots=True)
class _Scene:
    """What the last caption is of."""

    cells: Cells
    pose: Pose | None
    frame_id: str
    start_ns: int


class StillScene:
    """The scene of the last caption, as long as nothing in it changes. Not safe to share between threads."""

    def __init__(self) -> None:
        self._scene: _Scene | None = None
        self._end_ns = 0

    def is_unchanged(self, placed: PlacedSegment) -> bool:
        """Tell whether a segment shows the scene that was kept, from where it was seen then.

        A segment without a place is told by its images alone.
        """
        scene, segment = self._scene, placed.segment
        if scene is None or not _stands(scene, placed):
            return False
        if not 0 <= segment.start_ns - self._end_ns <= MAX_GAP_NS:
            return False
        if segment.end_ns - scene.start_ns > MAX_SPAN_NS:
            return False
        if not all(self._shows(frame.image, scene.cells) for frame in segment.frames):
            return False
        self._end_ns = segment.end_ns
        return True

    def keep(self, placed: PlacedSegment) -> None:
        """Take the scene of a segment that is captioned.

        If something moves in it, the caption is true of no other: the next one has changed in any case.
        """
        segment = placed.segment
        cells = cells_of(segment.frames[-1].image)
        self._scene = None
        if all(self._shows(frame.image, cells) for frame in segment.frames[:-1]):
            self._scene = _Scene(cells, placed.pose, placed.frame_id, segment.start_ns)
            self._end_ns = segment.end_ns

    def _shows(self, image: Bgr, cells: Cells) -> bool:
        return change(cells_of(image), cells, MOST_LIGHT) <= MOST_CHANGE


def cells_of(image: Bgr) -> Cells:
    """Return an image as few shades of grey.

    :param image: shape (height, width, 3)
    """
    import cv2

    small = cv2.resize(image, SIZE, interpolation=cv2.INTER_AREA)
    return np.asarray(cv2.cvtColor(small, cv2.COLOR_BGR2GRAY), np.float32)


def change(a: Cells, b: Cells, most_light: float = 0.0) -> float:
    """Return the mean difference of the patch that differs most [shades of grey of 255].

    :param most_light: up to this, what all cells have in common is light or exposure and no change
    """
    difference = a - b
    common = float(np.median(difference))
    difference = np.abs(difference - np.float32(np.clip(common, -most_light, most_light)))
    # Four grids, half a patch apart: what lies across the border of two patches is whole in a third.
    means = (_patch_means(difference[top:, left:]) for top in (0, PATCH // 2) for left in (0, PATCH // 2))
    return max(float(mean.max()) for mean in means)


def _patch_means(cells: Cells) -> Cells:
    rows, columns = (size // PATCH for size in cells.shape)
    patches = cells[: rows * PATCH, : columns * PATCH].reshape(rows, PATCH, columns, PATCH)
    return np.asarray(patches.mean(axis=(1, 3)), np.float32)


def _stands(last: _Scene, placed: PlacedSegment) -> bool:
    if last.pose is None or placed.pose is None:
        return last.pose is None and placed.pose is None
    if last.frame_id != placed.frame_id:
        return False
    turned = abs(wrap_angle(last.pose.yaw - placed.pose.yaw))
    moved = distance(last.pose.position, placed.pose.position)
    return moved <= STANDS_WITHIN_M and turned <= STANDS_WITHIN_RAD
