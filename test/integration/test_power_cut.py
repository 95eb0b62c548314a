"""What was acknowledged survives a power cut: a copy of the disk, as it is while a process writes to it."""

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from remembr_ros.memory.model.recall import Query
from test.integration.durable_writer import check, image, make_small, opened
from test.integration.test_durability import REPOSITORY, Left
from test.loop_disk import cut_power, make_disk, mounted
from test.small_disk import MountRefused

WRITERS = 4
LONGEST_S = 0.25
"""Between two cuts."""


class Writer:
    """A process that changes a memory at random, and says what it does."""

    def __init__(self, path: Path, seed: int) -> None:
        command = [sys.executable, '-m', 'test.integration.durable_writer', str(path), str(seed), '{}', '1']
        self._process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE)
        assert self._process.stdout
        self._out = self._process.stdout.fileno()
        self._said = b''

    def wait_for(self, word: str, count: int = 1) -> None:
        """Wait until it has said a word so many times from now on."""
        begun = len(self._said)
        while self._said.count(f'{word} '.encode(), begun) < count:
            more = os.read(self._out, 65_536)
            assert more, f'the writer ended early: {self._said[-500:]!r}'
            self._said += more

    @contextmanager
    def stopped(self) -> Iterator[Left]:
        """Stop it where it is; give what it has acknowledged till then."""
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)
        os.set_blocking(self._out, False)
        try:
            while more := os.read(self._out, 65_536):
                self._said += more
        except BlockingIOError:
            pass
        finally:
            os.set_blocking(self._out, True)
        left = Left()
        left.note(self._said.decode().splitlines(keepends=True))
        yield left
        self._process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout
        self._process.stdout.close()


@pytest.fixture
def disk(tmp_path: Path) -> Path:
    """The file of an empty disk."""
    file = tmp_path / 'disk'
    try:
        make_disk(file)
        with mounted(file):
            pass
    except MountRefused as error:
        pytest.skip(str(error))
    return file


def look_at(copy: Path, left: Left) -> int:
    """Check what a power cut left; return how many memories that was."""
    with mounted(copy) as folder, opened(str(folder / 'new' / 'folder' / 'memory.db')) as store:
        states = check(store, left.states)
        there = {i for i, state in states.items() if state}
        for one in store.all():
            assert store.find(Query(one.caption, limit=1))[0].memory == one
            assert store.keyframe(one.id) == image(int(one.id[1:]))
        assert store.problem == ''
    return len(there)


@pytest.mark.timeout(240)
def test_twenty_power_cuts_lose_nothing_that_was_acknowledged(
    disk: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_small(monkeypatch.setattr)
    chance, found = random.Random(5), []
    for seed in range(WRITERS):
        make_disk(disk)
        with mounted(disk) as folder:
            writer = Writer(folder / 'new' / 'folder' / 'memory.db', seed)
            try:
                for moment in range(5):
                    # The first time right after the first memory of a new file in new folders.
                    writer.wait_for('done')
                    if moment:
                        time.sleep(chance.uniform(0.0, LONGEST_S))  # any moment will do
                    with writer.stopped() as left:
                        cut_power(disk, tmp_path / 'copy')
                        found.append(look_at(tmp_path / 'copy', left))
            finally:
                writer.kill()
    assert len(found) == 5 * WRITERS
    assert max(found) > 20
