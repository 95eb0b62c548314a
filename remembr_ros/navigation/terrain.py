"""Where a robot may stand: map, costmap and areas that no goal may lie in."""

import math
from dataclasses import dataclass
from functools import cached_property

import cv2
import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.navigation.grid import OUTSIDE, Grid, Points

_EDGE_M = 1e-6  # a point this near to an edge is on it


@dataclass(frozen=True)
class KeepOut:
    """A polygon; its edges belong to it. Where it overlaps itself an even number of times is outside.

    :param corners: x and y in the map frame [m], three or more, in either direction
    """

    corners: tuple[tuple[float, float], ...]

    @classmethod
    def parse(cls, text: str) -> 'KeepOut':
        """Return the polygon of a text such as '0 0, 4 0, 4 2.5' [m].

        :raises InvalidRequest: it is not three or more pairs of finite numbers
        """
        remedy = "give three or more corners as 'x y, x y, x y' in metres"
        try:
            corners = [tuple(float(number) for number in part.split()) for part in text.split(',')]
        except ValueError as error:
            raise InvalidRequest(f'the keep-out polygon {text!r}: {error}; {remedy}') from None
        if len(corners) < 3 or any(len(corner) != 2 for corner in corners):
            raise InvalidRequest(f'{text!r} is no keep-out polygon; {remedy}')
        if not all(math.isfinite(number) for corner in corners for number in corner):
            raise InvalidRequest(f'the keep-out polygon {text!r} is not finite; {remedy}')
        return cls(tuple((x, y) for x, y in corners))

    def contains(self, points: Points) -> NDArray[np.bool_]:
        """Return which points, shape (n, 2), lie inside or on an edge."""
        known = np.asarray(np.isfinite(points).all(axis=1))
        points = np.where(known[:, None], points, 0.0)
        x, y = points[:, :1], points[:, 1:]
        a = np.array(self.corners)
        b = np.roll(a, -1, axis=0)
        (ax, ay), (bx, by) = a.T, b.T
        crosses = (ay > y) != (by > y)
        # Only edges that cross the point's height count, and of these the height is part of the way: 0 to 1.
        part = np.where(crosses, y - ay, 0.0) / np.where(crosses, by - ay, 1.0)
        left_of = x < ax + part * (bx - ax)
        inside = (crosses & left_of).sum(axis=1) % 2 == 1
        return np.asarray(known & (inside | (_away_from_edges(points, a, b) <= _EDGE_M)))


def _away_from_edges(points: Points, a: Points, b: Points) -> Points:
    """Return each point's distance to the nearest edge from a to b [m]."""
    along = b - a
    length2 = np.maximum((along**2).sum(axis=1), 1e-300)
    offset = points[:, None, :] - a[None, :, :]
    part = np.clip((offset * along).sum(axis=2) / length2, 0.0, 1.0)
    return np.asarray(np.linalg.norm(offset - part[..., None] * along, axis=2).min(axis=1))


Place = tuple[float, float]  # x and y in the map frame [m]
FREE_STEP_M = 0.1  # where there is no grid, places are looked for on a lattice of this step
# In a larger area, 40 m wide with cells of 2 cm, only every second cell is looked at, or fewer.
_MOST_CANDIDATES = 4_000_000


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
            self._flood(*self._grid.cells_of(start)[0].tolist())
        return self._look_up(points)

    def _look_up(self, points: Points) -> NDArray[np.bool_]:
        return self._grid.look_up(self._reached, self._grid.cells_of(points), 0) > 0

    def _flood(self, row: int, column: int) -> None:
        # Unknown cells are negative: as unsigned numbers they lie above all others.
        free = (self._grid.cells.view(np.uint8) < self._grid.occupied_from).view(np.uint8)
        mask = np.zeros(np.add(free.shape, 2), np.uint8)  # with a border, as floodFill wants it
        flags = 4 | cv2.FLOODFILL_MASK_ONLY | cv2.FLOODFILL_FIXED_RANGE
        cv2.floodFill(free, mask, (column, row), (0,), (0,), (0,), flags)
        self._reached = mask[1:-1, 1:-1]


