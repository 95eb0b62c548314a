"""Floor plans with what is true about their rooms, and the grids that a robot would make of them."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import cv2
import numpy as np
import pytest
from shapely import Polygon, box, union_all

from remembr_ros.geometry import Pose
from remembr_ros.navigation.grid import Grid

pytest.importorskip('remembr_bench', reason='needs the worlds of remembr_bench')

from remembr_bench.simulation.building import Building
from remembr_bench.simulation.homes.home import Home

Rect = tuple[float, float, float, float]
"""Low x, low y, high x, high y [m]."""

LIDAR_M = 0.3  # what stands at this height is seen
HALF_WALL_M = 0.06


@dataclass
class Plan:
    """What stands on a floor.

    :ivar rooms: the true ones
    :ivar openings: cut out of the walls
    """

    rooms: list[Polygon]
    walls: list[Rect] = field(default_factory=list)
    openings: list[Rect] = field(default_factory=list)
    furniture: list[Rect] = field(default_factory=list)

    def enclose(self, *rooms: Rect) -> None:
        """Put walls round rooms."""
        for x0, y0, x1, y1 in rooms:
            self.walls += [
                wall(x0, y0, x1, y0),
                wall(x0, y1, x1, y1),
                wall(x0, y0, x0, y1),
                wall(x1, y0, x1, y1),
            ]

    def door(self, x: float, y: float, wide_m: float, along: str) -> None:
        """Leave a gap in the walls with its middle here, along 'x' or 'y'."""
        a, b = (wide_m / 2, 0.2) if along == 'x' else (0.2, wide_m / 2)
        self.openings.append((x - a, y - b, x + a, y + b))


def wall(x0: float, y0: float, x1: float, y1: float) -> Rect:
    return (x0 - HALF_WALL_M, y0 - HALF_WALL_M, x1 + HALF_WALL_M, y1 + HALF_WALL_M)


def office() -> Plan:
    """Return a corridor with a dozen offices, a meeting room and a kitchen that is open to the corridor."""
    low = [(3.5 * i, 0.0, 3.5 * i + 3.5, 5.0) for i in range(7)]
    high = [(3.0 * i, 7.0, 3.0 * i + 3.0, 11.5) for i in range(5)]
    meeting, kitchen, corridor = (15.0, 7.0, 20.5, 11.5), (20.5, 7.0, 24.5, 11.5), (0.0, 5.0, 24.5, 7.0)
    rooms = [*low, *high, meeting, kitchen, corridor]
    plan = Plan([box(*room) for room in rooms])
    plan.enclose(*rooms)
    for x0, _, _, _ in low:
        plan.door(x0 + 0.9, 5.0, 0.9, 'x')
        plan.furniture += [(x0 + 1.6, 0.1, x0 + 3.2, 0.9), (x0 + 2.2, 1.0, x0 + 2.7, 1.5)]
        plan.furniture += [(x0 + 0.06, 1.0, x0 + 0.5, 2.4), (x0 + 2.64, 3.0, x0 + 3.44, 4.6)]
    for x0, _, _, _ in high:
        plan.door(x0 + 1.5, 7.0, 0.9, 'x')
        plan.furniture += [(x0 + 0.06, 9.6, x0 + 0.86, 11.2), (x0 + 1.0, 10.1, x0 + 1.5, 10.6)]
        plan.furniture += [(x0 + 2.5, 8.4, x0 + 2.94, 10.0)]
    plan.door(16.0, 7.0, 0.9, 'x')
    plan.door(22.5, 7.0, 2.0, 'x')
    plan.furniture += [(16.4, 8.6, 19.2, 9.9), (20.6, 10.9, 24.4, 11.44), (22.0, 9.0, 22.8, 9.8)]
    plan.furniture += [(x, y, x + 0.5, y + 0.5) for x in (16.6, 17.5, 18.4) for y in (8.0, 10.0)]
    return plan


def home() -> Plan:
    """Return a flat with a hall and open doors."""
    living, kitchen, hall = (0.0, 0.0, 5.5, 5.0), (0.0, 5.0, 3.2, 8.5), (5.5, 3.8, 11.5, 5.0)
    bath, bed, child = (3.2, 5.0, 5.5, 8.5), (5.5, 5.0, 9.3, 8.5), (5.5, 0.0, 9.0, 3.8)
    study = (9.0, 0.0, 11.5, 3.8)
    rooms = [living, kitchen, hall, bath, bed, child, study]
    plan = Plan([box(*room) for room in rooms])
    plan.enclose(*rooms)
    for x, y, wide, along in (
        (5.5, 4.4, 0.9, 'y'), (1.6, 5.0, 1.0, 'x'), (4.9, 5.0, 0.8, 'x'), (6.4, 5.0, 0.9, 'x'),
        (8.2, 3.8, 0.9, 'x'), (10.2, 3.8, 0.8, 'x'),
    ):  # fmt: skip
        plan.door(x, y, wide, along)
    plan.furniture += [
        (0.06, 1.2, 0.95, 3.4), (1.5, 1.9, 2.6, 2.5), (1.5, 0.06, 3.5, 0.5), (3.6, 3.0, 5.0, 3.9),
        (0.06, 6.0, 0.66, 8.44), (0.66, 7.84, 2.4, 8.44), (2.4, 5.4, 3.1, 6.4),
        (3.26, 7.74, 5.44, 8.44), (4.9, 6.0, 5.44, 6.5),
        (6.6, 6.4, 8.2, 8.44), (8.7, 5.3, 9.24, 7.3), (6.1, 8.0, 6.5, 8.44),
        (5.56, 0.06, 6.5, 2.06), (8.0, 0.06, 8.94, 0.7), (9.1, 0.06, 9.8, 1.6), (10.0, 0.4, 10.5, 0.9),
        (11.0, 4.5, 11.44, 4.94),
    ]  # fmt: skip
    return plan


def bent(turns: int) -> Plan:
    """Return a corridor with this many bends, 1 or 2, and rooms along it."""
    arms = [(0.0, 0.0, 16.0, 1.8), (0.0, 0.0, 1.8, 14.0), (0.0, 12.2, 16.0, 14.0)][: turns + 1]
    rooms = [(1.8 + 4.0 * i, 1.8, 5.8 + 4.0 * i, 5.8) for i in range(3)]
    if turns == 2:
        rooms += [(1.8 + 4.0 * i, 8.0, 5.8 + 4.0 * i, 12.2) for i in range(3)]
    plan = Plan([*(box(*room) for room in rooms), union_all([box(*arm) for arm in arms])])
    outside = plan.rooms[-1].exterior.coords
    plan.walls += [wall(min(a, c), min(b, d), max(a, c), max(b, d)) for (a, b), (c, d) in pairwise(outside)]
    plan.enclose(*rooms)
    for x0, y0, _, y1 in rooms:
        plan.door(x0 + 2.0, y0 if y0 == 1.8 else y1, 0.9, 'x')
    return plan


def hall() -> Plan:
    """Return a large hall with columns and two rooms beside it."""
    rooms = [(0.0, 0.0, 24.0, 16.0), (24.0, 0.0, 28.0, 6.0), (24.0, 6.0, 28.0, 16.0)]
    plan = Plan([box(*room) for room in rooms])
    plan.enclose(*rooms)
    plan.door(24.0, 3.0, 1.0, 'y')
    plan.door(24.0, 10.0, 1.0, 'y')
    plan.furniture += [(x, y, x + 0.5, y + 0.5) for x in (4, 8, 12, 16, 20) for y in (4, 8, 12)]
    return plan


def gate(wide_m: float) -> Plan:
    """Return a hall of 20 m x 30 m with a shelf and a gate in the middle of its low side."""
    plan = Plan([box(0.0, 0.0, 20.0, 30.0)])
    plan.enclose((0.0, 0.0, 20.0, 30.0))
    plan.door(10.0, 0.0, wide_m, 'x')
    plan.furniture.append((4.0, 5.0, 5.5, 25.0))
    return plan


def cubicles() -> Plan:
    """Return two rows of cubicles of 1.8 m, open by 1 m to an aisle of 1.2 m between them, in a hall."""
    rows = [(2.0 + 1.8 * i, y, 3.8 + 1.8 * i, y + 1.8) for y in (3.0, 6.0) for i in range(5)]
    around = box(0.0, 0.0, 14.0, 11.0).difference(box(2.0, 3.0, 11.0, 4.8).union(box(2.0, 6.0, 11.0, 7.8)))
    plan = Plan([*(box(*room) for room in rows), around])
    plan.enclose((0.0, 0.0, 14.0, 11.0), *rows)
    for x0, y0, _, y1 in rows:
        plan.door(x0 + 0.9, y1 if y0 == 3.0 else y0, 1.0, 'x')
    return plan


def simulated_home(drawn: Home) -> Plan:
    """Return one of the project's homes, as it is at its first visit."""
    solids = [solid for _, solid in drawn.solids(drawn.visits[0]) if solid.low[2] <= LIDAR_M <= solid.high[2]]
    shell = [wall for wall in drawn.walls if wall.high[2] > 0.0]
    return Plan(
        [box(*room.low, *room.high) for room in drawn.rooms],
        [(*solid.low[:2], *solid.high[:2]) for solid in shell],
        furniture=[(*solid.low[:2], *solid.high[:2]) for solid in solids if solid not in shell],
    )


