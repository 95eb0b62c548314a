"""What rays say of the places of things: boxes are rendered to depth images, and looked for in them."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.geometry import Transform, compose, quaternion_from_yaw
from remembr_ros.objects.camera import Pinhole, rotation_matrix
from remembr_ros.objects.lifting import DepthView
from remembr_ros.objects.presence import CLEAR, FILLED, HIDDEN, looks_at
from test.object_scene import AHEAD, CAMERA

Corner = tuple[float, float, float]
Box = tuple[Corner, Corner]

WALL: Box = ((4.0, -20.0, -20.0), (4.2, 20.0, 20.0))
MUG: Box = ((1.5, -0.04, 0.95), (1.58, 0.04, 1.05))
CHAIR: Box = ((1.5, -0.3, 0.7), (2.0, 0.3, 1.3))
BEFORE_IT: Box = ((1.0, -0.2, 0.8), (1.05, 0.2, 1.2))
TILT: Transform = ((0.0, 0.0, 1.2), (0.0, math.sin(math.pi / 12.0), 0.0, math.cos(math.pi / 12.0)))
DOWN: Transform = compose(TILT, ((0.0, 0.0, 0.0), AHEAD[1]))
"""As AHEAD, a little higher and tilted down by 30 degrees."""


def rendered(boxes: Sequence[Box], pose: Transform = AHEAD, camera: Pinhole = CAMERA) -> DepthView:
    """Return what a depth camera measures of boxes; where there is none, nothing."""
    v, u = np.indices((camera.height, camera.width)).reshape(2, -1).astype(np.float64)
    rays = camera.unproject(u, v, np.ones(u.shape)) @ rotation_matrix(pose).T
    rays, eye = np.where(np.abs(rays) < 1e-12, 1e-12, rays), np.array(pose[0])
    metres = np.full(u.shape, np.inf)
    for low, high in boxes:
        one, other = (np.array(low) - eye) / rays, (np.array(high) - eye) / rays
        enters, leaves = np.minimum(one, other).max(axis=1), np.maximum(one, other).min(axis=1)
        metres = np.where((enters < leaves) & (enters > 0.0), np.minimum(metres, enters), metres)
    return DepthView(metres.reshape(camera.height, camera.width).astype(np.float32), camera, pose)


def shifted(box: Box, by: Corner) -> Box:
    low, high = (np.array(corner) + by for corner in box)
    return tuple(low.tolist()), tuple(high.tolist())


def looked(view: DepthView, *boxes: Box) -> list[int]:
    low, high = np.array(boxes, np.float64).reshape(-1, 2, 3).swapaxes(0, 1)
    found = looks_at(view, low, high)
    assert found.shape == (len(boxes),)
    return [int(what) for what in found]


def test_a_thing_before_a_wall_fills_its_place() -> None:
    assert looked(rendered([WALL, MUG]), MUG) == [FILLED]


def test_without_it_the_wall_behind_shows_that_its_place_is_clear() -> None:
    assert looked(rendered([WALL]), MUG) == [CLEAR]


def test_something_nearer_hides_the_place_whether_the_thing_is_there_or_not() -> None:
    assert looked(rendered([WALL, BEFORE_IT, MUG]), MUG) == [HIDDEN]
    assert looked(rendered([WALL, BEFORE_IT]), MUG) == [HIDDEN]


def test_most_of_a_place_tells_of_all_of_it() -> None:
    below: Box = ((1.0, -0.3, 0.8), (1.05, 0.3, 0.985))
    assert looked(rendered([WALL, below]), MUG) == [CLEAR]
    assert looked(rendered([WALL, below, MUG]), MUG) == [FILLED]


def test_a_corner_of_a_place_that_shows_tells_nothing() -> None:
    low: Box = ((1.0, -1.0, 0.0), (1.05, 1.0, 1.02))
    right: Box = ((1.0, -1.0, 0.0), (1.05, 0.02, 2.0))
    assert looked(rendered([WALL, low, right]), CHAIR) == [HIDDEN]
    assert looked(rendered([WALL, low, right, CHAIR]), CHAIR) == [HIDDEN]


def test_a_thing_that_fills_only_the_rear_half_of_its_box_is_there() -> None:
    back: Box = ((1.72, -0.3, 0.7), (2.0, 0.3, 1.3))
    assert looked(rendered([WALL, back]), CHAIR) == [FILLED]


def test_a_thing_that_half_of_the_rays_pass_by_is_there() -> None:
    half: Box = ((1.5, 0.02, 0.7), (2.0, 0.3, 1.3))
    assert looked(rendered([WALL, half]), CHAIR) == [FILLED]


def test_each_place_is_looked_at_for_itself() -> None:
    there, gone, beyond = MUG, shifted(MUG, (0.5, 0.4, 0.0)), shifted(MUG, (0.0, 3.0, 0.0))
    assert looked(rendered([WALL, there]), there, gone, beyond) == [FILLED, CLEAR, HIDDEN]
    assert looked(rendered([WALL, there]), beyond, gone, there) == [HIDDEN, CLEAR, FILLED]


def test_no_places_at_all_give_nothing() -> None:
    none = np.zeros((0, 3))
    found = looks_at(rendered([WALL]), none, none)
    assert found.shape == (0,)


@pytest.mark.parametrize(
    'by',
    [(0.0, 1.5, 0.0), (0.0, -1.5, 0.0), (0.0, 0.0, 1.0), (0.0, 0.0, -1.0)],
    ids='left right up down'.split(),
)
def test_what_lies_out_of_the_image_is_hidden(by: Corner) -> None:
    assert looked(rendered([WALL]), shifted(MUG, by)) == [HIDDEN]


def test_what_the_border_cuts_is_hidden() -> None:
    at_border_m = 1.54 * 79.5 / CAMERA.fx
    assert looked(rendered([WALL]), shifted(MUG, (0.0, at_border_m, 0.0))) == [HIDDEN]
    assert looked(rendered([WALL]), shifted(MUG, (0.0, at_border_m - 0.05, 0.0))) == [CLEAR]


def test_what_lies_behind_the_camera_is_hidden() -> None:
    assert looked(rendered([WALL]), shifted(MUG, (-3.08, 0.0, 0.0))) == [HIDDEN]


def test_a_place_around_the_camera_is_hidden() -> None:
    assert looked(rendered([WALL]), ((-0.5, -0.5, 0.5), (0.5, 0.5, 1.5))) == [HIDDEN]


@pytest.mark.parametrize('metres', [0.0, np.nan, np.inf, -np.inf, -1.0])
def test_what_is_not_measured_is_hidden(metres: float) -> None:
    view = DepthView(np.full((CAMERA.height, CAMERA.width), metres, np.float32), CAMERA, AHEAD)
    assert looked(view, MUG) == [HIDDEN]


@pytest.mark.parametrize('metres', [0.0, np.nan, np.inf])
def test_a_place_of_which_half_is_not_measured_is_told_by_the_other_half(metres: float) -> None:
    empty, there = rendered([WALL]), rendered([WALL, MUG])
    for view in (empty, there):
        view.metres[:, 80:] = metres
    assert looked(there, MUG) == [FILLED]
    assert looked(empty, MUG) == [CLEAR]


@settings(max_examples=50)
@given(st.floats(0.7, 1.2), st.floats(-0.3, 0.3), st.floats(0.03, 0.08))
def test_flat_things_on_a_table_are_told_from_its_bare_top(x: float, y: float, thick: float) -> None:
    table: Box = ((0.4, -1.0, 0.6), (2.0, 1.0, 0.7))
    book: Box = ((x, y - 0.1, 0.7), (x + 0.15, y + 0.1, 0.7 + thick))
    floor: Box = ((-5.0, -5.0, -0.1), (20.0, 5.0, 0.0))
    there, gone = (rendered([WALL, floor, table, *some], DOWN) for some in ([book], []))
    assert looked(there, book) == [FILLED]
    assert looked(gone, book) == [CLEAR]


def test_what_is_flatter_than_depth_tells_is_never_called_gone() -> None:
    picture: Box = ((3.99, -0.3, 0.8), (4.0, 0.3, 1.2))
    assert looked(rendered([WALL]), picture) == [FILLED]


_few_cm = st.floats(-0.02, 0.02)


@settings(max_examples=60)
@given(st.tuples(_few_cm, _few_cm, _few_cm), st.floats(0.8, 2.5))
def test_poses_that_are_two_centimetres_off_make_nothing_clear(off: Corner, away: float) -> None:
    box = shifted(MUG, (away - 1.5, 0.0, 0.0))
    seen = rendered([WALL, box])
    (x, y, z), rotation = AHEAD
    thought = DepthView(seen.metres, CAMERA, ((x + off[0], y + off[1], z + off[2]), rotation))
    assert looked(thought, box) == [FILLED]
    bare = DepthView(rendered([WALL]).metres, CAMERA, thought.pose)
    assert looked(bare, box) == [CLEAR]


@pytest.mark.parametrize('size', [(80, 60), (320, 240), (640, 480), (1280, 960)])
def test_depth_images_of_any_size_tell_the_same(size: tuple[int, int]) -> None:
    camera, gone = CAMERA.at(*size, 'depth image'), shifted(MUG, (0.0, 0.4, 0.0))
    view = rendered([WALL, MUG, shifted(BEFORE_IT, (0.0, -0.45, 0.0))], camera=camera)
    assert view.metres.shape == size[::-1]
    assert looked(view, MUG, gone, shifted(MUG, (0.0, -0.5, 0.0))) == [FILLED, CLEAR, HIDDEN]


_far = st.floats(-100.0, 100.0)


@settings(max_examples=60)
@given(st.tuples(_far, _far, _far), st.integers(0, 3))
def test_where_all_of_it_is_in_the_map_changes_nothing(to: Corner, quarters: int) -> None:
    there, gone = shifted(MUG, (0.0, 0.1, 0.0)), shifted(MUG, (0.3, 0.5, 0.1))
    hidden = shifted(MUG, (0.0, -0.45, 0.0))
    view = rendered([WALL, there, shifted(BEFORE_IT, (0.0, -0.35, 0.0))])
    move: Transform = (to, quaternion_from_yaw(quarters * math.pi / 2.0))
    turn = np.rint(rotation_matrix(move))
    ends = [np.array(box) @ turn.T + to for box in (there, gone, hidden)]
    moved = DepthView(view.metres, CAMERA, compose(move, AHEAD))
    low, high = (np.array([pick(end, axis=0) for end in ends]) for pick in (np.min, np.max))
    assert looks_at(moved, low, high).tolist() == [FILLED, CLEAR, HIDDEN]
