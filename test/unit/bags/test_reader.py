import math
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembr_ros.bags.poses import POOR
from remembr_ros.bags.reader import BagReader, open_bag
from remembr_ros.errors import BagUnreadable, InvalidRequest
from remembr_ros.geometry import Lost, StampedPose, quaternion_from_yaw
from remembr_ros.images import Frame

S = 1_000_000_000
BAGS = Path(__file__).resolve().parents[3] / '../shared/data/bags'

# The camera's axes in the robot's: x right, y down, z forward (REP-103)
OPTICAL = (-0.5, 0.5, -0.5, 0.5)


def read(reader: BagReader) -> tuple[list[Frame], list[StampedPose]]:
    with reader as bag:
        events = list(bag.events())
    return [e for e in events if isinstance(e, Frame)], [e for e in events if isinstance(e, StampedPose)]


def chosen(path: Path, **options: Any) -> tuple[str, str | None]:
    """Return what is read when the recording is opened with these options."""
    with open_bag(path, **options) as bag:
        return bag.image_topic, bag.pose_source


# Containers


@pytest.mark.parametrize(
    ('kind', 'compression'),
    [
        ('mcap', ''),
        ('mcap', 'file'),
        ('mcap', 'message'),
        ('mcap', 'storage'),
        ('sqlite3', ''),
        ('sqlite3', 'file'),
        ('sqlite3', 'message'),
        ('ros1', ''),
        ('ros1', 'bz2'),
        ('ros1', 'lz4'),
    ],
)
def test_every_container_gives_the_same_events(bag: Any, t0: int, kind: str, compression: str) -> None:
    with bag(kind, compression) as out:
        for number in range(5):
            out.compressed('/camera/image/compressed', t0 + number * S)
            out.pose_stamped('/pose', t0 + number * S + 1, (number, 0, 0), quaternion_from_yaw(0.5))
    reader = open_bag(out.path)
    assert (reader.image_topic, reader.pose_source) == ('/camera/image/compressed', '/pose (PoseStamped)')
    assert (reader.start_ns, reader.end_ns, reader.frame_count) == (t0, t0 + 4 * S + 1, 5)
    assert reader.recording.topics['/pose'].msgtype == 'geometry_msgs/msg/PoseStamped'
    frames, poses = read(reader)
    assert [frame.stamp_ns for frame in frames] == [t0 + number * S for number in range(5)]
    assert frames[0].decode().shape == (24, 32, 3)
    assert frames[0].frame_id == 'cam'
    assert [pose.pose.x for pose in poses] == [0, 1, 2, 3, 4]
    assert poses[0].pose.yaw == pytest.approx(0.5)
    assert poses[0].frame_id == 'map'


@pytest.mark.parametrize('kind', ['mcap', 'sqlite3'])
def test_a_bare_storage_file_is_enough(bag: Any, t0: int, kind: str) -> None:
    with bag(kind) as out:
        out.compressed('/image', t0)
    assert len(read(open_bag(out.file))[0]) == 1
    assert len(read(open_bag(out.path / 'metadata.yaml'))[0]) == 1
    (out.path / 'metadata.yaml').unlink()
    assert len(read(open_bag(str(out.path)))[0]) == 1


def test_events_come_in_the_order_of_recording(bag: Any, t0: int, kind: str) -> None:
    with bag(kind) as out:
        for number in range(6):
            stamp = t0 + number * S
            out.compressed('/image', stamp) if number % 2 else out.pose_stamped('/pose', stamp, (0, 0, 0))
    with open_bag(out.path) as reader:
        stamps = [event.stamp_ns for event in reader.events()]
    assert stamps == [t0 + number * S for number in range(6)]


def test_a_header_without_stamp_takes_the_time_of_recording(bag: Any, t0: int, kind: str) -> None:
    with bag(kind) as out:
        out.compressed('/image', 0, log_ns=t0 + 7)
        out.compressed('/image', t0 - 5 * S, log_ns=t0 + 8)
    frames, _ = read(open_bag(out.path))
    assert [frame.stamp_ns for frame in frames] == [t0 + 7, t0 - 5 * S]


