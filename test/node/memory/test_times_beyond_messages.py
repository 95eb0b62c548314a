"""Memories of a time that no message can hold, as older programs stored them, beside good ones."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from remembr_msgs.srv import Ask, Forget, GetKeyframe, Recall, Remember
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import NS, parse_time

T0 = 1_700_000_000 * NS
JPEG = encode_jpeg(np.zeros((8, 8, 3), np.uint8))
T2100 = parse_time('2100-01-01')


@pytest.fixture
def memory(robot, tmp_path: Path):
    node = robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    store = node._store
    pose = Pose(1.0, 0.0)
    good = [Memory(f'good{i}', 'r', T0 + i * NS, T0 + i * NS, f'a red mug {i}', pose) for i in range(3)]
    store.add([Observation(each) for each in good])
    late = [Memory(f'late{i}', 'r', T2100 + i, T2100 + i, f'a red mug {i}', pose) for i in range(20)]
    astride = Memory('astride', 'r', T0 + 1, T2100, 'a red mug', pose)
    late[0] = replace(late[0], keyframes=store.keep_images([JPEG]))
    vector = store.embedder.embed(['a red mug'])
    store.engine.put([Entry(each, vector) for each in (*late, astride)])
    return node


@pytest.mark.parametrize(
    'order',
    [
        {'order': 'newest'},
        {'text': 'a red mug'},
        {'use_place': True},
        {'use_time': True, 'time': time_to_msg(2**31 * NS - 1)},
        {'order': 'around', 'use_time': True, 'time': time_to_msg(2**31 * NS - 1)},
    ],
)
def test_a_recall_gives_the_others(robot, memory, order):
    response = robot.call(Recall, 'recall', Recall.Request(limit=3, **order))
    assert (response.error_code, response.error_msg) == (Recall.Response.NONE, '')
    found = {msg.id for msg in response.memories}
    assert found <= {'good0', 'good1', 'good2'}
    assert len(found) >= 2


def test_a_question_is_answered_and_the_markers_are_of_the_others(robot, memory):
    robot.start(AgentNode, pose_source='none', llm='offline')
    answer = robot.call(Ask, 'ask', Ask.Request(question='Where is the red mug?')).answer
    assert answer.kind == answer.POSITION, answer.text
    assert {hit.id for hit in answer.evidence} <= {'good0', 'good1', 'good2'}
    assert {shown.id for shown in memory._newest()} == {'good0', 'good1', 'good2', 'astride'}


def test_they_can_be_looked_at_and_deleted(robot, memory):
    response = robot.call(GetKeyframe, 'get_keyframe', GetKeyframe.Request(id='late0'))
    assert (response.error_msg, bytes(response.image.data)) == ('', JPEG)
    everything_after = Forget.Request(after=time_to_msg(2**31 * NS - 1))
    assert robot.call(Forget, 'forget', everything_after).count == 21
    assert robot.call(Recall, 'recall', Recall.Request(limit=9)).total == 3


def test_a_note_of_a_time_before_any_robot_is_refused(robot, memory):
    request = Remember.Request(text='the key is here')
    request.pose.header.stamp = time_to_msg(parse_time('1980-01-06'))
    response = robot.call(Remember, 'remember', request)
    assert response.error_code == Remember.Response.INVALID_REQUEST
    assert 'check the clock' in response.error_msg
