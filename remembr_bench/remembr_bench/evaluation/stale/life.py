"""Days in a home in which people and the robot carry things about, and what the robot remembers of it."""

import random
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace

from remembr_bench.evaluation.findingdory.episode import relive
from remembr_bench.evaluation.objects.run import LEVELS
from remembr_bench.simulation.homes.day import GRASP_S, WorkDay
from remembr_bench.simulation.homes.home import Impossible, Item, Placement, Visit, centre_of, name_of
from remembr_bench.simulation.homes.layout import START_NS, HomeMaking, round_through
from remembr_bench.simulation.homes.world import HomeWorld
from remembr_ros.geometry import Point, Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.notes import note
from remembr_ros.timestamps import NS

DAYS, DAY_NS, HOUR_NS = 4, 24 * 3600 * NS, 3600 * NS
CARRIED = 4  # things by the robot on a day
AGAIN = 0.4  # of the things that were moved before, people move so many on a night
TOLD = 0.5  # of what people did they tell so much
RATE_HZ, FRAMES = 1.0, 3  # of the camera, and of a caption

_Move = tuple[int, int, Placement | None]


@dataclass(frozen=True, slots=True)
class Stay:
    """A time in which a thing was at one place.

    :param place: middle of the thing [m]; None: somebody took it away
    :param to_ns: when it left [ns]; of the last stay the end of the life
    """

    place: Point | None
    from_ns: int
    to_ns: int

    def holds(self, ns: int) -> bool:
        return self.from_ns <= ns <= self.to_ns


@dataclass(frozen=True, slots=True)
class HomeLife:
    """What happened, and what is remembered.

    :param stays: of each thing that looks like no other its stays in the order of time, by its number
    :param memories: captions, objects, deeds, notes and rooms
    :param now_ns: when it is over
    """

    items: Mapping[int, Item]
    stays: Mapping[int, tuple[Stay, ...]]
    memories: tuple[Memory, ...]
    now_ns: int


def live_days(seed: int) -> HomeLife:
    """Return the life of a home: every morning the robot looks round and tidies up, every night people do.

    :raises RemembrError: pyvista is not installed
    """
    making = _LifeMaking(seed)
    for day in range(DAYS):
        making.morning(day)
        making.night(START_NS + (day + 1) * DAY_NS - 8 * HOUR_NS)
    return making.life(START_NS + DAYS * DAY_NS)


class _LifeMaking:
    """A life while it is made."""

    def __init__(self, seed: int) -> None:
        self._rng, self._making = random.Random(f'life {seed}'), HomeMaking(random.Random(seed))
        start = Visit(START_NS, dict(self._making.placed), self._round())
        self._world = HomeWorld(self._making, seed, start)
        self._notes: list[Memory] = []
        # Of each thing where it came to, and between which times it was on its way there.
        self._moves: dict[int, list[_Move]] = {
            number: [(START_NS, START_NS, at)] for number, at in self._making.placed.items()
        }

    def morning(self, day: int) -> None:
        """Drive round, then carry things to other furniture, first some that were moved before."""
        world, placed = self._world, self._making.placed
        if day:
            world.drives.append(Visit(START_NS + day * DAY_NS, dict(placed), self._round()))
        small = [number for number in placed if self._is_small(number) and world.carries(number)]
        self._rng.shuffle(small)
        small.sort(key=lambda number: len(self._moves[number]) == 1)
        least = len(world.done) + 2 * CARRIED
        for number in [*small[: CARRIED // 2], *reversed(small)]:
            others = sorted({n for n, _ in self._making.surfaces if n not in (0, placed[number].receptacle)})
            with suppress(Impossible):
                world.carry(number, self._rng.choice(others), lambda: self._rng.uniform(*GRASP_S), 60 * NS)
                pick, put = world.done[-2:]
                self._moves[number].append((pick.end_ns, put.start_ns, placed[number]))
            if len(world.done) >= least:
                return

    def night(self, ns: int) -> None:
        """Let people move, take away and bring things, and tell some of it in the morning."""
        placed, before = self._making.placed, dict(self._making.placed)
        self._making.change()
        for number in [n for n in placed if placed[n] == before.get(n) and len(self._moves[n]) > 1]:
            if self._is_small(number) and self._rng.random() < AGAIN:
                placed[number] = self._making.spot(self._making.items[number - 1]) or placed[number]
        for number in sorted(before.keys() | placed.keys()):
            at = placed.get(number)
            if at != before.get(number):
                self._moves.setdefault(number, []).append((ns, ns, at))
                if self._is_small(number) and self._rng.random() < TOLD:
                    self._tell(number, at, ns + 7 * HOUR_NS + len(self._notes) * NS)

    def life(self, now_ns: int) -> HomeLife:
        home = self._world.home()
        episode = relive(WorkDay(home, tuple(self._world.done)), LEVELS[0], rate_hz=RATE_HZ, frames=FRAMES)
        episode.simulator.close()
        looks = Counter((item.label, item.colour) for item in home.items)
        alone = {
            item.number: item
            for item in home.items
            if self._is_small(item.number) and looks[item.label, item.colour] == 1
        }
        stays = {}
        for number, item in alone.items():
            ends_ns = [*(leaves_ns for leaves_ns, _, _ in self._moves[number][1:]), now_ns]
            stays[number] = tuple(
                Stay(None if at is None else centre_of(item, at), from_ns, to_ns)
                for (_, from_ns, at), to_ns in zip(self._moves[number], ends_ns, strict=True)
            )
        # Between two drives the robot is switched off.
        lasts_ns = round(FRAMES / RATE_HZ * NS)
        seen = [
            replace(memory, end_ns=min(memory.end_ns, memory.start_ns + lasts_ns))
            if memory.source == 'captioner'
            else memory
            for memory in episode.memories
        ]
        return HomeLife(alone, stays, (*seen, *self._notes), now_ns)

    def _round(self) -> tuple[tuple[float, float, int], ...]:
        rooms, first = self._making.rooms, self._rng.randrange(4)
        return round_through([rooms[(first + step) % 4] for step in range(4)], self._rng)

    def _is_small(self, number: int) -> bool:
        item = self._making.items[number - 1]
        return item.kind == 'small' and item.label != 'plant'

    def _tell(self, number: int, at: Placement | None, ns: int) -> None:
        name, pose = name_of(self._making.items[number - 1]), None
        text = f'I took the {name} away.'
        if at is not None:
            pose = Pose(*centre_of(self._making.items[number - 1], at))
            on = name_of(self._making.items[at.receptacle - 1]) if at.receptacle else 'floor'
            text = f'The {name} is on the {on} in the {self._world.room_of(pose.x, pose.y)} now.'
        self._notes.append(note(text, 'robot', ns, existing=lambda _: None, pose=pose))
