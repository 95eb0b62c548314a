import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, Pose
from remembr_ros.memory.model.recall import (
    ANYTHING,
    Hit,
    MapArea,
    Order,
    Query,
    Scope,
    Survey,
    query_by,
    survey_of,
)
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS
from test.unit.memory.recall_contract import DRIVE

NAN, INF = math.nan, math.inf
TIMES = st.none() | st.integers(0, 9)
HERE = (0.0, 0.0, 0.0)


def memory(start_ns: int, end_ns: int) -> Memory:
    return Memory(f'm{start_ns}', 'r', start_ns, end_ns, '')


@pytest.mark.parametrize(
    ('given', 'about'),
    [
        ({'after_ns': 2, 'before_ns': 1}, 'window is empty'),
        ({'near': HERE}, 'go together'),
        ({'radius_m': 1.0}, 'go together'),
        ({'near': HERE, 'radius_m': -1.0}, 'radius'),
        ({'near': HERE, 'radius_m': NAN}, 'radius'),
        ({'near': HERE, 'radius_m': INF}, 'radius'),
        ({'near': (NAN, 0.0, 0.0), 'radius_m': 1.0}, 'position'),
        ({'near': (0.0, -INF, 0.0), 'radius_m': 1.0}, 'position'),
        ({'near': (0.0, 0.0), 'radius_m': 1.0}, 'position'),
        ({'near': (1e300, 0.0, 0.0), 'radius_m': 1.0}, 'position'),
    ],
)
def test_a_scope_without_sense_is_refused(given: dict[str, Any], about: str) -> None:
    with pytest.raises(InvalidRequest, match=about):
        Scope(**given)


@pytest.mark.parametrize(
    ('text', 'place', 'time_ns', 'around', 'radius_m', 'order'),
    [
        ('lift', HERE, 5, False, None, Order.TEXT),
        (None, HERE, 5, False, None, Order.PLACE),
        (None, HERE, 5, False, 1.0, Order.PLACE),
        (None, None, 5, False, None, Order.TIME),
        (None, None, None, False, None, Order.NEWEST),
        (None, None, 5, True, None, Order.AROUND),
        (None, HERE, 5, True, 1.0, Order.AROUND),
        (None, HERE, 5, True, None, None),
        ('lift', None, 5, True, None, None),
        (None, None, None, True, None, None),
    ],
)
def test_what_is_given_first_ranks_and_around_goes_with_time(  # noqa: PLR0917
    text: str | None,
    place: Point | None,
    time_ns: int | None,
    around: bool,
    radius_m: float | None,
    order: Order | None,
) -> None:
    scope = Scope(near=place if radius_m is not None else None, radius_m=radius_m)
    if order is None:
        with pytest.raises(InvalidRequest, match='around goes with time'):
            query_by(text, place, time_ns, around=around, scope=scope, limit=3)
    else:
        query = query_by(text, place, time_ns, around=around, scope=scope, limit=3)
        assert (query.order, query.scope, query.limit) == (order, scope, 3)


@given(TIMES, TIMES, TIMES, TIMES, st.integers(0, 9), st.integers(0, 9))
def test_the_part_of_a_scope_in_a_window_is_what_both_admit(  # noqa: PLR0917
    after: int | None, before: int | None, first: int | None, last: int | None, start: int, length: int
) -> None:
    if (after is not None and before is not None and after > before) or (
        first is not None and last is not None and first > last
    ):
        return
    scope, window = Scope(after, before, robots=('r',)), Scope(first, last)
    inside = scope.within(first, last)
    made = memory(start, start + length)
    if inside is not None:
        assert inside.admits(made) is (scope.admits(made) and window.admits(made))
        assert inside.robots == scope.robots
    else:
        assert not (scope.admits(memory(start, start)) and window.admits(memory(start, start)))


@pytest.mark.parametrize(
    ('given', 'order'),
    [
        ({'text': 'mug'}, Order.TEXT),
        ({'place': HERE}, Order.PLACE),
        ({'time_ns': 0}, Order.TIME),
        ({'time_ns': -5, 'around': True}, Order.AROUND),
        ({}, Order.NEWEST),
        ({'scope': Scope(near=HERE, radius_m=0.0)}, Order.NEWEST),
    ],
)
def test_what_is_given_says_what_comes_first(given: dict[str, Any], order: Order) -> None:
    assert Query(**given).order is order


