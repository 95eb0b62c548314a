"""The memory node moves what it holds as the pose graph of slam_toolbox moves."""

import time

import pytest
from visualization_msgs.msg import Marker, MarkerArray

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import FindObjects, Recall
from remembr_ros.errors import ObjectsChanged, StoreUnavailable
from remembr_ros.memory.embedded.engine import EmbeddedEngine
from remembr_ros.memory.model.record import Observation
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.objects.kept import KeptObjects
from test.node.memory.test_node_keeping import caption
from test.object_scene import known_object

TOPIC = 'pose_graph'
WAY = [(0.5 * number, 0.0) for number in range(40)]


def graph(places) -> MarkerArray:
    """Return what slam_toolbox publishes, with the edges that it draws."""
    markers = [Marker(action=Marker.DELETEALL)]
    for number, (x, y) in enumerate(places):
        marker = Marker(ns='slam_toolbox', id=number, type=Marker.SPHERE, action=Marker.ADD)
        marker.header.frame_id = 'map'
        marker.pose.position.x, marker.pose.position.y = x, y
        marker.pose.orientation.w = 1.0
        markers.append(marker)
    edges = Marker(ns='slam_toolbox_edges', id=0, type=Marker.LINE_LIST)
    edges.pose.position.x = 100.0
    return MarkerArray(markers=[*markers, edges])


def remember(robot, *, follow: bool, folder):
    robot.start(
        MemoryNode, uri=str(folder / 'm.db'), embedder='hashing', consolidate=False, follow_pose_graph=follow
    )
    stored = robot.listen(MemoryMsg, 'memories')
    captions = robot.talk(MemoryMsg, 'captions')
    for second, x in ((0, 1.0), (10, 15.0)):
        captions.publish(caption(second, f'a door at {x}', x))
    robot.wait(lambda: len(stored) == 2, 'two memories')
    kept = KeptObjects(robot.client, 'robbie', '')
    kept.matching(scope=None)
    kept.add([Observation(known_object(position=(16.0, 1.0, 0.8)).memory)])
    return kept


def places(robot) -> list[tuple[float, float]]:
    found = robot.call(Recall, 'recall', Recall.Request(limit=10)).memories
    objects = robot.call(FindObjects, 'find_objects', FindObjects.Request()).objects
    points = [memory.pose.pose.position for memory in (*found, *(one.memory for one in objects))]
    return sorted((round(point.x, 3), round(point.y, 3)) for point in points)


BEFORE = [(1.0, 0.0), (15.0, 0.0), (16.0, 1.0)]
BENT = [(x, y if x < 8.0 else y + 0.8) for x, y in WAY]
AFTER = [(1.0, 0.0), (15.0, 0.8), (16.0, 1.8)]


def test_a_loop_closure_moves_memories_and_objects_once(robot, tmp_path):
    kept = remember(robot, follow=True, folder=tmp_path)
    talker = robot.talk(MarkerArray, TOPIC, 1)
    talker.publish(graph(WAY))
    talker.publish(graph(WAY))
    time.sleep(2.5)
    assert places(robot) == BEFORE
    talker.publish(graph(BENT))
    robot.wait(lambda: places(robot) == AFTER, 'moved memories')
    with pytest.raises(ObjectsChanged):  # who follows objects has to read where they are
        kept.add([Observation(known_object(position=(16.0, 1.0, 0.8)).memory)])
    talker.publish(graph(BENT))
    time.sleep(2.5)
    assert places(robot) == AFTER
    kept.close()


def test_a_store_that_fails_moves_them_later_and_once(robot, tmp_path, monkeypatch, capfd):
    kept = remember(robot, follow=True, folder=tmp_path)
    update, failures = EmbeddedEngine.update, [True]

    def failing(engine, memories):
        if memories and failures and failures.pop():
            update(engine, list(memories)[:1])
            raise StoreUnavailable('the disk is full')
        update(engine, memories)

    monkeypatch.setattr(EmbeddedEngine, 'update', failing)
    talker = robot.talk(MarkerArray, TOPIC, 1)
    talker.publish(graph(WAY))
    talker.publish(graph(BENT))
    robot.wait(
        lambda: 'pose-graph failed: StoreUnavailable' in capfd.readouterr().err, 'an attempt that fails'
    )
    robot.wait(lambda: 'memories moved with the map' in capfd.readouterr().err, 'the second attempt')
    assert places(robot) == AFTER
    kept.close()


def test_nothing_is_heard_unless_it_is_asked_for(robot, tmp_path):
    kept = remember(robot, follow=False, folder=tmp_path)
    assert robot.client.count_subscribers('/remembr/pose_graph') == 0
    assert places(robot) == BEFORE
    kept.close()
