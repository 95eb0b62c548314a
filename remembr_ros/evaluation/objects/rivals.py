"""The rules by which others turn detections into objects, written from their descriptions.

Each as it is published, with the constants that are given there; what is not, is said beside it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from remembr_ros.evaluation.objects.rules import Belief, Vector
from remembr_ros.objects.lifting import CameraView, Lifted
from remembr_ros.timestamps import NS


@dataclass(eq=False)
class _Thing:
    name: str
    placed: Lifted
    low: Vector
    high: Vector
    seen_ns: int
    hits: int = 1
    moves: int = 0

    @property
    def label(self) -> str:
        return self.placed.detection.label

    def take(self, placed: Lifted) -> None:
        """Be where and what it is seen to be now."""
        self.placed, self.low, self.high = placed, placed.low, placed.high
        self.seen_ns, self.hits = placed.detection.stamp_ns, self.hits + 1


class _Rule:
    """Takes the detections of a frame one after the other, the surest first."""

    def __init__(self) -> None:
        self._things: list[_Thing] = []
        self._count = 0

    def update(self, view: CameraView, placed: Sequence[Lifted]) -> list[str]:
        """Return the id of the object that each detection is; empty: of none yet."""
        self._forget(view.stamp_ns)
        names = []
        for one in placed:
            thing = self._match(one)
            if thing is None:
                self._count += 1
                thing = _Thing(str(self._count), one, one.low, one.high, view.stamp_ns)
                self._things.append(thing)
            names.append(thing.name if self._is_object(thing) else '')
        return names

    def beliefs(self) -> list[Belief]:
        """Return all objects as they are now."""
        return [
            Belief((t.name,), t.label, t.low, t.high, moves=t.moves)
            for t in self._things
            if self._is_object(t)
        ]

    def _match(self, one: Lifted) -> _Thing | None:
        """Return the object that a detection is, with what it tells; None: a new one."""
        raise NotImplementedError

    def _is_object(self, thing: _Thing) -> bool:
        return True

    def _forget(self, now_ns: int) -> None:
        """Nothing is forgotten."""


class EmbodiedVideoAgentRule(_Rule):
    """Embodied VideoAgent (arXiv 2501.00358, section 3.1): boxes that overlap, of one class.

    The box is the mean of all sights. What does not overlap is a dynamic object that was seen elsewhere
    before if class, volume and appearance agree; which objects are dynamic its actions say, which there are
    none of here: those that were out of sight for some time. How alike is not given: a volume within a factor
    of two, a cosine of .9.
    """

    OVERLAP = 0.2
    OUT_OF_SIGHT_NS = 600 * NS
    VOLUMES, ALIKE = 2.0, 0.9

    def _match(self, one: Lifted) -> _Thing | None:
        same = [thing for thing in self._things if thing.label == one.detection.label]
        for thing in same:
            shared = volume(np.maximum(thing.low, one.low), np.minimum(thing.high, one.high))
            mine, theirs = volume(thing.low, thing.high), volume(one.low, one.high)
            if shared > self.OVERLAP * min(mine, theirs):  # which any box of that IoU does, too
                part = 1.0 / (thing.hits + 1)
                low, high = (
                    (1.0 - part) * a + part * b for a, b in ((thing.low, one.low), (thing.high, one.high))
                )
                thing.take(one)
                thing.low, thing.high = low, high
                return thing
        for thing in same:
            away = one.detection.stamp_ns - thing.seen_ns > self.OUT_OF_SIGHT_NS
            ratio = volume(thing.low, thing.high) / volume(one.low, one.high)
            look, other = thing.placed.appearance.vector, one.appearance.vector
            alike = look is not None and other is not None and float(look @ other) > self.ALIKE
            if away and alike and 1.0 / self.VOLUMES < ratio < self.VOLUMES:
                thing.take(one)
                thing.moves += 1
                return thing
        return None


class DimosRule(_Rule):
    """dimos, its ObjectDB: the first one whose middle is within .2 m, whatever it is called.

    Newest box and newest name; an object after six hits, until which it is forgotten after five seconds.
    Without the ids of a tracker in the image, by which dimos matches first.
    """

    NEAR_M, HITS, PENDING_NS = 0.2, 6, 5 * NS

    def _match(self, one: Lifted) -> _Thing | None:
        return _newest(self._things, one, self.NEAR_M, lambda thing: True)

    def _is_object(self, thing: _Thing) -> bool:
        return thing.hits >= self.HITS

    def _forget(self, now_ns: int) -> None:
        self._things = [
            t for t in self._things if self._is_object(t) or now_ns - t.seen_ns <= self.PENDING_NS
        ]


class SemapRule(_Rule):
    """rai_semap: what is called the same within .5 m is the same, where it was seen last."""

    NEAR_M = 0.5

    def _match(self, one: Lifted) -> _Thing | None:
        label = one.detection.label
        return _newest(self._things, one, self.NEAR_M, lambda thing: thing.label == label)


def _newest(
    things: Sequence[_Thing], one: Lifted, within_m: float, fits: Callable[[_Thing], bool]
) -> _Thing | None:
    """Return the nearest one that fits, now where it is seen; None: there is none so near."""
    middle = one.low + one.high
    apart = [(float(np.linalg.norm(t.low + t.high - middle)) / 2.0, t) for t in things if fits(t)]
    off, nearest = min(apart, key=lambda pair: pair[0], default=(np.inf, None))
    if nearest is None or off > within_m:
        return None
    nearest.take(one)
    return nearest


def volume(low: Vector, high: Vector) -> float:
    """Return the volume of a box [m3]; of what is flatter than 1 cm as if it were so thick, of none 0."""
    sides = high - low
    return float(np.prod(np.maximum(sides, 0.01))) if np.all(sides >= 0.0) else 0.0
