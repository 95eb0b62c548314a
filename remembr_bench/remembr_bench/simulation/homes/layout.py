"""Homes by seed: four rooms, furniture along the walls, small things on it; and a map of them.

+-----------+-----------+   A door in the middle of each inner wall. On both sides of the middle of each
|  1                 2  |   wall there is room for a piece of furniture; where none stands, things lie on
+----   ----+----   ----+   the floor.
|  0                 3  |
+-----------+-----------+
"""

import random
from collections.abc import Sequence
from itertools import pairwise, product

import numpy as np

from remembr_bench.simulation.building import HALF_WALL_M, WALL_HEIGHT_M, Colour, Place, Solid
from remembr_bench.simulation.furniture import Facing, made_of
from remembr_bench.simulation.homes.catalogue import ALIVE, FURNITURE, ON_FLOOR, ON_FURNITURE, PAINTS, ROOMS
from remembr_bench.simulation.homes.home import Home, Item, Placement, Visit
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Pose
from remembr_ros.navigation.grid import Grid
from remembr_ros.timestamps import NS, parse_time

START_NS = parse_time('2026-03-02T08:00:00Z')
VISITS = 3
SMALL = (24, 58)  # so many things that are moved and taken away
ALIKE = 0.25  # of them look like another one
DOOR_M, CORNER_M = 1.0, 0.75
GAP_M, LEAST_MOVE_M = 0.05, 0.4  # between two things, and between the places where one was and is
MOVED, TAKEN = 0.12, 0.07  # of the small things, between two visits
TRIES = 200
HOURS = (2.0, 8.0)  # between two visits

_WALL: Colour = (226, 222, 212)
_FLOORS: tuple[Colour, ...] = ((168, 160, 148), (186, 150, 112), (150, 158, 162), (160, 132, 104))
_FREE = made_of(((-0.5, 0.5, 0.1, 0.6, 0.0, 2.0), None, 'box'))

_Slot = tuple[float, float, Facing]
"""Where the middle of a piece of furniture meets the wall's middle line, and which way its front faces."""
_Surface = tuple[int, Solid]
"""Number of the item that it is a part of, 0 for the floor; the room on it."""
_Corners = tuple[tuple[float, float, int], ...]


def generate_home(seed: int = 0, visits: int = VISITS) -> Home:
    """Return the home of a seed: the same arguments give the same home.

    :param visits: of the robot; between two of them small things are moved, taken away and brought
    :raises InvalidRequest: an argument is out of range
    """
    if seed < 0 or visits < 1:
        raise InvalidRequest(f'no home {seed} with {visits} visits; give a seed from 0, visits from 1 on')
    making, start_ns, paid = HomeMaking(random.Random(seed)), START_NS, []
    for number in range(visits):
        if number:
            making.change()
        paid.append(Visit(start_ns, dict(making.placed), _corners(making.rng, making.rooms)))
        start_ns += round(making.rng.uniform(*HOURS) * 3600) * NS
    return making.home(seed, paid)


