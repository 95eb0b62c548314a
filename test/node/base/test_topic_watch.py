"""Topics that are wrong, or that nobody publishes, are named with their types and the argument to give."""

import os

import pytest
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import OccupancyGrid, Odometry
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import CameraInfo, CompressedImage, Image
from std_msgs.msg import String

from remembr_ros.nodes.agent.node import AgentNode
from remembr_ros.nodes.base import managed_node, qos, topic_watch
from remembr_ros.nodes.captioner.node import CaptionerNode
from remembr_ros.nodes.objects.node import ObjectsNode

RAW, COMPRESSED = (
    '/remembr/image (sensor_msgs/msg/Image)',
    '/remembr/image/compressed (sensor_msgs/msg/CompressedImage)',
)


@pytest.fixture
def at_once(monkeypatch):
    """Nobody is patient with what is not there."""
    monkeypatch.setattr(topic_watch, 'PATIENCE_S', 0.5)
    monkeypatch.setattr(managed_node, 'PATIENCE_S', 0.5)


@pytest.fixture
def stranger(robot):
    """A node of another participant: one and the same knows no topic by two types."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=int(os.environ['ROS_DOMAIN_ID']))
    node = Node('stranger', context=context, namespace='/remembr')
    yield node
    node.destroy_node()
    rclpy.shutdown(context=context)


class Told:
    """What diagnostics say of a node."""

    def __init__(self, robot, name: str) -> None:
        self._robot, self._name = robot, f'/remembr/{name}: status'
        self._heard = robot.listen(DiagnosticArray, '/diagnostics')

    def now(self):
        return next(
            (one for msg in reversed(self._heard) for one in msg.status if one.name == self._name), None
        )

    def wait(self, *parts: str):
        self._robot.wait(
            lambda: (status := self.now()) and all(part in status.message for part in parts), str(parts)
        )
        return self.now()

    def without(self, part: str) -> None:
        self._robot.wait(lambda: (status := self.now()) and part not in status.message, f'no {part}')


def captioner(robot, **parameters):
    return robot.start(CaptionerNode, captioner='none', **{'pose_source': 'none', **parameters})


def test_an_image_topic_that_nobody_publishes_is_named_with_those_that_there_are(robot, at_once, capfd):
    told = Told(robot, 'captioner')
    robot.client.create_publisher(Image, '/front/image_raw', qos_profile_sensor_data)
    robot.client.create_publisher(CameraInfo, '/front/camera_info', qos_profile_sensor_data)
    captioner(robot)
    status = told.wait(
        f'nobody publishes {RAW} or {COMPRESSED}: ', 'or give image_topic:=TOPIC, as /front/image_raw'
    )
    assert status.level == b'\1'
    assert 'camera_info' not in status.message
    assert capfd.readouterr().err.count('nobody publishes') == 1, 'the log says it once'
    images = robot.client.create_publisher(CompressedImage, 'image/compressed', qos_profile_sensor_data)
    told.without('nobody publishes')
    robot.client.destroy_publisher(images)
    told.wait('nobody publishes')
    assert 'nobody publishes' not in capfd.readouterr().err, 'a camera that was there has ended'


def test_nothing_is_amiss_while_others_may_be_starting(robot, capfd):
    told = Told(robot, 'captioner')
    captioner(robot, pose_source='odometry')
    robot.wait(lambda: len(told._heard) > 3, 'some seconds')
    assert 'nobody publishes' not in told.now().message
    assert 'WARN' not in capfd.readouterr().err


@pytest.mark.parametrize(
    ('kind', 'said'),
    [
        (CameraInfo, '/remembr/image is published as sensor_msgs/msg/CameraInfo, not sensor_msgs/msg/Image'),
        (
            CompressedImage,
            '/remembr/image is published as sensor_msgs/msg/CompressedImage, not sensor_msgs/msg/Image',
        ),
    ],
)
def test_an_image_topic_of_another_type_is_named_at_once(robot, stranger, kind, said, capfd):
    told = Told(robot, 'captioner')
    stranger.create_publisher(kind, 'image', qos_profile_sensor_data)
    captioner(robot)
    told.wait(said, 'give image_topic:=TOPIC')
    assert said in capfd.readouterr().err


def test_a_transport_that_nobody_can_read_is_named(robot, at_once):
    told = Told(robot, 'captioner')
    robot.client.create_publisher(String, 'image/ffmpeg', 10)  # its type is not installed here
    captioner(robot)
    told.wait(
        'of /remembr/image there is only /remembr/image/ffmpeg (std_msgs/msg/String), which is not under',
        'image_transport republish',
    )


@pytest.mark.parametrize(
    ('source', 'topic', 'argument'),
    [
        (
            'pose_with_covariance',
            '/remembr/pose_with_covariance (geometry_msgs/msg/PoseWithCovarianceStamped)',
            'pose_topic',
        ),
        ('pose', '/remembr/pose (geometry_msgs/msg/PoseStamped)', 'pose_topic'),
        ('odometry', '/remembr/odom (nav_msgs/msg/Odometry)', 'odom_topic'),
        ('navsat', '/remembr/fix (sensor_msgs/msg/NavSatFix)', 'fix_topic'),
        ('tf', '/tf (tf2_msgs/msg/TFMessage)', 'tf_topic'),
    ],
)
def test_a_pose_that_nobody_tells_is_named(robot, at_once, source, topic, argument):
    told = Told(robot, 'agent')
    robot.start(AgentNode, pose_source=source)
    told.wait(f'nobody publishes {topic}', f'give {argument}:=TOPIC')


def test_a_pose_of_another_type_is_named(robot, stranger):
    told = Told(robot, 'agent')
    stranger.create_publisher(Odometry, 'pose', qos.POSES)
    robot.client.create_publisher(PoseStamped, '/robot/pose', qos.POSES)
    robot.start(AgentNode, pose_source='pose')
    told.wait(
        '/remembr/pose is published as nav_msgs/msg/Odometry, not geometry_msgs/msg/PoseStamped: '
        'give pose_topic:=TOPIC, as /robot/pose'
    )


def test_a_robot_may_do_without_a_map_which_is_told_all_the_same(robot, at_once):
    told = Told(robot, 'agent')
    robot.start(AgentNode, pose_source='none')
    status = told.wait('nobody publishes /remembr/map (nav_msgs/msg/OccupancyGrid)', 'map_topic:=TOPIC')
    assert status.level == b'\0'
    robot.client.create_publisher(OccupancyGrid, 'map', qos.MAPS)
    told.without('nobody publishes')


def test_a_map_of_another_type_is_wrong_all_the_same(robot, stranger):
    told = Told(robot, 'agent')
    stranger.create_publisher(Odometry, 'map', 10)
    robot.start(AgentNode, pose_source='none')
    status = told.wait('/remembr/map is published as nav_msgs/msg/Odometry, not nav_msgs/msg/OccupancyGrid')
    assert status.level == b'\1'


def test_depth_camera_infos_and_detections_are_named(robot, stranger, at_once):
    told = Told(robot, 'objects')
    stranger.create_publisher(CameraInfo, 'depth', 10)
    robot.start(ObjectsNode, pose_source='none')
    told.wait(
        '/remembr/depth is published as sensor_msgs/msg/CameraInfo, not sensor_msgs/msg/Image',
        'give depth_topic:=TOPIC',
        'nobody publishes /remembr/camera_info (sensor_msgs/msg/CameraInfo)',
        'give camera_info_topic:=TOPIC',
        'give depth_info_topic:=TOPIC',
        'give detections_topic:=TOPIC',
    )
