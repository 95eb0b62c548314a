"""What a home consists of and what a robot can do in it. Metres in the map frame, z up from the floor."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from remembr_bench.simulation.building import Place, Solid, middle_and_size
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, Pose

SHOWN_PX = 20  # an item of fewer pixels cannot be told

Shown = Sequence[NDArray[np.int64]]
"""Of each visit, how many frames show each item, by its number."""


@dataclass(frozen=True, slots=True)
class Item:
    """A thing that a detector can find.

    :param number: from 1 on; the masks have it
    :param label: what a detector calls it
    :param colour: plain name; what has another one's label and colour cannot be told from it
    :param kind: stays for ever; is moved and taken away by people; goes where it wants
    :param solids: what it is made of; of what is moved, around the middle of its bottom at the origin
    """

    number: int
    label: str
    colour: str
    kind: Literal['furniture', 'small', 'alive']
    solids: tuple[Solid, ...]

    @property
    def size(self) -> Point:
        """Of the box around it [m]."""
        return middle_and_size(self.solids)[1]


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an item is during a visit.

    :param origin: where the origin of its solids is
    :param receptacle: number of the item that it stands on or in; 0: the floor
    """

    origin: Point
    receptacle: int = 0


@dataclass(frozen=True, slots=True)
class Visit:
    """One round of the robot, during which nothing changes.

    :param start_ns: when it begins, nanoseconds since the Unix epoch
    :param placements: of all that is there, by number
    :param corners: x and y where the robot stands and how often it turns round there: 0 in a door
    :param yaw: of the robot when it begins [rad]
    """

    start_ns: int
    placements: Mapping[int, Placement]
    corners: tuple[tuple[float, float, int], ...]
    yaw: float = 0.0


@dataclass(frozen=True, slots=True)
class Home:
    """A flat, and the visits that a robot pays to it.

    :param size: extent along x and y [m]; one corner is at the origin
    """

    seed: int
    size: tuple[float, float]
    rooms: tuple[Place, ...]
    walls: tuple[Solid, ...]
    items: tuple[Item, ...]
    visits: tuple[Visit, ...]

    def solids(self, visit: Visit) -> Iterator[tuple[int, Solid]]:
        """Yield all that is there during a visit, each with its item's number; 0: the home itself."""
        for wall in self.walls:
            yield 0, wall
        for number, placement in visit.placements.items():
            x, y, z = placement.origin
            for solid in self.items[number - 1].solids:
                (x0, y0, z0), (x1, y1, z1) = solid.low, solid.high
                low, high = (x0 + x, y0 + y, z0 + z), (x1 + x, y1 + y, z1 + z)
                yield number, Solid(low, high, solid.colour, solid.shape)


def name_of(item: Item) -> str:
    """Return what tells an item from others; of a plant the pot alone has its colour."""
    return item.label if item.label == 'plant' else f'{item.colour} {item.label}'.strip()


def centre_of(item: Item, placement: Placement) -> Point:
    """Return the middle of an item's box [m]."""
    x, y, z = (a + b for a, b in zip(placement.origin, middle_and_size(item.solids)[0], strict=True))
    return (x, y, z)


OPENS = ('fridge', 'drawer')
MOVABLE = {'box': ('cup', 'bowl', 'book', 'apple', 'clock', 'candle'), 'bowl': ('apple', 'candle')}
"""What can be carried with other things in it, and what fits in."""
ACTIONS = {
    'slice': ('apple',),
    'light': ('candle',),
    'water': ('plant',),
    'fill': ('cup', 'bottle', 'vase'),
    'switch on': ('toaster', 'laptop', 'lamp'),
}
"""What else the robot does to what."""


class Impossible(InvalidRequest):
    """What the robot was to do cannot be done there and then."""


@dataclass(frozen=True, slots=True)
class Interaction:
    """The robot did something to a thing.

    :param kind: pick, place, open, close, or one of ACTIONS
    :param item: number of the thing
    :param receptacle: number of what it was taken from, or put on or into, or stands on; 0: there is none
    :param start_ns: nanoseconds since the Unix epoch
    :param pose: of the robot meanwhile
    :param travelled: way to there, from where the robot stood before [m]
    """

    kind: str
    item: int
    receptacle: int
    room: str
    start_ns: int
    end_ns: int
    pose: Pose
    travelled: float


@dataclass(frozen=True, slots=True)
class Act:
    """Something that the robot did, as it can be done again.

    :param do: go, pick, place, open, close, or one of ACTIONS
    :param thing: its number; of place, that of what something was put on or into; of go 0
    :param at: of go where to, x and y; of place where it was put, x, y and z [m]
    :param towards: what it turned to after a drive
    :param turns: how often it turned round then
    """

    do: str
    thing: int = 0
    at: tuple[float, ...] = ()
    towards: tuple[float, ...] = ()
    turns: int = 0
