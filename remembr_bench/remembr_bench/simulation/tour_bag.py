"""Records a tour of a building as a rosbag2 (mcap), with a truth file beside it.

Topics:
    /camera/image_raw/compressed   sensor_msgs/CompressedImage, JPEG 640x480, frame camera_optical_frame
    /camera/camera_info            sensor_msgs/CameraInfo of the colour image, no distortion
    /camera/depth/image_raw        sensor_msgs/Image 16UC1, mm, 160x120, 0 for none (intrinsics: a quarter)
    /tf, /tf_static                map -> odom (10 Hz) -> base_link (20 Hz) -> camera_link -> optical
    /amcl_pose                     geometry_msgs/PoseWithCovarianceStamped (5 Hz) in map, with noise of 1 cm
"""

import heapq
import math
import random
import shutil
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from remembr_bench.bag_writer import BagWriter, Intrinsics, Message
from remembr_bench.simulation.floor_plan import generate_building
from remembr_bench.simulation.renderer import Renderer, Shot
from remembr_bench.simulation.sight import CENTRE_PX, FOCAL_PX, FORWARD_M, HEIGHT, UP_M, WIDTH
from remembr_bench.simulation.tour import Tour, misplaced
from remembr_bench.simulation.truth import RecordingTruth, observe, save_truth
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import (
    Pose,
    Quaternion,
    StampedPose,
    Transform,
    compose,
    inverse,
    quaternion_from_yaw,
    wrap_angle,
)
from remembr_ros.timestamps import NS, parse_time

START_NS = parse_time('2026-03-02T09:00:00Z')
JPEG_QUALITY = 88

_ODOM_HZ = 20
_BASE, _CAMERA, _OPTICAL = 'base_link', 'camera_link', 'camera_optical_frame'
_OPTICAL_ROTATION: Quaternion = (-0.5, 0.5, -0.5, 0.5)
"""From x forward, y left, z up to z forward, x right, y down."""

_INTRINSICS = Intrinsics.pinhole((WIDTH, HEIGHT), FOCAL_PX, CENTRE_PX)

Progress = Callable[[int, int], None]

SCALE_ERROR = 0.01  # standard deviation of the error of the wheels' radius, as a part of it
YAW_DRIFT_RAD_PER_M = 0.002
"""Standard deviation of the heading's random walk, per square root of a metre driven."""

_COVARIANCE = np.diag([1e-4, 1e-4, 1e6, 1e6, 1e6, 9e-6]).reshape(-1)
"""Of /amcl_pose, 6 x 6, row by row; huge for what a planar robot does not measure."""


def record_building(
    path: Path,
    seed: int = 0,
    rate_hz: float = 5.0,
    progress: Progress = lambda done, total: None,
    duration_s: float | None = None,
) -> RecordingTruth:
    """Render a tour; write the bag into path/bag and the truth into path/truth.json.

    A recording that is already there is replaced. The same arguments give the same recording.

    :param path: a folder; made if missing
    :param seed: of the building and of the odometry's drift, 0 or more
    :param rate_hz: camera frames per second, at most 20
    :param progress: called with the number of frames done and of all frames, after each
    :param duration_s: stop after that much of the tour [s]; None: drive it all
    :return: what is in the truth file
    :raises InvalidRequest: an argument is out of range
    """
    if not 0.0 < rate_hz <= 20.0:
        raise InvalidRequest(f'a camera rate of {rate_hz} Hz; give more than 0 and at most 20')
    if duration_s is not None and not duration_s > 0.0:
        raise InvalidRequest(f'a tour of {duration_s} s; give a positive duration')
    building = generate_building(seed)
    tour = Tour(building)
    length_s = min(tour.duration_s, duration_s or tour.duration_s)
    count = int(length_s * rate_hz) + 1
    frames = [
        StampedPose(START_NS + round(i * NS / rate_hz), tour.pose_at(i / rate_hz)) for i in range(count)
    ]
    truth = observe(building, frames)
    path.mkdir(parents=True, exist_ok=True)
    if (path / 'bag').exists():
        shutil.rmtree(path / 'bag')
    with _TourBag(path / 'bag') as bag, Renderer(building) as renderer:

        def images() -> Iterator[Message]:
            for done, frame in enumerate(frames, start=1):
                yield from bag.images(frame.stamp_ns, renderer.shoot(frame.pose))
                progress(done, count)

        motion = sorted(bag.motion(tour, length_s, random.Random(seed)), key=itemgetter(0))
        for message in heapq.merge(motion, images(), key=itemgetter(0)):
            bag.write(*message)
    save_truth(truth, path / 'truth.json')
    return truth


