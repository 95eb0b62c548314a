"""Records a tour of a building as a rosbag2 (mcap), with a truth file beside it.

Topics:
    /camera/image_raw/compressed   sensor_msgs/CompressedImage, JPEG 640x480, frame camera_optical_frame
    /camera/camera_info            sensor_msgs/CameraInfo of the colour image, no distortion
    /camera/depth/image_raw        sensor_msgs/Image 16UC1, mm, 160x120, 0 for none (intrinsics: a quarter)
    /tf, /tf_static                map -> odom (10 Hz) -> base_link (20 Hz) -> camera_link -> optical
    /odom                          nav_msgs/Odometry (20 Hz) in odom, drifting
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
from numpy.typing import NDArray

from remembr_ros.bags.writer import BagWriter, Intrinsics, Message
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose, Quaternion, StampedPose, quaternion_from_yaw, wrap_angle
from remembr_ros.simulation.camera import CENTRE_PX, FOCAL_PX, FORWARD_M, HEIGHT, UP_M, WIDTH
from remembr_ros.simulation.floor_plan import generate_building
from remembr_ros.simulation.renderer import Renderer, Shot
from remembr_ros.simulation.tour import Tour
from remembr_ros.simulation.truth import RecordingTruth, observe, save_truth
from remembr_ros.timestamps import NS, parse_time

START_NS = parse_time('2026-03-02T09:00:00Z')
JPEG_QUALITY = 88

_ODOM_HZ = 20
_BASE, _CAMERA, _OPTICAL = 'base_link', 'camera_link', 'camera_optical_frame'
_OPTICAL_ROTATION: Quaternion = (-0.5, 0.5, -0.5, 0.5)
"""From x forward, y left, z up to z forward, x right, y down."""

_INTRINSICS = Intrinsics(
    (WIDTH, HEIGHT),
    k=(FOCAL_PX, 0.0, CENTRE_PX[0], 0.0, FOCAL_PX, CENTRE_PX[1], 0.0, 0.0, 1.0),
    p=(FOCAL_PX, 0.0, CENTRE_PX[0], 0.0, 0.0, FOCAL_PX, CENTRE_PX[1], 0.0, 0.0, 0.0, 1.0, 0.0),
)

Progress = Callable[[int, int], None]

SCALE_ERROR = 0.01  # standard deviation of the error of the wheels' radius, as a part of it
YAW_DRIFT_RAD_PER_M = 0.002
"""Standard deviation of the heading's random walk, per square root of a metre driven."""


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
        """Yield transforms, odometry and localised poses."""
        camera = self._planar(START_NS, _BASE, _CAMERA, Pose(FORWARD_M, 0.0, UP_M))
        optical = self.transform(START_NS, _CAMERA, _OPTICAL, ((0.0, 0.0, 0.0), _OPTICAL_ROTATION))
        yield START_NS, '/tf_static', self.tf(camera, optical)
        steps = int(length_s * _ODOM_HZ) + 1
        poses = [tour.pose_at(i / _ODOM_HZ) for i in range(steps)]
        for i, (in_map, in_odom) in enumerate(zip(poses, drifting_odometry(poses, rng), strict=True)):
            stamp = START_NS + i * NS // _ODOM_HZ
            yield stamp, '/tf', self.tf(self._planar(stamp, 'odom', _BASE, in_odom))
            if i % 2 == 0:
                corrected = self._planar(stamp, 'map', 'odom', correction(in_map, in_odom))
                yield stamp, '/tf', self.tf(corrected)
            yield stamp, '/odom', self._odometry(stamp, in_odom, tour, i / _ODOM_HZ)
            if i % 4 == 0:
                yield stamp, '/amcl_pose', self._localised(stamp, in_map, rng)

    def images(self, stamp_ns: int, shot: Shot) -> Iterator[Message]:
        """Yield one frame: colour, camera info, depth."""
        header = self.header(stamp_ns, _OPTICAL)
        yield stamp_ns, '/camera/image_raw/compressed', self.jpeg(header, shot.bgr, JPEG_QUALITY)
        yield stamp_ns, '/camera/camera_info', self.camera_info(header, _INTRINSICS)
        yield stamp_ns, '/camera/depth/image_raw', self.image(header, '16UC1', shot.depth_mm)

    def _planar(self, stamp_ns: int, parent: str, child: str, pose: Pose) -> Any:
        return self.transform(stamp_ns, parent, child, (pose.position, quaternion_from_yaw(pose.yaw)))

    def _pose(self, pose: Pose, covariance: NDArray[np.float64]) -> Any:
        return self.make(
            'geometry_msgs/msg/PoseWithCovariance',
            pose=self.make(
                'geometry_msgs/msg/Pose',
                position=self.make('geometry_msgs/msg/Point', x=pose.x, y=pose.y, z=pose.z),
                orientation=self.quaternion(*quaternion_from_yaw(pose.yaw)),
            ),
            covariance=covariance,
        )

    def _odometry(self, stamp_ns: int, pose: Pose, tour: Tour, t_s: float) -> Any:
        twist = tour.twist_at(t_s)
        return self.make(
            'nav_msgs/msg/Odometry',
            header=self.header(stamp_ns, 'odom'),
            child_frame_id=_BASE,
            pose=self._pose(pose, _covariance(0.01, 0.01, 0.005)),
            twist=self.make(
                'geometry_msgs/msg/TwistWithCovariance',
                twist=self.make(
                    'geometry_msgs/msg/Twist',
                    linear=self.vector(twist.forward, 0.0, 0.0),
                    angular=self.vector(0.0, 0.0, twist.turning),
                ),
                covariance=_covariance(1e-4, 1e-4, 1e-4),
            ),
        )

    def _localised(self, stamp_ns: int, pose: Pose, rng: random.Random) -> Any:
        noisy = Pose(
            pose.x + rng.gauss(0.0, 0.01),
            pose.y + rng.gauss(0.0, 0.01),
            0.0,
            wrap_angle(pose.yaw + rng.gauss(0.0, 0.003)),
        )
        return self.make(
            'geometry_msgs/msg/PoseWithCovarianceStamped',
            header=self.header(stamp_ns, 'map'),
            pose=self._pose(noisy, _covariance(1e-4, 1e-4, 9e-6)),
        )


def _covariance(x: float, y: float, yaw: float) -> NDArray[np.float64]:
    """Return a diagonal 6x6 covariance, row by row; huge for what a planar robot does not measure."""
    return np.diag([x, y, 1e6, 1e6, 1e6, yaw]).reshape(-1).astype(np.float64)


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


def correction(in_map: Pose, in_odom: Pose) -> Pose:
    """Return the transform map -> odom under which both poses of base_link are the same."""
    yaw = wrap_angle(in_map.yaw - in_odom.yaw)
    cosine, sine = math.cos(yaw), math.sin(yaw)
    return Pose(
        in_map.x - (in_odom.x * cosine - in_odom.y * sine),
        in_map.y - (in_odom.x * sine + in_odom.y * cosine),
        0.0,
        yaw,
    )
