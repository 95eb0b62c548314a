import threading
from pathlib import Path

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped
from rclpy.parameter import Parameter
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CompressedImage
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import time_from_msg
from remembr_ros.nodes.replay.node import CLOCK_PERIOD_S, BagPlayerNode
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS
COUNT = 10
STEP = NS // 10


def fill(writer, store, cdr: bool) -> None:
    """Write COUNT images and poses in 0.1 s steps, one static transform and a message of our own."""
    kinds = {
        '/image/compressed': 'sensor_msgs/msg/CompressedImage',
        '/pose': 'geometry_msgs/msg/PoseStamped',
        '/tf_static': 'tf2_msgs/msg/TFMessage',
    }
    store.register(get_types_from_msg('int32 number', 'odd_msgs/msg/Odd'))
    if not cdr:
        text = 'geometry_msgs/TransformStamped[] transforms'
        store.register(get_types_from_msg(text, kinds['/tf_static']))
    serialize = store.serialize_cdr if cdr else store.serialize_ros1
    types = store.types
    connections = {
        topic: writer.add_connection(topic, kind, typestore=store)
        for topic, kind in {**kinds, '/odd': 'odd_msgs/msg/Odd'}.items()
    }

    def header(stamp: int, frame: str):
        time = types['builtin_interfaces/msg/Time'](stamp // NS, stamp % NS)
        kind = types['std_msgs/msg/Header']
        return kind(stamp=time, frame_id=frame) if cdr else kind(seq=7, stamp=time, frame_id=frame)

    def write(topic: str, kind: str, stamp: int, message) -> None:
        writer.write(connections[topic], stamp, serialize(message, kind))

    vector, quaternion = types['geometry_msgs/msg/Vector3'], types['geometry_msgs/msg/Quaternion']
    transform = types['geometry_msgs/msg/Transform'](vector(1.0, 2.0, 3.0), quaternion(0.0, 0.0, 0.0, 1.0))
    static = types['geometry_msgs/msg/TransformStamped'](header(T0, 'base_link'), 'camera', transform)
    write('/tf_static', kinds['/tf_static'], T0, types['tf2_msgs/msg/TFMessage']([static]))
    write('/odd', 'odd_msgs/msg/Odd', T0, types['odd_msgs/msg/Odd'](1))
    for i in range(COUNT):
        stamp = T0 + i * STEP
        image = types['sensor_msgs/msg/CompressedImage'](
            header(stamp, 'camera'), 'jpeg', np.full(100, i, np.uint8)
        )
        write('/image/compressed', kinds['/image/compressed'], stamp, image)
        position = types['geometry_msgs/msg/Point'](float(i), 0.0, 0.0)
        pose = types['geometry_msgs/msg/Pose'](position, quaternion(0.0, 0.0, 0.0, 1.0))
        write(
            '/pose', kinds['/pose'], stamp, types['geometry_msgs/msg/PoseStamped'](header(stamp, 'map'), pose)
        )


@pytest.fixture(params=['mcap', 'sqlite3', 'ros1'])
def bag(request, tmp_path: Path) -> Path:
    if request.param == 'ros1':
        path = tmp_path / 'old.bag'
        with Writer1(path) as writer:
            fill(writer, get_typestore(Stores.ROS1_NOETIC), cdr=False)
        return path
    path = tmp_path / 'bag'
    plugin = StoragePlugin.MCAP if request.param == 'mcap' else StoragePlugin.SQLITE3
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        fill(writer, get_typestore(Stores.ROS2_JAZZY), cdr=True)
    return path


@pytest.fixture
def mcap(tmp_path: Path) -> Path:
    path = tmp_path / 'bag'
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        fill(writer, get_typestore(Stores.ROS2_JAZZY), cdr=True)
    return path


def player(robot, **parameters):
    return robot.make(BagPlayerNode, **parameters)


def test_messages_arrive_as_recorded_whatever_the_format(robot, bag):
    images = robot.listen(CompressedImage, '/image/compressed', qos.IMAGES)
    poses, static = robot.listen(PoseStamped, '/pose'), robot.listen(TFMessage, '/tf_static', qos.TF_STATIC)
    node = player(robot, bag=str(bag), rate=20.0, wait_for_subscribers=20.0)
    published = node.play(threading.Event())
    assert published == 2 * COUNT + 1  # all but the message of a type that is not installed
    robot.wait(lambda: len(images) == COUNT and len(poses) == COUNT and static, 'every message')
    assert [time_from_msg(image.header.stamp) for image in images] == [T0 + i * STEP for i in range(COUNT)]
    assert bytes(images[3].data) == b'\3' * 100
    assert (poses[4].pose.position.x, poses[4].header.frame_id) == (4.0, 'map')
    assert static[0].transforms[0].transform.translation.y == 2.0


def test_clock_runs_with_the_bag(robot, mcap):
    clock = robot.listen(Clock, '/clock', 1000)
    node = player(robot, bag=str(mcap), rate=2.0, topics=['/pose'])
    robot.wait(node._clock.get_subscription_count, 'a listener to the clock')
    node.play(threading.Event())
    robot.wait(lambda: clock and time_from_msg(clock[-1].clock) >= T0 + (COUNT - 2) * STEP, 'the clock')
    times = [time_from_msg(msg.clock) for msg in clock]
    assert times == sorted(times)
    assert times[0] >= T0
    assert times[-1] <= T0 + (COUNT - 1) * STEP
    assert len(times) > COUNT  # it also runs between messages


def test_only_the_topics_that_are_asked_for(robot, mcap):
    assert player(robot, bag=str(mcap), rate=100.0, topics=['/pose']).play(threading.Event()) == COUNT


def test_a_topic_that_is_not_there_is_refused_with_those_that_are(robot, mcap):
    with pytest.raises(InvalidRequest, match=r'/image/compressed \(sensor_msgs'):
        player(robot, bag=str(mcap), topics=['/nothing']).play(threading.Event())


@pytest.mark.parametrize('path', ['', '/no/such/bag'])
def test_a_missing_bag_is_named(robot, path):
    with pytest.raises((InvalidRequest, BagUnreadable), match=path or 'parameter bag'):
        player(robot, bag=path).play(threading.Event())


def test_a_loop_goes_on_until_it_is_stopped(robot, mcap):
    poses = robot.listen(PoseStamped, '/pose')
    node = player(robot, bag=str(mcap), rate=50.0, topics=['/pose'], loop=True, wait_for_subscribers=20.0)
    stop, published = threading.Event(), []
    thread = threading.Thread(target=lambda: published.append(node.play(stop)))
    thread.start()
    robot.wait(lambda: len(poses) > 2 * COUNT, 'a third round')
    stop.set()
    thread.join(10.0)
    assert published[0] > 2 * COUNT


def test_rate_can_not_be_changed_while_it_plays(robot, mcap):
    node = player(robot, bag=str(mcap))
    assert not node.set_parameters([Parameter('rate', value=3.0)])[0].successful


def strings(path: Path, *topics: str) -> Path:
    """Return a ROS 1 bag of one message on each topic."""
    store = get_typestore(Stores.ROS1_NOETIC)
    with Writer1(path) as writer:
        for topic in topics:
            connection = writer.add_connection(topic, 'std_msgs/msg/String', typestore=store)
            message = store.types['std_msgs/msg/String'](topic)
            writer.write(connection, T0, store.serialize_ros1(message, 'std_msgs/msg/String'))
    return path


def test_names_that_ros_2_does_not_allow_are_left_out(robot, tmp_path, capfd):
    heard = robot.listen(String, '/chatter')
    node = player(robot, bag=str(strings(tmp_path / 'old.bag', 'chatter', '/3d', '/x-y', '/\x1b[2J')))
    robot.wait(lambda: robot.client.count_subscribers('/chatter'), 'the subscription')
    assert node.play(threading.Event()) == 1
    robot.wait(lambda: heard, 'the message')
    logged = capfd.readouterr().err
    assert '/3d' in logged
    assert '/x-y' in logged
    assert '/\\u001b[2J' in logged
    assert '\x1b' not in logged


def test_a_loop_over_one_moment_leaves_the_processor_alone(robot, tmp_path):
    node = player(robot, bag=str(strings(tmp_path / 'old.bag', '/chatter')), loop=True)
    stop = threading.Event()
    timer = threading.Timer(0.5, stop.set)
    timer.start()
    assert 1 <= node.play(stop) <= 0.5 / CLOCK_PERIOD_S + 1
    timer.join()
