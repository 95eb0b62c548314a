"""Folders of pictures, and videos, with poses as data sets have them."""

import json
import math
import os
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from remembr_ros.bags.pictures import PictureStream, is_pictures, open_pictures
from remembr_ros.bags.pose_files import number_of, time_ns, upright
from remembr_ros.errors import BagUnreadable
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.images import Frame

S = 1_000_000_000
T0 = 1_700_000_000 * S
N = 6
# A camera's axes in the robot's, x right, y down, z ahead; and as computer graphics has them, y up, -z ahead
OPTICAL = np.array([[0.0, 0.0, 1.0], [-1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
GRAPHICS = OPTICAL @ np.diag([1.0, -1.0, -1.0])
Y_UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""Turns a world whose z axis is up into one whose y axis is."""


def drive(camera: Any = OPTICAL, start: float = 0.3) -> np.ndarray:
    """Return matrices, shape (N, 4, 4), of a drive ahead that turns left by 20 degrees each metre."""
    found = []
    x = y = 0.0
    for step in range(N):
        yaw = start + step * math.radians(20)
        matrix = np.eye(4)
        matrix[:3, :3] = Rotation.from_euler('z', yaw).as_matrix() @ camera
        matrix[:3, 3] = (x, y, 1.2)
        found.append(matrix)
        x, y = x + math.cos(yaw), y + math.sin(yaw)
    return np.array(found)


def images(folder: Path, names: list[str]) -> None:
    for index, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(folder / name), np.full((8, 8, 3), index, np.uint8))


def tum(matrices: Any, stamps: list[float]) -> str:
    turns = [Rotation.from_matrix(matrix[:3, :3]).as_quat() for matrix in matrices]
    rows = [[at, *m[:3, 3], *turn] for at, m, turn in zip(stamps, matrices, turns, strict=True)]
    lines = [' '.join(repr(float(value)) for value in row) for row in rows]
    return '\n'.join(['# timestamp tx ty tz qx qy qz qw', *lines])


def read(pictures: PictureStream) -> tuple[list[int], list[StampedPose]]:
    with pictures:
        events = list(pictures.events())
    frames = [event for event in events if isinstance(event, Frame)]
    assert len(frames) == pictures.frame_count
    return [f.stamp_ns for f in frames], [event for event in events if isinstance(event, StampedPose)]


def check(found: list[StampedPose], wanted: list[Pose] | None = None) -> None:
    wanted = wanted or upright(drive())
    assert len(found) == len(wanted)
    for stamped, pose in zip(found, wanted, strict=True):
        assert stamped.pose.position == pytest.approx(pose.position, abs=1e-5)
        assert math.remainder(stamped.pose.yaw - pose.yaw, math.tau) == pytest.approx(0.0, abs=1e-5)


def test_the_drive_itself_is_upright() -> None:
    poses = upright(drive())
    assert [round(math.degrees(pose.yaw - 0.3)) for pose in poses] == [0, 20, 40, 60, 80, 100]
    assert {round(pose.z, 6) for pose in poses} == {1.2}


# Data sets


def test_tum(tmp_path: Path) -> None:
    names = [f'rgb/{1_700_000_000 + n / 2:.6f}.png' for n in range(N)]
    images(tmp_path, [*names, 'depth/1.png'])
    (tmp_path / 'rgb.txt').write_text('# color\n' + '\n'.join(f'{Path(name).stem} {name}' for name in names))
    (tmp_path / 'groundtruth.txt').write_text(tum(drive(), [1_700_000_000 + n / 2 for n in range(N)]))
    stamps, poses = read(open_pictures(tmp_path))
    assert stamps == [pose.stamp_ns for pose in poses] == [T0 + n * S // 2 for n in range(N)]
    check(poses)


def test_kitti(tmp_path: Path) -> None:
    images(tmp_path, [f'image_2/{n:06d}.png' for n in range(N)])
    (tmp_path / 'times.txt').write_text('\n'.join(f'{n * 0.1:e}' for n in range(N)))
    first = np.linalg.inv(drive()[0])
    rows = [(first @ matrix)[:3].ravel() for matrix in drive()]
    (tmp_path / 'poses.txt').write_text('\n'.join(' '.join(f'{value:e}' for value in row) for row in rows))
    stamps, poses = read(open_pictures(tmp_path, start_ns=T0))
    assert stamps == [T0 + n * S // 10 for n in range(N)]
    along = [Pose(*np.array(pose.position) - (0, 0, 1.2), pose.yaw) for pose in upright(drive(start=0.0))]
    check(poses, along)


def test_the_raw_data_of_kitti(tmp_path: Path) -> None:
    images(tmp_path, [f'image_02/data/{n:010d}.png' for n in range(N)])
    times = [f'2011-09-26 13:02:2{n}.123456789' for n in range(N)]
    (tmp_path / 'image_02' / 'timestamps.txt').write_text('\n'.join(times))
    stamps, _ = read(open_pictures(tmp_path))
    assert stamps == [1317042140123456789 + n * S for n in range(N)]


@pytest.mark.parametrize('count', [N, N + 4])
def test_scannet(tmp_path: Path, count: int) -> None:
    images(tmp_path, [f'color/{n}.jpg' for n in range(count)])
    (tmp_path / 'pose').mkdir()
    for n, matrix in enumerate(drive()):
        np.savetxt(tmp_path / 'pose' / f'{n}.txt', matrix)
    np.savetxt(tmp_path / 'pose' / f'{N}.txt', np.full((4, 4), -math.inf))
    pictures = open_pictures(tmp_path, start_ns=T0)
    stamps, poses = read(pictures)
    assert stamps == [T0 + round(n / 30 * S) for n in range(count)]
    assert sum(pictures.left_out.values()) == 1
    check(poses)


@pytest.mark.parametrize(
    ('picture', 'pose'),
    [('{:06d}-rgb.png', '{:06d}.txt'), ('frame-{:06d}.color.png', 'frame-{:06d}.pose.txt')],
)
def test_a_matrix_beside_each_picture(tmp_path: Path, picture: str, pose: str) -> None:
    images(tmp_path, [picture.format(n) for n in range(N)] + [f'{n:06d}-depth.png' for n in range(N)])
    for n, matrix in enumerate(drive()):
        np.savetxt(tmp_path / pose.format(n), matrix)
    stamps, poses = read(open_pictures(tmp_path, start_ns=T0, rate_hz=10.0))
    assert stamps == [T0 + n * S // 10 for n in range(N)]
    check(poses)


@pytest.mark.parametrize('suffix', ['json', 'jsonl'])
@pytest.mark.parametrize('turn', ['rotation', 'theta'])
def test_json(tmp_path: Path, suffix: str, turn: str) -> None:
    wanted = upright(drive())
    images(tmp_path, [f'{n}.jpg' for n in range(N)])
    records = []
    for n, pose in enumerate(wanted):
        how = [0, 0, math.sin(pose.yaw / 2), math.cos(pose.yaw / 2)] if turn == 'rotation' else pose.yaw
        records.append(
            {'file': f'images/{n}.jpg', 'timestamp': 1.7e9 + n, 'position': list(pose.position), turn: how}
        )
    lines = '\n'.join(map(json.dumps, records)) if suffix == 'jsonl' else json.dumps(records)
    (tmp_path / f'poses.{suffix}').write_text('\ufeff' + lines)
    stamps, poses = read(open_pictures(tmp_path))
    assert stamps == [T0 + n * S for n in range(N)]
    check(poses, wanted)


def video(path: Path) -> None:
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*'mp4v'), 2.0, (64, 48))
    for n in range(N):
        writer.write(np.full((48, 64, 3), 40 * n, np.uint8))
    writer.release()


@pytest.mark.parametrize(('first', 'given'), [(1.7e9, False), (0.0, True)])
def test_a_video_with_poses(tmp_path: Path, first: float, given: bool) -> None:
    video(tmp_path / 'walk.mp4')
    (tmp_path / 'walk.txt').write_text(tum(drive(), [first + n / 2 for n in range(N)]))
    assert is_pictures(tmp_path / 'walk.mp4')
    start_ns = T0 if given else None
    with open_pictures(tmp_path / 'walk.mp4', start_ns=start_ns) as pictures:
        shades = [int(event.decode().mean()) for event in pictures.events() if isinstance(event, Frame)]
    assert shades == pytest.approx([40 * n for n in range(N)], abs=6)
    stamps, poses = read(open_pictures(tmp_path / 'walk.mp4', start_ns=start_ns))
    assert stamps == [pose.stamp_ns for pose in poses] == [T0 + n * S // 2 for n in range(N)]
    check(poses)


# Axes


@pytest.mark.parametrize('camera', [OPTICAL, GRAPHICS, np.eye(3)], ids=['vision', 'graphics', 'body'])
def test_whatever_the_axes_of_the_camera_it_looks_ahead(camera: Any) -> None:
    check([StampedPose(0, pose) for pose in upright(drive(camera))])


@pytest.mark.parametrize('camera', [OPTICAL, GRAPHICS], ids=['vision', 'graphics'])
def test_a_world_whose_y_axis_is_up_is_turned(camera: Any) -> None:
    turned = drive(camera)
    turned[:, :3] = Y_UP @ turned[:, :3]
    check([StampedPose(0, pose) for pose in upright(turned)])


# What nothing tells


def test_numbers_with_zeros_in_front_are_no_times(tmp_path: Path) -> None:
    images(tmp_path, ['0000000003.png', '0000000006.png'])
    assert read(open_pictures(tmp_path, start_ns=T0))[0] == [T0, T0 + S // 10]


def test_without_times_the_first_was_taken_when_it_was_written(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    images(tmp_path, ['000010.jpg', '000013.jpg'])
    os.utime(tmp_path / '000010.jpg', (1.6e9, 1.6e9))
    pictures = open_pictures(tmp_path)
    assert read(pictures) == ([1_600_000_000 * S, 1_600_000_000 * S + S // 10], [])
    assert pictures.pose_source is None
    assert 'taken is 2020-09-13T12:26:40' in caplog.text


@pytest.mark.parametrize(
    ('name', 'content', 'message'),
    [
        ('poses.txt', '1 2 3\n', 'a line of 3 numbers.*TUM'),
        ('poses.txt', '1 2 3 4 5 6 7 north\n', 'could not convert'),
        ('poses.txt', '1403636580838555648,' + ','.join(['0.1'] * 16), 'a matrix that is no pose'),  # EuRoC
        ('poses.txt', '1 0 0 0 0 1 0 0 0 0 1 0\n' * 3, 'has 3 poses, but there are 6 pictures'),
        ('poses.json', '{"frames": [{"position": [1, 2]}]}', 'no poses that can be read'),
        ('poses.json', '[', 'no poses that can be read'),
        ('times.txt', '0.0\n0.1\n', 'has 2 times, but there are 6 pictures'),
        ('times.txt', 'now\n' * 6, 'does not tell when'),
    ],
)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str, content: str, message: str) -> None:
    images(tmp_path, [f'{n + 10}.jpg' for n in range(N)])
    (tmp_path / name).write_text(content)
    with pytest.raises(BagUnreadable, match=rf'{name}.*{message}'):
        open_pictures(tmp_path)


def test_a_video_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / 'walk.mp4').write_bytes(b'nothing')
    with pytest.raises(BagUnreadable, match=r'walk\.mp4 is no video'):
        open_pictures(tmp_path / 'walk.mp4')


def test_a_picture_that_is_garbage_is_counted(tmp_path: Path) -> None:
    (tmp_path / '1.jpg').write_bytes(b'nothing')
    with open_pictures(tmp_path) as pictures:
        (frame,) = pictures.events()
        assert isinstance(frame, Frame)
        with pytest.raises(ValueError, match='damaged'):
            frame.decode()
    assert sum(pictures.undecoded.values()) == 1


@pytest.mark.parametrize('name', ['metadata.yaml', 'bag_0.db3', 'bag_0.mcap.zstd'])
def test_a_recording_is_no_folder_of_pictures(tmp_path: Path, name: str) -> None:
    images(tmp_path, ['1.jpg'])
    assert is_pictures(tmp_path)
    (tmp_path / name).touch()
    assert not is_pictures(tmp_path)


@pytest.mark.parametrize(
    ('text', 'wanted'),
    [
        ('1305031102.175304', 1305031102_175304000),
        ('1403636579763555584', 1403636579763555584),
        ('1403636579763', 1403636579763000000),
        ('1403636579763555', 1403636579763555000),
        ('0.5', 500_000_000),
    ],
)
def test_times_of_all_units(text: str, wanted: int) -> None:
    assert time_ns(text) == wanted


@given(st.integers(0, 10**9), st.sampled_from(['{:06d}.png', 'frame-{}.color.jpg', '{}-rgb.png']))
def test_numbers_of_names(number: int, form: str) -> None:
    assert number_of(Path(form.format(number)).name) == number
