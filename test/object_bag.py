"""Recordings of a robot that drives towards a red square before a wall, and detectors for them."""

import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point, Transform, compose, quaternion_from_yaw
from remembr_ros.images import Bgr
from remembr_ros.objects.camera import Pinhole, to_parent
from remembr_ros.objects.detectors.detection import Detection
from remembr_ros.timestamps import NS
from test.object_scene import AHEAD, CAMERA, T0
from test.unit.bags.conftest import BagBuilder

SQUARE = (2.0, 0.0, 1.0)
"""Where the middle of the square is [m]: it is half a metre wide and high, and faces the robot."""
HALF_M, WALL_M = 0.25, 4.0
BESIDE: Transform = compose(((0.03, -0.08, 1.04), quaternion_from_yaw(0.12)), ((0.0, 0.0, 0.0), AHEAD[1]))
"""A depth camera beside the colour camera, which looks elsewhere; in the robot's base."""
DEPTH = Pinhole(120, 90, 80.0, 82.0, 61.0, 44.0)
"""What that camera is like: wider than the other, and coarser."""
IMAGES, DEPTHS = '/camera/color/image_raw', '/camera/depth/image_raw'
INFO, DEPTH_INFO = '/camera/color/camera_info', '/camera/depth/camera_info'

Depth = NDArray[np.float32]


