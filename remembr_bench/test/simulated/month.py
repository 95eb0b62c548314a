"""A month of three porters in a hospital, as memories, with what is true. A seed decides everything."""

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, timezone
from itertools import pairwise

from remembr_ros.geometry import Point, Pose
from remembr_ros.memory.model.record import PERSON, Memory, memory_id
from remembr_ros.timestamps import NS
from test.simulated.hospital import (
    BESIDE,
    CORRIDOR_Y,
    CORRIDORS,
    NOTES,
    PASSED,
    PEOPLE,
    PLACES,
    ROUNDS,
    THINGS,
    Note,
    Place,
)

MEMORIES = 30_067
DAYS = 30
FIRST = datetime(2026, 11, 1, tzinfo=timezone.utc)
STARTS_H = 7
"""Hour of the day [UTC] at which the robots set out; every hour they go somewhere else."""

DRIVING_NS = 3 * NS
PARKED_NS = 60 * NS
STEP_M = 2.0
NOISE_M = 0.05
STAY = (8, 30)
"""Fewest and most memories of a stay."""

CHARGES_EVERY = 4
NOTICED = 0.85
"""Chance that a caption names a thing which is there."""
PERSON_SHARE = 0.15
MISREAD = 0.03
UNREAD = 0.15

_PLACES = {place.name: place for place in PLACES}


@dataclass(frozen=True, slots=True)
class Stay:
    """One robot at one place without a break.

    :param memories: their ids, in the order of time
    """

    robot: str
    place: Place
    memories: tuple[str, ...]
    start_ns: int
    end_ns: int

    @property
    def day(self) -> date:
        return datetime.fromtimestamp(self.start_ns / NS, timezone.utc).date()


@dataclass(frozen=True, slots=True)
class Month:
    """What the robots remember, and what is true about it.

    :param memories: in the order of time
    :param stays: in the order of time
    :param naming: ids of the memories that name each thing of THINGS, in the order of time
    """

    memories: tuple[Memory, ...]
    stays: tuple[Stay, ...]
    naming: dict[str, tuple[str, ...]]

    def stays_with(self, thing: str) -> tuple[Stay, ...]:
        """Return the stays of which a memory names a thing, in the order of time."""
        named = set(self.naming[thing])
        return tuple(stay for stay in self.stays if not named.isdisjoint(stay.memories))

    def days_of(self, thing: str) -> tuple[date, ...]:
        """Return the days on which a thing was seen."""
        return tuple(dict.fromkeys(stay.day for stay in self.stays_with(thing)))


