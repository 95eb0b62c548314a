import struct
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.objects.camera import Depth, depth_of, has_depth


def depth_from_raw(*fields: object) -> Depth:
    names = ('encoding', 'width', 'height', 'step', 'is_bigendian', 'data')
    return depth_of(SimpleNamespace(**dict(zip(names, fields, strict=True))))


def depth_from_compressed(kind: str, data: bytes) -> Depth:
    return depth_of(SimpleNamespace(format=kind, data=np.frombuffer(data, np.uint8)))


MM = np.array([[0, 1000, 2500], [500, 65535, 1]], np.uint16)


@pytest.mark.parametrize('big', [False, True])
@pytest.mark.parametrize('padding', [0, 5])
def test_millimetres_become_metres_in_either_byte_order_and_with_padded_rows(big: bool, padding: int) -> None:
    rows = [row.astype('>u2' if big else '<u2').tobytes() + b'x' * padding for row in MM]
    depth = depth_from_raw('16UC1', 3, 2, 6 + padding, big, b''.join(rows))
    assert np.allclose(depth, MM / 1000.0)
    assert depth.dtype == np.float32


def test_metres_stay_what_they_are_and_what_was_not_measured_is_known() -> None:
    metres = np.array([[np.nan, 1.5], [np.inf, 0.0]], np.float32)
    depth = depth_from_raw('32FC1', 2, 2, 8, False, metres.tobytes())
    assert np.array_equal(depth, metres, equal_nan=True)
    assert has_depth(depth)
    assert not has_depth(np.zeros((2, 2), np.float32))
    assert not has_depth(np.full((2, 2), np.nan, np.float32))


@pytest.mark.parametrize('encoding', ['bgr8', '', 'mono8', '32FC3', 'garbage'])
def test_another_encoding_is_named_with_those_that_are_depth(encoding: str) -> None:
    with pytest.raises(ValueError, match='16UC1'):
        depth_from_raw(encoding, 3, 2, 6, False, MM.tobytes())


@given(st.integers(0, 10), st.integers(0, 10), st.integers(0, 30), st.binary(max_size=60))
def test_garbage_is_told_and_never_breaks(width: int, height: int, step: int, data: bytes) -> None:
    try:
        depth = depth_from_raw('16UC1', width, height, step, False, data)
    except ValueError:
        return
    assert depth.shape == (height, width)


def png(image: np.ndarray) -> bytes:
    return bytes(cv2.imencode('.png', image)[1])


def test_compressed_depth_is_read_plain_with_its_header_and_quantised() -> None:
    assert np.allclose(depth_from_compressed('16UC1; png', png(MM)), MM / 1000.0)
    header = struct.pack('<iff', 0, 0.0, 0.0)
    assert np.allclose(depth_from_compressed('16UC1; compressedDepth png', header + png(MM)), MM / 1000.0)
    quantised = np.array([[0, 350, 200]], np.uint16)
    header = struct.pack('<iff', 0, 300.0, 50.0)
    depth = depth_from_compressed('32FC1; compressedDepth png', header + png(quantised))
    assert np.allclose(depth, [[0.0, 1.0, 2.0]])


@pytest.mark.parametrize(
    ('kind', 'data'),
    [
        *(('16UC1; png', data) for data in (b'', b'no image', png(np.zeros((3, 3, 3), np.uint8)))),
        *(('32FC1; compressedDepth png', b'\0' * 7), ('jpeg', png(np.zeros((3, 3), np.uint8)))),
    ],
)
def test_what_is_no_png_of_sixteen_bits_is_refused(kind: str, data: bytes) -> None:
    with pytest.raises(ValueError, match=r'16 bits|no image|without data'):
        depth_from_compressed(kind, data)
