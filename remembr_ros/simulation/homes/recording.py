"""What a robot saw of a home, as frames or as a rosbag2 (mcap), and what is true about it.

Topics, all of the frame camera_optical_frame and of 320x240 pixels, depth registered:
    /camera/color/image_raw/compressed   sensor_msgs/CompressedImage, JPEG
    /camera/depth/image_raw              sensor_msgs/Image 16UC1, mm, 0 for none
    /camera/instances/image_raw          sensor_msgs/Image 16UC1: the number of the item at each pixel
    /camera/color/camera_info, /camera/depth/camera_info
    /tf, /tf_static                      map -> base_link -> camera_optical_frame, at each image
"""

import json
import math
import random
import shutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.bags.writer import BagWriter, Intrinsics
from remembr_ros.geometry import Point, Pose, quaternion_from_yaw, wrap_angle
from remembr_ros.simulation.homes.home import Home, centre_of
from remembr_ros.simulation.homes.renderer import CAMERA, MOUNT, OPTICAL, RATE_HZ, HomeFrame, frames_of
from remembr_ros.simulation.homes.rounds import drive

SHOWN_PX = 20  # an item of fewer pixels cannot be told
JPEG_QUALITY = 90
_FRAME = 'camera_optical_frame'


@dataclass(frozen=True, slots=True)
class Stay:
    """Where an item is during a visit.

    :param position: middle of its box [m]
    :param receptacle: number of the item that it stands on or in; 0: the floor
    :param frames: how many show it
    """

    position: Point
    room: str
    receptacle: int
    frames: int


@dataclass(frozen=True, slots=True)
class ItemTruth:
    """An item, and where it is during each visit; None: it is not there.

    :param size: of its box [m]
    """

    number: int
    label: str
    colour: str
    kind: str
    size: Point
    stays: tuple[Stay | None, ...]


@dataclass(frozen=True, slots=True)
class HomeTruth:
    """What is true about the visits to a home. Positions are in the map frame.

    :param visits: first and last stamp of each [ns]
    """

    seed: int
    visits: tuple[tuple[int, int], ...]
    items: tuple[ItemTruth, ...]
    frame_id: str = 'map'


def truth_of(home: Home, shown: Sequence[NDArray[np.int64]], rate_hz: float = RATE_HZ) -> HomeTruth:
    """Return what is true.

    :param shown: by visit, how many frames show each item, by its number; see count_shown
    """
    items = []
    for item in home.items:
        stays = [
            None
            if (there := visit.placements.get(item.number)) is None
            else Stay(
                centre_of(item, there),
                home.room_at(*there.bottom[:2]),
                there.receptacle,
                int(count[item.number]),
            )
            for visit, count in zip(home.visits, shown, strict=True)
        ]
        items.append(ItemTruth(item.number, item.label, item.colour, item.kind, item.size, tuple(stays)))
    stamps = [[stamp_ns for stamp_ns, _ in drive(visit, rate_hz)] for visit in home.visits]
    return HomeTruth(home.seed, tuple((each[0], each[-1]) for each in stamps), tuple(items))


def shows(home: Home, frame: HomeFrame) -> NDArray[np.int64]:
    """Return 1 for each item that a frame shows, by its number, else 0."""
    pixels = np.bincount(frame.instances.ravel(), minlength=len(home.items) + 1)
    return (pixels >= SHOWN_PX).astype(np.int64)


def misplaced(pose: Pose, position_m: float, yaw_rad: float, rng: random.Random) -> Pose:
    """Return a pose as a localisation with these standard deviations, of x, y and yaw, tells it."""
    x, y = pose.x + rng.gauss(0.0, position_m), pose.y + rng.gauss(0.0, position_m)
    return Pose(x, y, pose.z, wrap_angle(pose.yaw + rng.gauss(0.0, yaw_rad)))


def record_home(
    path: Path,
    home: Home,
    *,
    rate_hz: float = RATE_HZ,
    pose_m: float = 0.0,
    pose_deg: float = 0.0,
    progress: Callable[[], object] = lambda: None,
) -> HomeTruth:
    """Render all visits; write the bag into path/bag and the truth into path/truth.json.

    A recording that is already there is replaced. The same arguments give the same recording.

    :param pose_m: standard deviation of the recorded x and y of the robot [m]
    :param pose_deg: of its yaw [degrees]
    :param progress: called after each frame
    :raises RemembrError: the extra simulation is not installed
    """
    path.mkdir(parents=True, exist_ok=True)
    if (path / 'bag').exists():
        shutil.rmtree(path / 'bag')
    k = (CAMERA.fx, 0.0, CAMERA.cx, 0.0, CAMERA.fy, CAMERA.cy, 0.0, 0.0, 1.0)
    intrinsics = Intrinsics((CAMERA.width, CAMERA.height), k, (*k[:3], 0.0, *k[3:6], 0.0, *k[6:], 0.0))
    rng, shown = random.Random(home.seed), []
    with BagWriter(path / 'bag') as bag:
        mount = bag.transform(home.visits[0].start_ns, 'base_link', _FRAME, (MOUNT, OPTICAL))
        bag.write(home.visits[0].start_ns, '/tf_static', bag.tf(mount))
        for visit in home.visits:
            count = np.zeros(len(home.items) + 1, np.int64)
            for frame in frames_of(home, visit, rate_hz):
                stamp, header = frame.stamp_ns, bag.header(frame.stamp_ns, _FRAME)
                base = misplaced(frame.base, pose_m, math.radians(pose_deg), rng)
                place = base.position, quaternion_from_yaw(base.yaw)
                info = bag.camera_info(header, intrinsics)
                depth_mm = np.round(frame.depth * 1000.0).astype(np.uint16)
                bag.write(stamp, '/tf', bag.tf(bag.transform(stamp, 'map', 'base_link', place)))
                bag.write(stamp, '/camera/color/camera_info', info)
                bag.write(stamp, '/camera/depth/camera_info', info)
                bag.write(stamp, '/camera/instances/image_raw', bag.image(header, '16UC1', frame.instances))
                bag.write(stamp, '/camera/depth/image_raw', bag.image(header, '16UC1', depth_mm))
                image = bag.jpeg(header, frame.bgr, JPEG_QUALITY)
                bag.write(stamp, '/camera/color/image_raw/compressed', image)
                count += shows(home, frame)
                progress()
            shown.append(count)
    truth = truth_of(home, shown, rate_hz)
    (path / 'truth.json').write_text(json.dumps(asdict(truth), indent=1) + '\n', encoding='utf-8')
    return truth
