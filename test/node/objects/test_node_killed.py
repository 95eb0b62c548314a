"""Objects node and memory node are killed again and again: what was stored stays, once, under its id."""

import math
import time
from collections import Counter

import pytest
from geometry_msgs.msg import TransformStamped
from tf2_msgs.msg import TFMessage
from vision_msgs.msg import Detection3DArray

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.msg import ObjectArray
from remembr_msgs.srv import FindObjects
from remembr_ros.memory.model.record import OBJECT
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.lifecycle import call
from remembr_ros.timestamps import NS
from test.node.objects.test_node import place
from test.node.objects.test_node_told import VISION
from test.object_scene import T0
from test.vision_messages import UPRIGHT

KILLED = ('objects', 'memory', 'objects')
FIRST = 6  # things that are there from the start; one more comes before each end of a node
PLACES = {f'thing {i}': (float(i % 4), float(i // 4), 0.5) for i in range(FIRST + len(KILLED) + 1)}
AGAIN_S = 1.0  # [s] a request may have gone to a node that was killed


class World:
    """Things that another program detects all the time, told twenty times as fast as they would be."""

    def __init__(self, robot) -> None:
        self._robot = robot
        self._array = robot.client.create_publisher(Detection3DArray, 'detections_3d', 10)
        self._tf = robot.client.create_publisher(TFMessage, '/tf_static', qos.TF_STATIC)
        base = TransformStamped(child_frame_id='base_link')
        base.header.frame_id, base.transform.rotation.w = 'map', 1.0
        self._tf.publish(TFMessage(transforms=[base]))
        self._heard = robot.listen(MemoryMsg, 'memories', 1000)
        self._known = robot.listen(ObjectArray, 'objects', qos.MARKERS)
        self.now_ns, self.things = T0, FIRST

    def last(self, condition, what: str):
        """Tell of what is there until a condition holds."""

        def told():
            self.now_ns += NS // 5
            names = list(PLACES)[: self.things]
            boxes = [VISION.solid((PLACES[name], UPRIGHT), (0.2, 0.2, 0.2), {name: 0.9}) for name in names]
            self._array.publish(VISION.array(self.now_ns, 'map', boxes, '3D'))
            return condition()

        return self._robot.wait(told, what, 30.0)

    def last_until_stored(self, count: int) -> None:
        """Tell of what is there until so many things are stored with what is seen from now on."""
        since_s = self.now_ns // NS
        self.last(lambda: sum(end > since_s for end in self.told().values()) >= count, f'{count} stored')

    def last_until_known(self) -> None:
        """Tell of what is there until the objects node knows all of it."""
        self.last(lambda: self._known and len(self._known[-1].objects) == self.things, 'all are known')

    def told(self) -> dict[str, int]:
        """Return the ids of all that the memory node told as stored, with when it was seen last [s]."""
        return {msg.id: msg.end.sec for msg in list(self._heard) if msg.source == OBJECT}

    def stored(self):
        """Return all objects by their names; there is one of each."""
        request, deadline = FindObjects.Request(limit=1000), time.monotonic() + 30.0
        name = '/remembr/find_objects'
        objects = call(self._robot.client, FindObjects, name, request, deadline, again_s=AGAIN_S).objects
        assert max(Counter(one.name for one in objects).values(), default=1) == 1
        return {one.name: one for one in objects}

    def told_and_gone(self, told: dict[str, int]) -> list[str]:
        """Return the ids of what was stored, and is not there as it was seen then."""
        ends = {one.memory.id: one.memory.end.sec for one in self.stored().values()}
        return [name for name, end_s in told.items() if ends.get(name, 0) < end_s]


@pytest.mark.timeout(120)
def test_what_was_stored_stays_once_under_its_id(robot, processes, tmp_path):
    def start(name):
        options = {
            'memory': {'uri': tmp_path / 'm.db', 'embedder': 'hashing'},
            'objects': {'detector': 'detections_3d', 'pose_source': 'none', 'depth': False},
        }
        return processes.start(name, autostart=True, **options[name])

    running, world = {name: start(name) for name in ('memory', 'objects')}, World(robot)
    world.last_until_stored(world.things)
    for name in KILLED:
        world.things += 1
        world.last_until_stored(1)  # others may be just then
        running[name].kill()
        running[name].wait(10.0)
        told = world.told()
        running[name] = start(name)
        assert world.told_and_gone(told) == []
        world.last_until_stored(world.things)
        assert world.told_and_gone(told) == []
    world.things += 1
    world.last_until_known()
    running['objects'].terminate()  # which is no kill: all that was seen is stored
    assert running['objects'].wait(10.0) == 0
    found = world.stored()
    assert found.keys() == PLACES.keys()
    for each, thing in found.items():
        assert math.dist(place(thing), PLACES[each]) < 0.01
