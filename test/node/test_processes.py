"""The nodes as processes of their own, over DDS."""

import itertools
import re
import signal
from pathlib import Path

import cv2
import numpy as np
import pytest
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_typestore
from std_srvs.srv import Trigger

from remembr_msgs.action import Ask
from remembr_msgs.msg import Answer as AnswerMsg
from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import Recall
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.nodes.base.lifecycle import bring_up
from remembr_ros.nodes.base.memory_conversion import observation_to_msg
from remembr_ros.timestamps import NS
from test.node.action_client import ActionClient

T0 = 1_700_000_000 * NS
SIGNS = ('CAFETERIA', 'LIFT', 'PRINTER')
SECONDS_PER_SIGN = 3
RATE_HZ = 4
RECALLED = 1000  # at most in one request


@pytest.fixture
def bag(tmp_path: Path) -> Path:
    """Three signs, 10 m apart, each in view for as long as a segment lasts."""
    store = get_typestore(Stores.ROS2_JAZZY)
    types = store.types
    kinds = {
        '/camera/image/compressed': 'sensor_msgs/msg/CompressedImage',
        '/pose': 'geometry_msgs/msg/PoseStamped',
    }
    path = tmp_path / 'bag'
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connections = {
            topic: writer.add_connection(topic, kind, typestore=store) for topic, kind in kinds.items()
        }

        def write(topic: str, stamp: int, message) -> None:
            writer.write(connections[topic], stamp, store.serialize_cdr(message, kinds[topic]))

        for i in range(len(SIGNS) * SECONDS_PER_SIGN * RATE_HZ):
            stamp = T0 + i * NS // RATE_HZ
            time = types['builtin_interfaces/msg/Time'](stamp // NS, stamp % NS)
            place = i // (SECONDS_PER_SIGN * RATE_HZ)
            picture = np.full((240, 480, 3), 200, np.uint8)
            cv2.putText(picture, SIGNS[place], (40, 140), cv2.FONT_HERSHEY_SIMPLEX, 2.2, (20, 20, 20), 6)
            data = cv2.imencode('.jpg', picture)[1].ravel()
            header = types['std_msgs/msg/Header']
            point = types['geometry_msgs/msg/Point'](10.0 * place, 1.0, 0.0)
            pose = types['geometry_msgs/msg/Pose'](
                point, types['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
            )
            write('/pose', stamp, types[kinds['/pose']](header(time, 'map'), pose))
            image = types['sensor_msgs/msg/CompressedImage'](header(time, 'camera'), 'jpeg', data)
            write('/camera/image/compressed', stamp, image)
    return path


@pytest.mark.timeout(300)
def test_a_bag_played_through_dds_is_remembered_and_asked_about(robot, processes, bag, tmp_path, monkeypatch):
    pytest.importorskip('rapidocr', reason='the captioner scene_text needs rapidocr')
    for name in ('OPENAI_API_KEY', 'REMEMBR_LLM', 'REMEMBR_LLM_URL'):
        monkeypatch.delenv(name, raising=False)
    topics = ('-r', 'image/compressed:=/camera/image/compressed', '-r', 'pose:=/pose')
    nodes = {
        'memory': processes.start('memory', uri=tmp_path / 'm.db', embedder='hashing', use_sim_time=True),
        'captioner': processes.start('captioner', *topics, pose_source='pose', use_sim_time=True),
        'agent': processes.start('agent', *topics, pose_source='pose', use_sim_time=True, autostart=True),
    }
    stored = robot.listen(MemoryMsg, 'memories')
    bring_up(robot.client, ['/remembr/memory', '/remembr/captioner', '/remembr/agent'], 120.0)
    player = processes.start('replay', bag=bag, rate=3.0, wait_for_subscribers=30.0)
    assert player.wait(120.0) == 0, processes.log('replay')
    flushed = robot.call(Trigger, 'captioner/flush', Trigger.Request(), 120.0)
    assert flushed.success
    captioned = sum(map(int, re.findall(r'(\d+) (?:segments|unchanged|without)', flushed.message)))
    assert captioned >= len(SIGNS)
    robot.wait(lambda: len(stored) == captioned, 'every caption stored', 30.0)

    client = ActionClient(robot.client, Ask, '/remembr/ask')
    assert client.wait_for_server(20.0)
    stages = []
    goal = Ask.Goal(question='Where is the cafeteria?')
    sent = client.send_goal_async(goal, lambda message: stages.append(message.feedback.stage))
    robot.wait(sent.done, 'the question is taken')
    result = sent.result().get_result_async()
    robot.wait(result.done, 'an answer', 60.0)
    client.destroy()
    outcome = result.result().result
    assert (outcome.error_code, outcome.error_msg) == (Ask.Result.NONE, '')
    assert (outcome.answer.kind, outcome.answer.planner) == (AnswerMsg.POSITION, 'offline')
    position = outcome.answer.pose.pose.position
    assert (position.x, position.y) == (pytest.approx(0.0, abs=0.1), pytest.approx(1.0))
    assert any('CAFETERIA' in text.upper() for text in outcome.answer.evidence[0].scene_text)
    assert 'recalling' in stages

    for process in nodes.values():
        process.send_signal(signal.SIGTERM)
    for name, process in nodes.items():
        assert process.wait(20.0) == 0, processes.log(name)


@pytest.mark.timeout(180)
def test_what_was_acknowledged_survives_kill_9(robot, processes, tmp_path):
    stored = robot.listen(MemoryMsg, 'memories')
    captions = robot.client.create_publisher(MemoryMsg, 'captions', 1000)
    first = processes.start('memory', uri=tmp_path / 'm.db', embedder='hashing', autostart=True)
    robot.wait(captions.get_subscription_count, 'the memory node', 60.0)
    starts = iter(range(T0, T0 + 3 * RECALLED * NS, 3 * NS))

    def acknowledged_after_another() -> int:
        for start in itertools.islice(starts, 1):
            memory = Memory('', 'robot', start, start + NS, f'Thing of {start}.', Pose(0.0, 0.0))
            captions.publish(observation_to_msg(Observation(memory)))
        return len(stored)

    # One after the other for as long as it takes: what is stored before the node has heard of this listener
    # (an announcement that is lost on its way comes again after 1 to 5 s) is not told to it.
    robot.wait(lambda: acknowledged_after_another() > 10, 'more than ten memories')
    first.kill()
    first.wait(10.0)
    acknowledged = {msg.id for msg in stored}
    # In another namespace: in DDS the dead node goes on to exist for a while.
    again = ('-r', '__ns:=/again')
    processes.start('memory', *again, uri=tmp_path / 'm.db', embedder='hashing', autostart=True)
    robot.wait(lambda: robot.client.count_subscribers('/again/captions'), 'the memory node again', 60.0)
    found = robot.call(Recall, '/again/recall', Recall.Request(limit=RECALLED))
    assert acknowledged <= {msg.id for msg in found.memories}


@pytest.mark.timeout(120)
@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM], ids=['SIGINT', 'SIGTERM'])
def test_a_signal_ends_a_node_that_was_never_configured(processes, robot, number):
    process = processes.start('captioner')
    names = robot.client.get_node_names_and_namespaces
    robot.wait(lambda: ('captioner', '/remembr') in names(), 'the node', 60.0)
    process.send_signal(number)
    assert process.wait(20.0) == 0, processes.log('captioner')


@pytest.mark.timeout(120)
def test_a_wrong_parameter_ends_a_node_with_its_reason(processes):
    process = processes.start('captioner', sample_rate=99.0)
    assert process.wait(60.0) == 1
    assert 'sample_rate' in processes.log('captioner')


@pytest.mark.timeout(120)
def test_the_bag_player_ends_with_1_and_the_reason(processes, tmp_path):
    process = processes.start('replay', bag=tmp_path / 'nothing')
    assert process.wait(60.0) == 1
    assert 'nothing' in processes.log('replay')
