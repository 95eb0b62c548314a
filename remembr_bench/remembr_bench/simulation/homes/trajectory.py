"""Long trajectories of a robot in a home, chained from sub-tasks (infinity-THOR, arXiv 2505.16928, A.2).

Each sub-task is simulated, and thrown away when it fails. Between two of them the robot goes its rounds until
the next one is due; in some rounds there is a thing that never was there before and never is again.
"""

import random
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations, product

from remembr_bench.simulation.homes.catalogue import ON_FLOOR, ON_FURNITURE, PAINTS
from remembr_bench.simulation.homes.day import WorkDay
from remembr_bench.simulation.homes.home import ACTIONS, MOVABLE, OPENS, Impossible, Item, Visit, name_of
from remembr_bench.simulation.homes.layout import START_NS, HomeMaking, round_through
from remembr_bench.simulation.homes.rounds import arrival
from remembr_bench.simulation.homes.world import HomeWorld
from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import NS

STEP_S = 3.0  # a step is what the robot does while it makes one caption
LEAST_STEPS = 150
MOST_TASKS, STEPS_PER_TASK = 40, 40  # of a trajectory; at least so many steps are for one
GRASP_S = (4.0, 12.0)
GUESTS = 0.7  # rounds with something new
AGAIN = 0.4  # things that were carried before
FIFTH = 0.2  # of the trajectory, of whose first and last the last sub-task is
MOST_ACTIONS = 2  # of a kind: so few can be asked for
TRIES = 12


@dataclass(frozen=True, slots=True)
class SubTask:
    """What the robot was up to.

    :param kind: pick_and_place, two_of_a_kind, into_movable, open_close, action or recall
    :param first: of its interactions, and the one after its last
    """

    kind: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Trajectory:
    """What a robot did.

    :param tasks: in the order of time
    :param guests: numbers of the things that were there during one round only
    """

    day: WorkDay
    tasks: tuple[SubTask, ...]
    guests: tuple[int, ...]


def generate_trajectory(seed: int, steps: int) -> Trajectory:
    """Return the trajectory of a seed, of so many steps or a few more: the same arguments give the same.

    :raises InvalidRequest: the seed is negative, or there are too few steps
    :raises RemembrError: pyvista is not installed
    """
    if seed < 0 or steps < LEAST_STEPS:
        raise InvalidRequest(
            f'no trajectory {seed} of {steps} steps; give a seed from 0, steps from {LEAST_STEPS} on'
        )
    return _Making(seed, steps).trajectory()


def other_looks(items: Iterable[Item]) -> list[tuple[str, str]]:
    """Return the labels and colours of things that are like none of these."""
    names = {name_of(item) for item in items}
    looks = ((label, colour) for label in (*ON_FURNITURE, *ON_FLOOR) if label != 'plant' for colour in PAINTS)
    return [(label, colour) for label, colour in looks if f'{colour} {label}' not in names]


