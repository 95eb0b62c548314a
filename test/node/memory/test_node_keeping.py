"""What the memory node does in the background: consolidation, retention, diagnostics, ending in time."""

import threading
import time
from collections import namedtuple
from pathlib import Path

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.lifecycle import TransitionCallbackReturn
from visualization_msgs.msg import MarkerArray

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Recall
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.managed_node import Level
from remembr_ros.nodes.base.memory_conversion import observation_to_msg
from remembr_ros.nodes.memory import caption_intake, housekeeping, store_gauge
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import NS
from test.patience import patiently

T0 = 1_700_000_000 * NS
JPEG = encode_jpeg(np.zeros((8, 8, 3), np.uint8))


def caption(second: float, text: str, x: float = 0.0, images: tuple[bytes, ...] = ()) -> MemoryMsg:
    start = T0 + round(second * NS)
    memory = Memory('', 'robot', start, start + 3 * NS, text, Pose(x, 0.0, 0.0, 1.0))
    return observation_to_msg(Observation(memory, images))


def start(robot, folder: Path, **parameters):
    return robot.start(MemoryNode, uri=str(folder / 'm.db'), embedder='hashing', **parameters)


def figures(node) -> dict:
    return node.diagnose()[2]


def test_a_robot_that_stands_extends_its_memory_and_says_so_each_time(robot, tmp_path):
    node = start(robot, tmp_path)
    stored = robot.listen(MemoryMsg, 'memories')
    seen = robot.listen(MarkerArray, 'memory_markers', qos.MARKERS)
    captions = robot.talk(MemoryMsg, 'captions')
    for second in range(0, 30, 3):
        captions.publish(caption(second, 'A corridor with a red door on the left.'))
    robot.wait(lambda: len(stored) == 10, 'ten captions stored')
    assert {msg.id for msg in stored} == {stored[0].id}
    assert stored[-1].merged == 10
    assert (figures(node)['stored'], figures(node)['merged']) == (10, 9)
    robot.wait(lambda: seen and seen[-1].markers[1:], 'a marker')
    assert len(seen[-1].markers[1].points) == 1
    assert robot.call(Recall, 'recall', Recall.Request()).total == 1


def test_without_consolidation_each_caption_is_a_memory(robot, tmp_path):
    start(robot, tmp_path, consolidate=False)
    stored = robot.listen(MemoryMsg, 'memories')
    captions = robot.talk(MemoryMsg, 'captions')
    for second in (0, 3, 6):
        captions.publish(caption(second, 'A corridor with a red door on the left.'))
    robot.wait(lambda: len(stored) == 3, 'three captions stored')
    assert len({msg.id for msg in stored}) == 3