class _TourBag(BagWriter):
    """Makes the messages of a tour."""

    def motion(self, tour: Tour, length_s: float, rng: random.Random) -> Iterator[Message]:
        """Yield transforms and localised poses."""
        camera = self.transform(START_NS, _BASE, _CAMERA, _transform(Pose(FORWARD_M, 0.0, UP_M)))
        optical = self.transform(START_NS, _CAMERA, _OPTICAL, ((0.0, 0.0, 0.0), _OPTICAL_ROTATION))
        yield START_NS, '/tf_static', self.tf(camera, optical)
        steps = int(length_s * _ODOM_HZ) + 1
        poses = [tour.pose_at(i / _ODOM_HZ) for i in range(steps)]
        for i, (in_map, in_odom) in enumerate(zip(poses, drifting_odometry(poses, rng), strict=True)):
            stamp = START_NS + i * NS // _ODOM_HZ
            yield stamp, '/tf', self.tf(self.transform(stamp, 'odom', _BASE, _transform(in_odom)))
            if i % 2 == 0:
                correction = compose(_transform(in_map), inverse(_transform(in_odom)))
                yield stamp, '/tf', self.tf(self.transform(stamp, 'map', 'odom', correction))
            if i % 4 == 0:
                yield stamp, '/amcl_pose', self._localised(stamp, misplaced(in_map, 0.01, 0.003, rng))

    def images(self, stamp_ns: int, shot: Shot) -> Iterator[Message]:
        """Yield one frame: colour, camera info, depth."""
        header = self.header(stamp_ns, _OPTICAL)
        yield stamp_ns, '/camera/image_raw/compressed', self.jpeg(header, shot.bgr, JPEG_QUALITY)
        yield stamp_ns, '/camera/camera_info', self.camera_info(header, _INTRINSICS)
        yield stamp_ns, '/camera/depth/image_raw', self.image(header, '16UC1', shot.depth_mm)

    def _localised(self, stamp_ns: int, pose: Pose) -> Any:
        return self.make(
            'geometry_msgs/msg/PoseWithCovarianceStamped',
            header=self.header(stamp_ns, 'map'),
            pose=self.make(
                'geometry_msgs/msg/PoseWithCovariance',
                pose=self.make(
                    'geometry_msgs/msg/Pose',
                    position=self.make('geometry_msgs/msg/Point', x=pose.x, y=pose.y, z=pose.z),
                    orientation=self.quaternion(*quaternion_from_yaw(pose.yaw)),
                ),
                covariance=_COVARIANCE,
            ),
        )


def _transform(pose: Pose) -> Transform:
    return pose.position, quaternion_from_yaw(pose.yaw)


def drifting_odometry(poses: Sequence[Pose], rng: random.Random) -> list[Pose]:
    """Return what wheel odometry makes of a drive.

    :param poses: the true poses in the map frame, close together
    :return: as many poses in the odom frame, whose origin is where the robot started
    """
    scale = 1.0 + rng.gauss(0.0, SCALE_ERROR)
    x = y = yaw = 0.0
    drifted = [Pose(0.0, 0.0, 0.0, 0.0)]
    for before, after in pairwise(poses):
        dx, dy = after.x - before.x, after.y - before.y
        forward = scale * (dx * math.cos(before.yaw) + dy * math.sin(before.yaw))
        left = scale * (dy * math.cos(before.yaw) - dx * math.sin(before.yaw))
        x += forward * math.cos(yaw) - left * math.sin(yaw)
        y += forward * math.sin(yaw) + left * math.cos(yaw)
        turned = wrap_angle(after.yaw - before.yaw)
        yaw = wrap_angle(yaw + turned + rng.gauss(0.0, YAW_DRIFT_RAD_PER_M * math.sqrt(math.hypot(dx, dy))))
        drifted.append(Pose(x, y, 0.0, yaw))
    return drifted
