"""A day of a robot that tidies up a home: it looks round, then takes things from where they are elsewhere."""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.simulation.homes.catalogue import ON_FURNITURE
from remembr_ros.simulation.homes.ground import ground
from remembr_ros.simulation.homes.home import Home, Item, Visit, name_of
from remembr_ros.simulation.homes.layout import START_NS, HomeMaking, round_through
from remembr_ros.simulation.homes.renderer import CAMERA, MOUNT, scene
from remembr_ros.simulation.homes.rounds import arrival
from remembr_ros.simulation.ways import Ways
from remembr_ros.timestamps import NS

HANDLED = (2, 12)  # so many things are carried on a day
REACH_M = 0.85  # at most so far from the furniture the robot stands when it reaches for a thing
SEEN_PART = 0.0015  # of the pixels has to show what it reaches for
STEEPEST = 0.9  # tangent of the angle by which it looks down at that
GRASP_S, PAUSE_S = (5.0, 60.0), (180.0, 2400.0)  # what a grasp takes, and before the next thing is fetched
SECLUDED, WANDERS = 0.6, 0.4  # days on which one room is not entered, and pauses with a look into a room
AGAIN = 0.15  # things that were carried before
TRIES = 40
_STEP_M = 0.05


@dataclass(frozen=True, slots=True)
class Interaction:
    """The robot picked a thing from a piece of furniture, or put one there.

    :param item: number of the thing; receptacle: of the furniture
    :param start_ns: nanoseconds since the Unix epoch
    :param pose: of the robot meanwhile
    :param travelled: way to there, from where the robot stood before [m]
    """

    kind: Literal['pick', 'place']
    item: int
    receptacle: int
    room: str
    start_ns: int
    end_ns: int
    pose: Pose
    travelled: float


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
    :raises RemembrError: the extra simulation is not installed
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
        round_ = round_through(self._rooms, self._rng)
        self._drives = [Visit(START_NS, dict(self._making.placed), round_)]
        self._ways = Ways(ground(self._home(), self._drives[0], self._secluded))
        self._done: list[Interaction] = []

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
        return WorkDay(self._home(), tuple(self._done), self._secluded)

    def _wander(self, pause_ns: int) -> None:
        """Look round in the middle of a room."""
        room = self._rng.choice(self._rooms)
        middle = [(low + high) / 2 for low, high in zip(room.low, room.high, strict=True)]
        self._drive(pause_ns, middle, turns=1)

    def _home(self) -> Home:
        return self._making.home(self._seed, self._drives)

    def _some(self, carried: Sequence[Item]) -> list[Item]:
        """Return what may be carried next, in any order: of things that look alike only one is, lest nobody
        can tell which one it was."""
        again = self._rng.random() < AGAIN
        names = set(map(name_of, carried))
        there = [self._making.items[number - 1] for number in self._making.placed]
        some = [item for item in there if item.kind == 'small' and item.label in ON_FURNITURE]
        some = [item for item in some if (item in carried if again else name_of(item) not in names)]
        self._rng.shuffle(some)
        return some[:TRIES]

    def _carry(self, item: Item, pause_ns: int) -> bool:
        """Take a thing to another piece of furniture; return whether that can be done."""
        making = self._making
        before = making.placed[item.number]
        stand = self._stand(item)
        others = {n for n, _ in making.surfaces if n not in (0, before.receptacle)}
        target = making.spot(item, self._rng.choice(sorted(others)))
        if stand is None or target is None:
            return False
        making.placed[item.number] = target
        there = self._stand(item)
        making.placed[item.number] = before
        if there is None:
            return False
        self._drive(pause_ns, stand[0], towards=before.origin)
        self._interact('pick', item, before.receptacle, stand[1])
        del making.placed[item.number]
        self._drive(0, there[0], towards=target.origin)
        making.placed[item.number] = target
        self._interact('place', item, target.receptacle, there[1])
        return True

    def _stand(self, item: Item) -> tuple[tuple[float, float], str] | None:
        """Return where the robot stands to reach for a thing that is on furniture, and in which room; None:
        nowhere can it."""
        placement = self._making.placed[item.number]
        x, y, z = placement.origin
        room = next((room for room in self._rooms if room.holds(x, y)), None)
        if room is None or not placement.receptacle:
            return None
        solids = self._making.items[placement.receptacle - 1].solids
        low = np.min([solid.low[:2] for solid in solids], axis=0)
        high = np.max([solid.high[:2] for solid in solids], axis=0)
        places = self._ways.places[self._ways.is_free]
        inside = [room.holds(*place) for place in places.tolist()]
        reach = np.hypot(*np.maximum(np.maximum(low - places, places - high), 0.0).T)
        away = np.hypot(*(places - (x, y)).T)
        far = max(0.7, (MOUNT[2] - z) / STEEPEST + MOUNT[0])
        places = places[inside & (reach <= REACH_M) & (away >= far)]
        places = places[np.isfinite(self._ways.metres(self._drives[0].corners[0], places))]
        nearest = places[np.argsort(np.hypot(*(places - (x, y)).T))[::8][:5]]
        with scene(self._home(), Visit(0, dict(self._making.placed), ())) as shoot:
            for px, py in nearest.tolist():
                frame = shoot(0, Pose(px, py, 0.0, math.atan2(y - py, x - px)))
                if (frame.instances == item.number).sum() >= SEEN_PART * CAMERA.width * CAMERA.height:
                    return (px, py), room.name
        return None

    def _drive(
        self, pause_ns: int, goal: Sequence[float], towards: Sequence[float] | None = None, turns: int = 0
    ) -> None:
        """Drive somewhere after a pause, turn round there so often, and then towards something."""
        end_ns, pose = arrival(self._drives[-1])
        if self._done and self._done[-1].end_ns > end_ns:
            end_ns = self._done[-1].end_ns
        corners = [(x, y, 0) for x, y in self._ways.way((pose.x, pose.y), goal)]
        corners[-1] = (*corners[-1][:2], turns)
        if towards is not None:  # a step ahead, which turns it
            (x, y, _), far = corners[-1], math.dist(corners[-1][:2], towards[:2])
            step = [_STEP_M * (b - a) / far for a, b in zip((x, y), towards[:2], strict=True)]
            corners.append((x + step[0], y + step[1], 0))
        self._drives.append(Visit(end_ns + pause_ns, dict(self._making.placed), tuple(corners), pose.yaw))

    def _interact(self, kind: Literal['pick', 'place'], item: Item, receptacle: int, room: str) -> None:
        drive = self._drives[-1]
        start_ns, pose = arrival(drive)
        end_ns = start_ns + round(self._rng.uniform(*GRASP_S) * NS)
        travelled = sum(math.dist(a[:2], b[:2]) for a, b in pairwise(drive.corners))
        done = Interaction(kind, item.number, receptacle, room, start_ns, end_ns, pose, travelled)
        self._done.append(done)
