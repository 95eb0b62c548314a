import math
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.geometry import Pose
from remembr_ros.navigation.grid import COSTMAP_OCCUPIED, Grid
from remembr_ros.navigation.terrain import KeepOut, Terrain
from test.unit.navigation.grids import all_cells, drawn, grids, points_of

TWO_ROOMS = drawn(
    '#########',
    '#...#...#',
    '#...#...#',
    '#...#...#',
    '#########',
)


@given(grids(), st.floats(-2, 14), st.floats(-2, 14), st.floats(0, 10))
def test_the_nearest_free_place_is_free_and_none_is_nearer(
    grid: Grid, u: float, v: float, cells: float
) -> None:
    place = tuple(grid.centers(np.array([[0, 0]]))[0] + np.array([u, v]) * grid.resolution)
    radius = cells * grid.resolution
    found = Terrain(map=grid).nearest_free(place, radius)
    if grid.is_free(points_of([place]))[0]:
        assert found == place
        return
    centers = grid.centers(all_cells(grid))
    away = np.hypot(*(centers - place).T)[grid.is_free(centers)]
    within = away[away <= radius]
    if found is None:
        assert not len(within)
        return
    assert grid.is_free(points_of([found]))[0]
    assert math.dist(found, place) == pytest.approx(within.min())


@given(grids(), st.floats(0, 5))
def test_clearance_is_kept(grid: Grid, cells: float) -> None:
    clearance = cells * grid.resolution
    terrain = Terrain(map=grid, clearance_m=clearance)
    occupied = grid.centers(np.argwhere(grid.cells >= grid.occupied_from))
    for center in grid.centers(all_cells(grid)[::5]):
        found = terrain.nearest_free(tuple(center), 3 * grid.resolution)
        if found is not None and len(occupied):
            away = np.hypot(*(occupied - found).T).min()
            assert away >= clearance - 0.51 * grid.resolution


@given(grids())
def test_what_can_be_reached_is_what_a_walk_from_cell_to_cell_reaches(grid: Grid) -> None:
    free = grid.is_free(grid.centers(all_cells(grid))).reshape(grid.cells.shape)
    starts = np.argwhere(free)
    if not len(starts):
        return
    seen, todo = {tuple(starts[0])}, [tuple(starts[0])]
    while todo:
        row, column = todo.pop()
        for cell in ((row + 1, column), (row - 1, column), (row, column + 1), (row, column - 1)):
            inside = 0 <= cell[0] < free.shape[0] and 0 <= cell[1] < free.shape[1]
            if inside and free[cell] and cell not in seen:
                seen.add(cell)
                todo.append(cell)
    terrain, here = Terrain(map=grid), tuple(grid.centers(starts[:1])[0])
    for cell in map(tuple, starts):
        objection = terrain.objection(tuple(grid.centers(np.array([cell]))[0]), here)
        assert ('reached' in objection) == (cell not in seen)


def test_a_place_behind_a_wall_is_not_the_nearest_free_one() -> None:
    terrain, here, wall = Terrain(map=TWO_ROOMS), (1.5, 1.5), (4.6, 2.5)
    assert terrain.nearest_free(wall, 2.0) == (5.5, 2.5)
    assert terrain.nearest_free(wall, 2.0, here) == (3.5, 2.5)
    assert terrain.nearest_free((7.5, 2.5), 2.0, here) is None
    # From the other room it is the other way round.
    assert terrain.nearest_free((7.5, 2.5), 2.0, (5.5, 1.5)) == (7.5, 2.5)
    assert terrain.nearest_free((7.5, 2.5), 2.0, here) is None


def test_a_robot_that_the_map_has_in_a_wall_may_go_anywhere() -> None:
    assert Terrain(map=TWO_ROOMS).objection((6.5, 2.5), (4.5, 2.5)) == ''


@pytest.mark.parametrize(
    ('place', 'reason'),
    [
        ((0.5, 0.5), 'occupied in the map'),
        ((1.5, 0.5), 'unknown'),
        ((2.5, 0.5), 'occupied in the global costmap'),
        ((3.5, 0.5), 'nearer than 1.6 m'),
        ((6.5, 0.5), 'keep-out'),
        ((5.5, 1.5), 'outside the map'),
        ((8.5, 0.5), 'outside the global costmap'),
        ((math.nan, 0.5), 'not finite'),
        ((7.5, 0.5), ''),
    ],
)
def test_the_objection_says_what_is_wrong(place: tuple[float, float], reason: str) -> None:
    terrain = Terrain(
        map=drawn('#?..#....'),
        costmap=drawn('..i.....', occupied_from=COSTMAP_OCCUPIED),
        keep_out=(KeepOut.parse('6.2 0, 7 0, 7 1, 6.2 1'),),
        clearance_m=1.6,
    )
    objection = terrain.objection(place)
    assert (reason in objection) if reason else objection == ''


def test_a_place_has_to_be_free_in_map_and_costmap() -> None:
    costmap = drawn('######...', occupied_from=COSTMAP_OCCUPIED, origin=Pose(0.0, 2.0))
    terrain = Terrain(map=TWO_ROOMS, costmap=costmap)
    assert terrain.nearest_free((2.5, 2.5), 9.0) == (6.5, 2.5)
    assert terrain.nearest_free((2.5, 2.5), 3.9) is None


def test_without_a_grid_a_way_out_of_a_keep_out_area_is_found() -> None:
    terrain = Terrain(keep_out=(KeepOut.parse('-5 -1, 5 -1, 5 0.55, -5 0.55'),))
    x, y = terrain.nearest_free((0.0, 0.0), 1.0)
    assert (x, y) == (pytest.approx(0.0), pytest.approx(0.6))
    assert terrain.nearest_free((0.0, 0.0), 0.5) is None
    assert Terrain().nearest_free((1e9, -1e9), 0.0) == (1e9, -1e9)
    assert Terrain().nearest_free((math.nan, 0.0), 1.0) is None


def test_a_map_of_a_hundred_million_cells_is_no_matter_of_seconds() -> None:
    cells = np.zeros((10_000, 10_000), dtype=np.int8)
    cells[:, 5_000] = 100
    cells[7_000, 5_000] = 0  # a door
    cells[4_900:5_100, 7_900:8_100] = 100
    grid = Grid(cells, 0.05, Pose(-250.0, -250.0))
    terrain = Terrain(map=grid, clearance_m=0.3)
    here, blocked = (-200.0, 0.0), (150.01, 0.0)
    found, first_s = timed(lambda: terrain.nearest_free(blocked, 10.0, here))
    assert math.dist(found, blocked) == pytest.approx(5.0 + 0.3, abs=0.1)
    _, again_s = timed(lambda: terrain.nearest_free(blocked, 10.0, here))
    print(f'10,000 x 10,000 cells: the first goal {first_s:.2f} s, the next {again_s:.3f} s')  # noqa: T201
    assert first_s < 3.0
    assert again_s < 1.0


def timed(call):
    started = time.process_time()
    return call(), time.process_time() - started