@dataclass
class Drive:
    """What is recorded.

    :param registered: the depth image is that of the colour camera
    :param depth: how it is sent: an encoding, 'png', 'compressedDepth' or 'quantised'; empty: not at all
    :param size: of a registered depth image, (width, height) [px]
    :param missing: topics that are left out
    :param changed: to what a topic's camera info is changed
    :param deep: to what a depth image is changed before it is sent, by the number of the image
    :param depth_late_ns: by how much the depth is from another time than the image
    :param tf_until: no transform of the robot from this image on
    :param tf_last: first the image is recorded, then its depth, then where the robot was
    :param stamps: by how much the clock is wrong at an image, by its number [ns]
    :param info_stamps: the same for its camera info only
    :param turning: how fast the robot turns [rad/s]
    :param localised_at: what a topic says of where the robot is, beside TF
    """

    images: int = 8
    kind: str = 'mcap'
    registered: bool = True
    depth: str = '16UC1'
    size: tuple[int, int] = (CAMERA.width, CAMERA.height)
    missing: Sequence[str] = ()
    changed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    deep: Callable[[Depth, int], Depth] = lambda metres, number: metres
    depth_late_ns: int = 0
    tf_until: int = 1000
    tf_last: bool = False
    stamps: Callable[[int], int] = lambda number: 0
    info_stamps: Callable[[int], int] = lambda number: 0
    map_frame: str = 'map'
    turning: float = 0.0
    localised_at: Point | None = None

    def write(self, folder: Path) -> Path:
        """Return the path of the recording: five images a second, of a robot that drives 0.2 m/s."""
        with BagBuilder(folder, self.kind) as bag:
            bag.tf(T0, 'base_link', 'color_optical', AHEAD[0], rotation=AHEAD[1], topic='/tf_static')
            bag.tf(T0, 'base_link', 'depth_optical', BESIDE[0], rotation=BESIDE[1], topic='/tf_static')
            for number in range(self.images):
                self._write_one(bag, number)
        return bag.path

    def base(self, since_ns: int) -> Transform:
        """Return where the robot is so long after the start."""
        seconds = since_ns / NS
        return (0.2 * seconds, 0.0, 0.0), quaternion_from_yaw(self.turning * (seconds - 0.7))

    def _write_one(self, bag: BagBuilder, number: int) -> None:
        since_ns = number * NS // 5
        wrong_ns, self._log_ns = self.stamps(number), T0 + since_ns
        base, deep = self.base(since_ns), self.base(since_ns + self.depth_late_ns)
        ns = T0 + since_ns + wrong_ns
        if not self.tf_last and number < self.tf_until:
            self._tf(bag, ns, base)
        self._info(bag, ns + self.info_stamps(number), INFO, CAMERA, 'color_optical')
        if self.depth and not self.tf_last:
            self._depth(bag, ns + self.depth_late_ns, number, deep)
        if IMAGES not in self.missing:
            with self._later(bag):
                bag.image(IMAGES, ns, picture(CAMERA, compose(base, AHEAD)), frame='color_optical')
        if self.depth and self.tf_last:
            self._depth(bag, ns + self.depth_late_ns, number, deep)
        if self.tf_last and number < self.tf_until:
            self._tf(bag, ns, base)

    def _tf(self, bag: BagBuilder, ns: int, base: Transform) -> None:
        with self._later(bag):
            bag.tf(ns, self.map_frame, 'base_link', base[0], rotation=base[1])
            if self.localised_at is not None:
                bag.pose_with_covariance('/amcl_pose', ns, self.localised_at)

    @contextmanager
    def _later(self, bag: BagBuilder) -> Iterator[None]:
        """Record what is added now after all that was added, whatever its stamp."""

        def raw(topic: str, msgtype: str, data: bytes, log_ns: int) -> None:
            self._log_ns += 1
            BagBuilder.raw(bag, topic, msgtype, data, self._log_ns)

        bag.raw = raw  # type: ignore[method-assign]
        try:
            yield
        finally:
            del bag.raw

    def _info(self, bag: BagBuilder, ns: int, topic: str, camera: Pinhole, frame: str) -> None:
        if topic in self.missing:
            return
        k = [camera.fx, 0.0, camera.cx, 0.0, camera.fy, camera.cy, 0.0, 0.0, 1.0]
        fields = {'k': np.array(k), 'width': camera.width, 'height': camera.height}
        fields |= self.changed.get(topic, {})
        fields |= {'d': np.zeros(5), 'r': np.eye(3).ravel(), 'p': np.zeros(12)}
        if bag.is_ros1:
            fields = {name.upper() if len(name) == 1 else name: value for name, value in fields.items()}
        message = bag.make(
            'sensor_msgs/msg/CameraInfo',
            header=bag.header(ns, frame),
            distortion_model='plumb_bob',
            binning_x=0,
            binning_y=0,
            roi=bag.make('sensor_msgs/msg/RegionOfInterest', 0, 0, 0, 0, False),
            **fields,
        )
        with self._later(bag):
            bag.add(topic, message, ns)

    def _depth(self, bag: BagBuilder, ns: int, number: int, base: Transform) -> None:
        frame, camera, mount = 'depth_optical', DEPTH, BESIDE
        if self.registered:
            frame, camera, mount = 'color_optical', CAMERA.at(*self.size, 'depth'), AHEAD
        self._info(bag, ns, DEPTH_INFO, camera, frame)
        if DEPTHS in self.missing:
            return
        metres = self.deep(measured(camera, compose(base, mount)), number)
        with self._later(bag):
            self._send(bag, ns, metres, frame)

    def _send(self, bag: BagBuilder, ns: int, metres: Depth, frame: str) -> None:
        millimetres = np.round(np.nan_to_num(metres) * 1000.0).astype(np.uint16)
        png = cv2.imencode('.png', millimetres)[1].tobytes()
        if self.depth == 'png':
            bag.compressed(f'{DEPTHS}/compressed', ns, png, form='16UC1; png compressed', frame=frame)
        elif self.depth == 'compressedDepth':
            form = '16UC1; compressedDepth png'
            bag.compressed(f'{DEPTHS}/compressedDepth', ns, bytes(12) + png, form=form, frame=frame)
        elif self.depth == 'quantised':  # as compressed_depth_image_transport does
            a, b = 100.0 * 101.0, 1.0 - 101.0 / 10.0
            inverse = np.round(a / metres + b).astype(np.uint16)
            data = struct.pack('<iff', 0, a, b) + cv2.imencode('.png', inverse)[1].tobytes()
            form = '32FC1; compressedDepth png'
            bag.compressed(f'{DEPTHS}/compressedDepth', ns, data, form=form, frame=frame)
        else:
            pixels = metres if self.depth == '32FC1' else millimetres
            bag.image(DEPTHS, ns, pixels, encoding=self.depth, frame=frame)


def camera_info(camera: Pinhole) -> Any:
    """Return a camera as a message of its own says it."""
    k = (camera.fx, 0.0, camera.cx, 0.0, camera.fy, camera.cy, 0.0, 0.0, 1.0)
    return SimpleNamespace(
        k=k, width=camera.width, height=camera.height, header=SimpleNamespace(frame_id='cam')
    )


