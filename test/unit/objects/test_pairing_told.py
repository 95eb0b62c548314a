"""Detections of others that wait for the image, the depth and the place that belong to them."""

import numpy as np
import pytest

from remembr_ros.bags.transforms import TransformTree
from remembr_ros.images import Frame
from remembr_ros.objects.camera import NO_CAMERA
from remembr_ros.objects.lifting import CameraView
from remembr_ros.objects.pairing import KEPT, Pairing
from remembr_ros.timestamps import NS
from test.object_bag import camera_info
from test.object_scene import AHEAD, CAMERA, T0

MS = NS // 1000


def pairing_of(*infos: str, with_depth: bool = False) -> Pairing:
    tree = TransformTree()
    for frame_id in ('cam', 'lidar', 'deep'):
        tree.add('map', frame_id, T0, *AHEAD, static=True)
    found = Pairing(tree, 'map', with_depth=with_depth, told=True)
    for what in infos:
        found.take_info(what, camera_info(CAMERA))
    return found


def frame(
    stamp_ns: int, frame_id: str = 'cam', *, size: tuple[int, int] = (160, 120), shade: int = 0
) -> Frame:
    return Frame(stamp_ns, lambda: np.full((size[1], size[0], 3), shade, np.uint8), frame_id)


def shades(views: list[CameraView]) -> list[int | None]:
    return [None if view.image is None else int(view.image[0, 0, 0]) for view in views]


def test_images_are_no_views_and_what_was_told_takes_the_one_of_its_time() -> None:
    pairing = pairing_of('image')
    for number in range(5):
        pairing.take_image(frame(T0 + 33 * number * MS, shade=number))
    assert list(pairing.ready(T0 + NS)) == []
    for stamp_ns, frame_id, shade in (
        (T0 + 66 * MS, 'cam', 2),
        (T0 + 70 * MS, 'cam', 2),
        (T0 + 72 * MS, 'cam', None),
        (T0 + 66 * MS, 'lidar', None),
    ):
        pairing.take_told(stamp_ns, frame_id)
        views = list(pairing.ready(T0 + NS))
        assert [view.stamp_ns for view in views] == [stamp_ns]
        assert shades(views) == [shade]
        assert (views[0].camera, views[0].depth) == (CAMERA, None)
    assert not +pairing.dropped


def test_an_image_that_is_on_its_way_is_waited_for() -> None:
    pairing = pairing_of('image')
    pairing.take_image(frame(T0))
    pairing.take_told(T0 + 33 * MS, 'cam')
    assert list(pairing.ready(T0 + 33 * MS)) == []
    pairing.take_image(frame(T0 + 33 * MS, shade=7))
    assert shades(list(pairing.ready(T0 + 33 * MS))) == [7]
    pairing.take_told(T0 + 66 * MS, 'cam')
    assert list(pairing.ready(T0 + 66 * MS)) == []
    assert shades(list(pairing.ready(T0 + 3 * NS))) == [None]


def test_after_a_clock_that_started_over_nothing_of_before_is_of_the_same_time() -> None:
    pairing = pairing_of('image', 'depth', with_depth=True)
    for shade in (1, 2):
        for second in range(5):
            stamp_ns = T0 + second * NS
            metres = np.full((120, 160), float(shade), np.float32)
            pairing.take_depth(stamp_ns, 'deep', lambda metres=metres: metres)  # type: ignore[misc]
            pairing.take_image(frame(stamp_ns, shade=shade))
    pairing.take_told(T0 + 3 * NS, 'cam')
    [view] = pairing.ready(T0 + 4 * NS)
    assert shades([view]) == [2]
    assert view.depth is not None
    assert view.depth.metres[0, 0] == 2.0


def test_so_many_images_are_remembered() -> None:
    pairing = pairing_of('image')
    for number in range(KEPT + 1):
        pairing.take_image(frame(T0 + 33 * number * MS, shade=number))
    pairing.take_told(T0, 'cam')
    pairing.take_told(T0 + 33 * MS, 'cam')
    assert shades(list(pairing.ready(T0 + NS))) == [None, 1]


def test_boxes_in_an_image_need_its_camera_info_and_a_pose() -> None:
    pairing = pairing_of()
    pairing.take_told(T0, 'cam')
    assert list(pairing.ready(T0)) == []
    assert list(pairing.ready(T0, last=True)) == []
    pairing.take_info('image', camera_info(CAMERA))
    pairing.take_told(T0, 'elsewhere')
    assert list(pairing.ready(T0, last=True)) == []
    assert pairing.dropped == {'no camera info': 1, 'no pose at its time': 1}


def test_boxes_in_an_image_need_the_depth_that_there_is() -> None:
    pairing = pairing_of('image', 'depth', with_depth=True)
    pairing.take_told(T0, 'cam')
    assert list(pairing.ready(T0)) == []
    pairing.take_depth(T0, 'deep', lambda: np.full((120, 160), 2.0, np.float32))
    [view] = pairing.ready(T0)
    assert view.depth is not None
    pairing.take_told(T0 + NS, 'cam')
    assert list(pairing.ready(T0 + NS, last=True)) == []
    assert pairing.dropped == {'no depth of its time': 1}


