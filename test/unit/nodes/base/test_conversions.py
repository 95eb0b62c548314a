import math

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from builtin_interfaces.msg import Time
from geometry_msgs.msg import PoseStamped, PoseWithCovarianceStamped
from hypothesis import given
from hypothesis import strategies as st
from nav_msgs.msg import Odometry
from sensor_msgs.msg import CompressedImage

from remembr_msgs.srv import Forget, Remember
from remembr_msgs.srv import Recall as RecallSrv
from remembr_ros import errors
from remembr_ros.geometry import Pose
from remembr_ros.nodes.base import conversions as c
from remembr_ros.timestamps import NS

FINITE = st.floats(-1e6, 1e6)
POSES = st.builds(Pose, FINITE, FINITE, FINITE, st.floats(-math.pi + 1e-6, math.pi))
T = 1_700_000_000 * NS


@given(st.integers(c.MIN_WIRE_NS, c.MAX_WIRE_NS))
def test_time_round_trip_is_exact(ns):
    msg = c.time_to_msg(ns)
    assert 0 <= msg.nanosec < NS
    assert c.time_from_msg(msg) == ns


@given(st.one_of(st.integers(max_value=c.MIN_WIRE_NS - 1), st.integers(min_value=c.MAX_WIRE_NS + 1)))
def test_times_that_do_not_fit_are_refused_or_clamped(ns):
    with pytest.raises(errors.InvalidRequest, match='2038'):
        c.time_to_msg(ns)
    assert c.time_from_msg(c.time_to_msg(ns, clamp=True)) in (c.MIN_WIRE_NS, c.MAX_WIRE_NS)


@pytest.mark.parametrize(
    ('ns', 'sec', 'nanosec'),
    [(-1, -1, NS - 1), (0, 0, 0), (1_700_000_000_123_456_789, 1_700_000_000, 123_456_789), (-NS, -1, 0)],
)
def test_time_is_floored_to_seconds(ns, sec, nanosec):
    assert (c.time_to_msg(ns).sec, c.time_to_msg(ns).nanosec) == (sec, nanosec)


def test_nanoseconds_of_a_second_and_more_are_added_up():
    assert c.time_from_msg(Time(sec=1, nanosec=2_500_000_000)) == 3_500_000_000


@given(st.floats(-1e6, 1e6))
def test_duration_round_trip(seconds):
    assert c.duration_from_msg(c.duration_to_msg(seconds)) == pytest.approx(seconds, abs=1e-8)


@pytest.mark.parametrize('seconds', [math.inf, -math.inf, 1e300])
def test_long_durations_are_cut(seconds):
    assert abs(c.duration_from_msg(c.duration_to_msg(seconds))) == 2**31 - 1


def test_a_duration_that_is_no_number_is_refused():
    with pytest.raises(errors.InvalidRequest):
        c.duration_to_msg(math.nan)


@given(POSES)
def test_pose_round_trip(pose):
    back = c.pose_from_msg(c.pose_to_msg(pose))
    assert back.position == pose.position
    assert math.remainder(back.yaw - pose.yaw, math.tau) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    'stamp', [Time(), Time(sec=-5), Time(sec=315_964_800), Time(sec=2**31 - 1, nanosec=2**32 - 1)]
)
def test_what_no_clock_stamped_is_of_when_it_arrived(stamp):
    image, pose = CompressedImage(), Odometry()
    image.header.stamp = pose.header.stamp = stamp
    assert c.frame_from_image(image, T).stamp_ns == c.stamped_pose_from_msg(pose, T).stamp_ns == T


@pytest.mark.parametrize('kind', [PoseStamped, PoseWithCovarianceStamped, Odometry])
def test_poses_of_every_message_keep_stamp_and_frame(kind):
    msg = kind()
    pose = msg.pose if kind is PoseStamped else msg.pose.pose
    pose.position.x, pose.orientation.z, pose.orientation.w = 2.0, math.sin(0.25), math.cos(0.25)
    msg.header.frame_id = '/odom'
    stamped = c.stamped_pose_from_msg(msg, T)
    assert (stamped.stamp_ns, stamped.frame_id, stamped.pose.x) == (T, 'odom', 2.0)
    assert stamped.pose.yaw == pytest.approx(0.5)
    msg.header.stamp = c.time_to_msg(T + 7)
    assert c.stamped_pose_from_msg(msg, T).stamp_ns == T + 7


def test_images_are_decoded_only_when_asked_for():
    msg = CompressedImage(format='jpeg', data=b'garbage')
    msg.header.stamp = c.time_to_msg(T)
    frame = c.frame_from_image(msg, 0)
    assert frame.stamp_ns == T
    with pytest.raises(ValueError, match=r'image|picture|JPEG|decode'):
        frame.decode()


def test_codes_of_the_services_agree():
    for kind in (Remember, Forget):
        assert kind.Response.STORE_UNAVAILABLE == RecallSrv.Response.STORE_UNAVAILABLE
        assert kind.Response.INVALID_REQUEST == RecallSrv.Response.INVALID_REQUEST
