"""An occupancy grid: free, occupied and unknown places of a map or costmap, and walls between."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, Pose

Points = NDArray[np.float64]
"""Shape (n, 2): x and y in the map frame [m]."""

MAP_OCCUPIED = 65  # from this value on map_server takes a cell as occupied (its occupied_thresh is 0.65)
# As Nav2 publishes costmaps: 100 lethal, 99 inscribed (a robot with its centre there collides), 1 to 98 near
# to an obstacle, 0 free, -1 unknown.
COSTMAP_OCCUPIED = 99
OUTSIDE = -2  # the value of what is not in the grid
_FAR_CELLS = 2**40

_T = TypeVar('_T', bound=np.generic)


@dataclass(frozen=True, eq=False)
class Grid:
    """A nav_msgs/OccupancyGrid.

    :param cells: shape (height, width), int8: -1 unknown, 0 free to 100 occupied; not copied
    :param resolution: side of a cell [m]
    :param origin: the outer corner of the cell at row 0 and column 0, in the map frame; columns go along
        its x axis, which may be turned by its yaw, rows along its y axis
    :param occupied_from: cells of this value and above are occupied
    """

    cells: NDArray[np.int8]
    resolution: float
    origin: Pose
    occupied_from: int = MAP_OCCUPIED

    @classmethod
    def from_data(
        cls,
        data: Any,
        *,
        width: int,
        height: int,
        resolution: float,
        origin: Pose,
        occupied_from: int = MAP_OCCUPIED,
    ) -> 'Grid':
        """Return the grid of a message's data, row by row.

        :raises InvalidRequest: the numbers do not make a grid
        """
        if width < 1 or height < 1:
            raise InvalidRequest(f'a grid of {width} x {height} cells is empty; publish a map that has some')
        if len(data) != width * height:
            raise InvalidRequest(f'a grid of {width} x {height} cells with {len(data)} values; republish it')
        # Its float32 may be a little off; nothing else is.
        if not math.isfinite(resolution) or resolution <= 0.0:
            raise InvalidRequest(f'a grid with cells of {resolution} m; its resolution has to be above 0')
        if not all(map(math.isfinite, (*origin.position, origin.yaw))):
            raise InvalidRequest(f'the origin {origin} of a grid is not finite')
        return cls(np.asarray(data, dtype=np.int8).reshape(height, width), resolution, origin, occupied_from)

    def patched(self, data: Any, *, x: int, y: int, width: int, height: int) -> 'Grid':
        """Return the grid with a part of it replaced, row by row.

        :param x: column where the part begins
        :param y: row where it begins
        :raises InvalidRequest: the part does not lie in the grid, or lacks values
        """
        rows, columns = self.cells.shape
        if x < 0 or y < 0 or x + width > columns or y + height > rows or len(data) != width * height:
            raise InvalidRequest(
                f'{len(data)} values for {width} x {height} cells from ({x}, {y}) on do not fit a grid of '
                f'{columns} x {rows}'
            )
        cells = self.cells.copy()
        cells[y : y + height, x : x + width] = np.asarray(data, dtype=np.int8).reshape(height, width)
        return replace(self, cells=cells)

    def cells_of(self, points: Points) -> NDArray[np.int64]:
        """Return row and column of the cells that the points lie in, shape (..., 2) as of the points.

        They may be outside the grid; a point that is not finite lies in (-1, -1).
        """
        cosine, sine = math.cos(self.origin.yaw), math.sin(self.origin.yaw)
        known = np.isfinite(points).all(axis=-1, keepdims=True)
        offset = np.where(known, points, 0.0) - (self.origin.x, self.origin.y)
        x, y = offset[..., 0], offset[..., 1]
        place = np.stack([cosine * y - sine * x, cosine * x + sine * y], axis=-1) / self.resolution
        place = np.clip(place, -_FAR_CELLS, _FAR_CELLS)
        return np.where(known, np.floor(place), -1.0).astype(np.int64)

    def centers(self, cells: NDArray[np.int64]) -> Points:
        """Return the centres of cells given by row and column, shape (n, 2)."""
        cosine, sine = math.cos(self.origin.yaw), math.sin(self.origin.yaw)
        v, u = ((cells + 0.5) * self.resolution).T
        return np.stack(
            [self.origin.x + cosine * u - sine * v, self.origin.y + sine * u + cosine * v], axis=1
        )

    def inside(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which of the cells, shape (..., 2), are in the grid."""
        return np.asarray(((cells >= 0) & (cells < self.cells.shape)).all(axis=-1))

    def look_up(self, layer: NDArray[_T], cells: NDArray[np.int64], outside: int) -> NDArray[_T]:
        """Return what a layer, of the shape of the grid, has in these cells, shape (..., 2)."""
        within = self.inside(cells)
        found = np.full(within.shape, outside, dtype=layer.dtype)
        found[within] = layer[tuple(cells[within].T)]
        return found

    def values(self, points: Points) -> NDArray[np.int8]:
        """Return the values at the points: -1 unknown, 0 to 100; or OUTSIDE."""
        return self.look_up(self.cells, self.cells_of(points), OUTSIDE)

    def is_free(self, points: Points) -> NDArray[np.bool_]:
        """Return which points lie in the grid, in a cell that is neither occupied nor unknown."""
        values = self.values(points)
        return np.asarray((values >= 0) & (values < self.occupied_from))

    def clearance(self, points: Points, at_most_m: float) -> Points:
        """Return how far it is from each point's cell to the nearest occupied one, centre to centre [m].

        :param at_most_m: what is farther than this counts as infinitely far; outside the grid nothing is near
        """
        cells = self.cells_of(points)
        within = self.inside(cells)
        distances: Points = np.full(len(cells), math.inf)
        if not within.any():
            return distances
        margin = math.ceil(at_most_m / self.resolution) + 1
        low = np.maximum(cells[within].min(axis=0) - margin, 0)
        high = np.minimum(cells[within].max(axis=0) + margin + 1, self.cells.shape)
        open_cells = (self.cells[low[0] : high[0], low[1] : high[1]] < self.occupied_from).astype(np.uint8)
        if open_cells.all():
            return distances
        away = cv2.distanceTransform(open_cells, cv2.DIST_L2, cv2.DIST_MASK_PRECISE) * self.resolution
        distances[within] = away[tuple((cells[within] - low).T)]
        distances[distances > at_most_m] = math.inf
        return distances


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
    cells = grid.cells_of(starts[:, None, :] + along[..., None] * (ends - starts)[:, None, :])
    occupied = _occupied(grid, cells)
    # A wall drawn aslant is passed between two of its cells, which touch at a corner.
    here, following = cells[:, :-1], cells[:, 1:]
    sides = (np.stack([here[..., 0], following[..., 1]], -1), np.stack([following[..., 0], here[..., 1]], -1))
    corner = _occupied(grid, sides[0]) & _occupied(grid, sides[1]) & (here != following).all(axis=-1)
    free = ~occupied
    left = np.maximum.accumulate(free, axis=1)
    ahead = np.maximum.accumulate(free[:, ::-1], axis=1)[:, ::-1]
    between = (occupied & left & ahead).any(axis=1) | (corner & left[:, :-1] & ahead[:, 1:]).any(axis=1)
    return np.asarray(between)


def _occupied(grid: Grid, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
    return grid.look_up(grid.cells, cells, OUTSIDE) >= grid.occupied_from
