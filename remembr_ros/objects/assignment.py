"""Which detection of a frame is which known object: boxes compared, and the cheapest assignment.

The cost of a pair is how unlikely it is that they are one: how far their boxes are from lying in each other,
in standard deviations, how seldom the object was called what the detection is called, and how different they
look. None of these decides alone: a flipped label neither splits an object nor steals one.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from remembr_ros.objects.alignment import FIRST_STD, MOST_STD, PLACE_STD_M, Correction, learned
from remembr_ros.objects.lifting import Lifted
from remembr_ros.objects.presence import Presence
from remembr_ros.objects.track import ObjectTrack
from remembr_ros.timestamps import NS

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

    def add(self, lifted: Lifted) -> None:
        """Make room for one more."""
        row = Boxes([lifted])
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
    labels = np.array([placed.detection.label for placed in lifted])
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


NEW_COST = 7.0  # a pair that costs more is none: the detection is another thing
LABEL_FLOOR = 0.0025  # how often a detector calls a thing what it never called it before
LOOK = 8.0  # cost of looking completely different
SIZE, MOST_LARGER = 3.0, 1.5  # cost of a volume that is larger than usual, per logarithm, and what is usual
BASE_STD_M = 0.06  # of boxes beside what is said of each: poses are some centimetres off
SIZE_STD = 0.08  # of a box's middle, as a part of its side: one side is seen at a time
LEARN_FROM = 4  # pairs of a frame, before they tell how wrong poses are
SAME_LABEL = 0.3  # least share of labels that two have in common which are one
LEAST_LOOK = 0.8  # least cosine of what was moved and what it became
EXTENT_STD = 0.18  # of the logarithm of how many times as large one and the same thing may seem
LEAST_DOUBT = 0.5  # from which on something is found elsewhere that need not be missing
DOUBTFUL = 5.0  # cost of that, where there is no reason to doubt it
LEFT_NS = 20 * NS  # after which nobody is about to look at a place once more
AFTER = 0.1  # of the time in which it was moved: what came before that was there before
DAY_NS = 24 * 3600 * NS

Pairs = list[tuple[int, int]]
"""Numbers of detections and of tracks."""


class Assignment:
    """Finds out which detections are which tracks, frame by frame, and learns how wrong poses are."""

    def __init__(self) -> None:
        self._variance = FIRST_STD**2

    def match(
        self, placed: Sequence[Lifted], tracks: Sequence[ObjectTrack], boxes: Boxes, eye: NDArray[np.float64]
    ) -> tuple[Pairs, Correction]:
        """Return which detections are which tracks, and by how much the frame's pose is off.

        :param boxes: of the tracks
        :param eye: where the camera is thought to be [m], shape (3,)
        """
        prior = Correction(eye, np.zeros(3), np.diag(self._variance))
        if not placed or not tracks:
            return [], prior
        seen = Boxes(placed)
        pairs, correction = self._pairs(placed, seen, tracks, boxes, prior)
        if len(placed) >= LEARN_FROM and 2 * len(pairs) < len(placed):
            # Poses may be worse than they ever were: if so, far more fits.
            found = self._pairs(
                placed, seen, tracks, boxes, Correction(eye, np.zeros(3), np.diag(MOST_STD**2))
            )
            pairs, correction = max((pairs, correction), found, key=lambda outcome: len(outcome[0]))
        if len(pairs) >= LEARN_FROM:
            self._variance = learned(self._variance, correction)
        return pairs, correction

    def _pairs(
        self,
        placed: Sequence[Lifted],
        seen: Boxes,
        tracks: Sequence[ObjectTrack],
        boxes: Boxes,
        prior: Correction,
    ) -> tuple[Pairs, Correction]:
        """Return the cheapest assignment, twice: what is left of it once tells how wrong the pose is."""
        middles, correction = (seen.low + seen.high) / 2.0, prior
        within = _within(seen, boxes, float(np.sqrt(prior.variance(middles).max())))
        boxes = boxes.some(within)
        unlike = np.full((len(placed), len(within)), np.nan)
        pairs: Pairs = []
        for _ in range(1 if prior.is_small else 2):
            off = seen.moved(correction.shift(middles)).apart(boxes)
            sides = np.maximum(boxes.high - boxes.low, 0.05)
            variance = (SIZE_STD * sides) ** 2 + boxes.std_m[:, None] ** 2 + BASE_STD_M**2
            variance = variance[None] + (seen.std_m[:, None] ** 2 + correction.variance(middles))[:, None]
            cost = 0.5 * np.sum(off**2 / variance, axis=2)
            for i, j in zip(*np.nonzero(cost < NEW_COST), strict=True):
                if np.isnan(unlike[i, j]):
                    log_ratio = seen.log_volume[i] - boxes.log_volume[j]
                    unlike[i, j] = _cost(tracks[within[j]], placed[i], log_ratio)
            pairs = cheapest(cost + np.nan_to_num(unlike, nan=NEW_COST))
            sure = [(i, j) for i, j in pairs if not seen.cut[i] and not boxes.cut[j]]
            i, j = np.array(sure, np.intp).reshape(-1, 2).T
            known = (boxes.low + boxes.high)[j] / 2.0
            spread = (boxes.std_m[j] + PLACE_STD_M) ** 2 + seen.std_m[i] ** 2
            correction = prior.told_by(middles[i], known, spread)
        return [(i, int(within[j])) for i, j in pairs], correction


def _within(seen: Boxes, boxes: Boxes, pose_std_m: float) -> NDArray[np.intp]:
    """Return which tracks may be one of these at all; the others, however many, cost little."""
    middle, theirs = (seen.low + seen.high) / 2.0, (boxes.low + boxes.high) / 2.0
    room = np.maximum((seen.high - seen.low).max(axis=0), boxes.high - boxes.low) / 2.0
    off = np.maximum(middle.min(axis=0) - theirs, theirs - middle.max(axis=0)) - room
    sides = np.maximum(boxes.high - boxes.low, 0.05)
    stds = SIZE_STD * sides + (boxes.std_m + seen.std_m.max() + BASE_STD_M + pose_std_m)[:, None]
    return np.flatnonzero((off < math.sqrt(2.0 * NEW_COST) * stds).all(axis=1))


def _cost(track: ObjectTrack, placed: Lifted, log_ratio: float) -> float:
    """Return the part of the cost of a pair that is not its distance.

    :param log_ratio: logarithm of how many times as large as the track the detection is
    """
    share = track.share(placed.detection.scores)
    cost = -math.log(LABEL_FLOOR + (1.0 - LABEL_FLOOR) * share)
    cost += LOOK * (1.0 - alike(track.appearance, placed.appearance.vector))
    # What is called otherwise is at least as large as what it is, and nothing looks much larger than it is.
    # Nor smaller, before it is sure that there is such a large thing: that may be a mistake.
    larger = log_ratio if not track.cut else 0.0
    if not (track.confirmed or placed.cut) and track.evidence >= 1.0:
        larger = abs(log_ratio)
    return cost + (1.0 - share) * abs(log_ratio) + SIZE * max(0.0, larger - MOST_LARGER)


def cheapest(cost: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return the pairs of the cheapest assignment, none of which costs as much as a new thing."""
    from scipy.optimize import linear_sum_assignment

    columns = np.flatnonzero((cost < NEW_COST).any(axis=0))
    rows, picked = linear_sum_assignment(np.minimum(cost[:, columns], NEW_COST))
    pairs = zip(rows.tolist(), columns[picked].tolist(), strict=True)
    return [(i, j) for i, j in pairs if cost[i, j] < NEW_COST]


