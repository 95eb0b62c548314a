"""A captioner that reads signs, labels and titles in a segment, by OCR on the CPU."""

import importlib.util
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numpy as np

from remembr_ros.captioning.captioners.captioner import Caption, Clip, one_by_one
from remembr_ros.captioning.captioners.signs import Line, Sign, group_signs, merge_signs
from remembr_ros.captioning.frame_choice import sharpness
from remembr_ros.errors import CaptionerFailed
from remembr_ros.images import Bgr

NOTHING_READ = 'No readable text.'  # such a segment is remembered, too: having been there counts
FRAMES = 6  # of a segment are read at all, the sharpest of as many equal parts
THREADS = 2  # frames read at a time, each by one CPU thread
CLOSE_SIDE = 960  # larger images are reduced to this for a close search [px]
QUICK_SIDE = 480  # the same for a quick look [px]
BORDER = 0.01  # a text box this near to the border is cut off [of the image's longer side]
MAX_ASPECT = 64  # no letter fits into a narrower strip, and RapidOCR refuses some


class SceneTextCaptioner:
    """Reads the frames of a segment with RapidOCR, whose models come inside its package.

    Finding text costs most, and its time grows with the pixels. So only the sharpest frame is searched
    closely; the others get a quick look, which finds text of a usual size that is sharper there: motion blur
    hits places in an image, not all of it. Whatever is found is read in full resolution.

    The models are loaded when the first segment is captioned.

    :raises CaptionerFailed: RapidOCR is not installed
    """

    name = 'scene_text'

    def __init__(self) -> None:
        if any(importlib.util.find_spec(package) is None for package in ('rapidocr', 'onnxruntime')):
            raise CaptionerFailed('reading text needs RapidOCR: pip install "remembr_ros[scene-text]"')
        self._readers: dict[int, Any] = {}
        self._loading = threading.Lock()

    def caption(self, clips: Sequence[Clip]) -> Iterator[Caption | CaptionerFailed]:
        return one_by_one(self._read_clip, clips)

    def close(self) -> None:
        with self._loading:
            self._readers = {}

    def _read_clip(self, clip: Clip) -> Caption:
        chosen = sharpest_parts(clip.images, FRAMES)
        sharpest = max(range(len(chosen)), key=lambda i: sharpness(chosen[i]), default=0)
        # A frame per thread takes a third less CPU time than all threads on one frame.
        with ThreadPoolExecutor(THREADS, 'scene_text') as pool:
            read = pool.map(
                lambda index: self.read(chosen[index], close=index == sharpest), range(len(chosen))
            )
            signs = merge_signs(read)
        texts = tuple(sign.text for sign in signs)
        return Caption(sentence(texts), texts)

    def read(self, image: Bgr, *, close: bool = True) -> list[Sign]:
        """Return the signs of one image.

        :param close: search closely
        :raises CaptionerFailed: the models cannot be loaded or fail
        """
        short, long = sorted(image.shape[:2])
        if short * MAX_ASPECT < long:
            return []
        side = CLOSE_SIDE if close else QUICK_SIDE
        with self._loading:
            if side not in self._readers:
                self._readers[side] = _load(side)
            reader = self._readers[side]
        from rapidocr.inference_engine.onnxruntime.main import ONNXRuntimeError

        try:
            result = reader(image)
        except (ONNXRuntimeError, RuntimeError, ValueError) as error:
            raise CaptionerFailed(
                f'reading a {image.shape[1]} x {image.shape[0]} image failed: {str(error)[-300:]}'
            ) from error
        if result.boxes is None or result.txts is None:
            return []
        return group_signs(_lines(result, image.shape[0], image.shape[1]))


def sharpest_parts(images: Sequence[Bgr], n: int) -> list[Bgr]:
    """Return the sharpest image of each of n consecutive parts: sharp, yet not all of the same moment."""
    n = min(n, len(images))
    bounds = [round(i * len(images) / n) for i in range(n + 1)] if n else []
    return [max(images[a:b], key=sharpness) for a, b in pairwise(bounds)]


def sentence(texts: Iterable[str]) -> str:
    """Return the caption for what was read."""
    quoted = ', '.join(f'"{text}"' for text in texts)
    return f'Signs and labels that can be read: {quoted}.' if quoted else NOTHING_READ


def _load(max_side: int) -> Any:
    try:
        from rapidocr import RapidOCR

        ocr = RapidOCR(
            params={
                'Global.log_level': 'critical',
                'Global.use_cls': False,  # upside-down text is rare on signs, and the check costs time
                'Global.max_side_len': 2000,
                'Det.limit_type': 'max',
                'Det.limit_side_len': max_side,
                'EngineConfig.onnxruntime.intra_op_num_threads': 1,
                'EngineConfig.onnxruntime.inter_op_num_threads': 1,
            }
        )
    except (ImportError, OSError, RuntimeError, ValueError, KeyError) as error:
        raise CaptionerFailed(
            f'RapidOCR cannot be loaded: {error}; try: pip install -U "remembr_ros[scene-text]"'
        ) from error
    return ocr


def _lines(result: Any, height: int, width: int) -> list[Line]:
    margin = BORDER * max(height, width)
    lines = []
    for text, confidence, box in zip(result.txts, result.scores, result.boxes, strict=True):
        corners = np.asarray(box, np.float64)
        cut = bool(((corners <= margin) | (corners >= (width - margin, height - margin))).any())
        a, b, c, d = ((x, y) for x, y in corners.tolist())
        lines.append(Line(str(text), float(confidence), (a, b, c, d), cut))
    return lines
