import base64
import json

import pytest

from remembr_msgs.srv import FindDeeds, FindObjects, RememberEvent
from remembr_ros.images import decode_compressed
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.events.node import EventsNode
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.objects import node as objects_module
from remembr_ros.nodes.objects.node import ObjectsNode
from remembr_ros.objects.detectors.detection import Detection
from remembr_ros.timestamps import NS
from test.node.objects.eyes import OPTICAL, Eyes
from test.object_bag import RedThings
from test.object_scene import T0, Scene
from test.scripted.server import ScriptedReply, ScriptedServer


def two_mugs() -> Scene:
    scene = Scene()
    scene.put((30, 50, 50, 75), 1.2, (30, 30, 200))
    scene.put((100, 50, 120, 75), 1.2, (30, 30, 200))
    return scene


def both(red: Detection) -> list[Detection]:
    boxes = [(30.0, 50.0, 50.0, 75.0), (100.0, 50.0, 120.0, 75.0)]
    return [Detection(red.stamp_ns, '', box, {'mug': 0.9}) for box in boxes]


@pytest.fixture
def mugs(robot, tmp_path, monkeypatch):
    """Return a function that brings up the nodes, shows two mugs and returns the left and the right one."""
    monkeypatch.setattr(objects_module, 'get_detector', lambda name, labels: RedThings(both))
    robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')
    robot.start(EventsNode, pose_source='none')

    def up(**parameters):
        about = {'detector': 'onnx:red', 'pose_source': 'none', 'publish_period': 0.1}
        node = robot.start(ObjectsNode, **about, **parameters)
        Eyes(robot, node).show(two_mugs(), 60)
        found = robot.wait(lambda: len(find(robot)) == 2 and find(robot), 'both are stored')
        return sorted(found, key=lambda one: -one.memory.pose.pose.position.y)

    return up


def find(robot):
    return robot.call(FindObjects, 'find_objects', FindObjects.Request()).objects


def tell(robot, kind, what):
    request = RememberEvent.Request()
    request.event.kind, request.event.object = kind, what
    request.event.end = time_to_msg(T0 + 11 * NS)  # as the last of the images
    assert not robot.call(RememberEvent, 'remember_event', request).error_msg


def green(call) -> int:
    """Return how many pixels of the first picture are those of drawn boxes."""
    parts = call['messages'][-1]['content']
    url = next(part['image_url']['url'] for part in parts if part['type'] == 'image_url')
    image = decode_compressed('jpeg', base64.b64decode(url.partition(',')[2]))
    return int(((image[..., 1] > 180) & (image[..., 2] < 120)).sum())


def deed(robot):
    """Return the facts of the deed: its object is stored before it is."""

    def told():
        facts = json.loads(robot.call(FindDeeds, 'find_deeds', FindDeeds.Request()).deeds[0].facts)
        return 'object_id' in facts and facts

    return robot.wait(told, 'the object of the deed')


def test_a_model_that_sees_the_boxes_tells_which_one_and_how_it_is(robot, mugs):
    with ScriptedServer(lambda call: ScriptedReply('{"object": 2, "state": "Half full."}')) as server:
        left, right = mugs(look_url=server.url, look_model='eye')
        tell(robot, 'pick', 'mug')
        robot.wait(lambda: [one for one in find(robot) if one.state], 'a state')
        states = {one.memory.id: one.state for one in find(robot)}
        call = server.requests[0].body
    assert states == {left.memory.id: '', right.memory.id: 'half full'}
    told = deed(robot)
    assert told['object_id'] == right.memory.id
    assert told['details'] == {'object_by': 'model', 'state': 'half full'}
    assert green(call) > 100


def test_what_the_model_says_makes_no_sense_or_it_is_away(robot, mugs):
    with ScriptedServer(lambda call: ScriptedReply('I cannot see any mug')) as server:
        left, right = mugs(look_url=server.url, look_model='eye')
        tell(robot, 'pick', left.memory.id)
        robot.wait(lambda: [one for one in find(robot) if one.state == 'in hand'], 'a state')
    states = {one.memory.id: one.state for one in find(robot)}
    assert states == {left.memory.id: 'in hand', right.memory.id: ''}


def test_without_a_model_the_gripper_tells(robot, mugs):
    mugs(gripper_frame=OPTICAL)
    tell(robot, 'pick', 'mug')
    robot.wait(lambda: [one for one in find(robot) if one.state == 'in hand'], 'a state')
    assert deed(robot)['details'] == {'object_by': 'sight'}
