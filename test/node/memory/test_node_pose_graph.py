"""The memory node moves what it holds as the pose graph of slam_toolbox moves."""

import subprocess
import sys

import pytest
from visualization_msgs.msg import Marker, MarkerArray

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import FindDeeds, FindObjects, Recall, Remember, RememberPlace
from remembr_ros.errors import ObjectsChanged, StoreUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.embedded.engine import EmbeddedEngine
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.motion.pose_graph import PoseGraph
from remembr_ros.nodes.base.memory_conversion import observation_to_msg
from remembr_ros.nodes.memory.node import MemoryNode
from remembr_ros.nodes.objects.kept import KeptObjects
from remembr_ros.timestamps import NS
from test.node.memory.test_node_keeping import caption
from test.object_scene import T0, known_object

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


LATER = [(x + 0.5, y) for x, y in BENT]
AFTER_LATER = [(x + 0.5, y) for x, y in AFTER]


def test_a_loop_closure_moves_memories_and_objects_once(robot, tmp_path, monkeypatch):
    take, heard = PoseGraph.take, []

    def told(graph, places, at_ns):
        heard.append(take(graph, places, at_ns))
        return heard[-1]

    monkeypatch.setattr(PoseGraph, 'take', told)
    kept = remember(robot, follow=True, folder=tmp_path)
    talker = robot.talk(MarkerArray, TOPIC, 1)

    def hear(places):
        before = len(heard)
        talker.publish(graph(places))
        robot.wait(lambda: len(heard) > before, 'the graph is heard')

    hear(WAY)
    hear(WAY)
    hear(BENT)
    robot.wait(lambda: places(robot) == AFTER, 'moved memories')
    with pytest.raises(ObjectsChanged):  # who follows objects has to read where they are
        kept.add([Observation(known_object(position=(16.0, 1.0, 0.8)).memory)])
    hear(BENT)
    hear(LATER)  # what that comes to tells that no graph moved them twice
    robot.wait(lambda: places(robot) == AFTER_LATER, 'memories that were moved again')
    assert [len(moves) for moves in heard] == [0, 0, 1, 0, 1]
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


def test_what_was_remembered_while_a_map_was_made_gets_the_name_that_it_is_saved_under(robot, tmp_path):
    folder = tmp_path / 'm.db'
    node = robot.start(MemoryNode, uri=str(folder), embedder='hashing')
    stored = robot.listen(MemoryMsg, 'memories')
    captions = robot.talk(MemoryMsg, 'captions')
    began_ns = T0 + 60 * NS
    went = deed(began_ns, began_ns + 10 * NS, kind='dock', pose=Pose(2.0, 0.0), began=(1.0, 0.0, 0.0))
    captions.publish(caption(0, 'a door', 1.0))
    captions.publish(observation_to_msg(Observation(went.memory('robbie'))))
    robot.call(RememberPlace, 'remember_place', RememberPlace.Request(name='dock', radius=3.0))
    robot.call(Remember, 'remember', Remember.Request(text='The key is at reception.'))
    kept = KeptObjects(robot.client, 'robbie', '')
    kept.matching(scope=None)
    kept.add([Observation(known_object().memory)])
    kept.close()
    robot.wait(lambda: len(stored) == 5, 'five memories')
    rename = [sys.executable, '-m', 'remembr_ros.cli.main', 'map', 'rename', '', 'ground_floor']
    rename += ['--memory', str(folder)]
    refused = subprocess.run(rename, capture_output=True, text=True, check=False)
    assert (refused.returncode, 'another process has it' in refused.stderr) == (1, True)
    node.trigger_deactivate()
    node.trigger_cleanup()
    renamed = subprocess.run(rename, capture_output=True, text=True, check=True)
    assert renamed.stdout == "5 memories of map '' are now in map 'ground_floor'\n"
    node.trigger_configure()
    node.trigger_activate()
    maps = {area.map_id for area in robot.call(Recall, 'recall', Recall.Request(survey=True)).areas}
    assert maps == {'ground_floor'}
    [thing] = robot.call(FindObjects, 'find_objects', FindObjects.Request()).objects
    [done] = robot.call(FindDeeds, 'find_deeds', FindDeeds.Request(kind='dock')).deeds
    assert (thing.memory.map_id, done.map_id, done.place) == ('ground_floor', 'ground_floor', 'dock')
