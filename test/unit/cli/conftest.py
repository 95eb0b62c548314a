"""A short recording and the memory made of it, and the command run in this process."""

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from rosbags import rosbag2
from rosbags.typesys import Stores, get_typestore

from remembr_ros.cli.main import main
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store

START_NS = 1_700_000_000_000_000_000
NS = 1_000_000_000

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command; return its exit code, standard output and standard error."""
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY', 'OPENAI_BASE_URL', 'REMEMBR_MEMORY'):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: Any) -> tuple[int, str, str]:
        capfd.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as error:
            code = int(error.code or 0)
        out, err = capfd.readouterr()
        return code, out, err

    return run


@pytest.fixture
def command_json(command: Run) -> Callable[..., dict[str, Any]]:
    """Run the command with --json; return the one object that it prints."""

    def run(*arguments: Any) -> dict[str, Any]:
        code, out, err = command(*arguments, '--json')
        assert code == 0, err
        assert out.count('\n') == 1
        value: dict[str, Any] = json.loads(out)
        return value

    return run


@pytest.fixture(scope='session')
def memory_file() -> Iterator[str]:
    """A memory of a lift, then nothing, then a lift and a printer at an unknown place."""
    shared = Path('/dev/shm')
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        path = f'{folder}/memory.db'
        seen: list[tuple[tuple[str, ...], Pose | None]] = [
            (('LIFT', 'ROOM 7'), Pose(1.0, 2.0, 0.0, 0.5)),
            ((), Pose(4.0, 2.0, 0.0, 0.5)),
            (('PRINTER',), None),
        ]
        memories = []
        for i, (texts, pose) in enumerate(seen):
            quoted = ', '.join(f'"{text}"' for text in texts)
            memories.append(
                Memory(
                    f'id{i}',
                    'robbie',
                    START_NS + i * 60 * NS,
                    START_NS + i * 60 * NS + 3 * NS,
                    f'Signs and labels that can be read: {quoted}.' if texts else 'No readable text.',
                    pose=pose,
                    scene_text=texts,
                )
            )
        with open_store(path, HashingEmbedder()) as store:
            store.add([Observation(memory) for memory in memories])
        yield path


@pytest.fixture(scope='session')
def bag() -> Iterator[Path]:
    """A recording of 7 s: a camera at 4 Hz, a pose at 10 Hz that moves 0.5 m/s along x."""
    with tempfile.TemporaryDirectory() as folder:
        yield write_bag(Path(folder) / 'bag', lambda picture: cv2.imencode('.jpg', picture)[1].tobytes())


@pytest.fixture
def garbage_bag(tmp_path: Path) -> Path:
    """The same with images that are no images."""
    return write_bag(tmp_path / 'garbage', lambda picture: bytes(100))


@pytest.fixture
def late_poses_bag(tmp_path: Path) -> Path:
    """The same with poses by a clock that is an hour ahead."""
    return write_bag(tmp_path / 'late', lambda picture: cv2.imencode('.jpg', picture)[1].tobytes(), 3600 * NS)


@pytest.fixture
def still_bag(tmp_path: Path) -> Path:
    """The same of a robot that stands."""
    return write_bag(
        tmp_path / 'still', lambda picture: cv2.imencode('.jpg', picture)[1].tobytes(), speed=0.0
    )


@pytest.fixture
def corrupt_bag(tmp_path: Path) -> Path:
    """The same with a pose in the middle that is 1e300 m away."""
    return write_bag(
        tmp_path / 'corrupt', lambda picture: cv2.imencode('.jpg', picture)[1].tobytes(), corrupt=70
    )


@pytest.fixture
def lost_bag(tmp_path: Path) -> Path:
    """The same of a robot whose localisation is off by 5 m from the fourth second on."""
    return write_bag(
        tmp_path / 'lost', lambda picture: cv2.imencode('.jpg', picture)[1].tobytes(), lost_from_s=4.0
    )


def write_bag(
    path: Path,
    encode: Callable[[Any], bytes],
    pose_ahead_ns: int = 0,
    speed: float = 0.5,
    lost_from_s: float | None = None,
    *,
    corrupt: int = -1,
) -> Path:
    types = get_typestore(Stores.ROS2_JAZZY)

    def make(name: str, *fields: Any) -> Any:
        return types.types[name](*fields)

    def header(ns: int, frame: str) -> Any:
        return make('std_msgs/msg/Header', make('builtin_interfaces/msg/Time', ns // NS, ns % NS), frame)

    with rosbag2.Writer(path, version=9, storage_plugin=rosbag2.StoragePlugin.MCAP) as writer:
        image_type, pose_type = 'sensor_msgs/msg/CompressedImage', 'geometry_msgs/msg/PoseStamped'
        if lost_from_s is not None:
            pose_type = 'geometry_msgs/msg/PoseWithCovarianceStamped'
        images = writer.add_connection('/camera/compressed', image_type, typestore=types)
        poses = writer.add_connection('/pose', pose_type, typestore=types)
        for tick in range(141):
            ns = START_NS + tick * 50_000_000
            if tick % 2 == 0:
                pose = make(
                    'geometry_msgs/msg/Pose',
                    make(
                        'geometry_msgs/msg/Point', 1e300 if tick == corrupt else 0.05 * speed * tick, 0.0, 0.0
                    ),
                    make('geometry_msgs/msg/Quaternion', 0.0, 0.0, 0.0, 1.0),
                )
                if lost_from_s is not None:
                    covariance = np.zeros(36)
                    covariance[[0, 7]] = 25.0 if tick * 0.05 >= lost_from_s else 0.01
                    pose = make('geometry_msgs/msg/PoseWithCovariance', pose, covariance)
                message = make(pose_type, header(ns + pose_ahead_ns, 'map'), pose)
                writer.write(poses, ns, types.serialize_cdr(message, pose_type))
            if tick % 5 == 0:
                picture = np.full((48, 64, 3), tick, np.uint8)
                data = np.frombuffer(encode(picture), np.uint8)
                message = make(image_type, header(ns, 'camera'), 'jpeg', data)
                writer.write(images, ns, types.serialize_cdr(message, image_type))
    return path
