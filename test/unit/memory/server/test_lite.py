"""Memories in a file of Milvus Lite: which files, by whom, and until when; the contract: test_engine.py."""

import fcntl
import sqlite3
import sys
from pathlib import Path

import pytest

from remembr_ros import open_memory
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.memory.model.engine import NoSuchMemory
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.model.uri import database_path, is_server, shown
from remembr_ros.memory.opening import open_store

pytest.importorskip('milvus_lite.server_manager', reason='needs Milvus Lite: make setup')

NOTE = Observation(Memory('m1', 'r', 5, 6, 'a red sofa'))


def is_free(path: Path) -> bool:
    """Tell whether another process could open a file."""
    with open(f'{path}.lock', 'a') as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


def test_it_is_opened_once_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('HOME', str(tmp_path))
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / 'data'))
    monkeypatch.chdir(tmp_path)
    path = tmp_path / 'x' / 'lite.db'
    with open_store('milvus-lite:x/lite.db', HashingEmbedder(16)) as store:
        store.add([NOTE])
        with pytest.raises(StoreUnavailable, match='another process has it'):
            open_store('milvus-lite:~/x/lite.db')
        assert store.all() == [NOTE.memory]
        assert not is_free(path)
        assert store.info().uri == 'milvus-lite:x/lite.db'
    assert is_free(path)
    with open_store(f'milvus-lite:{path}') as again:
        assert again.all() == [NOTE.memory]
    assert is_free(path)
    assert not (tmp_path / 'data').exists(), 'what lies beside a memory lies beside its file'


def test_a_script_opens_one(tmp_path: Path) -> None:
    with open_memory(f'milvus-lite:{tmp_path}/lite.db', embedder='hashing') as memory:
        key = memory.remember('The spare key is in the drawer.')
        assert [hit.memory.id for hit in memory.recall('spare key')] == [key]


def test_another_process_has_it(tmp_path: Path) -> None:
    uri = f'milvus-lite:{tmp_path}/lite.db'
    with open(tmp_path / 'lite.db.lock', 'a') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for _ in range(2):
            with pytest.raises(StoreUnavailable, match='another process has it'):
                open_store(uri, 'hashing-16')
    open_store(uri, 'hashing-16').close()


def test_what_it_takes_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, 'milvus_lite.server_manager', None)
    with pytest.raises(StoreUnavailable, match=r"pip install 'remembr_ros\[milvus-lite\]'"):
        open_store(f'milvus-lite:{tmp_path}/lite.db', 'hashing-16')
    assert not list(tmp_path.iterdir())


def test_where_there_is_no_memory_none_is_made_unasked(tmp_path: Path) -> None:
    uri = f'milvus-lite:{tmp_path}/lite.db'
    with pytest.raises(NoSuchMemory, match=f'make one with: remembr ingest BAG --memory {uri}'):
        open_store(uri, create=False)
    assert not list(tmp_path.iterdir())
    open_store(uri, 'hashing-16').close()
    with pytest.raises(NoSuchMemory, match="it holds 'memories'"):
        open_store(uri, collection='kitchen', create=False)
    with pytest.raises(InvalidRequest, match='no name of a collection'):
        open_store(uri, collection='a b')
    assert is_free(tmp_path / 'lite.db')


def test_the_database_of_another_program_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / 'bag.db3'
    with sqlite3.connect(path) as file:
        file.execute('create table messages (id integer)')
    file.close()
    before = path.read_bytes()
    with pytest.raises(StoreUnavailable, match='no file of Milvus Lite'):
        open_store(f'milvus-lite:{path}', 'hashing-16')
    assert path.read_bytes() == before
    (tmp_path / 'text.db').write_text('no database at all, but a text that is longer than a header' * 9)
    (tmp_path / 'folder.db').mkdir()
    for name in ('text.db', 'folder.db'):
        with pytest.raises(StoreUnavailable, match='cannot be opened: it is damaged or cannot be written'):
            open_store(f'milvus-lite:{tmp_path / name}', 'hashing-16')


@pytest.mark.parametrize('name', ['', ' ', 'a b.db', 'x' * 37, 'ü.db', 'a:b'])
def test_names_that_it_cannot_use_are_refused(name: str) -> None:
    with pytest.raises(InvalidRequest):
        database_path(f'milvus-lite:{name}')


def test_of_a_link_the_targets_name_counts(tmp_path: Path) -> None:
    (tmp_path / 'link.db').symlink_to(tmp_path / 'lite.db')
    assert database_path(f'milvus-lite:{tmp_path}/link.db') == tmp_path / 'lite.db'
    (tmp_path / 'odd.db').symlink_to(tmp_path / 'a b.db')
    with pytest.raises(InvalidRequest, match=r"'a b\.db' cannot be the name"):
        database_path(f'milvus-lite:{tmp_path}/odd.db')


def test_it_is_a_file_of_this_machine() -> None:
    uri = 'milvus-lite:/home/me@work/what?/lite.db'
    assert not is_server(uri)
    assert shown(uri) == uri, 'nothing of a path is a password'
