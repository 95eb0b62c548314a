import array
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.navigation.grid import COSTMAP_OCCUPIED, OUTSIDE, Grid
from test.unit.navigation.grids import all_cells, drawn, grids, points_of


@given(grids())
def test_a_cells_centre_lies_in_the_cell(grid: Grid) -> None:
    cells = all_cells(grid)
    assert (grid.cells_of(grid.centers(cells)) == cells).all()
    assert grid.inside(cells).all()


@given(grids(), st.floats(-0.499, 0.499), st.floats(-0.499, 0.499))
def test_a_point_is_less_than_half_a_cell_from_its_cells_centre(grid: Grid, du: float, dv: float) -> None:
    centers = grid.centers(all_cells(grid))
    cosine, sine = math.cos(grid.origin.yaw), math.sin(grid.origin.yaw)
    moved = centers + np.array([cosine * du - sine * dv, sine * du + cosine * dv]) * grid.resolution
    assert (grid.cells_of(moved) == all_cells(grid)).all()


def test_rows_go_up_and_columns_go_right_from_the_origin() -> None:
    grid = drawn('..#', '?o.', resolution=0.5, origin=Pose(10.0, 20.0))
    points = [(10.1, 20.1), (10.6, 20.1), (11.1, 20.1), (10.1, 20.6), (11.4, 20.9)]
    assert grid.values(points_of(points)).tolist() == [-1, 50, 0, 0, 100]


def test_a_turned_origin_turns_the_cells_about_it() -> None:
    grid = drawn('?#', '..', origin=Pose(5.0, 5.0, 0.0, math.pi / 2))
    # Columns go up, rows to the left.
    points = [(4.5, 5.5), (4.5, 6.5), (3.5, 5.5), (3.5, 6.5)]
    assert grid.values(points_of(points)).tolist() == [0, 0, -1, 100]


@pytest.mark.parametrize(
    'point',
    [(-0.1, 0.5), (0.5, -0.1), (3.1, 0.5), (0.5, 2.1), (math.nan, 0.5), (0.5, -math.inf), (1e300, 0.0)],
)
def test_outside_and_not_finite_is_not_free(point: tuple[float, float]) -> None:
    grid = drawn('...', '...')
    assert grid.values(points_of([point]))[0] == OUTSIDE
    assert not grid.is_free(points_of([point]))[0]


def test_no_points_are_no_values() -> None:
    grid = drawn('.')
    assert grid.values(points_of([])).shape == (0,)
    assert grid.clearance(points_of([]), 1.0).shape == (0,)


def test_free_is_what_is_neither_unknown_nor_from_the_threshold_on() -> None:
    row = points_of([(column + 0.5, 0.5) for column in range(5)])
    assert drawn('.#?io').is_free(row).tolist() == [True, False, False, False, True]
    costmap = drawn('.#?io', occupied_from=COSTMAP_OCCUPIED)
    assert costmap.is_free(row).tolist() == [True, False, False, False, True]
    assert Grid(np.array([[98]], np.int8), 1.0, Pose(0, 0), COSTMAP_OCCUPIED).is_free(row[:1])[0]


@given(grids(), st.floats(0.0, 6.0))
def test_clearance_is_the_distance_to_the_nearest_occupied_cell(grid: Grid, cells_away: float) -> None:
    at_most = cells_away * grid.resolution
    cells = all_cells(grid)
    occupied = np.argwhere(grid.cells >= grid.occupied_from)
    found = grid.clearance(grid.centers(cells), at_most)
    for cell, distance in zip(cells, found, strict=True):
        away = np.hypot(*(occupied - cell).T).min(initial=math.inf) * grid.resolution
        if away <= at_most * 0.999:
            assert distance == pytest.approx(away, rel=1e-3, abs=1e-6)
        elif away > at_most * 1.001:
            assert distance == math.inf


def test_a_messages_array_is_not_copied() -> None:
    data = array.array('b', [0, 100, -1, 0])
    grid = Grid.from_data(data, width=2, height=2, resolution=1.0, origin=Pose(0, 0))
    assert np.shares_memory(grid.cells, np.frombuffer(data, dtype=np.int8))


def test_a_patch_replaces_its_part_and_leaves_the_grid_as_it_was() -> None:
    grid = drawn('...', '...', '...')
    patched = grid.patched([100, -1], x=1, y=2, width=2, height=1)
    assert patched.cells.tolist() == [[0, 0, 0], [0, 0, 0], [0, 100, -1]]
    assert not grid.cells.any()
    assert patched.patched([], x=3, y=0, width=0, height=3).cells.tolist() == patched.cells.tolist()


@pytest.mark.parametrize(
    ('x', 'y', 'width', 'height'), [(-1, 0, 1, 1), (0, -1, 1, 1), (3, 0, 1, 1), (0, 2, 1, 2), (0, 0, 2, 1)]
)
def test_a_patch_that_does_not_fit_is_refused(x: int, y: int, width: int, height: int) -> None:
    with pytest.raises(InvalidRequest, match='3 x 3'):
        drawn('...', '...', '...').patched([0], x=x, y=y, width=width, height=height)


@pytest.mark.parametrize(
    ('changes', 'message'),
    [
        ({'width': 0, 'data': []}, 'empty'),
        ({'height': 3}, '4 values'),
        ({'resolution': 0.0}, 'resolution'),
        ({'resolution': -0.05}, 'resolution'),
        ({'resolution': math.nan}, 'resolution'),
        ({'origin': Pose(math.nan, 0.0)}, 'finite'),
        ({'origin': Pose(0.0, 0.0, 0.0, math.inf)}, 'finite'),
    ],
)
def test_what_is_no_grid_is_refused(changes: dict[str, object], message: str) -> None:
    fields = {'data': [0] * 4, 'width': 2, 'height': 2, 'resolution': 0.05, 'origin': Pose(0.0, 0.0)}
    fields |= changes
    with pytest.raises(InvalidRequest, match=message):
        Grid.from_data(fields.pop('data'), **fields)
