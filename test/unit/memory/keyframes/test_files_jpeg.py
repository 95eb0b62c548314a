import cv2
import numpy as np
import pytest

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.keyframes.files import check_jpeg, fitted_jpeg


def noise(width: int, height: int, quality: int = 95) -> bytes:
    image = np.random.default_rng(1).integers(0, 256, (height, width, 3), np.uint8)
    return cv2.imencode('.jpg', image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1].tobytes()


def size(data: bytes) -> tuple[int, int]:
    height, width = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR).shape[:2]
    return width, height


def test_the_size_is_in_the_header() -> None:
    assert check_jpeg(noise(31, 17)) == (31, 17)


@pytest.mark.parametrize(
    'data', [b'', b'\xff\xd8', b'\xff\xd8\xff\xe0', cv2.imencode('.png', np.zeros((9, 9)))[1]]
)
def test_what_is_no_jpeg_is_refused(data: bytes) -> None:
    with pytest.raises(InvalidRequest, match='not a JPEG'):
        check_jpeg(bytes(data))


def test_an_absurd_size_is_refused_before_it_is_decoded() -> None:
    data = bytearray(noise(40, 30))
    at = data.index(b'\xff\xc0') + 5
    data[at : at + 4] = b'\xff\xff\xff\xff'
    with pytest.raises(InvalidRequest, match='damaged'):
        fitted_jpeg(bytes(data), 10, 10**6)


def test_what_fits_is_kept_to_the_byte() -> None:
    data = noise(64, 48)
    assert fitted_jpeg(data, 64, len(data)) is data


def test_what_is_too_wide_keeps_its_proportions() -> None:
    assert size(fitted_jpeg(noise(80, 40), 20, 10**6)) == (20, 10)
    assert size(fitted_jpeg(noise(80, 1), 20, 10**6)) == (20, 1)


def test_quality_goes_before_size() -> None:
    data = noise(80, 40)
    lighter = fitted_jpeg(data, 80, len(data) * 2 // 3)
    assert size(lighter) == (80, 40)
    assert len(lighter) <= len(data) * 2 // 3
    smaller = fitted_jpeg(data, 80, 900)
    assert size(smaller)[0] < 80
    assert len(smaller) <= 900


@pytest.mark.parametrize('shape', [(300, 8), (8, 300), (1, 1), (300, 300)])
def test_a_limit_that_no_jpeg_keeps_ends_with_a_small_picture(shape: tuple[int, int]) -> None:
    assert max(size(fitted_jpeg(noise(*shape), 1000, 1))) <= 16


def test_a_picture_too_damaged_to_reduce_is_refused() -> None:
    data = noise(80, 40)
    header_only = data[: data.index(b'\xff\xda')]
    with pytest.raises(InvalidRequest, match='cannot be reduced'):
        fitted_jpeg(header_only, 20, 10**6)
