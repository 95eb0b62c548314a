"""Captions that no memory node has answered are sent again, and to the next one."""

from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray, KeyValue
from rclpy.lifecycle import TransitionCallbackReturn
from sensor_msgs.msg import CompressedImage

from remembr_msgs.msg import CaptionAck
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Forget, Recall
from remembr_ros.nodes.base import outbox, qos
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.base.memory_conversion import caption_id
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
    found = robot.call(Recall, 'recall', Recall.Request(limit=20)).memories
    assert {msg.caption for msg in found} == {f'door number {second}' for second in range(0, 30, 3)}


def test_captions_that_extend_a_memory_count_as_stored(robot, out, tmp_path):
    for second in range(0, 30, 3):
        out.publish(caption(second))
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    robot.wait(lambda: not len(out), 'every caption stored')
    assert robot.call(Recall, 'recall', Recall.Request(limit=20)).total < 10


def test_what_is_sent_twice_is_remembered_once(robot, out, tmp_path):
    acks = robot.listen(CaptionAck, 'captions/acks')
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    robot.wait(out._publisher.get_subscription_count, 'the memory node')
    for times in (1, 2):
        for second in range(0, 15, 3):
            out.publish(caption(second))
        robot.wait(lambda times=times: len(acks) >= 5 * times, 'ten acknowledgements')
    found = robot.call(Recall, 'recall', Recall.Request(limit=20)).memories
    assert (len(found), found[0].merged) == (1, 5)
    assert {ack.result for ack in acks} == {CaptionAck.STORED}


def ack(msg: MemoryMsg, result: int = CaptionAck.STORED, reason: str = '') -> CaptionAck:
    return CaptionAck(id=caption_id(msg), result=result, reason=reason)


@pytest.fixture
def acks(robot, out):
    """What a memory node would answer with; nothing hears captions."""
    return robot.talk(CaptionAck, 'captions/acks')


def test_another_camera_does_not_acknowledge(robot, out, acks):
    for camera in ('left', 'right'):
        out.publish(caption(0, camera=camera))
    acks.publish(ack(caption(0, camera='front')))
    acks.publish(ack(caption(0, camera='left')))
    robot.wait(lambda: len(out) == 1, 'one caption acknowledged')


def test_a_flood_of_acknowledgements_that_concern_nobody_does_no_harm(robot, out, acks):
    out.publish(caption(0))
    out.publish(caption(3))
    acks.publish(ack(caption(3), result=200))
    for second in range(900):
        acks.publish(ack(caption(second, robot='another'), CaptionAck.REFUSED, 'no'))
    acks.publish(CaptionAck(result=CaptionAck.STORED))
    acks.publish(ack(caption(0)))
    acks.publish(ack(caption(0)))
    robot.wait(lambda: len(out) == 1, 'the one that is meant')
    assert (out.refused, out.problem) == (0, '')


def test_what_is_refused_is_given_up_with_the_reason_and_not_sent_again(robot, out, acks, monkeypatch):
    monkeypatch.setattr(outbox, 'OVERDUE_S', 0.0)
    out.publish(caption(0))
    out.publish(caption(3))
    acks.publish(ack(caption(0), CaptionAck.REFUSED, 'it makes\x1b[2J no sense ' + 'x' * 1000))
    robot.wait(lambda: len(out) == 1, 'the refusal')
    assert out.refused == 1
    assert out.problem.startswith('1 captions were refused by the memory node: it makes\\u001b[2J no sense x')
    assert len(out.problem) < 600
    heard = robot.listen(MemoryMsg, 'captions', qos.CAPTIONS)
    robot.wait(lambda: len(heard) > 2, 'what was not answered, again and again')
    assert {msg.start.sec for msg in heard} == {caption(3).start.sec}


def test_what_is_not_answered_is_sent_again_less_and_less_often(robot, out, acks, monkeypatch):
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(outbox, 'time', clock)
    robot.wait(lambda: out._node.count_publishers(out._acks.topic), 'who answers')
    sent = []
    monkeypatch.setattr(out._publisher, 'publish', lambda _: sent.append(clock.now))
    out.publish(caption(0))
    for _ in range(300):
        clock.now += 1.0
        out.send_due()
    assert sent == [0, 5, 15, 35, 75, 135, 195, 255]


