"""Copies of a memory that are made while a process writes to it."""

import shutil
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.opening import open_store
from test.integration.test_store_process import WRITER, start
from test.patience import holds_within, patiently

Copy = Callable[[Path, Path], None]


class Adding:
    """A process that adds a memory after the other."""

    def __init__(self, path: Path) -> None:
        self.acknowledged: list[int] = []
        self._process = start(WRITER, str(path), '0')
        self._reading = threading.Thread(target=self._read)
        self._reading.start()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            if line.endswith('\n'):  # else it was killed while it said that
                self.acknowledged.append(int(line))

    def has_more(self, than: int) -> bool:
        return holds_within(patiently(30.0), lambda: len(self.acknowledged) > than)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reading.join(30.0)
        assert self._process.stdout
        self._process.stdout.close()


@pytest.fixture
def adding(tmp_path: Path) -> Iterator[Adding]:
    adding = Adding(tmp_path / 'memory.db')
    yield adding
    adding.kill()


def backup(file: Path, copy: Path) -> None:
    subprocess.run(['sqlite3', str(file), f'.backup {copy}'], check=True)


def vacuum_into(file: Path, copy: Path) -> None:
    subprocess.run(['sqlite3', str(file), f"VACUUM INTO '{copy}'"], check=True)


def copy_while_writers_wait(file: Path, copy: Path) -> None:
    with waiting(file):
        subprocess.run(['cp', str(file), str(copy)], check=True)
        subprocess.run(['cp', f'{file}-wal', f'{copy}-wal'], check=True)


@contextmanager
def waiting(file: Path, mode: str = 'IMMEDIATE') -> Iterator[None]:
    """Let whoever writes to a file wait for a shell."""
    with subprocess.Popen(
        ['sqlite3', '-cmd', '.timeout 5000', str(file)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as shell:
        assert shell.stdin
        assert shell.stdout
        shell.stdin.write(f"BEGIN {mode};\nSELECT 'begun';\n")
        shell.stdin.flush()
        assert shell.stdout.readline() == 'begun\n'
        yield
        shell.stdin.write('ROLLBACK;\n')


def look_at(copy: Path, acknowledged: list[int]) -> None:
    """Check that a copy is whole and has all that was acknowledged before it was begun."""
    with closing(sqlite3.connect(copy)) as file:
        assert file.execute('PRAGMA integrity_check').fetchone() == ('ok',)
    with open_store(str(copy), 'hashing-16') as store:
        there = {one.id: one for one in store.all()}
        assert {f'm{i}' for i in acknowledged} <= there.keys()
        assert all(one.caption == f'thing{i[1:]} is here' for i, one in there.items())
        assert all(len(of_one) == 1 for of_one in store.engine.vectors(list(there)).values())
        assert store.problem == ''
        assert store.find(Query(f'thing{acknowledged[-1]}', limit=1))[0].memory.id == f'm{acknowledged[-1]}'
        with closing(sqlite3.connect(copy)) as file:
            assert file.execute('PRAGMA journal_mode').fetchone() == ('wal',)


@pytest.mark.skipif(shutil.which('sqlite3') is None, reason='there is no shell of SQLite here')
@pytest.mark.parametrize('copied', [backup, vacuum_into, copy_while_writers_wait])
def test_a_copy_while_it_is_written_has_all_that_was_acknowledged(
    adding: Adding, tmp_path: Path, copied: Copy
) -> None:
    for i in range(10):
        assert adding.has_more(len(adding.acknowledged))
        acknowledged = list(adding.acknowledged)
        copied(tmp_path / 'memory.db', tmp_path / f'copy{i}.db')
        look_at(tmp_path / f'copy{i}.db', acknowledged)
    assert adding.has_more(len(adding.acknowledged))  # the writer went on


def test_a_plain_copy_is_whole_as_of_a_moment_or_says_that_it_is_not(adding: Adding, tmp_path: Path) -> None:
    for i in range(20):
        assert adding.has_more(len(adding.acknowledged))
        for end in ('', '-wal'):
            subprocess.run(['cp', f'{tmp_path}/memory.db{end}', f'{tmp_path}/copy{i}.db{end}'], check=True)
        try:
            store = open_store(str(tmp_path / f'copy{i}.db'), 'hashing-16')
        except StoreUnavailable:
            continue
        with store:
            there = {one.id: one for one in store.all()}
            assert all(one.caption == f'thing{i[1:]} is here' for i, one in there.items())
            # Of an earlier one where the log began anew meanwhile, and cp found its new header before a frame
            # was behind it: what that is of can then be told by nothing that the copy has.
            assert store.problem or there.keys() == {f'm{i}' for i in range(len(there))}
