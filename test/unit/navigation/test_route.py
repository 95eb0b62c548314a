import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.navigation.route import EXACT_UP_TO, shortest_order

COORDINATES = st.floats(-100, 100)
PLACES = st.tuples(COORDINATES, COORDINATES)
STARTS = st.none() | PLACES


def length(places, order, start) -> float:
    stops = [places[i] for i in order]
    return math.fsum(
        math.dist(a, b) for a, b in itertools.pairwise(stops if start is None else [start, *stops])
    )


@given(st.lists(PLACES, max_size=6), STARTS)
def test_few_places_have_the_shortest_order_there_is(places, start) -> None:
    order = shortest_order(places, start)
    best = min(length(places, other, start) for other in itertools.permutations(range(len(places))))
    assert sorted(order) == list(range(len(places)))
    assert length(places, order, start) == pytest.approx(best, abs=1e-6)


@given(st.lists(PLACES, min_size=EXACT_UP_TO + 1, max_size=20), STARTS)
def test_many_places_are_each_visited_once_and_never_farther_than_by_the_nearest_neighbour(
    places, start
) -> None:
    order = shortest_order(places, start)
    assert sorted(order) == list(range(len(places)))
    if start is None:
        return
    naive, left = [], set(range(len(places)))
    at = start
    while left:
        naive.append(min(left, key=lambda i: (math.dist(at, places[i]), i)))
        at = places[naive[-1]]
        left.remove(naive[-1])
    assert length(places, order, start) <= length(places, naive, start) + 1e-6


def test_a_row_of_places_is_driven_along() -> None:
    places = [(float(x), 0.0) for x in (7, 2, 9, 4, 1, 8, 3, 6, 10, 5)]
    order = shortest_order(places, (0.0, 0.0))
    assert [places[i][0] for i in order] == list(range(1, 11))
    assert length(places, order, (0.0, 0.0)) == 10.0


def test_places_on_a_circle_are_driven_round() -> None:
    places = [(math.cos(a), math.sin(a)) for a in [i * 7 % 12 * math.tau / 12 for i in range(12)]]
    order = shortest_order(places)
    assert length(places, order, None) == pytest.approx(11 * 2 * math.sin(math.pi / 12))


@pytest.mark.parametrize('places', [[], [(1.0, 2.0)]], ids=['none', 'one'])
def test_none_and_one_have_one_order(places) -> None:
    assert shortest_order(places, (0.0, 0.0)) == list(range(len(places)))
    assert length(places, range(len(places)), None) == 0.0
