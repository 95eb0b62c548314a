"""The detector for the YOLOX family, by onnxruntime (arXiv 2107.08430).

The model takes images of shape (1, 3, height, width): blue first, 0 to 255, letterboxed with grey 114. It
gives a row per anchor: x, y, width and height to be decoded with the strides 8, 16 and 32, objectness, and a
score for each class.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import DetectorFailed
from remembr_ros.images import Bgr
from remembr_ros.objects.detectors.detection import MIN_SCORE, Detection, suppressed

STRIDES = (8, 16, 32)
GREY = 114


class YoloxDetector:
    """Runs a YOLOX model.

    :param model: path of the .onnx file
    :param labels: path of a text file with a class on each line; None: the classes are called by numbers
    :param min_score: what is less certain is left out
    """

    name = 'onnx'

    def __init__(self, model: str, labels: str | None = None, *, min_score: float = MIN_SCORE) -> None:
        self._path, self._labels_path = os.path.expanduser(model), labels
        self._min_score = min_score
        self._session: Any = None
        self._labels: list[str] = []
        self._size = (0, 0)
        self._grid: NDArray[np.float32] = np.zeros((0, 3), np.float32)

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self._labels)

    def detect(self, image: Bgr | None, stamp_ns: int, camera: str = '') -> list[Detection]:
        if self._session is None:
            self._load()
        if image is None:
            return []
        blob, ratio = self._letterboxed(image)
        try:
            rows = self._session.run(None, {self._input: blob})[0][0]
        except _errors() as error:
            raise DetectorFailed(f'{self._path} does not work: {error}') from error
        boxes, scores = self._decoded(rows)
        found = suppressed(boxes / ratio, scores, self._labels, self._min_score, image.shape[:2])
        return [Detection(stamp_ns, camera, box, named) for box, named in found]

    def close(self) -> None:
        self._session = None

    def _load(self) -> None:
        labels = read_labels(self._labels_path) if self._labels_path else []
        if not Path(self._path).is_file():
            raise DetectorFailed(f'there is no model {self._path!r}; name the .onnx file of a YOLOX detector')
        try:
            import onnxruntime  # type: ignore[import-untyped]
        except ImportError as error:
            raise DetectorFailed(
                'the detector onnx needs onnxruntime: pip install "remembr_ros[objects]"'
            ) from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 4
        try:
            session = onnxruntime.InferenceSession(
                self._path, options, providers=onnxruntime.get_available_providers()
            )
        except _errors() as error:
            raise DetectorFailed(f'{self._path} cannot be loaded as an ONNX model: {error}') from error
        inputs, outputs = session.get_inputs(), session.get_outputs()
        shape = inputs[0].shape if len(inputs) == 1 else []
        if len(shape) != 4 or shape[1] != 3 or not all(isinstance(side, int) for side in shape[2:]):
            raise DetectorFailed(
                f'{self._path} takes {[tensor.shape for tensor in inputs]}, a YOLOX detector takes [1, 3, '
                'height, width] of fixed size; export it with a fixed size'
            )
        height, width = shape[2:]
        grid, given = _grid(height, width), [output.shape for output in outputs]
        rows, values = given[0][1:] if len(given) == 1 and len(given[0]) == 3 else (0, 0)
        classes = values - 5 if isinstance(values, int) else 0
        if classes < 1 or (isinstance(rows, int) and rows != len(grid)):
            raise DetectorFailed(
                f'{self._path} gives {given} for {width} x {height} pixels, a YOLOX detector gives '
                f'[1, {len(grid)}, 5 + classes]; is it another kind of model?'
            )
        if labels and len(labels) != classes:
            raise DetectorFailed(
                f'{self._labels_path} has {len(labels)} labels, {self._path} knows {classes} classes; '
                'give the list that the model was trained with, a class on each line'
            )
        self._labels = labels or [f'class {number}' for number in range(classes)]
        self._input, self._grid, self._size, self._session = inputs[0].name, grid, (height, width), session

    def _letterboxed(self, image: Bgr) -> tuple[NDArray[np.float32], float]:
        import cv2

        height, width = self._size
        ratio = min(height / image.shape[0], width / image.shape[1])
        size = (max(1, int(image.shape[1] * ratio)), max(1, int(image.shape[0] * ratio)))
        resized: Any = cv2.resize(image, size, interpolation=cv2.INTER_LINEAR)
        padded = np.full((height, width, 3), GREY, np.uint8)
        padded[: size[1], : size[0]] = resized
        return np.ascontiguousarray(padded.transpose(2, 0, 1)[None], np.float32), ratio

    def _decoded(self, rows: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return boxes as left, top, right and bottom in the model's pixels, and scores per class."""
        strides = self._grid[:, 2:]
        middles = (rows[:, :2] + self._grid[:, :2]) * strides
        with np.errstate(over='ignore', invalid='ignore'):
            halves = np.exp(rows[:, 2:4]) * strides / 2.0
            boxes = np.concatenate([middles - halves, middles + halves], axis=1)
        return boxes, rows[:, 4:5] * rows[:, 5:]


def _errors() -> tuple[type[Exception], ...]:
    """Return what onnxruntime raises: its errors have no class in common."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state  # type: ignore[import-untyped]

    own = [kind for kind in vars(state).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    return (*own, RuntimeError, ValueError)


def read_labels(path: str) -> list[str]:
    """Return the classes of a file, one on each line.

    :raises DetectorFailed: it cannot be read, or is empty
    """
    try:
        lines = Path(os.path.expanduser(path)).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DetectorFailed(f'the labels {path} cannot be read: {error}') from error
    labels = [line.strip() for line in lines if line.strip()]
    if not labels:
        raise DetectorFailed(f'the labels {path} are empty; give a class on each line')
    return labels


def _grid(height: int, width: int) -> NDArray[np.float32]:
    """Return column, row and stride of each anchor, shape (anchors, 3)."""
    parts = []
    for stride in STRIDES:
        rows, columns = np.mgrid[: height // stride, : width // stride]
        parts.append(np.stack([columns.ravel(), rows.ravel(), np.full(rows.size, stride)], axis=1))
    return np.concatenate(parts).astype(np.float32)
