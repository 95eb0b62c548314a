"""Each caption that comes to the memory node is answered, once its fate is settled."""

import pytest

from remembr_msgs.msg import CaptionAck
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Recall
from remembr_ros.errors import StoreUnavailable
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.memory_conversion import caption_id
from remembr_ros.nodes.memory.node import MemoryNode
from test.node.memory.test_node_keeping import JPEG, caption


@pytest.fixture
def node(robot, tmp_path):
    return robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing', retry_period=0.1)


@pytest.fixture
def acks(robot):
    return robot.listen(CaptionAck, 'captions/acks', qos.CAPTIONS)


def changed(msg: MemoryMsg, **fields) -> MemoryMsg:
    for name, value in fields.items():
        setattr(msg, name, value)
    return msg


def test_each_caption_is_answered_with_its_id_and_why_it_was_refused(robot, node, acks):
    captions = robot.talk(MemoryMsg, 'captions')
    sent = {
        'stored': caption(0, 'a red door', images=(JPEG,)),
        'merged': caption(3, 'a red door', images=(JPEG,)),
        'source': changed(caption(6, 'a red door'), source='rumour'),
        'robbie': changed(caption(9, 'a red door'), robot='robbie\n'),
        'not a JPEG': caption(12, 'a red door', images=(b'GIF89a',)),
        'of its own id': changed(caption(15, 'a red door'), id='x' * 20),
    }
    for msg in sent.values():
        captions.publish(msg)
    robot.wait(lambda: len(acks) == len(sent), 'every answer')
    answer = {ack.id: ack for ack in acks}
    for why, msg in sent.items():
        ack = answer[caption_id(msg)]
        if why in ('source', 'robbie', 'not a JPEG'):
            assert (ack.result, why in ack.reason) == (CaptionAck.REFUSED, True), ack
        else:
            assert (ack.result, ack.reason) == (CaptionAck.STORED, '')
    assert robot.call(Recall, 'recall', Recall.Request()).memories[0].merged >= 2


def test_an_answer_is_short_however_long_the_caption(robot, node, acks):
    robot.talk(MemoryMsg, 'captions').publish(changed(caption(0, 'a door'), id='x' * 5_000))
    robot.wait(lambda: acks, 'the answer')
    assert (acks[0].result, acks[0].id) == (CaptionAck.REFUSED, 'x' * 200)
    assert len(acks[0].reason) <= 500


def test_what_waits_for_the_store_is_answered_when_it_is_stored(robot, node, acks, monkeypatch):
    captions = robot.talk(MemoryMsg, 'captions')
    asked = []

    def away(observations):
        asked.append(len(observations))
        raise StoreUnavailable('the disk is full')

    with monkeypatch.context() as patch:
        patch.setattr(node._store, 'add_heard', away)
        captions.publish(caption(0, 'a red door'))
        robot.wait(lambda: len(asked) > 1, 'two attempts')
        captions.publish(caption(0, 'a red door'))  # as a captioner that has no answer does
        captions.publish(caption(90, 'a lift'))
        robot.wait(lambda: node._intake.writer.waiting == 2, 'both captions, the first one once')
        assert not acks
    robot.wait(lambda: len(acks) == 2, 'both answers')
    assert {ack.result for ack in acks} == {CaptionAck.STORED}
