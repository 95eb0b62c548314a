"""What is on, in, under and next to what, and when."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.objects.relations import Relations, relation_named, stays_of
from remembr_ros.timestamps import NS
from test.object_room import BOOK, CUP, FRIDGE, HOUR_NS, ROOM, TABLE, VISITS, thing
from test.object_scene import T0

LATER = T0 + 2 * HOUR_NS


def lies(known: KnownObject, *others: KnownObject) -> set[tuple[str, str]]:
    told = Relations((known, *others)).of(known)
    return {(one.name, one.other) for one in told}


@pytest.mark.parametrize(
    ('anchor', 'name', 'expected'),
    [
        (TABLE, 'on', {'cup', 'book'}),
        (TABLE, 'under', {'bowl'}),
        (TABLE, 'in', set()),
        (FRIDGE, 'in', {'milk'}),
        (FRIDGE, 'on', {'bottle'}),
        (CUP, 'next to', {'book'}),
        (BOOK, 'next to', {'cup'}),
        (TABLE, 'next to', set()),
        (CUP, 'on', set()),
    ],
)
def test_a_room(anchor: KnownObject, name: str, expected: set[str]) -> None:
    assert {one.id for one, _ in Relations(ROOM).to(anchor, name)} == expected


def test_what_a_thing_is_on_comes_before_what_it_is_next_to() -> None:
    assert [(one.name, one.other) for one in Relations(ROOM).of(CUP)] == [
        ('on', 'table'),
        ('next to', 'book'),
    ]


def test_a_chair_is_sat_on_and_what_is_below_its_seat_is_under_it() -> None:
    chair = thing('chair', (0.0, 0.0, 0.0), (0.5, 0.5, 0.9))
    assert lies(thing('bag', (0.0, 0.1, 0.45), (0.2, 0.2, 0.2)), chair) == {('on', 'chair')}
    assert lies(thing('bag', (0.0, 0.1, 0.0), (0.2, 0.2, 0.2)), chair) == {('under', 'chair')}


def test_what_is_on_a_board_of_a_shelf_is_in_it_too() -> None:
    shelf, vase = (
        thing('shelf', (0.0, 0.0, 0.0), (1.0, 0.4, 1.8)),
        thing('vase', (0.2, 0.0, 0.8), (0.1, 0.1, 0.2)),
    )
    relations = Relations((shelf, vase))
    assert [one.name for one in relations.of(vase)] == ['on']
    for name in ('on', 'in'):
        assert [one.id for one, _ in relations.to(shelf, name)] == ['vase']


@pytest.mark.parametrize(
    ('off_m', 'std', 'is_on'), [(0.05, 0.02, True), (0.15, 0.02, False), (0.15, 0.08, True)]
)
def test_tolerances_grow_with_what_is_not_known(off_m: float, std: float, is_on: bool) -> None:
    above = thing('cup', (0.0, 0.0, 0.75 + off_m), (0.08, 0.08, 0.1), std=std)
    assert (('on', 'table') in lies(above, TABLE)) == is_on


def test_a_wall_is_between_what_was_only_seen_from_its_own_side() -> None:
    def seen_from(y: float, bottom_y: float, name: str) -> KnownObject:
        return thing(
            name, (0.0, bottom_y, 0.0), (0.5, 0.3, 1.2), sightings=((T0, (0, 0, 0), (0, y - bottom_y, 0)),)
        )

    here, there = seen_from(-2.0, -0.2, 'cupboard'), seen_from(2.0, 0.2, 'wardrobe')
    assert lies(here, there) == set()
    assert lies(here, seen_from(-2.0, 0.2, 'wardrobe')) == {('next to', 'wardrobe')}
    # A table that carries both goes through no wall.
    one, other = (
        thing(name, (0.0, y, 0.76), (0.1, 0.1, 0.1), sightings=((T0, (0, 0, 0), (0, 20 * y, 0)),))
        for name, y in (('cup', -0.1), ('bowl', 0.1))
    )
    assert ('next to', 'bowl') in lies(one, other, TABLE)
    assert lies(one, other) == set()


def test_people_and_what_has_a_bearing_alone_have_no_relations() -> None:
    assert lies(thing('cat', (0.0, 0.0, 0.76), (0.3, 0.2, 0.2)), TABLE) == set()
    assert lies(thing('cup', (0.0, 0.0, 0.76), (0.1, 0.1, 0.1), measured=False), TABLE) == set()


def test_a_relation_holds_from_when_both_are_there_until_one_leaves() -> None:
    moved = thing(
        'vase',
        (5.0, 5.0, 0.0),
        (0.1, 0.1, 0.2),
        moves=((T0 + 60 * NS, LATER, (-4.8, -4.9, 0.76), (0.0, 0.0, 0.0)),),
    )
    [on] = [one for one in Relations((TABLE, moved)).of(moved) if one.name == 'on']
    assert (on.other_name, on.since_ns, on.until_ns) == ('table', T0, T0 + 60 * NS)
    assert not on.held(None, None)
    assert on.held(None, T0 + 10 * NS)
    assert on.held(T0 + 50 * NS, T0 + 55 * NS)
    assert not on.held(T0 + 61 * NS, None)


def test_what_is_gone_is_on_nothing_any_more() -> None:
    gone = thing(
        'vase', (0.0, 0.0, 0.76), (0.1, 0.1, 0.2), intervals=VISITS[:1], absences=((LATER, LATER + 9 * NS),)
    )
    [on] = Relations((TABLE, gone)).of(gone)
    assert (on.since_ns, on.until_ns) == (T0, T0 + 60 * NS)


def test_what_came_back_was_away_in_between() -> None:
    seen = (*VISITS, (T0 + 4 * HOUR_NS, T0 + 4 * HOUR_NS + 60 * NS))
    absent = ((LATER + 20 * NS, LATER + 40 * NS),)
    back = thing('vase', (0.0, 0.0, 0.76), (0.1, 0.1, 0.2), intervals=(seen[0], seen[2]), absences=absent)
    stays = [(stay.since_ns, stay.until_ns) for stay in stays_of(back)]
    assert stays == [(T0, T0 + 60 * NS), (T0 + 4 * HOUR_NS, None)]


@given(
    st.lists(
        st.tuples(*(st.floats(-1.0, 1.0) for _ in range(3)), st.floats(0.05, 1.0)),
        min_size=2,
        max_size=6,
    )
)
def test_no_two_things_carry_each_other(places: list[tuple[float, float, float, float]]) -> None:
    things = [thing(f'box {i}', (x, y, z), (side, side, side)) for i, (x, y, z, side) in enumerate(places)]
    relations = Relations(things)
    pairs = {(one.id, of.other, of.name) for one in things for of in relations.of(one)}
    for one, other, name in pairs:
        if name != 'next to':
            assert not {(other, one, which) for which in ('on', 'in', 'under', 'next to')} & pairs
        assert one != other


def test_a_relation_has_a_name() -> None:
    assert relation_named('next to') == 'next to'
    with pytest.raises(InvalidRequest, match='there are on, in, under, next to'):
        relation_named('above')
