import math
import threading
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import Point, PointStamped
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from visualization_msgs.msg import MarkerArray

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Forget, GetKeyframe, Recall, Remember
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import time_from_msg, time_to_msg
from remembr_ros.nodes.base.memory_conversion import observation_to_msg
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS
JPEG = encode_jpeg(np.zeros((8, 8, 3), np.uint8))


def caption(second: float, text: str, x: float = 0.0, **fields) -> MemoryMsg:
    start = T0 + round(second * NS)
    memory = Memory('', 'robot', start, start + 3 * NS, text, Pose(x, 0.0, 0.0, 1.0), **fields)
    return observation_to_msg(Observation(memory, (JPEG,)))


@pytest.fixture
def memory(robot, tmp_path: Path):
    return robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')


def remember_three(robot) -> list[MemoryMsg]:
    stored = robot.listen(MemoryMsg, 'memories')
    captions = robot.talk(MemoryMsg, 'captions')
    for second, text, x in ((0, 'a red fire extinguisher', 1.0), (10, 'a kitchen', 5.0), (20, 'a lift', 9.0)):
        captions.publish(caption(second, text, x))
    robot.wait(lambda: len(stored) >= 3, 'three stored memories')
    return stored


def test_captions_are_stored_published_and_found_by_text(robot, memory):
    stored = remember_three(robot)
    assert all(msg.id and not msg.keyframe_images and msg.keyframes for msg in stored)
    found = robot.call(Recall, 'recall', Recall.Request(text='fire extinguisher', limit=1))
    assert (found.error_code, found.total) == (Recall.Response.NONE, 3)
    assert [m.caption for m in found.memories] == ['a red fire extinguisher']
    assert found.memories[0].start == time_to_msg(T0)
    assert math.isnan(found.memories[0].distance)


def test_recall_by_place_time_and_newest(robot, memory):
    remember_three(robot)
    place = Recall.Request(position=Point(x=5.5))
    assert [m.caption for m in robot.call(Recall, 'recall', place).memories][:2] == ['a kitchen', 'a lift']
    place.radius = 1.0
    found = robot.call(Recall, 'recall', place)
    assert [m.caption for m in found.memories] == ['a kitchen']
    assert found.memories[0].distance == pytest.approx(0.5)
    at = Recall.Request(time=time_to_msg(T0 + 25 * NS))
    found = robot.call(Recall, 'recall', at)
    assert found.memories[0].caption == 'a lift'
    assert found.memories[0].time_offset == pytest.approx(-2.0)
    newest = robot.call(Recall, 'recall', Recall.Request(before=time_to_msg(T0 + 15 * NS)))
    assert [m.caption for m in newest.memories] == ['a kitchen', 'a red fire extinguisher']


def test_every_one_of_many_requests_at_once_gets_a_response(robot, memory):
    client = robot.client.create_client(Recall, 'recall', qos_profile=qos.SERVICES)
    assert client.wait_for_service(10.0)
    # A busy moment: all of them are there before the node looks at the first.
    busy, released = threading.Event(), threading.Event()
    robot.executor.create_task(lambda: (busy.set(), released.wait(20.0)))
    assert busy.wait(10.0)
    responses = [client.call_async(Recall.Request(text='a lift')) for _ in range(50)]
    released.set()
    robot.wait(lambda: all(response.done() for response in responses), 'fifty responses')


def test_text_ranks_and_the_place_is_measured(robot, memory):
    remember_three(robot)
    request = Recall.Request(text='lift', position=Point(x=1.0))
    first = robot.call(Recall, 'recall', request).memories[0]
    assert (first.caption, first.distance) == ('a lift', pytest.approx(8.0))


