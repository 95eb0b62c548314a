"""An index that comes from its files says what one does that is made from the rows."""

import os
import random
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.embedded import engine as engine_module
from remembr_ros.memory.embedded import volumes
from remembr_ros.memory.embedded.engine import EmbeddedEngine, open_embedded
from remembr_ros.memory.embedded.index import MemoryIndex
from remembr_ros.memory.embedded.index_files import IndexFiles
from remembr_ros.memory.embedded.index_state import IndexState
from remembr_ros.memory.embedded.journal import Journal
from remembr_ros.memory.embedded.volumes import Volumes
from remembr_ros.memory.milvus import client as milvus
from remembr_ros.memory.model.engine import VERSION, Entry, Stamp
from remembr_ros.memory.model.recall import ANYTHING
from remembr_ros.memory.model.record import Memory

D = 8
Make = Callable[..., Memory]


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(volumes, 'FULL', 5)
    shared = Path('/dev/shm')
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        yield f'{folder}/memory.db'


class Killed(BaseException):
    """The process ends here."""


def opened(path: str, collection: str = 'memories') -> EmbeddedEngine:
    return open_embedded(path, collection, lambda: Stamp(VERSION, 'test', D))


def killed(engine: EmbeddedEngine) -> None:
    """Let go of an engine as the end of a process does."""
    engine_module._open.pop((engine._path, engine._collection), None)
    engine.let_go()
    engine._disconnect()
    engine._state.close()


