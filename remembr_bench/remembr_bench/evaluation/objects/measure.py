"""How right beliefs about objects are, against the truth about a home."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from remembr_bench.simulation.homes.home import Home, Item, Shown, centre_of
from remembr_bench.simulation.homes.home_views import CAMERA, RATE_HZ, HomeFrame, camera_pose
from remembr_ros.objects.lifting import DepthView

SHOWN_FRAMES = 3  # that show a thing where it is, or where it was, before anybody could know
SEEN_M = 5.0  # what is further away is not seen
NEAR_M, NEAR_PART = 0.25, 0.25  # how far off a middle may be, or by what part of the thing's size

Vector = NDArray[np.float64]
"""Shape (3,) [m]."""


@dataclass(eq=False)
class Belief:
    """What is believed of one object.

    :ivar names: its id, and those of others that turned out to be this one
    :ivar low: least coordinates of its box [m]; as high
    :ivar missing: it is not where it was, and nobody knows where it is
    :ivar moved_ns: when it was found elsewhere, the last time; 0: never
    """

    names: tuple[str, ...]
    label: str
    low: Vector
    high: Vector
    missing: bool = False
    moved_ns: int = 0

    @property
    def centre(self) -> Vector:
        return (self.low + self.high) / 2.0


@dataclass
class Tally:
    """Counts of one rule, at one level of noise, in one home.

    :ivar found: things that an object is matched to, at the end of the last visit; lost ones have none
    :ivar ghosts: objects that are no thing, or no more; duplicates are others, of things that have one
    :ivar switches: how often a thing was called another id than the last time, of all times that it was seen
    :ivar centre_m: of each found thing, how far off its middle is
    :ivar iou: of each found thing, intersection over union of the boxes
    :ivar changed: of each thing that was moved or taken away while nobody looked, how long after the first
        look that was known [s]; None: not by the end of that visit
    :ivar still: of things that stayed, how many there were, and were called moved or missing
    :ivar asked: of each question to the home its kind, text, answer, and whether that is right
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
    still: list[int] = field(default_factory=lambda: [0, 0])
    asked: list[tuple[str, str, str, bool]] = field(default_factory=list)


def knowable(home: Home, shown: Shown, visit: int) -> tuple[list[Item], list[Item]]:
    """Return the things that can be known to be where they are in a visit, and all others that are there.

    Those were shown often enough since they came to that place. What is alive is among the others.
    """
    sure: list[Item] = []
    others: list[Item] = []
    for number, place in home.visits[visit].placements.items():
        frames = 0
        for earlier in range(visit, -1, -1):
            if home.visits[earlier].placements.get(number) != place:
                break
            frames += int(shown[earlier][number])
        item = home.items[number - 1]
        (sure if frames >= SHOWN_FRAMES and item.kind != 'alive' else others).append(item)
    return sure, others


def _off(belief: Belief, item: Item, at: Vector) -> float:
    """Return how far a belief is from a thing [m]; infinite: it is none of it."""
    off = float(np.linalg.norm(belief.centre - at))
    near = belief.label == item.label and off <= max(NEAR_M, NEAR_PART * max(item.size))
    return off if near else np.inf


def count(tally: Tally, beliefs: Sequence[Belief], home: Home, shown: Shown, visit: int) -> dict[int, Belief]:
    """Add what is found at the end of a visit; return the beliefs about things, by their numbers."""
    from scipy.optimize import linear_sum_assignment

    alive = {item.label for item in home.items if item.kind == 'alive'}
    there = [belief for belief in beliefs if not belief.missing and belief.label not in alive]
    places = home.visits[visit].placements
    sure, others = knowable(home, shown, visit)

    def apart(some: Sequence[Item]) -> Vector:
        at = [np.array(centre_of(item, places[item.number])) for item in some]
        off = [[_off(belief, *pair) for pair in zip(some, at, strict=True)] for belief in there]
        return np.array(off, np.float64).reshape(len(there), len(some))

    off = apart(sure)
    rows, columns = linear_sum_assignment(np.where(np.isfinite(off), off, 1e6))
    pairs = {i: j for i, j in zip(rows.tolist(), columns.tolist(), strict=True) if np.isfinite(off[i, j])}
    rest = np.array([i not in pairs for i in range(len(there))], np.bool_)
    rest &= ~np.isfinite(apart(others)).any(axis=1)
    twice = rest & np.isfinite(off).any(axis=1)
    tally.found, tally.lost = len(pairs), len(sure) - len(pairs)
    tally.duplicates, tally.ghosts = int(twice.sum()), int((rest & ~twice).sum())
    for i, j in pairs.items():
        middle, half = np.array(centre_of(sure[j], places[sure[j].number])), np.array(sure[j].size) / 2.0
        tally.centre_m.append(float(off[i, j]))
        sides = np.minimum(there[i].high, middle + half) - np.maximum(there[i].low, middle - half)
        common = float(np.prod(np.maximum(sides, 0.0)))
        both = float(np.prod(there[i].high - there[i].low) + np.prod(sure[j].size))
        tally.iou.append(common / (both - common))
    return {sure[j].number: there[i] for i, j in pairs.items()}


