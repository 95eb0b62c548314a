"""A detector for simulated homes: the renderer's own masks, with the mistakes that real detectors make."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.bags.poses import stamp_of
from remembr_ros.bags.recording import Recording
from remembr_ros.errors import DetectorFailed, InvalidRequest
from remembr_ros.images import Bgr, raw_values
from remembr_ros.objects.detection import Detection, PixelBox

INSTANCES = '/camera/instances/image_raw'
LEAST_PX = 20  # of a mask: less is nothing to any detector

Masks = Callable[[int], NDArray[np.uint16] | None]
"""The number of the thing at each pixel of the image of a stamp [ns], 0 for none; None: there is no image."""


@dataclass(frozen=True, slots=True)
class DetectorErrors:
    """What a detector does wrong, each detection for itself.

    :param misses: share of the things in sight that it does not find
    :param false: how many things that are none it finds, for each one that is
    :param flipped: share of what it finds that it calls something else
    :param box_px: standard deviation of the edges of boxes [px]; with it, there are no masks
    """

    misses: float = 0.0
    false: float = 0.0
    flipped: float = 0.0
    box_px: float = 0.0

    def __post_init__(self) -> None:
        shares = (self.misses, self.false, self.flipped)
        if not (all(0.0 <= share <= 1.0 for share in shares) and 0.0 <= self.box_px <= 100.0):
            raise InvalidRequest(f'{self}: give shares from 0 to 1, and a box_px from 0 to 100')


NO_ERRORS = DetectorErrors()


class SimulatedDetector:
    """Finds what the masks of a simulation show. Of the same seed and stamp, the same.

    :param masks: of the images that it is going to see
    :param labels: what the things are called, by their numbers
    """

    name = 'simulation'

    def __init__(
        self, masks: Masks, labels: Mapping[int, str], errors: DetectorErrors = NO_ERRORS, seed: int = 0
    ) -> None:
        self._masks, self._labels, self._seed = masks, labels, seed
        self._errors = errors
        self._names = sorted(set(labels.values()))

    def detect(self, image: Bgr, stamp_ns: int, camera: str = '') -> list[Detection]:
        """Return what is in an image, best first."""
        masks = self._masks(stamp_ns)
        if masks is None or masks.shape != image.shape[:2]:
            return []
        rng, found = np.random.default_rng((self._seed, stamp_ns)), []
        for number, pixels in zip(*np.unique(masks, return_counts=True), strict=True):
            missed, flipped, strange, score = rng.random(4)
            if number == 0 or pixels < LEAST_PX or number not in self._labels:
                continue
            if strange < self._errors.false:
                found.append(self._strange(masks.shape, stamp_ns, camera, rng))
            if missed < self._errors.misses:
                continue
            label = self._labels[int(number)]
            others = [name for name in self._names if name != label]
            if flipped < self._errors.flipped and others:
                label = others[rng.integers(len(others))]
            mask = masks == number
            scores = {label: 0.5 + 0.45 * float(score)}
            if self._errors.box_px:
                box = self._shaken(_box_of(mask), masks.shape, rng)
                found.append(Detection(stamp_ns, camera, box, scores))
            else:
                found.append(Detection(stamp_ns, camera, _box_of(mask), scores, mask))
        return sorted((one for one in found if one.is_sound()), key=lambda one: -one.score)

    def close(self) -> None:
        """Let go of the recording, if there is one."""
        if isinstance(self._masks, RecordedMasks):
            self._masks.close()

    def _strange(
        self, shape: tuple[int, ...], stamp_ns: int, camera: str, rng: np.random.Generator
    ) -> Detection:
        height, width = shape[:2]
        wide, high = rng.uniform(0.04, 0.25, 2) * (width, height)
        left, top = rng.uniform(0.0, (width - wide, height - high))
        scores = {self._names[rng.integers(len(self._names))]: float(rng.uniform(0.4, 0.8))}
        return Detection(stamp_ns, camera, (left, top, left + wide, top + high), scores)

    def _shaken(self, box: PixelBox, shape: tuple[int, ...], rng: np.random.Generator) -> PixelBox:
        left, top, right, bottom = np.add(box, rng.normal(0.0, self._errors.box_px, 4))
        return (
            float(np.clip(left, 0.0, shape[1])),
            float(np.clip(top, 0.0, shape[0])),
            float(np.clip(right, 0.0, shape[1])),
            float(np.clip(bottom, 0.0, shape[0])),
        )


class RecordedMasks:
    """The masks in the recording of a home, read in the order of time. Close it.

    :raises BagUnreadable: there is no recording
    """

    def __init__(self, path: Path) -> None:
        self._recording = Recording(path)
        self._messages, self._last = self._all(), (-1, None)

    def __call__(self, stamp_ns: int) -> NDArray[np.uint16] | None:
        """Return the masks of an image; None: it has none."""
        if stamp_ns < self._last[0]:
            self._messages, self._last = self._all(), (-1, None)
        while self._last[0] < stamp_ns and (following := next(self._messages, None)):
            self._last = following
        return self._last[1] if self._last[0] == stamp_ns else None

    def close(self) -> None:
        """Close the files."""
        self._recording.close()

    def _all(self) -> Any:
        for message in self._recording.messages({INSTANCES}):
            m = self._recording.deserialize(message)
            pixels = raw_values(m.encoding, m.width, m.height, m.step, bool(m.is_bigendian), m.data)
            yield stamp_of(m.header, message.log_ns), pixels


def recorded_detector(model: str) -> SimulatedDetector:
    """Return the detector of a recorded home.

    :param model: its folder, and the errors: 'home,misses=0.2,false=0.05,flipped=0.1,box_px=1,seed=3'
    :raises InvalidRequest: there is no such error
    :raises DetectorFailed: there is no such home
    """
    folder, *given = model.split(',')
    known = {field.name: float for field in fields(DetectorErrors)} | {'seed': int}
    try:
        options: dict[str, Any] = {
            name: known[name](value) for name, _, value in (option.partition('=') for option in given)
        }
    except (KeyError, ValueError) as error:
        raise InvalidRequest(f'{model}: {error}; give numbers for {", ".join(known)}') from error
    try:
        items = json.loads((Path(folder) / 'truth.json').read_text(encoding='utf-8'))['items']
        labels = {int(item['number']): str(item['label']) for item in items}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DetectorFailed(
            f'{folder} is no recorded home, with bag and truth.json: {error}; '
            'remembr eval objects --homes SEED --bags --out DIR makes them'
        ) from error
    seed = options.pop('seed', 0)
    return SimulatedDetector(RecordedMasks(Path(folder) / 'bag'), labels, DetectorErrors(**options), seed)


def _box_of(mask: NDArray[np.bool_]) -> PixelBox:
    rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
    return float(columns[0]), float(rows[0]), columns[-1] + 1.0, rows[-1] + 1.0
