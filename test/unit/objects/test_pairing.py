"""Images that wait for what belongs to them."""

import struct
import zlib
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from remembr_ros.bags.transforms import TransformTree
from remembr_ros.images import Frame
from remembr_ros.objects import camera
from remembr_ros.objects.camera import Depth
from remembr_ros.objects.lifting import CameraView
from remembr_ros.objects.pairing import Pairing
from remembr_ros.timestamps import NS
from test.object_bag import camera_info
from test.object_scene import AHEAD, CAMERA, T0

RATE_NS = NS // 30


@pytest.fixture
def tree() -> TransformTree:
    return TransformTree()


def pairing_of(tree: TransformTree, *, with_depth: bool = True) -> Pairing:
    found = Pairing(tree, 'map', with_depth=with_depth)
    for what in ('image', 'depth'):
        found.take_info(what, camera_info(CAMERA))
    return found


def frame(stamp_ns: int) -> Frame:
    return Frame(stamp_ns, lambda: np.zeros((CAMERA.height, CAMERA.width, 3), np.uint8), 'cam')


def depth_of(metres: float) -> Depth:
    return np.full((CAMERA.height, CAMERA.width), metres, np.float32)


def stand(tree: TransformTree) -> None:
    tree.add('map', 'cam', T0, *AHEAD, static=True)


def shown(views: Iterator[CameraView]) -> list[float]:
    return [float(view.depth.metres[0, 0]) for view in views if view.depth]


def test_an_image_waits_for_its_depth_and_its_place(tree: TransformTree) -> None:
    pairing = pairing_of(tree)
    pairing.take_image(frame(T0))
    assert list(pairing.ready(T0)) == []
    pairing.take_depth(T0, 'cam', lambda: depth_of(2.0))
    assert list(pairing.ready(T0)) == []
    stand(tree)
    assert shown(pairing.ready(T0)) == [2.0]
    assert list(pairing.ready(T0, last=True)) == []
    assert not +pairing.dropped


def test_what_is_missing_for_good_is_counted_and_the_next_one_comes(tree: TransformTree) -> None:
    pairing = pairing_of(tree)
    stand(tree)
    pairing.take_image(frame(T0))
    pairing.take_image(frame(T0 + 3 * NS))
    pairing.take_depth(T0 + 3 * NS, 'cam', lambda: depth_of(3.0))
    assert shown(pairing.ready(T0 + 3 * NS)) == [3.0]
    assert pairing.dropped == {'no depth of its time': 1}


def test_the_depth_of_the_same_moment_is_waited_for(tree: TransformTree) -> None:
    pairing, found = pairing_of(tree), []
    stand(tree)
    for number in range(4):
        now_ns = T0 + number * RATE_NS
        pairing.take_image(frame(now_ns))
        found += shown(pairing.ready(now_ns))
        pairing.take_depth(now_ns, 'cam', lambda number=number: depth_of(1.0 + number))
        found += shown(pairing.ready(now_ns))
    assert found == [1.0, 2.0, 3.0, 4.0]


def test_localisation_may_come_two_seconds_late(tree: TransformTree) -> None:
    pairing, count = pairing_of(tree, with_depth=False), 0
    for number in range(300):
        now_ns = T0 + number * RATE_NS
        if number % 45 == 0:  # every 1.5 s
            tree.add('map', 'cam', now_ns, *AHEAD)
        pairing.take_image(frame(now_ns))
        count += len(list(pairing.ready(now_ns)))
    assert 'more images than can be looked at' not in pairing.dropped
    assert count >= 270


def test_a_fast_depth_camera_loses_nothing(tree: TransformTree) -> None:
    pairing, count = pairing_of(tree), 0
    for number in range(900):
        now_ns = T0 + number * NS // 90
        if number % 135 == 0:  # every 1.5 s
            tree.add('map', 'cam', now_ns, *AHEAD)
        pairing.take_depth(now_ns, 'cam', lambda: depth_of(2.0))
        if number % 18 == 0:
            pairing.take_image(frame(now_ns))
        count += len(list(pairing.ready(now_ns)))
    assert count >= 40


def test_reasons_do_not_become_more_with_time(tree: TransformTree) -> None:
    pairing = pairing_of(tree)
    stand(tree)
    for number in range(20):
        now_ns = T0 + number * NS
        cut_off = SimpleNamespace(
            encoding='16UC1', width=160, height=120, step=320, is_bigendian=0, data=bytes(number)
        )
        pairing.take_depth(now_ns, 'cam', partial(camera.depth_of, cut_off))
        pairing.take_image(frame(now_ns))
        assert list(pairing.ready(now_ns)) == []
    assert sum(pairing.dropped.values()) == 20
    assert len(pairing.dropped) < 5


def test_a_depth_image_that_says_it_is_huge_is_garbage() -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack('>I', len(data)) + kind + data + struct.pack('>I', zlib.crc32(kind + data))

    header = struct.pack('>IIBBBBB', 60_000, 60_000, 16, 0, 0, 0, 0)
    png = (
        b'\x89PNG\r\n\x1a\n'
        + chunk(b'IHDR', header)
        + chunk(b'IDAT', zlib.compress(b''))
        + chunk(b'IEND', b'')
    )
    with pytest.raises(ValueError, match=r'60000|16UC1'):
        camera.depth_of(SimpleNamespace(format='16UC1; png compressed', data=np.frombuffer(png, np.uint8)))


def test_registered_depth_needs_no_camera_info_of_its_own(tree: TransformTree) -> None:
    stand(tree)
    for frame_id, found in (('cam', [2.0]), ('depth_cam', [])):
        pairing = Pairing(tree, 'map', with_depth=True)
        pairing.take_info('image', camera_info(CAMERA))
        pairing.take_image(frame(T0))
        pairing.take_depth(T0, frame_id, lambda: depth_of(2.0))
        assert shown(pairing.ready(T0, last=True)) == found
