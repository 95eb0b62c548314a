"""What a building consists of. All is axis-aligned, in metres in the map frame, z up from the floor."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

import numpy as np

from remembr_ros.geometry import Point, wrap_angle

Colour = tuple[int, int, int]
"""Red, green, blue, 0 to 255."""

Shape = Literal['box', 'cylinder', 'ball']

WALL_HEIGHT_M = 2.8
HALF_WALL_M = 0.075
LETTER_ASPECT = 0.86  # mean advance of a letter on a sign, as a part of the letters' height


@dataclass(frozen=True, slots=True)
class Solid:
    """A simple body, given by the box around it.

    :param low: the corner with the smallest coordinates
    :param high: the corner with the largest ones
    :param shape: what fills the box; a cylinder stands upright
    """

    low: Point
    high: Point
    colour: Colour
    shape: Shape = 'box'


def middle_and_size(solids: Sequence[Solid]) -> tuple[Point, Point]:
    """Return the middle of the box around solids, and its sides."""
    low, high = np.min([s.low for s in solids], axis=0), np.max([s.high for s in solids], axis=0)
    (x, y, z), (wide, deep, tall) = ((low + high) / 2).tolist(), (high - low).tolist()
    return (x, y, z), (wide, deep, tall)


@dataclass(frozen=True, slots=True)
class SignPanel:
    """A panel with one line of text.

    :param text: in capitals
    :param place: name of the place where it hangs
    :param centre: of the panel
    :param yaw: which way the front faces [rad], a multiple of pi/2
    :param letter_height_m: height of the capitals
    :param two_sided: a flag sign, with the text on both faces; otherwise it hangs flat on a wall
    """

    text: str
    place: str
    centre: Point
    yaw: float
    letter_height_m: float
    paper: Colour
    ink: Colour
    two_sided: bool = False

    @property
    def width_m(self) -> float:
        return sign_width(self.text, self.letter_height_m)

    @property
    def height_m(self) -> float:
        return 1.75 * self.letter_height_m

    @property
    def normal(self) -> tuple[float, float]:
        """Which way the front faces, a unit vector in the plane."""
        return (round(math.cos(self.yaw), 9), round(math.sin(self.yaw), 9))

    def point(self, across: float, up: float, out_m: float = 0.0) -> Point:
        """Return a point of the front: across and up from -0.5 to 0.5, as a reader sees left and right.

        :param out_m: how far before the panel's middle plane
        """
        nx, ny = self.normal
        x, y, z = self.centre
        shift = across * self.width_m
        return (x - ny * shift + nx * out_m, y + nx * shift + ny * out_m, z + up * self.height_m)

    @property
    def panel(self) -> Solid:
        """The board that carries the text, 4 cm thick."""
        nx, ny = self.normal
        dx = abs(nx) * 0.02 + abs(ny) * self.width_m / 2
        dy = abs(ny) * 0.02 + abs(nx) * self.width_m / 2
        dz = self.height_m / 2
        x, y, z = self.centre
        return Solid((x - dx, y - dy, z - dz), (x + dx, y + dy, z + dz), self.paper)


def sign_width(text: str, letter_height_m: float) -> float:
    """Return how wide a sign for the text is [m]."""
    return (len(text) * LETTER_ASPECT + 1.1) * letter_height_m


@dataclass(frozen=True, slots=True)
class Thing:
    """A piece of furniture, a door or an appliance.

    :param name: what one would call it, with its colour if that tells it from others: 'red sofa'
    :param place: name of the place where it stands
    :param solids: what it is made of
    """

    name: str
    place: str
    solids: tuple[Solid, ...]

    @property
    def centre(self) -> Point:
        """The middle of the box around all solids."""
        return middle_and_size(self.solids)[0]

    @property
    def height_m(self) -> float:
        return middle_and_size(self.solids)[1][2]


@dataclass(frozen=True, slots=True)
class Place:
    """A named part of the floor, a rectangle."""

    name: str
    low: tuple[float, float]
    high: tuple[float, float]
    is_corridor: bool = False

    def holds(self, x: float, y: float) -> bool:
        return self.low[0] <= x <= self.high[0] and self.low[1] <= y <= self.high[1]


@dataclass(frozen=True, slots=True)
class Waypoint:
    """A corner of the robot's route.

    :param dwell_s: how long the robot stands here; where it stands, the route has no bend
    """

    x: float
    y: float
    dwell_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Building:
    """One floor.

    :param size: extent along x and y [m]; one corner is at the origin
    :param route: the tour, from the first stop to the last
    """

    seed: int
    size: tuple[float, float]
    walls: tuple[Solid, ...]
    places: tuple[Place, ...]
    signs: tuple[SignPanel, ...]
    things: tuple[Thing, ...]
    route: tuple[Waypoint, ...]

    def solids(self) -> Iterator[Solid]:
        """Everything that stops a robot or a ray of light, apart from floor and ceiling."""
        yield from self.walls
        for thing in self.things:
            yield from thing.solids
        for sign in self.signs:
            yield sign.panel

    def place_at(self, x: float, y: float) -> str:
        """Return the name of the place at a point; rooms before corridors; '' outside."""
        for place in sorted(self.places, key=lambda place: place.is_corridor):
            if place.holds(x, y):
                return place.name
        return ''


_Box = TypeVar('_Box', Solid, Place)


def mirrored(building: Building, axis: Literal[0, 1]) -> Building:
    """Return the building's mirror image along x (0) or y (1). Texts stay readable."""
    extent = building.size[axis]

    def flip(value: float) -> float:
        return round(extent - value, 9)

    def area(box: _Box) -> _Box:
        low, high = list(box.low), list(box.high)
        low[axis], high[axis] = flip(box.high[axis]), flip(box.low[axis])
        return replace(box, low=tuple(low), high=tuple(high))  # type: ignore[arg-type]

    def sign(board: SignPanel) -> SignPanel:
        x, y, z = board.centre
        yaw = wrap_angle(math.pi - board.yaw if axis == 0 else -board.yaw)
        return replace(board, centre=(flip(x), y, z) if axis == 0 else (x, flip(y), z), yaw=yaw)

    def stop(corner: Waypoint) -> Waypoint:
        return replace(corner, x=flip(corner.x)) if axis == 0 else replace(corner, y=flip(corner.y))

    return replace(
        building,
        walls=tuple(map(area, building.walls)),
        places=tuple(map(area, building.places)),
        signs=tuple(map(sign, building.signs)),
        things=tuple(replace(thing, solids=tuple(map(area, thing.solids))) for thing in building.things),
        route=tuple(map(stop, building.route)),
    )
