"""Small recordings of every kind, written with rosbags' own writers."""

import gzip
import struct
from pathlib import Path
from types import TracebackType
from typing import Any

import cv2
import numpy as np
import pytest
from backports import zstd
from rosbags import rosbag1, rosbag2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

T0 = 1_700_000_000_000_000_000
NS = 1_000_000_000
KINDS = ('mcap', 'sqlite3', 'ros1')


def zstd_packed(
    pixels: bytes, encoding: str, shape: tuple[int, int, int] = (4, 6, 18), by: str = 'zstd'
) -> bytes:
    """Return what zstd_image_transport publishes, now (zstd) or in its first versions (gzip)."""
    height, width, step = shape
    head = struct.pack('<IIBII', height, width, 0, step, len(encoding)) + encoding.encode()
    return head + (zstd.compress(pixels) if by == 'zstd' else gzip.compress(pixels))


class BagBuilder:
    """Writes one recording; a context manager.

    :param kind: one of KINDS
    :param compression: rosbag2: 'file', 'message' or 'storage' (zstd); ros1: 'bz2' or 'lz4'
    """

    def __init__(self, folder: Path, kind: str = 'mcap', compression: str = '') -> None:
        self.is_ros1 = kind == 'ros1'
        self.path = folder / (f'bag_{kind}{compression}' + ('.bag' if self.is_ros1 else ''))
        self.store = get_typestore(Stores.ROS1_NOETIC if self.is_ros1 else Stores.ROS2_JAZZY)
        if self.is_ros1:
            for name in ('tf2_msgs/msg/TFMessage', 'tf/msg/tfMessage'):
                self.add_custom_type(name, 'geometry_msgs/TransformStamped[] transforms')
        self._connections: dict[tuple[str, str], Any] = {}
        if self.is_ros1:
            self._writer: Any = rosbag1.Writer(self.path)
            if compression:
                self._writer.set_compression(rosbag1.Writer.CompressionFormat[compression.upper()])
        else:
            self._writer = rosbag2.Writer(
                self.path, version=9, storage_plugin=rosbag2.StoragePlugin[kind.upper()]
            )
            if compression:
                self._writer.set_compression(
                    rosbag2.CompressionMode[compression.upper()], rosbag2.CompressionFormat.ZSTD
                )

    @property
    def file(self) -> Path:
        """The one file that holds the messages."""
        if self.path.is_file():
            return self.path
        return next(file for file in self.path.iterdir() if file.name != 'metadata.yaml')

    def __enter__(self) -> 'BagBuilder':
        self._writer.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._writer.close()

    def add_custom_type(self, msgtype: str, definition: str) -> None:
        self.store.register(get_types_from_msg(definition, msgtype))

    def topic(self, topic: str, msgtype: str) -> Any:
        key = (topic, msgtype)
        if key not in self._connections:
            self._connections[key] = self._writer.add_connection(topic, msgtype, typestore=self.store)
        return self._connections[key]

    def other(self, topic: str, msgtype: str, encoding: str, data: bytes, log_ns: int) -> None:
        """Write into a channel of another encoding; mcap and sqlite3."""
        key = (topic, msgtype)
        if key not in self._connections:
            self._connections[key] = self._writer.add_connection(
                topic, msgtype, typestore=self.store, serialization_format=encoding
            )
        self.raw(topic, msgtype, data, log_ns)

    def raw(self, topic: str, msgtype: str, data: bytes, log_ns: int) -> None:
        self._writer.write(self.topic(topic, msgtype), log_ns, data)

    def add(self, topic: str, message: Any, log_ns: int) -> None:
        msgtype = message.__msgtype__
        serialize = self.store.serialize_ros1 if self.is_ros1 else self.store.serialize_cdr
        self.raw(topic, msgtype, bytes(serialize(message, msgtype)), log_ns)

    def make(self, msgtype: str, *fields: Any, **named: Any) -> Any:
        return self.store.types[msgtype](*fields, **named)

    def header(self, stamp_ns: int, frame_id: str = 'map') -> Any:
        time = self.make('builtin_interfaces/msg/Time', stamp_ns // NS, stamp_ns % NS)
        sequence = [0] if self.is_ros1 else []
        return self.make('std_msgs/msg/Header', *sequence, time, frame_id)

    def image(
        self, topic: str, stamp_ns: int, pixels: np.ndarray, *, encoding: str = 'bgr8', frame: str = 'cam'
    ) -> None:
        height, width = pixels.shape[:2]
        data = np.ascontiguousarray(pixels).reshape(-1).view(np.uint8)
        message = self.make(
            'sensor_msgs/msg/Image',
            self.header(stamp_ns, frame),
            height,
            width,
            encoding,
            0,
            data.size // height,
            data,
        )
        self.add(topic, message, stamp_ns or T0)

    def compressed(
        self,
        topic: str,
        stamp_ns: int,
        data: bytes | None = None,
        *,
        form: str = 'jpeg',
        frame: str = 'cam',
        log_ns: int | None = None,
    ) -> None:
        payload = np.frombuffer(jpeg() if data is None else data, np.uint8)
        message = self.make('sensor_msgs/msg/CompressedImage', self.header(stamp_ns, frame), form, payload)
        self.add(topic, message, stamp_ns if log_ns is None else log_ns)

    def pose(self, position: Any, rotation: Any = (0.0, 0.0, 0.0, 1.0)) -> Any:
        point = self.make('geometry_msgs/msg/Point', *map(float, position))
        quaternion = self.make('geometry_msgs/msg/Quaternion', *map(float, rotation))
        return self.make('geometry_msgs/msg/Pose', point, quaternion)

    def pose_stamped(
        self, topic: str, stamp_ns: int, position: Any, rotation: Any = (0, 0, 0, 1), *, frame: str = 'map'
    ) -> None:
        message = self.make(
            'geometry_msgs/msg/PoseStamped', self.header(stamp_ns, frame), self.pose(position, rotation)
        )
        self.add(topic, message, stamp_ns)

    def pose_with_covariance(
        self, topic: str, stamp_ns: int, position: Any, frame: str = 'map', *, std_m: float = 0.0
    ) -> None:
        covariance = np.zeros((6, 6))
        covariance[:2, :2] = np.eye(2) * std_m**2
        pose = self.make('geometry_msgs/msg/PoseWithCovariance', self.pose(position), covariance.reshape(36))
        message = self.make('geometry_msgs/msg/PoseWithCovarianceStamped', self.header(stamp_ns, frame), pose)
        self.add(topic, message, stamp_ns)

    def odometry(
        self,
        topic: str,
        stamp_ns: int,
        position: Any,
        rotation: Any = (0, 0, 0, 1),
        *,
        frame: str = 'odom',
        child: str = 'base_link',
    ) -> None:
        pose = self.make('geometry_msgs/msg/PoseWithCovariance', self.pose(position, rotation), np.zeros(36))
        zero = self.make('geometry_msgs/msg/Vector3', 0.0, 0.0, 0.0)
        twist = self.make(
            'geometry_msgs/msg/TwistWithCovariance',
            self.make('geometry_msgs/msg/Twist', zero, zero),
            np.zeros(36),
        )
        message = self.make('nav_msgs/msg/Odometry', self.header(stamp_ns, frame), child, pose, twist)
        self.add(topic, message, stamp_ns)

    def tf(
        self,
        stamp_ns: int,
        parent: str,
        child: str,
        translation: Any = (0, 0, 0),
        *,
        rotation: Any = (0, 0, 0, 1),
        topic: str = '/tf',
        msgtype: str = 'tf2_msgs/msg/TFMessage',
    ) -> None:
        transform = self.make(
            'geometry_msgs/msg/Transform',
            self.make('geometry_msgs/msg/Vector3', *map(float, translation)),
            self.make('geometry_msgs/msg/Quaternion', *map(float, rotation)),
        )
        stamped = self.make(
            'geometry_msgs/msg/TransformStamped', self.header(stamp_ns, parent), child, transform
        )
        self.add(topic, self.make(msgtype, [stamped]), stamp_ns)

    def fix(
        self,
        topic: str,
        stamp_ns: int,
        latitude: float,
        longitude: float,
        *,
        altitude: float = 0.0,
        status: int = 0,
    ) -> None:
        message = self.make(
            'sensor_msgs/msg/NavSatFix',
            self.header(stamp_ns, 'gps'),
            self.make('sensor_msgs/msg/NavSatStatus', status, 1),
            latitude,
            longitude,
            altitude,
            np.zeros(9),
            0,
        )
        self.add(topic, message, stamp_ns)


def jpeg(grey: int = 128, width: int = 32, height: int = 24) -> bytes:
    return cv2.imencode('.jpg', np.full((height, width, 3), grey, np.uint8))[1].tobytes()


@pytest.fixture
def bag(tmp_path: Path) -> Any:
    """Return a function that starts a recording: bag(kind, compression)."""

    def start(kind: str = 'mcap', compression: str = '') -> BagBuilder:
        return BagBuilder(tmp_path, kind, compression)

    return start


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def t0() -> int:
    """A time at which recordings start, nanoseconds since the Unix epoch."""
    return T0
