"""The boxes of a frame's detections and of all objects, as arrays."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from remembr_ros.objects.lifting import Lifted
from remembr_ros.objects.track import ObjectTrack

TWICE = 0.5  # of the smaller of two boxes of one label that lies in the other: one thing, boxed twice
SAME_ROOM = 0.7  # of the larger of two boxes of two labels that both share: one thing, called twice
TAKEN, TAKEN_LOG_RATIO = 0.3, 2.0  # of a place that another thing takes; logarithm of their volumes
THIN_M = 0.02  # what is flatter is taken to be so thick


class Boxes:
    """The boxes of tracks or detections as arrays.

    :ivar low: shape (n, 3) [m]; as high
    :ivar std_m: shape (n,) [m]
    :ivar log_volume: shape (n,)
    :ivar cut: whose things may reach further, shape (n,)
    """

    def __init__(self, things: Sequence[ObjectTrack | Lifted]) -> None:
        self.low = np.array([thing.low for thing in things], np.float64).reshape(-1, 3)
        self.high = np.array([thing.high for thing in things], np.float64).reshape(-1, 3)
        self.std_m = np.array([thing.std_m for thing in things], np.float64)
        self.log_volume = np.log(np.maximum(self.high - self.low, THIN_M)).sum(axis=1)
        self.cut = np.array([thing.cut for thing in things], np.bool_)

    def some(self, rows: NDArray[np.intp]) -> 'Boxes':
        """Return those of these rows."""
        found = Boxes([])
        for name, column in vars(self).items():
            setattr(found, name, column[rows])
        return found

    def moved(self, shift: NDArray[np.float64]) -> 'Boxes':
        """Return them elsewhere, by a shift of each [m], shape (n, 3)."""
        found = self.some(np.arange(len(self.low)))
        found.low, found.high = self.low + shift, self.high + shift
        return found

    def taken_by(self, others: 'Boxes') -> NDArray[np.bool_]:
        """Tell which boxes are another one's place by now, one of about their size: shape (n,)."""
        low, high = self.low[:, None], np.maximum(self.high, self.low + THIN_M)[:, None]
        top = np.maximum(others.high, others.low + THIN_M)
        shared = np.prod(np.maximum(np.minimum(high, top) - np.maximum(low, others.low), 0.0), axis=2)
        alike = np.abs(self.log_volume[:, None] - others.log_volume) < TAKEN_LOG_RATIO
        taken: NDArray[np.bool_] = (alike & (shared > TAKEN * np.exp(self.log_volume)[:, None])).any(axis=1)
        return taken

    def add(self, one: Lifted) -> None:
        """Make room for one more."""
        row = Boxes([one])
        for name, column in vars(self).items():
            setattr(self, name, np.concatenate([column, getattr(row, name)]))

    def set(self, row: int, thing: ObjectTrack | Lifted) -> None:
        self.low[row], self.high[row], self.std_m[row] = thing.low, thing.high, thing.std_m
        self.log_volume[row] = np.log(np.maximum(thing.high - thing.low, THIN_M)).sum()
        self.cut[row] = thing.cut

    def apart(self, others: 'Boxes') -> NDArray[np.float64]:
        """Return how far each box is from lying in, or around, each other one: shape (n, others, 3) [m].

        Whoever sees a part of a thing sees a box that lies in its box: that is not apart. Of boxes that may
        be different parts of one thing, the middle of the smaller one lies in the larger one.
        """
        middle, half = (self.low + self.high) / 2.0, (self.high - self.low) / 2.0
        theirs, halves = (others.low + others.high) / 2.0, (others.high - others.low) / 2.0
        off = np.abs(middle[:, None] - theirs[None])
        cut = (self.cut[:, None] | others.cut[None])[:, :, None]
        inside = np.abs(half[:, None] - halves[None])
        room = np.where(cut, np.maximum(half[:, None], halves[None]), inside)
        found: NDArray[np.float64] = np.maximum(off - room, 0.0)
        return found


def distinct(lifted: Sequence[Lifted]) -> dict[int, Lifted]:
    """Return the detections of a frame that are things of their own, by number: detectors box some twice.

    What takes the same room by another label is one thing with both labels.
    """
    boxes = Boxes(lifted)
    low, high = boxes.low, np.maximum(boxes.high, boxes.low + THIN_M)
    shared = np.minimum(high[:, None], high[None]) - np.maximum(low[:, None], low[None])
    shared, volumes = np.prod(np.maximum(shared, 0.0), axis=2), np.prod(high - low, axis=1)
    smaller, larger = (pick(volumes[:, None], volumes[None]) for pick in (np.minimum, np.maximum))
    labels = np.array([one.detection.label for one in lifted])
    alike = labels[:, None] == labels[None]
    same = shared > np.where(alike, TWICE * smaller, SAME_ROOM * larger)
    kept: dict[int, Lifted] = {}
    for i in sorted(range(len(lifted)), key=lambda i: -lifted[i].detection.score):
        j = next((j for j in kept if same[i, j]), i)
        if j == i:
            kept[i] = lifted[i]
            continue
        known = kept[j].detection
        both = {**lifted[i].detection.scores, **known.scores}
        kept[j] = replace(kept[j], detection=replace(known, scores=both))
    return dict(sorted(kept.items()))
