"""A detector for simulated homes: the renderer's own masks, with the mistakes that real detectors make."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.bags.poses import stamp_of
from remembr_ros.bags.recording import Recording
from remembr_ros.errors import DetectorFailed, InvalidRequest
from remembr_ros.images import Bgr, raw_values
from remembr_ros.objects.detectors.detection import Detection

INSTANCES = '/camera/instances/image_raw'
LEAST_PX = 20  # of a mask: less is nothing to any detector

Masks = NDArray[np.uint16]
"""The number of the thing at each pixel; 0: none."""


@dataclass(frozen=True, slots=True)
class DetectorErrors:
    """What a detector does wrong, each detection for itself.

    :param misses: share of the things in sight that it does not find
    :param false: how many things that are none it finds, for each one in sight
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

    :param masks: returns those of the image of a stamp [ns]; None: there are none
    :param labels: what the things are called, by their numbers
    """

    name = 'simulation'

    def __init__(
        self,
        masks: Callable[[int], Masks | None],
        labels: Mapping[int, str],
        errors: DetectorErrors = NO_ERRORS,
        seed: int = 0,
    ) -> None:
        self._masks, self._labels, self._errors, self._seed = masks, labels, errors, seed
        self._names = sorted(set(labels.values()))

    @property
    def classes(self) -> tuple[str, ...]:
        return tuple(self._names)

    def detect(self, image: Bgr | None, stamp_ns: int, camera: str = '') -> list[Detection]:
        """Return what is in an image, best first."""
        masks = self._masks(stamp_ns)
        if masks is None or image is None or masks.shape != image.shape[:2]:
            return []
        errors, rng, found = self._errors, np.random.default_rng((self._seed, stamp_ns)), []
        size = np.array(masks.shape[::-1] * 2, np.float64)
        for number, pixels in zip(*np.unique(masks, return_counts=True), strict=True):
            missed, flipped, strange, score = rng.random(4).tolist()
            label = self._labels.get(int(number), '')
            if not label or pixels < LEAST_PX:
                continue
            if strange < errors.false:
                middle, half = rng.uniform(0.1, 0.9, 2), rng.uniform(0.02, 0.12, 2)
                edges = np.clip(np.concatenate((middle - half, middle + half)), 0.0, 1.0) * size
                scores = {str(rng.choice(self._names)): 0.4 + 0.4 * score}
                found.append(Detection(stamp_ns, camera, tuple(edges.tolist()), scores))
            if missed < errors.misses:
                continue
            if flipped < errors.flipped and len(self._names) > 1:
                label = str(rng.choice([name for name in self._names if name != label]))
            mask = masks == number
            rows, columns = np.flatnonzero(mask.any(axis=1)), np.flatnonzero(mask.any(axis=0))
            edges = np.array([columns[0], rows[0], columns[-1] + 1.0, rows[-1] + 1.0])
            if errors.box_px:
                edges = np.clip(edges + rng.normal(0.0, errors.box_px, 4), 0.0, size)
            own = None if errors.box_px else mask
            scores = {label: 0.5 + 0.45 * score}
            found.append(Detection(stamp_ns, camera, tuple(edges.tolist()), scores, own))
        return sorted(
            (detection for detection in found if detection.is_sound()), key=lambda detection: -detection.score
        )

    def close(self) -> None:
        """Let go of the recording, if there is one."""
        if isinstance(self._masks, _RecordedMasks):
            self._masks.close()


class _RecordedMasks:
    """The masks in the recording of a home, read in the order of time."""

    def __init__(self, path: Path) -> None:
        self._recording = Recording(path)
        self.close = self._recording.close
        self._at_ns, self._masks = -1, np.zeros((0, 0), np.uint16)
        self._rest = self._all()

    def __call__(self, stamp_ns: int) -> Masks | None:
        if stamp_ns < self._at_ns:
            self._rest, self._at_ns = self._all(), -1
        while self._at_ns < stamp_ns and (following := next(self._rest, None)):
            self._at_ns, self._masks = following
        return self._masks if self._at_ns == stamp_ns else None

    def _all(self) -> Iterator[tuple[int, Masks]]:
        for message in self._recording.messages({INSTANCES}):
            m = self._recording.deserialize(message)
            pixels = raw_values(m.encoding, m.width, m.height, m.step, bool(m.is_bigendian), m.data)
            yield stamp_of(m.header, message.log_ns), pixels


def recorded_detector(model: str, _labels: str | None = None) -> SimulatedDetector:
    """Return the detector of a recorded home: `--detector simulation:MODEL`.

    :param model: its folder, and the errors: 'home,misses=0.2,false=0.05,flipped=0.1,box_px=1'
    :raises InvalidRequest: there is no such error
    :raises DetectorFailed: there is no such home
    """
    folder, *options = model.split(',')
    try:
        errors = DetectorErrors(**{name: float(value) for name, value in (o.split('=') for o in options)})
    except (TypeError, ValueError) as error:
        names = ', '.join(field.name for field in fields(DetectorErrors))
        raise InvalidRequest(f'{model}: {error}; give numbers for {names}, such as misses=0.2') from error
    try:
        home = json.loads((Path(folder) / 'truth.json').read_text(encoding='utf-8'))['home']
        labels = {int(item['number']): str(item['label']) for item in home['items']}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DetectorFailed(
            f'{folder} is no recorded home, with bag and truth.json: {error}; '
            'remembr eval objects --homes SEED --bags --out DIR makes them'
        ) from error
    return SimulatedDetector(_RecordedMasks(Path(folder) / 'bag'), labels, errors)
