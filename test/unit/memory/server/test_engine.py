"""The engine of a server, with Milvus Lite as milvus-lite:FILE; a real server: test/integration."""

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import InvalidRequest, StoreMismatch, StoreUnavailable
from remembr_ros.geometry import Pose, RigidTransform
from remembr_ros.memory.model.engine import VERSION, Engine, Stamp
from remembr_ros.memory.model.recall import ANYTHING, Scope, survey_of
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.server import engine as server_engine
from remembr_ros.memory.server.collections import features_of
from remembr_ros.memory.server.connection import Connection
from remembr_ros.memory.server.engine import ServerEngine
from remembr_ros.memory.server.lite import open_lite
from remembr_ros.memory.server.open_server import open_server
from remembr_ros.memory.server.table import Table
from remembr_ros.memory.store import MemoryStore
from test.unit.memory.engine_contract import DIMENSION, EngineContract, entry, memory, names

lite = pytest.importorskip('milvus_lite.server_manager', reason='needs Milvus Lite: make setup')

STAMP = Stamp(VERSION, 'hashing-16', DIMENSION)


@pytest.fixture(scope='module')
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    """The engine of milvus-lite:FILE."""
    engine = open_lite(f'milvus-lite:{file_in(tmp_path_factory)}', 'contract', lambda: STAMP)
    yield engine
    engine.close()