def test_custom_types_do_not_matter(bag: Any, t0: int, kind: str) -> None:
    with bag(kind) as out:
        out.add_custom_type('my_robot_msgs/msg/Mood', 'float32 happiness\nstring why\n')
        out.add('/mood', out.make('my_robot_msgs/msg/Mood', 0.5, 'sun'), t0)
        out.compressed('/image', t0)
    reader = open_bag(out.path)
    assert reader.recording.topics['/mood'].msgtype == 'my_robot_msgs/msg/Mood'
    assert len(read(reader)[0]) == 1


# Images


@pytest.mark.parametrize('recorded', ['cam', '/cam'])
@pytest.mark.parametrize('asked', ['cam', '/cam', '/cam/'])
def test_a_slash_more_or_less_does_not_matter(bag: Any, t0: int, recorded: str, asked: str) -> None:
    with bag() as out:
        out.compressed(recorded, t0)
        out.compressed('/other', t0)
    assert chosen(out.path, image_topic=asked)[0] == recorded


@pytest.mark.parametrize('kind', ['mcap', 'ros1'])
def test_raw_images_are_decoded_when_asked_for(bag: Any, t0: int, kind: str) -> None:
    pixels = np.random.default_rng(1).integers(0, 255, (6, 8, 3)).astype(np.uint8)
    with bag(kind) as out:
        out.image('/image', t0, pixels[..., ::-1], encoding='rgb8', frame='/cam')
    frames, _ = read(open_bag(out.path))
    assert np.array_equal(frames[0].decode(), pixels)
    assert frames[0].frame_id == 'cam'


def test_garbage_keeps_to_the_clock_of_the_headers(bag: Any, t0: int, kind: str) -> None:
    late = 5 * 3600 * S
    with bag(kind) as out:
        out.compressed('/image', t0, log_ns=t0 + late)
        out.raw('/image', 'sensor_msgs/msg/CompressedImage', b'\x00\x01\x00\x00 no', t0 + late + S)
        out.compressed('/image', t0 + 2 * S, log_ns=t0 + late + 2 * S)
    frames, _ = read(open_bag(out.path))
    assert [frame.stamp_ns - t0 for frame in frames] == [0, S, 2 * S]


def test_garbage_in_a_picture_is_a_value_error_of_that_frame_only(bag: Any, t0: int, kind: str) -> None:
    with bag(kind) as out:
        out.compressed('/image', t0)
        out.compressed('/image', t0 + S, b'no picture')
        out.raw('/image', 'sensor_msgs/msg/CompressedImage', b'\x00\x01\x00\x00 no message', t0 + 2 * S)
        out.compressed('/image', t0 + 3 * S)
    frames, _ = read(open_bag(out.path))
    assert [frame.stamp_ns - t0 for frame in frames] == [0, S, 2 * S, 3 * S]
    for broken in frames[1:3]:
        with pytest.raises(ValueError, match=r'image|message'):
            broken.decode()
    assert frames[3].decode().any()


def test_two_cameras_are_listed_with_the_option(bag: Any, t0: int, kind: str) -> None:
    with bag(kind) as out:
        out.compressed('/left/image/compressed', t0, frame='left')
        out.image('/right/image', t0, np.zeros((4, 4, 3), np.uint8), frame='right')
    with pytest.raises(BagUnreadable, match=r'/left/image/compressed.*/right/image.*--image-topic'):
        open_bag(out.path)
    for topic, frame in (('/left/image/compressed', 'left'), ('right/image', 'right')):
        assert read(open_bag(out.path, image_topic=topic))[0][0].frame_id == frame


def test_compressed_is_preferred_to_the_same_camera_raw(bag: Any, t0: int) -> None:
    with bag() as out:
        out.image('/cam/image_raw', t0, np.zeros((4, 4, 3), np.uint8))
        out.compressed('/cam/image_raw/compressed', t0)
    assert chosen(out.path)[0] == '/cam/image_raw/compressed'
    assert chosen(out.path, image_topic='/cam/image_raw')[0] == '/cam/image_raw'


def test_depth_counts_only_if_asked_for(bag: Any, t0: int) -> None:
    with bag() as out:
        out.image('/depth', t0, np.ones((4, 4), np.uint16), encoding='16UC1')
        out.image('/depth_float', t0, np.ones((4, 4), np.float32), encoding='32FC1')
        out.compressed('/depth/compressedDepth', t0, form='16UC1; compressedDepth png')
        out.compressed('/colour', t0)
    assert chosen(out.path)[0] == '/colour'
    assert chosen(out.path, image_topic='/depth')[0] == '/depth'


