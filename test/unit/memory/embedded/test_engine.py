import os
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.errors import StoreMismatch, StoreUnavailable
from remembr_ros.memory.embedded import database as database_module
from remembr_ros.memory.embedded import sqlite_file
from remembr_ros.memory.embedded.engine import EmbeddedEngine, open_embedded
from remembr_ros.memory.embedded.vector_table import SCALE
from remembr_ros.memory.model.engine import VERSION, Entry, Stamp
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import Memory
from test.unit.memory.engine_contract import DIMENSION, EngineContract

D = 8
Make = Callable[..., Memory]


@pytest.fixture
def path() -> Iterator[str]:
    shared = Path('/dev/shm')
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        yield f'{folder}/memory.db'


def opened(path: str, collection: str = 'memories') -> EmbeddedEngine:
    return open_embedded(path, collection, lambda: Stamp(VERSION, 'test', D))


def alone(path: str, read_only: bool = True) -> EmbeddedEngine:
    """Open an engine as another process does: with connections and an index of its own."""
    new = None if read_only else lambda: Stamp(VERSION, 'test', D)
    return EmbeddedEngine(Path(path), 'memories', new, read_only)


def entry(memory: Memory, rows: int = 2, seed: int = 0) -> Entry:
    vectors = np.random.default_rng(seed).normal(size=(rows, D)).astype(np.float32)
    return Entry(memory, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def ids(engine: EmbeddedEngine) -> list[str]:
    return sorted(memory.id for memory in engine.select())


@pytest.fixture(scope='module')
def shared(database: str) -> Iterator[EmbeddedEngine]:
    engine = open_embedded(database, 'contract', lambda: Stamp(VERSION, 'test', DIMENSION))
    yield engine
    engine.close()


class TestEmbedded(EngineContract):
    """The contract."""


def test_a_file_without_the_memory_names_those_that_it_has(path: str, make: Make) -> None:
    kitchen = opened(path, 'kitchen "1"')
    kitchen.put([entry(make(i), seed=i) for i in range(7)])
    kitchen.close()
    with pytest.raises(StoreUnavailable, match=r"""'memories'.*; it holds 'kitchen "1"' \(""") as error:
        open_embedded(path, 'memories', None)
    assert 'parameter collection' in str(error.value)
    with pytest.raises(StoreUnavailable, match='does not work: unable to open'):
        open_embedded(f'{path}.none', 'memories', None)


def test_what_was_changed_is_there_when_it_is_opened_again(path: str, make: Make) -> None:
    engine = opened(path)
    entries = [entry(make(i), seed=i) for i in range(12)]
    engine.put(entries[:7])
    engine.put(entries[7:])
    engine.put([entry(make(1, caption='A new text.'), rows=1, seed=50)])
    engine.update([make(8, end_ns=make(9).start_ns, merged=2), make(99)])
    engine.delete(['m2', 'm11', 'nobody'])
    engine.close()

    again = opened(path)
    assert ids(again) == sorted(f'm{i}' for i in range(12) if i not in (2, 11))
    assert again.get(['m1'])[0].caption == 'A new text.'
    assert again.get(['m8'])[0].merged == 2
    assert again.vectors(['m1'])['m1'].shape == (1, D)
    for i in (0, 4, 5, 10):
        query = entries[i].vectors[1]
        assert next(iter(again.like(query, ANYTHING, 3))) == f'm{i}'
        assert np.allclose(again.vectors([f'm{i}'])[f'm{i}'], entries[i].vectors, atol=1e-3)
    again.delete([f'm{i}' for i in range(12)])
    assert again.count() == 0
    again.put([entry(make(3))])
    again.close()
    last = opened(path)
    assert ids(last) == ['m3']
    last.close()


def test_several_memories_lie_in_one_file(path: str, make: Make) -> None:
    hall, kitchen = opened(path), opened(path, 'kitchen')
    hall.put([entry(make(1))])
    kitchen.put([entry(make(2)), entry(make(3))])
    hall.update([make(1, merged=5)])
    kitchen.close()
    hall.delete(['m1'])
    hall.vacuum()
    hall.close()
    again = opened(path, 'kitchen')
    assert ids(again) == ['m2', 'm3']
    again.close()


def test_who_reads_sees_what_was_committed_before(path: str, make: Make) -> None:
    writer, reader = opened(path), None
    writer.put([entry(make(i), seed=i) for i in range(3)])
    reader = alone(path)
    assert ids(reader) == ['m0', 'm1', 'm2']
    writer.put([entry(make(3), seed=3), entry(make(1, caption='Another text.'), seed=9)])
    assert reader.get(['m1'])[0].caption == 'Another text.'
    assert next(iter(reader.like(entry(make(3), seed=3).vectors[0], ANYTHING, 1))) == 'm3'
    assert reader.with_words('another', ANYTHING, 3) == ['m1']
    writer.update([make(2, merged=4)])
    writer.delete(['m0'])
    assert reader.newest(ANYTHING, 9)[0].id == 'm3'
    assert {memory.id: memory.merged for memory in reader.select()} == {'m1': 1, 'm2': 4, 'm3': 1}
    assert reader.summary().memories == 3
    writer.vacuum()
    writer.put([entry(make(5))])
    assert ids(reader) == ['m1', 'm2', 'm3', 'm5']
    with pytest.raises(StoreUnavailable, match='another process has it'):
        reader.put([entry(make(7))])
    with pytest.raises(StoreUnavailable, match='another process has it'):
        alone(path, read_only=False)
    writer.close()
    reader.put([entry(make(7))])  # nobody else writes now
    again = opened(path)
    assert '7' in ids(again)[-1]
    again.close()
    reader.close()


def test_who_has_not_looked_for_long_reads_everything(
    path: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, 'KEPT', 3)
    monkeypatch.setattr('remembr_ros.memory.embedded.index.KEPT', 3)
    writer = opened(path)
    writer.put([entry(make(i)) for i in range(9)])
    reader = alone(path)
    for i in range(6):
        writer.delete([f'm{i}'])
    assert ids(reader) == ['m6', 'm7', 'm8']
    writer.delete(['m6'])
    assert ids(reader) == ['m7', 'm8']
    reader.close()
    writer.close()


@pytest.mark.parametrize('mode', ['IMMEDIATE', 'EXCLUSIVE'])
def test_a_lock_of_another_program_is_waited_for_and_then_said(
    path: str, make: Make, monkeypatch: pytest.MonkeyPatch, mode: str
) -> None:
    monkeypatch.setattr(sqlite_file, 'LOCKED_S', 0.05)
    engine = opened(path)
    engine.put([entry(make(1))])
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute(f'BEGIN {mode}')
        for change in (
            lambda: engine.put([entry(make(2))]),
            lambda: engine.update([make(1, merged=9)]),
            lambda: engine.delete(['m1']),
            engine.vacuum,
        ):
            with pytest.raises(StoreUnavailable, match='locked; another program, such as a backup'):
                change()
        assert [(m.id, m.merged) for m in engine.select()] == [('m1', 1)]
        other.execute('ROLLBACK')
    engine.put([entry(make(2))])
    engine.close()
    again = opened(path)
    assert ids(again) == ['m1', 'm2']
    again.close()


def test_a_lock_that_is_let_go_in_time_costs_nothing(path: str, make: Make) -> None:
    engine = opened(path)
    with closing(sqlite3.connect(path, isolation_level=None, check_same_thread=False)) as other:
        other.execute('BEGIN IMMEDIATE')
        let = threading.Timer(0.2, other.execute, ['ROLLBACK'])
        let.start()
        engine.put([entry(make(2))])
        let.join()
    assert ids(engine) == ['m2']
    engine.close()


def test_a_file_that_is_gone_replaced_or_cannot_be_written_is_noticed_before_anything_is_acknowledged(
    path: str, make: Make
) -> None:
    folder = Path(path).parent
    engine = opened(path)
    engine.put([entry(make(1))])
    for name in ('memory.db', 'memory.db-wal', 'memory.db-shm'):
        away = folder / 'away'
        (folder / name).rename(away)
        with pytest.raises(StoreUnavailable, match='was removed or replaced while it was open'):
            engine.put([entry(make(2))])
        assert 'was removed or replaced' in engine.problem
        shutil.copy(away, folder / name)
        with pytest.raises(StoreUnavailable, match='was removed or replaced'):
            engine.put([entry(make(2))])
        away.rename(folder / name)
        engine.put([entry(make(3))])  # as it was
        assert ids(engine)[-1] == 'm3'
        engine.delete(['m3'])
    moved = folder.with_name(f'{folder.name}.away')
    folder.rename(moved)
    with pytest.raises(StoreUnavailable, match=r'removed or replaced|cannot'):
        engine.put([entry(make(2))])
    moved.rename(folder)
    assert ids(engine) == ['m1']
    engine.close()


def test_nothing_of_the_deleted_is_in_any_file_after_a_vacuum(path: str, make: Make) -> None:
    engine = opened(path)
    engine.put([entry(make(i, caption=f'Secret number {i} of Anna.'), seed=i) for i in range(50)])
    engine.save()
    engine.delete([f'm{i}' for i in range(10, 50)])
    assert _traces(path, b'Secret number 30 of Anna.')  # or the test would show nothing
    engine.vacuum()
    for i in (10, 30, 49):
        assert not _traces(path, f'Secret number {i} of Anna.'.encode())
        vector = entry(make(i), seed=i).vectors[0]
        assert not _traces(path, np.rint(vector * SCALE).astype('<i2').tobytes())
    assert not _traces(path, b'\n30\n')  # a term
    assert _traces(path, b'Secret number 9 of Anna.')
    assert engine.count() == 10
    engine.put([entry(make(60))])  # and it goes on
    engine.close()
    again = opened(path)
    assert again.count() == 11
    again.close()


def _traces(path: str, text: bytes) -> list[Path]:
    """Return the files that hold a text, read in another process: to close them here ends their locks."""
    files = [str(file) for file in Path(path).parent.rglob('*') if file.is_file()]
    pid = os.fork()
    if pid == 0:
        found = sum(1 << at for at, file in enumerate(files) if text in Path(file).read_bytes())
        os._exit(found)
    _, status = os.waitpid(pid, 0)
    found = os.waitstatus_to_exitcode(status)
    return [Path(file) for at, file in enumerate(files) if found >> at & 1]


@pytest.mark.parametrize('version', [VERSION - 1, VERSION + 1])
def test_another_version_is_refused_and_left_alone(path: str, make: Make, version: int) -> None:
    engine = open_embedded(path, 'memories', lambda: Stamp(version, 'test', D))
    engine.put([entry(make(1))])
    engine.close()
    with pytest.raises(StoreMismatch, match='export it with the program that made it'):
        opened(path)


def test_a_memory_of_milvus_lite_is_named_and_left_alone(path: str) -> None:
    with closing(sqlite3.connect(path)) as lite:
        lite.execute('CREATE TABLE collection_meta (id INTEGER)')
    before = Path(path).read_bytes()
    with pytest.raises(StoreMismatch, match='earlier version, in Milvus Lite; export it'):
        opened(path)
    assert Path(path).read_bytes() == before


def test_scopes_and_words_hold_across_updates(path: str, make: Make) -> None:
    engine = opened(path)
    engine.put([entry(make(i, caption=f'A door with the number {i}.'), seed=i) for i in range(4)])
    assert engine.with_words('number 2', ANYTHING, 9)[0] == 'm2'
    assert engine.with_words('door', Scope(before_ns=make(1).start_ns), 9) == ['m1', 'm0']
    assert engine.with_words('giraffe', ANYTHING, 9) == []
    moved = replace(make(2, caption='A door with the number 2.'), robot='other')
    engine.update([moved])
    assert [m.id for m in engine.select(Scope(robots=('other', 'third')))] == ['m2']
    assert engine.summary().robots == ('other', 'robbie')
    engine.close()


@pytest.mark.parametrize('what', ['record', 'vectors'])
def test_what_is_damaged_is_left_out_and_said(path: str, make: Make, what: str) -> None:
    engine = opened(path)
    entries = [entry(make(i), seed=i) for i in range(5)]
    engine.put(entries)
    engine.close()
    table = 'memories' if what == 'record' else 'memories vectors'
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        (value,) = other.execute(f'SELECT {what} FROM "{table}" WHERE number = 3').fetchone()
        data = bytearray(value if isinstance(value, bytes) else value.encode())
        data[len(data) // 2] ^= 1
        changed = data if isinstance(value, bytes) else data.decode()
        other.execute(f'UPDATE "{table}" SET {what} = ? WHERE number = 3', [changed])
    again = opened(path)
    assert next(iter(again.like(entries[2].vectors[0], ANYTHING, 1))) != 'm2'
    assert '1 memories' in again.problem
    assert 'put back a copy' in again.problem
    left = ['m0', 'm1', 'm3', 'm4'] if what == 'record' else ['m0', 'm1', 'm2', 'm3', 'm4']
    assert ids(again) == left
    found = {one.memory.id: len(one.cosines) for one in again.compared(entries[2].vectors[:1], ['m2', 'm3'])}
    assert found.pop('m3')
    assert found == ({} if what == 'record' else {'m2': 0})  # left is what it says
    again.put([entries[2]])  # stored again it is whole
    assert next(iter(again.like(entries[2].vectors[0], ANYTHING, 1))) == 'm2'
    again.close()
    last = opened(path)
    assert last.problem == ''
    assert ids(last) == ['m0', 'm1', 'm2', 'm3', 'm4']
    last.close()


@pytest.mark.parametrize('left', ['nothing', 'a header', 'a log'])
def test_a_file_whose_making_was_cut_off_is_made(path: str, make: Make, left: str) -> None:
    if left == 'nothing':
        Path(path).touch()
    else:
        with closing(sqlite3.connect(path, isolation_level=None)) as begun:
            begun.execute('PRAGMA journal_mode=WAL' if left == 'a log' else 'PRAGMA user_version=0')
    engine = opened(path)
    engine.put([entry(make(1))])
    engine.close()
    again = opened(path)
    assert ids(again) == ['m1']
    again.close()


def test_a_cache_that_cannot_be_written_or_deleted_costs_no_change(
    path: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = opened(path)
    engine.put([entry(make(1))])

    def denied(*_: object, **__: object) -> None:
        raise OSError(30, 'Read-only file system')

    monkeypatch.setattr(Path, 'unlink', denied)
    monkeypatch.setattr('numpy.savez', denied)
    engine.save()
    with pytest.raises(StoreUnavailable, match=r'can still be read from .*cache: .*Read-only'):
        engine.vacuum()
    engine.close()
    monkeypatch.undo()
    again = opened(path)
    assert ids(again) == ['m1']
    again.close()


def test_what_could_not_be_followed_is_read_anew(
    path: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = opened(path)
    engine.put([entry(make(1), seed=1)])
    query = entry(make(2), seed=2).vectors[0]
    engine.like(query, ANYTHING, 9)
    read = database_module.Database.vectors

    def failing(*_: object) -> None:
        monkeypatch.setattr(database_module.Database, 'vectors', read)
        raise StoreUnavailable('disk I/O error')

    monkeypatch.setattr(database_module.Database, 'vectors', failing)
    with pytest.raises(StoreUnavailable, match='disk'):
        engine.put([entry(make(2), seed=2)])
    assert ids(engine) == ['m1', 'm2']  # its rows had been written
    assert next(iter(engine.like(query, ANYTHING, 9))) == 'm2'
    engine.close()
