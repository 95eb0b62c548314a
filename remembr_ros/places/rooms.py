"""Finds rooms in an occupancy grid.

The floor is parted at the gaps in its walls. What is open to the edge of the map is a room where walls are
round most of it, as round a hall with a gate; the outside is none.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
import shapely
from numpy.typing import NDArray

from remembr_ros.navigation.grid import Grid
from remembr_ros.places.gaps import parted

CELL_M = 0.05  # finer cells tell no more about rooms
MANY_CELLS = 2**22  # 100 m x 100 m of these; a larger map is looked at in cells twice as wide
LEAST_M2 = 1.5  # a small bathroom
WALL_M = 0.5  # no wall is as thick; what stands alone and is smaller is a leg, or noise
FURNITURE_M = 4.0  # the longest that stands alone: a table for ten with its chairs
EDGE_M = 2.0  # of the map's edge: what meets more of it is outside, or a hall with a gate
NICHE_M = 1.0  # half of the widest niche between furniture that is filled
WALLED_AT_EDGE = 0.65  # of its border, at least: a gate in a side of a square hall, all of it, leaves more
WALLED = 0.3  # of a room's border, at least; what a lidar saw through a window has none

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
    labels = _grown(free, parted(free, cell_m))
    edge = np.concatenate([labels[1], labels[-2], labels[:, 1], labels[:, -2]])
    at_edge = set(np.flatnonzero(np.bincount(edge) * cell_m > EDGE_M).tolist())
    found, occupied, wide = [], np.pad(occupied, 2), np.pad(labels, 2)
    for label, (rows, columns) in _boxes(labels):
        around = slice(rows.start, rows.stop + 4), slice(columns.start, columns.stop + 4)
        mask = wide[around] == label
        walled = WALLED_AT_EDGE if label in at_edge else WALLED
        if mask.sum() * cell_m**2 >= LEAST_M2 and _walled(mask, occupied[around]) >= walled:
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


def _walled(mask: Mask, occupied: Mask) -> float:
    """Return how much of the border round a room is wall; what stands within it is no border."""
    filled = mask.astype(np.uint8)
    contours, _ = cv2.findContours(filled, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    cv2.drawContours(filled, contours, -1, 1, cv2.FILLED)
    border = (cv2.dilate(filled, np.ones((3, 3))) > 0) & (filled == 0)
    return float((cv2.dilate(occupied.astype(np.uint8), np.ones((3, 3)))[border] > 0).mean())


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
