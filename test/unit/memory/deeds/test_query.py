import itertools
from math import dist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.choice import choose_deeds
from remembr_ros.memory.deeds.deed import deed, facts_of
from remembr_ros.memory.deeds.query import DeedOrder, DeedQuery, FoundDeeds, Occurrence
from remembr_ros.memory.model.recall import Scope
from remembr_ros.timestamps import NS

T = 1_780_000_000 * NS
MINUTE = 60 * NS


def done(minute: float, kind: str, seconds: float = 30.0, x: float = 0.0, **about) -> Occurrence:
    start_ns = T + round(minute * 60) * NS
    about = {'outcome': 'succeeded', 'kind': kind, 'pose': Pose(x, 0.0)} | about
    memory = deed(start_ns, start_ns + round(seconds * NS), **about).memory('r')
    return Occurrence(memory.start_ns, memory.end_ns, facts_of(memory), (memory,))


DAY = [
    done(0, 'open', object='fridge', place='kitchen'),
    done(1, 'pick', object='soy milk', receptacle='fridge', place='kitchen', x=1.0),
    done(2, 'place', 50, object='soy milk', receptacle='kitchen table', place='kitchen', x=2.0),
    done(3, 'introduce', 40, text='Introduced itself to two visitors.'),
    done(4, 'hand over', object='red cup', x=4.0),
    done(5, 'load', 200, object='dishwasher', outcome='failed', reason='the rack is stuck'),
    done(6, 'pick', 10, object='red cup', receptacle='sink', x=5.0),
    done(7, 'place', 20, object='red cup', receptacle='dishwasher', x=6.0),
    done(9, 'load', 100, object='dishwasher'),
    done(11, 'introduce', 20, text='Introduced itself to a guest.'),
    done(12, 'go', 60, place='hall', x=9.0),
]


def source(query: DeedQuery) -> list[Occurrence]:
    return [one for one in DAY if query.scope.admits(one.memory)]


def ask(**about) -> FoundDeeds:
    return choose_deeds(DeedQuery(**about), source)


def numbers(found: FoundDeeds) -> list[int]:
    return [DAY.index(one) for one in found.found]


@pytest.mark.parametrize(
    ('about', 'right'),
    [
        ({'kind': 'pick'}, [1, 6]),
        ({'kind': 'grasped'}, [1, 6]),
        ({'kind': 'introduction'}, [3, 9]),
        ({'kind': 'handed over'}, [4]),
        ({'kind': 'visitors'}, [3]),
        ({'object': 'cup'}, [4, 6, 7]),
        ({'object': 'mug'}, [4, 6, 7]),
        ({'object': 'milk', 'kind': 'put'}, [2]),
        ({'receptacle': 'table'}, [2]),
        ({'place': 'kitchen'}, [0, 1, 2]),
        ({'attribute': 'red'}, [4, 6, 7]),
        ({'outcomes': ('failed', 'cancelled')}, [5]),
        ({'kind': 'load', 'outcomes': ('succeeded',)}, [8]),
        ({'scope': Scope(T + 5 * MINUTE, T + 6 * MINUTE)}, [5, 6]),
        ({'kind': 'pick', 'nth': 2}, [6]),
        ({'kind': 'pick', 'nth': -1}, [6]),
        ({'kind': 'pick', 'nth': 3}, []),
        ({'order': DeedOrder.LAST, 'limit': 2}, [10, 9]),
        ({'order': DeedOrder.LONGEST, 'nth': 1}, [5]),
        ({'kind': 'introduce', 'order': DeedOrder.SHORTEST, 'limit': 1}, [9]),
        ({'kind': 'place', 'order': DeedOrder.NEAREST, 'here': (9.0, 0.0, 0.0)}, [7, 2]),
        ({'kind': 'place', 'order': DeedOrder.FARTHEST, 'here': (9.0, 0.0, 0.0)}, [2, 7]),
        ({'after': DeedQuery(kind='introduce', nth=1), 'right': True}, [4]),
        ({'after': DeedQuery(kind='introduce'), 'right': True}, [4, 10]),
        ({'before': DeedQuery(kind='introduce'), 'right': True, 'kind': 'load'}, [8]),
        ({'after': DeedQuery(kind='load')}, [9, 10]),
        ({'after': DeedQuery(kind='load', nth=1), 'limit': 2}, [8, 9]),
        ({'before': DeedQuery(kind='open')}, []),
        ({'before': DeedQuery(object='red cup', nth=1), 'order': DeedOrder.LAST, 'limit': 2}, [3, 2]),
        ({'after': DeedQuery(kind='pick'), 'before': DeedQuery(kind='load')}, [7]),
        ({'after': DeedQuery(kind='go'), 'before': DeedQuery(kind='load')}, []),
        ({'during': DeedQuery(kind='load')}, [6, 7]),
        ({'at_ns': T + 3 * MINUTE + 35 * NS}, [3]),
        ({'at_ns': T + 100 * MINUTE}, [10]),
        ({'kind': 'pick', 'scope': Scope(T, T + 3 * MINUTE), 'never': 'object'}, [0, 7, 8]),
        ({'scope': Scope(T, T + 3 * MINUTE), 'never': 'place'}, [10]),
        ({'after': DeedQuery(kind='sing')}, []),
    ],
)  # fmt: skip
def test_what_a_query_finds(about: dict, right: list[int]) -> None:
    assert sorted(numbers(ask(**about))) == sorted(right)
    if 'order' in about:
        assert numbers(ask(**about)) == right


