"""One camera frame, decoded only when its pixels are asked for."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Bgr = NDArray[np.uint8]
"""An image of shape (height, width, 3), blue first, as OpenCV has it."""


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
