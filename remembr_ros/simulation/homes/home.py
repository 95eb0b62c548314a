"""What a home consists of. Metres in the map frame, z up from the floor."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from remembr_ros.geometry import Point
from remembr_ros.simulation.building import Place, Solid

Kind = Literal['furniture', 'small', 'alive']
"""What stays for ever; what people move and take away; what goes where it wants."""


@dataclass(frozen=True, slots=True)
class Item:
    """A thing that a detector can find.

    :param number: from 1 on; the masks have it
    :param label: what a detector calls it
    :param colour: plain name
    :param solids: what it is made of, around the middle of its bottom at the origin
    """

    number: int
    label: str
    colour: str
    kind: Kind
    solids: tuple[Solid, ...]

    @property
    def size(self) -> Point:
        """Of the box around it [m]."""
        low = [min(solid.low[i] for solid in self.solids) for i in range(3)]
        high = [max(solid.high[i] for solid in self.solids) for i in range(3)]
        return (high[0] - low[0], high[1] - low[1], high[2] - low[2])

    @property
    def look(self) -> tuple[str, str]:
        """What things that nobody can tell from each other have in common."""
        return (self.label, self.colour)


@dataclass(frozen=True, slots=True)
class Surface:
    """Where things can be put: a rectangle.

    :param receptacle: number of the item that it is a part of; 0: the floor
    :param z: height [m]
    :param headroom_m: up to the next board
    """

    receptacle: int
    low: tuple[float, float]
    high: tuple[float, float]
    z: float
    headroom_m: float = 1.0


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an item is during a visit.

    :param bottom: the middle of its bottom
    :param receptacle: number of the item that it stands on or in; 0: the floor
    """

    bottom: Point
    receptacle: int = 0


@dataclass(frozen=True, slots=True)
class Visit:
    """One round of the robot, during which nothing changes.

    :param start_ns: when it begins, nanoseconds since the Unix epoch
    :param placements: of all that is there, by number
    :param corners: where the robot stands and looks around, and the doors between, in their order; of a door
        the third number is 0, else that of full turns
    """

    start_ns: int
    placements: Mapping[int, Placement]
    corners: tuple[tuple[float, float, int], ...]


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

    def room_at(self, x: float, y: float) -> str:
        """Return the name of the room at a point; '' outside."""
        return next((room.name for room in self.rooms if room.holds(x, y)), '')

    def solids(self, visit: Visit) -> Iterator[tuple[int, Solid]]:
        """Yield all that is there during a visit, each with its item's number; 0: the home itself."""
        for wall in self.walls:
            yield 0, wall
        for number, placement in visit.placements.items():
            x, y, z = placement.bottom
            for solid in self.items[number - 1].solids:
                (x0, y0, z0), (x1, y1, z1) = solid.low, solid.high
                low, high = (x0 + x, y0 + y, z0 + z), (x1 + x, y1 + y, z1 + z)
                yield number, Solid(low, high, solid.colour, solid.shape)


def centre_of(item: Item, placement: Placement) -> Point:
    """Return the middle of an item's box [m]."""
    x, y, z = placement.bottom
    return (x, y, z + item.size[2] / 2.0)
