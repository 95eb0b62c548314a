"""What a detector says of one thing in one image, and what any detector can do."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.images import Bgr
from remembr_ros.memory.objects.known import best_label

PixelBox = tuple[float, float, float, float]
"""Left, top, right and bottom [px] of the image; the right and bottom edges lie outside."""

MIN_SCORE = 0.35


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """One thing in one image.

    :param stamp_ns: when the image was taken
    :param camera: which camera took it; empty if the robot has only one
    :param box: around it
    :param scores: per label, each in (0, 1]; the best one is what it is called
    :param mask: its pixels, bool of the image's shape (height, width); None: the box is all that is known
    :param embedding: of its appearance, unit length, of any dimension; None: it is made from the pixels
    """

    stamp_ns: int
    camera: str
    box: PixelBox
    scores: Mapping[str, float]
    mask: NDArray[np.bool_] | None = None
    embedding: NDArray[np.float32] | None = None

    @property
    def label(self) -> str:
        """What it is called."""
        return best_label(self.scores)

    @property
    def score(self) -> float:
        """Of the label."""
        return self.scores[self.label]

    def is_sound(self) -> bool:
        """Tell whether it makes sense: finite box and embedding, an area, scores that are ones."""
        left, top, right, bottom = self.box
        return (
            all(map(math.isfinite, self.box))
            and right > left
            and bottom > top
            and bool(self.scores)
            and (self.embedding is None or bool(np.isfinite(self.embedding).all()))
            and all(label.strip() and 0.0 < score <= 1.0 for label, score in self.scores.items())
        )


class Detector(Protocol):
    """Finds things in images. Its model is loaded when it is first used; one thread at a time uses it."""

    name: str

    def detect(self, image: Bgr, stamp_ns: int, camera: str = '') -> list[Detection]:
        """Return what is in an image, best first; boxes lie in the image.

        :param image: uint8 of shape (height, width, 3), blue first
        :raises DetectorFailed: the model cannot be loaded or does not work; says what to do
        """

    def close(self) -> None:
        """Let go of the model."""


def get_detector(name: str, labels: str | None = None) -> Detector:
    """Return a detector.

    :param name: its kind and its model: 'onnx:yolox.onnx'
    :param labels: path of the list of classes
    :raises InvalidRequest: there is no such detector
    """
    kind, _, model = name.partition(':')
    if kind == 'onnx' and model:
        from remembr_ros.objects.detectors.yolox import YoloxDetector

        return YoloxDetector(model, labels)
    if kind == 'simulation' and model:
        from remembr_ros.objects.detectors.simulated import recorded_detector

        return recorded_detector(model)
    raise InvalidRequest(
        f'there is no detector {name!r}; give onnx:MODEL.onnx, of the YOLOX family, or simulation:FOLDER, '
        'of a recorded home'
    )