@pytest.mark.parametrize(
    ('given', 'about'),
    [
        ({'text': ''}, 'needs a text'),
        ({'text': ' \n'}, 'needs a text'),
        ({'place': (NAN, 0.0, 0.0)}, 'position'),
        ({'place': (0.0, INF, 0.0)}, 'position'),
        ({'place': (0.0, 0.0, -1e300)}, 'position'),
        ({'place': (0.0, 0.0)}, 'position'),
        ({'limit': 0}, 'limit'),
        ({'limit': -1}, 'limit'),
        ({'around': True}, 'with a time'),
        ({'text': 'mug', 'around': True}, 'with a time'),
        ({'text': 'mug', 'place': HERE}, 'by a text, by a place or by a time'),
        ({'text': 'mug', 'time_ns': 0}, 'by a text, by a place or by a time'),
        ({'place': HERE, 'time_ns': 0}, 'by a text, by a place or by a time'),
    ],
)
def test_a_query_without_sense_is_refused(given: dict[str, Any], about: str) -> None:
    with pytest.raises(InvalidRequest, match=about):
        Query(**given)


@pytest.mark.parametrize(
    ('nearest', 'limit', 'kept'),
    [
        (3, 1, '3'),
        (3, 2, '34'),
        (3, 3, '234'),
        (3, 4, '2345'),
        (0, 3, '012'),
        (7, 3, '567'),
        (6, 4, '4567'),
        (5, 100, '01234567'),
    ],
)
def test_around_a_time_a_cut_keeps_the_middle(nearest: int, limit: int, kept: str) -> None:
    hits = [Hit(memory(i, i), 1.0, offset_s=float(i - nearest)) for i in range(8)]
    query = Query(time_ns=nearest, around=True, limit=limit)
    assert ''.join(hit.memory.id[1:] for hit in query.cut(hits)) == kept
    assert query.cut([]) == []
    first = replace(query, around=False).cut(hits)
    assert first == hits[:limit]


@given(st.lists(st.sampled_from(DRIVE), min_size=2, max_size=2), st.data())
def test_two_scopes_meet_in_what_both_admit(ends: list[Memory], data: st.DataObject) -> None:
    def drawn() -> Scope:
        return Scope(
            data.draw(st.none() | st.just(ends[0].start_ns)),
            data.draw(st.none() | st.just(max(one.end_ns for one in ends))),
            robots=tuple(data.draw(st.lists(st.sampled_from(['a', 'b', 'c']), unique=True))),
            map_id=data.draw(st.sampled_from([None, '', 'cellar'])),
            source=data.draw(st.sampled_from([None, 'captioner', 'person'])),
        )

    one, other = drawn(), drawn()
    met = one.meet(other)
    both = [memory for memory in DRIVE if one.admits(memory) and other.admits(memory)]
    assert both == ([] if met is None else [memory for memory in DRIVE if met.admits(memory)])


def test_a_place_meets_no_other_place() -> None:
    here, there = (Scope(near=(x, 0.0, 0.0), radius_m=1.0) for x in (0.0, 9.0))
    assert here.meet(ANYTHING) == ANYTHING.meet(here) == here.meet(here) == here
    with pytest.raises(InvalidRequest, match='place'):
        here.meet(there)


def test_an_unplaced_memory_is_within_no_radius() -> None:
    assert ANYTHING.admits(memory(0, 0))
    assert not Scope(near=HERE, radius_m=1e9).admits(memory(0, 0))


def test_a_survey_says_how_far_each_robot_drove_and_where_on_which_map() -> None:
    def at(robot: str, second: int, x: float | None, map_id: str = '') -> Memory:
        pose = None if x is None else Pose(x, 1.0, 0.5)
        return Memory(f'{robot}{second}', robot, second * NS, (second + 3) * NS, '', pose, map_id=map_id)

    drives = [at('a', 0, 0.0), at('b', 1, 100.0), at('a', 5, None), at('a', 9, 4.0), at('a', 20, 4.0, 'up')]
    assert survey_of(reversed(drives)) == Survey(
        5,
        0,
        23 * NS,
        4.0,
        (
            MapArea('', (0.0, 1.0, 0.5), (100.0, 1.0, 0.5), 3),
            MapArea('up', (4.0, 1.0, 0.5), (4.0, 1.0, 0.5), 1),
        ),
    )
    assert survey_of([]) == Survey(0)


@pytest.mark.parametrize(
    'scope',
    [
        Scope(robots=('a\nb',)),
        Scope(map_id='a\0b'),
        Scope(robots=('\ud800',)),
        Scope(source='camera'),
        Scope(place='kitchen'),
        Scope(without=('a\nb',)),
        Scope(source="captioner' or 1 == 1"),
    ],
)
def test_scopes_without_sense_are_refused(scope: Scope) -> None:
    with pytest.raises(InvalidRequest):
        scope.check()
