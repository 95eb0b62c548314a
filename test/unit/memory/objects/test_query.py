"""Which objects a query finds, and in which order."""

from typing import Any

import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.objects.query import ObjectOrder, ObjectQuery, choose_objects
from test.object_room import BOTTLE, CUP, HOUR_NS, ROOM, TABLE, VISITS, thing
from test.object_scene import T0

GONE = thing(
    'vase', (0.4, 0.2, 0.76), (0.1, 0.1, 0.2), intervals=VISITS[:1], absences=(VISITS[1],), observations=3
)
MOVED = thing(
    'plant',
    (3.0, 3.0, 0.0),
    (0.3, 0.3, 0.6),
    moves=((VISITS[0][1], VISITS[1][0], (-1.0, 0.0, 0.0), (0.0, 0.0, 0.0)),),
)
NEW = thing('clock', (-0.4, 0.2, 0.76), (0.1, 0.1, 0.1), intervals=VISITS[1:], observations=4)
ALL = (*ROOM, GONE, MOVED, NEW)


def ids(**asked: Any) -> list[str]:
    return [one.known.id for one in choose_objects(ObjectQuery(**asked), ALL).objects]


def test_every_condition_alone() -> None:
    assert set(ids()) == {one.id for one in ALL}
    assert ids(called='cup') == ids(called='mug') == ids(called='red cups') == ids(called=CUP.id) == ['cup']
    assert ids(called='blue cup') == []
    assert ids(missing=True) == ['vase']
    assert 'vase' not in ids(missing=False)
    assert ids(moved=True) == ['plant']
    assert set(ids(changed_since_ns=T0 + HOUR_NS)) == {'vase', 'plant', 'clock'}
    assert set(ids(scope=Scope(near=(2.0, 0.0, 1.0), radius_m=1.0))) == {'fridge', 'milk', 'bottle'}
    assert 'clock' not in ids(scope=Scope(before_ns=T0 + HOUR_NS))
    assert 'vase' not in ids(scope=Scope(after_ns=T0 + HOUR_NS))


def test_what_lies_on_something_now_and_then() -> None:
    assert set(ids(relation='on', anchor='table')) == {'cup', 'book', 'clock'}
    assert set(ids(relation='on', anchor='table', scope=Scope(before_ns=T0 + HOUR_NS))) == {
        'cup',
        'book',
        'vase',
    }
    assert ids(relation='on', anchor='table', called='green book') == ['book']
    assert ids(relation='on', anchor=TABLE.id, called='milk') == []
    assert choose_objects(ObjectQuery(relation='on', anchor='sofa'), ALL).anchors == ()


def test_the_relations_of_what_was_found_are_told() -> None:
    [found] = choose_objects(ObjectQuery('cup'), ALL).objects
    assert ('on', 'table') in [(of.name, of.other_name) for of in found.relations]
    [found] = choose_objects(ObjectQuery('vase'), ALL).objects
    assert found.relations == ()


@pytest.mark.parametrize(
    ('order', 'first'),
    [
        (ObjectOrder.LARGEST, 'table'),
        (ObjectOrder.FIRST_SEEN, None),
        (ObjectOrder.LAST_SEEN, None),
        (ObjectOrder.MOST_SEEN, None),
    ],
)
def test_orders(order: ObjectOrder, first: str | None) -> None:
    told = ids(order=order)
    assert first in (None, told[0])
    last = {ObjectOrder.FIRST_SEEN: 'clock', ObjectOrder.LAST_SEEN: 'vase', ObjectOrder.MOST_SEEN: 'vase'}
    assert told[-1] == last.get(order, told[-1])


def test_the_nearest_come_first_and_the_limit_counts_no_total() -> None:
    found = choose_objects(ObjectQuery(place=(2.0, 0.1, 1.6), limit=2), ALL)
    assert [one.known.id for one in found.objects] == [BOTTLE.id, 'milk']
    assert found.total == len(ALL)


def test_a_text_ranks_and_leaves_out_what_does_not_fit() -> None:
    found = choose_objects(ObjectQuery(text='something to drink from'), ALL, {'cup': 0.9, 'bottle': 0.5})
    assert [one.known.id for one in found.objects] == ['cup', 'bottle']


def test_maps_are_worlds_of_their_own() -> None:
    elsewhere = thing('vase', (0.0, 0.0, 0.76), (0.1, 0.1, 0.2), robot='another')
    assert not choose_objects(
        ObjectQuery(relation='on', anchor='table', called='vase'), [TABLE, elsewhere]
    ).objects


@pytest.mark.parametrize(
    ('asked', 'why'),
    [
        ({'relation': 'above', 'anchor': 'table'}, 'no relation'),
        ({'relation': 'on'}, 'goes with the object'),
        ({'anchor': 'table'}, 'goes with the object'),
        ({'limit': 0}, 'at least one'),
        ({'order': ObjectOrder.NEAREST}, 'needs a place'),
        ({'order': ObjectOrder.TEXT}, 'needs a text'),
    ],
)
def test_what_makes_no_sense_is_refused(asked: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidRequest, match=why):
        ObjectQuery(**asked)
