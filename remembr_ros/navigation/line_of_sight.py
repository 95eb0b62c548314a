"""Whether a wall of the map lies between two places."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point
from remembr_ros.navigation.grid import OUTSIDE, Grid


def walls_between(grid: Grid, place: Point, others: Sequence[Point]) -> NDArray[np.bool_]:
    """Return, for each other place, whether the straight line to it crosses what is occupied in the grid.

    What a place itself lies in is not between: the robot stood there. Unknown cells are no walls, nor is what
    lies outside the grid.

    :param place: of which x and y count [m]
    """
    # Always from the same end, in steps of half a cell: what grazes a corner is the same both ways.
    pairs = np.array([sorted((place[:2], other[:2])) for other in others], np.float64).reshape(-1, 2, 2)
    starts, ends = pairs[:, 0], pairs[:, 1]
    steps = np.ceil(2.0 * np.hypot(*(ends - starts).T) / grid.resolution) + 1.0
    along = np.minimum(np.arange(steps.max(initial=0.0) + 1.0) / steps[:, None], 1.0)
    points = starts[:, None, :] + along[..., None] * (ends - starts)[:, None, :]
    cells = grid.cells_of(points)
    occupied = _occupied(grid, cells)
    # A wall drawn aslant is passed between two of its cells, which touch at a corner.
    here, there = cells[:, :-1], cells[:, 1:]
    sides = (np.stack([here[..., 0], there[..., 1]], -1), np.stack([there[..., 0], here[..., 1]], -1))
    corner = _occupied(grid, sides[0]) & _occupied(grid, sides[1]) & (here != there).all(axis=-1)
    free = ~occupied
    left = np.maximum.accumulate(free, axis=1)
    ahead = np.maximum.accumulate(free[:, ::-1], axis=1)[:, ::-1]
    between = (occupied & left & ahead).any(axis=1) | (corner & left[:, :-1] & ahead[:, 1:]).any(axis=1)
    return np.asarray(between)


def _occupied(grid: Grid, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    return grid.look_up(grid.cells, cells, OUTSIDE) >= grid.occupied_from
