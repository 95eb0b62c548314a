from collections import Counter

import cv2
import numpy as np
import pytest
from rosbags.highlevel import AnyReader

from remembr_bench.simulation.floor_plan import generate_building
from remembr_bench.simulation.sight import DEPTH_DIVISOR, FOCAL_PX, project
from remembr_bench.simulation.tour import Tour
from remembr_bench.simulation.tour_bag import START_NS, record_building
from remembr_bench.simulation.truth import load_truth
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import wrap_angle
from remembr_ros.timestamps import NS

pytest.importorskip('pyvista', reason='the simulation extra is not installed')

SEED = 3
DURATION_S = 3.0
RATE_HZ = 2.0


def read(path):
    """Return (log time, topic, message) of everything in a recording, in order."""
    with AnyReader([path / 'bag']) as reader:
        return [
            (stamp, connection.topic, reader.deserialize(raw, connection.msgtype))
            for connection, stamp, raw in reader.messages()
        ]


def stamp_ns(message):
    return message.header.stamp.sec * NS + message.header.stamp.nanosec


@pytest.fixture(scope='module')
def recording(tmp_path_factory):
    path = tmp_path_factory.mktemp('recording')
    progress = []
    truth = record_building(
        path, SEED, RATE_HZ, lambda done, total: progress.append((done, total)), duration_s=DURATION_S
    )
    return path, truth, progress, read(path)


def of(recording, topic):
    return [message for _, name, message in recording[3] if name == topic]


def test_bag_has_each_topic_at_its_rate(recording):
    count = Counter(topic for _, topic, _ in recording[3])
    assert count == {
        '/camera/image_raw/compressed': 7,
        '/camera/camera_info': 7,
        '/camera/depth/image_raw': 7,
        '/tf_static': 1,
        '/tf': 61 + 31,
        '/amcl_pose': 16,
    }


def test_messages_are_in_the_order_of_time_and_logged_at_their_stamp(recording):
    stamps = [stamp for stamp, _, _ in recording[3]]
    assert stamps == sorted(stamps)
    assert stamps[0] == START_NS
    for stamp, _, message in recording[3]:
        assert stamp == (
            stamp_ns(message.transforms[0]) if hasattr(message, 'transforms') else stamp_ns(message)
        )


def test_images_are_jpegs_with_something_to_see(recording):
    for message in of(recording, '/camera/image_raw/compressed'):
        image = cv2.imdecode(message.data, cv2.IMREAD_COLOR)
        assert image.shape == (480, 640, 3)
        assert image.std() > 20.0
        assert message.header.frame_id == 'camera_optical_frame'
        assert message.format == 'jpeg'


def test_depth_agrees_with_the_building(recording):
    building, tour = generate_building(SEED), Tour(generate_building(SEED))
    checked = 0
    for message in of(recording, '/camera/depth/image_raw'):
        assert (message.width, message.height, message.encoding, message.step) == (160, 120, '16UC1', 320)
        depth = message.data.view('<u2').reshape(120, 160)
        pose = tour.pose_at((stamp_ns(message) - START_NS) / NS)
        for sign in recording[1].signs:
            if any(view.start_ns <= stamp_ns(message) <= view.end_ns for view in sign.readable):
                board = next(board for board in building.signs if board.centre == sign.position)
                column, row, metres = project(pose, np.array([board.point(0.0, 0.0, 0.022)]))[0]
                seen = depth[round((row - 2) / DEPTH_DIVISOR), round((column - 2) / DEPTH_DIVISOR)]
                assert seen == pytest.approx(metres * 1000.0, abs=15.0)
                checked += 1
    assert checked >= 3


