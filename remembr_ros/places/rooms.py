"""Rooms that an occupancy grid shows: parts of its free floor that are wider than the doors between them."""

import math
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from remembr_ros.navigation.grid import Grid
from remembr_ros.places.flood import NARROWEST_M, Labels, Passages, contacts, flooded, root, roots, spread
from remembr_ros.places.outline import Mask, fill, hull_of, outline

CELL_M = 0.05  # finer cells tell no more about rooms
MANY_CELLS = 2**22  # 100 m x 100 m of these; a larger map is looked at in cells twice as wide
WALL_M = 0.5  # no wall is as thick; what stands alone and is smaller is a leg, or noise
FURNITURE_M = 4.0  # the longest that stands alone: a table for ten with its chairs
DOOR_M = 1.3  # a wide one; where a passage is wider, it takes more to part rooms
WHOLE = 0.7  # of the floor in the rectangle round a room that furniture narrows
LEAST_AREA_M2 = 1.5  # of a small bathroom
LEAST_CORE_M2 = 1.5  # of one that others join, but for what is near its walls; what is smaller is a corner
WALLED = 0.3  # of a room's border, at least; what a lidar saw through a window has none


@dataclass(frozen=True, slots=True)
class FoundRoom:
    """A room that a map shows, without a name.

    :param outline: corners x, y [m] in the map frame, counter-clockwise, a simple polygon, the first not
        repeated
    :param area_m2: within the outline
    """

    outline: tuple[tuple[float, float], ...]
    area_m2: float


def find_rooms(grid: Grid) -> list[FoundRoom]:
    """Return the rooms of a map, the largest first.

    Two rooms meet in a passage that is short and narrower than either: a door, or an opening as wide as that.
    """
    scale = _scale(grid)
    cell_m = grid.resolution * scale
    least = LEAST_AREA_M2 / cell_m**2
    free, occupied = _layers(grid, scale)
    free |= _alone(free, cell_m)
    away = np.asarray(cv2.distanceTransform(free.astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_5), np.float32)
    away *= np.float32(cell_m)
    labels, passages = flooded(away, cell_m)
    del away  # as large as the labels
    _join_wide(labels, passages)
    _join_small(labels, LEAST_CORE_M2 / cell_m**2)
    spread(labels, np.flatnonzero(free & (labels == 0)), math.ceil(NARROWEST_M / cell_m))
    _leave_out(labels, occupied, least)
    found = []
    for label, box in _boxes(labels).items():
        fill(labels[box], label)
        corners = outline(labels[box] == label, least) + np.array([box[1].start, box[0].start])
        area = cv2.contourArea(corners.astype(np.float32))
        if area >= least:
            # The first cell is the margin; a Grid tells where the middle of a cell is.
            places = grid.centers((corners[:, ::-1] - 1) * scale - 0.5)
            found.append(FoundRoom(tuple((x, y) for x, y in places.tolist()), area * cell_m**2))
    return sorted(found, key=lambda room: -room.area_m2)


def _scale(grid: Grid) -> int:
    """Return how many cells of the grid, along each axis, are looked at as one."""
    scale = max(1, min(int(CELL_M / grid.resolution + 0.01), *grid.cells.shape))
    is_fine = scale * grid.resolution < 1.5 * CELL_M
    is_large = grid.cells.size > MANY_CELLS * scale**2
    return int(scale * (2 if is_fine and is_large else 1))