class _Making:
    """A trajectory while it is made."""

    def __init__(self, seed: int, steps: int) -> None:
        self._rng, self._steps = random.Random(f'trajectory {seed} {steps}'), steps
        self._making = HomeMaking(random.Random(seed))
        # It looks round in one room only: of a short trajectory the first fifth has something to ask, too.
        start = Visit(START_NS, dict(self._making.placed), round_through(self._making.rooms[:1], self._rng))
        self._world = HomeWorld(self._making, seed, start)
        self._counted, self._taken = 0, 0
        self._tasks: list[SubTask] = []
        self._guests: list[int] = []
        self._kinds: dict[str, Callable[[], None]] = {
            'pick_and_place': self._pick_and_place,
            'two_of_a_kind': self._two_of_a_kind,
            'into_movable': self._into_movable,
            'open_close': self._open_close,
            'action': self._action,
        }

    def trajectory(self) -> Trajectory:
        """Return the whole trajectory."""
        number = min(MOST_TASKS, self._steps // STEPS_PER_TASK)
        kinds = list(self._kinds)
        for task in range(1, number):
            while self._done_steps() < self._steps * (task - 1) / number:
                self._round()
            for kind in [kinds[task % len(kinds)], *self._rng.sample(kinds, len(kinds))]:
                if self._tried(kind, self._kinds[kind]):
                    break
        while self._done_steps() < self._steps * (1.0 - 1.0 / number):
            self._round()
        while not self._tried('recall', self._recall):
            if not self._tried('pick_and_place', self._pick_and_place):  # one more thing of the last fifth
                break
        while self._done_steps() < self._steps:
            self._round()
        return Trajectory(
            WorkDay(self._world.home(), tuple(self._world.done)), tuple(self._tasks), tuple(self._guests)
        )

    def _done_steps(self) -> int:
        """Return how many steps the drives took; while it stands, the robot makes one caption."""
        for drive in self._world.drives[self._counted :]:
            self._taken += -(-(arrival(drive)[0] - drive.start_ns) // round(STEP_S * NS))
        self._counted = len(self._world.drives)
        return self._taken

    def _tried(self, kind: str, task: Callable[[], None]) -> bool:
        """Do a task; return whether it could be done. What cannot leaves no trace."""
        for _ in range(TRIES):
            first = len(self._world.done)
            try:
                with self._world.attempt():
                    task()
            except Impossible:
                continue
            self._tasks.append(SubTask(kind, first, len(self._world.done)))
            return True
        return False

    def _round(self) -> None:
        guest = None
        if self._rng.random() < GUESTS:
            looks = other_looks(self._making.items)
            guest = self._making.bring(*self._rng.choice(looks)) if looks else None
        first, way = self._rng.randrange(4), self._rng.choice((-1, 1))
        rooms = [self._making.rooms[(first + way * step) % 4] for step in range(4)]
        self._world.patrol(round_through(rooms, self._rng))
        if guest is not None:
            del self._making.placed[guest.number]
            self._guests.append(guest.number)

    def _seconds(self) -> float:
        return self._rng.uniform(*GRASP_S)

    def _small(self, *labels: str) -> list[int]:
        """Return the things of these labels, or of any, that have a name of their own, in any order; those
        that were carried before come first now and then."""
        names = [name_of(item) for item in self._making.items]
        found = [
            number
            for number in self._making.placed
            if (item := self._making.items[number - 1]).kind == 'small'
            and item.label in (labels or ON_FURNITURE)
            and names.count(name_of(item)) == 1
        ]
        self._rng.shuffle(found)
        carried = {deed.item for deed in self._world.done}
        again = self._rng.random() < AGAIN
        return sorted(found, key=lambda number: (number in carried) != again)

    def _furniture(self, number: int) -> int:
        """Return any furniture but the one that a thing is on."""
        own = self._world.base(number)
        return self._rng.choice(sorted({base for base, _ in self._making.surfaces if base not in (0, own)}))

    def _first(self, found: list[int]) -> int:
        if not found:
            raise Impossible('there is no such thing')
        return self._rng.choice(found[:3])

    def _pick_and_place(self) -> None:
        thing = self._first(self._small())
        self._world.carry(thing, self._furniture(thing), self._seconds)

    def _two_of_a_kind(self) -> None:
        by_label: defaultdict[str, list[int]] = defaultdict(list)
        for number in self._small():
            by_label[self._making.items[number - 1].label].append(number)
        pairs = [pair for alike in by_label.values() for pair in combinations(alike, 2)]
        if not pairs:
            raise Impossible('no two are of a kind')
        first, second = self._rng.choice(pairs)
        target = self._furniture(first)
        if target == self._world.base(second):
            raise Impossible('one of them is there already')
        for thing in (first, second):
            self._world.carry(thing, target, self._seconds)

    def _into_movable(self) -> None:
        carrier = self._first([number for number in self._small(*MOVABLE) if not self._world.holds(number)])
        fits = MOVABLE[self._making.items[carrier - 1].label]
        thing = self._first([number for number in self._small(*fits) if number != carrier])
        if self._world.base(thing) == thing or self._world.holds(thing):
            raise Impossible('it cannot be put into anything')
        self._world.carry(thing, carrier, self._seconds)
        self._world.carry(carrier, self._furniture(carrier), self._seconds)

    def _open_close(self) -> None:
        opens = [number for number in self._making.placed if self._making.items[number - 1].label in OPENS]
        number = self._first(opens)
        self._world.go_to(number)
        if number not in self._world.opened:
            self._world.act('open', number, self._seconds())
            if self._rng.random() < 0.5:
                return
        self._world.act('close', number, self._seconds())

    def _action(self) -> None:
        kind = self._rng.choice(list(ACTIONS))
        done = {deed.item for deed in self._world.done if deed.kind == kind}
        if len(done) == MOST_ACTIONS:
            raise Impossible(f'{kind} was done to enough things')
        number = self._first([number for number in self._small(*ACTIONS[kind]) if number not in done])
        self._world.go_to(number)
        self._world.act(kind, number, self._seconds())

    def _recall(self) -> None:
        """Put a thing of the first fifth to one of the last fifth."""
        world, start_ns = self._world, self._world.drives[0].start_ns
        fifth_ns = FIFTH * (world.now_ns - start_ns)
        deeds = [deed for deed in world.done if deed.item in self._making.placed]
        first = [deed.item for deed in deeds if deed.start_ns <= start_ns + fifth_ns]
        early = [number for number in first if world.carries(number)]
        late = [world.base(deed.item) for deed in deeds if deed.start_ns >= world.now_ns - fifth_ns]
        surfaces = {number for number, _ in self._making.surfaces}
        pairs = [(a, b) for a, b in product(early, late) if b in surfaces and b != world.base(a)]
        thing, target = self._rng.choice(pairs) if pairs else (0, 0)
        if not thing:
            raise Impossible('nothing of both ends can be put together')
        world.carry(thing, target, self._seconds)
