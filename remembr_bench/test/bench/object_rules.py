"""The objects of simulated homes by this project's rule and by the published rules of three other systems.

    python -m test.bench.object_rules --homes SEED... [--rules NAME...] [--noise LEVEL...] --out DIR

Every rule gets the same detections. Prints a table and writes results.json: the figures of
`remembr eval objects` by rule and level of noise. The rules of others are made from their descriptions, with
the constants that are published; what is not published is said beside it.
"""

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_bench.evaluation.objects.measure import Belief, Vector
from remembr_bench.evaluation.objects.report import object_table, results
from remembr_bench.evaluation.objects.run import LEVELS, ObjectRule, RemembrRule, drive_through
from remembr_bench.simulation.homes.layout import VISITS, generate_home
from remembr_ros.objects.assignment import alike
from remembr_ros.objects.lifting import CameraView, Lifted
from remembr_ros.timestamps import NS


@dataclass(eq=False)
class Thing(Belief):
    """What a rule of others believes of one object.

    :ivar hits: how often it was seen, last at seen_ns
    :ivar look: its appearance when it was seen last
    """

    seen_ns: int = 0
    hits: int = 0
    look: NDArray[np.float32] | None = None

    def take(self, placed: Lifted, part: float = 1.0) -> 'Thing':
        """Be what is seen now, and where; the box only in part."""
        self.low = self.low + part * (placed.low - self.low)
        self.high = self.high + part * (placed.high - self.high)
        self.label, self.look = placed.detection.label, placed.appearance.vector
        self.seen_ns, self.hits = placed.detection.stamp_ns, self.hits + 1
        return self


Match = Callable[[Sequence[Thing], Lifted], Thing | None]
"""Returns what a detection is, with what it tells; None: something new."""


class PublishedRule:
    """A rule of others: takes the detections of a frame one after the other, the surest first.

    :param hits: from so many on it is an object
    :param pending_ns: until then it is forgotten after this
    """

    def __init__(self, match: Match, hits: int = 1, pending_ns: int = NS) -> None:
        self._match, self._hits, self._pending_ns = match, hits, pending_ns
        self._things: list[Thing] = []
        self._count = 0

    def update(self, view: CameraView, placed: Sequence[Lifted]) -> list[str]:
        """Return the id of the object that each detection is; empty: of none yet."""
        young_ns = view.stamp_ns - self._pending_ns
        self._things = [t for t in self._things if t.hits >= self._hits or t.seen_ns >= young_ns]
        names = []
        for one in placed:
            thing = self._match(self._things, one)
            if thing is None:
                self._count += 1
                thing = Thing((str(self._count),), '', one.low, one.high).take(one)
                self._things.append(thing)
            names.append(thing.names[0] if thing.hits >= self._hits else '')
        return names

    def beliefs(self) -> list[Belief]:
        """Return all objects as they are now."""
        return [thing for thing in self._things if thing.hits >= self._hits]


OVERLAP = 0.2  # of the smaller one of two boxes; two boxes of such an IoU share more of it
VOLUMES, ALIKE, OUT_OF_SIGHT_NS = 2.0, 0.9, 600 * NS


def overlapping(things: Sequence[Thing], one: Lifted) -> Thing | None:
    """Match as Embodied VideoAgent does (arXiv 2501.00358): boxes that overlap, of one class.

    The box is the mean of all sights. What does not overlap is a dynamic object that was seen elsewhere
    before if class, volume and appearance agree; which objects are dynamic its actions say, which there are
    none of here: those that were out of sight for ten minutes. How alike is not given: a volume within a
    factor of two, a cosine of .9.
    """
    same, own = [t for t in things if t.label == one.detection.label], volume(one.low, one.high)
    for thing in same:
        shared = volume(np.maximum(thing.low, one.low), np.minimum(thing.high, one.high))
        if shared > OVERLAP * min(own, volume(thing.low, thing.high)):
            return thing.take(one, 1.0 / (thing.hits + 1))
    for thing in same:
        away = one.detection.stamp_ns - thing.seen_ns > OUT_OF_SIGHT_NS
        like = alike(thing.look, one.appearance.vector) > ALIKE
        if away and like and 1.0 / VOLUMES < volume(thing.low, thing.high) / own < VOLUMES:
            thing.moved_ns = one.detection.stamp_ns
            return thing.take(one)
    return None


def nearest(things: Sequence[Thing], one: Lifted, within_m: float, *, same_label: bool) -> Thing | None:
    """Match with the nearest one, which is now where and what it is seen to be.

    dimos' ObjectDB does so within .2 m, whatever it is called; six hits within five seconds make an object
    (without the ids of a tracker in the image, by which it matches first). rai_semap does so within .5 m for
    what is called the same.
    """
    fits = [t for t in things if not same_label or t.label == one.detection.label]
    off = [float(np.linalg.norm(t.centre - (one.low + one.high) / 2.0)) for t in fits]
    return fits[int(np.argmin(off))].take(one) if min(off, default=np.inf) <= within_m else None


RULES: Mapping[str, Callable[[], ObjectRule]] = {
    'remembr': RemembrRule,
    'embodied_videoagent': partial(PublishedRule, overlapping),
    'dimos': partial(PublishedRule, partial(nearest, within_m=0.2, same_label=False), 6, 5 * NS),
    'rai_semap': partial(PublishedRule, partial(nearest, within_m=0.5, same_label=True)),
}


def volume(low: Vector, high: Vector) -> float:
    """Return the volume of a box [m3]; of what is flatter than 1 cm as if it were so thick, of none 0."""
    sides = high - low
    return float(np.prod(np.maximum(sides, 0.01))) if np.all(sides >= 0.0) else 0.0


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog='python -m test.bench.object_rules')
    parser.add_argument('--homes', type=int, nargs='+', required=True, metavar='SEED')
    parser.add_argument('--visits', type=int, default=VISITS, metavar='N')
    parser.add_argument('--rules', nargs='+', choices=list(RULES), default=list(RULES))
    parser.add_argument('--noise', nargs='+', choices=[level.name for level in LEVELS], metavar='LEVEL')
    parser.add_argument('--out', type=Path, required=True, metavar='DIR')
    args = parser.parse_args(arguments)
    levels = [level for level in LEVELS if args.noise is None or level.name in args.noise]
    homes = [generate_home(seed, args.visits) for seed in args.homes]
    by_rule = {}
    for rule in args.rules:
        driven = [drive_through(home, levels, RULES[rule]) for home in homes]
        tallies = {level.name: [courses[level.name].tally for courses in driven] for level in levels}
        by_rule[rule] = results(args.homes, tallies)['by_noise']
    groups = {f'{level.name}, {rule}': by_rule[rule][level.name] for level in levels for rule in args.rules}
    print(object_table(groups).markdown())
    args.out.mkdir(parents=True, exist_ok=True)
    (args.out / 'results.json').write_text(
        json.dumps({'homes': args.homes, 'by_rule': by_rule}, indent=2) + '\n'
    )
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
