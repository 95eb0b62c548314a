"""The size that a compressed image announces, read before decoding: few bytes can become gigabytes."""

import struct
from typing import NamedTuple

_PNG = b'\x89PNG\r\n\x1a\n'
_PNG_CHANNELS = {0: 1, 2: 3, 3: 4, 4: 4, 6: 4}
"""By colour type, as they are decoded: a palette may have transparent colours."""

_NO_FRAME = (0xC4, 0xC8, 0xCC)
_WITHOUT_LENGTH = (0x01, *range(0xD0, 0xD9))
_END, _SCAN = 0xD9, 0xDA

_TIFF_WIDTH, _TIFF_HEIGHT, _TIFF_BITS, _TIFF_SAMPLES = 256, 257, 258, 277
_TIFF_TILE = 322, 323


class Announced(NamedTuple):
    """What a header says.

    :param width: [px]
    :param height: [px]
    :param pixel_bytes: what a decoded pixel takes at most
    """

    width: int
    height: int
    pixel_bytes: int


def announced_size(data: bytes) -> Announced | None:
    """Return what a JPEG, PNG, WebP, BMP or TIFF announces; None if it is none of these, or damaged."""
    readers = {_PNG: _png, b'\xff\xd8': _jpeg, b'RIFF': _webp, b'BM': _bmp, b'II*\0': _tiff, b'MM\0*': _tiff}
    reader = next((reader for start, reader in readers.items() if data.startswith(start)), None)
    try:
        return reader(data) if reader else None
    except struct.error:  # it is cut off
        return None


def _png(data: bytes) -> Announced | None:
    if data[12:16] != b'IHDR':
        return None
    width, height, bits, kind = struct.unpack_from('>IIBB', data, 16)
    return Announced(width, height, _PNG_CHANNELS.get(kind, 4) * (2 if bits > 8 else 1))


def _bmp(data: bytes) -> Announced:
    (size,) = struct.unpack_from('<I', data, 14)
    width, height = struct.unpack_from('<HH' if size == 12 else '<ii', data, 18)
    return Announced(abs(width), abs(height), 4)


def _jpeg(data: bytes) -> Announced | None:
    at = 2
    # A decoder looks for the next marker where it finds something else.
    while (at := data.find(b'\xff', at)) >= 0 and at + 1 < len(data):
        marker = data[at + 1]
        if marker in {0xFF, 0x00}:
            at += 1
        elif marker in _WITHOUT_LENGTH:
            at += 2
        elif marker in {_END, _SCAN}:
            return None
        elif 0xC0 <= marker <= 0xCF and marker not in _NO_FRAME:
            height, width = struct.unpack_from('>HH', data, at + 5)
            return Announced(width, height, 3)
        else:
            at += 2 + struct.unpack_from('>H', data, at + 2)[0]
    return None


def _webp(data: bytes) -> Announced | None:
    kind = data[12:16] if data[8:12] == b'WEBP' else b''
    if kind == b'VP8X':
        width, height = (int.from_bytes(data[at : at + 3], 'little') + 1 for at in (24, 27))
    elif kind == b'VP8L':
        (packed,) = struct.unpack_from('<I', data, 21)
        width, height = (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
    elif kind == b'VP8 ':
        width, height = (value & 0x3FFF for value in struct.unpack_from('<HH', data, 26))
    else:
        return None
    return Announced(width, height, 4)


def _tiff(data: bytes) -> Announced:
    order = '<' if data.startswith(b'I') else '>'
    (at,) = struct.unpack_from(f'{order}I', data, 4)
    (count,) = struct.unpack_from(f'{order}H', data, at)
    values = {_TIFF_WIDTH: 0, _TIFF_HEIGHT: 0, _TIFF_BITS: 1, _TIFF_SAMPLES: 1}
    values |= dict.fromkeys(_TIFF_TILE, 0)  # a tile is decoded whole, however small the picture
    for entry in range(at + 2, at + 2 + 12 * count, 12):
        tag, kind, many = struct.unpack_from(f'{order}HHI', data, entry)
        if tag in values and kind in {3, 4}:  # 16 and 32 bits
            size = 2 if kind == 3 else 4
            offset = entry + 8 if many * size <= 4 else struct.unpack_from(f'{order}I', data, entry + 8)[0]
            (value,) = struct.unpack_from(f'{order}{"H" if kind == 3 else "I"}', data, offset)
            values[tag] = max(values[tag], value)
    pixel_bytes = max(4, values[_TIFF_SAMPLES] * -(-values[_TIFF_BITS] // 8))
    if not values[_TIFF_WIDTH] or not values[_TIFF_HEIGHT]:
        return Announced(0, 0, pixel_bytes)
    width, height = _TIFF_TILE
    return Announced(
        max(values[_TIFF_WIDTH], values[width]), max(values[_TIFF_HEIGHT], values[height]), pixel_bytes
    )