@dataclass(frozen=True, eq=False)
class Terrain:
    """What is known of where a robot may stand. What is not there has no say.

    :param map: the static map
    :param costmap: Nav2's global costmap
    :param keep_out: areas that no goal may lie in
    :param clearance_m: a goal is at least this far from what the map has as occupied; the costmap's own
        inflation tells the same of the costmap
    """

    map: Grid | None = None
    costmap: Grid | None = None
    keep_out: tuple[KeepOut, ...] = ()
    clearance_m: float = 0.0

    @cached_property
    def _reach(self) -> Reach | None:
        # The map rather than the costmap: a person in a doorway does not make a room unreachable.
        grid = self.map or self.costmap
        return Reach(grid) if grid is not None else None

    def objection(self, place: Place, here: Place | None = None) -> str:
        """Return why a robot cannot stand at a place, or not get there from here; empty: it can."""
        point = np.array([place])
        if not np.isfinite(point).all():
            return 'is not finite'
        for grid, name in ((self.map, 'map'), (self.costmap, 'global costmap')):
            if grid is not None and not grid.is_free(point)[0]:
                return _why_not_free(int(grid.values(point)[0]), name)
        if not self._is_clear(point)[0]:
            return f'is nearer than {self.clearance_m:g} m to an obstacle in the map'
        if any(area.contains(point)[0] for area in self.keep_out):
            return 'is in a keep-out area'
        if not self._is_reachable(point, here)[0]:
            return 'cannot be reached from here through free space'
        return ''

    def nearest_free(self, place: Place, radius_m: float, here: Place | None = None) -> Place | None:
        """Return the nearest place where a robot can stand: this one, or the centre of a cell in the radius.

        :param radius_m: around the place, inclusive [m]
        :param here: where the robot is; what it cannot get to from there is left out. None: unknown
        :return: None: there is none
        """
        if not all(map(math.isfinite, place)):
            return None
        if not self.objection(place, here):
            return place
        candidates = self.free_places(place, radius_m, here)
        if not len(candidates):
            return None
        x, y = candidates[np.argmin(np.hypot(*(candidates - place).T))]
        return float(x), float(y)

    def free_places(self, place: Place, radius_m: float, here: Place | None = None) -> Points:
        """Return the places around a place where a robot can stand; parameters as of nearest_free."""
        candidates = self._candidates(place, radius_m)
        candidates = candidates[np.hypot(*(candidates - place).T) <= radius_m]
        candidates = candidates[self._is_free(candidates)]
        return np.asarray(candidates[self._is_reachable(candidates, here)])

    def _is_free(self, points: Points) -> NDArray[np.bool_]:
        free = np.ones(len(points), dtype=np.bool_)
        for grid in (self.map, self.costmap):
            if grid is not None:
                free &= grid.is_free(points)
        for area in self.keep_out:
            free[free] = ~area.contains(points[free])
        return free & self._is_clear(points)

    def _is_clear(self, points: Points) -> NDArray[np.bool_]:
        if self.map is None or self.clearance_m <= 0.0:
            return np.ones(len(points), dtype=np.bool_)
        # Distances are between cells: half a cell is no difference.
        least = self.clearance_m - self.map.resolution / 2.0
        return np.asarray(self.map.clearance(points, self.clearance_m) >= least)

    def _is_reachable(self, points: Points, here: Place | None) -> NDArray[np.bool_]:
        found = None
        if here is not None and self._reach is not None and len(points):
            found = self._reach.reachable(here, points)
        # A robot that the map has inside a wall is badly localised; that is no reason to refuse all places.
        return np.ones(len(points), dtype=np.bool_) if found is None else found

    def _candidates(self, place: Place, radius_m: float) -> Points:
        grid = self.map or self.costmap
        if grid is None:
            steps = np.arange(-math.floor(radius_m / FREE_STEP_M), math.floor(radius_m / FREE_STEP_M) + 1)
            offsets = np.stack(np.meshgrid(steps, steps), axis=-1).reshape(-1, 2) * FREE_STEP_M
            return np.asarray(offsets + np.array(place))
        reach = math.ceil(radius_m / grid.resolution) + 1
        center = grid.cells_of(np.array([place]))[0]
        low = np.maximum(center - reach, 0)
        high = np.minimum(center + reach + 1, grid.cells.shape)
        if (high <= low).any():
            return np.empty((0, 2))
        stride = math.ceil(math.sqrt(max(1.0, float(np.prod(high - low)) / _MOST_CANDIDATES)))
        rows, columns = np.arange(low[0], high[0], stride), np.arange(low[1], high[1], stride)
        return grid.centers(np.stack(np.meshgrid(rows, columns, indexing='ij'), axis=-1).reshape(-1, 2))


def _why_not_free(value: int, name: str) -> str:
    if value == OUTSIDE:
        return f'is outside the {name}'
    return f'is in a part of the {name} that is unknown' if value < 0 else f'is occupied in the {name}'
