"""The outlines of rooms that are marked in a grid of cells."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

CORNERS = 500  # of an outline at most; no room has as many, but noise has
LEAST_FULL = 0.6  # of the convex hull of a room with furniture along its walls; a bent corridor has less

Mask = NDArray[np.bool_]
Corners = NDArray[np.int64]
"""Shape (n, 2): x and y, in cells."""


def hull_of(room: Mask) -> NDArray[np.int32]:
    """Return the corners of the convex hull of some cells' middles."""
    contours, _ = cv2.findContours(room.astype(np.uint8), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_SIMPLE)
    return np.asarray(cv2.convexHull(np.concatenate(contours))[:, 0])


def fill(labels: NDArray[np.int32], label: int) -> None:
    """Give a room what is no other's in its convex hull: the furniture along its walls; unless it is bent."""
    room = labels == label
    hull = hull_of(room)
    if np.count_nonzero(room) >= LEAST_FULL * cv2.contourArea(hull):
        inside = cv2.fillConvexPoly(np.zeros(room.shape, np.uint8), hull, 1)
        labels[(inside > 0) & (labels == 0)] = label


def outline(room: Mask, least_hole: float) -> Corners:
    """Return a simple polygon round a room, counter-clockwise; its corners are corners of cells.

    :param least_hole: in cells; to a hole as large, which may be another room, leads a slit of three cells
    """
    mask = np.pad(room, ((1, 2), (1, 2))).astype(np.uint8)
    contours, links = cv2.findContours(mask, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_SIMPLE)
    for contour, (*_, outer) in zip(contours, links[0], strict=True):
        if outer >= 0 and cv2.contourArea(contour) >= least_hole:
            right, y = contour[contour[:, 0, 0].argmin(), 0]
            left = right - int(mask[y, right::-1].argmin())
            mask[y - 1 : y + 2, left : right + 2] = 0
    # Each cell becomes the 2 x 2 of its corners.
    wider = cv2.dilate(mask, np.ones((2, 2), np.uint8), anchor=(1, 1))
    contours, _ = cv2.findContours(wider, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    contour, tolerance = max(contours, key=cv2.contourArea), 0.5
    corners = cv2.approxPolyDP(contour, tolerance, True)[:, 0]
    while len(corners) > CORNERS or not _is_simple(corners):
        tolerance *= 1.5
        corners = cv2.approxPolyDP(contour, tolerance, True)[:, 0]
        if len(corners) <= 3:
            corners = cv2.convexHull(contour)[:, 0]
            break
    if cv2.contourArea(corners, oriented=True) < 0.0:
        corners = corners[::-1]
    return np.asarray(corners, np.int64) - 1


def _is_simple(corners: NDArray[Any]) -> bool:
    """Tell whether the sides of a polygon meet in nothing but the corners between them."""
    if len(corners) < 3:
        return False
    start: Corners = corners.astype(np.int64)
    end = np.roll(start, -1, axis=0)

    def sides(points: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return on which side of each line each point lies."""
        along, off = (end - start)[:, None], points[None] - start[:, None]
        return np.asarray(np.sign(along[..., 0] * off[..., 1] - along[..., 1] * off[..., 0]))

    cuts = sides(start) * sides(end) <= 0
    low, high = np.minimum(start, end), np.maximum(start, end)
    near = ((low[:, None] <= high[None]) & (high[:, None] >= low[None])).all(axis=-1)
    meet = cuts & cuts.T & near
    each = np.arange(len(corners))
    for step in (-1, 0, 1):
        meet[each, (each + step) % len(corners)] = False
    return not meet.any()
