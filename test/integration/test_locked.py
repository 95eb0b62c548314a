"""A memory that another program has locked: a shell, or a backup."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from remembr_ros.memory.opening import open_store
from test.integration.test_backups import waiting
from test.integration.test_durability import REPOSITORY
from test.patience import holds_within, patiently

pytestmark = pytest.mark.skipif(shutil.which('sqlite3') is None, reason='there is no shell of SQLite here')


@pytest.fixture
def file(tmp_path: Path) -> Path:
    with open_store(str(tmp_path / 'memory.db'), 'hashing-64'):
        return tmp_path / 'memory.db'


@contextmanager
def remember(file: Path) -> Iterator['subprocess.Popen[str]']:
    """Start the command."""
    command = [sys.executable, '-m', 'remembr_ros.cli.main', 'remember', 'A red door.', '--memory', str(file)]
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    with subprocess.Popen(
        command,
        cwd=REPOSITORY,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        yield process


def test_a_note_that_cannot_be_stored_in_time_is_refused_with_what_to_do(file: Path, tmp_path: Path) -> None:
    other = tmp_path / 'other.db'
    shutil.copy(file, other)
    with (  # at once: each waits for 5 s
        waiting(file, 'IMMEDIATE'),
        waiting(other, 'EXCLUSIVE'),
        remember(file) as first,
        remember(other) as second,
    ):
        for process in (first, second):
            out, err = process.communicate(timeout=patiently(30.0))
            assert (process.returncode, out) == (1, '')
            assert 'is locked; another program, such as a backup or a shell, has had it locked for 5 s' in err
            assert 'Traceback' not in err
    for memory in (file, other):
        with open_store(str(memory)) as store:
            assert store.count() == 0


def test_a_lock_that_goes_in_time_costs_nothing(file: Path) -> None:
    lock = Path(f'{file}.memories.lock')
    with remember(file) as process:
        with waiting(file, 'EXCLUSIVE'):
            assert holds_within(patiently(20.0), lambda: bool(lock.exists() and lock.read_text()))
            assert process.poll() is None
        out, err = process.communicate(timeout=patiently(30.0))
        assert process.returncode == 0, err
    with open_store(str(file)) as store:
        assert [one.id for one in store.all()] == [out.strip()]
