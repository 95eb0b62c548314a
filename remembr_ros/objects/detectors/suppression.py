"""Non-maximum suppression: of the boxes of one label that overlap, the surest is the thing."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.objects.detectors.detection import MOST, PixelBox

OVERLAP = 0.5  # boxes of one label that overlap more are one thing
OTHERS = 2  # further labels that a detection carries: a flipped one is often the second
LEAST_OTHER = 0.1  # of their scores

Floats = NDArray[np.float32]


def suppressed(
    boxes: Floats, scores: Floats, labels: Sequence[str], least: float, size: tuple[int, int]
) -> Iterator[tuple[PixelBox, dict[str, float]]]:
    """Yield the boxes that stay, clipped into the image, and their scores per label; best first.

    :param boxes: left, top, right and bottom [px], shape (boxes, 4)
    :param scores: shape (boxes, labels); a box is of the label that scores best
    :param least: what is less certain is left out
    :param size: height and width of the image [px]
    """
    import cv2

    sound = np.isfinite(boxes).all(axis=1) & np.isfinite(scores).all(axis=1)
    best, label = scores.max(axis=1), scores.argmax(axis=1)
    sure = np.flatnonzero(sound & (best >= least))
    if not len(sure):
        return
    sides = np.concatenate([boxes[sure, :2], boxes[sure, 2:] - boxes[sure, :2]], axis=1)
    batched: Any = cv2.dnn.NMSBoxesBatched(
        sides.tolist(), best[sure].tolist(), label[sure].tolist(), float(least), OVERLAP
    )
    chosen = sure[np.asarray(batched, np.intp).reshape(-1)]
    for index in chosen[np.argsort(-best[chosen], kind='stable')][:MOST]:
        left, top, right, bottom = np.clip(boxes[index], 0.0, (size[1], size[0]) * 2).tolist()
        if right - left > 1.0 and bottom - top > 1.0:
            first, *others = np.argsort(-scores[index])[: 1 + OTHERS]
            named = [first, *(other for other in others if scores[index, other] >= LEAST_OTHER)]
            yield (left, top, right, bottom), {labels[i]: min(float(scores[index, i]), 1.0) for i in named}
