import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.captioning.frame_choice import MIN_BYTES, evenly, jpeg_within, reduced


@pytest.mark.parametrize(
    ('count', 'n', 'wanted'), [(0, 3, []), (2, 3, [0, 1]), (6, 1, [3]), (7, 3, [0, 3, 6]), (6, 2, [0, 5])]
)
def test_images_are_spread_evenly(count: int, n: int, wanted: list[int]) -> None:
    assert evenly(list(range(count)), n) == wanted


@pytest.mark.parametrize(
    ('shape', 'side', 'wanted'),
    [
        ((200, 400), 100, (50, 100)),
        ((400, 200), 100, (100, 50)),
        ((50, 60), 100, (50, 60)),
        ((1, 900), 9, (1, 9)),
    ],
)
def test_images_are_reduced_to_a_side_and_never_enlarged(
    shape: tuple[int, int], side: int, wanted: tuple[int, int]
) -> None:
    assert reduced(np.zeros((*shape, 3), np.uint8), side).shape == (*wanted, 3)


@settings(max_examples=40)
@given(
    st.integers(1, 900),
    st.integers(1, 900),
    st.integers(16, 800),
    st.sampled_from([MIN_BYTES, 20_000, 10**6]),
)
def test_a_jpeg_has_neither_more_pixels_nor_more_bytes_than_wanted(
    height: int, width: int, side: int, most: int
) -> None:
    # Noise is what JPEG is worst at.
    noise = np.random.default_rng(0).integers(0, 255, (height, width, 3), np.uint8)
    jpeg = jpeg_within(noise, side, most)
    assert len(jpeg) <= most
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert max(image.shape[:2]) <= max(side, 1)


def test_a_plain_image_keeps_its_size() -> None:
    jpeg = jpeg_within(np.full((480, 640, 3), 90, np.uint8), 768, 100_000)
    image = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)
    assert image is not None
    assert image.shape == (480, 640, 3)