def test_nothing_is_sent_again_while_nobody_answers(robot, out, monkeypatch):
    monkeypatch.setattr(outbox, 'OVERDUE_S', 0.0)
    sent = []
    monkeypatch.setattr(out._publisher, 'publish', sent.append)
    out.publish(caption(0))
    for _ in range(3):
        out.send_due()
    assert (len(sent), len(out)) == (1, 1)


def test_what_a_memory_may_not_store_is_kept_for_one_that_may(robot, out, tmp_path):
    uri = str(tmp_path / 'm.db')
    memory = robot.start(MemoryNode, uri=uri, embedder='hashing')
    assert memory.trigger_deactivate() == memory.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    acks = robot.listen(CaptionAck, 'captions/acks')
    reader = robot.start(MemoryNode, uri=uri, embedder='hashing', read_only=True)
    robot.wait(out._publisher.get_subscription_count, 'the memory node')
    out.publish(caption(0))
    robot.wait(lambda: acks, 'its answer')
    assert (acks[0].result, len(out), out.refused) == (CaptionAck.READ_ONLY, 1, 0)
    assert 'read-only' in acks[0].reason
    assert reader.trigger_deactivate() == reader.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    assert memory.trigger_configure() == memory.trigger_activate() == TransitionCallbackReturn.SUCCESS
    robot.wait(lambda: not len(out), 'the caption stored')


def test_an_answer_that_was_lost_is_given_again_and_the_memory_is_one(robot, out, tmp_path, monkeypatch):
    """As after a kill between storing and answering."""
    uri = str(tmp_path / 'm.db')
    killed = robot.start(MemoryNode, uri=uri, embedder='hashing')
    monkeypatch.setattr(killed._intake, '_answer', lambda *_: None)
    stored = robot.listen(MemoryMsg, 'memories')
    robot.wait(out._publisher.get_subscription_count, 'the memory node')
    out.publish(caption(0))
    robot.wait(lambda: stored, 'the memory')
    assert len(out) == 1
    assert killed.trigger_deactivate() == killed.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    robot.start(MemoryNode, uri=uri, embedder='hashing')
    robot.wait(lambda: not len(out), 'the answer')
    assert robot.call(Recall, 'recall', Recall.Request()).total == 1


def test_what_was_forgotten_does_not_come_back(robot, out, tmp_path):
    uri = str(tmp_path / 'm.db')
    memory = robot.start(MemoryNode, uri=uri, embedder='hashing')
    robot.wait(out._publisher.get_subscription_count, 'the memory node')
    for second in range(0, 30, 3):
        out.publish(caption(second))
    robot.wait(lambda: not len(out), 'every caption stored')
    assert robot.call(Forget, 'forget', Forget.Request(text='door')).count >= 1
    assert memory.trigger_deactivate() == memory.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    robot.start(MemoryNode, uri=uri, embedder='hashing')
    out.publish(caption(60, 'a green lift'))
    robot.wait(lambda: not len(out), 'the last caption stored')
    assert robot.call(Recall, 'recall', Recall.Request()).total == 1


def test_somebody_who_only_listens_does_not_make_captions_get_lost(robot, out, tmp_path):
    heard = robot.listen(MemoryMsg, 'captions', qos.CAPTIONS)  # as ros2 bag record and ros2 topic echo do
    robot.wait(out._publisher.get_subscription_count, 'a listener')
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
def test_what_a_memory_node_refuses_is_not_kept_but_counted(robot, out, tmp_path, fields):
    diagnostics = robot.listen(DiagnosticArray, '/diagnostics')
    out.publish(caption(0, **fields))
    out.publish(caption(3, keyframe_images=[CompressedImage(format='jpeg', data=JPEG)]))
    memory = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    robot.wait(lambda: not len(out), 'every caption answered')
    heard = robot.listen(MemoryMsg, 'captions', qos.CAPTIONS)
    robot.wait(lambda: out._publisher.get_subscription_count() > 1, 'a listener')
    out.publish(caption(6))
    robot.wait(lambda: heard, 'the caption that makes sense')
    assert {msg.start.sec for msg in heard} == {caption(6).start.sec}
    assert memory._intake.invalid + memory._intake.writer.rejected == 1

    def said() -> list[str]:
        every = (one for array in diagnostics for one in array.status)
        statuses = [one for one in every if one.name.endswith('captioner: status')]
        return [one.message for one in statuses if KeyValue(key='refused', value='1') in one.values]

    robot.wait(said, 'the count')
    assert '1 captions were refused by the memory node: ' in said()[-1]


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
