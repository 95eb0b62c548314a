"""Homes by seed: four rooms round a crossing of walls, furniture along the walls, small things on it.

+-----------+-----------+   A door in the middle of each inner wall. On both sides of the middle of each
|  1                 2  |   wall there is room for a piece of furniture; where none stands, things lie on
+----   ----+----   ----+   the floor.
|  0                 3  |
+-----------+-----------+
"""

import random
from collections.abc import Sequence
from itertools import pairwise

from remembr_ros.errors import InvalidRequest
from remembr_ros.simulation.building import HALF_WALL_M, WALL_HEIGHT_M, Colour, Place, Solid
from remembr_ros.simulation.furniture import Facing, made_of
from remembr_ros.simulation.homes.catalogue import ALIVE, FURNITURE, ON_FLOOR, ON_FURNITURE, PAINTS, ROOMS
from remembr_ros.simulation.homes.home import Home, Item, Placement, Visit
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
        raise InvalidRequest(
            f'a home of seed {seed} and {visits} visits; give a seed from 0, visits from 1 on'
        )
    rng = random.Random(seed)
    xs, ys = ([0.0, rng.uniform(4.6, 5.2), rng.uniform(9.6, 10.4)] for _ in range(2))
    names, cells = rng.sample(list(ROOMS), 4), ((0, 0), (0, 1), (1, 1), (1, 0))
    rooms = [
        Place(name, (xs[i], ys[j]), (xs[i + 1], ys[j + 1])) for name, (i, j) in zip(names, cells, strict=True)
    ]
    making = _Making(rng, rooms)
    start_ns, paid = START_NS, []
    for number in range(visits):
        if number:
            making.change()
        paid.append(Visit(start_ns, dict(making.placed), _corners(rng, rooms, xs[1], ys[1])))
        start_ns += round(rng.uniform(*HOURS) * 3600) * NS
    return Home(seed, (xs[2], ys[2]), tuple(rooms), _shell(rooms, xs, ys), tuple(making.items), tuple(paid))


class _Making:
    """A home while it is made.

    :ivar placed: where each item is, by its number
    """

    def __init__(self, rng: random.Random, rooms: Sequence[Place]) -> None:
        self._rng = rng
        self.items: list[Item] = []
        self.placed: dict[int, Placement] = {}
        self._surfaces: list[_Surface] = []
        for room in rooms:
            slots = _slots(room)
            rng.shuffle(slots)
            for label in ROOMS[room.name]:
                self._furnish(label, slots.pop())
            self._surfaces += [(0, solid) for slot in slots for solid in _FREE(*slot, _WALL)]
        looks: list[tuple[str, str]] = []
        labels, paints = [*ON_FURNITURE, *ON_FURNITURE, *ON_FLOOR], list(PAINTS)
        for _ in range(rng.randint(*SMALL)):
            alike = looks and rng.random() < ALIKE
            looks.append(rng.choice(looks) if alike else (rng.choice(labels), rng.choice(paints)))
        for label, colour in (*looks, ('person', 'blue'), ('cat', 'orange')):
            self._bring(label, colour)

    def change(self) -> None:
        """Move, take away and bring some things; of those that look alike one: of more nobody could tell."""
        small = [number for number in self.placed if self.items[number - 1].kind == 'small']
        self._rng.shuffle(small)
        takes, moves = (max(2, round(part * len(small))) for part in (TAKEN, MOVED))
        alone = {(self.items[n - 1].label, self.items[n - 1].colour): n for n in small}
        for number in [*alone.values()][:takes]:
            del self.placed[number]
        restless = [number for number in self.placed if self.items[number - 1].kind == 'alive']
        for number in [*[*alone.values()][takes : takes + moves], *restless]:
            self.placed[number] = self._spot(self.items[number - 1]) or self.placed[number]
        looks = [(label, colour) for label in ON_FURNITURE for colour in PAINTS]
        self._bring(*self._rng.choice([look for look in looks if look not in alone]))

    def _furnish(self, label: str, slot: _Slot) -> None:
        maker, colour, surfaces = FURNITURE[label]
        solids = maker(*slot, colour)
        low, high = (
            [end(getattr(s, name)[i] for s in solids) for i in range(2)]
            for end, name in ((min, 'low'), (max, 'high'))
        )
        x, y = ((a + b) / 2 for a, b in zip(low, high, strict=True))
        self.items.append(Item(len(self.items) + 1, label, '', 'furniture', _around(solids, x, y)))
        self.placed[len(self.items)] = Placement((x, y, 0.0))
        self._surfaces += [(len(self.items), solid) for solid in surfaces(*slot, colour)]

    def _bring(self, label: str, colour: str) -> None:
        maker = {**ON_FURNITURE, **ON_FLOOR, **ALIVE}[label]
        solids = maker(0.0, -HALF_WALL_M, 'north', PAINTS[colour])
        item = Item(len(self.items) + 1, label, colour, 'alive' if label in ALIVE else 'small', solids)
        if place := self._spot(item):
            self.items.append(item)
            self.placed[item.number] = place

    def _spot(self, item: Item) -> Placement | None:
        """Return a free place for an item, away from where it is; None: there is none."""
        low = item.label in ON_FLOOR or item.label in ALIVE
        surfaces = [(number, room) for number, room in self._surfaces if (number == 0) == low]
        wide, deep, high = item.size
        before = self.placed.get(item.number)
        for _ in range(TRIES):
            receptacle, room = self._rng.choice(surfaces)
            (x0, y0, z), (x1, y1, top) = room.low, room.high
            if wide > x1 - x0 or deep > y1 - y0 or high > top - z:
                continue
            x, y = (
                self._rng.uniform(x0 + wide / 2, x1 - wide / 2),
                self._rng.uniform(y0 + deep / 2, y1 - deep / 2),
            )
            found = Placement((x, y, z), receptacle)
            if (
                before is not None
                and max(abs(a - b) for a, b in zip(found.bottom, before.bottom, strict=True)) < LEAST_MOVE_M
            ):
                continue
            if not any(self._meets(item, found, other) for other in self.placed if other != item.number):
                return found
        return None

    def _meets(self, item: Item, there: Placement, number: int) -> bool:
        other, at = self.items[number - 1], self.placed[number]
        return (
            (there.receptacle, there.bottom[2]) == (at.receptacle, at.bottom[2])
            and other.kind != 'furniture'
            and all(
                abs(there.bottom[i] - at.bottom[i]) < (item.size[i] + other.size[i]) / 2 + GAP_M
                for i in range(2)
            )
        )


