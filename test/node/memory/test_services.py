"""Two services of the memory node: recall around a time, and forgetting with all its conditions."""

from pathlib import Path

import pytest

from remembr_msgs.srv import Forget, Recall
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from remembr_ros.nodes.agent.recall_client import RecallClient
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS


@pytest.fixture
def memory(robot, tmp_path: Path):
    node = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    kept = []
    for i, text in enumerate(('a red mug', 'a green chair', 'a blue lift', 'a white door', 'a RED sign')):
        name, start = 'ab'[i % 2], T0 + i * 10 * NS
        source = 'person' if i == 4 else 'captioner'
        kept.append(
            Memory(
                memory_id(name, source, start),
                name,
                start,
                start + 3 * NS,
                text,
                Pose(5.0 * i, 0.0, 0.0, 0.0),
                map_id=('', 'cellar')[i // 3],
                source=source,
            )
        )
    node._store.add([Observation(each) for each in kept])
    return node


def captions(robot) -> set[str]:
    return {msg.caption for msg in robot.call(Recall, 'recall', Recall.Request(limit=20)).memories}


def test_around_gives_consecutive_memories_in_the_order_of_time(robot, memory):
    request = Recall.Request(around=True, time=time_to_msg(T0 + 21 * NS), limit=3)
    found = robot.call(Recall, 'recall', request).memories
    assert [m.caption for m in found] == ['a green chair', 'a blue lift', 'a white door']
    assert [round(m.time_offset) for m in found] == [-8, 0, 9]
    refused = robot.call(Recall, 'recall', Recall.Request(around=True))
    assert refused.error_code == Recall.Response.INVALID_REQUEST
    client = RecallClient(robot.client, 20.0)
    hits = client.find(Query(time_ns=T0 + 21 * NS, around=True, limit=3))
    assert [hit.memory.caption for hit in hits] == [m.caption for m in found]
    client.close()


@pytest.mark.parametrize(
    ('condition', 'gone'),
    [
        ({'text': 'red'}, {'a red mug', 'a RED sign'}),
        ({'robot': ['b']}, {'a green chair', 'a white door'}),
        ({'map': 'cellar'}, {'a white door', 'a RED sign'}),
        ({'use_map': True}, {'a red mug', 'a green chair', 'a blue lift'}),
        ({'source': 'person'}, {'a RED sign'}),
        ({'text': 'red', 'robot': ['a'], 'use_map': True}, {'a red mug'}),
    ],
)
def test_forget_looks_first_and_then_deletes_just_that(robot, memory, condition, gone):
    everything = captions(robot)
    foreseen = robot.call(Forget, 'forget', Forget.Request(dry_run=True, **condition))
    assert (foreseen.error_msg, foreseen.count, len(foreseen.ids)) == ('', len(gone), len(gone))
    assert captions(robot) == everything
    assert {m.caption for m in memory._store.get(foreseen.ids)} == gone
    forgotten = robot.call(Forget, 'forget', Forget.Request(**condition))
    assert (forgotten.error_msg, forgotten.count, forgotten.ids) == ('', len(gone), [])
    assert captions(robot) == everything - gone


@pytest.mark.parametrize('condition', [{}, {'text': ' '}, {'source': 'nobody'}, {'dry_run': True}])
def test_forgetting_without_a_condition_is_refused(robot, memory, condition):
    response = robot.call(Forget, 'forget', Forget.Request(**condition))
    assert response.error_code == Forget.Response.INVALID_REQUEST
    assert len(captions(robot)) == 5