def test_what_it_is_after_is_told() -> None:
    found = ask(after=DeedQuery(kind='pick'), before=DeedQuery(kind='load'))
    assert [DAY.index(one) for one in found.anchors] == [6, 8]


@pytest.mark.parametrize(
    ('about', 'why'),
    [
        ({'outcomes': ('ended',)}, 'no outcome'),
        ({'order': DeedOrder.NEAREST}, 'here'),
        ({'here': (float('nan'), 0.0, 0.0)}, 'is not a position'),
        ({'nth': 0}, 'counts from 1'),
        ({'limit': 0}, '1 or more'),
        ({'right': True}, 'give one'),
        ({'never': 'kind'}, 'never'),
    ],
)
def test_what_makes_no_sense_is_refused(about: dict, why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        DeedQuery(**about)


@given(st.lists(st.floats(-50.0, 50.0), min_size=1, max_size=6, unique=True))
def test_the_way_by_a_few_is_the_shortest(places: list[float]) -> None:
    some = [done(i, 'place', x=x) for i, x in enumerate(places)]
    found = choose_deeds(DeedQuery(order=DeedOrder.WAY, here=(0.0, 0.0, 0.0)), lambda _: some).found
    assert {id(one) for one in found} == {id(one) for one in some}

    def length(way) -> float:
        return sum(dist(a, b) for a, b in itertools.pairwise([(0.0, 0.0, 0.0), *way]))

    points = [one.memory.pose.position for one in found]
    best = min(map(length, itertools.permutations(points)))
    assert length(points) <= best + 1e-9


def test_the_way_by_many_comes_by_all_and_crosses_no_leg_of_its_own() -> None:
    some = [done(i, 'place', x=float(x)) for i, x in enumerate((3, 9, 1, 7, 5, 8, 2, 6, 4))]
    found = choose_deeds(DeedQuery(order=DeedOrder.WAY, here=(0.0, 0.0, 0.0)), lambda _: some).found
    assert [one.memory.pose.x for one in found] == [float(x) for x in range(1, 10)]


@given(st.lists(st.integers(0, 40), min_size=2, max_size=12, unique=True), st.integers(1, 12))
def test_after_and_before_divide_what_was_done(minutes: list[int], which: int) -> None:
    some = [done(minute, 'wave') for minute in sorted(minutes)]
    which = min(which, len(some))
    anchor = DeedQuery(nth=which)
    before = choose_deeds(
        DeedQuery(before=anchor), lambda q: [o for o in some if q.scope.admits(o.memory)]
    ).found
    after = choose_deeds(
        DeedQuery(after=anchor), lambda q: [o for o in some if q.scope.admits(o.memory)]
    ).found
    assert [*before, some[which - 1], *after] == some
