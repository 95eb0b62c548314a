"""One camera frame, and the pixel formats that cameras send it in.

The encodings are those of sensor_msgs/image_encodings. Every decoder gives 8 bits per channel:

- 16-bit intensity (mono16, rgb16, bgr16, bayer_*16, 16-bit PNG): the upper 8 bits;
- measurements (16UC1, 32FC1: depth, thermal): stretched so that the smallest valid value becomes 0 and the
  largest 255; what was not measured (0 in 16UC1, not finite or 0 in 32FC1) is black;
- alpha is dropped.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.image_header import announced_size
from remembr_ros.image_transport import MAKE_PICTURES, encoding_of, is_zstd, raw_image, video_in

Bgr = NDArray[np.uint8]
"""An image of shape (height, width, 3), blue first, as OpenCV has it."""

MAX_PIXELS = 2**26
"""67 million: a camera of 64 megapixels, the largest that robots carry, has fewer. More is garbage, or a
small file made to fill the memory."""

MAX_DECODED_BYTES = 2**28
"""Of a compressed picture as it is decoded: as many pixels with four channels of 8 bits."""

# Encoding -> (layout, channels in a row's pixel, bytes per channel). cv2's names are looked up when they are
# used, so that importing this module does not import OpenCV.
_INTERLEAVED = {
    'mono8': ('GRAY2BGR', 1, 1),
    '8uc1': ('GRAY2BGR', 1, 1),
    'bgr8': ('', 3, 1),
    '8uc3': ('', 3, 1),
    'rgb8': ('RGB2BGR', 3, 1),
    'bgra8': ('BGRA2BGR', 4, 1),
    '8uc4': ('BGRA2BGR', 4, 1),
    'rgba8': ('RGBA2BGR', 4, 1),
    'mono16': ('GRAY2BGR', 1, 2),
    'bgr16': ('', 3, 2),
    '16uc3': ('', 3, 2),
    'rgb16': ('RGB2BGR', 3, 2),
    'bgra16': ('BGRA2BGR', 4, 2),
    '16uc4': ('BGRA2BGR', 4, 2),
    'rgba16': ('RGBA2BGR', 4, 2),
    'yuv422': ('YUV2BGR_UYVY', 2, 1),
    'uyvy': ('YUV2BGR_UYVY', 2, 1),
    'yuv422_yuy2': ('YUV2BGR_YUYV', 2, 1),
    'yuyv': ('YUV2BGR_YUYV', 2, 1),
    # ROS names a Bayer pattern by its first two rows; so do these constants of OpenCV. Its older ones
    # (BayerBG, ...) start at the second pixel of the second row.
    **{
        f'bayer_{pattern}{8 * size}': (f'Bayer{pattern.upper()}2BGR', 1, size)
        for pattern in ('rggb', 'bggr', 'gbrg', 'grbg')
        for size in (1, 2)
    },
}
_MEASURED = {'16uc1': 'u2', '32fc1': 'f4'}
_STRIPE = 2**20  # [px]

_SEMI_PLANAR = ('nv12', 'nv21', 'nv24')

ENCODINGS = (*_INTERLEAVED, *_MEASURED, *_SEMI_PLANAR)  # what decode_raw understands, in lower case


@dataclass(frozen=True, slots=True)
class Frame:
    """An image with the time it was taken.

    :param stamp_ns: nanoseconds since the Unix epoch
    :param decode: returns the pixels; raises ValueError when they are garbage. Costs a decode at each call.
    :param frame_id: the camera's optical frame
    """

    stamp_ns: int
    decode: Callable[[], Bgr]
    frame_id: str = ''


def decode_raw(  # noqa: PLR0917 (the fields of the message)
    encoding: str, width: int, height: int, step: int, is_bigendian: bool, data: Any
) -> Bgr:
    """Return the pixels of a sensor_msgs/Image.

    :param encoding: one of sensor_msgs/image_encodings, see ENCODINGS
    :param width: [px]
    :param height: [px]
    :param step: length of a row with its padding [bytes]; 0: rows are not padded
    :param is_bigendian: byte order of 16-bit and 32-bit channels
    :param data: bytes, or anything with the buffer interface
    :return: a copy, shape (height, width, 3)
    :raises ValueError: the encoding is unknown, the size makes no sense or there is too little data
    """
    import cv2

    name = encoding.strip().lower()
    buffer = _as_bytes(data)
    width, height, step = int(width), int(height), int(step)
    _check_size(width, height)
    order = '>' if is_bigendian else '<'
    try:
        if name in _SEMI_PLANAR:
            return _decode_semi_planar(name, width, height, step, buffer)
        if name in _MEASURED:
            return _stretched(raw_values(name, width, height, step, is_bigendian, buffer))
        if name not in _INTERLEAVED:
            raise ValueError(f'image encoding {encoding!r} is not supported; known: {", ".join(ENCODINGS)}')
        conversion, channels, size = _INTERLEAVED[name]
        if channels == 2 and width % 2:
            raise ValueError(f'a {encoding} image cannot be {width} pixels wide: two pixels share a colour')
        rows = _rows(buffer, height, width * channels * size, step)
        if size == 2:
            rows = rows.view(order + 'u2').astype(np.uint16)
        pixels = rows.reshape((height, width) if channels == 1 else (height, width, channels))
        if conversion:
            pixels = cv2.cvtColor(pixels, getattr(cv2, f'COLOR_{conversion}'))
        return _as_8_bit(pixels)
    except cv2.error as error:
        raise ValueError(f'cannot decode a {width} x {height} image as {encoding}: {error}') from error


def raw_values(  # noqa: PLR0917 (the fields of the message)
    encoding: str, width: int, height: int, step: int, is_bigendian: bool, data: Any
) -> NDArray[Any]:
    """Return what a sensor_msgs/Image of the encoding 16UC1 or 32FC1 measured, shape (height, width).

    :raises ValueError: the encoding is another one, the size makes no sense or there is too little data
    """
    kind = _MEASURED.get(encoding.strip().lower())
    if kind is None:
        raise ValueError(f'{encoding!r} is no encoding of depth; 16UC1 (millimetres) and 32FC1 (metres) are')
    _check_size(width, height)
    rows = _rows(_as_bytes(data), height, width * int(kind[1]), step)
    return rows.view(('>' if is_bigendian else '<') + kind).astype(kind)


def decode_compressed(format: str, data: Any) -> Bgr:  # noqa: A002
    """Return the pixels of a sensor_msgs/CompressedImage: JPEG, PNG, WebP, BMP, TIFF, or raw packed by zstd.

    :param format: 'jpeg', 'png', 'rgb8; jpeg compressed bgr8', '16UC1; compressedDepth png', 'zstd', ... But
        for zstd it only tells measurements (16UC1, 32FC1, compressedDepth) from intensities; the data says
        what it is
    :param data: bytes, or anything with the buffer interface
    :return: shape (height, width, 3)
    :raises ValueError: the data is no image, is damaged, or says that it is absurdly large
    """
    import cv2

    if is_zstd(format):
        return decode_raw(*raw_image(_as_bytes(data).tobytes(), MAX_DECODED_BYTES))
    measured = is_measurement(format)
    pixels = compressed_values(format, data)
    if pixels.dtype not in (np.uint8, np.uint16):
        measured, pixels = True, pixels if pixels.ndim == 2 else pixels[..., 0]
    if pixels.ndim == 2:
        if measured and pixels.dtype != np.uint8:
            return _stretched(pixels)
        # compressed_image_transport may compress what the sensor saw before its colours are put together
        sensor = format.split(';', maxsplit=1)[0].strip().lower()
        conversion = (
            _INTERLEAVED[sensor][0] if sensor.startswith('bayer_') and sensor in _INTERLEAVED else 'GRAY2BGR'
        )
        try:
            pixels = cv2.cvtColor(pixels, getattr(cv2, f'COLOR_{conversion}'))
        except cv2.error as error:
            raise ValueError(f'the compressed image ({format!r}) cannot be decoded: {error}') from error
    return _as_8_bit(pixels[..., :3])


def compressed_values(format: str, data: Any) -> NDArray[Any]:  # noqa: A002
    """Return what a sensor_msgs/CompressedImage holds, as its file has it.

    :return: shape (height, width) or (height, width, channels), uint8, uint16 or float32
    :raises ValueError: the data is no image, is damaged, or says that it is absurdly large
    """
    import cv2

    buffer = _as_bytes(data)
    if 'compresseddepth' in format.lower():
        buffer = buffer[12:]  # compressed_depth_image_transport puts its quantisation in front
    if buffer.size == 0:
        raise ValueError(f'a compressed image ({format!r}) without data')
    announced = announced_size(buffer.tobytes())
    if announced is None:
        if video := video_in(format, buffer[:4].tobytes()):
            raise ValueError(f'the images are video ({video}): {MAKE_PICTURES}')
        raise ValueError(f'the compressed image ({format!r}, {buffer.size} bytes) is damaged or no image')
    _check_size(announced.width, announced.height)
    if announced.width * announced.height * announced.pixel_bytes > MAX_DECODED_BYTES:
        raise ValueError(
            f'{announced.width} x {announced.height} pixels of {announced.pixel_bytes} bytes are more than '
            f'the {MAX_DECODED_BYTES} bytes that a decoded image may take; reduce it'
        )
    try:
        pixels = cv2.imdecode(buffer, cv2.IMREAD_UNCHANGED)
    except cv2.error as error:
        raise ValueError(f'the compressed image ({format!r}) cannot be decoded: {error}') from error
    if pixels is None or pixels.size == 0:
        raise ValueError(f'the compressed image ({format!r}, {buffer.size} bytes) is damaged or no image')
    return pixels


def is_measurement(encoding: str, data: Any = b'') -> bool:
    """Return whether an encoding or a compressed format holds distances or the like, not a picture.

    :param data: of a compressed image, which tells it where the format does not
    """
    name = encoding_of(encoding, data).strip().lower()
    return name.startswith(('16uc1', '32fc1')) or 'compresseddepth' in name


def scaled_down(image: Bgr, scale: float) -> Bgr:
    """Return the image with its sides so many times as long; as it is from 1 on."""
    import cv2

    if scale >= 1.0:
        return image
    height, width = image.shape[:2]
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA)  # type: ignore[return-value]


def encode_jpeg(image: Bgr, quality: int = 90) -> bytes:
    """Return the image as JPEG.

    :param image: shape (height, width, 3)
    :param quality: 1 to 100
    :raises ValueError: not an image of that shape
    """
    import cv2

    if image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3 or image.size == 0:
        raise ValueError(f'need 8-bit (height, width, 3), got {image.dtype} {image.shape}')
    try:
        done, encoded = cv2.imencode('.jpg', image, [cv2.IMWRITE_JPEG_QUALITY, min(max(quality, 1), 100)])
    except cv2.error as error:
        raise ValueError(f'cannot write a {image.shape} image as JPEG: {error}') from error
    if not done:
        raise ValueError(f'cannot write a {image.shape} image as JPEG')
    return encoded.tobytes()


def _as_bytes(data: Any) -> NDArray[np.uint8]:
    if isinstance(data, np.ndarray):
        return np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    if isinstance(data, (bytes, bytearray, memoryview)) or hasattr(data, 'buffer_info'):
        return np.frombuffer(data, np.uint8)
    return np.asarray(data, np.uint8).reshape(-1)


def _check_size(width: int, height: int) -> None:
    if width <= 0 or height <= 0 or width * height > MAX_PIXELS:
        raise ValueError(
            f'{width} x {height} pixels is no size of a camera image; at most {MAX_PIXELS} pixels are taken'
        )


def _rows(buffer: NDArray[np.uint8], height: int, row: int, step: int) -> NDArray[Any]:
    """Return the rows without their padding, a copy of shape (height, row) in bytes."""
    step = step or row
    if step < row:
        raise ValueError(f'a row takes {row} bytes, but step says {step}')
    needed = step * (height - 1) + row  # the last row is not always padded
    if buffer.size < needed:
        raise ValueError(f'the image needs {needed} bytes ({height} rows), but has {buffer.size}')
    return np.lib.stride_tricks.as_strided(buffer, (height, row), (step, 1)).copy()


def _decode_semi_planar(name: str, width: int, height: int, step: int, buffer: NDArray[np.uint8]) -> Bgr:
    """Decode a plane of luma followed by one of interleaved chroma: nv12 (UV) and nv21 (VU) with half of the
    columns and rows, nv24 (UV) with all."""
    import cv2

    step = step or width
    luma = _rows(buffer, height, width, step)
    rest = buffer[step * height :]
    if name == 'nv24':
        chroma = _rows(rest, height, 2 * width, 2 * step)
        # OpenCV knows no nv24: averaged in fours it is nv12, on even sizes
        right, bottom = width % 2, height % 2
        luma = np.pad(luma, ((0, bottom), (0, right)), mode='edge')
        pairs = np.pad(chroma.reshape(height, width, 2), ((0, bottom), (0, right), (0, 0)), mode='edge')
        fours = pairs.reshape(luma.shape[0] // 2, 2, luma.shape[1] // 2, 2, 2).mean(axis=(1, 3))
        chroma = fours.round().astype(np.uint8).reshape(-1, luma.shape[1])
    elif width % 2 or height % 2:
        raise ValueError(f'an {name} image cannot be {width} x {height}: four pixels share a colour')
    else:
        chroma = _rows(rest, height // 2, width, step)
    conversion = cv2.COLOR_YUV2BGR_NV21 if name == 'nv21' else cv2.COLOR_YUV2BGR_NV12
    return _as_8_bit(cv2.cvtColor(np.vstack([luma, chroma]), conversion)[:height, :width])


def _as_8_bit(pixels: NDArray[Any]) -> Bgr:
    if pixels.dtype == np.uint16:
        upper = np.empty(pixels.shape, np.uint8)
        np.right_shift(pixels, 8, out=upper, casting='unsafe')
        return upper
    return np.ascontiguousarray(pixels, np.uint8)


def _stretched(values: NDArray[Any]) -> Bgr:
    # A part at a time: as 64-bit floats all of it would take several times the picture.
    rows = max(1, _STRIPE // max(1, values.shape[1]))
    stripes = [slice(top, top + rows) for top in range(0, len(values), rows)]
    extremes = [
        (float(measured.min()), float(measured.max()))
        for stripe in stripes
        if (measured := values[stripe][_is_measured(values[stripe])]).size
    ]
    low = min((low for low, _ in extremes), default=0.0)
    high = max((high for _, high in extremes), default=0.0)
    grey = np.zeros(values.shape, np.uint8)
    for stripe in stripes if high > low else ():
        valid = _is_measured(values[stripe])
        measured = values[stripe][valid].astype(np.float64)
        grey[stripe][valid] = np.round((measured - low) * (255.0 / (high - low)))
    return np.repeat(grey[..., np.newaxis], 3, axis=2)


def _is_measured(values: NDArray[Any]) -> NDArray[np.bool_]:
    return np.asarray(np.isfinite(values) & (values != 0))
