import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.navigation.terrain import KeepOut
from test.unit.navigation.grids import points_of

COORDINATES = st.floats(-20, 20)
PLACES = st.tuples(COORDINATES, COORDINATES)


def inside(area: KeepOut, *points: tuple[float, float]) -> list[bool]:
    return area.contains(points_of(points)).tolist()


def test_inside_on_an_edge_and_outside() -> None:
    area = KeepOut.parse('0 0, 4 0, 4 2, 0 2')
    assert inside(area, (1, 1), (4, 1), (2, 0), (0, 0), (4, 2)) == [True] * 5
    assert inside(area, (-0.1, 1), (4.1, 1), (2, 2.1), (2, -0.1), (5, 0), (-1, 2)) == [False] * 6


def test_a_dent_is_outside() -> None:
    area = KeepOut.parse('0 0, 4 0, 4 4, 2 1, 0 4')
    assert inside(area, (2, 0.5), (2, 2), (0.5, 3), (3.5, 3)) == [True, False, True, True]


def test_an_edge_that_is_almost_level_divides_by_almost_nothing() -> None:
    area = KeepOut(((0.0, 0.0), (0.0, 1.0), (1.0, 4e-308)))
    assert inside(area, (1.0, 8.0), (0.2, 0.2), (0.9, 0.9)) == [False, True, False]


@pytest.mark.parametrize('place', [(math.nan, 1.0), (1.0, math.inf), (-math.inf, math.nan)])
def test_what_is_not_finite_is_outside(place: tuple[float, float]) -> None:
    assert inside(KeepOut.parse('0 0, 4 0, 4 2'), place) == [False]


@given(st.tuples(PLACES, PLACES, PLACES), PLACES)
def test_a_triangle_contains_what_is_on_the_inner_side_of_each_edge(corners, place) -> None:
    a, b, c = (np.array(corner) for corner in corners)

    def side(p: np.ndarray, q: np.ndarray) -> float:
        return float((q[0] - p[0]) * (place[1] - p[1]) - (q[1] - p[1]) * (place[0] - p[0]))

    sides = [side(a, b), side(b, c), side(c, a)]
    assume(min(map(abs, sides)) > 1e-3)
    expected = all(s > 0 for s in sides) or all(s < 0 for s in sides)
    assert inside(KeepOut(corners), place) == [expected]


@given(st.lists(PLACES, min_size=3, max_size=8), PLACES, st.integers(0, 7))
def test_it_does_not_matter_where_and_in_which_direction_it_begins(corners, place, turn) -> None:
    area = KeepOut(tuple(corners))
    turn %= len(corners)
    turned = KeepOut(tuple([*corners[turn:], *corners[:turn]][::-1]))
    assert inside(area, place) == inside(turned, place)


@pytest.mark.parametrize(
    'text', ['', '1 2', '0 0, 1 1', '0 0, 1 1, 2', '0 0, 1 1, x y', '0 0, 1 1, nan 2', '0;0']
)
def test_what_is_no_polygon_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(InvalidRequest, match='x y, x y, x y'):
        KeepOut.parse(text)