def month(seed: int = 0, memories: int = MEMORIES, days: int = DAYS) -> Month:
    """Return a month.

    :param memories: of all robots together, notes included
    :param days: from FIRST on; notes of later days are left out
    """
    rng = random.Random(seed)
    notes = [note for note in NOTES if note.day <= days]
    turns = [(day, robot) for day in range(1, days + 1) for robot in ROUNDS]
    seen = memories - len(notes)
    robots = {name: _Robot(name, random.Random(rng.random())) for name in ROUNDS}
    for turn, (day, name) in enumerate(turns):
        robots[name].work(day, seen * (turn + 1) // len(turns) - seen * turn // len(turns))
    made = [memory for robot in robots.values() for memory in robot.memories] + list(map(_note, notes))
    made.sort(key=lambda memory: (memory.start_ns, memory.robot))
    stays = sorted((stay for robot in robots.values() for stay in robot.stays), key=lambda s: s.start_ns)
    named = {name: {i for robot in robots.values() for i in robot.naming[name]} for name in _things()}
    naming = {name: tuple(memory.id for memory in made if memory.id in ids) for name, ids in named.items()}
    return Month(tuple(made), tuple(stays), naming)


class _Robot:
    def __init__(self, name: str, rng: random.Random) -> None:
        self._name = name
        self._rng = rng
        self._at = _PLACES[ROUNDS[name][0]]
        self._ns = 0
        self._day = 0
        self.memories: list[Memory] = []
        self.stays: list[Stay] = []
        self.naming: dict[str, list[str]] = {name: [] for name in _things()}

    def work(self, day: int, count: int) -> None:
        """Remember so much of a day: drive, stay, drive on; every fourth time, charge."""
        self._day = day
        dawn = round(FIRST.timestamp()) * NS + ((day - 1) * 24 + STARTS_H) * 3600 * NS
        dock, *places = ROUNDS[self._name]
        left, hour = count, 0
        while left:
            self._ns = max(dawn + hour * 3600 * NS + self._rng.randrange(600) * NS, self._ns)
            choice = [name for name in places if name != self._at.name]
            goal = _PLACES[dock if hour % CHARGES_EVERY == CHARGES_EVERY - 1 else self._rng.choice(choice)]
            left = self._stay(goal, self._drive(goal, left))
            hour += 1

    def _drive(self, goal: Place, left: int) -> int:
        for map_id, at, yaw in _route(self._at, goal)[:left]:
            sentence, signs = PASSED.get((map_id, int(at[0] // STEP_M)), ('', ()))
            parts = [self._rng.choice(CORRIDORS[map_id]), sentence, self._somebody()]
            self._remember(parts, signs, map_id, Pose(*at, yaw), DRIVING_NS)
            left -= 1
        self._at = goal
        return left

    def _stay(self, place: Place, left: int) -> int:
        rng = self._rng
        there = [thing for thing in THINGS if thing.place(self._day) == place.name]
        yaw, ids = rng.uniform(-3.0, 3.0), []
        count, opening = min(rng.randint(*STAY), left), rng.choice(place.openings)
        start_ns = self._ns
        for _ in range(count):
            details = rng.sample(place.details, min(2, len(place.details)))
            noticed = [thing for thing in there if rng.random() < NOTICED]
            told = [thing.sentence.format(BESIDE[place.name]) for thing in noticed]
            parts = [opening, *sorted(details), *told, self._somebody()]
            ids.append(self._remember(parts, place.signs, place.map_id, Pose(*place.at, yaw), PARKED_NS))
            for thing in noticed:
                self.naming[thing.name].append(ids[-1])
        if ids:
            self.stays.append(Stay(self._name, place, tuple(ids), start_ns, self.memories[-1].end_ns))
        return left - count

    def _somebody(self) -> str:
        return self._rng.choice(PEOPLE) if self._rng.random() < PERSON_SHARE else ''

    def _remember(
        self, parts: list[str], signs: tuple[str, ...], map_id: str, at: Pose, length_ns: int
    ) -> str:
        rng = self._rng
        memory = Memory(
            id=memory_id(self._name, 'captioner', self._ns),
            robot=self._name,
            start_ns=self._ns,
            end_ns=self._ns + length_ns - NS // 5,
            caption=' '.join(filter(None, parts)),
            pose=replace(at, x=rng.gauss(at.x, NOISE_M), y=rng.gauss(at.y, NOISE_M)),
            map_id=map_id,
            travelled=STEP_M if length_ns == DRIVING_NS else 0.0,
            scene_text=tuple(_read(signs, rng)),
            captioner='simulated',
        )
        self.memories.append(memory)
        self._ns += length_ns
        return memory.id


def _route(start: Place, goal: Place) -> list[tuple[str, Point, float]]:
    """Return poses every STEP_M along the corridors, without the goal: map, point, yaw [rad]."""
    if start.map_id == goal.map_id:
        return _along(start.map_id, start.at, goal.at)
    lift = _PLACES['lift'].at
    return [*_along(start.map_id, start.at, lift), *_along(goal.map_id, lift, goal.at)]


def _along(map_id: str, start: Point, goal: Point) -> list[tuple[str, Point, float]]:
    corners = [start, (start[0], CORRIDOR_Y, 0.0), (goal[0], CORRIDOR_Y, 0.0), goal]
    poses = []
    for a, b in pairwise(corners):
        steps = math.ceil(math.dist(a, b) / STEP_M)
        yaw = math.atan2(b[1] - a[1], b[0] - a[0])
        for step in range(steps):
            share = step / steps
            poses.append((map_id, (a[0] + share * (b[0] - a[0]), a[1] + share * (b[1] - a[1]), 0.0), yaw))
    return poses


def _read(signs: tuple[str, ...], rng: random.Random) -> Iterator[str]:
    for text in signs:
        chance = rng.random()
        if chance >= UNREAD:
            yield text.replace('O', '0', 1) if chance < UNREAD + MISREAD else text


def _note(note: Note) -> Memory:
    place, start = _PLACES[note.place], FIRST + timedelta(days=note.day - 1, hours=note.hour)
    ns = round(start.timestamp()) * NS
    return Memory(
        id=memory_id(note.robot, PERSON, ns),
        robot=note.robot,
        start_ns=ns,
        end_ns=ns,
        caption=note.text,
        pose=Pose(*place.at),
        map_id=place.map_id,
        source=PERSON,
    )


def _things() -> list[str]:
    return [thing.name for thing in THINGS]
