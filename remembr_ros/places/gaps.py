"""Finds the gaps in the walls of a floor: doors, passages, and where a hall and a corridor lie open.

A gap is a straight line from the end or the corner of a wall, on along that wall or to another corner. It
parts two rooms where the floor is wider beside it and a wall goes on beside it; halls and corridors also
without a wall between.
"""

import math
from collections.abc import Iterator

import cv2
import numpy as np
from numpy.typing import NDArray

CORNER_M = 0.15  # what leaves a straight wall by less is no corner
TURN = math.radians(25.0)  # of the wall, at least, at a corner
EDGE_M = 0.25  # the shortest wall that tells a direction
LONGEST_M = 9.0  # the mouth of a library that lies open to its corridor
SHORT_M = 2.6  # a gap no longer may lie oblique to the walls, or be one of two doors of a room
ALONG_M = 0.4  # of the wall at an end of a longer gap, that tells which way it runs there
ALONG, SQUARE = math.cos(math.radians(12.0)), math.radians(15.0)  # of the walls, within this, a longer one
LONG = 2.5  # a corridor, in squares of its width
LEAST_M2, OPEN_M2 = 1.6, 4.0  # of what is parted: a cubicle; a corridor that opens into a hall
DOOR_M, GOES_ON_M = 1.1, 0.4  # a door is no wider, if the wall goes on at both ends, however thick that is
STRIPS = 1.2, 1.6  # of doors, of halls: sides of a square as large as what is parted; else it is a strip
DOOR, NARROW, NO_WIDER = 0.6, 0.8, 1.1  # a gap, in widths of the floor beside it
MOUTH_M2 = 12.0  # a hall that lies open to a corridor
WIDER = 1.5  # a hall than its corridor, where no wall is between them
WALL_M, BESIDE_M = 0.3, 0.5  # a wall: this near to both sides of a gap, this far from it
ROUNDS = 3  # of doors, each of which may make a corridor of what was a part of a room; then one of halls
REACH, AROUND_M = 1.2, 1.5  # how far is looked round a gap, in its length, and at least

Mask = NDArray[np.bool_]
Points = NDArray[np.float64]
Numbers = NDArray[np.int64]


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
        walls = np.stack([self.cells[self.on(at, step)] - self.cells[at] for step in (steps, -steps)])
        cosine = np.abs((walls * way).sum(axis=2)) / np.maximum(np.linalg.norm(walls, axis=2), 1e-9)
        return np.asarray(((cosine >= math.cos(SQUARE)) | (cosine <= math.sin(SQUARE))).any(axis=0))


def parted(floor: Mask, cell_m: float) -> NDArray[np.int32]:
    """Return the floor in parts, numbered from 1 on; the gaps between, and what is too small, are 0."""
    floor = floor.copy()
    refused: set[tuple[float, ...]] = set()
    for left in range(ROUNDS, -1, -1):
        for gap in _candidates(floor, cell_m, STRIPS[left == 0]):
            if (left == 0 or gap not in refused) and not _cut(floor, gap, cell_m, halls=left == 0):
                refused.add(gap)
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


def _candidates(floor: Mask, cell_m: float, strip: float) -> Iterator[tuple[float, ...]]:
    """Yield what may be gaps, the shortest first: start, end, and the cells parted, infinite in a ring."""
    walls = _Walls(floor, cell_m)
    if not len(walls.corners):
        return
    between, on = _between(walls, cell_m), _along(walls, floor, cell_m)
    starts, ends = (np.concatenate(pair) for pair in zip(between, on, strict=True))
    # A line may end beside its ring, where only a corner of a cell touches the wall.
    near = cv2.dilate(walls.index.astype(np.float64), np.ones((3, 3)))
    index = np.where(walls.index < 0, near, walls.index)
    a, b = (index[at[:, 1].astype(int), at[:, 0].astype(int)].astype(np.int64) for at in (starts, ends))
    lengths, area = np.linalg.norm(ends - starts, axis=1), walls.area(a, b)
    short, way = lengths * cell_m <= SHORT_M, (ends - starts) / np.maximum(lengths, 1e-9)[:, None]
    steps = max(3, round(ALONG_M / cell_m))
    may_be = (b >= 0) & (lengths > 2) & (lengths * cell_m <= LONGEST_M)
    may_be &= short | (np.isfinite(area) & walls.fits(a, way, steps) & walls.fits(b, way, steps))
    may_be &= area >= np.maximum(LEAST_M2 / cell_m**2, (lengths / strip) ** 2)
    order = np.flatnonzero(may_be)[np.argsort(lengths[may_be])]
    for part in np.linspace(0.02, 0.98, 50)[:, None]:
        x, y = np.round(starts[order] + part * (ends[order] - starts[order])).astype(int).T
        order = order[floor[y, x]]
    yield from map(tuple, np.column_stack([starts, ends, np.round(area)])[order].tolist())


