"""Rules that turn detections into objects: this project's, and those of others by their descriptions.

Each with the constants that are published; what is not, is said beside it.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.objects import known_objects
from remembr_ros.objects.assignment import alike
from remembr_ros.objects.lifting import CameraView, Lifted
from remembr_ros.objects.object_map import ObjectMap
from remembr_ros.timestamps import NS

Vector = NDArray[np.float64]
"""Shape (3,) [m]."""


@dataclass(eq=False)
class Belief:
    """What a rule believes of one object.

    :ivar names: its id, and those of others that turned out to be this one
    :ivar low: least coordinates of its box [m]; as high
    :ivar missing: it is not where it was, and nobody knows where it is
    :ivar moves: how often it was found elsewhere
    :ivar hits: how often it was seen, last at seen_ns
    """

    names: tuple[str, ...]
    label: str
    low: Vector
    high: Vector
    missing: bool = False
    moves: int = 0
    seen_ns: int = 0
    hits: int = 1
    look: NDArray[np.float32] | None = None

    @property
    def centre(self) -> Vector:
        middle: Vector = (self.low + self.high) / 2.0
        return middle

    def take(self, placed: Lifted, part: float = 1.0) -> None:
        """Be what is seen now, and where; the box only in part."""
        self.low, self.high = (
            (1.0 - part) * a + part * b for a, b in zip(_box(self), _box(placed), strict=True)
        )
        self.label, self.look = placed.detection.label, placed.appearance.vector
        self.seen_ns, self.hits = placed.detection.stamp_ns, self.hits + 1


class ObjectRule(Protocol):
    """Decides, frame by frame, which object each detection is."""

    def update(self, view: CameraView, placed: Sequence[Lifted]) -> list[str]:
        """Return the id of the object that each detection is; empty: of none yet."""

    def beliefs(self) -> list[Belief]:
        """Return all objects as they are now."""


class RemembrRule:
    """The object memory of this project."""

    def __init__(self) -> None:
        self._map, self._now_ns = ObjectMap('robot'), 0

    def update(self, view: CameraView, placed: Sequence[Lifted]) -> list[str]:
        """Return the id of the object that each detection is; empty: of none yet."""
        self._now_ns = view.stamp_ns
        return self._map.update(view, placed)

    def beliefs(self) -> list[Belief]:
        """Return all objects as they are now."""
        self._map.review(self._now_ns)  # as before it is stored
        found = []
        for known in known_objects(self._map.memories()):
            middle, half = np.array(known.position), np.array(known.size) / 2.0
            names, missing = (known.id, *known.facts.aliases), known.missing_ns is not None
            found.append(Belief(names, known.name, middle - half, middle + half, missing, len(known.moves)))
        return found


class PublishedRule(ABC):
    """A rule of others: takes the detections of a frame one after the other, the surest first.

    :cvar HITS: from so many on it is an object
    :cvar PENDING_NS: until then it is forgotten after this
    """

    HITS, PENDING_NS = 1, NS

    def __init__(self) -> None:
        self._things: list[Belief] = []
        self._count = 0

    def update(self, view: CameraView, placed: Sequence[Lifted]) -> list[str]:
        """Return the id of the object that each detection is; empty: of none yet."""
        young_ns = view.stamp_ns - self.PENDING_NS
        self._things = [t for t in self._things if t.hits >= self.HITS or t.seen_ns >= young_ns]
        names = []
        for one in placed:
            thing = self._match(one)
            if thing is None:
                self._count += 1
                thing = Belief((str(self._count),), one.detection.label, one.low, one.high, hits=0)
                thing.take(one)
                self._things.append(thing)
            names.append(thing.names[0] if thing.hits >= self.HITS else '')
        return names

    def beliefs(self) -> list[Belief]:
        """Return all objects as they are now."""
        return [thing for thing in self._things if thing.hits >= self.HITS]

    @abstractmethod
    def _match(self, one: Lifted) -> Belief | None:
        """Return what a detection is, with what it tells; None: something new."""

    def _newest(self, one: Lifted, within_m: float, *, same_label: bool) -> Belief | None:
        """Return the nearest one, now where it is seen; None: there is none so near."""
        fits = [t for t in self._things if not same_label or t.label == one.detection.label]
        off = [float(np.linalg.norm(t.centre - (one.low + one.high) / 2.0)) for t in fits]
        if min(off, default=np.inf) > within_m:
            return None
        nearest = fits[int(np.argmin(off))]
        nearest.take(one)
        return nearest


class EmbodiedVideoAgentRule(PublishedRule):
    """Embodied VideoAgent (arXiv 2501.00358): boxes that overlap, of one class.

    The box is the mean of all sights. What does not overlap is a dynamic object that was seen elsewhere
    before if class, volume and appearance agree; which objects are dynamic its actions say, which there are
    none of here: those that were out of sight for ten minutes. How alike is not given: a volume within a
    factor of two, a cosine of .9.
    """

    OVERLAP, VOLUMES, ALIKE, OUT_OF_SIGHT_NS = 0.2, 2.0, 0.9, 600 * NS

    def _match(self, one: Lifted) -> Belief | None:
        same, own = [t for t in self._things if t.label == one.detection.label], volume(*_box(one))
        for thing in same:
            shared = volume(np.maximum(thing.low, one.low), np.minimum(thing.high, one.high))
            if shared > self.OVERLAP * min(own, volume(*_box(thing))):  # as of any two boxes of that IoU
                thing.take(one, 1.0 / (thing.hits + 1))
                return thing
        for thing in same:
            away = one.detection.stamp_ns - thing.seen_ns > self.OUT_OF_SIGHT_NS
            like = alike(thing.look, one.appearance.vector) > self.ALIKE
            if away and like and 1.0 / self.VOLUMES < volume(*_box(thing)) / own < self.VOLUMES:
                thing.take(one)
                thing.moves += 1
                return thing
        return None


class DimosRule(PublishedRule):
    """dimos, its ObjectDB: the nearest one within .2 m, whatever it is called; newest box, newest name.

    Without the ids of a tracker in the image, by which dimos matches first.
    """

    HITS, PENDING_NS = 6, 5 * NS

    def _match(self, one: Lifted) -> Belief | None:
        return self._newest(one, 0.2, same_label=False)


class SemapRule(PublishedRule):
    """rai_semap: what is called the same within .5 m is the same, where it was seen last."""

    def _match(self, one: Lifted) -> Belief | None:
        return self._newest(one, 0.5, same_label=True)


RULES: Mapping[str, Callable[[], ObjectRule]] = {
    'remembr': RemembrRule,
    'embodied_videoagent': EmbodiedVideoAgentRule,
    'dimos': DimosRule,
    'rai_semap': SemapRule,
}


def _box(of: Belief | Lifted) -> tuple[Vector, Vector]:
    return of.low, of.high


def volume(low: Vector, high: Vector) -> float:
    """Return the volume of a box [m3]; of what is flatter than 1 cm as if it were so thick, of none 0."""
    sides = high - low
    return float(np.prod(np.maximum(sides, 0.01))) if np.all(sides >= 0.0) else 0.0
