"""Walls of the map between places."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.geometry import Point, Pose
from remembr_ros.navigation.grid import Grid, walls_between
from test.unit.navigation.grids import drawn, grids

ROOMS = drawn(
    '....#....',
    '....#..?.',
    '.......?.',
    '....#..?.',
    '#...#....',
)


@pytest.mark.parametrize(
    ('one', 'other', 'divided'),
    [
        ((1.5, 4.5), (6.5, 4.5), True),
        ((1.5, 2.5), (6.5, 2.5), False),  # through the door
        ((1.5, 4.5), (3.5, 0.5), False),  # in one room
        ((5.5, 1.5), (8.5, 1.5), False),  # unknown is no wall
        ((4.5, 4.5), (6.5, 4.5), False),  # stands in a wall of today
        ((4.5, 4.5), (4.5, 3.5), False),
        ((0.5, 0.5), (6.5, 0.5), True),
        ((4.5, 4.5), (4.5, 0.5), False),  # in two walls, with a door between
        ((-3.0, 4.5), (3.5, 4.5), False),  # outside of the map nothing is known
        ((-3.0, 4.5), (30.0, 4.5), True),
        ((2.5, 2.5), (2.5, 2.5), False),
    ],
)
def test_a_wall_is_what_is_occupied_on_the_way(
    one: tuple[float, float], other: tuple[float, float], divided: bool
) -> None:
    assert walls_between(ROOMS, (*one, 0.0), [(*other, 0.7)]).tolist() == [divided]
    assert walls_between(ROOMS, (*other, 0.0), [(*one, 0.7)]).tolist() == [divided]


def test_a_wall_aslant_whose_cells_touch_at_their_corners_is_a_wall() -> None:
    grid = drawn(*('.' * i + '#' + '.' * (19 - i) for i in range(20)), resolution=0.05)
    for offset in np.linspace(0.1, 0.3, 41):
        one, other = (0.5 - offset, 0.5 - 1.13 * offset, 0.0), (0.5 + offset, 0.5 + 0.97 * offset, 0.0)
        assert walls_between(grid, one, [other]).tolist() == [True], offset


POINTS = st.tuples(st.floats(-60, 60), st.floats(-60, 60), st.just(0.0))


@given(grid=grids(), one=POINTS, others=st.lists(POINTS, max_size=5))
def test_both_ways_are_the_same_and_each_by_itself(grid: Grid, one: Point, others: list[Point]) -> None:
    together = walls_between(grid, one, others).tolist()
    assert together == [bool(walls_between(grid, one, [other])[0]) for other in others]
    assert together == [bool(walls_between(grid, other, [one])[0]) for other in others]


def test_free_ground_divides_nothing() -> None:
    free = Grid(np.zeros((50, 50), np.int8), 0.1, Pose(-2.5, -2.5, 0.0, 0.3))
    assert not walls_between(free, (0, 0, 0), [(math.cos(a), math.sin(a), 0.0) for a in range(7)]).any()
    assert walls_between(free, (0, 0, 0), []).tolist() == []