@pytest.mark.parametrize('in_space', [False, True])
def test_an_image_of_another_shape_is_refused(in_space: bool) -> None:
    pairing = pairing_of('image')
    for number, size in enumerate([(120, 160), (160, 160), (320, 240)]):
        pairing.take_image(frame(T0 + number * NS, size=size))
        pairing.take_told(T0 + number * NS, 'cam', in_space)
    [view] = pairing.ready(T0 + 2 * NS, last=True)
    assert (view.camera.width, view.camera.height) == (320, 240)
    assert pairing.dropped == {
        'the image has N x N pixels, its camera info is of N x N, turned by N degrees': 1,
        'the image has N x N pixels, its camera info is of N x N': 1,
    }


def test_boxes_in_space_need_a_pose_only() -> None:
    pairing = pairing_of()
    pairing.take_image(frame(T0, 'lidar'))
    pairing.take_told(T0, 'lidar', in_space=True)
    [view] = pairing.ready(T0)
    assert (view.image, view.camera, view.depth) == (None, NO_CAMERA, None)
    assert np.allclose(view.pose[0], AHEAD[0])
    pairing.take_told(T0, 'elsewhere', in_space=True)
    assert list(pairing.ready(T0, last=True)) == []
    assert pairing.dropped == {'no pose at its time': 1}


def test_boxes_in_space_that_the_camera_saw_have_its_image() -> None:
    pairing = pairing_of('image')
    pairing.take_image(frame(T0, shade=3))
    for stamp_ns, frame_id in ((T0, 'cam'), (T0 - NS, 'cam'), (T0, 'lidar')):
        pairing.take_told(stamp_ns, frame_id, in_space=True)
    views = list(pairing.ready(T0))
    assert shades(views) == [3, None, None]
    assert [view.camera for view in views] == [CAMERA, CAMERA, NO_CAMERA]


def test_boxes_in_space_take_depth_along_once_there_is_some() -> None:
    pairing = pairing_of('depth')
    pairing.take_told(T0, 'lidar', in_space=True)
    assert [view.depth for view in pairing.ready(T0)] == [None]
    pairing.take_depth(T0 + NS, 'deep', lambda: np.full((120, 160), 2.0, np.float32))
    pairing.take_told(T0 + NS, 'lidar', in_space=True)
    assert [view.depth is not None for view in pairing.ready(T0 + NS)] == [True]
    pairing.take_told(T0 + 2 * NS, 'lidar', in_space=True)
    assert list(pairing.ready(T0 + 2 * NS)) == []
    assert [view.depth for view in pairing.ready(T0 + 5 * NS)] == [None]
    pairing.take_depth(T0 + 6 * NS, 'deep', lambda: np.zeros((120, 160), np.float32))
    pairing.take_told(T0 + 6 * NS, 'lidar', in_space=True)
    assert [view.depth for view in pairing.ready(T0 + 6 * NS)] == [None]
    assert not +pairing.dropped


def test_of_too_many_that_wait_the_oldest_goes() -> None:
    pairing = pairing_of()
    for number in range(KEPT + 2):
        pairing.take_told(T0 + number, 'cam')
    assert pairing.dropped == {'more images than can be looked at': 2}


@pytest.mark.parametrize('with_image', [True, False])
def test_what_has_no_frame_is_of_the_image_of_its_time(with_image: bool) -> None:
    pairing = pairing_of('image')
    if with_image:
        pairing.take_image(frame(T0, shade=5))
    pairing.take_told(T0, '')
    views = list(pairing.ready(T0, last=True))
    assert shades(views) == [5 if with_image else None]
    assert [view.camera for view in views] == [CAMERA]
    assert not pairing.dropped


def test_boxes_in_space_without_a_frame_are_of_the_image_too() -> None:
    pairing = pairing_of()
    pairing.take_image(frame(T0, 'lidar'))
    pairing.take_told(T0, '', in_space=True)
    [view] = pairing.ready(T0, last=True)
    assert np.allclose(view.pose[0], AHEAD[0])


def test_without_a_frame_and_an_image_nobody_knows_where_it_was_and_that_is_told() -> None:
    pairing = pairing_of()
    pairing.take_told(T0, '', in_space=True)
    assert list(pairing.ready(T0, last=True)) == []
    assert pairing.dropped == {'no frame_id': 1}


def test_the_cause_of_what_is_left_out_says_what_helps() -> None:
    pairing = pairing_of('image')
    pairing.take_told(T0, 'elsewhere')
    assert list(pairing.ready(T0, last=True)) == []
    (cause,) = pairing.causes
    assert cause == (
        "no pose at its time: no transforms from 'map' to 'elsewhere': check the frame names and /tf_static"
    )


def test_the_latest_cause_stands_last() -> None:
    pairing = pairing_of('image')
    for frame_id in ('first', 'second', 'first'):
        pairing.take_told(T0, frame_id)
    assert list(pairing.ready(T0, last=True)) == []
    assert [("'first'" in cause, count) for cause, count in pairing.causes.items()] == [(False, 1), (True, 2)]
