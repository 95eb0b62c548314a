"""replay.launch.py, for real: a bag becomes memories and answers, and all ends when it does."""

import os
from pathlib import Path

import cv2
import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import UNCAPTIONED
from remembr_ros.memory.opening import open_store
from test.scripted.server import ScriptedReply, ScriptedServer

pytest.importorskip('launch_ros', reason='needs launch_ros: a full ROS 2 install')

from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import Image

from test.patience import patiently

pytestmark = pytest.mark.timeout(240)

NS = 1_000_000_000
T0 = 1_700_000_000 * NS
SIGNS = ('CAFETERIA', 'LIFT', 'PRINTER')
SECONDS = 3 * len(SIGNS)
RATE_HZ = 4


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    """A drive along x at 1 m/s, past a sign of each kind, three seconds long."""
    store = get_typestore(Stores.ROS2_JAZZY)
    types = store.types
    image_kind, pose_kind = 'sensor_msgs/msg/CompressedImage', 'geometry_msgs/msg/PoseStamped'
    path = tmp_path / 'bag'
    walls = [np.full((240, 480, 3), 200, np.uint8) for _ in SIGNS]
    for wall, sign in zip(walls, SIGNS, strict=True):
        cv2.putText(wall, sign, (40, 140), cv2.FONT_HERSHEY_SIMPLEX, 2.2, (20, 20, 20), 6)
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        images = writer.add_connection('/front/image/compressed', image_kind, typestore=store)
        poses = writer.add_connection('/where', pose_kind, typestore=store)
        for i in range(SECONDS * RATE_HZ):
            stamp = T0 + i * NS // RATE_HZ
            time = types['builtin_interfaces/msg/Time'](stamp // NS, stamp % NS)
            header = types['std_msgs/msg/Header']
            point = types['geometry_msgs/msg/Point'](i / RATE_HZ, 0.0, 0.0)
            still = types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
            pose = types[pose_kind](header(time, 'map'), types['geometry_msgs/msg/Pose'](point, still))
            writer.write(poses, stamp, store.serialize_cdr(pose, pose_kind))
            data = cv2.imencode('.jpg', walls[i // (3 * RATE_HZ)])[1].ravel()
            image = types[image_kind](header(time, 'camera'), 'jpeg', data)
            writer.write(images, stamp, store.serialize_cdr(image, image_kind))
    return path


@pytest.fixture
def parameters(tmp_path: Path) -> str:
    file = tmp_path / 'parameters.yaml'
    file.write_text("/**/memory:\n  ros__parameters:\n    embedder: 'hashing'\n    consolidate: false\n")
    return str(file)


def test_a_bag_becomes_memories_and_all_ends_when_it_does(start, bag, parameters, tmp_path):
    uri = tmp_path / 'replayed.db'
    launched = start(
        'replay',
        bag=str(bag),
        rate='3.0',
        exit_at_end='true',
        image_topic='/front/image',
        pose_source='pose',
        pose_topic='/where',
        captioner='none',
        memory_uri=str(uri),
        robot='bag_robot',
        params_file=parameters,
    )
    assert launched.process.wait(120.0) == 0, launched.text
    assert 'Traceback' not in launched.text
    with open_store(str(uri), embedder=HashingEmbedder()) as store:
        memories = sorted((hit.memory for hit in store.find(Query(limit=10))), key=lambda one: one.start_ns)
    assert len(memories) == SECONDS // 3, launched.text
    assert {memory.robot for memory in memories} == {'bag_robot'}
    # Poses and times are those of the bag; no image was lost.
    assert [round(memory.pose.x) for memory in memories] == [1, 4, 7]
    assert memories[0].start_ns == T0


def replay(start, bag, parameters, uri, **arguments):
    """Replay the bag to its end, with a captioner whose model is far slower than the bag is played."""
    launched = start(
        'replay',
        bag=str(bag),
        exit_at_end='true',
        image_topic='/front/image',
        pose_source='pose',
        pose_topic='/where',
        captioner='openai',
        captioner_model='m',
        memory_uri=str(uri),
        params_file=parameters,
        **arguments,
    )
    assert launched.process.wait(150.0) == 0, launched.text
    assert 'Traceback' not in launched.text
    with open_store(str(uri), embedder=HashingEmbedder()) as store:
        return [hit.memory.caption for hit in store.find(Query(limit=10))], launched.text


@pytest.mark.parametrize('rate', ['2.0', '5.0'])
def test_what_waits_for_a_slow_model_at_the_end_is_captioned_and_stored(
    start, bag, parameters, tmp_path, rate
):
    server = ScriptedServer([ScriptedReply(content='a wall')], delay_s=3.0)
    with server:
        captions, said = replay(
            start, bag, parameters, tmp_path / 'r.db', rate=rate, captioner_url=server.url
        )
    assert captions == ['a wall'] * len(SIGNS), said


def test_a_model_that_hangs_does_not_keep_the_replay_from_ending(start, bag, parameters, tmp_path):
    with ScriptedServer([ScriptedReply(content='a wall')], delay_s=50.0) as server:
        captions, said = replay(
            start,
            bag,
            parameters,
            tmp_path / 'r.db',
            rate='5.0',
            captioner_url=server.url,
            end_patience='3.0',
        )
    assert captions == [UNCAPTIONED] * len(SIGNS), said
    assert 'not all of the bag is remembered, and nothing has changed for 3 s: /remembr/captioner: 0' in said


def test_what_was_replayed_is_asked_for_and_driven_to(start, bag, parameters):
    from geometry_msgs.msg import PoseStamped

    from remembr_msgs.action import Ask
    from test.node.action_client import ActionClient

    launched = start(
        'replay',
        bag=str(bag),
        rate='3.0',
        image_topic='/front/image',
        pose_source='pose',
        pose_topic='/where',
        goal_topic='/goals',
        params_file=parameters,
    )
    goals: list[PoseStamped] = []
    launched.node.create_subscription(PoseStamped, '/goals', goals.append, 10)
    launched.wait(lambda: 'the bag is at its end' in launched.text, 'the end of the bag')
    client = ActionClient(launched.node, Ask, '/remembr/ask')
    launched.wait(client.server_is_ready, 'the action')

    def ask() -> Ask.Result:
        sent = client.send_goal_async(Ask.Goal(question='Take me to the lift', navigate=True))
        launched.wait(sent.done, 'the question is taken')
        got = sent.result().get_result_async()
        launched.wait(got.done, 'an answer')
        return got.result().result

    # The signs are still being read: until then it has not seen any.
    answer = launched.wait(lambda: (found := ask().answer).evidence and found, 'an answer with evidence')
    client.destroy()
    assert any('LIFT' in text.upper() for text in answer.evidence[0].scene_text)
    position = launched.wait(lambda: goals, 'a pose on the topic')[-1].pose.position
    assert (position.x, position.y) == (pytest.approx(4.4, abs=1.0), pytest.approx(0.0))
    launched.interrupt()
    assert 'Traceback' not in launched.text


def test_ros2_bag_plays_if_that_is_wanted(start, bag, parameters, tmp_path, monkeypatch):
    program = tmp_path / 'bin' / 'ros2'
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" > {tmp_path / "played"}\n')
    program.chmod(0o755)
    monkeypatch.setenv('PATH', str(program.parent), prepend=os.pathsep)
    launched = start(
        'replay',
        bag=str(bag),
        player='ros2',
        rate='2.0',
        loop='true',
        exit_at_end='true',
        captioner='none',
        params_file=parameters,
    )
    assert launched.process.wait(90.0) == 0, launched.text
    assert (tmp_path / 'played').read_text() == f'bag play {bag} --clock 50 --rate 2.0 --loop\n'


def test_without_a_bag_the_nodes_live_on_a_clock_that_others_publish(start, parameters):
    launched = start('replay', captioner='none', pose_source='none', params_file=parameters)
    launched.wait_active('/remembr/memory', '/remembr/captioner', '/remembr/agent')
    assert launched.parameters('/remembr/captioner', 'use_sim_time') == [True]
    # A simulated camera may publish at best effort; a captioner that wants more would hear nothing.
    camera = launched.node.create_publisher(Image, '/camera/image_raw', qos_profile_sensor_data)
    launched.wait(camera.get_subscription_count, 'the captioner to hear a camera at best effort')
    assert launched.interrupt() < 10.0


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        ({'bag': 'none'}, 'none does not exist'),
        ({'bag': 'parameters.yaml'}, 'is not a bag'),
        ({'bag': 'bag', 'rate': 'fast'}, 'rate:=fast: it has to be a number from 0.01 to 1000'),
        ({'bag': 'bag', 'params_file': 'none.yaml'}, 'params_file:=none.yaml cannot be read'),
    ],
    ids=['missing', 'no_bag', 'rate', 'params_file'],
)
def test_a_replay_that_makes_no_sense_ends_before_anything_starts(start, bag, parameters, arguments, said):
    launched = start('replay', captioner='none', **arguments)
    assert launched.process.wait(patiently(20.0)) == 1
    assert said in launched.text
    assert 'process started' not in launched.text
