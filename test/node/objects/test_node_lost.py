"""A robot that does not know where it is, whose clock jumps, or whose memory node is away: no ghosts come."""

import math

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseWithCovarianceStamped

from remembr_msgs.srv import CorrectObject
from remembr_ros.nodes.base.conversions import time_to_msg
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.objects import node as objects_module
from remembr_ros.nodes.objects.node import ObjectsNode
from remembr_ros.objects.alignment import AGREED
from remembr_ros.objects.detectors.detection import Detection
from remembr_ros.objects.recorded_views import EVERY_NS
from remembr_ros.timestamps import NS
from test.node.objects.eyes import Eyes
from test.node.objects.test_node import find, place, status
from test.object_scene import AHEAD, CAMERA, T0, Scene

COLOURS = {'mug': (30, 30, 200), 'bowl': (200, 60, 30), 'vase': (30, 160, 30)}
LEFT = {'mug': 10, 'bowl': 70, 'vase': 40}
"""Where in the image each begins [px]."""
OFF = ((5.0, 0.0, 1.0), AHEAD[1])
"""Where the robot believes its camera to be when it is lost."""
RATE = 5  # images a second
KEPT = 12 * RATE  # images after which what was seen is stored


class ColourThings:
    """A detector of things, each of one colour."""

    name = 'colours'

    def detect(self, image, stamp_ns, camera=''):
        found = []
        for label, bgr in COLOURS.items():
            rows, columns = np.nonzero((image == bgr).all(axis=2))
            if len(rows):
                box = (float(columns.min()), float(rows.min()), columns.max() + 1.0, rows.max() + 1.0)
                found.append(Detection(stamp_ns, camera, box, {label: 0.9}))
        return found

    def close(self) -> None:
        pass


@pytest.fixture(autouse=True)
def detector(monkeypatch):
    monkeypatch.setattr(objects_module, 'get_detector', lambda name, labels: ColourThings())


@pytest.fixture
def memory(robot, tmp_path):
    return robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')


def things(*labels: str, right: int = 0) -> Scene:
    """Return things 1.5 m ahead of the camera, so many pixels further to the right."""
    scene = Scene()
    for label in labels:
        left = LEFT[label] + right
        scene.put((left, 50, left + 20, 75), 1.5, COLOURS[label])
    return scene


HOME = things('mug', 'bowl')


def start(robot, **parameters):
    node = robot.start(
        ObjectsNode, **{'detector': 'onnx:colours', 'pose_source': 'none', 'publish_period': 0.1} | parameters
    )
    return node, Eyes(robot, node)


def stored(robot):
    """Return where each thing is that is stored, by its id and its name."""
    return {(one.memory.id, one.name): place(one) for one in find(robot)}


def end(robot, node):
    """Return what is stored once the node was taken out of service."""
    node.trigger_deactivate()
    assert node._worker.ended(10.0)
    return stored(robot)


def assert_as_before(found, before) -> None:
    assert sorted(name for _, name in before) == ['bowl', 'mug']
    assert found.keys() == before.keys()
    for key, at in found.items():
        assert math.dist(at, before[key]) < 0.03


def test_nothing_is_placed_while_localisation_is_poor(robot, memory):
    node, eyes = start(robot, pose_source='pose_with_covariance')
    poses = robot.talk(PoseWithCovarianceStamped, 'pose_with_covariance', 10)
    statuses = robot.listen(DiagnosticArray, '/diagnostics')

    def localise(variance):
        told = PoseWithCovarianceStamped()
        told.header.frame_id, told.header.stamp = 'map', time_to_msg(eyes.now_ns)
        told.pose.covariance[0] = told.pose.covariance[7] = variance
        poses.publish(told)
        robot.wait(lambda: bool(node._poses.problem) == (variance > 1.0), 'the pose')

    localise(0.01)
    eyes.show(HOME, KEPT)
    before = robot.wait(lambda: stored(robot), 'stored')
    eyes.now_ns += NS // RATE
    localise(25.0)
    eyes.show(HOME, 3 * KEPT, OFF)
    assert 'standard deviation of' in status(robot, statuses, 'images whose pose was poor').message
    robot.wait(lambda: node._worker.left_out['images whose pose was poor'] == 3 * KEPT, 'left out')
    eyes.now_ns += NS // RATE
    localise(0.01)
    eyes.show(HOME, KEPT)
    robot.wait(lambda: node._worker.images == 2 * KEPT, 'looked at again')
    assert_as_before(end(robot, node), before)


