"""What other programs detect, on real topics: the same objects as by a detector of the node's own."""

import gc
import math
import os
from collections import Counter
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from vision_msgs.msg import Detection2DArray, Detection3DArray, LabelInfo

from remembr_msgs.msg import ObjectArray
from remembr_msgs.srv import FindObjects
from remembr_ros.geometry import compose
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.objects import node as objects_module
from remembr_ros.nodes.objects.node import ObjectsNode
from remembr_ros.objects.camera import Pinhole
from remembr_ros.objects.detectors.detection import MOST
from test.node.objects.eyes import OPTICAL, Eyes, mug_scene
from test.node.objects.test_node import known, place, status
from test.object_scene import Scene
from test.vision_messages import ToldHome, VisionMessages

BOXES_ONLY = ',box_px=0.001'
"""Of the simulated detector: with it there are no masks, which nobody can tell in a message."""
QUARTER = ((0.0, 0.0, 0.0), (0.0, 0.0, -math.sqrt(0.5), math.sqrt(0.5)))
"""A turn of the optical frame by 90 degrees about the direction it looks in."""
TOO_MANY = 10_000  # boxes in one message
MORE_MIB = 50.0  # of memory that two such messages may leave
SOON_S = 2.0  # [s] after which it follows what comes after them
MUG_BOX = (70.0, 50.0, 90.0, 75.0)


class RosMessages(dict):
    """The classes of ROS messages, by names such as 'vision_msgs/msg/Detection2D'."""

    def __missing__(self, name):
        package, kind = name.split('/msg/')
        return getattr(import_module(f'{package}.msg'), kind)


VISION = VisionMessages(RosMessages())


