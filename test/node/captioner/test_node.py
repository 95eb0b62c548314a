import math
import threading

import cv2
import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped, TransformStamped
from nav_msgs.msg import Odometry
from rclpy.lifecycle import TransitionCallbackReturn
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import CompressedImage, Image, NavSatFix
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_ros.captioning.captioners.captioner import Caption
from remembr_ros.errors import CaptionerFailed
from remembr_ros.geometry import quaternion_from_yaw
from remembr_ros.memory.model.record import UNCAPTIONED
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import time_from_msg, time_to_msg
from remembr_ros.nodes.base.managed_node import Level
from remembr_ros.nodes.captioner.node import CaptionerNode
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS
PIXELS = np.random.default_rng(1).integers(0, 255, (48, 64, 3), np.uint8)
JPEG = cv2.imencode('.jpg', PIXELS)[1].tobytes()


class Captioner:
    """Says how many images it saw; fails as it is told."""

    name = 'fake'

    def __init__(self) -> None:
        self.calls = 0
        self.fails = False

    def caption(self, images) -> Caption:
        self.calls += 1
        if self.fails:
            raise CaptionerFailed('the model is out of reach')
        return Caption(f'{len(images)} images', ('SIGN',))


def at(msg, second: float, frame: str = 'camera'):
    msg.header.stamp = time_to_msg(T0 + round(second * NS))
    msg.header.frame_id = frame
    return msg


def jpeg(second: float) -> CompressedImage:
    return at(CompressedImage(format='jpeg', data=JPEG), second)


def raw(second: float) -> Image:
    image = Image(height=48, width=64, encoding='bgr8', step=64 * 3)
    image.data = PIXELS.tobytes()
    return at(image, second)


def pose(second: float, x: float, yaw: float = 0.0) -> PoseStamped:
    msg = at(PoseStamped(), second, 'map')
    msg.pose.position.x = x
    msg.pose.orientation.z, msg.pose.orientation.w = quaternion_from_yaw(yaw)[2:]
    return msg


class Drive:
    """A captioner node with somebody who publishes images and poses in step, and hears its captions."""

    def __init__(self, ros, **parameters) -> None:
        self.robot = robot = ros
        # Every image is the same here.
        defaults = {'captioner': 'none', 'pose_source': 'pose', 'flush_after': 600.0, 'skip_unchanged': False}
        self.node = robot.start(CaptionerNode, **(defaults | parameters))
        self.captioner = self.node._describer.captioner = Captioner()
        self.captions = robot.listen(MemoryMsg, 'captions')
        robot.wait(self.node._captions.get_subscription_count, 'a listener')
        self.talkers = {}

    def say(self, topic: str, msg, profile=1000) -> None:
        if topic not in self.talkers:
            self.talkers[topic] = self.robot.talk(type(msg), topic, profile)
        self.talkers[topic].publish(msg)

    def image(self, msg, topic: str = 'image/compressed') -> None:
        """Publish an image and wait until the node has it."""
        before = self.node._frames
        self.say(topic, msg)
        self.robot.wait(lambda: self.node._frames > before, 'the image')

    def pose(self, msg, topic: str = 'pose') -> None:
        poses = self.node._placer.poses
        before = poses.newest_ns
        self.say(topic, msg)
        self.robot.wait(lambda: poses.newest_ns != before, 'the pose')

    def flush(self) -> Trigger.Response:
        return self.robot.call(Trigger, 'captioner/flush', Trigger.Request())