@pytest.mark.parametrize('seconds', [12, 30])
def test_nothing_is_placed_while_the_camera_is_elsewhere_in_tf(robot, memory, seconds):
    node, eyes = start(robot)
    eyes.show(HOME, KEPT)
    before = robot.wait(lambda: stored(robot), 'stored')
    looked_at = node._worker.images
    eyes.show(HOME, seconds * RATE, OFF)
    eyes.show(HOME, KEPT)
    robot.wait(lambda: node._worker.images >= looked_at + KEPT - AGREED, 'looked at again')
    assert node._worker.left_out['images after a jump of the pose'] >= seconds * RATE
    assert_as_before(end(robot, node), before)


def test_where_known_things_are_seen_again_after_a_jump_it_goes_on(robot, memory):
    node, eyes = start(robot)
    eyes.show(HOME, KEPT)
    before = robot.wait(lambda: stored(robot), 'stored')
    looked_at = node._worker.images
    aside, shift = ((0.0, 0.7, 1.0), AHEAD[1]), round(0.7 / 1.5 * CAMERA.fx)
    eyes.show(things('mug', 'bowl', right=shift), 1, aside, every_ns=EVERY_NS)
    eyes.show(things('mug', 'bowl', right=shift), KEPT, aside)
    robot.wait(lambda: node._worker.images >= looked_at + KEPT - AGREED, 'looked at again')
    assert 0 < node._worker.left_out['images after a jump of the pose'] <= AGREED
    assert_as_before(end(robot, node), before)


def test_a_robot_that_starts_at_a_wrong_place_leaves_no_ghosts_once_it_is_localised(robot, memory):
    node, eyes = start(robot)
    eyes.show(HOME, KEPT)
    before = robot.wait(lambda: stored(robot), 'stored')
    end(robot, node)
    node.trigger_activate()
    now_ns, eyes = eyes.now_ns, Eyes(robot, node)
    eyes.now_ns = now_ns
    eyes.show(HOME, 8 * RATE, OFF)
    robot.wait(lambda: node._worker.objects == 2 * len(before), 'ghosts')
    eyes.show(HOME, KEPT)
    robot.wait(lambda: node._worker.images >= 8 * RATE + KEPT - AGREED, 'looked at again')
    assert_as_before(end(robot, node), before)


def test_what_is_new_is_stored_at_the_end_though_a_person_changed_something_just_before(robot, memory):
    node, eyes = start(robot)
    eyes.show(HOME, KEPT)
    before = robot.wait(lambda: stored(robot), 'stored')
    eyes.show(things('mug', 'bowl', 'vase'), RATE)
    robot.wait(lambda: node._worker.objects == len(before) + 1, 'the vase')
    [mug] = [identity for identity, name in before if name == 'mug']
    said = CorrectObject.Request(action='rename', id=mug, name='chalice')
    assert not robot.call(CorrectObject, 'correct_object', said).error_msg
    assert sorted(name for _, name in end(robot, node)) == ['bowl', 'chalice', 'vase']


def test_a_clock_that_starts_over(robot, memory):
    node, eyes = start(robot)
    eyes.show(HOME, 2 * KEPT)
    before = robot.wait(lambda: stored(robot), 'stored')
    eyes.now_ns = T0
    eyes.show(HOME, KEPT)
    robot.wait(lambda: node._worker.images == 3 * KEPT, 'looked at')
    eyes.show(things('mug', 'bowl', 'vase'), 2 * KEPT)
    robot.wait(lambda: node._worker.images == 5 * KEPT, 'looked at')
    found = end(robot, node)
    assert sorted(name for _, name in found) == ['bowl', 'mug', 'vase']
    assert before.keys() < found.keys()


def test_a_memory_node_that_was_away_gets_all_that_was_seen_meanwhile(robot, memory):
    node, eyes = start(robot)
    eyes.show(HOME, KEPT)
    before = robot.wait(lambda: stored(robot), 'stored')
    memory.trigger_deactivate()
    eyes.show(things('mug', 'bowl', 'vase'), KEPT)
    robot.wait(lambda: node._worker.storing, 'told that nothing is stored')
    memory.trigger_activate()
    eyes.show(HOME, 2 * KEPT)
    robot.wait(lambda: not node._worker.storing, 'told that it is stored')
    found = robot.wait(lambda: len(now := stored(robot)) == 3 and now, 'stored')
    assert before.keys() < found.keys()
    assert sorted(name for _, name in end(robot, node)) == ['bowl', 'mug', 'vase']
