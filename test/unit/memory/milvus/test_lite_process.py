import os
import subprocess
import sys
from pathlib import Path

import pytest

from remembr_ros.memory.milvus.lite_process import in_use

HOLDER = """
import fcntl, sys
with open(sys.argv[-1], 'a') as lock:
    fcntl.lockf(lock, fcntl.LOCK_EX)
    print('locked', flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    ('run', 'said'),
    [
        (['memory_node'], 'memory_node, process {} (a memory node? then ask through that node)'),
        (['remembr', 'web'], 'remembr web, process {} (ask on its page or through its /mcp, or end it)'),
        (['remembr', 'mcp'], 'remembr mcp, process {} (it ends with the agent'),
        (['remembr', 'ingest'], 'remembr ingest, process {} (wait until it has ended)'),
    ],
)
def test_the_process_that_has_a_file_is_named(tmp_path: Path, run: list[str], said: str) -> None:
    program, lock = tmp_path / run[0], tmp_path / '.m.db.lock'
    program.write_text(HOLDER)
    holder = subprocess.Popen(
        [sys.executable, '-u', program, *run[1:], lock],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdin
    assert holder.stdout
    assert holder.stdout.readline() == 'locked\n'
    assert f'another process has it: {said.format(holder.pid)}' in in_use(Path('m.db'), lock)
    holder.communicate()


def test_where_nobody_can_tell_nobody_is_named(tmp_path: Path) -> None:
    lock = tmp_path / '.m.db.lock'
    for _ in range(2):
        assert 'another process has it (a memory node?' in in_use(Path('m.db'), lock)
        lock.touch()  # which nobody has locked
    os.chmod(lock, 0)
    assert 'another process has it' in in_use(Path('m.db'), lock)
