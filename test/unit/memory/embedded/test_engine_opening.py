"""An index that comes from its cache says what one does that is made from the rows."""

import os
import random
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembr_ros.memory.embedded import cache, index, passage_index
from remembr_ros.memory.embedded.engine import EmbeddedEngine, open_embedded
from remembr_ros.memory.model.engine import VERSION, Entry, Stamp
from remembr_ros.memory.model.recall import ANYTHING
from remembr_ros.memory.model.record import Memory

D = 8
Make = Callable[..., Memory]


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(passage_index, 'FEW', 10)
    shared = Path('/dev/shm')
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        yield f'{folder}/memory.db'


class Killed(BaseException):
    """The process ends here."""


def opened(path: str, collection: str = 'memories') -> EmbeddedEngine:
    return open_embedded(path, collection, lambda: Stamp(VERSION, 'test', D))


def left(path: str) -> str:
    """Return a copy of the files as they are now, which is what the end of a process leaves."""
    copy = Path(tempfile.mkdtemp(dir=Path(path).parent)) / 'memory.db'
    for file in Path(path).parent.glob('memory.db*'):
        if file.is_file() and not file.name.endswith('-shm'):
            # In another process: to close the file in this one would end its locks.
            os.system(f'cp {file} {copy.with_name(file.name)}')
    return str(copy)