class HomeMaking:
    """A home while it is made.

    :ivar placed: where each item is, by its number
    :ivar surfaces: where things can be put
    """

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self._xs, self._ys = ([0.0, rng.uniform(4.6, 5.2), rng.uniform(9.6, 10.4)] for _ in range(2))
        names, cells = rng.sample(list(ROOMS), 4), ((0, 0), (0, 1), (1, 1), (1, 0))
        lows, highs = ([(self._xs[i + k], self._ys[j + k]) for i, j in cells] for k in range(2))
        self.rooms = [Place(*room) for room in zip(names, lows, highs, strict=True)]
        self.items: list[Item] = []
        self.placed: dict[int, Placement] = {}
        self.surfaces: list[_Surface] = []
        for room in self.rooms:
            slots = _slots(room)
            rng.shuffle(slots)
            for label in ROOMS[room.name]:
                self._furnish(label, slots.pop())
            self.surfaces += [(0, solid) for slot in slots for solid in _FREE(*slot, _WALL)]
        looks: list[tuple[str, str]] = []
        labels, paints = [*ON_FURNITURE, *ON_FURNITURE, *ON_FLOOR], list(PAINTS)
        for _ in range(rng.randint(*SMALL)):
            alike = looks and rng.random() < ALIKE
            looks.append(rng.choice(looks) if alike else (rng.choice(labels), rng.choice(paints)))
        for label, colour in (*looks, ('person', 'blue'), ('cat', 'orange')):
            self.bring(label, colour)

    def home(self, seed: int, visits: Sequence[Visit]) -> Home:
        """Return the home as it was made, with these visits to it."""
        walls = _shell(self.rooms, self._xs, self._ys)
        size = self._xs[2], self._ys[2]
        return Home(seed, size, tuple(self.rooms), walls, tuple(self.items), tuple(visits))

    def change(self) -> None:
        """Move, take away and bring some things; of those that look alike one: of more nobody could tell."""
        small = [number for number in self.placed if self.items[number - 1].kind == 'small']
        self.rng.shuffle(small)
        takes, moves = (max(2, round(part * len(small))) for part in (TAKEN, MOVED))
        alone = {(self.items[n - 1].label, self.items[n - 1].colour): n for n in small}
        for number in [*alone.values()][:takes]:
            del self.placed[number]
        restless = [number for number in self.placed if self.items[number - 1].kind == 'alive']
        for number in [*[*alone.values()][takes : takes + moves], *restless]:
            self.placed[number] = self.spot(self.items[number - 1]) or self.placed[number]
        looks = [(label, colour) for label in ON_FURNITURE for colour in PAINTS]
        self.bring(*self.rng.choice([look for look in looks if look not in alone]))

    def _furnish(self, label: str, slot: _Slot) -> None:
        maker, colour, surfaces = FURNITURE[label]
        number = len(self.items) + 1
        self.items.append(Item(number, label, '', 'furniture', maker(*slot, colour)))
        self.placed[number] = Placement((0.0, 0.0, 0.0))
        self.surfaces += [(number, solid) for solid in surfaces(*slot, colour)]

    def bring(self, label: str, colour: str) -> Item | None:
        """Put a new thing anywhere; None: there is no room."""
        solids = {**ON_FURNITURE, **ON_FLOOR, **ALIVE}[label](0.0, -HALF_WALL_M, 'north', PAINTS[colour])
        item = Item(len(self.items) + 1, label, colour, 'alive' if label in ALIVE else 'small', solids)
        place = self.spot(item)
        if place is None:
            return None
        self.items.append(item)
        self.placed[item.number] = place
        return item

    def spot(self, item: Item, receptacle: int | None = None) -> Placement | None:
        """Return a free place for an item, away from where it is; None: there is none.

        :param receptacle: number of the item that it is to be on or in; None: any
        """
        on_floor = item.label in ON_FLOOR or item.label in ALIVE
        surfaces = [
            (number, room)
            for number, room in self.surfaces
            if (number == 0) == on_floor and receptacle in (None, number)
        ]
        before = self.placed.get(item.number)
        for _ in range(TRIES):
            number, room = self.rng.choice(surfaces)
            (x0, y0, z), (x1, y1, top) = room.low, room.high
            (wide, deep), high = (side / 2 for side in item.size[:2]), item.size[2]
            if wide > (x1 - x0) / 2 or deep > (y1 - y0) / 2 or high > top - z:
                continue
            x, y = self.rng.uniform(x0 + wide, x1 - wide), self.rng.uniform(y0 + deep, y1 - deep)
            spot = Placement((x, y, z), number)
            moves = before is None or _apart(spot, before) >= LEAST_MOVE_M
            if moves and not any(self._meets(item, spot, other) for other in self.placed):
                return spot
        return None

    def _meets(self, item: Item, spot: Placement, number: int) -> bool:
        other, at = self.items[number - 1], self.placed[number]
        room = [(a + b) / 2 + GAP_M for a, b in zip(item.size[:2], other.size[:2], strict=True)]
        return (
            other.kind != 'furniture'
            and number != item.number
            and (spot.receptacle, spot.origin[2]) == (at.receptacle, at.origin[2])
            and all(abs(spot.origin[i] - at.origin[i]) < room[i] for i in range(2))
        )


