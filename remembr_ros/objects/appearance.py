"""What a detection looks like: a vector to compare it by, the plain name of its colour, and its picture."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.images import Bgr, encode_jpeg, scaled_down
from remembr_ros.objects.detection import Detection

HUES, TONES = 12, 4  # bins of the colour histogram: of what has a colour, and of what is grey
CROP_PX, MARGIN = 320, 0.1  # longest side of a picture; of the box's sides, what is shown around it
LEAST_PX = 4  # of a crop's sides
LOOKED_AT = 24  # pixels along each side of a box
VIVID, DARK = 70, 50  # of 255: from this saturation on it has a colour; below this value it is black
SHARE = 0.4  # of the pixels that have to agree on a colour
_NAMES = ('red', 'orange', 'yellow', 'green', 'blue', 'purple', 'pink', 'brown', 'black', 'grey', 'white')
_ORANGE, _BROWN, _BLACK = 1, 7, 8
_EDGES = (8, 22, 33, 85, 130, 150, 172)
_NAMED = np.array((0, 1, 2, 3, 4, 5, 6, 0))
"""What the hues of OpenCV, 0 to 179, are called, between these edges: red again at the end."""


@dataclass(frozen=True, slots=True, eq=False)
class Appearance:
    """What something looks like.

    :param vector: unit length, float32 of any dimension: the detector's embedding, else a histogram of
        colours, of the upper half and of the lower; None: not known
    :param colour: its plain name; empty: it has none, or several
    """

    vector: NDArray[np.float32] | None = None
    colour: str = ''


def appearance_of(detection: Detection, image: Bgr) -> tuple[Appearance, Callable[[], bytes]]:
    """Return what a detection looks like, and what makes its picture, JPEG, when somebody asks."""
    picture = partial(_jpeg, image[_window(detection, image, MARGIN)])
    rows, columns = _window(detection, image, 0.0)
    if min(rows.stop - rows.start, columns.stop - columns.start) < LEAST_PX:
        return Appearance(detection.embedding), picture
    import cv2

    # Some pixels tell as much as all of them.
    rows = slice(rows.start, rows.stop, max(1, (rows.stop - rows.start) // LOOKED_AT))
    columns = slice(columns.start, columns.stop, max(1, (columns.stop - columns.start) // LOOKED_AT))
    bgr = np.ascontiguousarray(image[rows, columns])
    own = _own(detection, (rows, columns), bgr.shape)
    hsv: Any = cv2.cvtColor(bgr, cv2.COLOR_BGR2HSV)
    hue, saturation, value = hsv[own].astype(np.int32).T
    vivid = (saturation >= VIVID) & (value >= DARK)
    vector = detection.embedding
    if vector is None:
        histograms = _histograms(hue, value, vivid, np.nonzero(own)[0] >= bgr.shape[0] / 2)
        vector = np.asarray(histograms / max(float(np.linalg.norm(histograms)), 1e-9), np.float32)
    return Appearance(vector, _colour(hue, value, vivid)), picture


def _jpeg(crop: Bgr) -> bytes:
    return encode_jpeg(scaled_down(crop, min(1.0, CROP_PX / max(crop.shape[:2]))), 85)


def _window(detection: Detection, image: Bgr, margin: float) -> tuple[slice, slice]:
    left, top, right, bottom = detection.box
    dx, dy = margin * (right - left), margin * (bottom - top)
    height, width = image.shape[:2]
    rows = slice(max(0, int(top - dy)), min(height, int(bottom + dy) + 1))
    return rows, slice(max(0, int(left - dx)), min(width, int(right + dx) + 1))


def _own(detection: Detection, window: tuple[slice, slice], shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Return which pixels of a window are the thing's: those of its mask, or an ellipse in its box."""
    if detection.mask is not None and detection.mask[window].any():
        own: NDArray[np.bool_] = detection.mask[window]
        return own
    return _ellipse(*shape[:2])


@lru_cache(maxsize=1024)
def _ellipse(height: int, width: int) -> NDArray[np.bool_]:
    y = (np.arange(height)[:, None] + 0.5) / height * 2.0 - 1.0
    x = (np.arange(width)[None, :] + 0.5) / width * 2.0 - 1.0
    ellipse: NDArray[np.bool_] = x * x + y * y <= 0.8
    return ellipse


def _histograms(
    hue: NDArray[np.int32], value: NDArray[np.int32], vivid: NDArray[np.bool_], lower: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return the roots of the shares of the bins in the upper half and, after these, in the lower.

    A pixel between two bins counts for both.
    """
    # Hues are a circle; tones go from black to white.
    at = np.where(vivid, hue * (HUES / 180.0), HUES + value * ((TONES - 1) / 255.0))
    low = np.floor(at).astype(np.int64)
    part = at - low
    high = np.where(vivid, (low + 1) % HUES, np.minimum(low + 1, HUES + TONES - 1))
    bins = np.concatenate((low, high)) + (HUES + TONES) * np.tile(lower, 2)
    counts = np.bincount(bins, np.concatenate((1.0 - part, part)), 2 * (HUES + TONES)).reshape(2, -1)
    roots: NDArray[np.float64] = np.sqrt(counts / np.maximum(counts.sum(axis=1, keepdims=True), 1.0))
    return roots.ravel()


def _colour(hue: NDArray[np.int32], value: NDArray[np.int32], vivid: NDArray[np.bool_]) -> str:
    """Return the plain name of the colour that enough of the pixels have; empty: none."""
    if not len(hue):
        return ''
    names = _NAMED[np.searchsorted(_EDGES, hue, side='right')]
    names[(names == _ORANGE) & (value < 150)] = _BROWN
    greys = np.searchsorted((64, 192), value, side='right') + _BLACK
    counts = np.bincount(np.where(vivid, names, greys), minlength=len(_NAMES))
    best = int(np.argmax(counts))
    return _NAMES[best] if counts[best] >= SHARE * len(hue) else ''
