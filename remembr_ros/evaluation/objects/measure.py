"""What beliefs about objects are worth, against the truth about a home. Knows no rule and no file."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from remembr_ros.evaluation.objects.rules import Belief, Vector
from remembr_ros.simulation.homes.recording import HomeTruth, ItemTruth

SHOWN_FRAMES = 3  # that show a thing, before it counts as one that could be found
NEAR_M, NEAR_PART = (
    0.25,
    0.25,
)  # the middle of what is found is so near to the true one, or by so much of its size
LOOKED_FRAMES = 3  # that show the place that a thing left, or where it came to, before that could be known


@dataclass
class Tally:
    """Counts of one rule, at one level of noise, in one home.

    :ivar found: things that an object is matched to, at the end of the last visit
    :ivar ghosts: objects that are no thing, or no more; duplicates are others, of things that are matched
    :ivar lost: things without an object
    :ivar switches: how often a thing that was seen was called another id than the last time, of seen times
    :ivar centre_m: of each found thing, how far off its middle is
    :ivar iou: of each found thing, intersection over union of the boxes
    :ivar changed: things that were moved or taken away while nobody looked, and what was known of that
    :ivar still: of things that stayed, how many there were, and were called moved or missing
    """

    found: int = 0
    lost: int = 0
    ghosts: int = 0
    duplicates: int = 0
    switches: int = 0
    seen: int = 0
    centre_m: list[float] = field(default_factory=list)
    iou: list[float] = field(default_factory=list)
    changed: dict[str, list[float | None]] = field(default_factory=lambda: {'moved': [], 'missing': []})
    """How long after the first look it was known [s]; None: not by the end of that visit."""
    still: list[int] = field(default_factory=lambda: [0, 0])


def truths_at(truth: HomeTruth, visit: int) -> tuple[list[ItemTruth], list[ItemTruth]]:
    """Return the things that can be known to be where they are in a visit, and all others that are there.

    Those were shown often enough since they came to that place. What is alive is among the others.
    """
    sure: list[ItemTruth] = []
    others: list[ItemTruth] = []
    for item in truth.items:
        stay = item.stays[visit]
        if stay is None:
            continue
        shown = 0
        for earlier in reversed(item.stays[: visit + 1]):
            if earlier is None or earlier.position != stay.position:
                break
            shown += earlier.frames
        (sure if shown >= SHOWN_FRAMES and item.kind != 'alive' else others).append(item)
    return sure, others


def matched(beliefs: Sequence[Belief], items: Sequence[ItemTruth], visit: int) -> dict[int, int]:
    """Return which belief is which thing, by their places in the lists: the nearest ones, one to one."""
    from scipy.optimize import linear_sum_assignment

    if not beliefs or not items:
        return {}
    far = 1e6
    costs = np.array([[_off(belief, item, visit) for item in items] for belief in beliefs])
    rows, columns = linear_sum_assignment(np.where(np.isfinite(costs), costs, far))
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {i: j for i, j in pairs if np.isfinite(costs[i, j])}


def _off(belief: Belief, item: ItemTruth, visit: int) -> float:
    """Return how far a belief is from a thing [m]; infinite: it is none of it."""
    stay = item.stays[visit]
    if stay is None or belief.label != item.label:
        return np.inf
    off = float(np.linalg.norm(belief.centre - np.array(stay.position)))
    return off if off <= max(NEAR_M, NEAR_PART * max(item.size)) else np.inf


def count(tally: Tally, beliefs: Sequence[Belief], truth: HomeTruth, visit: int) -> dict[int, Belief]:
    """Add what is found at the end of a visit; return the beliefs about things, by their numbers."""
    alive = {item.label for item in truth.items if item.kind == 'alive'}
    there = [belief for belief in beliefs if not belief.missing and belief.label not in alive]
    sure, others = truths_at(truth, visit)
    pairs = matched(there, sure, visit)
    rest = [belief for i, belief in enumerate(there) if i not in pairs]
    ignored = matched(rest, others, visit)
    tally.found += len(pairs)
    tally.lost += len(sure) - len(pairs)
    for i, belief in enumerate(rest):
        if i not in ignored:
            twice = any(np.isfinite(_off(belief, item, visit)) for item in sure)
            tally.duplicates += twice
            tally.ghosts += not twice
    for i, j in pairs.items():
        stay = sure[j].stays[visit]
        assert stay is not None
        middle, half = np.array(stay.position), np.array(sure[j].size) / 2.0
        tally.centre_m.append(float(np.linalg.norm(there[i].centre - middle)))
        tally.iou.append(_iou((there[i].low, there[i].high), (middle - half, middle + half)))
    return {sure[j].number: there[i] for i, j in pairs.items()}


def _iou(one: tuple[Vector, Vector], other: tuple[Vector, Vector]) -> float:
    sides = np.minimum(one[1], other[1]) - np.maximum(one[0], other[0])
    shared = float(np.prod(np.maximum(sides, 0.0)))
    both = float(np.prod(one[1] - one[0]) + np.prod(other[1] - other[0]))
    return shared / (both - shared)


class Changes:
    """What happened between two visits, and whether and when it is known.

    :param before: the beliefs about things at the end of the visit before, by the things' numbers
    :param visit: the one after
    """

    def __init__(self, truth: HomeTruth, visit: int, before: Mapping[int, Belief]) -> None:
        self._truth, self._visit, self._before = truth, visit, before
        sure, _ = truths_at(truth, visit - 1)
        self.moved: dict[int, float | None] = {}
        self.missing: dict[int, float | None] = {}
        self._still = []
        for item in sure:
            then, now = item.stays[visit - 1], item.stays[visit]
            assert then is not None
            if now is None:
                self.missing[item.number] = None
            elif now.position != then.position:
                self.moved[item.number] = None
            elif item.number in before:
                self._still.append(item.number)

    def look(self, beliefs: Sequence[Belief], after_s: float) -> None:
        """Note which changes are known now, so long after the visit began."""
        by_name = {name: belief for belief in beliefs for name in belief.names}
        for number, since_s in self.moved.items():
            belief = self._now(number, by_name)
            item = self._truth.items[number - 1]
            if belief is None or belief.missing or belief.moves <= self._before[number].moves:
                self.moved[number] = None
            elif np.isfinite(_off(belief, item, self._visit)):
                self.moved[number] = after_s if since_s is None else since_s
        for number, since_s in self.missing.items():
            belief = self._now(number, by_name)
            gone = belief is not None and belief.missing
            self.missing[number] = (after_s if since_s is None else since_s) if gone else None

    def close(
        self, tally: Tally, beliefs: Sequence[Belief], looks: Callable[[int], tuple[int, float]]
    ) -> None:
        """Add what is known at the end of the visit.

        :param looks: returns how many frames show what became of a thing, and when the first one does
            [s after the visit began]
        """
        for kind, changes in (('moved', self.moved), ('missing', self.missing)):
            for number, since_s in changes.items():
                frames, first_s = looks(number)
                if frames >= LOOKED_FRAMES:
                    tally.changed[kind].append(None if since_s is None else max(0.0, since_s - first_s))
        by_name = {name: belief for belief in beliefs for name in belief.names}
        for number in self._still:
            belief = self._now(number, by_name)
            tally.still[0] += 1
            tally.still[1] += belief is None or belief.missing or belief.moves > self._before[number].moves

    def _now(self, number: int, by_name: Mapping[str, Belief]) -> Belief | None:
        """Return what is believed now of what a thing was taken for."""
        return by_name.get(self._before[number].names[0]) if number in self._before else None
