"""A home with a robot in it, as it is now: where everything is, and what the robot can reach."""

import math

import numpy as np
from numpy.typing import NDArray

from remembr_bench.simulation.homes.catalogue import ON_FURNITURE
from remembr_bench.simulation.homes.home import Home, Impossible, Interaction, Item, Placement, Visit, name_of
from remembr_bench.simulation.homes.home_views import CAMERA, MOUNT, items_seen
from remembr_bench.simulation.homes.layout import HomeMaking, ground
from remembr_bench.simulation.homes.rounds import arrival
from remembr_bench.simulation.ways import Ways
from remembr_ros.geometry import Point, Pose
from remembr_ros.navigation.grid import Points

REACH_M = 0.85  # at most so far from the furniture the robot stands when it reaches for a thing
SLACK_M = 0.15  # by which it may stand off from where it was to stand
SEEN_PART = 0.0015  # of the pixels has to show what it reaches for
STEEPEST = 0.9  # tangent of the angle by which it looks down at that


class HomeState:
    """A home and where the robot in it is.

    :param making: the things, and where they are
    :param start: the first drive
    :param closed: the room that the robot does not enter; empty: there is none
    :ivar drives: in the order of time; between two of them the robot stands
    :ivar done: what it did to things
    """

    def __init__(self, making: HomeMaking, seed: int, start: Visit, closed: str = '') -> None:
        self.making, self._seed, self._closed = making, seed, closed
        self.drives = [start]
        self.done: list[Interaction] = []
        self.ways = Ways(ground(self.home(), start, closed))

    def home(self) -> Home:
        """Return the home with all drives so far."""
        return self.making.home(self._seed, self.drives)

    @property
    def now_ns(self) -> int:
        """When all is done that was done so far [ns since the Unix epoch]."""
        end_ns = arrival(self.drives[-1])[0]
        return max(end_ns, self.done[-1].end_ns) if self.done else end_ns

    @property
    def pose(self) -> Pose:
        """Where the robot is."""
        return arrival(self.drives[-1])[1]

    @property
    def room(self) -> str:
        """The name of the room that the robot is in; empty: it is in none."""
        return self.room_of(self.pose.x, self.pose.y)

    def room_of(self, x: float, y: float) -> str:
        return next((room.name for room in self.making.rooms if room.holds(x, y)), '')

    def item(self, number: int) -> Item:
        """Return the thing of a number.

        :raises Impossible: there is none
        """
        if not 0 < number <= len(self.making.items):
            raise Impossible(f'there is no thing {number} in this home')
        return self.making.items[number - 1]

    def called(self, number: int) -> str:
        """Return what a thing is called: with its room, and with what it is on."""
        at, name = self.making.placed.get(number), name_of(self.item(number))
        if at is None or self.item(number).kind == 'alive':
            return name
        on = f' on the {name_of(self.item(at.receptacle))}' if at.receptacle else ''
        return f'{name}{on} in the {self.room_of(*self.middle(number)[:2])}'

    def base(self, number: int) -> int:
        """Return the number of the furniture that a thing is on or in, at whatever remove; of furniture and
        what is on the floor its own."""
        while above := self.making.placed[number].receptacle:
            number = above
        return number

    def holds(self, number: int) -> list[int]:
        """Return the numbers of the things that are on or in a thing."""
        return [other for other, at in self.making.placed.items() if at.receptacle == number]

    def stand(self, number: int) -> tuple[float, float] | None:
        """Return where the robot stands to reach for a thing; None: nowhere can it."""
        x, y, z = self.middle(number)
        room = next((room for room in self.making.rooms if room.holds(x, y)), None)
        if room is None or room.name == self._closed:
            return None
        item = self.item(number)
        places = self.ways.places[self.ways.is_free]
        inside = [room.holds(*place) for place in places.tolist()]
        far = max(0.7, (MOUNT[2] - z) / STEEPEST + MOUNT[0]) if item.kind == 'small' else 0.0
        away = np.hypot(*(places - (x, y)).T)
        places = places[inside & (self._reach(number, places) <= REACH_M) & (away >= far)]
        places = places[np.isfinite(self.ways.metres(self.drives[0].corners[0], places))]
        places = places[np.argsort(np.hypot(*(places - (x, y)).T))]
        if item.kind != 'small':
            return (*places[0].tolist(),) if len(places) else None
        with items_seen(self.home(), Visit(0, dict(self.making.placed), ())) as items:
            for px, py in places[::8][:5].tolist():
                seen = items(Pose(px, py, 0.0, math.atan2(y - py, x - px))) == number
                if seen.sum() >= SEEN_PART * CAMERA.width * CAMERA.height:
                    return px, py
        return None

    def is_near(self, number: int) -> bool:
        """Tell whether the robot is near enough to reach for a thing."""
        x, y, _ = self.middle(number)
        reach = self._reach(number, np.array([(self.pose.x, self.pose.y)]))[0]
        return self.room_of(x, y) == self.room and bool(reach <= REACH_M + SLACK_M)

    def carries(self, number: int) -> bool:
        """Tell whether a thing is one that the robot can carry: what stands on the floor is too big."""
        return self.item(number).label in ON_FURNITURE

    def middle(self, number: int) -> Point:
        item, (x, y, z) = self.item(number), self.making.placed[number].origin
        if item.kind != 'furniture':
            return x, y, z
        low, high = self._box(number)
        return (*((low + high) / 2).tolist(), 0.0)

    def _box(self, number: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        origin = self.making.placed[number].origin[:2]
        solids = self.item(number).solids
        low = np.min([solid.low[:2] for solid in solids], axis=0) + origin
        return low, np.max([solid.high[:2] for solid in solids], axis=0) + origin

    def _is_over(self, number: int, spot: Placement) -> bool:
        (x0, y0), (x1, y1) = (side.tolist() for side in self._box(number))
        return x0 <= spot.origin[0] <= x1 and y0 <= spot.origin[1] <= y1 and spot.receptacle == number

    def _reach(self, number: int, places: Points) -> NDArray[np.float64]:
        """Return how far places are from the furniture that a thing is on [m]."""
        low, high = self._box(self.base(number))
        return np.asarray(np.hypot(*np.maximum(np.maximum(low - places, places - high), 0.0).T))
