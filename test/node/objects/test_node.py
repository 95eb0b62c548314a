import math
import time
from unittest.mock import Mock

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.parameter import Parameter
from visualization_msgs.msg import Marker, MarkerArray

from remembr_msgs.msg import ObjectArray
from remembr_msgs.srv import CorrectObject, FindObjects, Forget, ObjectHistory, RememberEvent
from remembr_ros.errors import DetectorFailed
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.events.node import EventsNode
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.objects import node as objects_module
from remembr_ros.nodes.objects import worker as worker_module
from remembr_ros.nodes.objects.node import ObjectsNode
from remembr_ros.objects.camera import Pinhole
from remembr_ros.objects.detectors.open_vocabulary import OpenVocabularyDetector
from remembr_ros.timestamps import NS
from test.node.objects.eyes import Eyes, mug_scene
from test.object_bag import RedThings
from test.object_scene import AHEAD, CAMERA

MUG = (1.5, 0.0, 1.0)


@pytest.fixture(autouse=True)
def detector(monkeypatch):
    made = RedThings()
    monkeypatch.setattr(objects_module, 'get_detector', lambda name, labels: made)
    return made


@pytest.fixture
def memory(robot, tmp_path):
    return robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')


def start(robot, **parameters):
    parameters = {'detector': 'onnx:red', 'pose_source': 'none', 'publish_period': 0.1} | parameters
    return robot.start(ObjectsNode, **parameters)


def listen(robot):
    return robot.listen(ObjectArray, 'objects', qos.MARKERS)


def known(heard):
    return heard[-1].objects if heard else []


def place(thing):
    at = thing.memory.pose.pose.position
    return (at.x, at.y, at.z)


def find(robot, **about):
    return robot.call(FindObjects, 'find_objects', FindObjects.Request(**about)).objects


def status(robot, heard, what):
    def told():
        for array in heard:
            for one in array.status:
                if one.name.endswith('objects: status') and (
                    what in one.message or any(what in v.key for v in one.values)
                ):
                    return one
        return None

    return robot.wait(told, what)


def test_what_is_seen_becomes_an_object_that_is_published_and_kept(robot, memory):
    node, heard = start(robot), listen(robot)
    markers = robot.listen(MarkerArray, 'object_markers', qos.MARKERS)
    eyes = Eyes(robot, node)
    eyes.show(mug_scene(), 8)
    [mug] = robot.wait(lambda: known(heard), 'an object')
    assert mug.name == 'mug'
    assert math.dist(place(mug), MUG) < 0.1
    assert not mug.memory.facts
    kinds = [m.type for m in robot.wait(lambda: [m for m in markers if m.markers[1:]], 'markers')[-1].markers]
    assert kinds[1:] == [Marker.CUBE, Marker.TEXT_VIEW_FACING]
    node.trigger_deactivate()
    [stored] = robot.wait(lambda: find(robot, called='mug'), 'stored')
    assert stored.memory.id == mug.memory.id
    assert stored.memory.keyframes


def test_one_publication_that_takes_long_does_not_silence_it(robot, memory, monkeypatch):
    late_s = 0.0
    monkeypatch.setattr(worker_module, 'time', Mock(monotonic=lambda: time.monotonic() + late_s))
    node, heard = start(robot), listen(robot)
    published = node._worker._publish

    def publish(*args):
        nonlocal late_s
        published(*args)
        late_s = 1000.0

    node._worker._publish = publish
    eyes = Eyes(robot, node)
    eyes.show(mug_scene(), 8)
    robot.wait(lambda: late_s, 'a publication')
    heard.clear()
    eyes.show(mug_scene(), 2)
    robot.wait(lambda: known(heard), 'the next one')


def test_after_a_restart_it_is_the_same_object(robot, memory):
    node, heard = start(robot), listen(robot)
    eyes = Eyes(robot, node)
    eyes.show(mug_scene(), 8)
    [mug] = robot.wait(lambda: known(heard), 'an object')
    node.trigger_deactivate()
    robot.wait(lambda: find(robot), 'stored')
    node.trigger_activate()
    heard.clear()
    eyes = Eyes(robot, node)
    eyes.now_ns = mug.memory.end.sec * NS + 2 * NS
    eyes.show(mug_scene(), 8)
    robot.wait(lambda: known(heard), 'an object again')
    robot.wait(lambda: node._worker.images >= 6, 'looked at')
    assert [one.memory.id for one in known(heard)] == [mug.memory.id]


def test_it_may_come_before_the_memory_node(robot, tmp_path):
    node, heard = start(robot), listen(robot)
    statuses = robot.listen(DiagnosticArray, '/diagnostics')
    eyes = Eyes(robot, node)
    eyes.show(mug_scene(), 8)
    assert 'memory node' in status(robot, statuses, 'objects are not stored').message
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    [mug] = robot.wait(lambda: known(heard), 'an object')
    assert mug.name == 'mug'
    assert node._worker.images == 8


def test_what_a_person_says_of_it_stays(robot, memory):
    node = start(robot)
    heard = listen(robot)
    eyes = Eyes(robot, node)
    eyes.show(mug_scene(), 60)  # so long that it is stored
    [mug] = robot.wait(lambda: find(robot), 'stored')
    said = CorrectObject.Request(action='rename', id=mug.memory.id, name='Grandpa')
    [renamed] = robot.call(CorrectObject, 'correct_object', said).objects
    assert renamed.name == 'Grandpa'
    eyes.show(mug_scene(), 60)
    robot.wait(lambda: [one for one in known(heard) if one.name == 'Grandpa'], 'the name')
    eyes.show(mug_scene(), 60)
    robot.wait(lambda: find(robot)[0].memory.end.sec > mug.memory.end.sec + 15, 'stored again')
    assert [(one.name, one.memory.id) for one in find(robot)] == [('Grandpa', mug.memory.id)]
    refused = robot.call(CorrectObject, 'correct_object', CorrectObject.Request(action='gone', id='nobody'))
    assert refused.error_code == CorrectObject.Response.INVALID_REQUEST
    events = robot.call(ObjectHistory, 'object_history', ObjectHistory.Request(id=mug.memory.id))
    assert [event.event for event in events.events] == ['seen']