def test_images_and_poses_become_a_placed_caption(robot):
    drive = Drive(robot, robot='r2', map_id='cellar')
    for i in range(4):
        drive.pose(pose(i * 0.5, 2.0 + i, 0.5))
        drive.image(jpeg(i * 0.5))
    assert drive.flush().success
    robot.wait(lambda: drive.captions, 'a caption')
    msg = drive.captions[0]
    assert (msg.id, msg.robot, msg.map_id, msg.captioner, msg.source) == (
        '',
        'r2',
        'cellar',
        'fake',
        'captioner',
    )
    assert (msg.caption, list(msg.scene_text)) == ('4 images', ['SIGN'])
    assert (time_from_msg(msg.start), time_from_msg(msg.end)) == (T0, T0 + 3 * NS // 2)
    assert msg.placed
    assert msg.pose.pose.position.x == pytest.approx(3.5)
    assert msg.pose.pose.orientation.z == pytest.approx(math.sin(0.25))
    assert msg.travelled == pytest.approx(3.0)
    assert len(msg.keyframe_images) == 2
    assert cv2.imdecode(np.frombuffer(bytes(msg.keyframe_images[0].data), np.uint8), 1).shape == PIXELS.shape


def test_raw_images_work_and_the_first_transport_is_kept(robot):
    drive = Drive(robot, pose_source='none')
    drive.image(raw(0.0), 'image')
    late = robot.client.create_publisher(CompressedImage, 'image/compressed', 10)
    robot.wait(lambda: late.get_subscription_count() == 0, 'the other subscription to go')
    drive.image(raw(0.5), 'image')
    drive.flush()
    robot.wait(lambda: drive.captions, 'a caption')
    assert (drive.captions[0].caption, drive.captions[0].placed) == ('2 images', False)


def test_a_segment_ends_by_its_length_and_only_samples_are_decoded(robot):
    drive = Drive(robot, pose_source='none')
    for i in range(32):
        drive.image(jpeg(i * 0.1))
    robot.wait(lambda: drive.captions, 'the first segment')
    assert drive.captions[0].caption == '6 images'


def test_silence_ends_a_segment(robot):
    drive = Drive(robot, pose_source='none', flush_after=0.3)
    drive.image(jpeg(0.0))
    robot.wait(lambda: drive.captions, 'the segment that was open')


def test_garbage_images_are_passed_over(robot):
    drive = Drive(robot, pose_source='none')
    drive.image(at(CompressedImage(format='jpeg', data=b'garbage'), 0.0))
    drive.image(jpeg(0.5))
    drive.image(at(CompressedImage(), 1.0))
    drive.flush()
    robot.wait(lambda: drive.captions, 'a caption')
    assert drive.captions[0].caption == '1 images'
    assert drive.node.diagnose()[2]['images not decoded'] >= 1


def test_a_captioner_that_fails_does_not_lose_the_segment(robot):
    drive = Drive(robot)
    drive.captioner.fails = True
    drive.pose(pose(0.0, 1.0))
    drive.image(jpeg(0.0))
    drive.flush()
    robot.wait(lambda: drive.captions, 'a memory without caption')
    msg = drive.captions[0]
    assert (msg.captioner, msg.placed, len(msg.keyframe_images)) == ('', True, 1)
    assert drive.node.diagnose()[:2] == (Level.WARN, 'the model is out of reach')


def test_the_pose_is_that_of_image_time_however_slow_the_captioner(robot):
    drive = Drive(robot)
    drive.pose(pose(0.0, 1.0))
    drive.image(jpeg(0.0))
    drive.pose(pose(10.0, 50.0))
    drive.flush()
    robot.wait(lambda: drive.captions, 'a caption')
    assert drive.captions[0].pose.pose.position.x == pytest.approx(1.0)


def test_the_last_segment_before_time_jumps_back_keeps_its_place(robot):
    drive = Drive(robot)
    for second, x in ((20.0, 5.0), (21.0, 7.0)):
        drive.pose(pose(second, x))
        drive.image(jpeg(second))
    drive.pose(pose(0.0, 1.0))
    drive.image(jpeg(0.0))
    drive.flush()
    robot.wait(lambda: len(drive.captions) == 2, 'two captions')
    assert [(msg.placed, msg.pose.pose.position.x) for msg in drive.captions] == [
        (True, pytest.approx(6.0)),
        (True, pytest.approx(1.0)),
    ]


def test_a_segment_waits_for_poses_that_come_after_its_images(robot):
    drive = Drive(robot, segment_length=1.0)
    drive.pose(pose(0.0, 0.0))
    for i in range(4):  # the third ends the first segment
        drive.image(jpeg(0.5 * i))
    drive.pose(pose(1.5, 3.0))
    robot.wait(lambda: drive.captions, 'the caption of the first second')
    assert drive.captions[0].pose.pose.position.x == pytest.approx(0.5), 'the mean of 0 and 1'
    assert drive.captions[0].travelled == pytest.approx(1.0)


def test_a_stale_pose_leaves_the_caption_unplaced(robot):
    drive = Drive(robot)
    drive.pose(pose(-20.0, 1.0))
    drive.image(jpeg(0.0))
    drive.flush()
    robot.wait(lambda: drive.captions, 'a caption')
    assert not drive.captions[0].placed
    level, message, values = drive.node.diagnose()
    assert (level, values['without a place']) == (Level.WARN, 1)
    assert 'pose' in message
    drive.pose(pose(5.0, 1.0))
    drive.image(jpeg(5.0))
    drive.flush()
    assert drive.node.diagnose()[0] == Level.OK


def transform(second: float, parent: str, child: str, x: float) -> TransformStamped:
    msg = at(TransformStamped(child_frame_id=child), second, parent)
    msg.transform.translation.x = x
    msg.transform.rotation.w = 1.0
    return msg


def odometry(second: float) -> Odometry:
    msg = at(Odometry(child_frame_id='base_link'), second, 'odom')
    msg.pose.pose.position.x, msg.pose.pose.orientation.w = 3.0, 1.0
    return msg


def amcl(second: float) -> PoseWithCovarianceStamped:
    msg = at(PoseWithCovarianceStamped(), second, 'map')
    msg.pose.pose.position.x, msg.pose.pose.orientation.w = 3.0, 1.0
    return msg


@pytest.mark.parametrize(
    ('source', 'make', 'profile', 'frame'),
    [
        ('odometry', odometry, 10, 'odom'),
        ('pose_with_covariance', amcl, 10, 'map'),
        ('pose_with_covariance', amcl, qos.LATCHED_POSE, 'map'),
    ],
    ids=['odometry', 'volatile', 'latched'],
)
def test_every_pose_message_places_a_caption(robot, source, make, profile, frame):
    drive = Drive(robot, pose_source=source)
    drive.say('odom' if source == 'odometry' else source, make(0.0), profile)
    robot.wait(lambda: drive.node._placer.poses.newest_ns, 'the pose')
    drive.image(jpeg(0.0))
    drive.flush()
    robot.wait(lambda: drive.captions, 'a caption')
    placed = drive.captions[0].pose
    assert (placed.pose.position.x, placed.header.frame_id) == (pytest.approx(3.0), frame)


def test_poses_come_from_a_chain_of_transforms(robot):
    drive = Drive(robot, pose_source='tf', base_frame='base_link')
    drive.say(
        '/tf_static', TFMessage(transforms=[transform(0, 'base_footprint', 'base_link', 0.5)]), qos.TF_STATIC
    )
    for second, x in ((0.0, 1.0), (1.0, 3.0)):
        moving = [transform(second, 'map', 'odom', 10.0), transform(second, 'odom', 'base_footprint', x)]
        drive.pose(TFMessage(transforms=moving), '/tf')
    drive.image(jpeg(0.5))
    drive.flush()
    robot.wait(lambda: drive.captions, 'a caption')
    assert drive.captions[0].pose.pose.position.x == pytest.approx(10.0 + 2.0 + 0.5)


def test_a_fixed_camera_is_placed_by_static_transforms(robot):
    drive = Drive(robot, pose_source='tf')
    drive.say('/tf_static', TFMessage(transforms=[transform(0, 'map', 'base_link', 7.0)]), qos.TF_STATIC)
    robot.wait(lambda: drive.node._pose_source._tree.connected('map', 'base_link'), 'the transform')
    drive.image(jpeg(0.0))
    drive.flush()
    robot.wait(lambda: drive.captions, 'a caption')
    assert drive.captions[0].pose.pose.position.x == 7.0


def test_fixes_become_metres_from_the_datum(robot):
    drive = Drive(robot, pose_source='navsat', datum=[52.0, 11.0, 50.0])
    invalid = at(NavSatFix(latitude=0.0), -0.1)
    invalid.status.status = -1
    valid = at(NavSatFix(latitude=52.001, longitude=11.0, altitude=50.0), 0.0)
    valid.status.status = 0
    drive.say('fix', invalid)
    drive.say('fix', valid)
    robot.wait(lambda: drive.node._placer.poses.newest_ns == T0, 'the fix')
    drive.image(jpeg(0.0))
    drive.flush()
    robot.wait(lambda: drive.captions, 'a caption')
    placed = drive.captions[0].pose
    assert (placed.pose.position.y, placed.header.frame_id) == (pytest.approx(111.3, abs=0.2), 'map')


def test_simulated_time_stands_in_for_missing_stamps(robot):
    drive = Drive(robot, pose_source='none', use_sim_time=True)
    clock = robot.talk(Clock, '/clock')

    def heard():
        clock.publish(Clock(clock=time_to_msg(5 * NS)))  # it is heard at best effort
        return drive.node.now_ns() == 5 * NS

    robot.wait(heard, 'simulated time')
    drive.image(CompressedImage(format='jpeg', data=JPEG))
    drive.flush()
    robot.wait(lambda: drive.captions, 'a caption')
    assert time_from_msg(drive.captions[0].start) == 5 * NS


def test_deactivation_publishes_the_last_segment_and_it_starts_again(robot):
    drive = Drive(robot, pose_source='none')
    drive.image(jpeg(0.0))
    assert drive.node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    robot.wait(lambda: drive.captions, 'the last segment')
    for step in ('cleanup', 'configure', 'activate'):
        assert getattr(drive.node, f'trigger_{step}')() == TransitionCallbackReturn.SUCCESS
    robot.wait(drive.talkers['image/compressed'].get_subscription_count, 'the subscription')
    drive.image(jpeg(10.0))
    assert drive.flush().success
    robot.wait(lambda: len(drive.captions) == 2, 'a caption of the second life')


@pytest.mark.parametrize('wrong', [{'captioner': 'transformers'}, {'pose_source': 'navsat', 'datum': [1.0]}])
def test_configure_fails_readably_and_can_be_tried_again(robot, capfd, wrong):
    node = robot.make(CaptionerNode, **({'captioner': 'none'} | wrong))
    assert node.trigger_configure() == TransitionCallbackReturn.FAILURE
    logged = capfd.readouterr().err
    assert 'cannot configure: ' in logged
    assert next(iter(wrong)) in logged or 'datum' in logged
    node.set_parameters([Parameter('captioner', value='none'), Parameter('pose_source', value='pose')])
    node.set_parameters([Parameter('datum', value=[1.0, 2.0, 3.0])])
    assert node.trigger_configure() == TransitionCallbackReturn.SUCCESS
    assert node.trigger_activate() == TransitionCallbackReturn.SUCCESS


def drive_on(drive: Drive, segments: int, start: float = 0.0) -> None:
    """Show as many segments of a second, and wait until they are published."""
    for i in range(2 * segments):
        drive.pose(pose(start + 0.5 * i, 1.0))
        drive.image(jpeg(start + 0.5 * i))
    drive.flush()


def test_while_nothing_changes_the_model_is_not_asked(robot):
    drive = Drive(robot, skip_unchanged=True, segment_length=1.0)
    drive_on(drive, 5)
    robot.wait(lambda: len(drive.captions) == 5, 'a caption of each segment')
    assert drive.captioner.calls == 1
    assert {(msg.caption, tuple(msg.scene_text), msg.captioner) for msg in drive.captions} == {
        ('2 images', ('SIGN',), 'fake')
    }
    assert [time_from_msg(msg.start) for msg in drive.captions] == [T0 + i * NS for i in range(5)]
    values = drive.node.diagnose()[2]
    assert (values['captioned'], values['unchanged']) == (1, 4)


class SlowCaptioner(Captioner):
    """Describes nothing until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.go = threading.Event()

    def caption(self, images) -> Caption:
        self.go.wait(30.0)
        return super().caption(images)


@pytest.mark.parametrize('policy', ['keep', 'merge', 'drop'])
def test_what_a_slow_captioner_cannot_take_is_counted_and_stamps_stay(robot, policy):
    drive = Drive(robot, segment_length=1.0, queue_size=2, when_slow=policy)
    slow = drive.node._describer.captioner = SlowCaptioner()
    for i in range(12):
        drive.pose(pose(0.5 * i, 0.5 * i))
        drive.image(jpeg(0.5 * i))
    drive.pose(pose(6.0, 6.0))
    drive.image(jpeg(6.0))  # ends the sixth
    drive.pose(pose(7.0, 7.0))
    robot.wait(lambda: drive.node._backlog.overflows == 3, 'segments too many')
    slow.go.set()
    robot.wait(lambda: drive.node._worker.waiting == 0, 'the captioner')
    response = drive.flush()
    values = drive.node.diagnose()[2]
    kept, merged, dropped = (values[name] for name in ('without a caption', 'merged', 'dropped'))
    robot.wait(lambda: len(drive.captions) == 7 - merged - dropped, 'all that is left')
    assert (kept, merged, dropped) == {'keep': (3, 0, 0), 'merge': (0, 3, 0), 'drop': (0, 0, 3)}[policy]
    assert sum(max(1, msg.merged) for msg in drive.captions) == 7 - dropped
    assert f'{kept} without a caption, {merged} merged, {dropped} dropped' in response.message
    for msg in drive.captions:
        start, end = ((time_from_msg(t) - T0) / NS for t in (msg.start, msg.end))
        assert msg.placed
        if msg.merged <= 1 and end > start:
            assert msg.pose.pose.position.x == pytest.approx((start + end) / 2), 'where its images were taken'
        assert msg.captioner == ('' if msg.caption == UNCAPTIONED else 'fake')


def test_what_a_hung_captioner_is_at_is_kept_when_the_node_is_deactivated(robot):
    drive = Drive(robot, segment_length=1.0, drain_timeout=0.1)
    hung = drive.node._describer.captioner = SlowCaptioner()
    for i in range(5):
        drive.pose(pose(0.5 * i, 1.0))
        drive.image(jpeg(0.5 * i))
    assert drive.node.trigger_deactivate() == TransitionCallbackReturn.SUCCESS
    robot.wait(lambda: len(drive.captions) == 3, 'every segment')
    assert {msg.caption for msg in drive.captions} == {UNCAPTIONED}
    assert all(msg.keyframe_images for msg in drive.captions)
    hung.go.set()


def test_a_camera_that_changes_its_size_and_sends_garbage_in_between_goes_on(robot):
    drive = Drive(robot, pose_source='none', camera='front')
    drive.image(jpeg(0.0))
    drive.image(at(CompressedImage(format='jpeg', data=JPEG[:200]), 0.5))
    level, message, _ = drive.node.diagnose()
    assert level == Level.WARN
    assert 'cannot be decoded' in message
    larger = cv2.imencode('.jpg', np.zeros((96, 128, 3), np.uint8))[1].tobytes()
    drive.image(at(CompressedImage(format='jpeg', data=larger), 0.6))
    drive.flush()
    robot.wait(lambda: drive.captions, 'a caption')
    assert (drive.captions[0].caption, drive.captions[0].camera) == ('2 images', 'front')
    level, _, values = drive.node.diagnose()
    assert (level, values['image size [px]'], values['images not decoded']) == (Level.OK, '128 x 96', 1)