def _around(solids: Sequence[Solid], x: float, y: float) -> tuple[Solid, ...]:
    """Return solids with a point of the floor as their origin."""
    return tuple(
        Solid(
            (s.low[0] - x, s.low[1] - y, s.low[2]),
            (s.high[0] - x, s.high[1] - y, s.high[2]),
            s.colour,
            s.shape,
        )
        for s in solids
    )


def _slots(room: Place) -> list[_Slot]:
    """Return where furniture can stand in a room: two places on each wall, beside its middle."""
    found: list[_Slot] = []
    (x0, y0), (x1, y1) = room.low, room.high
    for start, end in ((x0, x1), (y0, y1)):
        middle = (start + end) / 2
        for at in ((start + CORNER_M + middle - DOOR_M / 2) / 2, (end - CORNER_M + middle + DOOR_M / 2) / 2):
            found += (
                [(at, y0, 'north'), (at, y1, 'south')]
                if start == x0 and end == x1
                else [(x0, at, 'east'), (x1, at, 'west')]
            )
    return found


def _corners(rng: random.Random, rooms: Sequence[Place], x: float, y: float) -> _Corners:
    """Return a round: two stops in each room, and the doors between the rooms.

    :param x: of the wall between the rooms on the left and on the right, as y of the other one
    """
    first, way = rng.randrange(4), rng.choice((-1, 1))
    order = [(first + way * step) % 4 for step in range(4)]
    middles = [((r.low[0] + r.high[0]) / 2, (r.low[1] + r.high[1]) / 2) for r in rooms]
    found: list[tuple[float, float, int]] = []
    for before, room in pairwise([order[0], *order]):
        (bx, by), (cx, cy) = middles[before], middles[room]
        if before != room:
            above = rooms[before].low[0] == rooms[room].low[0]
            found.append(((bx + cx) / 2, y, 0) if above else (x, (by + cy) / 2, 0))
        dx, dy = rng.uniform(0.3, 0.6), rng.uniform(0.3, 0.6) * rng.choice((-1, 1))
        found += [(cx - dx, cy - dy, 1), (cx + dx, cy + dy, 1)]
    return tuple(found)


def _shell(rooms: Sequence[Place], xs: Sequence[float], ys: Sequence[float]) -> tuple[Solid, ...]:
    """Return the walls, with gaps for doors in the inner ones, and the floors."""
    half, found = HALF_WALL_M, []
    for along, across, turned in ((ys, xs, False), (xs, ys, True)):
        for i, at in enumerate(across):
            for low, high in pairwise(along):
                ends = (
                    [(low, (low + high - DOOR_M) / 2), ((low + high + DOOR_M) / 2, high)]
                    if i == 1
                    else [(low, high)]
                )
                for a, b in ends:
                    (x0, y0), (x1, y1) = ((a, at), (b, at)) if turned else ((at, a), (at, b))
                    found.append(
                        Solid((x0 - half, y0 - half, 0.0), (x1 + half, y1 + half, WALL_HEIGHT_M), _WALL)
                    )
    floors = zip(rooms, _FLOORS, strict=True)
    return (*found, *(Solid((*room.low, -0.05), (*room.high, 0.0), colour) for room, colour in floors))