def test_depth_alone_is_no_camera(bag: Any, t0: int) -> None:
    with bag() as out:
        out.image('/depth', t0, np.ones((4, 4), np.uint16), encoding='16UC1')
    with pytest.raises(BagUnreadable, match=r'no camera images.*only depth: /depth.*--image-topic'):
        open_bag(out.path)


@pytest.mark.parametrize('asked', ['/nowhere', '/pose', '/silent'])
def test_asking_for_a_topic_that_does_not_fit_lists_those_that_do(bag: Any, t0: int, asked: str) -> None:
    with bag() as out:
        out.compressed('/image', t0)
        out.pose_stamped('/pose', t0, (0, 0, 0))
        out.topic('/silent', 'sensor_msgs/msg/Image')
    with pytest.raises(BagUnreadable, match=rf'{asked}.*--image-topic can be /image '):
        open_bag(out.path, image_topic=asked)
    if asked != '/pose':
        with pytest.raises(BagUnreadable, match=rf'{asked}.*--pose-topic can be /pose '):
            open_bag(out.path, pose_topic=asked)


# Poses


def test_no_poses_is_fine_and_poses_can_be_declined(bag: Any, t0: int) -> None:
    with bag() as out:
        out.compressed('/image', t0)
    assert chosen(out.path)[1] is None
    with bag('sqlite3') as out:
        out.compressed('/image', t0)
        out.pose_stamped('/a', t0, (0, 0, 0))
        out.pose_stamped('/b', t0, (0, 0, 0))
    reader = open_bag(out.path, poses=False)
    assert reader.pose_source is None
    assert read(reader)[1] == []


def test_two_pose_topics_are_listed_with_the_option(bag: Any, t0: int, kind: str) -> None:
    with bag(kind) as out:
        out.compressed('/image', t0)
        out.pose_stamped('/a', t0, (1, 0, 0))
        out.pose_stamped('/b', t0, (2, 0, 0))
    with pytest.raises(BagUnreadable, match=r'/a .*/b .*--pose-topic'):
        open_bag(out.path)
    assert read(open_bag(out.path, pose_topic='/b'))[1][0].pose.x == 2


def write_all_pose_types(out: Any, t0: int, *without: str) -> None:
    out.compressed('/image', t0)
    if 'map' not in without:
        out.tf(t0, 'map', 'odom', topic='/tf_static')
    if 'tf' not in without:
        out.tf(t0, 'odom', 'base_link')
    if 'covariance' not in without:
        out.pose_with_covariance('/amcl_pose', t0, (0, 0, 0))
    if 'pose' not in without:
        out.pose_stamped('/pose', t0, (0, 0, 0))
    if 'odometry' not in without:
        out.odometry('/odometry', t0, (0, 0, 0))
    out.pose_with_covariance('/initialpose', t0, (0, 0, 0))
    out.pose_stamped('/goal_pose', t0, (0, 0, 0))
    out.fix('/fix', t0, 50.0, 8.0)


@pytest.mark.parametrize(
    ('without', 'expected'),
    [
        ((), 'tf map -> base_link'),
        (('map',), '/amcl_pose (PoseWithCovarianceStamped)'),
        (('map', 'covariance'), '/pose (PoseStamped)'),
        (('map', 'covariance', 'pose'), 'tf odom -> base_link'),
        (('tf', 'covariance', 'pose'), '/odometry (Odometry)'),
        (('map', 'tf', 'covariance', 'pose', 'odometry'), '/fix (NavSatFix)'),
    ],
)
def test_order_of_preference(bag: Any, t0: int, without: tuple[str, ...], expected: str) -> None:
    with bag() as out:
        write_all_pose_types(out, t0, *without)
    assert chosen(out.path)[1] == expected


