"""Boxes in space that others measured, and views without a picture."""

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.geometry import Transform, compose, rotate
from remembr_ros.objects.camera import NO_CAMERA
from remembr_ros.objects.detectors.detection import Detection, Extent
from remembr_ros.objects.lifting import CUT_STD_M, TOLD_M, CameraView, Lifted, lift
from remembr_ros.objects.object_map import ObjectMap
from remembr_ros.timestamps import NS
from test.object_scene import AHEAD, CAMERA, T0, Scene, detection

UPRIGHT = (0.0, 0.0, 0.0, 1.0)
ANYWHERE = (0.0, 0.0, 1.0, 1.0)
SIZE = (0.2, 0.3, 0.4)


def told(place: Transform, size: Any = SIZE, std_m: float = 0.05, **more: Any) -> Detection:
    return detection(ANYWHERE, extent=Extent(place, size, std_m, **more))


def lifted(one: Detection, view: CameraView) -> tuple[list[Lifted], Counter[str]]:
    dropped: Counter[str] = Counter()
    return lift([one], view, dropped), +dropped


def scene(metres: float = 2.0) -> CameraView:
    found = Scene()
    found.put((60, 40, 100, 80), metres, (30, 30, 200))
    return found.view()


METRES = st.floats(-50.0, 50.0)
PLACES = st.tuples(METRES, METRES, METRES)
ROTATIONS = st.tuples(*[st.floats(-1.0, 1.0)] * 4).filter(lambda q: math.hypot(*q) > 0.1)
SIZES = st.tuples(*[st.floats(0.01, 5.0)] * 3)


def unit(q: Any) -> Any:
    norm = math.hypot(*q)
    return tuple(value / norm for value in q)


@settings(max_examples=200)
@given(st.tuples(PLACES, ROTATIONS), st.tuples(PLACES, ROTATIONS), SIZES, st.booleans())
def test_the_box_in_the_map_is_the_smallest_that_contains_all_corners(
    camera: Any, told_at: Any, size: Any, in_map: bool
) -> None:
    pose, place = ((at, unit(turn)) for at, turn in (camera, told_at))
    view = CameraView(T0, None, CAMERA, pose)
    [found], dropped = lifted(told(place, size, in_map=in_map), view)
    x, y, z = place[0] if in_map else compose(pose, place)[0]
    corners = []
    for signs in np.ndindex(2, 2, 2):
        corner = [side * (sign - 0.5) for side, sign in zip(size, signs, strict=True)]
        turned = rotate(place[1], tuple(corner))
        corners.append(np.array((x, y, z)) + (turned if in_map else rotate(pose[1], turned)))
    assert np.allclose(found.low, np.min(corners, axis=0), atol=1e-6)
    assert np.allclose(found.high, np.max(corners, axis=0), atol=1e-6)
    assert (found.measured, dropped) == (True, {})


def test_it_is_where_it_was_told_whatever_the_depth_says() -> None:
    view = scene(metres=2.0)
    [found], _ = lifted(told(((0.0, 0.0, 3.0), UPRIGHT)), view)
    assert np.allclose(found.low, (2.8, -0.1, 0.85))  # the camera's z is the map's x
    assert np.allclose(found.high, (3.2, 0.1, 1.15))
    assert (found.std_m, found.cut, found.appearance.colour) == (0.05, False, 'red')
    # Its pixels: 0.2 and 0.3 m wide and high, at 130 pixels per metre and metre, nearest side at 2.8 m.
    left, top, right, bottom = found.detection.box
    assert (right - left, bottom - top) == pytest.approx((130 * 0.2 / 2.8, 130 * 0.3 / 2.8))
    assert ((left + right) / 2, (top + bottom) / 2) == pytest.approx((80.0, 60.0))
    assert found.crop()[:2] == b'\xff\xd8'


def test_beside_flat_ones_each_keeps_its_own_box() -> None:
    flat = detection((60.0, 40.0, 100.0, 80.0), scores={'mug': 0.5})
    one, other = told(((0.0, 0.0, 3.0), UPRIGHT)), told(((1.0, 0.0, 3.5), UPRIGHT))
    found = lift([one, flat, replace(other, scores={'bowl': 0.3})], scene(2.0), Counter())
    assert [round(float((one.low + one.high)[0] / 2), 1) for one in found] == [3.0, 2.0, 3.5]


