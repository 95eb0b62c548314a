"""Images that come by zstd, and video that is none."""

import contextlib
import gzip
import struct

import cv2
import numpy as np
import pytest
from backports import zstd
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.image_transport import encoding_of, raw_image, video_in
from remembr_ros.images import decode_compressed, is_measurement


def packed(
    pixels: bytes, encoding: str = 'bgr8', shape: tuple[int, int, int] = (4, 6, 18), by: str = 'zstd'
) -> bytes:
    """Return what zstd_image_transport publishes, now (zstd) or in its first versions (gzip)."""
    height, width, step = shape
    head = struct.pack('<IIBII', height, width, 0, step, len(encoding)) + encoding.encode()
    return head + (zstd.compress(pixels) if by == 'zstd' else gzip.compress(pixels))


@pytest.mark.parametrize('by', ['zstd', 'gzip'])
def test_what_zstd_packed_is_a_picture(by: str) -> None:
    pixels = np.arange(4 * 6 * 3, dtype=np.uint8).reshape(4, 6, 3)
    data = np.frombuffer(packed(pixels.tobytes(), by=by), np.uint8)
    np.testing.assert_array_equal(decode_compressed('zstd', data), pixels)


@pytest.mark.parametrize(('encoding', 'measured'), [('16UC1', True), ('32FC1', True), ('rgb8', False)])
def test_what_zstd_packed_tells_whether_it_is_a_measurement(encoding: str, measured: bool) -> None:
    assert is_measurement('zstd', packed(bytes(48), encoding)) is measured


def test_the_format_tells_of_others() -> None:
    assert encoding_of('16UC1; compressedDepth png', b'anything') == '16UC1; compressedDepth png'


@pytest.mark.parametrize(
    ('data', 'reason'),
    [
        (b'', 'damaged or no image'),
        (packed(bytes(72))[:-3], 'cut off'),
        (packed(bytes(72))[:26], 'damaged|cut off'),
        (packed(bytes(71)), 'needs 72 bytes'),
        (packed(bytes(72), 'yuv999'), "'yuv999' is not supported"),
        (struct.pack('<IIBII', 1, 1, 0, 1, 2**31) + b'mono8', 'neither by zstd nor by gzip'),
    ],
)
def test_garbage_in_zstd_is_a_value_error(data: bytes, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        decode_compressed('zstd', data)


def test_what_is_packed_may_not_fill_the_memory() -> None:
    with pytest.raises(ValueError, match='more than the 1000 bytes'):
        raw_image(packed(bytes(10**6), 'mono8', (1000, 1000, 1000)), 1000)


@given(st.binary(max_size=60))
def test_any_bytes_are_pixels_or_a_value_error(data: bytes) -> None:
    with contextlib.suppress(ValueError):
        assert decode_compressed('zstd', data).dtype == np.uint8


@pytest.mark.parametrize('form', ['h264', 'H.265', 'hevc', 'bgr8; h264', 'av1', 'vp9', 'mpeg4', 'x264'])
def test_video_is_named_with_what_makes_pictures_of_it(form: str) -> None:
    with pytest.raises(ValueError, match=r'video \(.*isaac_ros_h264_decoder.*republish'):
        decode_compressed(form, b'\0\0\0\x01\x67\x42\0\x1f' + bytes(100))


@pytest.mark.parametrize('data', [b'\0\0\0\1gabc', b'\0\0\1gabc'])
def test_video_is_known_by_its_data(data: bytes) -> None:
    with pytest.raises(ValueError, match=r'video \(H.264 or H.265\)'):
        decode_compressed('jpeg', data)


@pytest.mark.parametrize('form', ['jpeg', 'png', 'rgb8; jpeg compressed bgr8', 'mjpeg', ''])
def test_pictures_are_no_video(form: str) -> None:
    assert not video_in(form, b'\xff\xd8\xff\xe0')


def test_a_jpeg_is_a_picture_whatever_its_format_says() -> None:
    jpeg = cv2.imencode('.jpg', np.zeros((8, 8, 3), np.uint8))[1].tobytes()
    assert decode_compressed('h264', jpeg).shape == (8, 8, 3)
