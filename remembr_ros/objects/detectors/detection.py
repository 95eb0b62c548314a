"""What a detector says of one thing in one image, its interface, and non-maximum suppression."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import MAX_COORDINATE, Point, Transform
from remembr_ros.images import Bgr
from remembr_ros.memory.objects.known import best_label

PixelBox = tuple[float, float, float, float]
"""Left, top, right and bottom [px] of the image; the right and bottom edges lie outside."""

MIN_SCORE = 0.35
MOST = 300  # detections of a frame that are looked at, the most certain ones
LABELS = 8  # that a thing is called, the most certain or most frequent ones
STD_M = (0.001, 10.0)  # of a place: what says that it is better, or worse, does not say how good it is


@dataclass(frozen=True, slots=True)
class Extent:
    """A box in space that whoever detected a thing measured.

    :param pose: of its middle
    :param size: along the axes of that pose [m]; one side may be 0: a picture is flat
    :param std_m: of its middle, one standard deviation [m], within STD_M
    :param in_map: the pose is in the map, not in the frame that the view is from
    """

    pose: Transform
    size: Point
    std_m: float
    in_map: bool = False

    def is_sound(self) -> bool:
        """Tell whether it makes sense: finite, a rotation, an area."""
        return (
            all(abs(value) <= MAX_COORDINATE for value in (*self.pose[0], *self.size))  # not so NaN
            and sorted(self.size)[0] >= 0.0
            and sorted(self.size)[1] > 0.0
            and abs(math.hypot(*self.pose[1]) - 1.0) < 1e-3
            and STD_M[0] <= self.std_m <= STD_M[1]
        )


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """One thing in one image.

    :param stamp_ns: when the image was taken
    :param camera: which camera took it; empty if the robot has only one
    :param box: around it
    :param scores: per label, each in (0, 1]; the best one is what it is called
    :param mask: its pixels, bool of the image's shape (height, width); None: the box is all that is known
    :param embedding: of its appearance, unit length, of any dimension; None: it is made from the pixels
    :param extent: where it is in space, if that was measured, too: the box then follows from that
    """

    stamp_ns: int
    camera: str
    box: PixelBox
    scores: Mapping[str, float]
    mask: NDArray[np.bool_] | None = None
    embedding: NDArray[np.float32] | None = None
    extent: Extent | None = None

    @property
    def label(self) -> str:
        """What it is called."""
        return best_label(self.scores)

    @property
    def score(self) -> float:
        """Of the label."""
        return self.scores[self.label]

    def is_sound(self) -> bool:
        """Tell whether it makes sense: finite box, extent and embedding, scores that are ones."""
        left, top, right, bottom = self.box
        return (
            all(map(math.isfinite, self.box))
            and right > left
            and bottom > top
            and bool(self.scores)
            and (self.embedding is None or bool(np.isfinite(self.embedding).all()))
            and (self.extent is None or self.extent.is_sound())
            and all(label.strip() and 0.0 < score <= 1.0 for label, score in self.scores.items())
        )


class Detector(Protocol):
    """Finds things in images. Its model is loaded when it is first used; one thread at a time uses it."""

    name: str

    @property
    def classes(self) -> tuple[str, ...]:
        """What it looks for, as far as it knows by now."""

    def detect(self, image: Bgr | None, stamp_ns: int, camera: str = '') -> list[Detection]:
        """Return what is in an image, best first; boxes lie in the image.

        :param image: uint8 of shape (height, width, 3), blue first; None: there is no picture
        :raises DetectorFailed: the model cannot be loaded or does not work; says what to do
        """

    def close(self) -> None:
        """Let go of the model."""


def classes_of(detector: Detector) -> tuple[str, ...]:
    """Return what a detector looks for; of one of another package that does not tell, nothing."""
    return tuple(getattr(detector, 'classes', ()))


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