def measured(camera: Pinhole, pose: Transform) -> Depth:
    """Return what a depth camera measures there [m]."""
    return np.asarray(_cast(camera, pose)[0], np.float32)


def picture(camera: Pinhole, pose: Transform) -> Bgr:
    """Return what a camera sees there: a red square before a light wall."""
    image = np.full((camera.height, camera.width, 3), 200, np.uint8)
    image[_cast(camera, pose)[1]] = (30, 30, 200)
    return image


def _cast(camera: Pinhole, pose: Transform) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    v, u = np.mgrid[: camera.height, : camera.width]
    rays = np.stack([(u - camera.cx) / camera.fx, (v - camera.cy) / camera.fy, np.ones(u.shape)], axis=2)
    rays = to_parent(rays.reshape(-1, 3), ((0.0, 0.0, 0.0), pose[1])).reshape(rays.shape)
    near = (SQUARE[0] - pose[0][0]) / rays[..., 0]
    hit = near[..., None] * rays + np.array(pose[0]) - np.array(SQUARE)
    square = (np.abs(hit[..., 1]) <= HALF_M) & (np.abs(hit[..., 2]) <= HALF_M)
    return np.where(square, near, (WALL_M - pose[0][0]) / rays[..., 0]), square


class RedThings:
    """A detector that boxes what is red, and says of it what it is told to."""

    name = 'red'

    def __init__(self, more: Callable[[Detection], list[Detection]] = lambda one: [one]) -> None:
        self._more = more

    def detect(self, image: Bgr, stamp_ns: int, camera: str = '') -> list[Detection]:
        """Return the box around what is red."""
        rows, columns = np.nonzero((image[..., 2] > 120) & (image[..., 1] < 80))
        if not len(rows):
            return []
        box = (float(columns.min()), float(rows.min()), columns.max() + 1.0, rows.max() + 1.0)
        return self._more(Detection(stamp_ns, camera, box, {'mug': 0.9}))

    def close(self) -> None:
        """Nothing is to be closed."""


def tiny_yolox(
    path: Path, box: Sequence[float], *, side: int = 64, scores: Sequence[float] = (0.9, 0.1)
) -> Path:
    """Write a model of the YOLOX family that sees one thing, always at the same place.

    :param box: left, top, right and bottom [px] of the model's input
    :param side: of its input [px]
    :param scores: of its classes
    """
    cells = [(side // stride) ** 2 for stride in (8, 16, 32)]
    rows = np.zeros((1, sum(cells), 5 + len(scores)), np.float32)
    middle = (box[0] + box[2]) / 2.0 / 8.0, (box[1] + box[3]) / 2.0 / 8.0  # of the first cell, at 0, 0
    size = np.log((box[2] - box[0]) / 8.0), np.log((box[3] - box[1]) / 8.0)
    rows[0, 0] = (*middle, *size, 1.0, *scores)
    path.write_bytes(constant_model((1, 3, side, side), rows))
    return path


def constant_model(takes: Sequence[int], gives: NDArray[np.float32]) -> bytes:
    """Return an ONNX model that gives the same, whatever it takes."""
    tensor = b''.join(_int(1, side) for side in gives.shape) + _int(2, 1) + _bytes(8, b'rows')
    tensor += _bytes(9, np.ascontiguousarray(gives, '<f4').tobytes())
    node = _bytes(1, b'rows') + _bytes(2, b'output') + _bytes(4, b'Identity')
    graph = _bytes(1, node) + _bytes(2, b'tiny') + _bytes(5, tensor)
    graph += _bytes(11, _value(b'images', takes)) + _bytes(12, _value(b'output', gives.shape))
    return _int(1, 8) + _bytes(7, graph) + _bytes(8, _int(2, 13))


def _value(name: bytes, shape: Sequence[int]) -> bytes:
    sides = b''.join(_bytes(1, _int(1, side)) for side in shape)
    return _bytes(1, name) + _bytes(2, _bytes(1, _int(1, 1) + _bytes(2, sides)))


def _int(number: int, value: int) -> bytes:
    return _varint(number << 3) + _varint(value)


def _bytes(number: int, value: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(value)) + value


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes((*found, value))