@pytest.fixture(scope='module')
def served(shared: Engine, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The address of its server."""
    return str(lite.server_manager_instance.start_and_get_uri(file_in(tmp_path_factory)))


@pytest.fixture
def empty(shared: ServerEngine) -> ServerEngine:
    """The engine of the contract, without memories."""
    shared.delete([made.id for made in shared.select()])
    return shared


def file_in(folders: pytest.TempPathFactory) -> str:
    return str(folders.getbasetemp() / 'contract.db')


class TestServedLite(EngineContract):
    """The contract."""


def test_words_are_found_in_the_scope(empty: Engine) -> None:
    empty.put([entry(memory(i, robot=('anna', 'bob')[i % 2], scene_text=(f'ROOM {i}',))) for i in range(9)])
    assert empty.with_words('thing7', ANYTHING, 5) == ['m7']
    assert empty.with_words('room 4', Scope(robots=('anna',)), 5)[0] == 'm4'
    assert empty.with_words('thing7', Scope(robots=('anna',)), 5) == []
    for text in ('', ' ', '" or id != "', "it's 🚪\n\0"):
        empty.with_words(text, ANYTHING, 5)


def test_a_survey_of_many_memories_reads_few_of_them(
    empty: ServerEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty.put([entry(memory(i, robot=('anna', 'bob')[i % 2])) for i in range(9)])
    monkeypatch.setattr(server_engine, 'SURVEYED', 3)
    for scope in (ANYTHING, Scope(robots=('bob',)), Scope(after_ns=memory(2).start_ns + 1)):
        there = survey_of(empty.select(scope))
        assert empty.survey(scope) == replace(there, driven_m=None, areas=())
    few = Scope(before_ns=memory(1).start_ns)
    near = Scope(near=(0.0, 0.0, 0.0), radius_m=1e6)
    for scope in (few, near):
        assert empty.survey(scope) == survey_of(empty.select(scope))


def test_what_one_stored_another_finds(served: str, empty: Engine) -> None:
    empty.put([entry(memory(1), 3)])
    other = open_server(Connection(served), 'contract')
    assert other.stamp == STAMP
    assert names(list(other.select())) == ['m1']
    other.close()


def test_a_memory_that_is_not_there_is_not_made_unasked(served: str) -> None:
    open_server(Connection(served), 'kitchen', lambda: STAMP).close()
    with pytest.raises(StoreUnavailable, match='there is no memory') as error:
        open_server(Connection(served), 'nothing')
    assert "it holds '" in str(error.value)
    assert "'kitchen'" in str(error.value)
    assert '_passages' not in str(error.value)
    for name in ('a b', '1st', '', 'x; drop', 'ü', 'x' * 300):
        with pytest.raises(InvalidRequest, match='no name of a collection'):
            open_server(Connection(served), name, lambda: STAMP)


def test_a_newer_collection_is_refused_and_left_alone(served: str) -> None:
    newer = Stamp(VERSION + 1, 'hashing-16', DIMENSION)
    with pytest.raises(StoreMismatch, match=f'version {VERSION + 1}'):
        open_server(Connection(served), 'newer', lambda: newer)
    with pytest.raises(StoreMismatch, match=f'version {VERSION + 1}'):
        open_server(Connection(served), 'newer', lambda: STAMP)


def test_a_closed_engine_says_so(served: str) -> None:
    engine = open_server(Connection(served), 'closed', lambda: STAMP)
    engine.close()
    engine.close()
    with pytest.raises(StoreUnavailable, match='is closed'):
        engine.count()


def test_what_a_version_lacks_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    able = features_of('2.3.5-lite')
    assert (able.robots_apart, able.grouping, able.full_text, able.lite) == (False, False, False, False)
    assert len(caplog.records) == 1
    able = features_of('2.4.1')
    assert (able.robots_apart, able.grouping, able.full_text) == (True, True, False)
    for version in ('2.5.0', '2.6.3-rc1', 'master-20260101'):
        able = features_of(version)
        assert (able.robots_apart, able.grouping, able.full_text) == (True, True, True)
    assert len(caplog.records) == 2
    with pytest.raises(StoreUnavailable, match='too old'):
        features_of('2.2.16')


def test_one_at_a_time_moves_maps(served: str, empty: ServerEngine) -> None:
    other = open_server(Connection(served), 'contract')
    empty.claim('first')
    with pytest.raises(InvalidRequest, match=f'{socket.gethostname()}.* drop the collection'):
        other.claim('second')
    assert (other.is_claimed('first'), other.is_claimed('second')) == (True, False)
    other.release('second')
    assert empty.is_claimed('first')
    empty.release('first')
    assert not empty.is_claimed('first')
    other.claim('second')
    other.release('second')
    other.close()


def test_keyframes_are_asked_for_by_name(empty: ServerEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    empty.put([entry(memory(i, keyframes=(f'{i}.jpg',))) for i in range(20)])
    fetched: list[Any] = []
    real = Table._query

    def query(self: Table, *arguments: Any, **options: Any) -> Any:
        rows = real(self, *arguments, **options)
        fetched.extend(rows)
        return rows

    monkeypatch.setattr(Table, '_query', query)
    monkeypatch.setattr(empty, '_able', replace(empty._able, version='2.3.5'))
    assert empty.named(['3.jpg', '5.jpg', 'none.jpg']) == {'3.jpg', '5.jpg'}
    assert sorted(row['id'] for row in fetched) == ['m3', 'm5'], 'and nothing else is downloaded'


def test_a_map_on_a_server_that_was_cut_off_is_finished_where_it_began(
    served: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def on(machine: str) -> MemoryStore:
        monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / machine))
        return open_store(served, HashingEmbedder(16), collection='moved')

    def xs(store: MemoryStore) -> list[float]:
        return [m.pose.x - int(m.id[1:]) for m in store.all() if m.pose]

    def dies(engine: ServerEngine, memories: Any) -> None:
        real(engine, memories[:2])
        if memories:
            raise KeyboardInterrupt

    by = RigidTransform((100.0, 0.0, 0.0))
    real = ServerEngine.update
    with on('first') as store:
        store.add([Observation(memory(i, pose=Pose(float(i), 0.0), map_id='a')) for i in range(4)])
    with monkeypatch.context() as patch:
        patch.setattr(ServerEngine, 'update', dies)
        with pytest.raises(KeyboardInterrupt), on('first') as store:
            store.move_map('a', by)
    with on('second') as store:
        assert sorted(xs(store)) == [0.0, 0.0, 100.0, 100.0]
        with pytest.raises(InvalidRequest, match='another machine'):
            store.move_map('a', by)
    with on('first') as store:
        assert xs(store) == [100.0] * 4
        assert store.move_map('a', by) == 4, 'which tells that it is done'
        assert xs(store) == [100.0] * 4
    with on('second') as store:
        store.move_map('a', by)
        assert xs(store) == [200.0] * 4
