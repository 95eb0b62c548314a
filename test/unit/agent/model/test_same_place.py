"""Which memories were made at one place."""

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.agent.model.same_place import SamePlace, by_place
from remembr_ros.geometry import Point, Pose
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS


def hit(name: str, place: tuple[float, float] | None, at_s: int = 0, **fields: Any) -> Hit:
    pose = Pose(*place) if place is not None else None
    return Hit(Memory(name, fields.pop('robot', 'r'), at_s * NS, (at_s + 3) * NS, '', pose, **fields), 0.5)


def names(groups: Iterable[Iterable[Hit]]) -> list[str]:
    return [''.join(hit.memory.id for hit in group) for group in groups]


def wall_at_zero(one: Point, others: Sequence[Point]) -> list[bool]:
    return [(one[0] < 0.0) != (other[0] < 0.0) for other in others]


RULES = st.sampled_from([SamePlace(), SamePlace(2.0), SamePlace(0.0), SamePlace(5.0, wall_at_zero)])
HITS = st.lists(
    st.builds(
        lambda place, at_s, map_id, robot: (place, at_s, map_id, robot),
        st.one_of(st.none(), st.tuples(st.integers(-9, 9), st.integers(-2, 2))),
        st.integers(0, 40),
        st.sampled_from(['', 'attic']),
        st.sampled_from(['r', 's']),
    ),
    max_size=12,
).map(lambda made: [hit(chr(97 + i), p, t, map_id=m, robot=r) for i, (p, t, m, r) in enumerate(made)])


def clusters(groups: list[list[Hit]], *, placed: bool) -> set[frozenset[str]]:
    found = {
        frozenset(hit.memory.id for hit in group if hit.memory.pose is not None or not placed)
        for group in groups
    }
    return found - {frozenset()}


@settings(deadline=None)
@given(hits=HITS, rule=RULES, data=st.data())
def test_groups_depend_neither_on_hits_without_a_place_nor_on_the_order(
    hits: list[Hit], rule: SamePlace, data: st.DataObject
) -> None:
    groups = by_place(hits, rule)
    placed = [hit for hit in hits if hit.memory.pose is not None]
    assert clusters(groups, placed=True) == clusters(by_place(placed, rule), placed=False)
    shuffled = by_place(data.draw(st.permutations(hits)), rule)
    assert clusters(shuffled, placed=False) == clusters(groups, placed=False)


@settings(deadline=None)
@given(hits=HITS, rule=RULES)
def test_every_hit_is_in_one_group_and_all_keep_their_order(hits: list[Hit], rule: SamePlace) -> None:
    groups = [[hits.index(hit) for hit in group] for group in by_place(hits, rule)]
    assert sorted(i for group in groups for i in group) == list(range(len(hits)))
    assert groups == sorted(map(sorted, groups))


def test_what_is_near_is_one_place_and_so_is_what_others_join() -> None:
    hits = [hit('a', (0, 0)), hit('b', (8, 0)), hit('c', (20, 0)), hit('d', (4, 0))]
    assert names(by_place(hits, SamePlace(4.0))) == ['abd', 'c']
    assert names(by_place(hits, SamePlace(3.9))) == ['a', 'b', 'c', 'd']


def test_three_printers_within_the_usual_distance_can_be_told_apart() -> None:
    printers = [hit('a', (2, 3)), hit('b', (-3, 4)), hit('c', (6, 5))]
    assert names(by_place(printers, SamePlace())) == ['ac', 'b']
    assert names(by_place(printers, SamePlace(3.0))) == ['a', 'b', 'c']


def test_a_wall_makes_two_places_on_the_map_that_has_it() -> None:
    walled = SamePlace(5.0, wall_at_zero, ('map', 'ground'))
    near = [(-1.0, 0.0), (1.0, 0.0)]
    for map_id, frame_id, expected in (
        ('ground', 'map', ['a', 'b']),
        ('attic', 'map', ['ab']),
        ('ground', 'odom', ['ab']),
    ):
        hits = [
            hit(name, place, map_id=map_id, frame_id=frame_id) for name, place in zip('ab', near, strict=True)
        ]
        assert names(by_place(hits, walled)) == expected


@pytest.mark.parametrize('fields', [{'map_id': 'attic'}, {'frame_id': 'odom'}])
def test_the_same_numbers_on_another_map_or_in_another_frame_are_another_place(
    fields: dict[str, str],
) -> None:
    assert names(by_place([hit('a', (0, 0)), hit('b', (0, 0), **fields)], SamePlace())) == ['a', 'b']


def test_a_hit_without_a_place_goes_with_the_nearest_in_time_of_its_map_and_robot() -> None:
    hits = [hit('a', (0, 0), 0), hit('b', (50, 0), 100), hit('c', (90, 0), 60, map_id='attic')]
    assert names(by_place([*hits, hit('x', None, 70)], SamePlace())) == ['a', 'bx', 'c']
    assert names(by_place([*hits, hit('x', None, 101, map_id='attic')], SamePlace())) == ['a', 'b', 'cx']
    of_s = hit('s', (70, 0), 900, robot='s')
    assert names(by_place([*hits, of_s, hit('x', None, 100, robot='s')], SamePlace())) == [
        'a',
        'b',
        'c',
        'sx',
    ]
    nowhere = [hit('x', None, 0), hit('y', None, 500), hit('z', None, 0, map_id='attic')]
    assert names(by_place(nowhere, SamePlace())) == ['xy', 'z']
