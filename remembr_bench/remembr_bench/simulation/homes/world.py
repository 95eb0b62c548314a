"""A home with a robot in it that drives, picks, places and acts. What cannot be done is refused, and changes
nothing."""

import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise

import numpy as np

from remembr_bench.simulation.homes.home import (
    ACTIONS,
    MOVABLE,
    OPENS,
    Act,
    Impossible,
    Interaction,
    Item,
    Placement,
    Visit,
    name_of,
)
from remembr_bench.simulation.homes.layout import HomeMaking
from remembr_bench.simulation.homes.state import HomeState
from remembr_ros.geometry import Point, Pose
from remembr_ros.timestamps import NS

OFF_M = 0.5  # at most so far from where it can stand a place is that it is sent to
_STEP_M = 0.05
_SUNK = 0.7  # of its height a movable receptacle's ground is up, that what is in it can be seen


class HomeWorld(HomeState):
    """A home while a robot is at work in it: what it does changes where things are.

    :ivar deeds: all that it did, for :meth:`redo`
    :ivar held: number of what it holds; 0: nothing
    :ivar opened: numbers of the furniture that is open
    """

    def __init__(self, making: HomeMaking, seed: int, start: Visit, closed: str = '') -> None:
        super().__init__(making, seed, start, closed)
        self.deeds: list[Act] = []
        self.held = 0
        self.opened: set[int] = set()
        self._inside: dict[int, Placement] = {}  # what is in the held thing, as offsets from it

    def go(
        self,
        goal: Sequence[float],
        towards: Sequence[float] | None = None,
        *,
        turns: int = 0,
        pause_ns: int = 0,
    ) -> None:
        """Drive somewhere after a pause, turn round there so often, and then towards something.

        :param goal: x and y [m]; so is towards
        :raises Impossible: no way leads there
        """
        pose = self.pose
        free = self.ways.places[self.ways.is_free]
        is_near = bool(np.hypot(*(free - np.array(goal[:2])).T).min() <= OFF_M)
        corners = [(x, y, 0) for x, y in self.ways.way((pose.x, pose.y), goal)] if is_near else []
        if not corners:
            raise Impossible(f'no way leads to {goal[0]:.2f}, {goal[1]:.2f}')
        corners[-1] = (*corners[-1][:2], turns)
        far = math.dist(corners[-1][:2], towards[:2]) if towards is not None else 0.0
        if towards is not None and far > 0.0:  # a step ahead, which turns it
            x, y, _ = corners[-1]
            step = [_STEP_M * (b - a) / far for a, b in zip((x, y), towards[:2], strict=True)]
            corners.append((x + step[0], y + step[1], 0))
        start_ns = self.now_ns + pause_ns
        self.deeds.append(Act('go', 0, tuple(goal[:2]), tuple(towards or ())[:2], turns))
        self.drives.append(Visit(start_ns, dict(self.making.placed), tuple(corners), pose.yaw))

    def patrol(self, corners: Sequence[tuple[float, float, int]]) -> None:
        """Drive to the first of some corners and by all of them, turning round so often at each."""
        pose, first = self.pose, corners[0]
        way = [(x, y, 0) for x, y in self.ways.way((pose.x, pose.y), first)[:-1]]
        self.drives.append(Visit(self.now_ns, dict(self.making.placed), (*way, *corners), pose.yaw))

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Undo all that was done within when some of it was impossible."""
        drives, done, deeds = len(self.drives), len(self.done), len(self.deeds)
        placed, opened = self.making.placed.copy(), self.opened
        try:
            yield
        except Impossible:
            del self.drives[drives:], self.done[done:], self.deeds[deeds:]
            self.making.placed, self.opened, self.held, self._inside = placed, opened, 0, {}
            raise

    def go_to(self, number: int, *, pause_ns: int = 0) -> None:
        """Drive to where a thing can be reached.

        :raises Impossible: it is nowhere, or nowhere can it be reached
        """
        self._placed(number)
        stand = self.stand(number)
        if stand is None:
            raise Impossible(f'nowhere can the robot reach for the {name_of(self.item(number))}')
        self.go(stand, self.middle(number), pause_ns=pause_ns)

    def go_into(self, room: str) -> None:
        """Drive to the middle of a room, or as near to it as can be.

        :raises Impossible: there is no such room, or no way leads there
        """
        place = next((place for place in self.making.rooms if place.name == room), None)
        if place is None:
            raise Impossible(f'there is no room {room!r}')
        self.go([(low + high) / 2 for low, high in zip(place.low, place.high, strict=True)])

    def pick(self, number: int, seconds: float = 10.0) -> None:
        """Take a thing; what is in it comes along.

        :raises Impossible: the hand is full, the thing is not near, or cannot be taken
        """
        item = self._at_hand(number)
        before = self.making.placed[number]
        if self.held:
            raise Impossible(f'the robot holds the {name_of(self.item(self.held))}; put it down first')
        if not self.carries(number):
            raise Impossible(f'the {name_of(item)} cannot be carried')
        self._did('pick', number, before.receptacle, seconds)
        inside = self.holds(number)
        for thing in inside:  # and what is in that
            inside += self.holds(thing)
        self._inside = {thing: _moved(self.making.placed[thing], before.origin, -1.0) for thing in inside}
        for thing in (number, *inside):
            del self.making.placed[thing]
        self.held = number
        self.deeds.append(Act('pick', number))

    def place(self, receptacle: int, spot: Placement | None = None, seconds: float = 10.0) -> None:
        """Put what is held on or into something.

        :param spot: where; None: anywhere on it that is free
        :raises Impossible: nothing is held, the receptacle is not near, or there is no room
        """
        if not self.held:
            raise Impossible('the robot holds nothing')
        item, target = self.item(self.held), self._at_hand(receptacle)
        spot = spot or self.spot(self.held, receptacle)
        if spot is None or not self.receives(receptacle) or not self._is_over(receptacle, spot):
            raise Impossible(f'there is no room for the {name_of(item)} on the {name_of(target)}')
        self.making.placed[self.held] = spot
        for thing, offset in self._inside.items():
            self.making.placed[thing] = _moved(offset, spot.origin, 1.0)
        self._did('place', self.held, receptacle, seconds)
        self.deeds.append(Act('place', receptacle, spot.origin))
        self.held, self._inside = 0, {}

    def carry(self, number: int, receptacle: int, seconds: Callable[[], float], pause_ns: int = 0) -> None:
        """Fetch a thing and put it on or into another.

        :param seconds: returns how long a grasp takes [s]
        :raises Impossible: that cannot be done; nothing is
        """
        placed = self.making.placed
        stand, before, spot = self.stand(number), placed[number], self.spot(number, receptacle)
        if stand is None or spot is None:
            raise Impossible(f'the robot cannot fetch the {name_of(self.item(number))}, or nothing is free')
        placed[number] = spot
        goal = self.stand(number)
        placed[number] = before
        if goal is None:
            raise Impossible(f'nowhere can the robot put the {name_of(self.item(number))} down')
        self.go(stand, before.origin, pause_ns=pause_ns)
        self.pick(number, seconds())
        self.go(goal, spot.origin)
        self.place(receptacle, spot, seconds())

    def receives(self, number: int) -> bool:
        """Tell whether what is held can be put on or into a thing, as far as its kind tells."""
        item = self.item(number)
        if item.kind == 'furniture':
            return any(surface == number for surface, _ in self.making.surfaces)
        return bool(self.held) and self.item(self.held).label in MOVABLE.get(item.label, ())

    def spot(self, number: int, receptacle: int) -> Placement | None:
        """Return a free place for a thing on or in another; None: there is none."""
        item, target = self.item(number), self.item(receptacle)
        if target.kind == 'furniture':
            return self.making.spot(item, receptacle) if self.receives(receptacle) else None
        if item.label not in MOVABLE.get(target.label, ()) or self.holds(receptacle) or self._inside:
            return None
        x, y, z = self.making.placed[receptacle].origin
        return Placement((x, y, z + _SUNK * target.size[2]), receptacle)

    def act(self, kind: str, number: int, seconds: float = 10.0) -> None:
        """Open or close furniture, or do one of ACTIONS to a thing.

        :raises Impossible: that cannot be done to it, or it is open or closed already, or not near
        """
        item = self._at_hand(number)
        if item.label not in (OPENS if kind in ('open', 'close') else ACTIONS.get(kind, ())):
            raise Impossible(f'nobody can {kind} the {name_of(item)}')
        if kind in ('open', 'close') and (number in self.opened) == (kind == 'open'):
            raise Impossible(f'the {name_of(item)} is {"open" if kind == "open" else "closed"} already')
        self._did(kind, number, self.making.placed[number].receptacle, seconds)
        if kind in ('open', 'close'):
            self.opened = self.opened ^ {number}
        self.deeds.append(Act(kind, number))

    def redo(self, deed: Act) -> None:
        """Do again what was done in such a home.

        :raises Impossible: that cannot be done
        """
        if deed.do == 'go':
            self.go(deed.at, deed.towards or None, turns=deed.turns)
        elif deed.do == 'pick':
            self.pick(deed.thing)
        elif deed.do == 'place':
            x, y, z = deed.at
            self.place(deed.thing, Placement((x, y, z), deed.thing))
        else:
            self.act(deed.do, deed.thing)

    def _did(self, kind: str, number: int, receptacle: int, seconds: float) -> None:
        drive, start_ns, pose = self.drives[-1], self.now_ns, self.pose
        travelled = 0.0
        if not self.done or self.done[-1].end_ns <= drive.start_ns:
            travelled = sum(math.dist(a[:2], b[:2]) for a, b in pairwise(drive.corners))
        room = self.room_of(*self.middle(receptacle or number)[:2])
        end_ns = start_ns + round(seconds * NS)
        self.done.append(Interaction(kind, number, receptacle, room, start_ns, end_ns, pose, travelled))

    def _placed(self, number: int) -> None:
        item = self.item(number)
        if number not in self.making.placed:
            raise Impossible(f'the {name_of(item)} is not there')

    def _at_hand(self, number: int) -> Item:
        self._placed(number)
        item = self.item(number)
        if not self.is_near(number):
            raise Impossible(f'the {name_of(item)} is not within reach; go there first')
        return item


def _moved(placement: Placement, by: Point, sign: float) -> Placement:
    x, y, z = (a + sign * b for a, b in zip(placement.origin, by, strict=True))
    return Placement((x, y, z), placement.receptacle)


def world_of(seed: int, placements: Mapping[int, Placement], start_ns: int, here: Pose) -> HomeWorld:
    """Return the world of a home with its things placed so, in which the robot stands here."""
    making = HomeMaking(random.Random(seed))
    making.placed = dict(placements)
    return HomeWorld(making, seed, Visit(start_ns, dict(placements), ((here.x, here.y, 0),), here.yaw))
