"""CODa's folders to a rosbag2, read back as any other recording."""

import math
import shutil
from contextlib import closing

import cv2
import numpy as np
import pytest
from rosbags.highlevel import AnyReader

from remembr_bench.coda.conversion import convert_coda
from remembr_ros.bags.reader import open_bag
from remembr_ros.bags.recording import Recording
from remembr_ros.bags.tf import TransformSurvey
from remembr_ros.captioning.captioners.by_name import get_captioner
from remembr_ros.captioning.observation import Describer, Remembering, observations
from remembr_ros.geometry import StampedPose, rotate
from remembr_ros.images import Frame

NS = 1_000_000_000
COUNT = 12


@pytest.fixture
def out(tmp_path):
    return tmp_path / 'bags' / '7'


@pytest.fixture
def convert(coda, out):
    def run(**options):
        return convert_coda(coda.root, 7, out, **options)

    return run


def messages(path):
    """Return (log time, topic, message) of everything in a bag, in the order of the file."""
    with AnyReader([path]) as reader:
        return [
            (stamp, connection.topic, reader.deserialize(raw, connection.msgtype))
            for connection, stamp, raw in reader.messages()
        ]


def of(path, topic):
    return [message for _, name, message in messages(path) if name == topic]


def events(path, **options):
    with open_bag(path, **options) as bag:
        return list(bag.events())


def poses(path, **options):
    return [event for event in events(path, **options) if isinstance(event, StampedPose)]


def stamp_of(message):
    return message.header.stamp.sec * NS + message.header.stamp.nanosec


def test_images_are_the_files_byte_for_byte_at_the_exact_nanosecond(coda, convert, out):
    converted = convert()
    assert (converted.frames, converted.poses, converted.images) == (COUNT, COUNT, '2d_rect/cam0/7')
    assert (converted.start_ns, converted.end_ns) == (coda.stamps[0], coda.stamps[-1])
    assert (converted.unplaced, converted.left_out, converted.absent) == (0, {}, ())
    images = of(out, '/cam0/image_rect/compressed')
    assert [bytes(image.data) for image in images] == coda.files
    assert [stamp_of(image) for image in images] == coda.stamps
    assert {(image.format, image.header.frame_id) for image in images} == {('jpeg', 'cam0_optical_frame')}
    frames = [event for event in events(out) if isinstance(event, Frame)]
    assert [frame.stamp_ns for frame in frames] == coda.stamps
    assert np.array_equal(frames[3].decode(), cv2.imdecode(np.frombuffer(coda.files[3], np.uint8), 1))


def test_messages_are_in_order_of_time_with_the_pose_before_its_image(convert, out):
    convert()
    stamps, topics = [m[0] for m in messages(out)], [m[1] for m in messages(out)]
    assert stamps == sorted(stamps)
    frame = ['/tf', '/cam0/image_rect/compressed', '/cam0/camera_info']
    assert topics == ['/tf_static', *frame * COUNT]


def test_by_default_poses_are_those_of_the_base(coda, convert, out):
    convert()
    with open_bag(out) as bag:
        assert bag.pose_source == 'tf map -> base_link'
        assert bag.image_topic == '/cam0/image_rect/compressed'
    found = poses(out)
    assert [pose.stamp_ns for pose in found] == coda.stamps
    for i, stamped in enumerate(found):
        # The lidar at (5, 0.1 i, 0.5) is turned by a quarter, so (-0.3, 0.2) on it is (-0.2, -0.3) here.
        assert stamped.pose.position == pytest.approx((4.8, 0.1 * i - 0.3, -0.3), abs=1e-6)
        assert abs(stamped.pose.yaw) == pytest.approx(math.pi, abs=1e-6)
        assert stamped.frame_id == 'map'


def test_codas_own_positions_are_those_of_the_lidar(convert, out):
    convert()
    for i, stamped in enumerate(poses(out, tf=('map', 'os1'))):
        assert stamped.pose.position == pytest.approx((5.0, 0.1 * i, 0.5), abs=1e-9)
        assert stamped.pose.yaw == pytest.approx(math.pi / 2, abs=1e-6)


def test_a_pose_without_calibration_is_codas_own(coda, convert, out):
    shutil.rmtree(coda.root / 'calibrations')
    converted = convert()
    assert converted.absent == (
        'calib_os1_to_base.yaml',
        'calib_os1_to_cam0.yaml',
        'calib_cam0_intrinsics.yaml',
    )
    assert {topic for _, topic, _ in messages(out)} == {'/tf', '/tf_static', '/cam0/image_rect/compressed'}
    with open_bag(out) as bag:
        assert bag.pose_source == 'tf map -> base_link'
    for i, stamped in enumerate(poses(out)):
        assert stamped.pose.position == pytest.approx((5.0, 0.1 * i, 0.5), abs=1e-9)
        assert stamped.pose.yaw == pytest.approx(math.pi / 2, abs=1e-6)


