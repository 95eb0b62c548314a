"""Finds rooms in an occupancy grid.

Where the floor is wider than a door, by its distance from walls, rooms begin, and grow until they meet in the
doors between them (a watershed). What then is no rectangle, such as a corridor with a library open to it, is
parted where it is much wider than elsewhere.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray

from remembr_ros.navigation.grid import Grid

CELL_M = 0.05  # finer cells tell no more about rooms
MANY_CELLS = 2**22  # 100 m x 100 m of these; a larger map is looked at in cells twice as wide
PASSAGES_M = (1.6, 1.3, 1.15, 1.0, 0.85, 0.7)  # what is wider than a double door does not part rooms
USUAL_DOOR_M = 1.1  # of two that meet in more and share no wall, furniture parts one
REACH_M, CLEAR_M, SHARED_M = 0.2, 0.3, 0.5  # a wall: this near to both, this far from the door, this long
LEAST_M2 = 1.5  # a small bathroom
LEAST_SEED_M2 = 1.8  # of it, where furniture leaves it wider than a door
WALL_M = 0.5  # no wall is as thick; what stands alone and is smaller is a leg, or noise
FURNITURE_M = 4.0  # the longest that stands alone: a table for ten with its chairs
EDGE_M = 2.0  # of the map's edge: what meets more of it is outside
NICHE_M = 1.0  # half of the widest niche between furniture that is filled
WALLED = 0.3  # of a room's border, at least; what a lidar saw through a window has none
WHOLE = 0.7  # of the rectangle round a room, from which it is no two
PART_M2 = 12.0  # of what is parted without a door, at least
WIDTHS_M = (2.0, 2.4, 2.8, 3.2, 4.0, 5.0, 6.5)  # of what ends where an open room begins

FAR = 1e5  # cells, where nothing is there to be far from

Mask = NDArray[np.bool_]
Labels = NDArray[np.int32]


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
    """Return the rooms of a map, the largest first."""
    if not grid.cells.size:
        return []
    fine = max(1, min(round(CELL_M / grid.resolution - 0.2), *grid.cells.shape))
    scale = (
        2 * fine if grid.cells.size > MANY_CELLS * fine**2 and fine * grid.resolution < 1.5 * CELL_M else fine
    )
    cell_m = grid.resolution * scale
    # Round it is a margin of one unknown cell. Walls stay, however thin.
    cells = np.pad(
        grid.cells, [(scale, scale + -side % scale) for side in grid.cells.shape], constant_values=-1
    )
    cells = cells.reshape(cells.shape[0] // scale, scale, -1, scale).max(axis=(1, 3))
    occupied = cells >= grid.occupied_from
    free = (cells >= 0) & ~occupied
    free |= _alone(free, cell_m)
    labels = _joined(_flooded(free, cell_m), free, cell_m)
    last = int(labels.max())
    for label, box in _boxes(labels):
        last = _part(labels, label, box, cell_m, last)
    edge = np.concatenate([labels[1], labels[-2], labels[:, 1], labels[:, -2]])
    labels[np.isin(labels, np.flatnonzero(np.bincount(edge) * cell_m > EDGE_M))] = 0
    found, occupied, wide = [], np.pad(occupied, 2), np.pad(labels, 2)
    for label, (rows, columns) in _boxes(labels):
        around = slice(rows.start, rows.stop + 4), slice(columns.start, columns.stop + 4)
        mask = wide[around] == label
        if mask.sum() * cell_m**2 >= LEAST_M2 and _is_walled(mask, occupied[around]):
            mask |= _closed(mask, cell_m) & (wide[around] == 0)
            corners = _outline(mask, LEAST_M2 / cell_m**2) + np.array([columns.start - 2, rows.start - 2])
            # The first cell is the margin; centers tells where the middle of a cell is.
            places = grid.centers((corners[:, ::-1] - 1) * scale + (scale - 1) / 2)
            shape = shapely.orient_polygons(shapely.Polygon(places))
            found.append(FoundRoom(tuple(shape.exterior.coords[:-1]), shape.area))
    return sorted((room for room in found if room.area_m2 >= LEAST_M2), key=lambda room: -room.area_m2)


def _away(mask: Mask, cell_m: float) -> NDArray[np.float32]:
    """Return how far each cell of a mask is from the others [m]."""
    away = cv2.distanceTransform(mask.astype(np.uint8), cv2.DIST_L2, 5)
    return np.asarray(np.minimum(away, FAR) * np.float32(cell_m), np.float32)


def _near(mask: Mask, cell_m: float, metres: float) -> Mask:
    """Return a mask and what is this near to it."""
    return np.asarray(_away(~mask, cell_m) <= metres)


def _closed(mask: Mask, cell_m: float) -> Mask:
    """Return a mask with its niches, where furniture stands."""
    margin = math.ceil(NICHE_M / cell_m) + 1
    wide = _near(np.pad(mask, margin), cell_m, NICHE_M)
    return ~_near(~wide, cell_m, NICHE_M)[margin:-margin, margin:-margin]


def _alone(free: Mask, cell_m: float) -> Mask:
    """Return what stands alone on the floor and is no wall: noise, legs, furniture, columns."""
    _, parts, stats, _ = cv2.connectedComponentsWithStats((~free).astype(np.uint8), connectivity=8)
    extent = stats[:, [cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT]].max(axis=1) * cell_m
    core = _away(~free, cell_m) > WALL_M / 2
    thick, wall = np.zeros((2, len(stats)), bool)
    thick[parts[core]] = True
    wall[parts[~free & ~_near(core, cell_m, WALL_M)]] = True
    alone = (extent <= WALL_M) | (thick & ~wall & (extent <= FURNITURE_M))
    alone[[0, parts[0, 0]]] = False  # the floor, and the margin
    return np.asarray(alone[parts])


def _flooded(free: Mask, cell_m: float) -> Labels:
    """Return the rooms that grow over ever narrower floor until they meet.

    They begin where it is wider than a door, then where it is narrower but longer.
    """
    away = _away(free, cell_m)
    labels = np.zeros(free.shape, np.int32)
    for width_m in PASSAGES_M[:: 1 if cell_m < 1.5 * CELL_M else 2]:
        open_floor = away > width_m / 2
        labels = _grown(open_floor, labels)
        _, parts, stats, _ = cv2.connectedComponentsWithStats(
            (open_floor & (labels == 0)).astype(np.uint8), connectivity=4
        )
        extent = stats[:, [cv2.CC_STAT_WIDTH, cv2.CC_STAT_HEIGHT]].max(axis=1) * cell_m
        size = stats[:, cv2.CC_STAT_AREA] * cell_m**2 + width_m * extent + math.pi * width_m**2 / 4
        keeps = size >= LEAST_SEED_M2
        keeps[0] = False
        labels += ((np.cumsum(keeps) + labels.max()) * keeps).astype(np.int32)[parts]
    return _grown(free, labels)


def _joined(labels: Labels, free: Mask, cell_m: float) -> Labels:
    """Return the rooms with those as one that meet but have no wall between them: furniture parts them."""
    numbers, disc = labels.astype(np.float32), _disc(REACH_M / cell_m)
    high, low = (
        cv2.dilate(numbers, disc),
        cv2.erode(np.where(labels > 0, numbers, np.inf).astype(np.float32), disc),
    )
    beside = cv2.dilate(numbers, np.ones((3, 3)))
    meeting = (labels > 0) & (beside != labels)
    walls = ~free & (high > low) & ~_near(meeting, cell_m, CLEAR_M)
    apart = _pairs(low[walls], high[walls], SHARED_M / cell_m)
    groups = {label: {label} for label in range(1, labels.max() + 1)}
    for a, b in _pairs(labels[meeting], beside[meeting], USUAL_DOOR_M / cell_m):
        first, second = groups[a], groups[b]
        if first is not second and not any((min(c, d), max(c, d)) in apart for c in first for d in second):
            groups |= dict.fromkeys(first | second, first | second)
    into = np.array([0, *(min(groups[label]) for label in range(1, labels.max() + 1))], np.int32)
    return np.asarray(into[labels])


def _pairs(left: NDArray[np.generic], right: NDArray[np.generic], least: float) -> dict[tuple[int, int], int]:
    """Return which two numbers stand side by side so often, most often first."""
    pairs, counts = np.unique(np.stack([left, right]).astype(np.int64), axis=1, return_counts=True)
    order = np.argsort(-counts)
    return {
        (int(a), int(b)): int(n)
        for (a, b), n in zip(pairs.T[order], counts[order], strict=True)
        if n >= least
    }


def _disc(radius: float) -> NDArray[np.uint8]:
    size = 2 * math.ceil(radius) + 1
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size)), np.uint8)


def _large(mask: Mask, least: float) -> Labels:
    """Return the connected parts of a mask that have so many cells, numbered from 1 on."""
    _, parts, stats, _ = cv2.connectedComponentsWithStats(mask.astype(np.uint8), connectivity=4)
    keeps = stats[:, cv2.CC_STAT_AREA] >= least
    keeps[0] = False
    return np.asarray((np.cumsum(keeps) * keeps)[parts], np.int32)


def _grown(free: Mask, seeds: Labels) -> Labels:
    """Return the rooms that grow from seeds over the floor, all at one pace, until they meet."""
    solid = seeds.max() + 1
    if solid == 1:
        return seeds
    labels = np.where(free, seeds, solid)
    # What is alike is flooded first, so nothing comes out of the walls.
    walls = np.where(free, np.uint8(0), np.uint8(255))
    grown = cv2.watershed(cv2.cvtColor(walls, cv2.COLOR_GRAY2BGR), labels)
    grown[~free | (grown == solid)] = 0
    # The lines between are of the room with the higher number.
    lines = grown < 0
    grown[lines] = cv2.dilate(np.maximum(grown, 0).astype(np.float32), np.ones((3, 3)))[lines]
    return np.asarray(grown, np.int32)


def _part(labels: Labels, label: int, box: tuple[slice, slice], cell_m: float, last: int) -> int:
    """Part what is no rectangle into what is wide, and what leads along it; return the last label then."""
    part = labels[box]
    mask = part == label
    if mask.sum() * cell_m**2 < 2 * PART_M2 or _fullness(mask) >= WHOLE:
        return last
    mask = np.pad(mask, 1)
    away, least = _away(mask, cell_m), PART_M2 / cell_m**2
    for width_m in WIDTHS_M:
        wide = mask & _near(away > width_m / 2, cell_m, width_m / 2)
        rooms, rest = _large(wide, least), mask & ~wide
        if not _large(rest, least).any():
            continue
        for number in range(1, rooms.max() + 1):
            room = rooms == number
            # What leads along it goes straight on between its ends.
            strip = _hull(room & _near(_large(rest, least / 2) > 0, cell_m, 3 * cell_m)) & room
            if (room & ~strip).sum() >= max(least, 0.4 * room.sum()):
                rooms[strip] = 0
                mine = _large(room & ~strip, least)
                rooms[room & (mine == 0)] = 0
            else:
                rooms[room] = 0
        if rooms.any():
            rooms = rooms[1:-1, 1:-1]
            part[rooms > 0] = rooms[rooms > 0] + last
            return last + int(rooms.max())
    return last


def _fullness(mask: Mask) -> float:
    """Return how much of the smallest rectangle round a mask it fills, 0 to 1."""
    _, (width, height), _ = cv2.minAreaRect(cv2.findNonZero(mask.astype(np.uint8)))
    return float(mask.sum() / max((width + 1) * (height + 1), 1.0))


def _hull(mask: Mask) -> Mask:
    """Return the convex hull of a mask."""
    points = cv2.findNonZero(mask.astype(np.uint8))
    filled = np.zeros(mask.shape, np.uint8)
    if points is not None:
        cv2.fillConvexPoly(filled, cv2.convexHull(points), 1)
    return filled > 0


def _is_walled(mask: Mask, occupied: Mask) -> bool:
    """Tell whether enough of a room's border is wall."""
    border = (cv2.dilate(mask.astype(np.uint8), np.ones((3, 3))) > 0) & ~mask
    return bool((cv2.dilate(occupied.astype(np.uint8), np.ones((3, 3)))[border] > 0).mean() >= WALLED)


