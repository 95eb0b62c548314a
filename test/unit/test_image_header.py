"""Pictures that announce more than they may take: refused before anything is decoded."""

import struct
import zlib

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.image_header import announced_size
from remembr_ros.images import MAX_PIXELS, decode_compressed, encode_jpeg
from remembr_ros.memory.keyframes.files import check_jpeg

PICTURE = np.random.default_rng(1).integers(0, 256, (37, 53, 3), np.uint8)


def encoded(suffix: str, pixels: np.ndarray = PICTURE, *options: int) -> bytes:
    return cv2.imencode(suffix, pixels, options)[1].tobytes()


WITH_ALPHA = np.dstack([PICTURE, PICTURE[..., 0]])
PICTURES = {
    'jpeg': encoded('.jpg'),
    'progressive': encoded('.jpg', PICTURE, cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
    'png': encoded('.png'),
    'png with alpha': encoded('.png', WITH_ALPHA),
    'deep png': encoded('.png', PICTURE.astype(np.uint16) << 8),
    'webp': encoded('.webp'),
    'lossless webp': encoded('.webp', PICTURE, cv2.IMWRITE_WEBP_QUALITY, 101),
    'webp with alpha': encoded('.webp', WITH_ALPHA),
    'bmp': encoded('.bmp'),
    'tiff': encoded('.tiff'),
    'float tiff': encoded('.tiff', PICTURE.astype(np.float64)),
}


@pytest.mark.parametrize('kind', PICTURES)
def test_every_format_announces_what_it_becomes(kind: str) -> None:
    announced = announced_size(PICTURES[kind])
    decoded = cv2.imdecode(np.frombuffer(PICTURES[kind], np.uint8), cv2.IMREAD_UNCHANGED)
    assert announced is not None
    assert (announced.width, announced.height) == (53, 37)
    assert decoded.nbytes <= 53 * 37 * announced.pixel_bytes <= 4 * decoded.nbytes


@pytest.mark.parametrize('kind', PICTURES)
def test_a_header_that_is_cut_off_announces_nothing(kind: str) -> None:
    assert announced_size(PICTURES[kind][:9]) is None


@pytest.mark.parametrize('kind', PICTURES)
@settings(max_examples=40)
@given(st.data())
def test_a_damaged_header_is_read_or_not_but_never_breaks(kind: str, data: st.DataObject) -> None:
    whole = bytearray(PICTURES[kind])
    for _ in range(data.draw(st.integers(0, 6))):
        whole[data.draw(st.integers(0, min(200, len(whole)) - 1))] = data.draw(st.integers(0, 255))
    announced_size(bytes(whole[: data.draw(st.integers(0, len(whole)))]))


def test_a_jpeg_announces_behind_thumbnails_and_garbage() -> None:
    thumbnails = (b'\xff\xe1\xff\xff' + bytes(0xFFFD)) * 40  # 2.6 MB
    jpeg = PICTURES['jpeg']
    for between in (thumbnails, b'garbage', b'\xff\xff\xff', b'\xff\x01', b'\xff\xd0'):
        announced = announced_size(jpeg[:2] + between + jpeg[2:])
        assert announced is not None
        assert announced[:2] == (53, 37)
    assert check_jpeg(jpeg[:2] + thumbnails + jpeg[2:]) == (53, 37)


def png(width: int, height: int, bits: int = 8, kind: int = 2) -> bytes:
    """A PNG of zeros without its pixels, but for the first."""

    def chunk(name: bytes, content: bytes) -> bytes:
        return (
            struct.pack('>I', len(content)) + name + content + struct.pack('>I', zlib.crc32(name + content))
        )

    header = chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, bits, kind, 0, 0, 0))
    return b'\x89PNG\r\n\x1a\n' + header + chunk(b'IDAT', zlib.compress(bytes(100))) + chunk(b'IEND', b'')


def jpeg_of(width: int, height: int) -> bytes:
    found = bytearray(encode_jpeg(PICTURE))
    at = found.index(b'\xff\xc0')
    found[at + 5 : at + 9] = struct.pack('>HH', height, width)
    return bytes(found)


BOMBS = {
    '132 megapixels': png(11_500, 11_500),
    'one line': png(MAX_PIXELS + 1, 1, 8, 0),
    '48 megapixels of 16 bits and alpha': png(8000, 6000, 16, 6),
    'jpeg': jpeg_of(65_000, 65_000),
    'jpeg behind a megabyte': b'\xff\xd8'
    + (b'\xff\xe1\xff\xff' + bytes(0xFFFD)) * 20
    + jpeg_of(65_000, 65_000)[2:],
    'webp': b'RIFF\0\0\0\0WEBPVP8L\0\0\0\0\x2f' + struct.pack('<I', 16_382 | 16_382 << 14),
    'bmp': b'BM' + bytes(12) + struct.pack('<Iii', 40, -30_000, 30_000),
    'tiff': b'II*\0'
    + struct.pack('<IHHHII', 8, 2, 256, 4, 1, 30_000)
    + struct.pack('<HHII', 257, 4, 1, 30_000),
    'tiff of one vast tile': b'II*\0'
    + struct.pack('<IH', 8, 4)
    + b''.join(
        struct.pack('<HHII', tag, 4, 1, size)
        for tag, size in ((256, 64), (257, 64), (322, 16_000), (323, 16_000))
    ),
    'gif': b'GIF89a\xff\xff\xff\xff' + bytes(100),
    'pnm': b'P6 60000 60000 255 ' + bytes(100),
}


@pytest.mark.parametrize('kind', BOMBS)
def test_a_bomb_is_not_decoded(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cv2, 'imdecode', None)
    for form in ('png', '16UC1; png compressed'):
        with pytest.raises(ValueError, match=r'at most|may take|no image'):
            decode_compressed(form, BOMBS[kind])
    if kind.startswith('jpeg'):
        with pytest.raises(InvalidRequest, match='damaged'):
            check_jpeg(BOMBS[kind])


@pytest.mark.parametrize(('width', 'height'), [(8000, 6000), (9248, 6944)])
def test_cameras_of_48_and_64_megapixels_pass(
    width: int, height: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = np.zeros((2, 2, 3), np.uint8)
    monkeypatch.setattr(cv2, 'imdecode', lambda *_: small)
    for data in (
        png(width, height),
        png(width, height, 8, 6),
        png(width, height, 16, 0),
        jpeg_of(width, height),
    ):
        assert decode_compressed('', data).shape == (2, 2, 3)
    assert check_jpeg(jpeg_of(width, height)) == (width, height)
