"""Depth images as messages carry them, in metres: 16UC1 in millimetres and 32FC1 in metres (REP-118)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.images import MAX_PIXELS

Depth = NDArray[np.float32]
"""Shape (height, width) [m]; 0 or not finite: not measured."""

_KINDS = {'16uc1': ('u2', 0.001), 'mono16': ('u2', 0.001), '32fc1': ('f4', 1.0)}


def depth_from_raw(  # noqa: PLR0917 (the fields of the message)
    encoding: str, width: int, height: int, step: int, is_bigendian: bool, data: Any
) -> Depth:
    """Return the depth of a sensor_msgs/Image.

    :raises ValueError: it is no depth image, or there is too little data
    """
    kind, unit = _kind_of(encoding)
    size = int(kind[1])
    step = int(step) or width * size
    if not (width > 0 and height > 0 and width * height <= MAX_PIXELS and step >= width * size):
        raise ValueError(f'a depth image of {width} x {height} pixels with rows of {step} bytes')
    buffer = np.frombuffer(data, np.uint8)
    if len(buffer) < step * (height - 1) + width * size:
        raise ValueError(f'{len(buffer)} bytes are too few for a depth image of {width} x {height} pixels')
    whole = np.zeros(step * height, np.uint8)
    whole[: min(len(buffer), len(whole))] = buffer[: len(whole)]
    rows = np.ascontiguousarray(whole.reshape(height, step)[:, : width * size])
    return _metres(rows.view(('>' if is_bigendian else '<') + kind), unit)


def depth_from_compressed(format: str, data: Any) -> Depth:  # noqa: A002
    """Return the depth of a sensor_msgs/CompressedImage: a PNG of 16 bits, also of compressedDepth.

    :raises ValueError: it is no depth image, or damaged
    """
    import cv2

    name = format.lower()
    kind, unit = _kind_of(format.split(';', maxsplit=1)[0])
    buffer = np.frombuffer(data, np.uint8)
    quantised = None
    if 'compresseddepth' in name:
        if kind == 'f4' and len(buffer) >= 12:  # image_transport keeps the inverse of the depth
            quantised = np.frombuffer(buffer[4:12].tobytes(), '<f4')
        buffer = buffer[12:]
    pixels = cv2.imdecode(buffer, cv2.IMREAD_UNCHANGED) if len(buffer) else None
    if pixels is None or pixels.ndim != 2 or pixels.dtype != np.uint16:
        raise ValueError(f'the compressed depth image ({format!r}) is no PNG of 16 bits, or is damaged')
    if quantised is not None:
        with np.errstate(divide='ignore'):
            metres = quantised[0] / (pixels.astype(np.float32) - quantised[1])
        return np.where(pixels > 0, metres, 0.0).astype(np.float32)
    return _metres(pixels, unit)


def depth_of(message: Any) -> Depth:
    """Return the depth of a sensor_msgs/Image or CompressedImage.

    :raises ValueError: it is no depth image, or damaged
    """
    m = message
    if hasattr(m, 'format'):
        return depth_from_compressed(m.format, m.data)
    return depth_from_raw(m.encoding, m.width, m.height, m.step, bool(m.is_bigendian), m.data)


def has_depth(depth: Depth) -> bool:
    """Tell whether anything was measured: a camera that is covered, or too near, sends zeros."""
    return bool(np.any((depth > 0.0) & np.isfinite(depth)))


def _kind_of(encoding: str) -> tuple[str, float]:
    name = encoding.strip().lower()
    if name not in _KINDS:
        raise ValueError(f'{encoding!r} is no encoding of depth; 16UC1 (millimetres) and 32FC1 (metres) are')
    return _KINDS[name]


def _metres(values: NDArray[Any], unit: float) -> Depth:
    return np.asarray(values.astype(np.float32) * np.float32(unit))
