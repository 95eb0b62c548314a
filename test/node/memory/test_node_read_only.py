"""A memory that is only read, and inputs that are too long."""

from pathlib import Path

import pytest
from rclpy.lifecycle import TransitionCallbackReturn
from std_msgs.msg import String

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Ask, Forget, GetKeyframe, Recall, Remember
from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base.managed_node import Level
from remembr_ros.nodes.memory.node import MemoryNode
from test.node.memory.test_node_keeping import JPEG, caption, figures
from test.read_only_disk import read_only


@pytest.fixture
def uri(tmp_path) -> str:
    return str(tmp_path / 'm.db')


@pytest.fixture
def reader(robot, uri):
    """A node that may only read a memory of a red door."""
    writer = robot.start(MemoryNode, uri=uri, embedder='hashing')
    stored = robot.listen(MemoryMsg, 'memories')
    robot.talk(MemoryMsg, 'captions').publish(caption(0, 'a red door', images=(JPEG,)))
    robot.wait(lambda: stored, 'the memory')
    for step in ('deactivate', 'cleanup'):
        assert getattr(writer, f'trigger_{step}')() == TransitionCallbackReturn.SUCCESS
    return robot.start(
        MemoryNode, uri=uri, embedder='hashing', read_only=True, max_memories=1, max_age_days=1.0
    )


def test_what_is_there_is_found(robot, reader):
    found = robot.call(Recall, 'recall', Recall.Request(text='door'))
    assert [msg.caption for msg in found.memories] == ['a red door']
    keyframe = robot.call(GetKeyframe, 'get_keyframe', GetKeyframe.Request(id=found.memories[0].id))
    assert bytes(keyframe.image.data) == JPEG


@pytest.mark.parametrize(
    ('kind', 'name', 'request_'),
    [
        (Remember, 'remember', Remember.Request(text='the door is green')),
        (Forget, 'forget', Forget.Request(text='door')),
    ],
    ids=['remember', 'forget'],
)
def test_notes_and_forgetting_are_refused_with_the_reason(robot, reader, kind, name, request_):
    response = robot.call(kind, name, request_)
    assert response.error_code == kind.Response.INVALID_REQUEST
    assert 'read_only' in response.error_msg
    assert robot.call(Recall, 'recall', Recall.Request()).total == 1


def test_what_would_be_forgotten_can_still_be_asked(robot, reader):
    response = robot.call(Forget, 'forget', Forget.Request(text='door', dry_run=True))
    assert (response.error_code, response.count) == (Forget.Response.NONE, 1)


def test_captions_are_not_stored_and_that_is_told(robot, reader):
    captions = robot.talk(MemoryMsg, 'captions')
    captions.publish(caption(10, 'a green door'))
    robot.wait(lambda: reader.diagnose()[0] == Level.WARN, 'a warning')
    assert '1 captions were not stored: the memory is read-only' in reader.diagnose()[1]
    assert robot.call(Recall, 'recall', Recall.Request()).total == 1


def test_nothing_is_deleted_by_itself(reader):
    assert figures(reader)['last retention'] == 'off'
    assert reader._housekeeping._chores == []


def test_a_disk_that_cannot_be_written_will_do(robot, reader, uri, capfd):
    assert reader.trigger_deactivate() == reader.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    with read_only(Path(uri).parent):
        robot.start(MemoryNode, uri=uri, embedder='hashing', read_only=True)
        found = robot.call(Recall, 'recall', Recall.Request(text='door'))
        assert [msg.caption for msg in found.memories] == ['a red door']
        keyframe = robot.call(GetKeyframe, 'get_keyframe', GetKeyframe.Request(id=found.memories[0].id))
        assert bytes(keyframe.image.data) == JPEG
        writer = robot.make(MemoryNode, uri=uri, embedder='hashing')
        assert writer.trigger_configure() == TransitionCallbackReturn.FAILURE
        assert 'cannot be written' in capfd.readouterr().err


def test_there_has_to_be_a_memory(robot, uri, capfd):
    node = robot.make(MemoryNode, uri=uri, embedder='hashing', read_only=True)
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert 'there is no memory at' in capfd.readouterr().err


def test_captions_that_are_too_long_are_counted_and_the_node_goes_on(robot, uri):
    node = robot.start(MemoryNode, uri=uri, embedder='hashing')
    stored = robot.listen(MemoryMsg, 'memories')
    captions = robot.talk(MemoryMsg, 'captions')
    captions.publish(caption(0, 'x' * 60_001))
    captions.publish(caption(10, 'a red door'))
    robot.wait(lambda: stored, 'the good one')
    assert (stored[0].caption, figures(node)['rejected']) == ('a red door', 1)


LONG = [
    (Recall, 'recall', Recall.Request(text='x' * 10_001)),
    (Recall, 'recall', Recall.Request(robot=['x' * 201])),
    (Remember, 'remember', Remember.Request(text='x' * 60_001)),
    (Remember, 'remember', Remember.Request(text='x', robot='x' * 201)),
    (Forget, 'forget', Forget.Request(id=['x'] * 10_001)),
]


@pytest.mark.parametrize(
    ('kind', 'name', 'request_'), LONG, ids=['text', 'robot', 'note', 'note_robot', 'id']
)
def test_requests_that_are_too_long_are_refused_with_what_is_allowed(robot, uri, kind, name, request_):
    robot.start(MemoryNode, uri=uri, embedder='hashing')
    response = robot.call(kind, name, request_)
    assert response.error_code == kind.Response.INVALID_REQUEST
    assert 'at most' in response.error_msg


def test_an_id_that_is_too_long_is_no_keyframe(robot, uri):
    robot.start(MemoryNode, uri=uri, embedder='hashing')
    response = robot.call(GetKeyframe, 'get_keyframe', GetKeyframe.Request(id='x' * 201))
    assert response.error_code == GetKeyframe.Response.NOT_FOUND


@pytest.mark.parametrize('fields', [{'question': 'x' * 10_001}, {'question': 'Where?', 'asker': 'x' * 201}])
def test_questions_that_are_too_long_are_invalid(robot, fields):
    robot.start(AgentNode, pose_source='none')
    response = robot.call(Ask, 'ask', Ask.Request(**fields))
    assert response.error_code == Ask.Response.INVALID_QUESTION
    assert 'at most' in response.error_msg


def test_a_question_by_topic_that_is_too_long_is_answered_with_the_reason(robot):
    robot.start(AgentNode, pose_source='none')
    answers = robot.listen(String, 'answer_text')
    robot.talk(String, 'question').publish(String(data='x' * 10_001))
    robot.wait(lambda: answers, 'an answer')
    assert 'at most' in answers[0].data
