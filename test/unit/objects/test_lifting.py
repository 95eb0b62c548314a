import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.geometry import Transform, compose, quaternion_from_yaw
from remembr_ros.objects.camera import Pinhole
from remembr_ros.objects.detectors.detection import Detection
from remembr_ros.objects.lifting import MOST, SIGHT_M, CameraView, DepthView, Lifted, lift
from test.object_scene import AHEAD, CAMERA, T0, PixelRect, Scene, detection

BOX = (70, 50, 90, 70)
PIXELS = (70.0, 50.0, 90.0, 70.0)
RED = (30, 30, 200)


def lifted(detections: list[Detection], view: CameraView) -> tuple[list[Lifted], Counter[str]]:
    dropped: Counter[str] = Counter()
    return lift(detections, view, dropped), +dropped


def centre(placed: Lifted) -> np.ndarray:
    return np.asarray((placed.low + placed.high) / 2.0)


def masked(box: PixelRect) -> np.ndarray:
    mask = np.zeros((CAMERA.height, CAMERA.width), np.bool_)
    mask[box[1] : box[3], box[0] : box[2]] = True
    return mask


@pytest.mark.parametrize('with_mask', [False, True])
@settings(max_examples=30)
@given(st.floats(0.5, 3.5), st.floats(-3.0, 3.0), st.floats(-50.0, 50.0), st.floats(-50.0, 50.0))
def test_a_thing_is_where_its_depth_says_wherever_the_camera_is(
    with_mask: bool, metres: float, yaw: float, x: float, y: float
) -> None:
    scene = Scene()
    scene.put(BOX, metres, RED)
    pose: Transform = compose(((x, y, 0.0), quaternion_from_yaw(yaw)), AHEAD)
    mask = masked(BOX) if with_mask else None
    [found], dropped = lifted([detection(PIXELS, mask=mask)], scene.view(pose=pose))
    expected = (x + metres * math.cos(yaw), y + metres * math.sin(yaw), 1.0)
    assert np.allclose(centre(found), expected, atol=0.02 * metres + 0.01)
    assert np.all(found.low <= found.high)
    assert (found.cut, found.measured, found.appearance.colour, dropped) == (False, True, 'red', {})


def test_what_is_seen_beside_a_thing_does_not_pull_it_back() -> None:
    scene = Scene()
    scene.put(BOX, 1.5, RED)
    [found], _ = lifted([detection((65.0, 45.0, 95.0, 75.0))], scene.view())
    assert centre(found)[0] == pytest.approx(1.5, abs=0.05)


def test_the_nearest_and_the_farthest_tenth_are_left_out() -> None:
    scene = Scene()
    scene.put(BOX, 1.5, RED)
    scene.metres[50:70:5, 70] = 1.2  # less than a tenth, too near
    scene.metres[50:70:5, 89] = 1.8
    [found], _ = lifted([detection(PIXELS, mask=masked(BOX))], scene.view())
    assert (found.low[0], found.high[0]) == (pytest.approx(1.5, abs=0.01), pytest.approx(1.5, abs=0.01))


def test_a_box_at_the_border_is_marked_as_cut_and_is_less_certain() -> None:
    scene = Scene()
    scene.put((0, 50, 20, 70), 1.5, RED)
    scene.put(BOX, 1.5, RED)
    found, _ = lifted([detection((0.0, 50.0, 20.0, 70.0)), detection(PIXELS)], scene.view())
    cut, whole = sorted(found, key=lambda placed: placed.detection.box)
    assert (cut.cut, whole.cut) == (True, False)
    assert cut.std_m > whole.std_m + 0.05


@pytest.mark.parametrize('scale', [1, 2])
def test_depth_that_is_not_registered_goes_through_the_place_of_its_own_camera(scale: int) -> None:
    scene = Scene(wall_m=4.0)
    scene.put(BOX, 2.0, RED)
    own = Pinhole(160 // scale, 120 // scale, 110.0 / scale, 110.0 / scale, 75.0 / scale, 55.0 / scale)
    aside: Transform = ((0.0, -0.2, 1.0), AHEAD[1])  # the depth camera, 20 cm to the right
    v, u = np.mgrid[: own.height, : own.width]
    # The thing is a square of 31 cm, 2 m ahead of the colour camera; the wall is 4 m ahead.
    x, y = (u - own.cx) / own.fx * 2.0 + 0.2, (v - own.cy) / own.fy * 2.0
    metres = np.where((np.abs(x) < 0.154) & (np.abs(y) < 0.154), 2.0, 4.0).astype(np.float32)
    view = CameraView(T0, scene.bgr, CAMERA, AHEAD, DepthView(metres, own, aside))
    [found], _ = lifted([detection(PIXELS)], view)
    assert np.allclose(centre(found), (2.0, 0.0, 1.0), atol=0.03)
    registered = CameraView(T0, scene.bgr, CAMERA, AHEAD, DepthView(metres, own, AHEAD))
    wrong, _ = lifted([detection(PIXELS)], registered)
    assert not any(np.allclose(centre(one), (2.0, 0.0, 1.0), atol=0.03) for one in wrong)


def test_without_depth_a_thing_has_a_bearing_and_a_place_within_sight() -> None:
    [found], _ = lifted([detection((20.0, 50.0, 40.0, 70.0))], Scene().view(depth=False))
    assert (found.measured, found.std_m > 1.0) == (False, True)
    x, y, _z = centre(found)
    assert math.atan2(y, x) == pytest.approx(math.atan2(79.5 - 30.0, 130.0), abs=0.01)
    assert np.linalg.norm(centre(found) - [0.0, 0.0, 1.0]) == pytest.approx(SIGHT_M, rel=0.1)


@pytest.mark.parametrize('hole', [0.0, math.nan, math.inf, -1.0])
def test_what_was_not_measured_has_no_place_and_is_counted(hole: float) -> None:
    scene = Scene()
    scene.put(BOX, hole, RED)
    found, dropped = lifted([detection((72.0, 52.0, 88.0, 68.0))], scene.view())
    assert (found, dropped) == ([], {'detections without depth': 1})
    nothing, dropped = lifted([detection(PIXELS)], Scene(wall_m=hole).view())
    assert (nothing, dropped) == ([], {'detections without depth': 1})


def test_what_makes_no_sense_is_counted_and_left_out() -> None:
    scene = Scene()
    scene.put(BOX, 1.5, RED)
    bad = [
        detection((math.nan, 0.0, 5.0, 5.0)),
        detection((500.0, 500.0, 510.0, 510.0)),
        detection((1.0, 1.0, 9.0, 9.0), mask=np.ones((3, 3), np.bool_)),
        detection((1.0, 1.0, 9.0, 9.0), scores={'mug': math.nan}),
    ]
    found, dropped = lifted([*bad, detection(PIXELS)], scene.view())
    assert (len(found), sum(dropped.values())) == (1, 4)


def test_of_ten_thousand_boxes_the_best_are_looked_at() -> None:
    scene = Scene()
    boxes = [(float(x), float(y), x + 1.5, y + 1.5) for x in range(5, 150) for y in range(5, 110)][:10_000]
    many = [detection(box, scores={'mug': 0.001 + i / 20_000}) for i, box in enumerate(boxes)]
    found, dropped = lifted(many, scene.view(depth=False))
    assert len(found) == MOST
    assert dropped == {'detections beyond the number that fits a frame': 10_000 - MOST}
    assert min(one.detection.score for one in found) > 0.48
