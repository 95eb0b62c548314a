"""One process writes a memory, and the others are told which."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.writer_lock import WriterLock

HOLDER = """
import sys
from pathlib import Path
from remembr_ros.memory.writer_lock import WriterLock
lock = WriterLock(Path(sys.argv.pop()), 'm.db')
lock.take()
print('locked', flush=True)
sys.stdin.read()
"""
REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize(
    ('run', 'said'),
    [
        (['memory_node'], 'memory_node, process {} on {} (a memory node? then store and forget through'),
        (
            ['remembr', 'web'],
            'remembr web, process {} on {} (store on its page or through its /mcp, or end it)',
        ),
        (['remembr', 'mcp'], 'remembr mcp, process {} on {} (it ends with the agent'),
        (['remembr', 'ingest'], 'remembr ingest, process {} on {} (wait until it has ended)'),
    ],
)
def test_the_process_that_has_a_file_is_named(tmp_path: Path, run: list[str], said: str) -> None:
    program, lock = tmp_path / run[0], tmp_path / 'm.db.memories.lock'
    program.write_text(HOLDER)
    with subprocess.Popen(
        [sys.executable, '-u', program, *run[1:], lock],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {'PYTHONPATH': str(REPOSITORY)},
    ) as holder:
        assert holder.stdout
        assert holder.stdout.readline() == 'locked\n'
        for _ in range(2):  # the first refusal must not take the lock away
            with pytest.raises(StoreUnavailable) as refused:
                WriterLock(lock, 'm.db').take()
            name = said.format(holder.pid, socket.gethostname())
            assert f'm.db cannot be changed: another process has it: {name}' in str(refused.value)
        holder.kill()
        holder.wait()
    mine = WriterLock(lock, 'm.db')
    mine.take()  # it ended with the process
    mine.release()


def test_it_is_taken_and_let_go_in_one_process_as_between_two(tmp_path: Path) -> None:
    first, second = WriterLock(tmp_path / 'lock', 'm.db'), WriterLock(tmp_path / 'lock', 'm.db')
    first.take()
    first.take()
    with pytest.raises(StoreUnavailable, match=f'process {os.getpid()} on '):
        second.take()
    first.release()
    second.take()
    assert (first.held, second.held) == (False, True)
    second.release()
    assert (tmp_path / 'lock').read_bytes() == b''


def test_where_it_cannot_be_made_it_is_said(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match='cannot open'):
        WriterLock(tmp_path / 'no folder' / 'lock', 'm.db').take()
    (tmp_path / 'link').symlink_to('/dev/null')
    with pytest.raises(StoreUnavailable, match='cannot open'):
        WriterLock(tmp_path / 'link', 'm.db').take()
