import math

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.captioning import still_scene
from remembr_ros.captioning.placer import PlacedSegment
from remembr_ros.captioning.segmenter import SampledFrame, Segment
from remembr_ros.captioning.still_scene import SIZE, StillScene, cells_of, change
from remembr_ros.geometry import Pose
from remembr_ros.images import Bgr
from remembr_ros.timestamps import NS

T0 = 1_700_000_000 * NS
HERE = Pose(1.0, 2.0, 0.0, 0.1)


def view(seed: int = 0) -> Bgr:
    """Shapes on a wall."""
    rng = np.random.default_rng(seed)
    image = np.full((480, 640, 3), 150, np.uint8)
    for _ in range(12):
        x, y = (int(v) for v in rng.integers(0, 500, 2))
        cv2.rectangle(image, (x, y), (x + 90, y + 60), [int(v) for v in rng.integers(0, 255, 3)], -1)
    return image


def taken(image: Bgr, seed: int, noise: float = 8.0, light: float = 1.0, quality: int = 80) -> Bgr:
    """What a camera makes of a view."""
    rng = np.random.default_rng(seed)
    noisy = np.clip(image * light + rng.normal(0.0, noise, image.shape), 0, 255).astype(np.uint8)
    return cv2.imdecode(cv2.imencode('.jpg', noisy, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], 1)


def segment(index: int, *images: Bgr, pose: Pose | None = HERE, frame_id: str = 'map') -> PlacedSegment:
    start_ns = T0 + 3 * index * NS
    frames = tuple(SampledFrame(start_ns + i * NS // 2, image, 1.0) for i, image in enumerate(images))
    return PlacedSegment(Segment(start_ns, start_ns + 29 * NS // 10, frames), pose, frame_id)


def kept(*images: Bgr, pose: Pose | None = HERE) -> StillScene:
    still = StillScene()
    still.keep(segment(0, *images, pose=pose))
    return still


def test_before_the_first_caption_everything_is_new():
    assert not StillScene().is_unchanged(segment(0, view()))


@pytest.mark.parametrize('noise', [0.0, 4.0, 12.0, 20.0])
@pytest.mark.parametrize('light', [0.97, 1.0, 1.03])
def test_noise_compression_and_a_little_light_change_nothing(noise: float, light: float):
    still = kept(*(taken(view(), i, noise) for i in range(3)))
    for index in range(1, 5):
        assert still.is_unchanged(
            segment(index, *(taken(view(), 9 * index + i, noise, light) for i in range(3)))
        )


@pytest.mark.parametrize(('width', 'height'), [(24, 60), (60, 24), (36, 36)])
@pytest.mark.parametrize('at', [(0, 0), (300, 200), (331, 97), (600, 420)])
def test_a_small_thing_that_comes_or_goes_is_a_change(width: int, height: int, at: tuple[int, int]):
    with_it = view()
    x, y = at
    before = with_it[y : y + height, x : x + width]
    before[...] = np.where(before.mean() > 127, 20, 230)
    for first, second in ((view(), with_it), (with_it, view())):
        still = kept(taken(first, 1))
        assert still.is_unchanged(segment(1, taken(first, 2)))
        assert not still.is_unchanged(segment(2, taken(first, 3), taken(second, 4))), 'in any of its frames'


def test_lights_that_go_out_are_a_change():
    assert not kept(view()).is_unchanged(segment(1, taken(view(), 1, light=0.6)))


def test_of_a_scene_in_which_something_moved_no_other_is_like_it():
    moving = view()
    moving[200:260, 300:330] = 0
    for frames in ((view(), moving, view()), (moving, view()), (view(), moving)):
        still = kept(*frames)
        assert not still.is_unchanged(segment(1, view()))
        assert not still.is_unchanged(segment(1, moving))


@pytest.mark.parametrize(
    ('pose', 'stands'),
    [
        (Pose(1.3, 2.3, 0.0, 0.1), True),
        (Pose(1.6, 2.0, 0.0, 0.1), False),
        (Pose(1.0, 2.0, 0.6, 0.1), False),
        (Pose(1.0, 2.0, 0.0, 0.1 + math.radians(19)), True),
        (Pose(1.0, 2.0, 0.0, 0.1 - math.radians(21)), False),
        (Pose(1.0, 2.0, 0.0, 0.1 + 2 * math.pi), True),
        (None, False),
    ],
)
def test_who_has_moved_looks_anew_however_alike_the_walls_are(pose: Pose | None, stands: bool):
    assert kept(view()).is_unchanged(segment(1, view(), pose=pose)) is stands


def test_creeping_away_is_measured_from_where_the_caption_was_made():
    still = kept(view())
    found = [
        still.is_unchanged(segment(i, view(), pose=Pose(1.0 + 0.2 * i, 2.0, 0.0, 0.1))) for i in range(1, 5)
    ]
    assert found == [True, True, False, False]


def test_a_change_that_comes_by_small_steps_is_one():
    still = kept(view())
    darker = [np.clip(view() * (1.0 - 0.02 * i), 0, 255).astype(np.uint8) for i in range(1, 20)]
    found = [still.is_unchanged(segment(i, image)) for i, image in enumerate(darker, 1)]
    assert found[0]
    assert not found[-1]


def test_without_any_place_the_images_tell():
    still = kept(view(), pose=None)
    assert still.is_unchanged(segment(1, view(), pose=None))
    assert not still.is_unchanged(segment(2, view()))


def test_another_frame_a_pause_an_earlier_time_and_a_long_time_are_new(monkeypatch: pytest.MonkeyPatch):
    assert not kept(view()).is_unchanged(segment(1, view(), frame_id='odom'))
    assert not kept(view()).is_unchanged(segment(30, view())), 'after a pause of 87 s'
    assert not kept(view()).is_unchanged(segment(-1, view())), 'the clock jumped back'
    monkeypatch.setattr(still_scene, 'MAX_SPAN_NS', 10 * NS)
    still = kept(view())
    assert [still.is_unchanged(segment(i, view())) for i in range(1, 5)] == [True, True, False, False]


@pytest.mark.parametrize('shape', [(1, 1, 3), (3, 2000, 3), (1080, 1920, 3), (47, 63, 3)])
def test_images_of_any_shape_have_as_many_cells(shape: tuple[int, int, int]):
    cells = cells_of(np.full(shape, 77, np.uint8))
    assert cells.shape == SIZE[::-1]
    assert cells == pytest.approx(77.0)


CELLS = st.integers(0, 2**32 - 1).map(
    lambda seed: np.random.default_rng(seed).uniform(0, 255, SIZE[::-1]).astype(np.float32)
)


@settings(max_examples=50)
@given(CELLS, CELLS, st.floats(0.0, 50.0))
def test_a_change_is_the_same_both_ways_and_light_makes_it_no_greater(a, b, light):
    assert change(a, a, light) == 0.0
    assert change(a, b, light) == pytest.approx(change(b, a, light), rel=1e-4)
    assert 0.0 <= change(a, b, light) <= 255.0 + light
    assert change(a, a + np.float32(light), light) == pytest.approx(0.0, abs=1e-3)