def _layers(grid: Grid, scale: int) -> tuple[Mask, Mask]:
    """Return which cells are free and which occupied, `scale` x `scale` of the grid's as one.

    Round them is a margin of one unknown cell.
    """
    cells = np.pad(
        grid.cells, [(scale, scale + -side % scale) for side in grid.cells.shape], constant_values=-1
    )
    if scale > 1:  # Walls stay, however thin.
        cells = cells.reshape(cells.shape[0] // scale, scale, -1, scale).max(axis=(1, 3))
    return (cells >= 0) & (cells < grid.occupied_from), cells >= grid.occupied_from


def _alone(free: Mask, cell_m: float) -> Mask:
    """Return what stands alone on the floor and is no wall: noise, legs, furniture, columns."""
    solid = (~free).astype(np.uint8)
    _, parts, stats, _ = cv2.connectedComponentsWithStats(solid, connectivity=8)
    extent = stats[:, [cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT]].max(axis=1) * cell_m
    thick, wall = np.zeros((2, len(stats)), bool)
    core = cv2.distanceTransform(solid, cv2.DIST_L2, cv2.DIST_MASK_5) > WALL_M / 2 / cell_m
    thick[parts[core]] = True
    off = cv2.distanceTransform((~core).astype(np.uint8), cv2.DIST_L2, cv2.DIST_MASK_5) > WALL_M / cell_m
    wall[parts[off & ~free]] = True
    alone = (extent <= WALL_M) | (thick & ~wall & (extent <= FURNITURE_M))
    alone[[0, parts[0, 0]]] = False  # the floor, and the margin
    return np.asarray(alone[parts])


def _join_wide(labels: Labels, passages: Passages) -> None:
    """Join rooms through what is wider than a door, if hardly another lies in the rectangle round the two."""
    areas, boxes = np.bincount(labels.ravel()), _boxes(labels)
    into = np.arange(len(areas), dtype=np.int32)
    hulls: dict[int, NDArray[np.int32]] = {}
    for pair, width_m in sorted(passages.items(), key=lambda passage: -passage[1]):
        a, b = (root(into, label) for label in pair)
        if width_m < DOOR_M or a == b:
            continue
        for label in {a, b} - set(hulls):
            rows, columns = boxes[label]
            hulls[label] = hull_of(labels[rows, columns] == label) + np.array(
                [columns.start, rows.start], np.int32
            )
        union = cv2.convexHull(np.concatenate([hulls[a], hulls[b]]))[:, 0]
        rectangle = np.round(cv2.boxPoints(cv2.minAreaRect(union.astype(np.float32)))).astype(np.int32)
        low, high = np.maximum(rectangle.min(axis=0), 0), rectangle.max(axis=0) + 1
        part = labels[low[1] : high[1], low[0] : high[0]]
        inside = cv2.fillConvexPoly(np.zeros(part.shape, np.uint8), rectangle - low, 1)
        if areas[a] + areas[b] >= WHOLE * np.count_nonzero(part[inside > 0]):
            into[a] = b
            areas[b] += areas[a]
            hulls[b] = np.asarray(union, np.int32)
    labels[:] = roots(into)[labels]


def _join_small(labels: Labels, least: float) -> None:
    """Give what is too small for a room to the neighbour with the longest border, or to none.

    :param least: of a room, in cells
    """
    areas = np.bincount(labels.ravel())
    into = np.arange(len(areas), dtype=np.int32)
    edges = np.flatnonzero(np.diff(labels.ravel()))
    below = np.flatnonzero(np.diff(labels, axis=0))
    for a, b, _ in contacts(labels, np.concatenate([edges, below]), into):
        small, other = sorted((root(into, a), root(into, b)), key=lambda label: areas[label])
        if small != other and areas[small] < least:
            into[small] = other
            areas[other] += areas[small]
    into = roots(into)
    labels[:] = into[labels]


def _leave_out(labels: Labels, occupied: Mask, least: float) -> None:
    """Take away what has hardly a wall, or is far too small.

    :param least: of a room, in cells
    """
    flat, size = labels.ravel(), int(labels.max(initial=0)) + 1
    border, walls = np.zeros((2, size), np.int64)
    edges = np.flatnonzero(np.diff(flat > 0))
    below = np.flatnonzero(np.diff(labels > 0, axis=0))
    for one, step in ((edges, 1), (below, labels.shape[1])):
        label = np.maximum(flat[one], flat[one + step])
        border += np.bincount(label, minlength=size)
        met = occupied.ravel()[one] | occupied.ravel()[one + step]
        walls += np.bincount(label[met], minlength=size)
    keeps = np.where(
        (walls >= WALLED * border) & (np.bincount(flat) >= least / 2), np.arange(size, dtype=np.int32), 0
    )
    labels[:] = keeps[labels]


def _boxes(labels: Labels) -> dict[int, tuple[slice, slice]]:
    """Return the rows and columns that each label is in."""
    flat, size = labels.ravel(), int(labels.max(initial=0)) + 1
    ends = np.flatnonzero(np.diff(flat))
    low, high = np.full((2, size), 2**31), np.full((2, size), -1)
    for cells in (ends, ends + 1):
        for axis, places in enumerate(np.divmod(cells, labels.shape[1])):
            np.minimum.at(low[axis], flat[cells], places)
            np.maximum.at(high[axis], flat[cells], places)
    return {
        label: (slice(low[0, label], high[0, label] + 1), slice(low[1, label], high[1, label] + 1))
        for label in range(1, size)
        if high[0, label] >= 0
    }
