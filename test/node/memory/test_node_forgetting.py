"""What is forgotten is forgotten where it waits, too: in the node's queue, and with its sender."""

import time
from pathlib import Path

import pytest

from remembr_msgs.msg import CaptionAck
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Forget, Recall
from remembr_ros.errors import EmbedderLoading, StoreUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.memory_conversion import observation_to_msg
from remembr_ros.nodes.captioner.node import CaptionerNode
from remembr_ros.nodes.memory import caption_intake
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import NS
from test.node.memory.test_node_keeping import caption

CAPTIONS = 30
ALICE = 'a woman named Zorblax at the blue desk'


@pytest.fixture
def node(robot, tmp_path: Path) -> MemoryNode:
    return robot.start(
        MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing', retry_period=0.05, consolidate=False
    )


@pytest.fixture
def acks(robot, node) -> list[CaptionAck]:
    return robot.listen(CaptionAck, 'captions/acks', qos.CAPTIONS)


def published(robot) -> list[MemoryMsg]:
    """Publish captions, every second one of somebody."""
    captions, sent = robot.talk(MemoryMsg, 'captions'), []
    for i in range(CAPTIONS):
        sent.append(caption(10.0 * i, ALICE if i % 2 else f'a red door, number {i}', 5.0 * i))
        captions.publish(sent[-1])
    robot.captions = captions
    return sent


def results(acks: list[CaptionAck], result: int) -> set[str]:
    return {ack.id for ack in acks if ack.result == result}


def nowhere(folder: Path) -> bool:
    """Tell whether no file of a folder has the name."""
    files = [path for path in folder.rglob('*') if path.is_file()]
    return bool(files) and not any(b'zorblax' in path.read_bytes().lower() for path in files)


REFUSALS = {'disk full': StoreUnavailable('the disk is full'), 'embedder loading': EmbedderLoading('soon')}


@pytest.mark.parametrize('why', REFUSALS)
def test_what_waits_for_the_store_is_forgotten(robot, node, acks, tmp_path, why):
    def refuse(*_):
        raise REFUSALS[why]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(node._store._intake, 'store', refuse)
        published(robot)
        robot.wait(lambda: node._intake.writer.waiting == CAPTIONS, 'all captions')
        request = Forget.Request(text='zorblax')
        foreseen = robot.call(Forget, 'forget', Forget.Request(text='zorblax', dry_run=True))
        assert (foreseen.count, len(foreseen.ids)) == (CAPTIONS // 2, CAPTIONS // 2)
        assert robot.call(Forget, 'forget', request).count == CAPTIONS // 2
    robot.wait(lambda: len(results(acks, CaptionAck.STORED)) == CAPTIONS // 2, 'the others stored')
    robot.wait(lambda: len(results(acks, CaptionAck.FORGOTTEN)) == CAPTIONS // 2, 'an answer to each')
    assert results(acks, CaptionAck.FORGOTTEN) == set(foreseen.ids)
    assert robot.call(Recall, 'recall', Recall.Request()).total == CAPTIONS // 2
    assert nowhere(tmp_path)
    robot.captions.publish(caption(1000.0, ALICE))  # she is seen again
    robot.wait(
        lambda: len(results(acks, CaptionAck.STORED)) == CAPTIONS // 2 + 1, 'a new caption of the same'
    )


def test_what_had_no_room_is_forgotten_when_it_comes_again(robot, node, acks, monkeypatch):
    def refuse(*_):
        raise StoreUnavailable('the disk is full')

    with monkeypatch.context() as patch:
        patch.setattr(node._store._intake, 'store', refuse)
        patch.setattr(caption_intake, 'MAX_BYTES', 45_000)
        sent = published(robot)
        writer = node._intake.writer
        robot.wait(lambda: len(writer._heard) == CAPTIONS, 'all captions')
        waiting = sum('Zorblax' in observation.memory.caption for observation in writer.queued())
        assert 0 < waiting < CAPTIONS // 4
        assert robot.call(Forget, 'forget', Forget.Request(text='zorblax')).count == waiting
    for msg in sent:  # as a captioner that has no answer does
        robot.captions.publish(msg)
    robot.wait(lambda: len({ack.id for ack in acks}) == CAPTIONS, 'an answer to each')
    assert len(results(acks, CaptionAck.FORGOTTEN)) == len(results(acks, CaptionAck.STORED)) == CAPTIONS // 2


def test_what_is_with_its_sender_while_the_memory_is_away_is_forgotten(robot, tmp_path):
    uri = str(tmp_path / 'm.db')
    out = robot.start(CaptionerNode, captioner='none', pose_source='none')._captions
    now = time.time_ns()
    for i in range(CAPTIONS):
        start = now - (60 - i) * NS
        text = ALICE if i % 2 else 'a red door'
        out.publish(observation_to_msg(Observation(Memory('', 'robot', start, start + 1, text, Pose(i, 0)))))
    with open_store(uri, 'hashing') as store:  # remembr forget, while no node runs
        assert store.forget(text='zorblax') == 0
    robot.start(MemoryNode, uri=uri, embedder='hashing', consolidate=False)
    robot.wait(lambda: len(out) == 0, 'an answer to each')
    assert (out.refused, out.problem) == (0, '')
    assert robot.call(Recall, 'recall', Recall.Request()).total == CAPTIONS // 2
    assert nowhere(tmp_path)
