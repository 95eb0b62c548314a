"""Ways through a map for a round robot: the shortest, and how long they are."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point
from remembr_ros.navigation.grid import Grid, Points, walls_between

ROBOT_M = 0.22  # radius of the robot
SEARCHES = 64  # whose outcome is kept, half a megabyte each

_Found = tuple[NDArray[np.float64], NDArray[np.int32]]
"""Of each cell how far it is [m], and from which one."""


class Ways:
    """Shortest ways on a grid, from cell to cell and across their corners.

    :param grid: what is occupied in it; unknown cells are, too
    :param radius_m: of the robot
    """

    def __init__(self, grid: Grid, radius_m: float = ROBOT_M) -> None:
        from scipy.sparse import csr_array

        self.grid = grid
        rows, columns = grid.cells.shape
        cells = np.stack(np.meshgrid(range(rows), range(columns), indexing='ij'), axis=-1).reshape(-1, 2)
        self.places: Points = grid.centers(cells)
        clear = grid.clearance(self.places, radius_m) > radius_m
        self.is_free: NDArray[np.bool_] = np.logical_and(grid.is_free(self.places), clear)
        blocked = np.where(self.is_free, 0, 100).astype(np.int8).reshape(rows, columns)
        self._blocked = Grid(blocked, grid.resolution, grid.origin)
        number = np.arange(rows * columns).reshape(rows, columns)
        first: list[NDArray[np.int64]] = []
        second: list[NDArray[np.int64]] = []
        lengths: list[NDArray[np.float64]] = []
        for start, end, step in (
            (number[:, :-1], number[:, 1:], 1.0),
            (number[:-1], number[1:], 1.0),
            (number[:-1, :-1], number[1:, 1:], 2.0**0.5),
            (number[:-1, 1:], number[1:, :-1], 2.0**0.5),
        ):
            kept = self.is_free[start] & self.is_free[end]
            first.append(start[kept])
            second.append(end[kept])
            lengths.append(np.full(kept.sum(), step * grid.resolution))
        ends = np.concatenate(first), np.concatenate(second)
        self._graph = csr_array((np.concatenate(lengths), ends), shape=(len(cells), len(cells)))
        self._from = lru_cache(SEARCHES)(self._search)

    def metres(self, start: Sequence[float], goals: Points) -> NDArray[np.float64]:
        """Return how far it is to each of some places [m]; infinite where no way leads.

        :param start: x and y [m]; who stands where no robot can, starts from the nearest place where it can
        :param goals: shape (n, 2)
        """
        away, _ = self._from(self._cell(start))
        return np.asarray(away[self._cells(goals)])

    def way(self, start: Sequence[float], goal: Sequence[float]) -> list[tuple[float, float]]:
        """Return the corners of the shortest way [m], start and goal among them; empty: there is none."""
        first, at = self._cell(start), self._cell(goal)
        away, before = self._from(first)
        if not np.isfinite(away[at]):
            return []
        cells = [at]
        while cells[-1] != first:
            cells.append(int(before[cells[-1]]))
        points = [(start[0], start[1]), *map(tuple, self.places[cells[-2:0:-1]].tolist()), (goal[0], goal[1])]
        corners = points[:1]
        while corners[-1] != points[-1]:  # straight on, as far as nothing is between
            left = points[points.index(corners[-1]) + 1 :]
            corner: Point = (*corners[-1], 0.0)
            hidden = walls_between(self._blocked, corner, [(*place, 0.0) for place in left])
            corners.append(left[max(int(np.argmax(hidden)) - 1, 0) if hidden.any() else -1])
        return corners

    def _cell(self, place: Sequence[float]) -> int:
        """Return the number of the free cell that is nearest to a place."""
        return int(self._cells(np.array([place[:2]]))[0])

    def _cells(self, places: Points) -> NDArray[np.int64]:
        """Return the numbers of the free cells that are nearest to places, shape (n,)."""
        cells = self.grid.cells_of(places)
        inside = self.grid.inside(cells)
        numbers = np.where(inside, cells[:, 0] * self.grid.cells.shape[1] + cells[:, 1], 0)
        for i in np.flatnonzero(~(inside & self.is_free[numbers])):
            off = np.hypot(*(self.places - places[i]).T)
            numbers[i] = np.argmin(np.where(self.is_free, off, np.inf))
        return numbers

    def _search(self, cell: int) -> _Found:
        from scipy.sparse.csgraph import dijkstra

        away, before = dijkstra(self._graph, directed=False, indices=cell, return_predecessors=True)
        return away, before
