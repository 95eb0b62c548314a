"""What the rules that turn detections into objects have in common, and this project's own."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.objects import known_objects
from remembr_ros.objects.lifting import CameraView, Lifted
from remembr_ros.objects.object_map import ObjectMap

Vector = NDArray[np.float64]
"""Shape (3,) [m]."""


@dataclass(frozen=True, slots=True, eq=False)
class Belief:
    """What a rule believes of one object.

    :param names: its id, and those of others that turned out to be this one
    :param low: least coordinates of its box [m]; as high
    :param missing: it is not where it was, and nobody knows where it is
    :param moves: how often it was found elsewhere
    """

    names: tuple[str, ...]
    label: str
    low: Vector
    high: Vector
    missing: bool = False
    moves: int = 0

    @property
    def centre(self) -> Vector:
        middle: Vector = (self.low + self.high) / 2.0
        return middle


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
            names = (known.id, *known.facts.aliases)
            missing, moves = known.missing_ns is not None, len(known.moves)
            found.append(Belief(names, known.name, middle - half, middle + half, missing, moves))
        return found