@pytest.mark.parametrize(
    ('limit', 'expected', 'uncertain'),
    [({}, [0.2, Lost, 0.3], 1), ({'max_position_std_m': 0.25}, [0.2, Lost, Lost], 2)]
    + [({'max_position_std_m': value}, [0.2, 5.0, 0.3], 0) for value in (0.0, 6.0)],
)
def test_while_localisation_is_poor_it_is_not_known_where_the_robot_is(
    bag: Any, t0: int, limit: dict[str, float], expected: list[Any], uncertain: int
) -> None:
    with bag() as out:
        out.compressed('/image', t0)
        for second, std_m in enumerate((0.2, 5.0, 0.3)):
            out.pose_with_covariance('/amcl_pose', t0 + second * S, (std_m, 0, 0), std_m=std_m)
    with open_bag(out.path, **limit) as reader:
        found = [event for event in reader.events() if not isinstance(event, Frame)]
        assert [event.pose.x if isinstance(event, StampedPose) else Lost for event in found] == expected
        assert [event.stamp_ns for event in found] == [t0, t0 + S, t0 + 2 * S]
        assert reader.left_out[POOR] == uncertain


def test_what_is_asked_for_beats_the_order(bag: Any, t0: int) -> None:
    with bag() as out:
        write_all_pose_types(out, t0)
    assert chosen(out.path, pose_topic='/odometry')[1] == '/odometry (Odometry)'
    assert chosen(out.path, pose_topic='fix')[1] == '/fix (NavSatFix)'
    assert chosen(out.path, pose_topic='/goal_pose')[1] == '/goal_pose (PoseStamped)'
    assert chosen(out.path, pose_topic='/tf')[1] == 'tf map -> base_link'
    assert chosen(out.path, tf=('/odom', 'base_link'))[1] == 'tf odom -> base_link'
    with pytest.raises(InvalidRequest, match='either'):
        open_bag(out.path, pose_topic='/odometry', tf=('map', 'base_link'))
    with pytest.raises(InvalidRequest, match='two different'):
        open_bag(out.path, tf=('map', '/map'))
    with pytest.raises(BagUnreadable, match=r"'map' to 'arm'.*base_link, map, odom"):
        open_bag(out.path, tf=('map', 'arm'))


def test_a_tree_that_hangs_on_the_robot_says_nothing_of_where_it_is(bag: Any, t0: int) -> None:
    with bag() as out:
        out.compressed('/image', t0, frame='camera')
        out.tf(t0, 'base_link', 'head')
        out.tf(t0, 'head', 'camera', topic='/tf_static')
        out.odometry('/odom', t0, (1, 0, 0))
    assert chosen(out.path)[1] == '/odom (Odometry)'


def test_a_tree_with_another_root_counts_if_it_moves(bag: Any, t0: int) -> None:
    with bag() as out:
        out.compressed('/image', t0, frame='camera')
        out.tf(t0, 'vicon', 'camera')
    assert chosen(out.path)[1] == 'tf vicon -> camera'


def test_frame_of_odometry_and_slash_of_ros_1(bag: Any, t0: int) -> None:
    with bag('ros1') as out:
        out.compressed('/image', t0)
        out.odometry('/odom', t0, (1, 2, 3), quaternion_from_yaw(-1.0), frame='/odom')
    (pose,) = read(open_bag(out.path))[1]
    assert pose.frame_id == 'odom'
    assert pose.pose.position == (1, 2, 3)
    assert pose.pose.yaw == pytest.approx(-1.0)


def test_poses_that_are_no_numbers_are_left_out(bag: Any, t0: int, kind: str) -> None:
    with bag(kind) as out:
        out.compressed('/image', t0)
        out.pose_stamped('/pose', t0, (math.nan, 0, 0))
        out.raw('/pose', 'geometry_msgs/msg/PoseStamped', b'\x00\x01\x00\x00?', t0 + 1)
        out.pose_stamped('/pose', t0 + 2, (1, 0, 0), (0, 0, 0, 0))
    poses = read(open_bag(out.path))[1]
    assert [(pose.stamp_ns, pose.pose.yaw) for pose in poses] == [(t0 + 2, 0.0)]