def test_retention_keeps_the_memory_in_its_limits_and_collects_keyframes(robot, tmp_path, monkeypatch, capfd):
    for name in ('RETAIN_FIRST_S', 'RETAIN_PERIOD_S', 'COLLECT_FIRST_S', 'COLLECT_PERIOD_S'):
        monkeypatch.setattr(housekeeping, name, 0.2)
    threads, collected = [], threading.Event()
    node = robot.make(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing', max_memories=2)
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    retain = node._store.retain
    monkeypatch.setattr(
        node._store,
        'retain',
        lambda *args: (threads.append(threading.current_thread()), retain(*args))[1],
    )
    monkeypatch.setattr(node._store, 'collect_keyframes', lambda: collected.set() or 3)
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    captions = robot.talk(MemoryMsg, 'captions')
    seen = robot.listen(MarkerArray, 'memory_markers', qos.MARKERS)
    for i in range(5):
        captions.publish(caption(20 * i, f'thing number {i}', 5.0 * i, (JPEG + bytes([i]),)))
    robot.wait(lambda: figures(node)['stored'] == 5 and node._store.count() == 2, 'three memories deleted')
    robot.wait(lambda: seen and len(seen[-1].markers[-1].points) == 2, 'two markers')
    robot.wait(collected.is_set, 'keyframes collected')
    assert all(thread is not robot._thread for thread in threads)
    robot.wait(lambda: 'deleted' in figures(node)['last retention'], 'the result in diagnostics')
    printed = ''
    pattern = 'for want of room'

    def logged() -> bool:
        nonlocal printed
        printed += capfd.readouterr().err
        return pattern in printed and '3 keyframes deleted' in printed

    robot.wait(logged, 'the log of it')


def test_diagnostics_say_what_is_there(robot, tmp_path):
    node = start(robot, tmp_path)
    captions = robot.talk(MemoryMsg, 'captions')
    captions.publish(caption(0, 'a red mug', images=(JPEG,)))
    robot.wait(lambda: figures(node)['memories'] == 1, 'the number of memories')
    values = figures(node)
    assert node.diagnose()[0] == Level.OK
    assert float(values['database [MB]']) >= 0.0
    assert float(values['free disk [MB]']) > 64.0
    assert float(values['latency [s]']) > 0.0
    assert (values['waiting'], values['spooled'], values['rejected']) == (0, 0, 0)
    assert (values['last retention'], values['problem']) == ('off', '')


def test_a_full_disk_is_an_error_in_diagnostics(robot, tmp_path, monkeypatch):
    Usage = namedtuple('Usage', 'total used free')
    monkeypatch.setattr(store_gauge, 'SIZES_PERIOD_S', 0.0)
    monkeypatch.setattr(store_gauge, 'PERIOD_S', 0.1)
    heard = robot.listen(DiagnosticArray, '/diagnostics')
    start(robot, tmp_path)
    monkeypatch.setattr(store_gauge.shutil, 'disk_usage', lambda _: Usage(10**9, 10**9, 10**6))

    def errors() -> list[DiagnosticStatus]:
        return [s for array in heard for s in array.status if s.level == DiagnosticStatus.ERROR]

    assert 'disk is full' in robot.wait(errors, 'an error')[0].message


def test_a_store_that_hangs_fills_no_memory_and_the_node_ends_in_time(robot, tmp_path, monkeypatch, capfd):
    monkeypatch.setattr(caption_intake, 'MAX_BYTES', 1_000_000)
    node = start(robot, tmp_path, drain_timeout=0.5, batch_size=1)
    released, entered = threading.Event(), threading.Event()
    add = node._store.add_heard
    slow = lambda batch: (entered.set(), released.wait(60.0), add(batch))[2]  # noqa: E731
    monkeypatch.setattr(node._store, 'add_heard', slow)
    captions = robot.talk(MemoryMsg, 'captions')
    captions.publish(caption(0, 'number 0'))
    robot.wait(entered.is_set, 'a store that hangs')
    for i in range(1, 7):
        captions.publish(caption(10 * i, f'number {i}', images=(JPEG + bytes(300_000),)))
    robot.wait(lambda: node._intake.writer.is_full, 'captions that are not taken')
    level, message, values = node.diagnose()
    assert (level, values['waiting']) == (Level.ERROR, 4)
    assert 'no more captions are taken' in message
    began = time.monotonic()
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    assert time.monotonic() - began < patiently(0.5 + 6.0)
    assert '4 captions could not be stored within' in capfd.readouterr().err
    released.set()


def test_what_is_queued_is_stored_when_the_node_is_deactivated(robot, tmp_path, monkeypatch):
    node = start(robot, tmp_path, drain_timeout=20.0)
    entered, released = threading.Event(), threading.Event()
    add = node._store.add_heard
    slow = lambda batch: (entered.set(), released.wait(20.0), add(batch))[2]  # noqa: E731
    monkeypatch.setattr(node._store, 'add_heard', slow)
    captions = robot.talk(MemoryMsg, 'captions')
    for i in range(5):
        captions.publish(caption(10 * i, f'number {i}', 5.0 * i))
    robot.wait(lambda: entered.is_set() and node._intake.writer.waiting == 5, 'five captions waiting')
    threading.Timer(0.2, released.set).start()
    store = node._store
    assert node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert store.count() == 5