def _between(walls: _Walls, cell_m: float) -> tuple[Points, Points]:
    """Return lines from corner to corner; the longer ones are on along the wall of one of them."""
    from scipy.spatial import cKDTree

    pairs = cKDTree(walls.corners).query_pairs(LONGEST_M / cell_m, output_type='ndarray')
    a, b = pairs.reshape(-1, 2).T
    way = walls.corners[b] - walls.corners[a]
    length = np.linalg.norm(way, axis=1)
    cosines = [np.abs((walls.ways[at] * way[:, None]).sum(axis=2)).max(axis=1) for at in (a, b)]
    keeps = np.flatnonzero((np.maximum(*cosines) >= ALONG * length) | (length * cell_m <= SHORT_M))
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


def _cut(floor: Mask, gap: tuple[float, ...], cell_m: float, *, halls: bool) -> bool:
    """Part the floor at a gap, where it is one; tell whether."""
    start, end, length = np.array(gap[:2]), np.array(gap[2:4]), math.dist(gap[:2], gap[2:4])
    steps = np.linspace(0.0, 1.0, math.ceil(length) + 2)[1:-1, None]
    x, y = np.round(start + steps * (end - start)).astype(int).T
    if not floor[y, x].all():  # a gap of before crosses it
        return False
    window, (along, across), sides = _sides(floor, start, end, cell_m)
    if len(sides) < 2:
        return False
    wide = [2 * float(_away(side).max()) for side, _ in sides]
    if math.isinf(gap[4]):
        narrow, opens = length <= DOOR * min(wide), False
    else:
        narrow = length <= NARROW * max(*wide, min(long for _, long in sides)) and length <= NO_WIDER * max(
            wide
        )
        opens = (
            halls
            and gap[4] * cell_m**2 >= OPEN_M2
            and max(wide) >= WIDER * min(wide)
            and length <= NO_WIDER * max(wide)
        )
        # Its sides are more than niches: wider than it, or long as corridors are.
        rooms = gap[4] >= LONG * length**2 or all(
            length <= NARROW * size or (length <= NARROW * long and length <= NO_WIDER * size)
            for size, (_, long) in zip(wide, sides, strict=True)
        )
        narrow, opens = narrow and rooms, opens and rooms
        if halls and max(wide) >= WIDER * min(wide):
            (_, beside), (_, deep) = sorted(zip(wide, (long for _, long in sides), strict=True))
            opens |= length <= min(NARROW * beside, NO_WIDER * deep) and gap[4] * cell_m**2 >= MOUTH_M2
    door = length <= min(DOOR * min(wide), DOOR_M / cell_m) and _goes_on(floor, start, end, cell_m)
    if narrow and not opens and not door:
        far = np.abs(across) + np.maximum(np.maximum(-along, along - length), 0)
        wall = ~window & (far > BESIDE_M / cell_m)
        for side, _ in sides:
            wall &= _away(~side) <= WALL_M / cell_m
        narrow = bool(np.count_nonzero(wall) >= 4)
    if door or narrow or opens:
        cv2.line(floor.view(np.uint8), start.astype(int).tolist(), end.astype(int).tolist(), 0, 1)
    return door or narrow or opens


def _goes_on(floor: Mask, start: Points, end: Points, cell_m: float) -> bool:
    """Tell whether there is wall in the line of a gap beyond both its ends."""
    steps, high = np.arange(2, 2 + GOES_ON_M / cell_m)[:, None], np.array(floor.shape[::-1]) - 1
    out = (end - start) / math.dist(start, end) * steps
    beyond = np.clip(np.round([start - out, end + out]).astype(int), 0, high)
    return bool((floor[beyond[..., 1], beyond[..., 0]].mean(axis=1) <= 0.1).all())


def _away(mask: Mask) -> NDArray[np.float32]:
    """Return how many cells each one of a mask is from the others."""
    return np.asarray(cv2.distanceTransform(mask.view(np.uint8), cv2.DIST_L2, 5), np.float32)


def _sides(
    floor: Mask, start: Points, end: Points, cell_m: float
) -> tuple[Mask, tuple[Points, Points], list[tuple[Mask, float]]]:
    """Return the floor round a gap, where cells are along and across it, and its sides: floor and extent."""
    length, (x, y) = math.dist(start, end), np.round((start + end) / 2).astype(int)
    radius = int(max(REACH * length, AROUND_M / cell_m)) + 3
    top, left = max(y - radius, 0), max(x - radius, 0)
    window = floor[top : y + radius + 1, left : x + radius + 1]
    rows = np.arange(window.shape[0], dtype=np.float32)[:, None] + np.float32(top - start[1])
    columns = np.arange(window.shape[1], dtype=np.float32) + np.float32(left - start[0])
    dx, dy = ((end - start) / length).astype(np.float32)
    along, across = columns * dx + rows * dy, rows * dx - columns * dy
    sides: list[tuple[Mask, float]] = []
    for one in (across, -across):
        beside = window & (one > 0.5)
        _, parts = cv2.connectedComponents(beside.view(np.uint8), connectivity=4)
        counts = np.bincount(parts[beside & (one < 2.5) & (along > 0) & (along < length)])
        if not counts.size:
            break
        side = parts == counts.argmax()
        near = along[side & (one <= max(length, 1 / cell_m))]
        sides.append((side, float(near.max() - near.min()) + 1))
    return window, (along, across), sides