def test_what_the_image_cuts_is_cut_and_what_lies_outside_has_no_look() -> None:
    [cut], _ = lifted(told(((-2.0, 0.0, 3.0), UPRIGHT)), scene())
    assert (cut.cut, cut.std_m) == (True, 0.05 + CUT_STD_M)
    for place in ((9.0, 0.0, 3.0), (0.0, 0.0, -3.0)):
        [found], _ = lifted(told((place, UPRIGHT)), scene())
        assert (found.cut, found.appearance.vector, found.crop()) == (False, None, None)
        assert found.detection.box == (0.0, 0.0, 160.0, 120.0)
    # Half of it is behind the camera: what is ahead is seen.
    [found], _ = lifted(told(((0.0, 0.0, 0.0), UPRIGHT), (0.1, 0.1, 4.0)), scene())
    assert not found.cut


def test_without_a_camera_it_has_neither_look_nor_picture() -> None:
    view = CameraView(T0, None, NO_CAMERA, AHEAD)
    [found], _ = lifted(told(((0.0, 0.0, 3.0), UPRIGHT)), view)
    assert (found.cut, found.measured, found.appearance.vector, found.crop()) == (False, True, None, None)


def test_without_a_picture_flat_ones_are_lifted_all_the_same() -> None:
    seen = scene()
    [found], _ = lifted(detection((60.0, 40.0, 100.0, 80.0)), replace(seen, image=None))
    [expected], _ = lifted(detection((60.0, 40.0, 100.0, 80.0)), seen)
    assert np.allclose((found.low, found.high), (expected.low, expected.high))
    assert (found.appearance.vector, found.appearance.colour, found.crop()) == (None, '', None)


WRONG = {
    'no number': (((math.nan, 0.0, 3.0), UPRIGHT), SIZE, 0.05),
    'too far': (((0.0, 0.0, 1e12), UPRIGHT), SIZE, 0.05),
    'far': (((0.0, 0.0, TOLD_M + 1.0), UPRIGHT), SIZE, 0.05),
    'too large': (((0.0, 0.0, 3.0), UPRIGHT), (1e12, 1.0, 1.0), 0.05),
    'negative': (((0.0, 0.0, 3.0), UPRIGHT), (0.1, -0.1, 0.1), 0.05),
    'a line': (((0.0, 0.0, 3.0), UPRIGHT), (0.1, 0.0, 0.0), 0.05),
    'no rotation': (((0.0, 0.0, 3.0), (0.0, 0.0, 0.0, 0.0)), SIZE, 0.05),
    'too certain': (((0.0, 0.0, 3.0), UPRIGHT), SIZE, 0.0),
    'not certain': (((0.0, 0.0, 3.0), UPRIGHT), SIZE, math.inf),
}


@pytest.mark.parametrize('name', WRONG)
@pytest.mark.parametrize('in_map', [False, True])
def test_what_makes_no_sense_is_counted(name: str, in_map: bool) -> None:
    place, size, std_m = WRONG[name]
    assert lifted(told(place, size, std_m, in_map=in_map), scene()) == (
        [],
        {'detections without a sound box, mask or score': 1},
    )


def test_objects_without_pictures_take_the_first_that_comes() -> None:
    objects, crops = ObjectMap('robbie'), []
    for number in range(8):
        stamp_ns = T0 + number * NS
        view = replace(scene(3.0), stamp_ns=stamp_ns)
        view = view if number > 5 else replace(view, image=None, camera=NO_CAMERA, depth=None)
        one = replace(told(((0.0, 0.0, 3.0), UPRIGHT)), stamp_ns=stamp_ns)
        objects.update(view, lift([one], view, Counter()))
        crops += [crop for _, crop in objects.changed()]
    assert len(objects) == 1
    assert crops[0] is None
    assert any(crops)
    [memory] = objects.memories()
    assert memory.pose.position == pytest.approx((3.0, 0.0, 1.0))
