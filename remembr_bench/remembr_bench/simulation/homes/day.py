"""A day of a robot that tidies up a home: it looks round, then takes things from where they are elsewhere."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from remembr_bench.simulation.homes.catalogue import ON_FURNITURE
from remembr_bench.simulation.homes.home import Home, Impossible, Interaction, Item, Visit, name_of
from remembr_bench.simulation.homes.layout import START_NS, HomeMaking, round_through
from remembr_bench.simulation.homes.world import HomeWorld
from remembr_ros.errors import InvalidRequest
from remembr_ros.timestamps import NS

HANDLED = (2, 12)  # so many things are carried on a day
GRASP_S, PAUSE_S = (5.0, 60.0), (180.0, 2400.0)  # what a grasp takes, and before the next thing is fetched
SECLUDED, WANDERS = 0.6, 0.4  # days on which one room is not entered, and pauses with a look into a room
AGAIN = 0.15  # things that were carried before
TRIES = 40


@dataclass(frozen=True, slots=True)
class WorkDay:
    """What a robot did in a home on one day.

    :param home: its visits are the drives, in the order of time; between two of them the robot stood
    :param secluded: the room that it did not enter; empty: there is none
    """

    home: Home
    interactions: tuple[Interaction, ...]
    secluded: str = ''


def generate_day(seed: int) -> WorkDay:
    """Return the day of a seed: the same seed gives the same day.

    :raises InvalidRequest: the seed is negative
    :raises RemembrError: pyvista is not installed
    """
    if seed < 0:
        raise InvalidRequest(f'no day in home {seed}; give a seed from 0 on')
    return _Making(seed).day()


class _Making:
    """A day while it is made."""

    def __init__(self, seed: int) -> None:
        self._seed, self._rng = seed, random.Random(f'day {seed}')
        self._making = HomeMaking(random.Random(seed))
        rooms = self._making.rooms
        secluded = self._rng.randrange(4) if self._rng.random() < SECLUDED else None
        first = self._rng.randrange(4) if secluded is None else secluded + 1
        self._secluded = '' if secluded is None else rooms[secluded].name
        self._rooms = [rooms[(first + i) % 4] for i in range(4 if secluded is None else 3)]
        start = Visit(START_NS, dict(self._making.placed), round_through(self._rooms, self._rng))
        self._world = HomeWorld(self._making, seed, start, self._secluded)

    def day(self) -> WorkDay:
        """Return the whole day."""
        carried: list[Item] = []
        least, most = HANDLED
        rounds = self._rng.randint(least, most)
        while rounds > 0 or (
            len(carried) < least and rounds > -TRIES
        ):  # in some rounds nothing can be carried
            rounds -= 1
            pause_ns = round(self._rng.uniform(*PAUSE_S) * NS)
            if self._rng.random() < WANDERS:
                self._wander(pause_ns // 2)
            for item in self._some(carried):
                if self._carry(item, pause_ns):
                    carried.append(item)
                    break
        self._wander(round(self._rng.uniform(*PAUSE_S) * NS))
        return WorkDay(self._world.home(), tuple(self._world.done), self._secluded)

    def _wander(self, pause_ns: int) -> None:
        """Look round in the middle of a room."""
        room = self._rng.choice(self._rooms)
        middle = [(low + high) / 2 for low, high in zip(room.low, room.high, strict=True)]
        self._world.go(middle, turns=1, pause_ns=pause_ns)

    def _some(self, carried: Sequence[Item]) -> list[Item]:
        """Return what may be carried next, in any order: of things that look alike only one is, lest nobody
        can tell which one it was."""
        again = self._rng.random() < AGAIN
        names = set(map(name_of, carried))
        placed = [self._making.items[number - 1] for number in self._making.placed]
        candidates = [item for item in placed if item.kind == 'small' and item.label in ON_FURNITURE]
        candidates = [
            item for item in candidates if (item in carried if again else name_of(item) not in names)
        ]
        self._rng.shuffle(candidates)
        return candidates[:TRIES]

    def _carry(self, item: Item, pause_ns: int) -> bool:
        """Take a thing to another piece of furniture; return whether that can be done."""
        before = self._making.placed[item.number]
        others = {n for n, _ in self._making.surfaces if n not in (0, before.receptacle)}
        target, seconds = self._rng.choice(sorted(others)), lambda: self._rng.uniform(*GRASP_S)
        try:
            self._world.carry(item.number, target, seconds, pause_ns)
        except Impossible:
            return False
        return True
