"""Records what a robot sees of a home as a rosbag2 (mcap), with a truth file beside it.

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
from dataclasses import asdict
from pathlib import Path

import numpy as np

from remembr_bench.bag_writer import BagWriter, Intrinsics
from remembr_bench.simulation.homes.home import Home
from remembr_bench.simulation.homes.home_views import CAMERA, MOUNT, OPTICAL, RATE_HZ, HomeFrame, frames_of
from remembr_bench.simulation.tour import misplaced
from remembr_ros.geometry import quaternion_from_yaw

JPEG_QUALITY = 90
_FRAME = 'camera_optical_frame'
_INTRINSICS = Intrinsics.pinhole((CAMERA.width, CAMERA.height), CAMERA.fx, (CAMERA.cx, CAMERA.cy))


def record_home(
    path: Path, home: Home, rate_hz: float = RATE_HZ, pose_m: float = 0.0, pose_deg: float = 0.0
) -> None:
    """Render all visits; write the bag into path/bag, and home and shown into path/truth.json.

    Shown is, by visit, how many frames show each item, by its number. A recording that is already there is
    replaced. The same arguments give the same recording.

    :param pose_m: standard deviation of the recorded x and y of the robot [m]
    :param pose_deg: of its yaw [degrees]
    :raises RemembrError: pyvista is not installed
    """
    path.mkdir(parents=True, exist_ok=True)
    if (path / 'bag').exists():
        shutil.rmtree(path / 'bag')
    rng, shown = random.Random(home.seed), []
    with BagWriter(path / 'bag') as bag:
        start_ns = home.visits[0].start_ns
        bag.write(
            start_ns, '/tf_static', bag.tf(bag.transform(start_ns, 'base_link', _FRAME, (MOUNT, OPTICAL)))
        )
        for visit in home.visits:
            count = np.zeros(len(home.items) + 1, np.int64)
            for frame in frames_of(home, visit, rate_hz):
                base = misplaced(frame.base, pose_m, math.radians(pose_deg), rng)
                place = base.position, quaternion_from_yaw(base.yaw)
                stamp_ns = frame.stamp_ns
                bag.write(stamp_ns, '/tf', bag.tf(bag.transform(stamp_ns, 'map', 'base_link', place)))
                _write(bag, frame)
                count += frame.shows(len(home.items))
            shown.append(count.tolist())
    truth = json.dumps({'frame_id': 'map', 'home': asdict(home), 'shown': shown}, indent=1)
    (path / 'truth.json').write_text(truth + '\n', encoding='utf-8')


def _write(bag: BagWriter, frame: HomeFrame) -> None:
    stamp_ns, header = frame.stamp_ns, bag.header(frame.stamp_ns, _FRAME)
    info = bag.camera_info(header, _INTRINSICS)
    depth_mm = np.round(frame.depth * 1000.0).astype(np.uint16)
    bag.write(stamp_ns, '/camera/color/camera_info', info)
    bag.write(stamp_ns, '/camera/depth/camera_info', info)
    bag.write(stamp_ns, '/camera/instances/image_raw', bag.image(header, '16UC1', frame.instances))
    bag.write(stamp_ns, '/camera/depth/image_raw', bag.image(header, '16UC1', depth_mm))
    bag.write(stamp_ns, '/camera/color/image_raw/compressed', bag.jpeg(header, frame.bgr, JPEG_QUALITY))