def test_what_was_forgotten_does_not_come_back(robot, memory):
    node = start(robot)
    eyes = Eyes(robot, node)
    eyes.show(mug_scene(), 60)
    [mug] = robot.wait(lambda: find(robot), 'stored')
    assert robot.call(Forget, 'forget', Forget.Request(id=[mug.memory.id])).count == 1
    eyes.show(mug_scene(left=10), 130)
    [other] = robot.wait(lambda: find(robot), 'stored')
    assert other.memory.start.sec > mug.memory.end.sec


def test_a_deed_leaves_it_in_a_state(robot, memory):
    node = start(robot)
    robot.start(EventsNode, pose_source='none')
    heard = listen(robot)
    eyes = Eyes(robot, node)
    eyes.show(mug_scene(), 60)
    [mug] = robot.wait(lambda: find(robot), 'stored')
    event = RememberEvent.Request()
    event.event.kind, event.event.object = 'pick', 'mug'
    assert not robot.call(RememberEvent, 'remember_event', event).error_msg
    robot.wait(lambda: [one for one in known(heard) if one.state == 'in hand'], 'in hand')
    eyes.show(mug_scene(), 60)
    robot.wait(lambda: find(robot)[0].memory.end.sec > mug.memory.end.sec, 'stored again')
    assert find(robot)[0].state == 'in hand'
    events = robot.call(ObjectHistory, 'object_history', ObjectHistory.Request(id=mug.memory.id)).events
    assert [event.state for event in events if event.event == 'state'] == ['in hand']


def test_nothing_is_placed_where_the_pose_jumped(robot, memory):
    node, heard = start(robot), listen(robot)
    statuses = robot.listen(DiagnosticArray, '/diagnostics')
    eyes = Eyes(robot, node)
    eyes.show(mug_scene(), 60)
    [first] = robot.wait(lambda: find(robot), 'stored')
    off = ((5.0, 0.0, 1.0), AHEAD[1])
    eyes.show(mug_scene(), 30, off)
    status(robot, statuses, 'after a jump of the pose')
    eyes.show(mug_scene(), 60)
    robot.wait(lambda: node._worker.images > 100, 'looked at')
    for mug in [*known(heard), *find(robot)]:
        assert math.dist(place(mug), MUG) < 0.1
    assert [one.memory.id for one in find(robot)] == [first.memory.id]


def test_what_was_placed_before_the_pose_jumped_to_where_it_is_right_goes(robot, memory):
    node = start(robot)
    eyes = Eyes(robot, node)
    eyes.show(mug_scene(), 30)
    robot.wait(lambda: find(robot), 'stored')
    node.trigger_deactivate()
    node.trigger_activate()
    off, later_ns = ((5.0, 0.0, 1.0), AHEAD[1]), eyes.now_ns + 3600 * NS
    eyes = Eyes(robot, node)
    eyes.now_ns = later_ns
    eyes.show(mug_scene(), 30, off)
    robot.wait(lambda: len(find(robot)) == 2, 'what is there twice')
    eyes.show(mug_scene(), 60)
    [mug] = robot.wait(lambda: len(find(robot)) == 1 and find(robot), 'what is there once')
    assert math.dist(place(mug), MUG) < 0.1


def test_an_image_that_its_driver_turned_and_a_missing_pose_are_told(robot, memory):
    node = start(robot)
    statuses = robot.listen(DiagnosticArray, '/diagnostics')
    eyes, turned = Eyes(robot, node), mug_scene()
    flipped = Pinhole(CAMERA.height, CAMERA.width, CAMERA.fy, CAMERA.fx, CAMERA.cy, CAMERA.cx)
    eyes.show(mug_scene(), 3, placed=False)
    eyes.now_ns += 5 * NS
    eyes.show(mug_scene(), 3)
    status(robot, statuses, 'no pose at its time: the transform map -> ')
    eyes.show(turned, 3, camera=flipped)
    assert 'camera info' in status(robot, statuses, 'camera info').message


def test_prompts_change_while_it_runs(robot, memory, monkeypatch):
    made = OpenVocabularyDetector('nowhere', ['mug'])
    monkeypatch.setattr(objects_module, 'get_detector', lambda name, labels: made)
    node = start(robot, detector='transformers:nowhere')

    def put(prompts):
        return node.set_parameters([Parameter('prompts', Parameter.Type.STRING_ARRAY, prompts)])[0].successful

    assert made.prompts == ('mug',)
    assert put(['Red cup', 'bowl.'])
    assert made.prompts == ('red cup', 'bowl')
    assert not put(['a'] * 81)
    assert put([])
    assert made.prompts == ('mug',)


def test_a_detector_that_fails_and_recovers(robot, memory, detector, monkeypatch):
    node = start(robot)
    heard, statuses = listen(robot), robot.listen(DiagnosticArray, '/diagnostics')
    eyes, works = Eyes(robot, node), detector.detect

    for error in (DetectorFailed('no model'), ZeroDivisionError('no luck')):
        monkeypatch.setattr(detector, 'detect', Mock(side_effect=error))
        eyes.show(mug_scene(), 4)
        status(robot, statuses, str(error))
    detector.detect = works
    eyes.show(mug_scene(), 8)
    robot.wait(lambda: known(heard), 'an object')