def moved(placed: Sequence[Lifted], correction: Correction) -> list[Lifted]:
    """Return detections where they are by a correction of the frame's pose."""
    middles = np.array([thing.low + thing.high for thing in placed]).reshape(-1, 3) / 2.0
    shifted = zip(placed, correction.shift(middles), strict=True)
    return [replace(thing, low=thing.low + by, high=thing.high + by, shift=by) for thing, by in shifted]


def alike(a: NDArray[np.float32] | None, b: NDArray[np.float32] | None, unknown: float = 1.0) -> float:
    """Return the cosine of two appearances.

    :param unknown: what is returned where one is not known, or they are of two kinds
    """
    return unknown if a is None or b is None or a.shape != b.shape else float(a @ b)


def found_again(tracks: Sequence[ObjectTrack], now_ns: int) -> list[tuple[ObjectTrack, ObjectTrack]]:
    """Return what is missing, each with what it became: one that came after it was seen last.

    So is what is likely to be missing, and was left with that: for a new look there may be days to wait.
    """
    gone = [track for track in tracks if track.is_expected and _is_gone(track.presence, now_ns)]
    since_ns = min((track.surely_seen_ns for track in gone), default=0)
    known = [track for track in tracks if track.confirmed and not track.deleted and track not in gone]
    new = [track for track in known if track.span[0] > since_ns]
    if not gone or not new:
        return []
    cost = np.array([[_cost_of_move(old, track) for track in new] for old in gone])
    return [(gone[i], new[j]) for i, j in cheapest(cost)]


def _is_gone(presence: Presence, now_ns: int) -> bool:
    left = now_ns - presence.looked_ns >= LEFT_NS
    return presence.missing or (left and presence.doubt > LEAST_DOUBT)


def _cost_of_move(old: ObjectTrack, new: ObjectTrack) -> float:
    """Return how unlikely it is that a missing thing was found elsewhere, as the cost of a pair.

    That something alike came right after it was seen last, long before its place was found empty, is no sign
    of it: they are two. The sooner the likelier: what is missing since yesterday was nowhere to be seen.
    """
    after_ns = new.span[0] - old.surely_seen_ns
    if (
        after_ns <= 0
        or after_ns < AFTER * (old.presence.emptied_ns - old.surely_seen_ns)
        or old.beside[new.id]
        or new.beside[old.id]
    ):
        return NEW_COST
    share, look = old.share(new.labels), alike(old.appearance, new.appearance, unknown=0.0)
    if share < SAME_LABEL or look < LEAST_LOOK:
        return NEW_COST
    days, larger = after_ns / DAY_NS, math.log(old.extent / new.extent)
    unlike = LOOK * (1.0 - look) - math.log(share) + 0.5 * (larger / EXTENT_STD) ** 2
    return unlike + math.log(1.0 + days) + DOUBTFUL * (1.0 - old.presence.doubt)
