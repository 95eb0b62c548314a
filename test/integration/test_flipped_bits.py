"""A disk that gives back other bits than it was given: nothing comes out of a memory altered."""

import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import pytest

from remembr_ros.errors import StoreMismatch, StoreUnavailable
from remembr_ros.memory.embedded.sqlite_file import PAGE
from remembr_ros.memory.model.recall import ANYTHING, Query
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from test.integration.durable_writer import image, memory

T = TypeVar('T')
COUNT = 150


@pytest.fixture(scope='module')
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Memory]]:
    """A memory, closed, and what is in it."""
    folder = tmp_path_factory.mktemp('made')
    with open_store(str(folder / 'memory.db'), 'hashing-64') as store:
        for start in range(0, COUNT, 10):
            numbers = range(start, start + 10)
            store.add([Observation(memory(n, n % 3, 1), (image(n),)) for n in numbers])
        return folder, {one.id: one for one in store.all()}


def flip(file: Path, chance: random.Random) -> None:
    """Flip a bit anywhere, or where SQLite has what tells where all else is."""
    data = bytearray(file.read_bytes())
    at = chance.randrange(len(data))
    if chance.random() < 0.5:
        at = at // PAGE * PAGE + chance.randrange(120)
    data[at] ^= 1 << chance.randrange(8)
    file.write_bytes(data)


@pytest.mark.parametrize('cached', [True, False])
@pytest.mark.parametrize('seed', range(30))
def test_a_flipped_bit_alters_nothing_and_what_is_lost_is_said(
    made: tuple[Path, dict[str, Memory]], tmp_path: Path, seed: int, cached: bool
) -> None:
    folder, stored = made
    copy = tmp_path / 'copy'
    shutil.copytree(folder, copy)
    if not cached:
        (copy / 'memory.db.memories.cache').unlink()
    flip(copy / 'memory.db', random.Random(2 * seed + cached))
    store, why = attempted(lambda: open_store(str(copy / 'memory.db'), 'hashing-64'))
    if store is None:
        assert re.search('put back a copy|export it|choose another|another program', why)
        return
    with store:
        left = {one.id: one for one in store.all()}
        assert left.items() <= stored.items()
        lost = len(stored) - len(left)
        assert store.count() == store.info().memories == len(left)
        if lost:
            assert store.problem.startswith(f'{lost} memories in')
        find_all(store, stored, left)
        added, why = attempted(lambda: store.add([Observation(memory(COUNT, 0, 1))]))
        assert store.get([f'm{COUNT}']) == ([memory(COUNT, 0, 1)] if added else [])
        assert added or 'put back a copy' in why


def attempted(act: Callable[[], T]) -> tuple[T | None, str]:
    """Return what it comes to, or why it is refused."""
    try:
        return act(), ''
    except (StoreUnavailable, StoreMismatch) as error:
        return None, str(error)


def find_all(store: MemoryStore, stored: dict[str, Memory], left: dict[str, Memory]) -> None:
    """Find what is left in every way."""
    assert store.get(list(stored)) == [one for one in stored.values() if one.id in left]
    for one in random.Random(0).sample(list(left.values()), 4):
        for query in (
            Query(one.caption, limit=5),
            Query(place=(float(one.id[1:]), 0.0, 0.0), limit=5),
            Query(time_ns=one.start_ns, limit=5),
        ):
            hits = [hit.memory for hit in store.find(query)]
            assert hits[0] == one or store.problem
            assert all(hit == stored[hit.id] for hit in hits)
        store.engine.vectors([one.id])
        store.engine.like(store.embedder.embed_query(one.caption), ANYTHING, 5)
        assert store.keyframe(one.id) == image(int(one.id[1:]))