def in_lidar(path, point):
    """Return where a point in the camera's optical frame is in os1."""
    with closing(Recording(path)) as recording:
        survey = TransformSurvey(recording, ('map', 'cam0_optical_frame'))
        translation, rotation = survey.tree.lookup('os1', 'cam0_optical_frame', 0)
    return [a + b for a, b in zip(translation, rotate(rotation, point), strict=True)]


def test_the_camera_is_where_the_matrix_takes_points_from(coda, convert, out):
    (coda.root / '2d_rect').rename(coda.root / 'elsewhere')
    for i, data in enumerate(coda.files):
        coda.image(i, data, kind='2d_raw')
    convert()
    assert in_lidar(out, (0.0, 0.0, 0.0)) == pytest.approx([0.5, 0.1, -0.2])
    assert in_lidar(out, (1.0, 0.0, 0.0)) == pytest.approx([0.5, -0.9, -0.2])
    assert in_lidar(out, (0.0, 1.0, 0.0)) == pytest.approx([0.5, 0.1, -1.2])
    assert in_lidar(out, (0.0, 0.0, 1.0)) == pytest.approx([1.5, 0.1, -0.2])


def test_the_rectified_camera_is_turned_as_the_rectification_says(convert, out):
    convert()
    assert in_lidar(out, (0.0, 0.0, 0.0)) == pytest.approx([0.5, 0.1, -0.2])
    assert in_lidar(out, (1.0, 0.0, 0.0)) == pytest.approx([0.5, 0.1, 0.8])
    assert in_lidar(out, (0.0, 1.0, 0.0)) == pytest.approx([0.5, -0.9, -0.2])
    assert in_lidar(out, (0.0, 0.0, 1.0)) == pytest.approx([1.5, 0.1, -0.2])


def test_camera_info_of_rectified_pictures_has_no_distortion(coda, convert, out):
    convert()
    infos = of(out, '/cam0/camera_info')
    assert [stamp_of(info) for info in infos] == coda.stamps
    info = infos[0]
    assert (info.width, info.height, info.distortion_model) == (32, 24, 'plumb_bob')
    assert list(info.k) == [33, 0, 15, 0, 33, 11, 0, 0, 1]
    assert list(info.p) == [33, 0, 15, 0, 0, 33, 11, 0, 0, 0, 1, 0]
    assert list(info.d) == [0] * 5
    assert list(info.r) == [1, 0, 0, 0, 1, 0, 0, 0, 1]
    assert info.header.frame_id == 'cam0_optical_frame'


def test_camera_info_of_raw_pictures_is_the_file(coda, convert, out):
    shutil.rmtree(coda.root / '2d_rect')
    for i in range(COUNT):
        coda.image(i, png(i), kind='2d_raw', suffix='png')
    assert convert().images == '2d_raw/cam0/7'
    info = of(out, '/cam0/camera_info')[0]
    assert list(info.k) == [30.5, 0, 16.5, 0, 31, 12.5, 0, 0, 1]
    assert list(info.d) == [-0.05, 0.12, 1e-05, -0.003, -0.06]
    assert list(info.r) == [0, -1, 0, 1, 0, 0, 0, 0, 1]
    assert list(info.p) == [33, 0, 15, -6.6, 0, 33, 11, 0, 0, 0, 1, 0]
    images = of(out, '/cam0/image_raw/compressed')
    assert [bytes(image.data) for image in images] == [png(i) for i in range(COUNT)]
    assert {image.format for image in images} == {'png'}


def test_rectified_png_of_the_devkit_are_taken(coda, convert, out):
    for i in range(COUNT):
        coda.image_path(i).unlink()
        coda.image(i, png(i), suffix='png')
    convert()
    assert [bytes(image.data) for image in of(out, '/cam0/image_rect/compressed')] == [
        png(i) for i in range(COUNT)
    ]


