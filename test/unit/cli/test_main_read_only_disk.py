"""A memory on a disk that cannot be written: it is read, and what would change it is refused."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembr_ros.errors import StoreUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from test.read_only_disk import read_only

Run = Callable[..., tuple[int, str, str]]
RunJson = Callable[..., dict[str, Any]]
JPEG = encode_jpeg(np.zeros((8, 8, 3), np.uint8))
NS = 10**9


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    """A memory of a red and a green door, still writable."""
    path = tmp_path / 'disk' / 'memory.db'
    with open_store(str(path), 'hashing-64') as store:
        for number, colour in enumerate(('red', 'green')):
            start_ns = (1_700_000_000 + number) * NS
            seen = Memory(f'm{number}', 'r', start_ns, start_ns + NS, f'A {colour} door.', Pose(1.0, 2.0))
            store.add([Observation(seen, (JPEG,))])
    return path


@pytest.fixture
def locked(memory: Path) -> Iterator[Path]:
    """The same on a disk that cannot be written."""
    with read_only(memory.parent):
        yield memory


def content(folder: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in folder.rglob('*') if file.is_file()}


def test_what_reads_works(command: Run, command_json: RunJson, locked: Path, tmp_path: Path) -> None:
    before = content(locked.parent)
    info = command_json('info', '--memory', locked)
    assert (info['memories'], info['keyframes'], info['uri']) == (2, 1, str(locked))
    assert info['database_bytes'] > 50_000
    found = command_json('recall', '--memory', locked, '--text', 'red door', '--limit', '1')['memories']
    assert [one['caption'] for one in found] == ['A red door.']
    assert command_json('export', tmp_path / 'out.jsonl', '--memory', locked)['memories'] == 2
    assert command_json('import', tmp_path / 'out.jsonl', '--memory', tmp_path / 'new.db')['added'] == 2
    assert command_json('info', '--memory', tmp_path / 'new.db')['keyframes'] == 1
    assert command_json('forget', '--memory', locked, '--text', 'red', '--dry-run')['count'] == 1
    code, out, err = command('ask', 'Where is the red door?', '--memory', locked)
    assert (code, 'red door' in out) == (0, True), err
    assert content(locked.parent) == before


@pytest.mark.parametrize(
    'arguments',
    [
        ('forget', '--text', 'red', '--yes'),
        ('map', 'rename', '', 'first'),
        ('map', 'transform', '', '--by', '1', '0', '0'),
        ('remember', 'the door is open'),
        ('import', 'FILE'),
        ('recaption', '--all', '--captioner', 'transformers', '--vlm', 'one-that-is-not-loaded'),
        ('ingest', 'no-bag'),
    ],
    ids=lambda arguments: ' '.join(arguments[:2]),
)
def test_what_would_change_it_is_refused_at_once_with_what_to_do(
    command: Run, locked: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    file = tmp_path / 'out.jsonl'
    assert command('export', file, '--memory', locked)[0] == 0
    code, out, err = command(*(str(file) if a == 'FILE' else a for a in arguments), '--memory', locked)
    assert (code, out) == (1, '')
    assert f'the memory {locked} cannot be changed: ' in err
    assert 'copy memory.db and memory.db-* to where they can be written' in err
    assert 'Traceback' not in err


def test_no_memory_is_made_there(command: Run, locked: Path) -> None:
    code, _, err = command('remember', 'a note', '--memory', locked.parent / 'other.db')
    assert (code, 'cannot be written' in err) == (1, True)
    code, _, err = command('info', '--memory', locked.parent / 'other.db')
    assert (code, 'there is no memory at' in err) == (1, True)


def test_changes_are_refused_also_in_an_open_memory(locked: Path) -> None:
    with open_store(str(locked), create=False, read_only=True) as store:
        assert [hit.memory.id for hit in store.find(Query('green door', limit=1))] == ['m1']
        assert store.keyframes.those_of(store.get(['m1'])[0].keyframes) == (JPEG,)
        for change in (
            lambda: store.add([Observation(Memory('m3', 'r', NS, NS, 'A lift.'))]),
            lambda: store.forget(['m1']),
            lambda: store.move_map('', new_map_id='first'),
        ):
            with pytest.raises(StoreUnavailable, match='cannot be changed'):
                change()
        assert store.count() == 2


WRITER = """
import sys
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
store = open_store(sys.argv[1])
store.add([Observation(Memory('m7', 'r', 10**9, 2 * 10**9, 'A lift.'))])
print(flush=True)
sys.stdin.read()
"""


def test_what_a_process_wrote_before_it_was_killed_is_read(command: Run, memory: Path) -> None:
    """What SQLite has not put into the database file yet lies beside it."""
    with subprocess.Popen(
        [sys.executable, '-c', WRITER, str(memory)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        code, out, err = command('recall', '--memory', memory, '--text', 'lift', '--limit', '1')
        assert (code, 'A lift.' in out) == (0, True), err  # also while it runs
        writer.kill()
    log = Path(f'{memory}-wal')
    assert log.stat().st_size > 0
    with read_only(memory.parent):
        code, out, err = command('recall', '--memory', memory, '--text', 'lift', '--limit', '1')
        assert (code, 'A lift.' in out) == (0, True), err
    Path(f'{memory}-shm').unlink()  # as in a copy of the two others
    with read_only(memory.parent):
        code, out, err = command('recall', '--memory', memory, '--text', 'lift')
        assert (code, out) == (1, '')
        assert 'memory.db-wal' in err
        assert 'to where they can be written' in err
