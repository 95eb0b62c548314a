"""Depth images as messages carry them, in metres: 16UC1 in millimetres and 32FC1 in metres (REP-118)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.images import compressed_values, raw_values

Depth = NDArray[np.float32]
"""Shape (height, width) [m]; 0 or not finite: not measured."""


def depth_of(message: Any) -> Depth:
    """Return the depth of a sensor_msgs/Image or CompressedImage: a PNG of 16 bits, also of compressedDepth.

    :raises ValueError: it is no depth image, or damaged
    """
    m = message
    if not hasattr(m, 'format'):
        return _metres(raw_values(m.encoding, m.width, m.height, m.step, bool(m.is_bigendian), m.data))
    values = compressed_values(m.format, m.data)
    if values.ndim != 2 or values.dtype != np.uint16:
        raise ValueError(f'the compressed depth image ({m.format!r}) is no PNG of 16 bits')
    if 'compresseddepth' in m.format.lower() and m.format.strip().lower().startswith('32fc1'):
        # image_transport keeps the inverse of the depth, and how it was made before the picture.
        a, b = np.frombuffer(bytes(m.data[4:12]), '<f4')
        with np.errstate(divide='ignore'):
            return np.where(values > 0, a / (values.astype(np.float32) - b), 0.0).astype(np.float32)
    return _metres(values)


def has_depth(depth: Depth) -> bool:
    """Tell whether anything was measured: a camera that is covered, or too near, sends zeros."""
    return bool(np.any((depth > 0.0) & np.isfinite(depth)))


def _metres(values: NDArray[Any]) -> Depth:
    return np.asarray(values * np.float32(0.001) if values.dtype == np.uint16 else values, np.float32)
