"""Which topic is the camera, of all that a recording has of it."""

from typing import Any

import numpy as np
import pytest

from remembr_ros.bags.reader import open_bag
from remembr_ros.errors import BagUnreadable
from remembr_ros.images import Frame

from .conftest import zstd_packed

S = 1_000_000_000


def test_all_transports_of_one_camera_are_one_camera(bag: Any, t0: int) -> None:
    pixels = np.zeros((4, 6, 3), np.uint8)
    for wanted, left_out in (('/compressed', ()), ('', ('/compressed',)), ('/zstd', ('/compressed', ''))):
        folder = bag().path.parent / f'without{len(left_out)}'
        folder.mkdir()
        with type(bag())(folder) as out:
            for second in range(3):
                stamp_ns = t0 + second * S
                if '/compressed' not in left_out:
                    out.compressed('/cam/image_raw/compressed', stamp_ns)
                if '' not in left_out:
                    out.image('/cam/image_raw', stamp_ns, pixels)
                for topic, values in (('/cam/image_raw', pixels), ('/depth/image_raw', pixels[..., 0])):
                    encoding = 'bgr8' if values.ndim == 3 else '16UC1'
                    payload = zstd_packed(values.tobytes() * (1 if values.ndim == 3 else 2), encoding)
                    out.compressed(f'{topic}/zstd', stamp_ns, payload, form='zstd')
        with open_bag(out.path) as reader:
            assert reader.image_topic == f'/cam/image_raw{wanted}'
            assert next(e for e in reader.events() if isinstance(e, Frame)).decode().shape[2] == 3


def test_of_one_camera_the_transport_that_was_recorded_whole_is_taken(bag: Any, t0: int) -> None:
    with bag() as out:
        for second in range(9):
            out.image('/cam/image_raw', t0 + second * S, np.zeros((4, 6, 3), np.uint8))
        out.compressed('/cam/image_raw/compressed', t0 + 9 * S)
    with open_bag(out.path) as reader:
        assert reader.image_topic == '/cam/image_raw'


H264 = b'\0\0\0\1\x67\x42\0\x1f' + bytes(100)


def test_video_is_named_with_what_makes_pictures_of_it(bag: Any, t0: int) -> None:
    with bag() as out:
        out.compressed('/cam/image_raw/compressed', t0, H264, form='h264')
    with pytest.raises(BagUnreadable, match=r'/cam/image_raw/compressed .* is video: .*isaac_ros_h264'):
        open_bag(out.path)


def test_video_packets_are_named_too(bag: Any, t0: int) -> None:
    with bag() as out:
        kind = 'ffmpeg_image_transport_msgs/msg/FFMPEGPacket'
        out.add_custom_type(kind, 'std_msgs/Header header\nuint8[] data')
        out.add('/cam/image_raw/ffmpeg', out.make(kind, out.header(t0), np.zeros(3, np.uint8)), t0)
    with pytest.raises(BagUnreadable, match=r'no camera images.*/image_raw/ffmpeg .* is video'):
        open_bag(out.path)


def test_beside_video_the_raw_images_are_taken(bag: Any, t0: int) -> None:
    with bag() as out:
        out.compressed('/cam/image_raw/compressed', t0, H264, form='h264')
        out.image('/cam/image_raw', t0 + 1, np.zeros((4, 6, 3), np.uint8))
    with open_bag(out.path) as reader:
        assert reader.image_topic == '/cam/image_raw'
