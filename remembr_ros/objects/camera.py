"""Pinhole cameras, what depth cameras measure, and points between frames."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Transform
from remembr_ros.image_transport import is_zstd, raw_image
from remembr_ros.images import MAX_DECODED_BYTES, compressed_values, raw_values

Points = NDArray[np.float64]
"""Shape (n, 3) [m]."""

OTHER_SHAPE = 0.02  # by so much the sides of an image and of its camera info may differ in proportion

Depth = NDArray[np.float32]
"""Shape (height, width) [m]; 0 or not finite: not measured."""


@dataclass(frozen=True, slots=True)
class Pinhole:
    """A camera without distortion: of the cameras that measure depth, that moves a pixel or two.

    :param width: [px], as height
    :param fx: focal length [px], as fy
    :param cx: principal point [px], as cy
    """

    width: int
    height: int
    fx: float
    fy: float
    cx: float
    cy: float

    @classmethod
    def of(cls, info: Any) -> 'Pinhole':
        """Return the camera of a sensor_msgs/CameraInfo, a message of ROS or of a recording.

        :raises InvalidRequest: it is not calibrated
        """
        k = info.k if hasattr(info, 'k') else info.K  # ROS 1 has it in capitals
        width, height = int(info.width), int(info.height)
        fx, fy, cx, cy = (float(k[i]) for i in (0, 4, 2, 5))
        if not (min(width, height) > 0 and min(fx, fy) > 0.0 and all(map(math.isfinite, (fx, fy, cx, cy)))):
            frame_id = info.header.frame_id
            raise InvalidRequest(f'the camera info of {frame_id!r} lacks size or focal lengths, calibrate it')
        return cls(width, height, fx, fy, cx, cy)

    def at(self, width: int, height: int, image: str) -> 'Pinhole':
        """Return the same camera at the resolution of an image: drivers publish both at different ones.

        :param image: what the image is, for the error
        :raises InvalidRequest: the image has another shape
        """
        if (self.width, self.height) == (width, height):
            return self
        if abs(self.width * height - self.height * width) > OTHER_SHAPE * self.width * height:
            turned = ', turned by 90 degrees' if (self.height, self.width) == (width, height) else ''
            raise InvalidRequest(
                f'the {image} has {width} x {height} pixels, its camera info is of {self.width} x '
                f'{self.height}{turned}: let the driver publish both of the same camera'
            )
        x, y = width / self.width, height / self.height
        # Pixel centres: the middle of the image stays its middle.
        cx, cy = (self.cx + 0.5) * x - 0.5, (self.cy + 0.5) * y - 0.5
        return Pinhole(width, height, self.fx * x, self.fy * y, cx, cy)

    @property
    def matrix(self) -> NDArray[np.float64]:
        """From points of the optical frame to pixels times depth, (u z, v z, z): shape (3, 3)."""
        return np.array([[self.fx, 0.0, self.cx], [0.0, self.fy, self.cy], [0.0, 0.0, 1.0]])

    def unproject(self, u: NDArray[Any], v: NDArray[Any], z: NDArray[np.float64]) -> Points:
        """Return the points of the optical frame that appear at columns u and rows v, z [m] ahead."""
        return np.stack([(u - self.cx) / self.fx * z, (v - self.cy) / self.fy * z, z], axis=1)


NO_CAMERA = Pinhole(1, 1, 1.0, 1.0, 0.0, 0.0)
"""Stands in where what told of things is no camera, or nobody knows which."""


def rotation_matrix(transform: Transform) -> NDArray[np.float64]:
    """Return the rotation of a transform, shape (3, 3)."""
    from scipy.spatial.transform import Rotation

    matrix: NDArray[np.float64] = Rotation.from_quat(transform[1]).as_matrix()
    return matrix


def to_parent(points: Points, transform: Transform) -> Points:
    """Return points of a frame in its parent."""
    moved: Points = points @ rotation_matrix(transform).T + np.array(transform[0])
    return moved


def depth_of(message: Any) -> Depth:
    """Return the depth of a sensor_msgs/Image or CompressedImage: a PNG of 16 bits, also of compressedDepth,
    or raw packed by zstd.

    :raises ValueError: it is no depth image, or damaged
    """
    m = message
    if not hasattr(m, 'format'):
        return _metres(raw_values(m.encoding, m.width, m.height, m.step, bool(m.is_bigendian), m.data))
    if is_zstd(m.format):
        return _metres(raw_values(*raw_image(bytes(m.data), MAX_DECODED_BYTES)))
    values = compressed_values(m.format, m.data)
    if values.ndim != 2 or values.dtype != np.uint16:
        raise ValueError(f'the compressed depth image ({m.format!r}) is no PNG of 16 bits')
    if 'compresseddepth' in m.format.lower() and m.format.strip().lower().startswith('32fc1'):
        # image_transport keeps the inverse of the depth, and how it was made before the picture.
        a, b = np.frombuffer(bytes(m.data[4:12]), '<f4')
        with np.errstate(divide='ignore'):
            return np.where(values > 0, a / (values.astype(np.float32) - b), 0.0).astype(np.float32)
    return _metres(values)


def has_depth(depth: Depth) -> bool:
    """Tell whether anything was measured: a camera that is covered, or too near, sends zeros."""
    return bool(np.any((depth > 0.0) & np.isfinite(depth)))


def _metres(values: NDArray[Any]) -> Depth:
    return np.asarray(values * np.float32(0.001) if values.dtype == np.uint16 else values, np.float32)