def _outline(mask: Mask, least: float) -> NDArray[np.float64]:
    """Return the corners of a room, x and y in cells; a ring is cut open.

    :param least: cells of what is no part of it though it lies within it
    """
    room = mask.astype(np.uint8)
    contours, links = cv2.findContours(room, cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
    outer = max(contours, key=cv2.contourArea)[:, 0]
    room[:] = 0
    cv2.drawContours(room, [outer[:, None]], 0, 1, cv2.FILLED)
    for contour, (_, _, _, parent) in zip(contours, links[0], strict=True):
        if parent >= 0 and cv2.contourArea(contour) >= least:
            hole = contour[:, 0]
            cv2.drawContours(room, [contour], 0, 0, cv2.FILLED)
            away = np.linalg.norm(outer[:, None, ::1].astype(np.float32) - hole[None, ::8], axis=2)
            i, j = np.unravel_index(away.argmin(), away.shape)
            cv2.line(room, outer[i].tolist(), hole[::8][j].tolist(), 0, 3)
    contours, _ = cv2.findContours(room, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    points = max(contours, key=cv2.contourArea)[:, 0]
    middles = shapely.Polygon(points) if len(points) > 3 else shapely.MultiPoint(points).convex_hull
    shape = middles.buffer(0.5, cap_style='square', join_style='mitre').simplify(1.0)
    parts = shapely.get_parts(shape if shape.is_valid else shape.buffer(0.0))
    return np.array(max(parts, key=lambda part: part.area).exterior.coords[:-1])


def _boxes(labels: Labels) -> Iterator[tuple[int, tuple[slice, slice]]]:
    """Yield each label with the rows and columns that it is in."""
    from scipy.ndimage import find_objects

    for index, box in enumerate(find_objects(labels), 1):
        if box is not None:
            yield index, box
