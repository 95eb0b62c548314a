from dataclasses import replace

import pytest

from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed, facts_of
from remembr_ros.memory.deeds.object_ids import state_left, with_states
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.objects.known import known_objects
from test.object_room import CUP, ROOM, TABLE, thing


def done(kind, at=1, **about):
    return deed(at, kind=kind, map_id=CUP.memory.map_id, **about).memory('r')


@pytest.mark.parametrize(
    ('kind', 'about', 'state'),
    [
        ('open', {}, 'open'),
        ('shut', {}, 'closed'),
        ('grasped', {}, 'in hand'),
        ('put', {'outcome': 'succeeded'}, 'normal'),
        ('pick', {'outcome': 'failed'}, ''),
        ('go', {}, ''),
        ('watered', {}, ''),
        ('watered', {'details': {'state': ' freshly  watered '}}, 'freshly watered'),
        ('open', {'details': {'state': 'half open'}}, 'half open'),
        ('open', {'details': {'state': 3}}, 'open'),
    ],
)
def test_what_a_deed_leaves(kind, about, state):
    assert state_left(facts_of(done(kind, **about))) == state


def states_of(memories):
    return {one.id: one.state for one in known_objects(memories)}


def test_the_latest_deed_tells_the_state_whatever_the_order():
    pick, put = done('pick', 5, object_id=CUP.id), done('place', 9, object_id=CUP.id)
    assert states_of(with_states([put, pick], list(ROOM))) == {CUP.id: ('normal', 9)}
    assert with_states([done('go', 5)], list(ROOM)) == []


def test_a_deed_that_was_of_another_object_changes_that_one_only():
    pick = done('pick', 5, object_id=CUP.id)
    (held,) = known_objects(with_states([pick], list(ROOM)))
    others = [held, *(one for one in ROOM if one.id != CUP.id)]
    table = replace(pick, facts={**pick.facts, 'object_id': TABLE.id})
    assert states_of(with_states([table], others)) == {CUP.id: ('', 0), TABLE.id: ('in hand', 5)}


def test_a_store_keeps_the_states_that_who_follows_objects_does_not_know(store):
    store.add([Observation(one.memory) for one in ROOM])
    store.add([Observation(done('pick', 5, object='cup'))])
    assert states_of(store.all())[CUP.id] == ('in hand', 5)
    store.add([Observation(replace(CUP.memory, end_ns=CUP.memory.end_ns + 1))])
    assert states_of(store.all())[CUP.id] == ('in hand', 5)
    store.add([Observation(done('place', 7, object='cup')), Observation(CUP.memory)])
    assert states_of(store.all())[CUP.id] == ('normal', 7)


def test_a_deed_that_comes_once_more_is_of_what_was_meant_before(store):
    mugs = [thing('mug', (x, 0.0, 0.8), (0.1, 0.1, 0.1), id=f'mug-{x}') for x in (0.0, 0.3)]
    pick = Observation(done('pick', 5, object='mug'))
    store.add([Observation(mugs[0].memory)])
    (first,) = store.add([pick])
    store.add([Observation(mugs[1].memory)])
    assert store.add([pick]) == [first]
    assert states_of(store.all())[mugs[0].id] == ('in hand', 5)
    elsewhere = Observation(replace(pick.memory, pose=Pose(0.3, 0.0)))
    assert facts_of(*store.add([elsewhere])).object_id == ''