def test_captions_of_others_are_kept_by_sending_them_again_until_they_are_on_memories(robot, tmp_path):
    stored = robot.listen(MemoryMsg, 'memories')
    talker = robot.client.create_publisher(MemoryMsg, 'captions', qos.CAPTIONS)
    kept = [caption(second, f'door {second}') for second in range(0, 15, 3)]
    for msg in kept:
        talker.publish(msg)  # to nobody
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing', consolidate=False)
    robot.wait(talker.get_subscription_count, 'the memory node')
    later = caption(30, 'a window')
    robot.wait(lambda: talker.publish(later) or stored, 'what is published now')
    assert {msg.caption for msg in stored} == {'a window'}

    def unstored() -> list[MemoryMsg]:
        return [msg for msg in kept if not any(is_stored_by(msg, memory) for memory in stored)]

    for msg in unstored():
        talker.publish(msg)
    robot.wait(lambda: not unstored(), 'all of them')
    found = robot.call(Recall, 'recall', Recall.Request(limit=20)).memories
    assert sorted(msg.caption for msg in found) == sorted(['a window', *(msg.caption for msg in kept)])


def is_stored_by(msg: MemoryMsg, memory: MemoryMsg) -> bool:
    """Tell whether a caption is in a memory, as docs/nodes.md says."""
    start, end = time_from_msg(memory.start), time_from_msg(memory.end)
    same = (msg.robot, msg.camera) == (memory.robot, memory.camera)
    return same and start <= time_from_msg(msg.start) <= end


def test_garbage_captions_are_rejected_and_the_node_goes_on(robot, memory):
    captions = robot.talk(MemoryMsg, 'captions')
    stored = robot.listen(MemoryMsg, 'memories')
    nan, backwards, strange = caption(0, 'nan'), caption(1, 'backwards'), caption(2, 'strange')
    nan.pose.pose.position.x = math.nan
    backwards.end = time_to_msg(T0 - NS)
    strange.source = 'nobody'
    long_name = caption(3, 'bad name')
    long_name.robot = 'x' * 1000
    for msg in (nan, backwards, strange, long_name, caption(4, 'good')):
        captions.publish(msg)
    robot.wait(lambda: stored, 'the good caption')
    assert [m.caption for m in stored] == ['good']
    robot.wait(lambda: memory.diagnose()[2]['rejected'] == 4, 'four rejected captions')


def test_notes_are_remembered_with_place_and_two_of_the_same_instant_stay_two(robot, memory):
    request = Remember.Request(text='The key is under the mat.', use_pose=True, robot='r2', map='cellar')
    request.pose.header.stamp = time_to_msg(T0)
    request.pose.header.frame_id = 'odom'
    request.pose.pose.position.x = 2.0
    request.pose.pose.orientation.w = 1.0
    first = robot.call(Remember, 'remember', request)
    assert robot.call(Remember, 'remember', request).id == first.id
    request.text = 'The bin is full.'
    second = robot.call(Remember, 'remember', request)
    assert first.id != second.id
    found = robot.call(Recall, 'recall', Recall.Request(text='key', source='person', robot=['r2'])).memories
    assert found[0].caption == 'The key is under the mat.'
    assert (found[0].placed, found[0].pose.pose.position.x) == (True, 2.0)
    assert (found[0].pose.header.frame_id, found[0].map_id) == ('odom', 'cellar')


def test_no_note_is_lost_when_many_come_at_the_same_instant(robot, memory):
    client = robot.client.create_client(Remember, 'remember')
    assert client.wait_for_service(10.0)
    request = Remember.Request()
    request.pose.header.stamp = time_to_msg(T0)
    responses = []
    for i in range(8):
        request.text = f'note {i}'
        responses.append(client.call_async(request))
    robot.wait(lambda: all(response.done() for response in responses), 'eight acknowledgements')
    assert len({response.result().id for response in responses}) == 8
    found = robot.call(Recall, 'recall', Recall.Request(source='person', limit=20)).memories
    assert sorted(msg.caption for msg in found) == [f'note {i}' for i in range(8)]


@pytest.mark.parametrize('text', ['', '  '])
def test_a_note_without_text_is_refused(robot, memory, text):
    response = robot.call(Remember, 'remember', Remember.Request(text=text))
    assert response.error_code == Remember.Response.INVALID_REQUEST
    assert 'text' in response.error_msg


def test_a_note_with_a_broken_pose_is_refused(robot, memory):
    request = Remember.Request(text='here', use_pose=True)
    request.pose.pose.position.y = math.inf
    assert robot.call(Remember, 'remember', request).error_code == Remember.Response.INVALID_REQUEST


