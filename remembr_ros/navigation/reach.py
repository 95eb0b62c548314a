"""Where a robot can get to on a grid without leaving its free cells."""

import cv2
import numpy as np
from numpy.typing import NDArray

from remembr_ros.navigation.grid import Grid, Points


class Reach:
    """The free cells that are connected with where the robot was asked for, edge to edge.

    They are found once, and again only when the robot is on none of them.
    """

    def __init__(self, grid: Grid) -> None:
        self._grid = grid
        self._reached = np.zeros_like(grid.cells, np.uint8)

    def reachable(self, here: tuple[float, float], points: Points) -> NDArray[np.bool_] | None:
        """Return which points lie in cells that can be reached from here; None if here is in no free cell."""
        start = np.array([here])
        if not self._grid.is_free(start)[0]:
            return None
        if not self._look_up(start)[0]:
            self._flood(self._grid.cells_of(start)[0])
        return self._look_up(points)

    def _look_up(self, points: Points) -> NDArray[np.bool_]:
        return self._grid.look_up(self._reached, self._grid.cells_of(points), 0) > 0

    def _flood(self, start: NDArray[np.int64]) -> None:
        # Unknown cells are negative: as unsigned numbers they lie above all others.
        free = (self._grid.cells.view(np.uint8) < self._grid.occupied_from).view(np.uint8)
        mask = np.zeros(np.add(free.shape, 2), np.uint8)  # with a border, as floodFill wants it
        flags = 4 | cv2.FLOODFILL_MASK_ONLY | cv2.FLOODFILL_FIXED_RANGE
        cv2.floodFill(free, mask, (int(start[1]), int(start[0])), (0,), (0,), (0,), flags)
        self._reached = mask[1:-1, 1:-1]
