"""The store among processes: killed, interrupted, and two at one file."""

import os
import signal
import socket
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import InvalidRequest, StoreMismatch, StoreUnavailable
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from test.patience import patiently

REPOSITORY = Path(__file__).resolve().parents[2]

WRITER = """
import signal, sys
import numpy as np
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store

def observation(i):
    memory = Memory(f'm{i}', 'r', i * 10**9, i * 10**9 + 1, f'thing{i} is here', Pose(float(i), 0.0))
    return Observation(memory, (encode_jpeg(np.full((8, 8, 3), i % 256, np.uint8)),))

# Not KeyboardInterrupt: a shell starts what runs in the background with SIGINT ignored.
interrupts = []
signal.signal(signal.SIGINT, lambda *_: interrupts.append(1))
store = open_store(sys.argv[1], 'hashing-16')
i = int(sys.argv[2])
while not interrupts:
    store.add([observation(i)])
    print(i, flush=True)
    i += 1
store.add([observation(1_000_000)])
store.close()
print('closed', flush=True)
"""


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, '-c', code, *arguments],
        cwd=REPOSITORY,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def read_until(process: subprocess.Popen[str], count: int) -> list[int]:
    assert process.stdout is not None
    lines = []
    for _ in range(count):
        line = process.stdout.readline()
        assert line, 'the writer ended early'
        lines.append(int(line))
    return lines


def reopen(path: str, deadline_sec: float = 30.0) -> MemoryStore:
    """Open the store of a killed process, whose database may still be ending."""
    deadline = time.monotonic() + deadline_sec
    while True:
        try:
            return open_store(path, 'hashing-16')
        except StoreUnavailable:
            if time.monotonic() > deadline:
                raise