def test_forget_needs_a_condition_and_deletes_what_it_says(robot, memory):
    stored = remember_three(robot)
    assert robot.call(Forget, 'forget', Forget.Request()).error_code == Forget.Response.INVALID_REQUEST
    no_radius = Forget.Request(use_near=True)
    assert robot.call(Forget, 'forget', no_radius).error_code == Forget.Response.INVALID_REQUEST
    assert robot.call(Forget, 'forget', Forget.Request(id=[stored[0].id])).count == 1
    near = Forget.Request(near=Point(x=5.0), radius=1.0)
    assert robot.call(Forget, 'forget', near).count == 1
    left = robot.call(Recall, 'recall', Recall.Request()).memories
    assert [m.caption for m in left] == ['a lift']
    assert robot.call(Forget, 'forget', Forget.Request(after=time_to_msg(T0 + 15 * NS))).count == 1


def test_keyframes_come_back(robot, memory):
    stored = remember_three(robot)
    response = robot.call(GetKeyframe, 'get_keyframe', GetKeyframe.Request(id=stored[0].id))
    assert bytes(response.image.data) == JPEG
    assert response.image.header.stamp == stored[0].start
    for request in (GetKeyframe.Request(id='nothing'), GetKeyframe.Request(id=stored[0].id, index=1)):
        response = robot.call(GetKeyframe, 'get_keyframe', request)
        assert response.error_code == GetKeyframe.Response.NOT_FOUND


@pytest.mark.parametrize(
    'request_',
    [
        Recall.Request(position=Point(x=math.nan)),
        Recall.Request(position=Point(y=math.inf)),
        Recall.Request(near=Point(x=math.nan), radius=1.0),
        Recall.Request(use_position=True, radius=-1.0),
        Recall.Request(use_position=True, radius=math.nan),
        Recall.Request(radius=1.0),
        Recall.Request(source='nobody'),
        Recall.Request(around=True, position=Point(x=1.0), use_time=True),
        Recall.Request(limit=1001),
    ],
)
def test_requests_without_sense_are_refused(robot, memory, request_):
    response = robot.call(Recall, 'recall', request_)
    assert response.error_code == Recall.Response.INVALID_REQUEST
    assert response.error_msg


def test_markers_are_kept_for_an_rviz_that_starts_late(robot, memory):
    remember_three(robot)
    seen = robot.listen(MarkerArray, 'memory_markers', qos.MARKERS)
    robot.wait(lambda: seen and len(seen[-1].markers[1].points) == 3, 'markers of three memories')
    assert seen[-1].markers[1].header.frame_id == 'map'


def test_a_click_in_rviz_shows_what_was_seen_there(robot, memory):
    remember_three(robot)
    seen = robot.listen(MarkerArray, 'memory_markers', qos.MARKERS)
    click = PointStamped(point=Point(x=5.2, y=0.3))
    click.header.frame_id = 'map'
    robot.talk(PointStamped, 'clicked_point').publish(click)

    def described() -> list[str]:
        return [marker.text for marker in seen[-1].markers if marker.ns == 'selected'] if seen else []

    (text,) = robot.wait(described, 'a description')
    assert text.endswith('a kitchen')


@pytest.mark.parametrize('wrong', [{'uri': '/proc/none/m.db'}, {'embedder': '/no/such/model'}])
def test_configure_fails_readably_and_can_be_tried_again(robot, tmp_path, capfd, wrong):
    parameters = {'uri': str(tmp_path / 'm.db'), 'embedder': 'hashing'}
    node = robot.make(MemoryNode, **(parameters | wrong))
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    assert 'cannot configure: ' in capfd.readouterr().err
    node.set_parameters([Parameter(name, value=value) for name, value in parameters.items()])
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert robot.call(Recall, 'recall', Recall.Request()).error_code == Recall.Response.NONE


def test_memories_outlive_the_life_cycle_and_parameters_wait_for_it(robot, memory):
    remember_three(robot)
    assert not memory.set_parameters([Parameter('uri', value='elsewhere.db')])[0].successful
    assert memory.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    assert memory.trigger_cleanup() == TransitionCallbackReturn.SUCCESS
    assert memory.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert memory.trigger_activate() == TransitionCallbackReturn.SUCCESS
    assert robot.call(Recall, 'recall', Recall.Request()).total == 3
