"""Named places in a store: what is found in them, and what becomes of them."""

import math
from dataclasses import replace
from datetime import timezone
from pathlib import Path

import pytest

from remembr_ros.agent.overview.recalled_day import day_of, scope_of_day
from remembr_ros.errors import InvalidRequest
from remembr_ros.forms.questions import DayForm
from remembr_ros.geometry import Pose, RigidTransform
from remembr_ros.memory.exchange.transfer import export_memories, import_memories
from remembr_ros.memory.model.recall import Query, Scope
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.objects.query import ObjectQuery
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.places.place import place
from remembr_ros.memory.retention import RetentionPolicy
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS
from test.object_room import ROOM

T0 = 1_700_000_000 * NS
DAY_S = 86_400.0
KITCHEN = place('kitchen', outline=[(0, 0), (4, 0), (4, 3), (0, 3)], now_ns=T0)
DESK = place('desk', center=(1, 1), radius=0.5, now_ns=T0)


def seen(i: int, x: float, y: float, text: str = 'A cup.') -> Observation:
    at_ns = T0 + 60 * i * NS
    return Observation(Memory(f'm{i}', 'r', at_ns, at_ns + NS, text, Pose(x, y), captioner='vlm'))


@pytest.fixture
def store(tmp_path: Path):
    with open_store(str(tmp_path / 'm.db'), 'hashing', create=True) as opened:
        opened.add([seen(0, 1, 1), seen(1, 3, 2), seen(2, 9, 9), seen(3, 2, 2, 'A dog.')])
        yield opened


def places(store: MemoryStore, query: Query) -> dict[str, str]:
    return {hit.memory.id: hit.place for hit in store.find(query)}


def test_what_was_there_before_the_place_had_a_name_is_in_it(store: MemoryStore):
    assert places(store, Query(limit=9)) == dict.fromkeys(('m0', 'm1', 'm2', 'm3'), '')
    store.name_places([KITCHEN, DESK])
    expected = {'m0': 'desk', 'm1': 'kitchen', 'm2': '', 'm3': 'kitchen'}
    for query in (
        Query(limit=9),
        Query('cup', limit=9),
        Query(place=(0, 0, 0), limit=9),
        Query(time_ns=T0, limit=9),
    ):
        assert places(store, query) == expected
    inside = Scope(place='The Kitchen')
    for query in (
        Query(),
        Query('cup'),
        Query(place=(9, 9, 0)),
        Query(time_ns=T0),
        Query(time_ns=T0, around=True),
    ):
        assert set(places(store, replace(query, scope=inside))) == {'m0', 'm1', 'm3'}
    assert (store.count(inside), store.survey(inside).memories, store.count()) == (3, 3, 4)
    assert len(store.outline()) == 4
    assert [m.id for m in store.matching(scope=inside)] == ['m0', 'm1', 'm3']
    with pytest.raises(InvalidRequest, match="no place called 'attic'; there are: desk, kitchen"):
        store.find(Query(scope=Scope(place='attic')))


def test_objects_know_their_place(store: MemoryStore):
    store.add([Observation(one.memory) for one in ROOM])
    x, y, _ = ROOM[0].position
    store.name_places([place('corner', center=(x, y), radius=0.1, now_ns=T0)])
    inside = store.find_objects(ObjectQuery(scope=Scope(place='corner')))
    assert ROOM[0].id in {one.known.id for one in inside.objects}
    assert {one.place for one in inside.objects} == {'corner'}
    assert {one.place for one in store.find_objects(ObjectQuery()).objects} == {'corner', ''}


def test_all_or_none_and_the_same_again(store: MemoryStore):
    with pytest.raises(InvalidRequest, match="called 'desk' already"):
        store.name_places([KITCHEN, DESK, place('Desk', center=(9, 9), radius=1.0)])
    assert not store.places()
    first = store.name_places([KITCHEN])
    assert store.name_places([replace(KITCHEN, memory=replace(KITCHEN.memory, id='other'))]) == first
    assert [one.name for one in store.places().all] == ['kitchen']


def test_one_name_on_two_maps_is_two_places(store: MemoryStore):
    upper = place('kitchen', center=(1, 1), radius=0.5, now_ns=T0, map_id='upper')
    store.name_places([KITCHEN, upper])
    assert {one.memory.map_id for one in store.places().all} == {'', 'upper'}
    with pytest.raises(InvalidRequest, match="on the map '', 'upper'; name that map"):
        store.count(Scope(place='kitchen'))
    assert store.count(Scope(place='kitchen', map_id='')) == 3


def test_a_day_in_a_place(store: MemoryStore):
    store.name_places([KITCHEN])
    told = day_of(
        store, scope_of_day(DayForm(day='2023-11-14', place='the Kitchen'), T0, timezone.utc), timezone.utc
    )
    assert {memory.id for one in told.diary.episodes for memory in one.memories} == {'m0', 'm1', 'm3'}
    assert {one.place for one in told.diary.episodes} == {'kitchen'}
    assert ' in the kitchen' in told.lines(timezone.utc)


def test_a_map_takes_its_places_along(store: MemoryStore):
    store.name_places([KITCHEN])
    turn = RigidTransform((10.0, 0.0, 0.0), (0.0, 0.0, math.sin(math.pi / 4), math.cos(math.pi / 4)))
    store.move_map('', turn, new_map_id='new')
    (moved,) = store.places().all
    assert moved.memory.map_id == 'new'
    assert [pytest.approx(corner) for corner in moved.outline] == [(10, 0), (10, 4), (7, 4), (7, 0)]
    found = places(store, Query(scope=Scope(place='kitchen', map_id='new'), limit=9))
    assert set(found) == {'m0', 'm1', 'm3'}


def test_names_outlive_what_is_forgotten(store: MemoryStore):
    store.name_places([KITCHEN, DESK])
    assert store.forget(scope=Scope(place='kitchen')) == 3
    assert store.forget(scope=Scope(before_ns=T0 + 9999 * NS)) == 1
    store.retain(RetentionPolicy(max_age_s=DAY_S), T0 + 10**6 * NS)
    store.retain(RetentionPolicy(max_memories=1), T0)
    assert [one.name for one in store.places().all] == ['desk', 'kitchen']
    assert store.forget([DESK.memory.id]) == 1
    assert store.forget(scope=Scope(source='place')) == 1
    assert not store.places()


def test_they_travel_with_the_memories(store: MemoryStore, tmp_path: Path):
    store.name_places([KITCHEN])
    export_memories(store, tmp_path / 'all.jsonl')
    export_memories(store, tmp_path / 'some.jsonl', Scope(place='kitchen'))
    for name, held in (('all', 4), ('some', 3)):
        with open_store(str(tmp_path / f'{name}.db'), 'hashing', create=True) as other:
            import_memories(other, tmp_path / f'{name}.jsonl')
            assert other.count() == held
            assert [one.name for one in other.places().all] == ['kitchen']


def test_another_opening_knows_them(store: MemoryStore, tmp_path: Path):
    store.name_places([KITCHEN])
    store.close()
    with open_store(str(tmp_path / 'm.db'), read_only=True) as again:
        assert again.places().named('kitchen').facts == KITCHEN.facts
        assert set(places(again, Query(scope=Scope(place='kitchen')))) == {'m0', 'm1', 'm3'}