def assert_all_found(store: MemoryStore, numbers: list[int]) -> None:
    assert [memory.id for memory in store.get([f'm{i}' for i in numbers])] == [f'm{i}' for i in numbers]
    for i in (numbers[0], numbers[len(numbers) // 2], numbers[-1]):
        assert store.find(Query(f'thing{i}', limit=1))[0].memory.id == f'm{i}'
        assert store.find(Query(place=(float(i), 0.0, 0.0), limit=1))[0].memory.id == f'm{i}'
        assert store.find(Query(time_ns=i * 10**9, limit=1))[0].memory.id == f'm{i}'
        assert store.keyframe(f'm{i}') == encode_jpeg(np.full((8, 8, 3), i % 256, np.uint8))


def test_what_was_acknowledged_survives_kill_9(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    acknowledged: list[int] = []
    for acknowledged_before_kill in (1, 12, 7):
        with start(WRITER, path, str(len(acknowledged))) as writer:
            acknowledged += read_until(writer, acknowledged_before_kill)
            writer.kill()
            assert writer.stdout is not None
            acknowledged += [int(line) for line in writer.stdout.read().split()]
        with reopen(path) as store:
            assert_all_found(store, acknowledged)
            assert len(acknowledged) <= store.count() <= len(acknowledged) + 1  # one may be unacknowledged


def test_an_interrupt_leaves_the_database_running_for_what_is_queued(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with start(WRITER, path, '0') as writer:
        numbers = read_until(writer, 3)
        os.killpg(writer.pid, signal.SIGINT)
        output, _ = writer.communicate(timeout=60.0)
        *lines, last = output.split()
        assert last == 'closed'
        assert writer.returncode == 0
    with reopen(path) as store:
        assert_all_found(store, [*numbers, *map(int, lines), 1_000_000])


HOLDER = """
import sys
from remembr_ros.memory.opening import open_store
with open_store(sys.argv[1], 'hashing-16'):
    print(0, flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_every_time_and_told_why(tmp_path: Path) -> None:
    path = str(tmp_path / 'memory.db')
    with subprocess.Popen(
        [sys.executable, '-c', HOLDER, path],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        read_until(holder, 1)
        for _ in range(3):  # the first refusal must not take the lock away
            with pytest.raises(StoreUnavailable, match='another process has it'):
                open_store(path, 'hashing-16')
        holder.communicate(timeout=60.0)
    with open_store(path) as store:
        assert store.count() == 0


@pytest.mark.parametrize('uri', ['http://localhost:9', 'http://nowhere.invalid:19530'])
def test_a_server_that_is_not_there_is_told_soon(uri: str) -> None:
    started = time.monotonic()
    with pytest.raises(StoreUnavailable, match=uri):
        open_store(uri, HashingEmbedder(8))
    assert time.monotonic() - started < patiently(35.0)


def test_files_that_are_no_memory_are_refused_and_left_alone(tmp_path: Path) -> None:
    text = tmp_path / 'notes.txt'
    text.write_text('not a database ' * 100)
    bag = tmp_path / 'bag.db3'
    with sqlite3.connect(bag) as connection:
        connection.execute('create table messages (id integer)')
    connection.close()
    for file in (text, bag):
        before = file.read_bytes()
        with pytest.raises(StoreUnavailable, match='not a memory'):
            open_store(str(file), 'hashing-8')
        assert file.read_bytes() == before


def test_paths_that_cannot_be_opened_are_refused(tmp_path: Path) -> None:
    (tmp_path / 'file').write_text('x')
    with pytest.raises(StoreUnavailable, match='folder'):
        open_store(str(tmp_path), 'hashing-8')
    with pytest.raises(StoreUnavailable, match='cannot open'):
        open_store(str(tmp_path / 'file' / 'm.db'), 'hashing-8')
    with pytest.raises(StoreUnavailable, match='cannot open'):
        open_store('/proc/m.db', 'hashing-8')
    for name in ('a b.db', 'ü?%41#.db', 'x' * 99, "it's"):
        open_store(str(tmp_path / name), 'hashing-8').close()
        assert (tmp_path / name).is_file()
    with pytest.raises(InvalidRequest):
        open_store('', 'hashing-8')
    with pytest.raises(StoreUnavailable, match='remembr ingest'):
        open_store(str(tmp_path / 'none.db'), create=False)
    assert not (tmp_path / 'none.db').exists()


class Other:
    """An embedder that calls itself like another one, with another dimension."""

    name = 'hashing-16'
    dimension = 8
    embed = HashingEmbedder(8).embed
    embed_query = HashingEmbedder(8).embed_query


@pytest.fixture
def made(tmp_path: Path) -> str:
    path = str(tmp_path / 'memory.db')
    with open_store(path, 'hashing-16') as store:
        store.add([Observation(Memory('m1', 'r', 0, 1, 'a door'))])
    return path


def test_another_embedder_is_refused_and_both_are_named(made: str) -> None:
    for embedder in (HashingEmbedder(8), 'hashing-8', 'hashing', 'all-MiniLM-L6-v2'):
        with pytest.raises(StoreMismatch, match=r"'hashing-16', not '(hashing|all)"):
            open_store(made, embedder)
    with pytest.raises(StoreMismatch, match='8 numbers'):
        open_store(made, Other())
    with open_store(made) as store:  # and the refusals let go of the file
        assert store.find(Query('door'))[0].memory.id == 'm1'


@contextmanager
def served(path: str) -> Iterator[str]:
    """Serve a file over TCP; give the address."""
    server_module = pytest.importorskip('milvus_lite.server', reason='Milvus Lite is for Linux and macOS')

    with socket.socket() as probe:
        probe.bind(('localhost', 0))
        port = probe.getsockname()[1]
    server = server_module.Server(path, f'localhost:{port}')
    assert server.init()
    assert server.start()
    yield f'http://localhost:{port}'
    server.stop()


def opened(uri: str, embedder: str | None = None) -> MemoryStore:
    """Open a memory on a server that is still starting."""
    deadline = time.monotonic() + 60.0
    while True:
        try:
            return open_store(uri, embedder)
        except StoreUnavailable:
            if time.monotonic() > deadline:
                raise


def test_a_server_over_tcp_keeps_a_memory_and_this_machine_its_keyframes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path))
    image = encode_jpeg(np.zeros((8, 8, 3), np.uint8))
    with served(str(tmp_path / 'fresh.db')) as uri:
        with opened(uri, 'hashing-16') as store:
            store.add([Observation(Memory('m2', 'r', 5, 6, 'a red sofa'), (image,))])
            assert store.find(Query('red sofa'))[0].memory.id == 'm2'
            assert store.keyframe('m2') == image
        with opened(uri) as again:
            assert [memory.id for memory in again.all()] == ['m2']