def demo(building: Building) -> Plan:
    """Return the demo's building. Its corridors, a ring, are one room."""
    seen = [s for thing in building.things for s in thing.solids if s.low[2] <= LIDAR_M <= s.high[2]]
    ring = union_all([box(*place.low, *place.high) for place in building.places if place.is_corridor])
    return Plan(
        [*(box(*place.low, *place.high) for place in building.places if not place.is_corridor), ring],
        [(*solid.low[:2], *solid.high[:2]) for solid in building.walls],
        furniture=[(*solid.low[:2], *solid.high[:2]) for solid in seen],
    )


def grid_of(
    plan: Plan,
    resolution: float = 0.05,
    *,
    turned: float = 0.0,
    yaw: float = 0.0,
    noise: float = 0.0,
    leaks: int = 0,
    seed: int = 0,
) -> tuple[Grid, list[Polygon]]:
    """Return a map of a plan and the true rooms in its frame.

    :param turned: of the building in the grid [rad]
    :param yaw: of the grid's origin [rad]
    :param noise: part of the cells that are wrong
    :param leaks: windows through which the lidar saw something of the outside
    """
    rng, random_cells = random.Random(seed), np.random.default_rng(seed)
    cosine, sine = math.cos(turned), math.sin(turned)

    def moved(corners: Sequence[Sequence[float]]) -> np.ndarray:
        return np.array(corners, np.float64)[:, :2] @ np.array([[cosine, sine], [-sine, cosine]])

    def ring(rect: Rect) -> np.ndarray:
        return moved(list(box(*rect).exterior.coords)[:-1])

    around = np.concatenate([ring(rect) for rect in plan.walls])
    low = np.floor(around.min(axis=0)) - 4.0
    size = np.ceil((around.max(axis=0) + 4.0 - low) / resolution).astype(int)
    cells = np.full(size[::-1], -1, np.int8)

    # cv2 has points in whole cells, the centre of the first at 0; shift keeps 1/16 of one.
    def fill(corners: np.ndarray, value: int) -> None:
        raster = cells.view(np.uint8)
        points = np.round(((corners - low) / resolution - 0.5) * 16).astype(np.int32)
        cv2.fillPoly(raster, [points], value & 0xFF, shift=4)

    for room in plan.rooms:
        fill(moved(list(room.exterior.coords)[:-1]), 0)
        for hole in room.interiors:
            fill(moved(list(hole.coords)[:-1]), -1)
    for room in plan.rooms:  # a room may lie within the ring of another
        if not room.interiors:
            fill(moved(list(room.exterior.coords)[:-1]), 0)
    for rect in plan.walls:
        fill(ring(rect), 100)
    for rect in plan.openings:
        fill(ring(rect), 0)
    for rect in plan.furniture:
        fill(ring(rect), 100)
        x0, y0, x1, y1 = rect
        if min(x1 - x0, y1 - y0) > 0.5:  # the lidar does not see into it
            fill(ring((x0 + 0.15, y0 + 0.15, x1 - 0.15, y1 - 0.15)), -1)
    known = cells >= 0
    outline = union_all(plan.rooms).exterior
    for _ in range(leaks):
        at, way = rng.uniform(0.0, outline.length), rng.uniform(-math.pi, math.pi)
        start = outline.interpolate(at)
        for _ in range(6):
            angle, far = way + rng.uniform(-0.4, 0.4), rng.uniform(1.0, 6.0)
            ends = moved(
                [(start.x, start.y), (start.x + far * math.cos(angle), start.y + far * math.sin(angle))]
            )
            a, b = (np.floor((ends - low) / resolution)).astype(int).tolist()
            ray = cv2.line(np.zeros(cells.shape, np.uint8), a, b, 1) > 0
            cells[ray & ~known] = 0
            near = cv2.circle(np.zeros(cells.shape, np.uint8), a, round(0.15 / resolution), 1, -1) > 0
            cells[ray & near] = 0
    wrong = known & (random_cells.random(cells.shape) < noise)
    cells[wrong] = random_cells.choice(np.array([-1, 0, 100], np.int8), np.count_nonzero(wrong))
    origin = Pose(*low.tolist(), yaw=yaw)
    turn = np.array([[math.cos(yaw), math.sin(yaw)], [-math.sin(yaw), math.cos(yaw)]])
    rooms = [
        Polygon(
            (moved(room.exterior.coords) - low) @ turn + low,
            [(moved(hole.coords) - low) @ turn + low for hole in room.interiors],
        )
        for room in plan.rooms
    ]
    return Grid(cells, resolution, origin), rooms
