"""What becomes of captions while the memory's file is locked, gone, or its disk full: nothing is lost."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from remembr_msgs.msg import CaptionAck
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Recall
from remembr_ros.memory.embedded import sqlite_file
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.managed_node import Level
from remembr_ros.nodes.memory import store_gauge
from remembr_ros.nodes.memory.node import MemoryNode
from test.integration.test_backups import waiting
from test.node.memory.test_node_keeping import caption
from test.read_only_disk import read_only
from test.small_disk import MountRefused, small_disk

SIZE = '120m'


@pytest.fixture
def folder() -> Iterator[Path]:
    """Where the memory is: a disk of its own."""
    try:
        with small_disk(SIZE) as disk:
            (disk / 'memory').mkdir()
            yield disk / 'memory'
    except MountRefused as error:
        pytest.skip(str(error))


@pytest.fixture
def node(robot, folder, monkeypatch):
    monkeypatch.setattr(sqlite_file, 'LOCKED_S', 0.3)
    monkeypatch.setattr(store_gauge, 'PERIOD_S', 0.05)
    monkeypatch.setattr(store_gauge, 'SIZES_PERIOD_S', 0.0)
    node = robot.start(
        MemoryNode, uri=str(folder / 'm.db'), embedder='hashing', retry_period=0.1, consolidate=False
    )
    yield node
    for step in ('deactivate', 'cleanup'):
        getattr(node, f'trigger_{step}')()


def total(robot) -> int:
    found = robot.call(Recall, 'recall', Recall.Request(text='door', limit=50))
    assert found.error_code == Recall.Response.NONE
    return found.total


def says(node, *words: str) -> bool:
    level, message, _ = node.diagnose()
    return level != Level.OK and any(word in message for word in words)


@pytest.mark.skipif(shutil.which('sqlite3') is None, reason='there is no shell of SQLite here')
@pytest.mark.parametrize('mode', ['IMMEDIATE', 'EXCLUSIVE'])
def test_captions_wait_for_a_lock_of_another_program_and_are_stored_once(robot, node, folder, mode):
    acks = robot.listen(CaptionAck, 'captions/acks', qos.CAPTIONS)
    captions = robot.talk(MemoryMsg, 'captions')
    captions.publish(caption(0, 'a red door'))
    robot.wait(lambda: len(acks) == 1, 'the first answer')
    with waiting(folder / 'm.db', mode):
        captions.publish(caption(10, 'a green door'))
        captions.publish(caption(20, 'a blue door'))
        robot.wait(lambda: says(node, 'captions are not stored'), 'an error')
        assert says(node, 'another program, such as a backup or a shell, has had it locked')
        captions.publish(caption(10, 'a green door'))  # as a captioner that has no answer does
        assert total(robot) == 1
        assert node._intake.writer.waiting == 2
        assert len(acks) == 1
    robot.wait(lambda: len({ack.id for ack in acks}) == 3, 'an answer to each')
    assert {ack.result for ack in acks} == {CaptionAck.STORED}
    assert total(robot) == 3
    robot.wait(lambda: node.diagnose()[0] == Level.OK, 'no problem any more')


@contextmanager
def moved(place: Path) -> Iterator[None]:
    away = place.with_name('away')
    place.rename(away)
    yield
    away.rename(place)


@contextmanager
def replaced(place: Path) -> Iterator[None]:
    other = place.with_name('other')
    # Not here: to close the file in the process that has it open would end the locks of that.
    subprocess.run(['cp', str(place), str(other)], check=True)
    with moved(place):
        other.rename(place)
        yield
        place.unlink()


@contextmanager
def full(folder: Path) -> Iterator[None]:
    ballast = folder.parent / 'ballast'
    room = shutil.disk_usage(folder).free - 2_000_000
    subprocess.run(['fallocate', '-l', str(room), str(ballast)], check=True)
    yield
    ballast.unlink()


FAULTS = {
    'file removed': (lambda folder: moved(folder / 'm.db'), 'removed or replaced'),
    'file replaced': (lambda folder: replaced(folder / 'm.db'), 'removed or replaced'),
    'log removed': (lambda folder: moved(folder / 'm.db-wal'), 'removed or replaced'),
    'folder removed': (moved, 'removed or replaced'),
    'read-only': (read_only, 'cannot be written. Check who owns it and how its disk is mounted'),
    'disk full': (full, 'make room'),
}


def remembered(file: Path) -> 'subprocess.CompletedProcess[str]':
    """Run remembr remember."""
    command = [sys.executable, '-m', 'remembr_ros.cli.main', 'remember', 'A note.', '--memory', str(file)]
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(filter(None, sys.path))}
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize('fault', FAULTS)
def test_what_befalls_the_file_is_told_and_costs_no_caption_that_was_acknowledged(robot, node, folder, fault):
    befall, words = FAULTS[fault]
    acks = robot.listen(CaptionAck, 'captions/acks', qos.CAPTIONS)
    captions = robot.talk(MemoryMsg, 'captions')
    captions.publish(caption(0, 'a red door'))
    robot.wait(lambda: len(acks) == 1, 'the first answer')
    with befall(folder):
        robot.wait(lambda: says(node, words), 'that something is wrong, before any caption')
        captions.publish(caption(10, 'a green door'))
        robot.wait(lambda: says(node, 'captions are not stored'), 'an error')
        assert node.diagnose()[0] == Level.ERROR
        if fault != 'folder removed':  # there the command makes a new memory
            done = remembered(folder / 'm.db')
            assert (done.returncode, done.stdout) == (1, '')
            assert 'm.db cannot be changed: ' in done.stderr
        assert len(acks) == 1
    robot.wait(lambda: len(acks) == 2, 'the second answer')
    assert total(robot) == 2
    robot.wait(lambda: node.diagnose()[0] == Level.OK, 'no problem any more')
