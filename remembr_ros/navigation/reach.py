"""Where a robot can get to on a grid without leaving its free cells."""

from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import NDArray

from remembr_ros.navigation.grid import Grid, Points

_REACHED = 1


@dataclass(eq=False)
class Reach:
    """The free cells that are connected with where the robot was asked for, edge to edge.

    They are found once, and again only when the robot is on none of them.
    """

    grid: Grid
    _reached: NDArray[np.uint8] | None = field(default=None, repr=False)

    def reachable(self, here: tuple[float, float], points: Points) -> NDArray[np.bool_] | None:
        """Return which points lie in cells that can be reached from here; None if here is in no free cell."""
        start = np.array([here])
        if not self.grid.is_free(start)[0]:
            return None
        if self._reached is None or not self._look_up(start)[0]:
            self._reached = self._flood(self.grid.cells_of(start)[0])
        return self._look_up(points)

    def _look_up(self, points: Points) -> NDArray[np.bool_]:
        assert self._reached is not None
        cells = self.grid.cells_of(points)
        within = self.grid.inside(cells)
        found = np.zeros(len(cells), dtype=np.bool_)
        # The mask has a border of one cell.
        found[within] = self._reached[tuple((cells[within] + 1).T)] == _REACHED
        return found

    def _flood(self, start: NDArray[np.int64]) -> NDArray[np.uint8]:
        # Unknown cells are negative: as unsigned numbers they lie above all others.
        free = (self.grid.cells.view(np.uint8) < self.grid.occupied_from).view(np.uint8)
        height, width = free.shape
        mask = np.zeros((height + 2, width + 2), dtype=np.uint8)
        flags = 4 | cv2.FLOODFILL_MASK_ONLY | cv2.FLOODFILL_FIXED_RANGE | (_REACHED << 8)
        cv2.floodFill(free, mask, (int(start[1]), int(start[0])), (0,), (0,), (0,), flags)
        return mask