def entry(memory: Memory, seed: int) -> Entry:
    vectors = np.random.default_rng(seed).normal(size=(1 + seed % 3, D)).astype(np.float32)
    return Entry(memory, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


class Said:
    """All that an index says."""

    def __init__(self, engine: EmbeddedEngine) -> None:
        self.memories = sorted(engine.select(), key=lambda m: m.id)
        ids = [memory.id for memory in self.memories]
        self.exact = {
            'words': engine.with_words('a door with the number 3 and a sofa', ANYTHING, 99),
            'places': engine.nearest_in_place((1.0, 2.0, 0.0), ANYTHING, 99),
            'times': engine.nearest_in_time(10**15, ANYTHING, 99),
            'named': engine.named([f'{i}.jpg' for i in range(20)]),
            'summary': replace(engine.summary(), bytes=0),
        }
        engine.wait()
        near = engine.like(np.ones(D, np.float32) / D**0.5, ANYTHING, passage_index.RESCORED)
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
        assert all(np.allclose(a, b, atol=2e-3) for a, b in zip(self.numbers, other.numbers, strict=True))
        return True

    __hash__ = None  # type: ignore[assignment]


def check(path: str) -> Said:
    """Check that the index from the cache says what the rows say; return that."""
    engine = opened(path)
    from_cache = Said(engine)
    engine.close()
    Path(f'{path}.memories.cache').unlink(missing_ok=True)
    engine = opened(path)
    assert Said(engine) == from_cache
    engine.close()
    return from_cache


def filled(path: str, make: Make, count: int = 12) -> EmbeddedEngine:
    engine = opened(path)
    engine.put([entry(make(i, caption=f'A door with the number {i}.'), i) for i in range(count)])
    return engine


CHANGES: dict[str, Callable[[EmbeddedEngine, Make], None]] = {
    'put': lambda engine, make: engine.put([entry(make(i, caption=f'A sofa {i}.'), i + 1) for i in (20, 21)]),
    'replace': lambda engine, make: engine.put([entry(make(i, caption='A sofa.'), 40 + i) for i in (1, 30)]),
    'update': lambda engine, make: engine.update(
        [make(i, caption=f'A door with the number {i}.', keyframes=(f'{i}.jpg',)) for i in (2, 9)]
    ),
    'delete': lambda engine, make: engine.delete(['m1', 'm6', 'm11']),
}


@pytest.mark.parametrize('change', CHANGES)
@pytest.mark.parametrize('saved', ['before', 'after', 'never'])
def test_it_is_brought_up_to_date_from_whatever_was_saved(
    path: str, make: Make, change: str, saved: str
) -> None:
    engine = filled(path, make)
    if saved == 'before':
        engine.wait()
        engine.save()
    CHANGES[change](engine, make)
    if saved == 'after':
        engine.save()
    before = Said(engine)
    killed = left(path)
    engine.close()
    assert check(killed) == before
    assert check(path) == before


def test_the_rows_are_read_from_the_cache_and_not_again(
    path: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(path, make).close()
    with monkeypatch.context() as patch:
        patch.setattr(index.MemoryIndex, '_take', lambda self, rows, **_: [len(rows)] if rows else [])
        engine = opened(path)
        assert engine.count() == 12
        engine.close()
    check(path)


class Cut:
    """A connection that ends the process at a statement."""

    def __init__(self, connection: sqlite3.Connection, at: int, after: bool) -> None:
        self._connection = connection
        self._at = at
        self._after = after

    def _step(self, run: Callable[..., Any], *arguments: Any) -> Any:
        self._at -= 1
        if self._at == 0 and not self._after:
            raise Killed
        found = run(*arguments)
        if self._at == 0:
            raise Killed
        return found

    def execute(self, sql: str, *values: Any) -> Any:
        if sql == 'ROLLBACK':  # a killed process does not
            raise sqlite3.OperationalError('killed')
        return self._step(self._connection.execute, sql, *values)

    def executemany(self, sql: str, values: Any) -> Any:
        return self._step(self._connection.executemany, sql, list(values))

    def close(self) -> None:
        self._connection.close()


@pytest.mark.parametrize('after', [False, True], ids=['before', 'after'])
@pytest.mark.parametrize('change', CHANGES)
def test_what_is_cut_off_at_any_statement_is_there_as_a_whole_or_not_at_all(
    path: str, make: Make, change: str, after: bool
) -> None:
    engine = filled(path, make)
    engine.save()
    old = Said(engine)
    engine.close()
    done = left(path)
    engine = opened(done)
    CHANGES[change](engine, make)
    new = Said(engine)
    engine.close()
    for at in range(1, 40):
        copy = left(path)
        engine = opened(copy)
        engine._database._writer = Cut(engine._database._writer, at, after)  # type: ignore[assignment]
        try:
            CHANGES[change](engine, make)
            is_done = True
        except Killed:
            is_done = False
        killed = left(copy)
        engine._database._writer = engine._database._writer._connection  # type: ignore[attr-defined]
        engine._database._writer.execute('ROLLBACK') if engine._database._writer.in_transaction else None
        engine.close()
        found = check(killed)
        assert found == new if len(found.memories) != len(old.memories) or is_done else True
        assert found.memories in (old.memories, new.memories)
        shutil.rmtree(Path(copy).parent)
        if is_done:
            break
    else:
        pytest.fail('it has no end')


def test_the_cache_of_another_database_is_not_taken(path: str, make: Make) -> None:
    """Though both were written as often, and were one once."""
    filled(path, make).close()
    other = f'{path}2'
    for end in ('', '.memories.cache'):
        shutil.copy(f'{path}{end}', f'{other}{end}')
    for one, number in ((path, 1), (other, 2)):
        engine = opened(one)
        engine.update([make(number, caption=f'A door with the number {number}.', merged=7)])
        engine.save()
        engine.close()
    for old, new in ((path, f'{path}x'), (other, path), (f'{path}x', other)):
        shutil.move(f'{old}.memories.cache', f'{new}.memories.cache')
    for one, number in ((path, 1), (other, 2)):
        engine = opened(one)
        assert [m.id for m in engine.select() if m.merged == 7] == [f'm{number}']
        engine.close()
        check(one)


def test_an_older_database_that_is_put_back_has_an_index_of_its_own(path: str, make: Make) -> None:
    filled(path, make).close()
    older = left(path)
    engine = opened(path)
    engine.delete(['m3'])
    engine.put([entry(make(33), 3)])
    engine.save()
    engine.close()
    shutil.copy(older, path)  # the cache is of what was there
    assert len(check(path).memories) == 12


@pytest.mark.parametrize('how', ['cut off', 'flipped', 'gone', 'zeros', 'empty', 'folder', 'link'])
def test_a_damaged_cache_is_made_anew(path: str, make: Make, how: str) -> None:
    engine = filled(path, make, 30)
    before = Said(engine)
    engine.close()
    file = Path(f'{path}.memories.cache')
    whole = file.read_bytes()
    data = bytearray(whole)
    data[len(data) // 2] ^= 4
    content = {'cut off': whole[:1000], 'flipped': bytes(data), 'zeros': bytes(len(data)), 'empty': b''}
    file.unlink()
    if how == 'folder':
        file.mkdir()
        (file / 'of somebody').write_text('keep')
    elif how == 'link':
        file.symlink_to('/dev/null')
    elif how != 'gone':
        file.write_bytes(content[how])
    for _ in range(2):  # mended for good
        again = opened(path)
        assert Said(again) == before
        again.save(at_least=-1)
        again.close()
    assert file.is_dir() == (how == 'folder')
    if how != 'folder':
        assert len(file.read_bytes()) > 1_000


@pytest.mark.parametrize('seed', range(20))
def test_flipped_bits_of_a_cache_change_nothing(path: str, make: Make, seed: int) -> None:
    engine = filled(path, make, 30)
    before = Said(engine)
    engine.close()
    chance = random.Random(seed)
    file = Path(f'{path}.memories.cache')
    data = bytearray(file.read_bytes())
    for _ in range(chance.choice([1, 1, 20])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    file.write_bytes(data)
    again = opened(path)
    assert Said(again) == before
    again.close()


def test_it_is_written_when_much_has_changed_and_where_there_is_room(
    path: str, make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(index, 'SAVED_EACH', 5)
    monkeypatch.setattr(passage_index, 'FEW', 99)
    file = Path(f'{path}.memories.cache')
    engine = opened(path)
    engine.put([entry(make(i), i) for i in range(4)])
    assert not file.exists()
    engine.put([entry(make(i), i) for i in range(4, 8)])
    assert file.exists()
    known = file.read_bytes()
    engine.put([entry(make(9), 9)])
    assert file.read_bytes() == known
    monkeypatch.setattr(cache, 'RESERVE', 10**18)
    engine.save()
    assert 'the next start takes longer' in caplog.text
    assert not file.exists()
    engine.close()
    assert len(check(path).memories) == 9
