import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.errors import StoreMismatch, StoreUnavailable
from remembr_ros.memory.embedded import volumes
from remembr_ros.memory.embedded.engine import EmbeddedEngine, open_embedded
from remembr_ros.memory.embedded.index_files import SCALE
from remembr_ros.memory.embedded.journal import Change, Journal
from remembr_ros.memory.milvus import client as milvus
from remembr_ros.memory.milvus import schema
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


def opened(path: str) -> EmbeddedEngine:
    return open_embedded(path, 'memories', lambda: Stamp(VERSION, 'test', D))


def entry(memory: Memory, rows: int = 2, seed: int = 0) -> Entry:
    vectors = np.random.default_rng(seed).normal(size=(rows, D)).astype(np.float32)
    return Entry(memory, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def ids(engine: EmbeddedEngine) -> list[str]:
    return sorted(memory.id for memory in engine.select())


@pytest.fixture
def small_volumes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(volumes, 'FULL', 5)


@pytest.fixture(scope='module')
def shared(database: str) -> Iterator[EmbeddedEngine]:
    engine = open_embedded(database, 'contract', lambda: Stamp(VERSION, 'test', DIMENSION))
    yield engine
    engine.close()


class TestEmbedded(EngineContract):
    """The contract."""


@pytest.mark.usefixtures('small_volumes')
def test_a_file_without_the_memory_names_those_that_it_has(path: str, make: Make) -> None:
    kitchen = open_embedded(path, 'kitchen', lambda: Stamp(VERSION, 'test', D))
    kitchen.put([entry(make(i), seed=i) for i in range(7)])
    assert 'kitchen_volume_1_passages' in kitchen._client.list_collections()
    kitchen.close()
    with pytest.raises(StoreUnavailable, match=r"'memories'.*; it holds 'kitchen' \(") as error:
        open_embedded(path, 'memories', None)
    assert 'parameter collection' in str(error.value)
    with pytest.raises(StoreUnavailable, match=f'; make one with: remembr ingest BAG --memory {path}.none'):
        open_embedded(f'{path}.none', 'memories', None)


@pytest.mark.usefixtures('small_volumes')
def test_a_memory_is_found_and_changed_in_whatever_volume_it_is(path: str, make: Make) -> None:
    engine = opened(path)
    entries = [entry(make(i), seed=i) for i in range(12)]
    engine.put(entries[:7])
    engine.put(entries[7:])
    engine.put([entry(make(1, caption='A new text.'), rows=1, seed=50)])
    engine.update([make(8, end_ns=make(9).start_ns, merged=2)])
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


@pytest.mark.usefixtures('small_volumes')
@pytest.mark.parametrize(
    'lost', ['index', 'slots.bin', 'memories.bin', 'terms.txt', 'passages.i16', 'state.json']
)
def test_vectors_come_from_the_database_where_their_file_is_lost(path: str, make: Make, lost: str) -> None:
    engine = opened(path)
    entries = [entry(make(i), rows=1 + i % 4, seed=i) for i in range(9)]
    engine.put(entries)
    engine.close()
    folder = Path(f'{path}.index/memories')
    if lost == 'index':
        shutil.rmtree(folder.parent)
    else:
        (folder / lost).unlink()
    again = opened(path)
    for i, one in enumerate(entries):
        assert np.allclose(again.vectors([f'm{i}'])[f'm{i}'], one.vectors, atol=1e-3)
        assert next(iter(again.like(one.vectors[0], ANYTHING, 1))) == f'm{i}'
    again.close()


def test_passages_whose_record_was_never_written_are_swept_out(path: str, make: Make) -> None:
    engine = opened(path)
    engine.put([entry(make(1))])
    rows = schema.passage_rows(make(2), np.ones((3, D), np.float16))
    kept = ('id', 'memory_id', 'vector')
    engine.close()
    client = milvus.connect(path)
    client.insert('memories_passages', [{k: row[k] for k in kept} for row in rows])
    milvus.disconnect(client, path)
    again = opened(path)
    left = again._client.query('memories_passages', filter='id != ""', output_fields=['memory_id'], limit=99)
    assert {row['memory_id'] for row in left} == {'m1'}
    again.put([entry(make(2))])
    assert ids(again) == ['m1', 'm2']
    again.close()


@pytest.mark.parametrize('change', [Change(deleted=((7, 'm1'),)), Change(deleted=((0, "it's\n"),))])
def test_a_journal_of_another_memory_is_said_and_nothing_is_changed(
    path: str, make: Make, change: Change
) -> None:
    engine = opened(path)
    engine.put([entry(make(1))])
    engine.close()
    file = Path(f'{path}.memories.journal')
    Journal(file, engine.stamp.identity).begin(change)
    with pytest.raises(StoreMismatch, match='move the file away'):
        opened(path)
    file.rename(f'{file}.away')
    again = opened(path)
    assert ids(again) == ['m1']
    again.close()


@pytest.mark.parametrize('removed', [['memory.db'], ['memory.db', 'memory.db.index']])
def test_a_new_memory_has_nothing_of_one_that_was_removed_in_a_write(
    path: str, make: Make, caplog: pytest.LogCaptureFixture, removed: list[str]
) -> None:
    engine = opened(path)
    engine.put([entry(make(1)), entry(make(2))])
    engine.close()
    file = Path(f'{path}.memories.journal')
    before = entry(make(1, caption='What was before.'))
    Journal(file, engine.stamp.identity).begin(Change(replaced=((0, before),)))
    for name in removed:
        old = Path(path).with_name(name)
        shutil.rmtree(old) if old.is_dir() else old.unlink()
    new = opened(path)
    assert ids(new) == []
    assert f'{file}.aside' in caplog.text
    new.put([entry(make(1))])
    new.close()
    again = opened(path)
    assert [memory.caption for memory in again.select()] == [make(1).caption]
    again.close()


def test_a_journal_is_not_done_to_another_memory_that_was_put_in_the_place_of_its_own(
    path: str, make: Make
) -> None:
    for name, number in (('one', 1), ('two', 2)):
        engine = opened(path)
        engine.put([entry(make(number))])
        engine.close()
        Path(path).rename(f'{path}.{name}')
        identity = engine.stamp.identity
    Path(f'{path}.one').rename(path)
    file = Path(f'{path}.memories.journal')
    Journal(file, identity).begin(Change(deleted=((0, 'm1'),)))
    with pytest.raises(StoreMismatch, match='move the file away'):
        opened(path)
    file.unlink()
    again = opened(path)
    assert ids(again) == ['m1']
    again.close()


def test_a_note_that_was_cut_off_leaves_no_text_behind(path: str, make: Make) -> None:
    engine = opened(path)
    engine.close()
    file = Path(f'{path}.memories.journal')
    Journal(file, engine.stamp.identity).begin(Change(updated=((0, make(1, caption='A secret.')),)))
    file.write_bytes(file.read_bytes()[:-3])
    opened(path).close()
    assert not file.read_bytes()


def test_nothing_of_the_deleted_is_in_any_file_after_a_vacuum(path: str, make: Make) -> None:
    engine = opened(path)
    engine.put([entry(make(i, caption=f'Secret number {i} of Anna.'), seed=i) for i in range(50)])
    engine.delete([f'm{i}' for i in range(10, 50)])
    assert _traces(path, b'Secret number 30 of Anna.')  # or the test would show nothing
    engine.vacuum()
    for i in (10, 30, 49):
        assert not _traces(path, f'Secret number {i} of Anna.'.encode())
        vector = entry(make(i), seed=i).vectors[0]
        assert not _traces(path, vector.astype(np.float16).tobytes())
        assert not _traces(path, np.rint(vector * SCALE).astype('<i2').tobytes())
    assert _traces(path, b'Secret number 9 of Anna.')
    assert engine.count() == 10
    engine.put([entry(make(60))])  # and it goes on
    engine.close()
    again = opened(path)
    assert again.count() == 11
    again.close()


def _traces(path: str, text: bytes) -> list[Path]:
    # To open and close the lock file would release the lock, on which Milvus Lite ends.
    files = [f for f in Path(path).parent.rglob('*') if f.is_file() and f.suffix != '.lock']
    return [file for file in files if text in file.read_bytes()]


@pytest.mark.parametrize('version', [VERSION - 1, VERSION + 1])
def test_another_version_is_refused_and_left_alone(path: str, make: Make, version: int) -> None:
    engine = open_embedded(path, 'memories', lambda: Stamp(version, 'test', D))
    engine.put([entry(make(1))])
    engine.close()
    with pytest.raises(StoreMismatch, match='export it with the program that made it'):
        opened(path)


def test_a_full_disk_while_the_index_is_written_loses_nothing(
    path: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = opened(path)
    engine.put([entry(make(1), seed=1)])

    def full(*args: object) -> int:
        raise OSError(28, 'No space left on device')

    with monkeypatch.context() as disk:
        disk.setattr(os, 'pwrite', full)
        engine.put([entry(make(2), seed=2)])  # the database has it
        assert ids(engine) == ['m1', 'm2']
        with pytest.raises(StoreUnavailable, match='make room'):
            engine.put([entry(make(3), seed=3)])
    engine.put([entry(make(3), seed=3)])
    for i in (1, 2, 3):
        assert next(iter(engine.like(entry(make(i), seed=i).vectors[0], ANYTHING, 1))) == f'm{i}'
    engine.close()


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
