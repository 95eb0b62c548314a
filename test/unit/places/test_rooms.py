import math
from collections.abc import Sequence

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shapely import Polygon, box

from remembr_ros.geometry import Pose
from remembr_ros.navigation.grid import Grid
from remembr_ros.places.rooms import FoundRoom, find_rooms

pytest.importorskip('remembr_bench', reason='needs the worlds of remembr_bench')

from remembr_bench.simulation.floor_plan import generate_building
from remembr_bench.simulation.homes.layout import generate_home
from test.unit.places import plans
from test.unit.places.plans import Plan, grid_of

TURNED = math.radians(30.0)
VARIANTS = {
    'plain': {},
    'in cells of 2.5 cm': {'resolution': 0.025},
    'in cells of 10 cm': {'resolution': 0.1},
    'turned': {'turned': TURNED},
    'with a turned origin': {'yaw': TURNED},
    'noisy': {'noise': 0.02, 'leaks': 6},
    'noisy and turned': {'noise': 0.02, 'leaks': 6, 'turned': TURNED},
}
PLANS = {
    'office': plans.office(),
    'home': plans.home(),
    'corridor with a bend': plans.bent(1),
    'corridor with two bends': plans.bent(2),
    'hall': plans.hall(),
    **{f'simulated home {seed}': plans.simulated_home(generate_home(seed)) for seed in range(3)},
}
# Its library, cafeteria and reception have no wall towards the corridors.
DEMO = plans.demo(generate_building())

Found = tuple[list[Polygon], list[Polygon], list[FoundRoom]]
"""The true rooms, the found outlines, and the found rooms."""


def find(plan: Plan, **variant) -> Found:
    grid, true = grid_of(plan, **variant)
    found = find_rooms(grid)
    return true, [Polygon(room.outline) for room in found], found


@pytest.fixture(scope='module')
def found() -> dict[str, Found]:
    """What is found in each map."""
    maps = {
        f'{name}, {how}': find(plan, **variant)
        for name, plan in PLANS.items()
        for how, variant in VARIANTS.items()
    }
    return {**maps, 'demo': find(DEMO)}


def overlaps(true: Sequence[Polygon], outlines: Sequence[Polygon]) -> np.ndarray:
    areas = [[room.intersection(outline).area for outline in outlines] for room in true]
    return np.array(areas).reshape(len(true), len(outlines))


def counted(true: Sequence[Polygon], outlines: Sequence[Polygon]) -> dict[str, int]:
    """Return how many true rooms there are, are found once, are parted; and how many outlines hold two."""
    shared = overlaps(true, outlines)
    rooms, areas = (np.array([polygon.area for polygon in polygons]) for polygons in (true, outlines))
    iou = shared / (rooms[:, None] + areas[None] - shared)
    parts = (shared > 0.5 * areas[None]) & (shared > 0.15 * rooms[:, None])
    return {
        'true': len(true),
        'once': int((iou.max(axis=1, initial=0.0) >= 0.5).sum()),
        'well': int((iou.max(axis=1, initial=0.0) >= 0.7).sum()),
        'over-split': int((parts.sum(axis=1) > 1).sum()),
        'under-split': int(((shared > 0.5 * rooms[:, None]).sum(axis=0) > 1).sum()),
    }


def test_nine_of_ten_rooms_are_found_once(found: dict[str, Found]) -> None:
    counts = {name: counted(true, outlines) for name, (true, outlines, _) in found.items()}
    total = {what: sum(count[what] for count in counts.values()) for what in counts['demo']}
    told = '\n'.join(f'{name}: {count}' for name, count in {**counts, 'all': total}.items())
    assert total['once'] >= 0.9 * total['true'], told
    assert total['well'] >= 0.8 * total['true'], told
    assert total['over-split'] + total['under-split'] <= 0.1 * total['true'], told
    for name in ('demo', 'office, plain', 'home, plain'):
        assert counts[name]['once'] >= 0.9 * counts[name]['true'], told


def test_outlines_are_simple_counter_clockwise_and_the_largest_first(found: dict[str, Found]) -> None:
    for name, (_, outlines, rooms) in found.items():
        areas = [room.area_m2 for room in rooms]
        assert areas == sorted(areas, reverse=True)
        for outline, room in zip(outlines, rooms, strict=True):
            assert outline.is_valid, name
            assert outline.exterior.is_ccw
            assert room.outline[0] != room.outline[-1]
            assert room.area_m2 == pytest.approx(outline.area, rel=1e-3)


def test_outlines_overlap_by_a_few_cells_at_most(found: dict[str, Found]) -> None:
    for name, (_, outlines, _) in found.items():
        for i, one in enumerate(outlines):
            for other in outlines[:i]:
                assert one.intersection(other).area < 0.25, name


def test_nothing_is_found_outside(found: dict[str, Found]) -> None:
    for name, (true, outlines, _) in found.items():
        inside = overlaps(true, outlines).sum(axis=0)
        assert [o.area for o, area in zip(outlines, inside, strict=True) if area < 0.5 * o.area] == [], name


@pytest.mark.parametrize('wide', [0.9, 1.5])
def test_neighbours_meet_at_the_door(wide: float) -> None:
    plan = Plan([box(0.0, 0.0, 4.0, 4.0), box(4.0, 0.0, 8.0, 4.0)])
    plan.enclose((0.0, 0.0, 4.0, 4.0), (4.0, 0.0, 8.0, 4.0))
    plan.door(4.0, 2.0, wide, 'y')
    (one, other), *_ = find(plan)[1:]
    origin = find(plan)[0][0].bounds[:2]
    between = one.buffer(0.05).intersection(other.buffer(0.05)).centroid
    assert (between.x - origin[0], between.y - origin[1]) == pytest.approx((4.0, 2.0), abs=0.15)


