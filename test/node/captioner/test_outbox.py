"""Captions that a memory node has not stored are sent again to the next one."""

import cv2
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, KeyValue
from sensor_msgs.msg import CompressedImage

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Recall
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.captioner import outbox
from remembr_ros.nodes.captioner.node import CaptionerNode
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS


def caption(second: int, text: str = 'a red door', **fields) -> MemoryMsg:
    start, end = T0 + second * NS, T0 + (second + 2) * NS
    times = {'start': time_to_msg(start), 'end': time_to_msg(end)}
    fields = {'robot': 'robot', 'source': 'captioner', 'caption': text, 'placed': True} | times | fields
    msg = MemoryMsg(**fields)
    msg.pose.pose.orientation.w = 1.0
    return msg


@pytest.fixture
def out(robot):
    node = robot.start(CaptionerNode, captioner='none', pose_source='none')
    return node._captions


def test_what_was_sent_to_nobody_is_stored_when_a_memory_node_comes(robot, out, tmp_path):
    for second in range(0, 30, 3):
        out.publish(caption(second, f'door number {second}'))
    assert len(out) == 10
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing', consolidate=False)
    robot.wait(lambda: not len(out), 'every caption stored')
    found = robot.call(Recall, 'recall', Recall.Request(limit=20, order='newest')).memories
    assert {msg.caption for msg in found} == {f'door number {second}' for second in range(0, 30, 3)}


def test_captions_that_extend_a_memory_count_as_stored(robot, out, tmp_path):
    for second in range(0, 30, 3):
        out.publish(caption(second))
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    robot.wait(lambda: not len(out), 'every caption stored')
    assert robot.call(Recall, 'recall', Recall.Request(limit=20)).total < 10


def test_what_is_sent_twice_is_remembered_once(robot, out, tmp_path):
    stored = robot.listen(MemoryMsg, 'memories')
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    robot.wait(out.get_subscription_count, 'the memory node')
    for _ in range(2):
        for second in range(0, 15, 3):
            out.publish(caption(second))
    robot.wait(lambda: len(stored) >= 10, 'ten acknowledgements')
    found = robot.call(Recall, 'recall', Recall.Request(limit=20)).memories
    assert (len(found), found[0].merged) == (1, 5)


def test_another_camera_does_not_acknowledge(robot, out):
    memories = robot.talk(MemoryMsg, 'memories')
    for camera in ('left', 'right'):
        out.publish(caption(0, camera=camera))
    memories.publish(caption(0, camera='front'))
    memories.publish(caption(0, camera='left'))
    robot.wait(lambda: len(out) == 1, 'one caption acknowledged')


def test_nothing_is_kept_for_a_memory_node_that_does_not_tell_what_it_stored(robot, out):
    heard = robot.listen(MemoryMsg, 'captions', qos.CAPTIONS)
    robot.client.create_publisher(MemoryMsg, 'elsewhere/memories', qos.CAPTIONS)
    robot.wait(out.get_subscription_count, 'a listener')
    robot.wait(out._is_stored_untold, 'what it publishes to be known')
    out.publish(caption(0))
    robot.wait(lambda: heard, 'the caption')
    assert len(out) == 0


def test_somebody_who_only_listens_does_not_make_captions_get_lost(robot, out, tmp_path):
    heard = robot.listen(MemoryMsg, 'captions', qos.CAPTIONS)  # as ros2 bag record and ros2 topic echo do
    robot.wait(out.get_subscription_count, 'a listener')
    for second in range(0, 15, 3):
        out.publish(caption(second, f'door number {second}'))
    robot.wait(lambda: len(heard) >= 5, 'the captions')
    assert len(out) == 5
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing', consolidate=False)
    robot.wait(lambda: not len(out), 'every caption stored')
    assert robot.call(Recall, 'recall', Recall.Request(limit=20)).total == 5


def test_only_captions_that_should_be_stored_by_now_are_overdue(out, monkeypatch):
    out.publish(caption(0))
    assert (len(out), out.overdue()) == (1, 0)
    monkeypatch.setattr(outbox, 'OVERDUE_S', -1.0)
    assert out.overdue() == 1


JPEG = cv2.imencode('.jpg', np.zeros((8, 8, 3), np.uint8))[1].tobytes()

REFUSED = {
    'ends before it starts': {'end': time_to_msg(T0 - NS)},
    'a robot with a new line': {'robot': 'robbie\n'},
    'a camera that is too long': {'camera': 'c' * 100},
    'a source that there is not': {'source': 'rumour'},
    'too many texts': {'scene_text': ['x'] * 5_000},
    'no way to have come': {'travelled': float('nan')},
    'a picture that is none': {'keyframe_images': [CompressedImage(format='jpeg', data=b'GIF89a')]},
}


@pytest.mark.parametrize('fields', REFUSED.values(), ids=REFUSED)
def test_what_a_memory_node_would_refuse_is_not_kept_but_counted(robot, out, tmp_path, fields):
    diagnostics = robot.listen(DiagnosticArray, '/diagnostics')
    heard = robot.listen(MemoryMsg, 'captions', qos.CAPTIONS)
    robot.wait(out.get_subscription_count, 'a listener')
    out.publish(caption(0, **fields))
    out.publish(caption(3, keyframe_images=[CompressedImage(format='jpeg', data=JPEG)]))
    robot.wait(lambda: heard, 'the caption that makes sense')
    assert len(out) == 1
    memory = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    robot.wait(lambda: not len(out), 'every caption stored')
    assert all(msg.start == heard[0].start for msg in heard)
    assert (memory._invalid, memory._writer.rejected) == (0, 0)

    def said() -> list[str]:
        every = (one for array in diagnostics for one in array.status)
        statuses = [one for one in every if one.name.endswith('captioner: status')]
        return [one.message for one in statuses if KeyValue(key='refused', value='1') in one.values]

    robot.wait(said, 'the count')
    assert '1 captions cannot be stored and were not sent: ' in said()[-1]


def test_what_cannot_be_sent_at_all_does_not_keep_others_from_being_sent_again(robot, out):
    out.publish(caption(0))
    with pytest.raises(UnicodeEncodeError):
        out.publish(caption(3, 'half a character \ud83d'))
    out.publish(caption(6))
    heard = robot.listen(MemoryMsg, 'captions', qos.CAPTIONS)
    robot.wait(lambda: len(heard) == 2, 'what was kept')
    assert len(out) == 2


@pytest.mark.parametrize(('name', 'most'), [('MAX_CAPTIONS', 3), ('MAX_BYTES', 3_500)])
def test_of_too_many_the_oldest_are_given_up(robot, out, monkeypatch, name, most):
    monkeypatch.setattr(outbox, name, most)
    for second in range(0, 30, 3):
        out.publish(caption(second))
    assert len(out) == 3
    heard = robot.listen(MemoryMsg, 'captions', qos.CAPTIONS)
    robot.wait(lambda: len(heard) == 3, 'what was kept')
    assert [msg.start.sec - T0 // NS for msg in heard] == [21, 24, 27]