def _apart(place: Placement, other: Placement) -> float:
    """Return how far two places are from each other along the axis along which they are furthest [m]."""
    return max(abs(a - b) for a, b in zip(place.origin, other.origin, strict=True))


def _slots(room: Place) -> list[_Slot]:
    """Return where furniture can stand in a room: two places on each wall, beside its middle."""
    (x0, y0), (x1, y1) = room.low, room.high
    beside = DOOR_M / 2 - CORNER_M
    xs, ys = (
        ((3 * low + high - 2 * beside) / 4, (low + 3 * high + 2 * beside) / 4)
        for low, high in ((x0, x1), (y0, y1))
    )
    found: list[_Slot] = [slot for x in xs for slot in ((x, y0, 'north'), (x, y1, 'south'))]
    return found + [slot for y in ys for slot in ((x0, y, 'east'), (x1, y, 'west'))]


def _corners(rng: random.Random, rooms: Sequence[Place]) -> _Corners:
    """Return a round through all rooms."""
    first, way = rng.randrange(4), rng.choice((-1, 1))
    return round_through([rooms[(first + way * step) % 4] for step in range(4)], rng)


def round_through(rooms: Sequence[Place], rng: random.Random) -> _Corners:
    """Return a round: two stops in each room, and the doors between the rooms."""
    found: list[tuple[float, float, int]] = []
    for before, room in pairwise([rooms[0], *rooms]):
        if before != room:  # the door is in the middle of what they share
            sides = zip(before.low, room.low, before.high, room.high, strict=True)
            x, y = ((max(a, b) + min(c, d)) / 2 for a, b, c, d in sides)
            found.append((x, y, 0))
        x, y = ((low + high) / 2 for low, high in zip(room.low, room.high, strict=True))
        dx, dy = rng.uniform(0.3, 0.6), rng.uniform(0.3, 0.6) * rng.choice((-1, 1))
        found += [(x - dx, y - dy, 1), (x + dx, y + dy, 1)]
    return tuple(found)


def _shell(rooms: Sequence[Place], xs: Sequence[float], ys: Sequence[float]) -> tuple[Solid, ...]:
    """Return the floors, and the walls, with a door in the middle of each piece of the inner ones."""
    floors = zip(rooms, _FLOORS, strict=True)
    found = [Solid((*room.low, -0.05), (*room.high, 0.0), colour) for room, colour in floors]
    for along, across, step in ((xs, ys, 1), (ys, xs, -1)):
        for at, (low, high) in product(across, pairwise(along)):
            middle, half = (low + high) / 2, DOOR_M / 2 if at == across[1] else 0.0
            for start, end in ((low, middle - half), (middle + half, high)):
                a, b = (start - HALF_WALL_M, at - HALF_WALL_M), (end + HALF_WALL_M, at + HALF_WALL_M)
                (x0, y0), (x1, y1) = a[::step], b[::step]
                found.append(Solid((x0, y0, 0.0), (x1, y1, WALL_HEIGHT_M), _WALL))
    return tuple(found)


CELL_M = 0.05
ROBOT_HEIGHT_M = 1.3
_LOW_M = 0.02  # what is not higher is floor


def ground(home: Home, visit: Visit, closed: str = '') -> Grid:
    """Return the map during a visit: occupied where anything stands in the way, free elsewhere.

    :param closed: the name of a room that is occupied as a whole; empty: none is
    """
    columns, rows = (int(np.ceil(side / CELL_M)) for side in home.size)
    cells = np.zeros((rows, columns), np.int8)
    boxes = [(solid.low, solid.high) for _, solid in home.solids(visit)]
    boxes += [((*room.low, 0.0), (*room.high, 1.0)) for room in home.rooms if room.name == closed]
    for low, high in boxes:
        if high[2] > _LOW_M and low[2] < ROBOT_HEIGHT_M:
            (x0, x1), (y0, y1) = (
                (max(int(np.floor(low[i] / CELL_M)), 0), int(np.ceil(high[i] / CELL_M))) for i in range(2)
            )
            cells[y0:y1, x0:x1] = 100
    return Grid(cells, CELL_M, Pose(0.0, 0.0))
