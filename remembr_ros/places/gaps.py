"""Finds the gaps in the walls of a floor: doors, passages, and where a room lies open to a corridor.

A gap is a straight line from the end or the corner of a wall, on along that wall or to another corner. It
parts two rooms where the floor is wider on its sides and the wall goes on beside it.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

CORNER_M = 0.15  # what leaves a straight wall by less is no corner
TURN = math.radians(25.0)  # of the wall, at least, at a corner
EDGE_M = 0.25  # the shortest wall that tells a direction
ALONG_M = 0.4  # of the wall beside a gap's end, that tells which way it runs there
LONGEST_M = 9.0  # the mouth of a library that lies open to its corridor
ASKEW_M = 2.6  # a shorter gap may lie oblique to the walls, as a door across a corner does
ALONG, SQUARE = math.cos(math.radians(12.0)), math.radians(15.0)  # of the walls, within this, a longer one
RING_M = 3.0  # the longest that by itself parts nothing: a room with two doors has two of these
DOOR_M = 1.1  # what is no wider, in a wall that goes on at both ends, is a door however thick the wall
GOES_ON_M = 0.4
LEAST_M2 = 1.6  # of what is parted: a cubicle
NEAR_M2 = 1.28  # of it within reach of the gap
OPEN_M2, MOUTH_M2 = (
    4.0,
    12.0,
)  # without a wall between: a corridor that opens into a hall; a hall into a corridor
DEEP = 0.4  # such a hall, in squares of its mouth
DOOR, NARROW, NO_WIDER = 0.6, 0.8, 1.1  # a gap, in widths of the floor beside it
WIDER = 1.5  # a hall than its corridor, where no wall is between them
LONG = 2.5  # a corridor, in squares of its width
WALL_M, BESIDE_M = 0.3, 0.5  # a wall: this near to both sides of it, this far from the gap
ROUNDS = (3, 1, 1)  # of the stages: in each more gaps are seen, for those of before part floor from floor
REACH, AROUND_M = 1.2, 1.5  # how far is looked round a gap, in its length, and at least

Mask = NDArray[np.bool_]
Points = NDArray[np.float64]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Gaps:
    """Where gaps may be; all lengths in cells.

    :ivar area: of what each parts, the smaller side; infinite where by itself it parts nothing
    """

    starts: Points
    ends: Points
    area: Points

    def __getitem__(self, which: NDArray[np.generic]) -> '_Gaps':
        return _Gaps(self.starts[which], self.ends[which], self.area[which])

    @property
    def lengths(self) -> Points:
        return np.asarray(np.linalg.norm(self.ends - self.starts, axis=1))


@dataclass(frozen=True, slots=True)
class _Side:
    """The floor on one side of a gap, as far as it is looked at; lengths in cells.

    :ivar wide: the largest circle in it
    :ivar along: how far it goes along the gap
    """

    floor: Mask
    wide: float
    along: float


class _Walls:
    """The borders of a floor, as rings of cells."""

    def __init__(self, floor: Mask, cell_m: float) -> None:
        contours, _ = cv2.findContours(floor.astype(np.uint8), cv2.RETR_CCOMP, cv2.CHAIN_APPROX_NONE)
        rings = [contour[:, 0].astype(np.float64) for contour in contours]
        self.counts = np.array([len(ring) for ring in rings], np.int64)
        self.firsts = np.cumsum(self.counts) - self.counts
        self.cells = np.concatenate([np.zeros((0, 2)), *rings])
        x, y = self.cells.astype(int).T
        self.index = np.full(floor.shape, -1, np.int64)
        self.index[y, x] = np.arange(len(self.cells))
        self.ring = np.repeat(np.arange(len(rings)), self.counts)
        following = self.cells[self.on(np.arange(len(self.cells)), 1)]
        twice = self.cells[:, 0] * following[:, 1] - self.cells[:, 1] * following[:, 0]
        self.swept = np.concatenate([[0.0], np.cumsum(twice)])
        corners = [_corners(np.asarray(contour, np.int32), cell_m) for contour in contours]
        self.corners = np.concatenate([np.zeros((0, 2)), *(at for at, _ in corners)])
        self.ways = np.concatenate([np.zeros((0, 2, 2)), *(ways for _, ways in corners)])

    def on(self, at: Numbers, steps: int) -> Numbers:
        """Return which cells are so many further on along their rings."""
        ring = self.ring[at]
        return np.asarray(self.firsts[ring] + (at - self.firsts[ring] + steps) % self.counts[ring])

    def area(self, a: Numbers, b: Numbers) -> Points:
        """Return the floor that lines between cells part, the smaller side; infinite between two rings."""
        first, ring = self.firsts[self.ring[a]], self.ring[a]
        whole = self.swept[first + self.counts[ring]] - self.swept[first]
        chain = self.swept[b] - self.swept[a] + np.where(b < a, whole, 0.0)
        (ax, ay), (bx, by) = self.cells[a].T, self.cells[b].T
        one = -(chain + bx * ay - by * ax) / 2
        other = -whole / 2 - one
        smaller, larger = np.minimum(one, other), np.maximum(one, other)
        return np.where(self.ring[b] != ring, np.inf, np.where(smaller > 0, smaller, larger))

    def fits(self, at: Numbers, way: Points, steps: int) -> Mask:
        """Tell whether lines run along the wall at their end, or square to it."""
        fits = np.zeros(len(at), bool)
        for step in (steps, -steps):
            wall = self.cells[self.on(at, step)] - self.cells[at]
            cosine = np.abs((wall * way).sum(axis=1)) / np.maximum(np.linalg.norm(wall, axis=1), 1e-9)
            fits |= (cosine >= math.cos(SQUARE)) | (cosine <= math.sin(SQUARE))
        return fits


def parted(floor: Mask, cell_m: float) -> NDArray[np.int32]:
    """Return the floor in parts, numbered from 1 on; the gaps between, and what is too small, are 0."""
    floor = floor.copy()
    # Doors first: what is seen through them makes a corridor no wider. Then halls, then corridors.
    for stage in range(3):
        refused: set[tuple[float, ...]] = set()
        for _ in range(ROUNDS[stage]):
            before = floor.copy()
            for gap in _candidates(floor, cell_m, stage):
                if gap[:4] not in refused and not _cut(floor, gap, cell_m, stage):
                    refused.add(gap[:4])
            if (floor == before).all():
                break
    _, parts, stats, _ = cv2.connectedComponentsWithStats(floor.astype(np.uint8), connectivity=4)
    keeps = stats[:, cv2.CC_STAT_AREA] * cell_m**2 >= LEAST_M2
    keeps[0] = False
    return np.asarray((np.cumsum(keeps) * keeps)[parts], np.int32)


def _corners(contour: NDArray[np.int32], cell_m: float) -> tuple[Points, Points]:
    """Return where a wall ends or turns away from the floor, and the two ways on along it, 0 where unsure."""
    ring = cv2.approxPolyDP(contour, CORNER_M / cell_m, True)[:, 0].astype(np.float64)
    if len(ring) < 3:
        return np.zeros((0, 2)), np.zeros((0, 2, 2))
    into, out = ring - np.roll(ring, 1, axis=0), np.roll(ring, -1, axis=0) - ring
    cross, dot = into[:, 0] * out[:, 1] - into[:, 1] * out[:, 0], (into * out).sum(axis=1)
    ways = np.stack([into, -out], axis=1)
    lengths = np.linalg.norm(ways, axis=2, keepdims=True)
    ways = ways / lengths * (lengths * cell_m >= EDGE_M)
    turns = np.arctan2(cross, dot) > TURN
    return ring[turns], ways[turns]


def _candidates(floor: Mask, cell_m: float, stage: int) -> Iterator[tuple[float, ...]]:
    """Yield the start, the end and the area of what may be gaps, the shortest first."""
    walls = _Walls(floor, cell_m)
    if not len(walls.corners):
        return
    between, on = _between(walls, cell_m), _along(walls, floor, cell_m)
    starts, ends = (np.concatenate(pair) for pair in zip(between, on, strict=True))
    # A line may end beside its ring, where only a corner of a cell touches the wall.
    index = np.where(
        walls.index < 0, cv2.dilate(walls.index.astype(np.float64), np.ones((3, 3))), walls.index
    )
    a, b = (index[at[:, 1].astype(int), at[:, 0].astype(int)].astype(np.int64) for at in (starts, ends))
    gaps = _Gaps(starts, ends, walls.area(a, b))
    metres, m2 = gaps.lengths * cell_m, gaps.area * cell_m**2
    way = (ends - starts) / np.maximum(gaps.lengths, 1e-9)[:, None]
    steps = max(3, round(ALONG_M / cell_m))
    may_be = (b >= 0) & (gaps.lengths > 2) & (metres <= LONGEST_M)
    may_be &= (metres <= ASKEW_M) | (walls.fits(a, way, steps) & walls.fits(b, way, steps))
    least = (LEAST_M2, MOUTH_M2, OPEN_M2)[stage]
    may_be &= (m2 >= least) & (np.isfinite(m2) if stage else np.isfinite(m2) | (metres <= RING_M))
    may_be &= metres < (1.2, 1.6, 1.2)[stage] * np.sqrt(
        np.maximum(m2, 0.0)
    )  # a mere strip of floor along a wall
    gaps = gaps[may_be]
    gaps = gaps[np.argsort(gaps.lengths)]
    visible = np.ones(len(gaps.area), bool)
    for part in np.linspace(0.02, 0.98, 50)[:, None]:
        x, y = np.round(gaps.starts + part * (gaps.ends - gaps.starts)).astype(int).T
        visible &= floor[y, x]
    gaps = gaps[visible]
    yield from map(tuple, np.column_stack([gaps.starts, gaps.ends, np.round(gaps.area)]).tolist())


def _between(walls: _Walls, cell_m: float) -> tuple[Points, Points]:
    """Return lines from corner to corner; the longer ones are on along the wall of one of them."""
    from scipy.spatial import cKDTree

    pairs = cKDTree(walls.corners).query_pairs(LONGEST_M / cell_m, output_type='ndarray')
    a, b = pairs.reshape(-1, 2).T
    way = walls.corners[b] - walls.corners[a]
    length = np.linalg.norm(way, axis=1)
    cosines = [np.abs((walls.ways[at] * way[:, None]).sum(axis=2)).max(axis=1) for at in (a, b)]
    keeps = np.flatnonzero((np.maximum(*cosines) >= ALONG * length) | (length * cell_m <= ASKEW_M))
    # Of lines that lie side by side one will do.
    thirds = np.concatenate([walls.corners[a[keeps]], walls.corners[b[keeps]]], axis=1) // 3
    keeps = keeps[np.unique(thirds, axis=0, return_index=True)[1]]
    return walls.corners[a[keeps]], walls.corners[b[keeps]]


def _along(walls: _Walls, floor: Mask, cell_m: float) -> tuple[Points, Points]:
    """Return lines on along the walls of each corner, to where they meet another wall."""
    starts, ways = np.repeat(walls.corners, 2, axis=0), walls.ways.reshape(-1, 2)
    ends, high = starts.copy(), np.array(floor.shape[::-1]) - 1
    goes = (ways != 0).any(axis=1)
    for step in range(1, int(LONGEST_M / cell_m) + 2):
        at = np.clip(np.round(starts[goes] + step * ways[goes]), 0, high)
        free = floor[at[:, 1].astype(int), at[:, 0].astype(int)] | (step == 1)
        going = np.flatnonzero(goes)
        ends[going[free]] = at[free]
        goes[going[~free]] = False
    return starts[~goes], ends[~goes]


def _cut(floor: Mask, gap: tuple[float, ...], cell_m: float, stage: int) -> bool:
    """Part the floor at a gap, where it is one; tell whether."""
    start, end, m2 = np.array(gap[:2]), np.array(gap[2:4]), gap[4] * cell_m**2
    steps = np.linspace(0.0, 1.0, math.ceil(math.dist(start, end)) + 2)[1:-1, None]
    x, y = np.round(start + steps * (end - start)).astype(int).T
    if not floor[y, x].all():  # a gap of before crosses it
        return False
    window, far, sides = _sides(floor, start, end, cell_m)
    if len(sides) < 2:
        return False
    length = math.dist(start, end)
    is_gap = (
        length * cell_m <= DOOR_M
        and length <= DOOR * min(side.wide for side in sides)
        and _goes_on(floor, start, end, cell_m)
    ) or (
        _is_mouth(sides, length, m2, cell_m)
        if stage == 1
        else (_is_narrow(sides, length, m2, cell_m) and _is_wall_between(window, far, sides, cell_m))
        or (stage == 2 and _is_open(sides, length, m2, cell_m))
    )
    if is_gap:
        cv2.line(floor.view(np.uint8), start.astype(int).tolist(), end.astype(int).tolist(), 0, 1)
    return is_gap


def _is_narrow(sides: list[_Side], length: float, m2: float, cell_m: float) -> bool:
    """Tell whether a gap is narrower than the floor on its sides: a door."""
    low, high = sorted(side.wide for side in sides)
    if math.isinf(m2):
        return length <= DOOR * low
    narrow = length <= NARROW * max(high, min(side.along for side in sides))
    return narrow and length <= NO_WIDER * high and _are_rooms(sides, length, m2, cell_m)


def _is_open(sides: list[_Side], length: float, m2: float, cell_m: float) -> bool:
    """Tell whether a gap is where a corridor opens into a hall."""
    low, high = sorted(side.wide for side in sides)
    opens = high >= WIDER * low and length <= NO_WIDER * high and m2 >= OPEN_M2
    return opens and _are_rooms(sides, length, m2, cell_m)


def _is_mouth(sides: list[_Side], length: float, m2: float, cell_m: float) -> bool:
    """Tell whether a gap is where a hall lies open to a corridor that goes on beside it."""
    low, high = sorted(sides, key=lambda side: side.wide)
    beside = length <= NARROW * low.along and length <= NO_WIDER * high.along
    deep = m2 >= max(MOUTH_M2, DEEP * (length * cell_m) ** 2)
    return high.wide >= WIDER * low.wide and beside and deep


def _are_rooms(sides: list[_Side], length: float, m2: float, cell_m: float) -> bool:
    """Tell whether the sides of a gap are more than niches: wider than it, or long as corridors are."""
    return m2 >= LONG * (length * cell_m) ** 2 or all(
        length <= NARROW * side.wide or (length <= NARROW * side.along and length <= NO_WIDER * side.wide)
        for side in sides
    )


def _sides(floor: Mask, start: Points, end: Points, cell_m: float) -> tuple[Mask, Points, list[_Side]]:
    """Return the floor round a gap, how far each cell of it is from the gap, and its two sides."""
    length, (x, y) = math.dist(start, end), np.round((start + end) / 2).astype(int)
    radius = int(max(REACH * length, AROUND_M / cell_m)) + 3
    top, left = max(y - radius, 0), max(x - radius, 0)
    window = floor[top : y + radius + 1, left : x + radius + 1]
    rows, columns = np.arange(window.shape[0])[:, None], np.arange(window.shape[1])
    dx, dy = (end - start) / length
    along = (columns + left - start[0]) * dx + (rows + top - start[1]) * dy
    across = (rows + top - start[1]) * dx - (columns + left - start[0]) * dy
    far = np.abs(across) + np.maximum(np.maximum(-along, along - length), 0)
    sides: list[_Side] = []
    for one in (across, -across):
        beside = window & (one > 0.5)
        _, parts = cv2.connectedComponents(beside.view(np.uint8), connectivity=4)
        counts = np.bincount(parts[beside & (one < 2.5) & (along > 0) & (along < length)])
        side = parts == counts.argmax() if counts.size else beside
        if np.count_nonzero(side) * cell_m**2 < NEAR_M2 or not counts.size:
            break
        wide = 2 * float(cv2.distanceTransform(side.view(np.uint8), cv2.DIST_L2, 5).max())
        near = along[side & (one <= max(length, 1 / cell_m))]
        sides.append(_Side(side, wide, float(near.max() - near.min()) + 1))
    return window, far, sides


def _goes_on(floor: Mask, start: Points, end: Points, cell_m: float) -> bool:
    """Tell whether there is wall in the line of a gap beyond both its ends."""
    way, steps = (end - start) / math.dist(start, end), np.arange(2, 2 + GOES_ON_M / cell_m)[:, None]
    for at, out in ((start, -way), (end, way)):
        x, y = np.clip(np.round(at + out * steps).astype(int), 0, np.array(floor.shape[::-1]) - 1).T
        if floor[y, x].mean() > 0.1:
            return False
    return True


def _is_wall_between(window: Mask, far: Points, sides: list[_Side], cell_m: float) -> bool:
    """Tell whether a wall beside a gap has both its sides near."""
    wall = ~window & (far > BESIDE_M / cell_m)
    for side in sides:
        away = cv2.distanceTransform((~side.floor).astype(np.uint8), cv2.DIST_L2, 5)
        wall &= away <= WALL_M / cell_m
    return int(wall.sum()) >= 4