def test_a_memory_is_where_the_pictures_were_taken(coda, convert, out):
    # Poses between the frames, out of order, with blank lines and two that are no numbers.
    between = [(stamp - 50_000_000, 0.1 * i - 0.05) for i, stamp in coda.numbered()]
    between.append((coda.stamps[-1] + 50_000_000, 1.15))
    lines = [line(stamp, (2.0, y, 0.0)) for stamp, y in reversed(between)]
    lines[3:3] = [
        '',
        f'{line(coda.stamps[4], (math.nan, 0.0, 0.0))}',
        '   ',
        line(coda.stamps[4], (9.0,) * 3, 0),
    ]
    coda.write('poses/dense/7.txt', lines)
    (coda.root / 'calibrations' / '7' / 'calib_os1_to_base.yaml').unlink()
    converted = convert()
    assert converted.left_out == {'poses that are no finite numbers': 2}
    with open_bag(out) as bag:
        (observation,) = observations(bag.events(), Describer(get_captioner('none'), Remembering('coda')))
    memory = observation.memory
    assert (memory.start_ns, memory.end_ns) == (coda.stamps[0], coda.stamps[-1])
    # Frames are sampled at 2 Hz: 0.0, 0.5 and 1.0 s, at y = 0.0, 0.5 and 1.0 m.
    assert memory.pose.position == pytest.approx((2.0, 0.5, 0.0), abs=1e-6)
    assert memory.pose.yaw == pytest.approx(math.pi / 2, abs=1e-6)
    assert memory.travelled == pytest.approx(1.1, abs=1e-6)


def test_stamps_below_a_microsecond_are_exact(coda, convert, out):
    lines = [f'{stamp // NS}.{stamp % NS + 123:09}' for stamp in coda.stamps]
    coda.write('timestamps/7.txt', lines)
    convert()
    images = of(out, '/cam0/image_rect/compressed')
    assert [stamp_of(image) for image in images] == [stamp + 123 for stamp in coda.stamps]


def test_what_is_harmless_is_left_out_and_counted_once(coda, convert, out, caplog):
    coda.image_path(2).unlink()
    coda.image_path(3).unlink()
    coda.image(4, b'')
    coda.image(40, coda.files[0])
    coda.image_path(0).with_name('Thumbs.db').write_bytes(b'?')
    lines = (coda.root / 'timestamps' / '7.txt').read_text().splitlines()
    coda.write('timestamps/7.txt', ['', *lines[:6], 'nan', '', *lines[7:]])
    converted = convert()
    assert converted.left_out == {
        'frames without an image': 2,
        'frames without a timestamp': 1,
        'images beyond the last timestamp': 1,
        'images that are neither JPEG nor PNG': 1,
    }
    kept = [0, 1, 5, 7, 8, 9, 10, 11]
    assert converted.frames == len(kept)
    images = of(out, '/cam0/image_rect/compressed')
    assert [bytes(image.data) for image in images] == [coda.files[i] for i in kept]
    assert [stamp_of(image) for image in images] == [coda.stamps[i] for i in kept]
    (record,) = caplog.records
    assert 'sequence 7: left out 2 frames without an image' in record.getMessage()


def test_frames_that_come_before_their_time_are_put_in_order(coda, convert, out):
    lines = (coda.root / 'timestamps' / '7.txt').read_text().splitlines()
    lines[4], lines[5] = lines[5], lines[4]
    coda.write('timestamps/7.txt', lines)
    convert()
    images = of(out, '/cam0/image_rect/compressed')
    assert [stamp_of(image) for image in images] == coda.stamps
    assert bytes(images[4].data) == coda.files[5]


def test_images_outside_of_the_poses_are_kept_and_told(coda, convert):
    lines = (coda.root / 'poses' / 'dense' / '7.txt').read_text().splitlines()
    coda.write('poses/dense/7.txt', lines[3:-1])
    converted = convert()
    assert (converted.frames, converted.poses, converted.unplaced) == (COUNT, COUNT - 4, 4)


def test_other_poses_are_taken_if_asked_for(coda, convert, out):
    for folder, x in (('poses/dense_global', 70.0), ('poses', 80.0)):
        coda.write(f'{folder}/7.txt', [line(stamp, (x, 0.0, 0.0)) for stamp in coda.stamps])
    for kind, x in (('dense_global', 70.0), ('sparse', 80.0)):
        convert(poses=kind, replace=True)
        assert poses(out, tf=('map', 'os1'))[0].pose.x == pytest.approx(x)


def test_progress_is_told_after_each_image(convert):
    told = []
    convert(progress=lambda done, total: told.append((done, total)))
    assert told == [(i + 1, COUNT) for i in range(COUNT)]


def png(i):
    return cv2.imencode('.png', np.full((24, 32, 3), 5 * i, np.uint8))[1].tobytes()


def line(stamp_ns, position, w=1.0):
    """A line of a file of poses: a turn by a quarter about z, of any length; 0 is no rotation at all."""
    numbers = ' '.join(f'{value:.8f}' for value in (*position, w, 0.0, 0.0, w))
    return f'{stamp_ns // NS}.{stamp_ns % NS:09} {numbers}'
