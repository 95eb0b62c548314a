"""What image transports put into a CompressedImage that is no file of a picture: zstd, and video."""

import re
import struct
from typing import NamedTuple

from remembr_ros.decompression import unpacked

_HEADER = struct.Struct('<IIBII')  # height, width, is_bigendian, step, length of the encoding's name
_VIDEO = re.compile(r'\b(h\.?26[45]|x26[45]|hevc|avc|av1|vp[89]|mpeg-?[124]|theora|ffmpeg)\b', re.IGNORECASE)
_START_CODES = b'\0\0\0\1', b'\0\0\1'  # of H.264 and H.265

MAKE_PICTURES = (
    'a message alone holds no picture of it. Let a node make pictures of it while it is played, and take or '
    "record its topic: isaac_ros_h264_decoder, or 'ros2 run image_transport republish --ros-args "
    "-p in_transport:=ffmpeg -p out_transport:=compressed'"
)


class RawImage(NamedTuple):
    """The fields of a sensor_msgs/Image, in the order of :func:`~remembr_ros.images.decode_raw`."""

    encoding: str
    width: int
    height: int
    step: int
    is_bigendian: bool
    data: bytes


def is_zstd(form: str) -> bool:
    """Tell whether a CompressedImage of this format comes from zstd_image_transport."""
    return form.strip().lower() == 'zstd'


def encoding_of(form: str, data: bytes) -> str:
    """Return what tells measurements from pictures: the encoding that zstd packed, or the format itself."""
    if not is_zstd(form) or len(data) < _HEADER.size:
        return form
    length = _HEADER.unpack_from(data)[-1]
    return bytes(data[_HEADER.size : _HEADER.size + min(length, 64)]).decode(errors='replace')


def raw_image(data: bytes, most: int) -> RawImage:
    """Return the image that zstd_image_transport packed (by zlib in its first versions).

    :param most: bytes of pixels, at most
    :raises ValueError: it is damaged, or more
    """
    if len(data) < _HEADER.size:
        raise ValueError(f'the compressed image (zstd, {len(data)} bytes) is damaged or no image')
    height, width, is_bigendian, step, length = _HEADER.unpack_from(data)
    pixels = unpacked(data[_HEADER.size + length :], most)
    return RawImage(encoding_of('zstd', data), width, height, step, bool(is_bigendian), pixels)


def video_in(form: str, data: bytes) -> str:
    """Return which video a CompressedImage is a part of, if it is no picture; empty: none that is known."""
    if found := _VIDEO.search(form):
        return found[0].lower()
    return 'H.264 or H.265' if data.startswith(_START_CODES) else ''