def test_sign_is_where_the_projection_says(recording):
    """The paper's colour is in the image at the projected corners: catches a mirrored or shifted camera."""
    building, tour = generate_building(SEED), Tour(generate_building(SEED))
    checked = 0
    for message in of(recording, '/camera/image_raw/compressed'):
        image = cv2.imdecode(message.data, cv2.IMREAD_COLOR)
        pose = tour.pose_at((stamp_ns(message) - START_NS) / NS)
        for sign in recording[1].signs:
            if any(view.start_ns <= stamp_ns(message) <= view.end_ns for view in sign.readable):
                board = next(board for board in building.signs if board.centre == sign.position)
                # between the border and the letters
                for across, up in ((-0.46, 0.0), (0.46, 0.0)):
                    column, row, _ = project(pose, np.array([board.point(across, up, 0.022)]))[0]
                    pixel = image[round(row), round(column)][::-1].astype(int)
                    assert abs(pixel - np.array(board.paper)).max() < 60, sign.text
                    checked += 1
    assert checked >= 4


def test_camera_info_fits_the_image(recording):
    message = of(recording, '/camera/camera_info')[0]
    assert (message.width, message.height) == (640, 480)
    assert message.k.reshape(3, 3)[0, 0] == message.p.reshape(3, 4)[1, 1] == FOCAL_PX


def test_transforms_chain_to_the_true_pose(recording):
    tour = Tour(generate_building(SEED))
    latest = {}
    checked = 0
    for stamp, topic, message in recording[3]:
        if topic != '/tf':
            continue
        transform = message.transforms[0]
        latest[transform.header.frame_id, transform.child_frame_id] = (stamp, transform.transform)
        if len(latest) < 2 or len({time for time, _ in latest.values()}) > 1:
            continue
        (_, up), (_, down) = latest['map', 'odom'], latest['odom', 'base_link']
        yaw = 2.0 * np.arctan2(up.rotation.z, up.rotation.w)
        x = up.translation.x + down.translation.x * np.cos(yaw) - down.translation.y * np.sin(yaw)
        y = up.translation.y + down.translation.x * np.sin(yaw) + down.translation.y * np.cos(yaw)
        true = tour.pose_at((stamp - START_NS) / NS)
        assert (x, y) == pytest.approx((true.x, true.y), abs=1e-6)
        turned = yaw + 2.0 * np.arctan2(down.rotation.z, down.rotation.w)
        assert wrap_angle(turned - true.yaw) == pytest.approx(0.0, abs=1e-9)
        checked += 1
    assert checked == 31


def test_localised_pose_is_near_the_true_one(recording):
    tour = Tour(generate_building(SEED))
    for message in of(recording, '/amcl_pose'):
        true = tour.pose_at((stamp_ns(message) - START_NS) / NS)
        position = message.pose.pose.position
        assert message.header.frame_id == 'map'
        assert np.hypot(position.x - true.x, position.y - true.y) < 0.06


def test_static_transforms_lead_to_the_optical_frame(recording):
    (message,) = of(recording, '/tf_static')
    links = [(link.header.frame_id, link.child_frame_id) for link in message.transforms]
    assert links == [('base_link', 'camera_link'), ('camera_link', 'camera_optical_frame')]


def test_progress_and_truth_file(recording):
    path, truth, progress, _ = recording
    assert progress == [(i + 1, 7) for i in range(7)]
    assert load_truth(path) == truth
    assert (truth.seed, truth.start_ns, truth.end_ns) == (SEED, START_NS, START_NS + 3 * NS)


def test_recording_again_replaces_it_and_is_the_same(recording):
    path, truth, _, before = recording
    bag_before = (path / 'bag' / 'bag.mcap').read_bytes()
    assert record_building(path, SEED, RATE_HZ, duration_s=DURATION_S) == truth
    after = read(path)
    assert len(after) == len(before)
    assert (path / 'bag' / 'bag.mcap').read_bytes() == bag_before


@pytest.mark.parametrize(
    'arguments',
    [
        {'rate_hz': 0.0},
        {'rate_hz': 50.0},
        {'rate_hz': float('nan')},
        {'duration_s': 0.0},
        {'duration_s': -1.0},
        {'seed': -1},
    ],
)
def test_arguments_without_sense_are_refused(arguments, tmp_path):
    with pytest.raises(InvalidRequest):
        record_building(tmp_path / 'new', **arguments)
    assert not (tmp_path / 'new').exists()