def test_a_room_inside_a_ring_is_not_in_the_ring() -> None:
    inner = box(3.0, 3.0, 8.0, 8.0)
    plan = Plan([inner, box(0.0, 0.0, 11.0, 11.0).difference(inner)])
    plan.enclose((0.0, 0.0, 11.0, 11.0), (3.0, 3.0, 8.0, 8.0))
    plan.door(3.0, 5.0, 0.9, 'y')
    true, outlines, _ = find(plan)
    assert counted(true, outlines) == {'true': 2, 'once': 2, 'well': 2, 'over-split': 0, 'under-split': 0}
    assert outlines[0].intersection(outlines[1]).area < 0.25


@pytest.mark.parametrize('margin_m', [0.0, 3.0])
@pytest.mark.parametrize('wide_m', [3.0, 8.0, 10.0])
def test_a_hall_open_to_the_edge_of_its_map_is_a_room(wide_m: float, margin_m: float) -> None:
    grid, (hall,) = grid_of(plans.gate(wide_m))
    rows, columns = np.nonzero(grid.cells >= 0)
    cells = grid.cells[rows.min() + 3 : rows.max() + 1, columns.min() : columns.max() + 1]
    cells = np.pad(cells, round(margin_m / grid.resolution), constant_values=-1)
    (room,) = find_rooms(Grid(cells, grid.resolution, grid.origin))
    assert room.area_m2 == pytest.approx(hall.area, rel=0.03)


def test_the_yard_round_a_building_is_no_room() -> None:
    cells = np.zeros((400, 500), np.int8)
    cells[100:300, 100:400] = 100
    cells[102:298, 102:398] = 0
    cells[298:300, 240:260] = 0  # its door
    (room,) = find_rooms(Grid(cells, 0.05, Pose(0.0, 0.0)))
    assert room.area_m2 == pytest.approx(145.0, rel=0.02)


@pytest.mark.parametrize('turned', [0.0, TURNED])
def test_a_wedge_is_one_room(turned: float) -> None:
    cells = np.full((700, 900), 100, np.uint8)
    corners = np.array([(0.0, 0.0), (0.0, 4.0), (25.0, 8.0), (25.0, -2.0)]) / 0.05 - (250, 60)
    turn = np.array([[math.cos(turned), math.sin(turned)], [-math.sin(turned), math.cos(turned)]])
    cv2.fillPoly(cells, [np.round(corners @ turn + (450, 350)).astype(np.int32)], 0)
    (room,) = find_rooms(Grid(cells.view(np.int8), 0.05, Pose(0.0, 0.0)))
    assert room.area_m2 == pytest.approx(175.0, rel=0.02)


def test_cubicles_are_not_merged_over_their_aisle() -> None:
    true, outlines, _ = find(plans.cubicles())
    assert counted(true[:-1], outlines)['once'] == 10


@pytest.mark.parametrize('name', ['office', 'corridor with a bend', 'corridor with two bends'])
@pytest.mark.parametrize('turned', [0.0, TURNED])
def test_hardly_any_floor_is_in_no_room(name: str, turned: float) -> None:
    true, outlines, _ = find(PLANS[name], turned=turned)
    corridor = true[-1].buffer(-0.1)  # without the walls
    assert overlaps([corridor], outlines).sum() >= 0.97 * corridor.area


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from([(1, 1), (1, 9), (9, 1), (2, 2), (40, 60)]),
    st.sampled_from([0.001, 0.025, 0.05, 0.3, 5.0]),
    st.sampled_from([(-1,), (0,), (100,), (50,), (0, 100), (-1, 0, 100), (0, 0, 0, 0, 0, 0, 0, 0, 100)]),
    st.integers(0, 99),
)
def test_any_grid_has_some_rooms_or_none(
    shape: tuple[int, int], resolution: float, values: tuple[int, ...], seed: int
) -> None:
    cells = np.random.default_rng(seed).choice(np.array(values, np.int8), shape)
    for room in find_rooms(Grid(cells, resolution, Pose(1.0, 2.0, yaw=0.5))):
        assert Polygon(room.outline).is_valid
        assert room.area_m2 >= 1.5


def test_cells_of_5_m_are_rooms_too() -> None:
    cells = np.full((6, 6), 100, np.int8)
    cells[1:-1, 1:-1] = 0
    (room,) = find_rooms(Grid(cells, 5.0, Pose(0.0, 0.0)))
    assert room.area_m2 == pytest.approx(400.0)


def test_no_cells_no_rooms() -> None:
    assert find_rooms(Grid(np.zeros((0, 0), np.int8), 0.05, Pose(0.0, 0.0))) == []
    assert find_rooms(Grid(np.zeros((0, 7), np.int8), 0.05, Pose(0.0, 0.0))) == []


def test_what_nothing_bounds_is_no_room() -> None:
    assert find_rooms(Grid(np.zeros((99, 99), np.int8), 0.05, Pose(0.0, 0.0))) == []


def test_a_large_map_has_the_same_rooms() -> None:
    grid, true = grid_of(plans.office())
    cells = np.tile(grid.cells, (5, 5))  # of 10 cm when there are so many
    assert len(find_rooms(Grid(cells, grid.resolution, grid.origin))) == pytest.approx(
        25 * len(true), rel=0.05
    )
