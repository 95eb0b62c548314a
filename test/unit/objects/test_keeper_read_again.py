"""Objects that somebody else changed, or whose place was wrong: who follows them reads them again."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.objects.corrections import ObjectCorrection
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.objects.keeper import ObjectKeeper
from remembr_ros.timestamps import NS
from test.object_scene import T0
from test.unit.objects.test_keeper import BOWL, MUG, Unreliable, kept, pictures, shown

BOTH = ((MUG, 'mug'), (BOWL, 'bowl'))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with open_store(str(tmp_path / 'memory.db'), HashingEmbedder(64)) as opened:
        yield opened


@pytest.fixture
def keeper(store: MemoryStore) -> ObjectKeeper:
    """Return who follows a mug, which is stored, and a bowl, which is not yet."""
    found = ObjectKeeper(store, 'robbie')
    shown(found, BOTH[0], seconds=range(3))
    found.keep()
    shown(found, *BOTH, seconds=(2.5, 3.0, 3.5))
    assert len(found) == 2
    return found


def names(keeper: ObjectKeeper) -> list[str]:
    return sorted(known.name for known in keeper.objects.known())


def test_what_a_person_corrected_stays_and_what_was_never_stored_too(
    store: MemoryStore, keeper: ObjectKeeper
) -> None:
    mug = kept(store)['mug']
    store.correct(ObjectCorrection('rename', mug.id, name='chalice'), T0)
    keeper.read_again()
    assert names(keeper) == ['bowl', 'chalice']
    shown(keeper, *BOTH, seconds=range(10, 15))
    keeper.keep()
    found = kept(store)
    assert found.keys() == {'bowl', 'chalice'}
    assert (found['chalice'].id, found['chalice'].facts.observations) == (mug.id, 8)
    assert found['bowl'].facts.observations == 8
    assert len(pictures(store)) == 2


def test_what_was_forgotten_does_not_come_back(store: MemoryStore, keeper: ObjectKeeper) -> None:
    store.forget([kept(store)['mug'].id], leave_traces=True)
    keeper.read_again()
    assert names(keeper) == ['bowl']
    shown(keeper, BOTH[1], seconds=range(10, 15))
    keeper.keep()
    assert kept(store).keys() == {'bowl'}


def test_what_was_deleted_is_not_found_anew(store: MemoryStore, keeper: ObjectKeeper) -> None:
    store.correct(ObjectCorrection('delete', kept(store)['mug'].id), T0)
    keeper.read_again()
    shown(keeper, *BOTH, seconds=range(10, 25))
    keeper.keep()
    assert kept(store).keys() == {'bowl'}


def test_what_was_never_stored_is_given_up_where_its_place_was_wrong(
    store: MemoryStore, keeper: ObjectKeeper
) -> None:
    keeper.read_again(placed=False)
    assert names(keeper) == ['mug']
    keeper.keep()
    assert kept(store)['mug'].facts.observations == 3
    shown(keeper, *BOTH, seconds=range(10, 15))
    keeper.keep()
    assert {name: known.facts.observations for name, known in kept(store).items()} == {'mug': 8, 'bowl': 5}


def test_what_waited_to_be_stored_goes_the_same_way(store: MemoryStore) -> None:
    for placed in (True, False):
        unreliable: Any = Unreliable(store)
        keeper = ObjectKeeper(unreliable, 'robbie' if placed else 'marvin')
        shown(keeper, *BOTH, seconds=(0.0, 0.5, 1.0, 1.5))
        unreliable.failing = {'add'}
        with pytest.raises(StoreUnavailable):
            keeper.keep()
        keeper.read_again(placed=placed)
        assert (len(keeper), keeper.behind) == ((2, True) if placed else (0, False))
        keeper.keep()
        assert store.count() == 2  # of the first robot
        assert len(pictures(store)) == 2


class Mute(Unreliable):
    """A store that is killed when it has stored something, before it says so."""

    def add(self, observations: Sequence[Observation], gone: Sequence[str] = ()) -> list[Memory]:
        super().add(observations, gone)
        raise StoreUnavailable('there is no answer')


def test_what_was_stored_without_an_answer_is_followed_once(store: MemoryStore) -> None:
    mute: Any = Mute(store)
    keeper = ObjectKeeper(mute, 'robbie')
    shown(keeper, BOTH[0], seconds=(0.0, 0.5, 1.0, 1.5))
    with pytest.raises(StoreUnavailable):
        keeper.keep()
    before = kept(store)['mug']
    mute.add = store.add
    keeper.read_again()
    assert (len(keeper), keeper.behind) == (1, False)
    shown(keeper, BOTH[0], seconds=range(2, 30))
    keeper.keep()
    assert kept(store)['mug'].id == before.id
    assert kept(store)['mug'].facts.observations == 4 + 28


def test_a_store_that_does_not_work_is_told_and_nothing_is_lost(
    store: MemoryStore, keeper: ObjectKeeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(**_: Any) -> None:
        raise StoreUnavailable('the disk is full')

    with monkeypatch.context() as patch:
        patch.setattr(store, 'matching', fails)
        for _ in range(2):
            with pytest.raises(StoreUnavailable):
                keeper.read_again()
            assert names(keeper) == ['bowl', 'mug']
    keeper.read_again()
    keeper.keep()
    found = kept(store)
    assert {name: known.memory.end_ns for name, known in found.items()} == {
        'mug': T0 + 2 * NS,
        'bowl': T0 + 7 * NS // 2,
    }
    assert len(pictures(store)) == 2
