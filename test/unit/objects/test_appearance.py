import cv2
import numpy as np
import pytest

from remembr_ros.objects.appearance import Appearance, appearances_of, picture_of
from test.object_scene import Scene, detection

BOX = (60.0, 40.0, 100.0, 80.0)


def seen(bgr: tuple[int, int, int]) -> Appearance:
    scene = Scene()
    scene.put((60, 40, 100, 80), 1.5, bgr)
    return appearances_of([detection(BOX)], scene.bgr)[0]


@pytest.mark.parametrize(
    ('bgr', 'name'),
    [
        ((30, 30, 200), 'red'),
        ((60, 30, 220), 'red'),
        ((200, 60, 30), 'blue'),
        ((40, 160, 40), 'green'),
        ((40, 220, 230), 'yellow'),
        ((20, 130, 240), 'orange'),
        ((160, 40, 130), 'purple'),
        ((250, 250, 250), 'white'),
        ((20, 20, 20), 'black'),
        ((45, 80, 120), 'brown'),
        ((120, 120, 120), 'grey'),
    ],
)
def test_a_colour_has_its_plain_name(bgr: tuple[int, int, int], name: str) -> None:
    assert seen(bgr).colour == name


def test_what_looks_alike_is_near_and_what_does_not_is_far() -> None:
    red, alike, blue = (seen(bgr).vector for bgr in ((30, 30, 200), (35, 28, 190), (200, 60, 30)))
    assert red is not None
    assert alike is not None
    assert blue is not None
    assert float(np.linalg.norm(red)) == pytest.approx(1.0, abs=1e-5)
    assert float(red @ alike) > 0.95
    assert float(red @ blue) < 0.3


def test_a_pale_colour_is_not_a_full_one_of_the_same_hue() -> None:
    full, pale, shaded = (seen(bgr).vector for bgr in ((40, 44, 186), (150, 152, 222), (32, 35, 149)))
    assert full is not None
    assert pale is not None
    assert shaded is not None
    assert float(full @ shaded) > 0.95
    assert float(full @ pale) < 0.6


def test_an_embedding_of_the_detector_counts_more() -> None:
    given = np.array([0.6, 0.8], np.float32)
    assert appearances_of([detection(BOX, embedding=given)], Scene().bgr)[0].vector is given


def test_what_has_many_colours_has_none() -> None:
    scene = Scene()
    for i, bgr in enumerate(((30, 30, 200), (200, 60, 30), (40, 160, 40), (20, 20, 20))):
        scene.put((60 + 10 * i, 40, 70 + 10 * i, 80), 1.5, bgr)
    assert appearances_of([detection(BOX)], scene.bgr)[0].colour == ''


def test_its_picture_shows_it_and_a_speck_has_one_too() -> None:
    scene = Scene()
    scene.put((60, 40, 100, 80), 1.5, (30, 30, 200))
    image = cv2.imdecode(np.frombuffer(picture_of(detection(BOX), scene.bgr), np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert image.shape == (49, 49, 3)
    assert abs(int(image[24, 24, 2]) - 200) < 12
    speck = detection((10.0, 10.0, 10.5, 10.5))
    [look] = appearances_of([speck], scene.bgr)
    assert (look.vector, look.colour) == (None, '')
    assert picture_of(speck, scene.bgr).startswith(b'\xff\xd8')


def test_of_a_mask_its_pixels_count_and_each_has_its_own() -> None:
    scene = Scene()
    scene.put((60, 40, 65, 80), 1.5, (30, 30, 200))
    mask = np.zeros(scene.bgr.shape[:2], np.bool_)
    mask[40:80, 60:65] = True
    both = appearances_of([detection(BOX, mask=mask), detection(BOX)], scene.bgr)
    assert [look.colour for look in both] == ['red', 'white']
    assert appearances_of([], scene.bgr) == []