def entry(memory: Memory, seed: int) -> Entry:
    vectors = np.random.default_rng(seed).normal(size=(1 + seed % 3, D)).astype(np.float32)
    return Entry(memory, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


class Said:
    """All that an index says."""

    def __init__(self, engine: EmbeddedEngine) -> None:
        self.memories = sorted(engine.select(), key=lambda m: m.id)
        ids = [memory.id for memory in self.memories]
        self.exact = {
            'volumes': [engine.volume(i) for i in ids],
            'words': engine.with_words('a door with the number 3 and a sofa', ANYTHING, 99),
            'places': engine.nearest_in_place((1.0, 2.0, 0.0), ANYTHING, 99),
            'times': engine.nearest_in_time(10**15, ANYTHING, 99),
            'named': engine.named([f'{i}.jpg' for i in range(20)]),
            'held': sorted(engine.volumes()),
        }
        near = engine.like(np.ones(D, np.float32) / D**0.5, ANYTHING, 99)
        vectors = engine.vectors(ids)
        self.numbers = [
            np.concatenate([vectors[i].ravel() for i in ids]),
            np.array(engine.word_shares('door sofa 3', self.memories)),
            np.array([cosine for _, cosine in sorted(near.items())]),
        ]

    def __eq__(self, other: object) -> bool:
        assert isinstance(other, Said)
        assert self.memories == other.memories
        assert self.exact == other.exact
        # The database has 16-bit floats.
        assert all(np.allclose(a, b, atol=2e-3) for a, b in zip(self.numbers, other.numbers, strict=True))
        return True

    __hash__ = None  # type: ignore[assignment]


def check(path: str) -> None:
    """Check that the index from the files says what the rows say."""
    engine = opened(path)
    from_files = Said(engine)
    summary = engine.summary()
    engine.close()
    shutil.rmtree(f'{path}.index')
    engine = opened(path)
    assert Said(engine) == from_files
    again = engine.summary()
    assert (again.robots, again.first_ns, again.placed) == (summary.robots, summary.first_ns, summary.placed)
    engine.close()


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the volumes that were read."""
    read, seen = Volumes.read, []

    def noted(self: Volumes, number: int) -> Iterator[Memory]:
        seen.append(number)
        return read(self, number)

    monkeypatch.setattr(Volumes, 'read', noted)
    return seen


def filled(path: str, make: Make, count: int = 12) -> EmbeddedEngine:
    engine = opened(path)
    engine.put([entry(make(i, caption=f'A door with the number {i}.'), i) for i in range(count)])
    return engine


@pytest.mark.parametrize('closed', [True, False], ids=['closed', 'killed'])
def test_nothing_is_read_from_the_database_when_it_is_opened(
    path: str, make: Make, reads: list[int], closed: bool
) -> None:
    engine = filled(path, make)
    engine.update([make(3, caption='A door with the number 3.', merged=2)])
    engine.delete(['m7'])
    before = Said(engine)
    engine.close() if closed else killed(engine)
    del reads[:]
    for _ in range(2):
        engine = opened(path)
        assert Said(engine) == before
        engine.close()
    assert not reads
    check(path)


STEPS = [
    (Volumes, '_send'), (Volumes, '_remove'), (Volumes, 'done'), (Journal, 'begin'), (Journal, 'end'),
    (IndexFiles, 'append'), (IndexFiles, '_write_slots'), (IndexFiles, 'erase'), (IndexFiles, 'rewrite'),
    (IndexFiles, 'add_terms'), (IndexState, 'begin'), (IndexState, 'end'), (MemoryIndex, '_forget'),
]  # fmt: skip
CHANGES: dict[str, Callable[[EmbeddedEngine, Make], None]] = {
    'put': lambda engine, make: engine.put([entry(make(i, caption=f'A sofa {i}.'), i + 1) for i in (20, 21)]),
    'replace': lambda engine, make: engine.put([entry(make(i, caption='A sofa.'), 40 + i) for i in (1, 30)]),
    'update': lambda engine, make: engine.update(
        [make(i, caption=f'A door with the number {i}.', keyframes=(f'{i}.jpg',)) for i in (2, 9)]
    ),
    'delete': lambda engine, make: engine.delete(['m1', 'm6', 'm11']),
}


@pytest.mark.parametrize('change', CHANGES)
@pytest.mark.parametrize('step', STEPS, ids=[name for _, name in STEPS])
def test_what_is_cut_off_anywhere_is_as_the_rows_say(
    path: str, make: Make, monkeypatch: pytest.MonkeyPatch, step: tuple[type, str], change: str
) -> None:
    engine, (owner, name) = filled(path, make), step
    real, at = getattr(owner, name), random.Random(f'{name} {change}').randrange(3)
    for after in (False, True):
        calls = iter(range(10**6))

        def cut_off(self: Any, *arguments: Any, **options: Any) -> Any:
            is_last = next(calls) == at  # noqa: B023
            if is_last and not after:  # noqa: B023
                raise Killed
            found = real(self, *arguments, **options)
            if is_last:
                raise Killed
            return found

        with monkeypatch.context() as patch:
            patch.setattr(owner, name, cut_off)
            try:
                CHANGES[change](engine, make)
                engine.close()
            except Killed:
                killed(engine)
        check(path)
        engine = opened(path)
    engine.close()


@pytest.mark.parametrize('change', ['update', 'replace'])
def test_rows_that_were_deleted_to_be_inserted_again_are_not_lost(
    path: str, make: Make, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    engine = filled(path, make)
    send = Volumes._send

    def cut_off(self: Volumes, collection: str, rows: list[Any], replace: bool = False) -> None:
        if replace:
            for row in rows:
                self.client.delete(collection, filter=f'id == "{row["id"]}"')
            raise Killed
        send(self, collection, rows)

    with monkeypatch.context() as patch:
        patch.setattr(Volumes, '_send', cut_off)
        with pytest.raises(Killed):
            CHANGES[change](engine, make)
    killed(engine)
    engine = opened(path)
    assert {f'm{i}' for i in range(12)} <= {memory.id for memory in engine.select()}
    engine.close()
    check(path)


def test_only_the_volume_that_was_written_is_read_after_a_kill(
    path: str, make: Make, reads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = filled(path, make)

    def cut_off(*_: Any) -> None:
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(IndexFiles, 'append', cut_off)
        with pytest.raises(Killed):
            engine.put([entry(make(40), 4)])
    killed(engine)
    del reads[:]
    engine = opened(path)
    assert set(reads) == {2}
    assert engine.count() == 13
    engine.close()
    check(path)


def test_the_index_of_another_database_is_not_taken(path: str, make: Make) -> None:
    """Though both were written as often, and were one once."""
    filled(path, make).close()
    other = f'{path}2'
    shutil.copy(path, other)
    shutil.copytree(f'{path}.index', f'{other}.index')
    for one, number in ((path, 1), (other, 2)):
        engine = opened(one)
        engine.update([make(number, caption=f'A door with the number {number}.', merged=7)])
        engine.close()
    for old, new in ((path, f'{path}x'), (other, path), (f'{path}x', other)):
        shutil.move(f'{old}.index', f'{new}.index')
    for one, number in ((path, 1), (other, 2)):
        engine = opened(one)
        assert [m.id for m in engine.select() if m.merged == 7] == [f'm{number}']
        engine.close()
        check(one)


@pytest.mark.parametrize('closed', [True, False], ids=['closed', 'killed'])
def test_an_older_index_is_brought_up_to_date(path: str, make: Make, closed: bool) -> None:
    filled(path, make).close()
    shutil.copytree(f'{path}.index', f'{path}.older')
    engine = opened(path)
    engine.delete(['m3'])
    engine.put([entry(make(33), 3)])
    engine.close() if closed else killed(engine)
    shutil.rmtree(f'{path}.index')
    shutil.move(f'{path}.older', f'{path}.index')
    check(path)


def test_rows_that_somebody_else_changed_are_seen(path: str, make: Make) -> None:
    filled(path, make).close()
    client = milvus.connect(path, mark=0)
    client.delete('memories', filter='id == "m2"')
    milvus.disconnect(client, path)
    engine = opened(path)
    assert 'm2' not in [memory.id for memory in engine.select()]
    engine.close()
    check(path)


def test_another_collection_in_the_file_does_no_harm(path: str, make: Make) -> None:
    engine, kitchen = filled(path, make), opened(path, 'kitchen')
    kitchen.put([entry(make(1), 1)])
    engine.put([entry(make(50), 2)])
    kitchen.put([entry(make(2), 1)])
    engine.close()
    kitchen.put([entry(make(3), 1)])
    kitchen.close()
    kitchen = opened(path, 'kitchen')
    assert kitchen.count() == 3
    kitchen.put([entry(make(4), 1)])
    kitchen.close()
    check(path)


@pytest.mark.parametrize('change', CHANGES)
def test_a_disk_that_fills_while_the_index_is_written_loses_nothing(
    path: str, make: Make, monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    engine = filled(path, make)

    def full(*_: object) -> int:
        raise OSError(28, 'No space left on device')

    with monkeypatch.context() as disk:
        disk.setattr(os, 'pwrite', full)
        CHANGES[change](engine, make)
        before = sorted(engine.select(), key=lambda m: m.id)
    killed(engine)
    engine = opened(path)
    assert sorted(engine.select(), key=lambda m: m.id) == before
    engine.close()
    check(path)


def test_it_is_opened_on_a_full_disk_only_if_there_is_nothing_to_write(
    path: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path, make).close()

    def full(*_: object) -> int:
        raise OSError(28, 'No space left on device')

    with monkeypatch.context() as disk:
        disk.setattr(os, 'pwrite', full)
        engine = opened(path)
        assert engine.count() == 12
        killed(engine)
        shutil.rmtree(f'{path}.index')
        with pytest.raises(StoreUnavailable, match='cannot write'):
            opened(path)
    check(path)
