"""What a detection looks like: a vector to compare it by, the plain name of its colour, and its picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.images import Bgr, encode_jpeg, scaled_down
from remembr_ros.objects.detectors.detection import Detection

HUES, TONES = 12, 4  # bins of the histogram: of full colours, as many of pale ones, and of what is grey
CROP_PX, MARGIN = 320, 0.1  # longest side of a picture; of the box's sides, what is shown around it
LEAST_PX = 4  # of a box's sides: less shows no colours
SIDE = 20  # pixels along each side of a box that are looked at
VIVID, FULL = 70, 200  # of 255: from these saturations on it has a colour, and is not pale at all
DARK = 50  # of 255: below this value it is black
SHARE = 0.4  # of the pixels that have to agree on a colour
_NAMES = ('red', 'orange', 'yellow', 'green', 'blue', 'purple', 'pink', 'brown', 'black', 'grey', 'white')
_ORANGE, _BROWN, _BLACK = 1, 7, 8
_EDGES = (8, 22, 33, 85, 130, 150, 172)
_NAMED = np.array((0, 1, 2, 3, 4, 5, 6, 0))
"""What the hues of OpenCV, 0 to 179, are called, between these edges: red again at the end."""
_OFF = ((np.arange(SIDE) + 0.5) / SIDE * 2.0 - 1.0) ** 2
_ELLIPSE = _OFF[:, None] + _OFF[None] <= 0.8


@dataclass(frozen=True, slots=True, eq=False)
class Appearance:
    """What something looks like.

    :param vector: unit length, float32 of any dimension: the detector's embedding, else a histogram of
        colours, of the upper half and of the lower; None: not known
    :param colour: its plain name; empty: it has none, or several
    """

    vector: NDArray[np.float32] | None = None
    colour: str = ''


def appearances_of(detections: Sequence[Detection], image: Bgr | None) -> list[Appearance]:
    """Return what detections look like, all at once: by SIDE x SIDE pixels of each.

    Of a mask its pixels count, of a box those of the ellipse in it.

    :param image: None: what they look like is not known
    """
    if image is None or not detections:
        return [Appearance(detection.embedding) for detection in detections]
    import cv2

    n, bins = len(detections), 2 * HUES + TONES
    boxes = np.array([detection.box for detection in detections])
    sides = boxes[:, 2:] - boxes[:, :2]
    at = (boxes[:, :2, None] + sides[:, :, None] * ((np.arange(SIDE) + 0.5) / SIDE)).astype(np.intp)
    columns = np.clip(at[:, 0], 0, image.shape[1] - 1)[:, None, :]
    rows = np.clip(at[:, 1], 0, image.shape[0] - 1)[:, :, None]
    hsv: Any = cv2.cvtColor(image[rows, columns].reshape(n * SIDE, SIDE, 3), cv2.COLOR_BGR2HSV)
    own = np.repeat(_ELLIPSE[None], n, axis=0)
    for i, detection in enumerate(detections):
        if detection.mask is not None and (shown := detection.mask[rows[i], columns[i]]).any():
            own[i] = shown
    owner, row, _ = np.nonzero(own)
    hue, saturation, value = hsv.reshape(n, SIDE, SIDE, 3)[own].astype(np.int32).T
    vivid = (saturation >= VIVID) & (value >= DARK)
    # Hues are a circle; tones go from black to white. A pixel between bins counts for all of them.
    tone = np.where(vivid, hue * (HUES / 180.0), 2 * HUES + value * ((TONES - 1) / 255.0))
    pale = np.where(vivid, np.clip((FULL - saturation) / (FULL - VIVID), 0.0, 1.0), 0.0)
    low = np.floor(tone).astype(np.int64)
    high = np.where(vivid, (low + 1) % HUES, np.minimum(low + 1, bins - 1))
    half = bins * (2 * owner + (row >= SIDE // 2))
    full, up = 1.0 - pale, tone - low
    pales = half + np.where(vivid, HUES, 0)
    into = np.concatenate((half + low, half + high, pales + low, pales + high))
    weights = np.concatenate((full * (1.0 - up), full * up, pale * (1.0 - up), pale * up))
    counts = np.bincount(into, weights, 2 * bins * n).reshape(n, 2, bins)
    roots = np.sqrt(counts / np.maximum(counts.sum(axis=2, keepdims=True), 1.0)).reshape(n, -1)
    vectors = np.asarray(roots / np.linalg.norm(roots, axis=1, keepdims=True), np.float32)
    # The plain name of the colour that enough of the pixels have.
    names = _NAMED[np.searchsorted(_EDGES, hue, side='right')]
    names[(names == _ORANGE) & (value < 150)] = _BROWN
    names = np.where(vivid, names, np.searchsorted((64, 192), value, side='right') + _BLACK)
    named = np.bincount(len(_NAMES) * owner + names, minlength=len(_NAMES) * n).reshape(n, -1)
    best, sure = named.argmax(axis=1), named.max(axis=1) >= SHARE * named.sum(axis=1)
    return [
        Appearance(detection.embedding)
        if min(sides[i]) < LEAST_PX
        else Appearance(
            vectors[i] if detection.embedding is None else detection.embedding,
            _NAMES[best[i]] if sure[i] else '',
        )
        for i, detection in enumerate(detections)
    ]


def picture_of(detection: Detection, image: Bgr | None) -> bytes | None:
    """Return what an image shows of a detection and around it, as JPEG; None: there is no image."""
    if image is None:
        return None
    left, top, right, bottom = detection.box
    dx, dy = MARGIN * (right - left), MARGIN * (bottom - top)
    rows = slice(max(0, int(top - dy)), int(bottom + dy) + 1)
    crop = image[rows, max(0, int(left - dx)) : int(right + dx) + 1]
    return encode_jpeg(scaled_down(crop, min(1.0, CROP_PX / max(crop.shape[:2]))), 85)