def test_one_corrupt_pose_is_none(bag: Any, t0: int, kind: str) -> None:
    with bag(kind) as out:
        out.compressed('/image', t0)
        for number, x in enumerate((1.0, 1e300, -1e10, 2.0)):
            out.pose_stamped('/pose', t0 + number, (x, 0, 0))
            out.odometry('/odom', t0 + number, (0, x, 0))
            out.tf(t0 + number, 'map', 'base_link', (0, 0, x))
            out.fix('/fix', t0 + number, 50.0, 8.0, altitude=-x)
    for options in ({'pose_topic': '/pose'}, {'pose_topic': '/odom'}, {'tf': ('map', 'base_link')}):
        poses = read(open_bag(out.path, **options))[1]
        assert [max(pose.pose.position) for pose in poses] == [1.0, 2.0]
    fixes = read(open_bag(out.path, pose_topic='/fix'))[1]
    assert [pose.pose.z for pose in fixes] == pytest.approx([0.0, 0.0, 0.0, -1.0])


def test_a_first_fix_of_a_corrupt_altitude_does_not_move_all_others(bag: Any, t0: int) -> None:
    with bag('mcap') as out:
        out.compressed('/image', t0)
        out.fix('/fix', t0, 50.0, 8.0, altitude=1e300)
        out.fix('/fix', t0 + 1, 50.0, 8.0, altitude=3.0)
    poses = read(open_bag(out.path))[1]
    assert [pose.pose.position for pose in poses] == [pytest.approx((0, 0, z), abs=1e-6) for z in (0.0, 3.0)]


# Stamps


@pytest.mark.parametrize('seconds', [-5, 315_964_800, 2**31 - 1])
def test_a_stamp_of_no_clock_gives_way_to_the_time_of_recording(bag: Any, t0: int, seconds: int) -> None:
    with bag('mcap') as out:
        out.compressed('/image', t0)
        # The message's nanoseconds may be more than a second: this is after 2038, too.
        message = out.make(
            'sensor_msgs/msg/CompressedImage',
            out.make(
                'std_msgs/msg/Header',
                out.make('builtin_interfaces/msg/Time', seconds, 4 * 10**9 if seconds > 2**30 else 0),
                'cam',
            ),
            'jpeg',
            np.zeros(3, np.uint8),
        )
        out.add('/image', message, t0 + S)
    assert [frame.stamp_ns for frame in read(open_bag(out.path))[0]] == [t0, t0 + S]


def test_an_image_without_any_time_is_left_out(bag: Any, t0: int, caplog: pytest.LogCaptureFixture) -> None:
    with bag('mcap') as out:
        for log_ns in (t0, 2**32 * S, t0 + S):
            out.compressed('/image', 0, log_ns=log_ns)
    assert [frame.stamp_ns for frame in read(open_bag(out.path))[0]] == [t0, t0 + S]
    assert 'an image is left out: it is of 2106' in caplog.text


# Transforms


def write_chain(out: Any, t0: int) -> None:
    """map -> odom at 1 Hz, odom -> base_link at 10 Hz on a circle of 5 m, a static camera in front."""
    out.tf(t0, 'base_link', 'camera_optical_frame', (0.2, 0, 1), rotation=OPTICAL, topic='/tf_static')
    for tenth in range(50):
        stamp = t0 + tenth * S // 10
        if tenth % 10 == 0:
            out.tf(stamp, 'map', 'odom', (100, 0, 0), rotation=quaternion_from_yaw(math.pi / 2))
        angle = tenth * 0.02
        x, y = 5 * math.cos(angle), 5 * math.sin(angle)
        out.tf(stamp, 'odom', 'base_link', (x, y, 0), rotation=quaternion_from_yaw(angle))
        out.compressed('/image', stamp + 1, frame='camera_optical_frame')


def transforms(out: Any, stamp_ns: int, parent: str, child: str, x: float) -> Any:
    vector = out.make('geometry_msgs/msg/Vector3', float(x), 0.0, 0.0)
    rotation = out.make('geometry_msgs/msg/Quaternion', 0.0, 0.0, 0.0, 1.0)
    transform = out.make('geometry_msgs/msg/Transform', vector, rotation)
    stamped = out.make('geometry_msgs/msg/TransformStamped', out.header(stamp_ns, parent), child, transform)
    return out.make('tf2_msgs/msg/TFMessage', [stamped])


