"""Objects in an embedded store: its rows and pictures after scenes, mergers, ends and failures."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import StoreUnavailable
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import OBJECT, Memory, Observation
from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.objects.detectors.detection import Detection
from remembr_ros.objects.keeper import EVERY_NS, ObjectKeeper
from remembr_ros.timestamps import NS
from test.object_scene import T0, PixelRect, Scene, detection, known_object

MUG, BOWL = (40, 50, 60, 70), (100, 50, 120, 70)
RED, BLUE = (30, 30, 200), (200, 60, 30)
TWIN, AT_TWIN = (78, 49, 98, 69), (1.5, -0.1, 1.0)
"""Pixels, and where the middle of what has them lies [m]."""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / 'memory.db')


@pytest.fixture
def store(path: str) -> Iterator[MemoryStore]:
    with open_store(path, HashingEmbedder(64)) as opened:
        yield opened


class Unreliable:
    """A store, some of whose next changes fail."""

    def __init__(self, store: MemoryStore) -> None:
        self._store = store
        self.failing: set[str] = set()

    def matching(self, **conditions: Any) -> list[Memory]:
        return self._store.matching(**conditions)

    def add(self, observations: Sequence[Observation], gone: Sequence[str] = ()) -> list[Memory]:
        self._fail('add')
        if gone and 'gone' in self.failing:  # as a server that goes between the two
            self._store.add(observations)
            self._fail('gone')
        return self._store.add(observations, gone)

    def _fail(self, what: str) -> None:
        if what in self.failing:
            self.failing.remove(what)
            raise StoreUnavailable('the disk is full')


def shown(
    keeper: ObjectKeeper, *things: tuple[PixelRect, str], seconds: Collection[float], **changes: Any
) -> None:
    """Show things, each in its colour, at these seconds."""
    scene = Scene()
    for box, label in things:
        scene.put(box, 1.5, BLUE if label == 'bowl' else RED)
    for second in seconds:
        stamp_ns = T0 + round(second * NS)
        keeper.see(scene.view(stamp_ns), [_boxed(box, label, stamp_ns, changes) for box, label in things])


def _boxed(box: PixelRect, label: str, stamp_ns: int, changes: dict[str, Any]) -> Detection:
    left, top, right, bottom = map(float, box)
    return detection((left, top, right, bottom), label, stamp_ns=stamp_ns, **changes)


def kept(store: MemoryStore) -> dict[str, KnownObject]:
    """Return the objects in a store by name; there is one of each."""
    found = known_objects(store.all())
    assert len({known.name for known in found}) == len(found)
    return {known.name: known for known in found}


def pictures(store: MemoryStore) -> set[str]:
    return {file.name for file in store.keyframes.folder.rglob('*.jpg')}


def test_objects_are_stored_as_one_memory_each_with_their_picture(store: MemoryStore) -> None:
    keeper = ObjectKeeper(store, 'robbie', 'floor', 'floor_map')
    shown(keeper, (MUG, 'mug'), (BOWL, 'bowl'), seconds=range(5))
    keeper.keep()
    assert (len(keeper), keeper.images, keeper.detections) == (2, 5, 10)
    found = kept(store)
    assert set(found) == {'mug', 'bowl'}
    assert store.count() == 2
    mug = found['mug'].memory
    assert (mug.robot, mug.map_id, mug.frame_id, mug.source) == ('robbie', 'floor', 'floor_map', OBJECT)
    assert (mug.start_ns, mug.end_ns, found['mug'].facts.observations) == (T0, T0 + 4 * NS, 5)
    assert mug.caption == 'A red mug.'
    assert len(mug.keyframes) == 1
    assert store.keyframe(mug.id).startswith(b'\xff\xd8')
    assert pictures(store) == {name for known in found.values() for name in known.memory.keyframes}


def test_new_ones_are_stored_after_two_seconds_then_all_every_ten_of_stamps_and_when_asked(
    store: MemoryStore,
) -> None:
    keeper = ObjectKeeper(store, 'robbie')
    shown(keeper, (MUG, 'mug'), seconds=range(2))
    assert store.count() == 0
    shown(keeper, (MUG, 'mug'), seconds=range(2, 10))
    assert kept(store)['mug'].facts.observations == 3
    shown(keeper, (MUG, 'mug'), seconds=range(10, 3 + EVERY_NS // NS))
    assert kept(store)['mug'].facts.observations == 13
    shown(keeper, (MUG, 'mug'), seconds=range(13, 19))
    assert kept(store)['mug'].facts.observations == 13
    keeper.keep()
    assert kept(store)['mug'].facts.observations == 19
    keeper.keep()
    assert store.count() == 1


def test_a_rewrite_without_a_new_picture_keeps_the_old_one_and_a_better_one_replaces_it(
    store: MemoryStore,
) -> None:
    keeper = ObjectKeeper(store, 'robbie')
    shown(keeper, (MUG, 'mug'), seconds=range(5))
    keeper.keep()
    first = kept(store)['mug'].memory.keyframes
    shown(keeper, (MUG, 'mug'), seconds=range(5, 9))
    keeper.keep()
    assert kept(store)['mug'].facts.observations == 9
    assert kept(store)['mug'].memory.keyframes == first
    assert pictures(store) == set(first)
    better = (38, 48, 62, 72)
    shown(keeper, (better, 'mug'), seconds=range(9, 12), scores={'mug': 0.95})
    keeper.keep()
    second = kept(store)['mug'].memory.keyframes
    assert second != first
    assert pictures(store) == set(second)


def test_a_restart_goes_on_with_the_same_ids_and_pictures(path: str) -> None:
    rounds = []
    for start in (0, 3600):
        with open_store(path, HashingEmbedder(64)) as store:
            keeper = ObjectKeeper(store, 'robbie')
            shown(keeper, (MUG, 'mug'), (BOWL, 'bowl'), seconds=range(start, start + 5))
            keeper.keep()
            rounds.append(kept(store))
            assert len(pictures(store)) == 2
    first, second = rounds
    for name in ('mug', 'bowl'):
        assert second[name].id == first[name].id
        assert second[name].memory.keyframes == first[name].memory.keyframes
        assert second[name].facts.observations == 10
        assert len(second[name].facts.intervals) == 2
        assert second[name].position == pytest.approx(first[name].position, abs=0.01)


def test_a_recording_counts_once_however_often_it_is_read(path: str) -> None:
    rounds = []
    for _ in range(3):
        with open_store(path, HashingEmbedder(64)) as store:
            keeper = ObjectKeeper(store, 'robbie')
            shown(keeper, (MUG, 'mug'), (BOWL, 'bowl'), seconds=range(25))
            keeper.keep()
            rounds.append((store.all(), pictures(store)))
    assert rounds[0] == rounds[1] == rounds[2]
    assert [known.facts.observations for known in known_objects(rounds[0][0])] == [25, 25]


def test_two_robots_and_two_maps_stay_apart(store: MemoryStore) -> None:
    whose = [('robbie', ''), ('robbie', 'cellar'), ('marvin', ''), ('marvin', 'cellar')]
    for _ in range(2):
        for robot, map_id in whose:
            keeper = ObjectKeeper(store, robot, map_id)
            shown(keeper, (MUG, 'mug'), seconds=range(5))
            keeper.keep()
            assert len(keeper) == 1
    memories = store.all()
    assert len({memory.id for memory in memories}) == 4
    assert sorted((memory.robot, memory.map_id) for memory in memories) == sorted(whose)
    assert {known.facts.observations for known in known_objects(memories)} == {5}


def twins(store: MemoryStore) -> tuple[Memory, Memory]:
    """Store two objects that are one, each with its picture; return the older and the younger."""
    made = []
    for number, (name, first_ns) in enumerate((('older', T0 - 7200 * NS), ('younger', T0 - 3600 * NS))):
        x, y, z = AT_TWIN
        known = known_object(
            id=name,
            position=(x, y + 0.02 * number, z),
            size=(0.02, 0.22, 0.22),
            intervals=((first_ns, first_ns + 60 * NS),),
        )
        shade = Scene(1.0 + number).bgr // (2 + number)
        made.append(Observation(known.memory, (encode_jpeg(shade),)))
    older, younger = store.add(made)
    assert len(pictures(store)) == 2
    return older, younger


def test_of_two_that_turn_out_to_be_one_the_younger_goes_with_its_picture(store: MemoryStore) -> None:
    older, younger = twins(store)
    keeper = ObjectKeeper(store, 'robbie')
    assert len(keeper) == 2
    shown(keeper, (TWIN, 'mug'), seconds=range(5))
    keeper.keep()
    assert len(keeper) == 1
    [memory] = store.all()
    [known] = known_objects([memory])
    assert (memory.id, known.facts.aliases) == (older.id, (younger.id,))
    assert (memory.keyframes, pictures(store)) == (older.keyframes, set(older.keyframes))
    assert known.facts.observations == 3 + 3 + 5
    assert (memory.start_ns, memory.end_ns) == (older.start_ns, T0 + 4 * NS)


def test_a_merger_that_was_cut_off_between_its_two_writes_is_finished_at_the_next_start(
    store: MemoryStore,
) -> None:
    older, younger = twins(store)
    unreliable: Any = Unreliable(store)
    keeper = ObjectKeeper(unreliable, 'robbie')
    shown(keeper, (TWIN, 'mug'), seconds=range(5))
    unreliable.failing = {'gone'}
    with pytest.raises(StoreUnavailable):
        keeper.keep()
    assert {memory.id for memory in store.all()} == {older.id, younger.id}
    assert [known.id for known in known_objects(store.all())] == [older.id]
    again = ObjectKeeper(store, 'robbie')
    assert len(again) == 1
    again.keep()
    [known] = known_objects(store.all())
    assert store.count() == 1
    assert (known.id, known.facts.aliases, known.facts.observations) == (older.id, (younger.id,), 11)
    assert pictures(store) == set(older.keyframes)


def test_a_merger_whose_second_write_failed_is_finished_by_the_next(store: MemoryStore) -> None:
    older, _ = twins(store)
    unreliable: Any = Unreliable(store)
    keeper = ObjectKeeper(unreliable, 'robbie')
    shown(keeper, (TWIN, 'mug'), seconds=range(5))
    unreliable.failing = {'gone'}
    with pytest.raises(StoreUnavailable):
        keeper.keep()
    keeper.keep()
    assert [memory.id for memory in store.all()] == [older.id]
    assert pictures(store) == set(older.keyframes)


def test_what_could_not_be_stored_is_stored_with_what_comes_next(store: MemoryStore) -> None:
    unreliable: Any = Unreliable(store)
    keeper = ObjectKeeper(unreliable, 'robbie')
    shown(keeper, (MUG, 'mug'), seconds=range(2))
    unreliable.failing = {'add'}
    with pytest.raises(StoreUnavailable):
        shown(keeper, (MUG, 'mug'), seconds=[2])
    shown(keeper, (MUG, 'mug'), seconds=range(3, 11))
    assert (store.count(), keeper.behind) == (0, True)
    shown(keeper, (BOWL, 'bowl'), seconds=[11])
    assert keeper.behind
    shown(keeper, (BOWL, 'bowl'), seconds=range(12, 21))  # the mug is seen no more
    assert not keeper.behind
    found = kept(store)
    assert {name: known.facts.observations for name, known in found.items()} == {'mug': 11, 'bowl': 4}
    assert pictures(store) == {name for known in found.values() for name in known.memory.keyframes}
    assert len(pictures(store)) == 2


def test_a_merger_of_what_could_not_be_stored_leaves_one(store: MemoryStore) -> None:
    older, younger = twins(store)
    unreliable: Any = Unreliable(store)
    keeper = ObjectKeeper(unreliable, 'robbie')
    shown(keeper, (TWIN, 'mug'), seconds=[0])
    unreliable.failing = {'add'}
    with pytest.raises(StoreUnavailable):
        keeper.keep()
    shown(keeper, (TWIN, 'mug'), seconds=range(1, 5))
    keeper.keep()
    [known] = known_objects(store.all())
    assert (store.count(), known.id, known.facts.aliases) == (1, older.id, (younger.id,))
    assert pictures(store) == set(older.keyframes)


def test_a_failure_while_starting_is_told(store: MemoryStore) -> None:
    store.close()
    with pytest.raises(StoreUnavailable):
        ObjectKeeper(store, 'robbie')


def test_objects_of_others_and_damaged_ones_are_left_alone(
    store: MemoryStore, caplog: pytest.LogCaptureFixture
) -> None:
    damaged = replace(known_object(id='damaged').memory, facts={'labels': {}})
    note = Memory('note', 'robbie', T0, T0 + NS, 'A mug is here.', known_object().memory.pose)
    before = store.add([Observation(damaged), Observation(note)])
    keeper = ObjectKeeper(store, 'robbie')
    assert (len(keeper), 'memory damaged has facts of no object' in caplog.text) == (0, True)
    shown(keeper, (MUG, 'mug'), seconds=range(5))
    keeper.keep()
    assert store.get(['damaged', 'note']) == before
    assert store.count(Scope(source=OBJECT)) == 2
