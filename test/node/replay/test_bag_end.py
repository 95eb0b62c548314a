"""What ends a replay waits for a slow captioner and for the store, and not for ever for one that hangs."""

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from remembr_msgs.srv import Recall
from remembr_ros.captioning.captioners.captioner import Caption
from remembr_ros.nodes.captioner.node import CaptionerNode
from remembr_ros.nodes.memory.node import MemoryNode
from test.fake_captioner import FakeCaptioner
from test.node.captioner.test_node import jpeg

pytestmark = pytest.mark.timeout(120)
SEGMENTS = 3


class Held(FakeCaptioner):
    """A captioner that describes nothing until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()
        self.asked = threading.Event()

    def describe(self, images: Sequence[Any]) -> Caption:
        self.asked.set()
        assert self.go.wait(60.0)
        return Caption('a red door')


@pytest.fixture
def held(robot, tmp_path) -> Iterator[Held]:
    """The captioner of a node that has images of some segments, the last of them open."""
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing', consolidate=False)
    node = robot.start(
        CaptionerNode,
        captioner='none',
        pose_source='none',
        segment_length=1.0,
        flush_after=600.0,
        skip_unchanged=False,
    )
    held = node._describer.captioner = Held()
    robot.wait(node._captions._publisher.get_subscription_count, 'the memory node')
    images = robot.talk(type(jpeg(0.0)), 'image/compressed')
    for i in range(2 * SEGMENTS):
        images.publish(jpeg(0.5 * i))
    robot.wait(lambda: node._frames == 2 * SEGMENTS, 'every image')
    assert held.asked.wait(20.0)
    held.node = node
    yield held
    held.go.set()


@pytest.fixture
def begin() -> Iterator[Any]:
    """Starts what waits for the end."""
    started: list[subprocess.Popen[str]] = []

    def begin(*options: str) -> 'subprocess.Popen[str]':
        command = [sys.executable, '-m', 'remembr_ros.nodes.replay.bag_end', '/remembr/captioner', *options]
        started.append(subprocess.Popen(command, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield begin
    for process in started:
        process.kill()
        process.communicate()


def test_it_ends_when_a_slow_captioner_has_described_all_and_all_is_stored(robot, held, begin):
    waiting = begin()
    robot.wait(lambda: not len(held.node._placer), 'the last segment to end', 60.0)
    assert (held.node._worker.waiting, waiting.poll()) == (SEGMENTS, None)
    held.go.set()
    assert waiting.wait(60.0) == 0
    found = robot.call(Recall, 'recall', Recall.Request(limit=20)).memories
    assert [msg.caption for msg in found] == ['a red door'] * SEGMENTS


def test_it_ends_though_a_captioner_hangs_and_says_what_is_left(held, begin):
    # Whoever misses DDS's first announcements hears of a node with the next, every 3 s: time for two of them.
    waiting = begin('--patience', '7')
    assert waiting.wait(60.0) == 1
    said = waiting.stderr.read()
    assert f'/remembr/captioner: 0 not placed yet, {SEGMENTS} waiting, 0 not stored yet' in said
    assert 'nothing has changed for 7 s' in said


def test_it_ends_on_a_signal_whatever_comes_after_it(robot, held, begin):
    waiting = begin()
    robot.wait(lambda: not len(held.node._placer), 'the last segment to end', 60.0)
    pause = threading.Event()
    while waiting.poll() is None:
        waiting.send_signal(signal.SIGINT)
        pause.wait(0.01)
    assert waiting.returncode == 0