@pytest.fixture(scope='module')
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a recorded home: some 80 images of a drive through one room."""
    pytest.importorskip('remembr_bench', reason='needs the worlds of remembr_bench')
    from remembr_bench.simulation.homes.home_bag import record_home
    from remembr_bench.simulation.homes.layout import generate_home

    folder, whole = tmp_path_factory.mktemp('home'), generate_home(12, 1)
    visit = replace(whole.visits[0], corners=whole.visits[0].corners[:3])
    record_home(folder, replace(whole, visits=(visit,)))
    return folder


@pytest.fixture
def memory(robot, tmp_path):
    return robot.start(MemoryNode, uri=str(tmp_path / 'm.db'), embedder='hashing')


class Drive:
    """A robot that drives through a home, as it is recorded, and tells nodes what it sees."""

    def __init__(self, robot, home: Path, errors: str = '') -> None:
        self._robot, self._model = robot, f'simulation:{home}{errors}'
        self.told = ToldHome(home, errors)

    def own(self, seen=None, name='own'):
        """Return the objects of a node with a detector of its own."""
        return self._objects(name, seen or self.told.seen, detector=self._model)

    def of_told(self, kind, **parameters):
        """Return the objects of a node that is told what is found, in arrays of this kind."""
        topic = 'detections' if kind == '2D' else 'detections_3d'
        return self._objects(kind, self.told.seen, detector=topic, **parameters)

    def _objects(self, name, seen, **parameters):
        parameters = {'robot': name, 'pose_source': 'none'} | parameters
        node, tells = self._robot.start(ObjectsNode, **parameters), None
        eyes = Eyes(self._robot, node, depth=parameters.get('depth', True))
        if parameters['detector'].startswith('detections'):
            tells = Tells(self._robot, node, parameters['detector'])
            tells.names(self.told.labels(VISION))
        for view, found in seen:
            eyes.now_ns = view.stamp_ns
            eyes.place(view.stamp_ns, view.pose)
            eyes.place(view.stamp_ns, view.pose, 'base_link')  # from where things in the map were seen
            eyes.publish(view.camera, view.image, view.camera, view.depth.metres)
            if tells is not None:
                tells.tell(self.told.told(VISION, view, found, name))
        worker = node._worker
        self._robot.wait(lambda: worker.images == len(seen), 'all images')
        assert not +worker.left_out
        node.trigger_deactivate()
        assert worker.ended(10.0)
        request = FindObjects.Request(robot=[name], limit=1000)
        return self._robot.call(FindObjects, 'find_objects', request).objects


class Tells:
    """Publishes what another program detects, each array when the last one is taken."""

    def __init__(self, robot, node, topic='detections') -> None:
        self._robot, self._node = robot, node
        kind = Detection2DArray if topic == 'detections' else Detection3DArray
        self._array = robot.talk(kind, topic, 10)
        self._labels = robot.talk(LabelInfo, 'label_info', qos.TF_STATIC)

    def names(self, labels) -> None:
        """Publish what classes are called."""
        before = self._node._detector._names
        self._labels.publish(labels)
        self._robot.wait(lambda: self._node._detector._names is not before, 'the names')

    def tell(self, array) -> None:
        before = self._node._last_told
        self._array.publish(array)
        self._robot.wait(lambda: self._node._last_told > before, 'an array')
        self._robot.wait(lambda: not self._node._worker._waiting['detections'], 'an array')

    def mugs(self, eyes: Eyes, times: int = 1, label: str = '40', scene: Scene | None = None) -> None:
        """Show a mug and tell that it is there; of another scene, that there is none."""
        for _ in range(times):
            eyes.show(scene or mug_scene())
            found = [] if scene else [VISION.flat(MUG_BOX, {label: 0.9})]
            self.tell(VISION.array(eyes.now_ns, OPTICAL, found))


def assert_same(found, expected) -> None:
    """Check that objects are called alike, and each lies within 5 cm of where it is to be."""
    assert Counter(one.name for one in found) == Counter(one.name for one in expected)
    assert len(expected) > 15
    left = list(found)
    for one in expected:
        alike = [other for other in left if other.name == one.name]
        nearest = min(alike, key=lambda other: math.dist(place(other), place(one)))
        left.remove(nearest)
        assert math.dist(place(nearest), place(one)) < 0.05, one.name


def memory_mib() -> float:
    """Return how much memory this process has [MiB]."""
    pages = int(Path('/proc/self/statm').read_text().split()[1])
    return pages * os.sysconf('SC_PAGE_SIZE') / 2**20


def test_boxes_in_images_become_the_objects_of_the_nodes_own_detector(robot, memory, home):
    drive = Drive(robot, home, BOXES_ONLY)
    found, expected = drive.of_told('2D'), drive.own()
    assert_same(found, expected)
    assert {one.colour for one in found} == {one.colour for one in expected}


def test_boxes_in_space_become_the_same_without_depth(robot, memory, home):
    drive = Drive(robot, home)
    expected = drive.own()
    assert_same(drive.of_told('3D', depth=False), expected)
    assert_same(drive.of_told('map', depth=False), expected)


class OnSide:
    """A detector of a camera that is mounted on its side: it finds what another found in upright images."""

    name = 'on side'

    def __init__(self, seen) -> None:
        self.views, self._found = [], {}
        for view, found in seen:
            self.views.append((_on_side(view), found))
            self._found[view.stamp_ns] = [_box_on_side(one, view.camera.height) for one in found]

    def detect(self, image, stamp_ns, camera=''):
        return self._found[stamp_ns]

    def close(self) -> None:
        pass


def _on_side(view):
    camera, height, pose = view.camera, view.camera.height, compose(view.pose, QUARTER)
    on_side = Pinhole(height, camera.width, camera.fy, camera.fx, height - 1.0 - camera.cy, camera.cx)
    deep = replace(view.depth, metres=np.rot90(view.depth.metres, -1))
    return replace(view, camera=on_side, image=np.rot90(view.image, -1), depth=deep, pose=pose)


def _box_on_side(one, height):
    left, top, right, bottom = one.box
    return replace(one, box=(height - bottom, left, height - top, right), mask=np.rot90(one.mask, -1))


def test_a_camera_that_is_mounted_on_its_side_sees_the_same(robot, memory, home, monkeypatch):
    drive = Drive(robot, home)
    expected, detector = drive.own(), OnSide(drive.told.seen)
    monkeypatch.setattr(objects_module, 'get_detector', lambda name, labels: detector)
    assert_same(drive.own(detector.views, 'on side'), expected)


def start(robot, **parameters):
    node = robot.start(
        ObjectsNode, **{'detector': 'detections', 'pose_source': 'none', 'publish_period': 0.1} | parameters
    )
    return node, Eyes(robot, node), Tells(robot, node)


def test_an_image_that_its_driver_turned_is_refused_with_words(robot, memory):
    (node, eyes, tells), statuses = start(robot), robot.listen(DiagnosticArray, '/diagnostics')
    scene = mug_scene()
    scene.bgr = np.rot90(scene.bgr)
    tells.mugs(eyes, 5, scene=scene)
    told = status(robot, statuses, 'turned by N degrees')
    assert 'its camera info is of' in told.message
    assert node._worker.images == 0


def test_what_numbers_stand_for_may_change_while_it_runs(robot, memory):
    (_, eyes, tells), heard = start(robot), robot.listen(ObjectArray, 'objects', qos.MARKERS)
    names = []
    for name, times in (('', 4), ('cup', 8), ('mug', 24)):
        if name:
            tells.names(VISION.labels({40: name}))
        tells.mugs(eyes, times)
        [one] = robot.wait(lambda: known(heard), 'an object')
        robot.wait(lambda name=name: known(heard)[0].name == (name or 'class 40'), 'its name')
        names.append((len(known(heard)), one.memory.id))
    assert len(set(names)) == 1


def test_ten_thousand_boxes_are_counted_and_the_next_are_followed(robot, memory):
    (node, eyes, tells), heard = start(robot), robot.listen(ObjectArray, 'objects', qos.MARKERS)
    statuses = robot.listen(DiagnosticArray, '/diagnostics')
    rng, used = np.random.default_rng(0), []
    corners = rng.uniform((0.0, 0.0), (130.0, 90.0), (TOO_MANY, 2)).tolist()
    crowd = [VISION.flat((x, y, x + 20.0, y + 20.0), {'99': 0.5}) for x, y in corners]
    for _ in range(3):
        eyes.show(mug_scene())
        tells.tell(VISION.array(eyes.now_ns, OPTICAL, crowd))
        robot.wait(lambda: node._worker.images == len(used) + 1, 'a crowd')
        gc.collect()
        used.append(memory_mib())
    assert used[-1] - used[1] < MORE_MIB
    told = status(robot, statuses, 'detections beyond the number that fits a frame')
    counts = {value.key: value.value for value in told.values}
    assert int(counts['left out: detections beyond the number that fits a frame']) >= TOO_MANY - MOST
    tells.names(VISION.labels({40: 'mug'}))
    tells.mugs(eyes)
    robot.wait(lambda: node._worker.images == len(used) + 1, 'what comes next', SOON_S)
    tells.mugs(eyes, 7)
    robot.wait(lambda: [one for one in known(heard) if one.name == 'mug'], 'the mug')


def test_nothing_is_missing_because_the_detector_is_silent(robot, memory, monkeypatch):
    monkeypatch.setattr(objects_module, 'SILENT_S', 0.5)
    (node, eyes, tells), heard = start(robot), robot.listen(ObjectArray, 'objects', qos.MARKERS)
    tells.mugs(eyes, 10)
    robot.wait(lambda: known(heard), 'an object')
    statuses = robot.listen(DiagnosticArray, '/diagnostics')
    eyes.show(Scene(), 20)
    assert 'no detections for' in status(robot, statuses, 'no detections for').message
    assert node._worker.images == 10
    assert [one.presence for one in known(heard)] == ['present']
    tells.mugs(eyes, 20, scene=Scene())
    robot.wait(lambda: [one for one in known(heard) if one.presence == 'missing'], 'missing')


def test_what_is_told_without_a_frame_is_of_the_image_of_its_time(robot, memory):
    (node, eyes, tells), heard = start(robot), robot.listen(ObjectArray, 'objects', qos.MARKERS)
    for _ in range(8):
        eyes.show(mug_scene())
        tells.tell(VISION.array(eyes.now_ns, '', [VISION.flat(MUG_BOX, {'mug': 0.9})]))
    [mug] = robot.wait(lambda: known(heard), 'an object')
    assert mug.name == 'mug'
    assert not +node._worker.left_out