def test_chain_gives_each_sampled_pose_once(bag: Any, t0: int, kind: str) -> None:
    with bag(kind) as out:
        write_chain(out, t0)
    reader = open_bag(out.path)
    assert reader.pose_source == 'tf map -> base_link'
    _, poses = read(reader)
    # map -> odom is known up to second 4: nothing is made up beyond
    assert [pose.stamp_ns for pose in poses] == [t0 + tenth * S // 10 for tenth in range(41)]
    for tenth, pose in enumerate(poses):
        angle = tenth * 0.02
        assert pose.pose.x == pytest.approx(100 - 5 * math.sin(angle))
        assert pose.pose.y == pytest.approx(5 * math.cos(angle))
        assert pose.pose.yaw == pytest.approx(angle + math.pi / 2)
        assert pose.frame_id == 'map'


def test_optical_frame_faces_where_the_camera_looks(bag: Any, t0: int) -> None:
    with bag() as out:
        write_chain(out, t0)
    _, poses = read(open_bag(out.path, tf=('map', 'camera_optical_frame')))
    assert len(poses) == 41
    assert poses[40].pose.yaw == pytest.approx(40 * 0.02 + math.pi / 2)
    assert poses[0].pose.position == pytest.approx((100, 5.2, 1))


def test_static_chain_gives_a_pose_for_each_image(bag: Any, t0: int) -> None:
    with bag() as out:
        out.tf(t0, 'map', 'wall', (1, 0, 0), topic='/tf_static')
        out.tf(t0, 'wall', 'cam', (0, 2, 0), topic='/tf_static')
        for second in range(3):
            out.compressed('/image', t0 + second * S)
    reader = open_bag(out.path)
    assert reader.pose_source == 'tf map -> cam'
    _, poses = read(reader)
    assert [pose.stamp_ns for pose in poses] == [t0 + second * S for second in range(3)]
    assert {pose.pose.position for pose in poses} == {(1, 2, 0)}


def test_static_transforms_hold_before_they_were_recorded(bag: Any, t0: int) -> None:
    with bag() as out:
        for second in range(3):
            out.tf(t0 + second * S, 'odom', 'base_link', (second, 0, 0))
            out.compressed('/image', t0 + second * S)
        out.tf(t0 + 3 * S, 'map', 'odom', (0, 1, 0), topic='/tf_static')
    _, poses = read(open_bag(out.path))
    assert [pose.pose.position for pose in poses] == [(0, 1, 0), (1, 1, 0), (2, 1, 0)]


@pytest.mark.parametrize('back', [3, 30])
def test_chain_follows_a_clock_that_jumps_back(bag: Any, t0: int, back: int) -> None:
    """The second run is elsewhere; map -> odom, which is slower, says so half a second late."""
    with bag() as out:
        for tenth in range(100):
            run = tenth // 50
            stamp = t0 + tenth * S // 10 - run * back * S
            if tenth % 10 == 5:
                out.add('/tf', transforms(out, stamp, 'map', 'odom', run * 100), t0 + tenth * S // 10)
            out.add('/tf', transforms(out, stamp, 'odom', 'base_link', tenth), t0 + tenth * S // 10)
            out.compressed('/image', stamp, log_ns=t0 + tenth * S // 10)
    _, poses = read(open_bag(out.path))
    runs = [[pose for pose in poses if (pose.pose.x >= 100) == second] for second in (False, True)]
    assert poses == runs[0] + runs[1]
    for run, of_run in enumerate(runs):
        assert len(of_run) == 41
        for pose in of_run:
            tenth = (pose.stamp_ns - t0 + run * back * S) * 10 // S
            assert pose.pose.x == pytest.approx(run * 100 + tenth)


@pytest.mark.parametrize('tf', [None, ('map', 'base_link')])
def test_two_robots_with_the_same_frames_are_listed_with_the_option(
    bag: Any, t0: int, kind: str, tf: tuple[str, str] | None
) -> None:
    with bag(kind) as out:
        for robot, x in (('/one', 1), ('/two', 2)):
            out.tf(t0, 'odom', 'base_link', (x, 0, 0), topic=f'{robot}/tf_static')
        for second in range(20):
            out.tf(t0 + second * S, 'map', 'odom', topic='/one/tf')
            if second > 4:
                out.tf(t0 + second * S, 'map', 'odom', (100, 0, 0), topic='/two/tf')
            out.compressed('/image', t0 + second * S)
    with pytest.raises(BagUnreadable, match=r"where 'odom' is: /one/tf, /two/tf; .*--pose-topic"):
        open_bag(out.path, tf=tf)
    for topic, x in (('/one/tf', 1), ('two/tf', 102)):
        reader = open_bag(out.path, pose_topic=topic)
        assert reader.pose_source == 'tf map -> base_link'
        assert {pose.pose.x for pose in read(reader)[1]} == {x}


def test_frames_to_choose_from_are_named_if_none_is_the_robot(
    bag: Any, t0: int, caplog: pytest.LogCaptureFixture
) -> None:
    with bag() as out:
        for robot in ('one', 'two'):
            out.tf(t0, 'map', f'{robot}/base_link')
        out.compressed('/image', t0)
    assert chosen(out.path)[1] is None
    assert '--tf: map, one/base_link, two/base_link' in caplog.text
    assert chosen(out.path, tf=('map', 'two/base_link'))[1] == 'tf map -> two/base_link'


def test_transforms_of_one_tree_may_come_on_several_topics(bag: Any, t0: int) -> None:
    with bag() as out:
        for second in range(3):
            out.tf(t0 + second * S, 'map', 'odom', (1, 0, 0), topic='/localisation/tf')
            out.tf(t0 + second * S, 'odom', 'base_link', (second, 0, 0))
            out.compressed('/image', t0 + second * S)
    _, poses = read(open_bag(out.path))
    assert [pose.pose.x for pose in poses] == [1, 2, 3]


def test_nonsense_in_tf_does_not_hinder(bag: Any, t0: int, kind: str) -> None:
    with bag(kind) as out:
        out.raw('/tf', 'tf2_msgs/msg/TFMessage', b'\x00\x01\x00\x00\xff\xff', t0)
        out.tf(t0, 'map', 'map')
        out.tf(t0 + 1, 'map', 'base_link', (math.nan, 0, 0))
        out.tf(t0 + 2, 'map', 'base_link', rotation=(0, 0, 0, 0))
        out.tf(t0 + 3, 'base_link', 'map')
        out.tf(t0 + 4, 'map', 'base_link', (7, 0, 0))
        out.compressed('/image', t0 + 5)
    _, poses = read(open_bag(out.path))
    assert poses[-1].pose.x == 7


def test_transforms_of_early_ros_1(bag: Any, t0: int) -> None:
    with bag('ros1') as out:
        out.tf(t0, '/map', '/base_link', (3, 0, 0), msgtype='tf/msg/tfMessage')
        out.compressed('/image', t0)
    reader = open_bag(out.path)
    assert reader.pose_source == 'tf map -> base_link'
    assert read(reader)[1][0].pose.x == 3


# NavSatFix


def test_fixes_become_metres_from_the_first_valid_one(bag: Any, t0: int, kind: str) -> None:
    with bag(kind) as out:
        out.compressed('/image', t0)
        out.fix('/fix', t0, 0.0, 0.0, status=-1)
        out.fix('/fix', t0 + 1, math.nan, 8.0)
        for second in range(5):  # north-east
            out.fix(
                '/fix',
                t0 + second * S + 2,
                50.0 + second * 1e-4,
                8.0 + second * 1e-4,
                altitude=100.0 + second,
            )
        out.fix('/fix', t0 + 9 * S, 50.0004, 8.0004, altitude=math.nan)
    reader = open_bag(out.path)
    assert reader.datum is None
    _, poses = read(reader)
    assert reader.datum == (50.0, 8.0, 100.0)
    assert len(poses) == 6
    assert poses[0].pose.position == pytest.approx((0, 0, 0))
    # a minute of arc on WGS 84 at 50 degrees north: 1853.8 m along the meridian, 1194.9 m along the parallel
    assert poses[4].pose.x == pytest.approx(1194.9 * 60 * 4e-4, rel=2e-3)
    assert poses[4].pose.y == pytest.approx(1853.8 * 4e-4 * 60, rel=2e-3)
    assert poses[4].pose.z == pytest.approx(4, abs=0.01)
    assert poses[4].pose.yaw == pytest.approx(math.atan2(1853.8, 1194.9), abs=0.01)
    assert poses[5].pose.z == pytest.approx(0, abs=0.01)
    assert poses[0].frame_id == 'enu'


def test_course_is_kept_while_standing(bag: Any, t0: int) -> None:
    with bag() as out:
        out.compressed('/image', t0)
        for second, east in enumerate((0.0, 5e-5, 5.02e-5, 4.98e-5)):
            out.fix('/fix', t0 + second * S, 50.0 - east, 8.0)
    _, poses = read(open_bag(out.path))
    assert poses[-1].pose.yaw == pytest.approx(-math.pi / 2, abs=1e-3)
    assert poses[0].pose.yaw == 0


# Size


@pytest.mark.parametrize('kind', ['mcap', 'sqlite3', 'ros1'])
def test_memory_does_not_grow_with_the_recording(bag: Any, t0: int, kind: str, tmp_path: Path) -> None:
    peaks = []
    noise = np.random.default_rng(0).integers(0, 255, 30_000).astype(np.uint8).tobytes()
    for count in (100, 1000):
        folder = tmp_path / str(count)
        folder.mkdir()
        with type(bag())(folder, kind) as out:
            for number in range(count):
                out.tf(t0 + number * S, 'map', 'base_link', (number, 0, 0))
                out.compressed('/image', t0 + number * S, noise)
        with open_bag(out.path) as reader:  # what is loaded once does not count
            next(reader.events())
        tracemalloc.start()
        with open_bag(out.path) as reader:
            assert sum(isinstance(event, Frame) for event in reader.events()) == count
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # 30 MB against 3 MB of recording; the index of a ROS 1 bag takes about 150 bytes per message
    assert peaks[1] < 1.25 * peaks[0] + 300_000


# Real recordings


@pytest.mark.skipif(not BAGS.is_dir(), reason='the recordings of ../shared/data are not here')
def test_kitchen_needs_no_options() -> None:
    reader = open_bag(BAGS / 'redkitchen_6hz')
    assert reader.image_topic == '/camera/color/image_raw/compressed'
    assert reader.pose_source == 'tf map -> camera_optical_frame'
    frames, poses = read(reader)
    assert (len(frames), len(poses)) == (200, 200)
    assert frames[0].decode().shape == (480, 640, 3)
    _, by_topic = read(open_bag(BAGS / 'redkitchen_6hz', pose_topic='/pose'))
    assert [p.pose.position for p in by_topic] == pytest.approx([p.pose.position for p in poses])


@pytest.mark.skipif(not BAGS.is_dir(), reason='the recordings of ../shared/data are not here')
def test_husky_is_refused_naming_its_topics() -> None:
    with pytest.raises(
        BagUnreadable, match=r'no camera images.*/fix .*/husky_velocity_controller/odom .*/imu'
    ):
        open_bag(BAGS / 'husky_gps_odom_imu.bag')


# Clocks that were never set


def clock(out: Any, stamp_ns: int, log_ns: int) -> None:
    """A camera at its own time, TF at the recorder's."""
    out.compressed('/image', stamp_ns, log_ns=log_ns)
    out.tf(log_ns, 'map', 'base_link', ((log_ns // S) % 10, 0, 0))


def test_a_camera_on_its_own_clock_is_placed(bag: Any, t0: int, kind: str) -> None:
    with bag(kind) as out:
        for second in range(5):
            clock(out, (5000 + second) * S, t0 + second * S)
    frames, poses = read(open_bag(out.path))
    assert [frame.stamp_ns for frame in frames] == [t0 + second * S for second in range(5)]
    assert [pose.stamp_ns for pose in poses] == [frame.stamp_ns for frame in frames]


def test_simulated_time_with_its_clock_is_kept(bag: Any, t0: int) -> None:
    with bag() as out:
        for second in range(5):
            log_ns = t0 + second * S
            out.add('/clock', out.make('rosgraph_msgs/msg/Clock', out.header(5000 * S).stamp), log_ns)
            out.compressed('/image', (5000 + second) * S, log_ns=log_ns)
    assert [frame.stamp_ns for frame in read(open_bag(out.path))[0]] == [(5000 + n) * S for n in range(5)]


def test_a_camera_of_another_year_than_the_poses_is_set_from_the_first_image_on(bag: Any, t0: int) -> None:
    with bag() as out:
        for second in range(3):
            out.compressed('/image', (1_500_000_000 + second) * S, log_ns=t0 + second * S)
            out.pose_stamped('/pose', t0 + second * S + 1, (second, 0, 0))
    assert [frame.stamp_ns for frame in read(open_bag(out.path))[0]] == [t0, t0 + S, t0 + 2 * S]
