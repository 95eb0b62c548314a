"""Writes a rosbag2 (mcap, zstd): messages by name and fields, transforms, camera intrinsics."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Transform
from remembr_ros.images import Bgr, encode_jpeg
from remembr_ros.timestamps import NS

_Self = TypeVar('_Self', bound='BagWriter')

Message = tuple[int, str, Any]
"""Stamp [ns], topic, message."""


@dataclass(frozen=True, slots=True)
class Intrinsics:
    """A camera's intrinsics, as in sensor_msgs/CameraInfo, row by row.

    :param size: width and height [px]
    :param k: 3x3 [px]
    :param p: 3x4 [px], projection of the rectified camera
    :param d: distortion, plumb_bob
    :param r: 3x3, rotation from the camera to the rectified camera: p_rectified = R p
    """

    size: tuple[int, int]
    k: tuple[float, ...]
    p: tuple[float, ...]
    d: tuple[float, ...] = (0.0,) * 5
    r: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

    @classmethod
    def pinhole(cls, size: tuple[int, int], focal_px: float, centre_px: tuple[float, float]) -> 'Intrinsics':
        """Return those of a camera without distortion, with square pixels."""
        rows = np.array(
            [[focal_px, 0.0, centre_px[0], 0.0], [0.0, focal_px, centre_px[1], 0.0], [0, 0, 1, 0]]
        )
        return cls(size, tuple(rows[:, :3].ravel().tolist()), tuple(rows.ravel().tolist()))


class BagWriter:
    """Makes messages of ROS 2 Jazzy and writes them into one bag; a context manager.

    A bag that is left by an exception has no index and no metadata.

    :param path: the bag's folder, which must not exist; the recording in it has the folder's name
    """

    def __init__(self, path: Path) -> None:
        from rosbags.interfaces import Qos, QosDurability, QosHistory, QosLiveliness, QosReliability, QosTime
        from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin, Writer
        from rosbags.typesys import Stores, get_typestore

        self._store = get_typestore(Stores.ROS2_JAZZY)
        self._types = self._store.types
        self._writer = Writer(path, version=9, storage_plugin=StoragePlugin.MCAP)
        self._writer.set_compression(CompressionMode.STORAGE, CompressionFormat.ZSTD)
        forever = QosTime(2147483647, 4294967295)
        self._latched = Qos(
            QosHistory.KEEP_LAST,
            1,
            QosReliability.RELIABLE,
            QosDurability.TRANSIENT_LOCAL,
            forever,
            forever,
            QosLiveliness.AUTOMATIC,
            forever,
            avoid_ros_namespace_conventions=False,
        )
        self._connections: dict[str, Any] = {}

    def __enter__(self: _Self) -> _Self:
        self._writer.__enter__()
        return self

    def __exit__(self, *raised: Any) -> None:
        self._writer.__exit__(*raised)

    def write(self, stamp_ns: int, topic: str, message: Any) -> None:
        """Write one message; a topic begins with its first. The caller keeps to the order of time.

        :param stamp_ns: time of recording, nanoseconds since the Unix epoch
        """
        kind = message.__msgtype__
        if topic not in self._connections:
            self._connections[topic] = self._writer.add_connection(
                topic,
                kind,
                typestore=self._store,
                offered_qos_profiles=[self._latched] if topic == '/tf_static' else [],
            )
        self._writer.write(self._connections[topic], stamp_ns, self._store.serialize_cdr(message, kind))

    def make(self, name: str, **fields: Any) -> Any:
        """Return a message.

        :param name: such as 'sensor_msgs/msg/CompressedImage'
        """
        return self._types[name](**fields)

    def header(self, stamp_ns: int, frame_id: str) -> Any:
        """Return a std_msgs/Header."""
        stamp = self.make('builtin_interfaces/msg/Time', sec=stamp_ns // NS, nanosec=stamp_ns % NS)
        return self.make('std_msgs/msg/Header', stamp=stamp, frame_id=frame_id)

    def vector(self, x: float, y: float, z: float) -> Any:
        """Return a geometry_msgs/Vector3."""
        return self.make('geometry_msgs/msg/Vector3', x=x, y=y, z=z)

    def quaternion(self, x: float, y: float, z: float, w: float) -> Any:
        """Return a geometry_msgs/Quaternion."""
        return self.make('geometry_msgs/msg/Quaternion', x=x, y=y, z=z, w=w)

    def transform(self, stamp_ns: int, parent: str, child: str, transform: Transform) -> Any:
        """Return a geometry_msgs/TransformStamped: the pose of the child in the parent."""
        translation, rotation = transform
        return self.make(
            'geometry_msgs/msg/TransformStamped',
            header=self.header(stamp_ns, parent),
            child_frame_id=child,
            transform=self.make(
                'geometry_msgs/msg/Transform',
                translation=self.vector(*translation),
                rotation=self.quaternion(*rotation),
            ),
        )

    def tf(self, *transforms: Any) -> Any:
        """Return a tf2_msgs/TFMessage."""
        return self.make('tf2_msgs/msg/TFMessage', transforms=list(transforms))

    def jpeg(self, header: Any, bgr: Bgr, quality: int) -> Any:
        """Return a sensor_msgs/CompressedImage of a picture."""
        return self.compressed_image(header, 'jpeg', np.frombuffer(encode_jpeg(bgr, quality), np.uint8))

    def image(self, header: Any, encoding: str, values: NDArray[np.uint16]) -> Any:
        """Return a sensor_msgs/Image of 16-bit values, shape (height, width)."""
        rows, columns = values.shape
        return self.make(
            'sensor_msgs/msg/Image',
            header=header,
            height=rows,
            width=columns,
            encoding=encoding,
            is_bigendian=0,
            step=2 * columns,
            data=values.astype('<u2').reshape(-1).view(np.uint8),
        )

    def compressed_image(self, header: Any, form: str, data: Any) -> Any:
        """Return a sensor_msgs/CompressedImage.

        :param form: 'jpeg' or 'png'
        :param data: the file's bytes, an array of uint8
        """
        return self.make('sensor_msgs/msg/CompressedImage', header=header, format=form, data=data)

    def camera_info(self, header: Any, intrinsics: Intrinsics) -> Any:
        """Return a sensor_msgs/CameraInfo with the distortion model plumb_bob."""
        width, height = intrinsics.size
        whole = dict.fromkeys(('x_offset', 'y_offset', 'height', 'width'), 0)
        return self.make(
            'sensor_msgs/msg/CameraInfo',
            header=header,
            height=height,
            width=width,
            distortion_model='plumb_bob',
            **{name: np.array(getattr(intrinsics, name), np.float64) for name in 'dkrp'},
            binning_x=0,
            binning_y=0,
            roi=self.make('sensor_msgs/msg/RegionOfInterest', **whole, do_rectify=False),
        )