class Changes:
    """What was moved or taken away before a visit, and whether and when that is known.

    :param visit: before the first one nothing can be known, so that nothing has changed then
    :param before: what was believed of things before that visit, by the things' numbers
    """

    def __init__(self, home: Home, shown: Shown, visit: int, before: Mapping[int, Belief]) -> None:
        self._home, self._start_ns = home, home.visits[visit].start_ns
        self._names = {number: belief.names[0] for number, belief in before.items()}
        self._now, then = home.visits[visit].placements, home.visits[visit - 1].placements
        sure = [item.number for item in knowable(home, shown, visit - 1)[0]]
        self._since_s: dict[int, float | None] = {n: None for n in sure if self._now.get(n) != then[n]}
        self._still = [number for number in sure if number in before and number not in self._since_s]
        left = [centre_of(home.items[number - 1], then[number]) for number in self._since_s]
        self._left = np.array(left).reshape(-1, 3)
        self._shown: list[NDArray[np.bool_]] = []

    def show(self, frame: HomeFrame, shows: NDArray[np.int64]) -> None:
        """Note whether a frame shows the places that things have left, and which of all things it shows."""
        measured, z = DepthView(frame.depth, CAMERA, camera_pose(frame.base)).measured(self._left)
        through = (measured > z) & (z < SEEN_M)
        there = [shows[number] > 0 or number not in self._now for number in self._since_s]
        self._shown.append(np.array((through, there), np.bool_))

    def look(self, beliefs: Sequence[Belief]) -> None:
        """Note which changes are known by now."""
        for number, since_s in self._since_s.items():
            after_s = len(self._shown) / RATE_HZ if since_s is None else since_s
            known = self._is_known(number, self._belief(number, beliefs))
            self._since_s[number] = after_s if known else None

    def close(self, tally: Tally, beliefs: Sequence[Belief]) -> frozenset[int]:
        """Add what is known at the end of the visit, of changes that were shown well enough; return these."""
        self.look(beliefs)
        shown = np.array(self._shown)
        frames, first_s = shown.sum(axis=0).min(axis=0), shown.argmax(axis=0).max(axis=0) / RATE_HZ
        for i, (number, since_s) in enumerate(self._since_s.items()):
            if frames[i] >= SHOWN_FRAMES:
                after_s = None if since_s is None else max(0.0, since_s - float(first_s[i]))
                tally.changed['moved' if number in self._now else 'missing'].append(after_s)
        for number in self._still:
            belief = self._belief(number, beliefs)
            tally.still[0] += 1
            tally.still[1] += belief is None or belief.missing or belief.moved_ns >= self._start_ns
        return frozenset(number for i, number in enumerate(self._since_s) if frames[i] >= SHOWN_FRAMES)

    def _belief(self, number: int, beliefs: Sequence[Belief]) -> Belief | None:
        """Return what is believed now of what a thing was taken for."""
        return next((belief for belief in beliefs if self._names.get(number) in belief.names), None)

    def _is_known(self, number: int, belief: Belief | None) -> bool:
        if belief is None or belief.missing or number not in self._now:
            return belief is not None and belief.missing and number not in self._now
        item = self._home.items[number - 1]
        near = np.isfinite(_off(belief, item, np.array(centre_of(item, self._now[number]))))
        return bool(near) and belief.moved_ns >= self._start_ns
