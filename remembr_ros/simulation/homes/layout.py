"""Homes by seed: four rooms round a crossing of walls, furniture along the walls, small things on it.

+-----------+-----------+   A door in the middle of each inner wall. Beside the doors, and on the outer
|  1                 2  |   walls, there is room for a piece of furniture each; where none stands, things
+----   ----+----   ----+   lie on the floor.
|  0                 3  |
+-----------+-----------+
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from remembr_ros.errors import InvalidRequest
from remembr_ros.simulation.building import HALF_WALL_M, WALL_HEIGHT_M, Colour, Place, Shape, Solid
from remembr_ros.simulation.furniture import COLOURS, DARK, DARK_WOOD, LEAF, OAK, STEEL, WHITE
from remembr_ros.simulation.homes.home import Home, Item, Kind, Placement, Surface, Visit
from remembr_ros.timestamps import NS, parse_time

START_NS = parse_time('2026-03-02T08:00:00Z')
VISITS = 3
SMALL = (24, 58)  # so many things that are moved and taken away
DOOR_M, CORNER_M = 1.0, 0.75
GAP_M = 0.05  # between two things
MOVED, TAKEN = 0.12, 0.07  # of the small things, between two visits
LEAST_MOVE_M = 0.4
TRIES = 200
HOURS = (2.0, 8.0)  # between two visits

_WALL: Colour = (226, 222, 212)
_FLOORS: tuple[Colour, ...] = ((168, 160, 148), (186, 150, 112), (150, 158, 162), (160, 132, 104))
_PAINTS: dict[str, Colour] = {
    **COLOURS, 'white': WHITE, 'black': (30, 30, 34), 'pink': (222, 130, 160)
}  # fmt: skip

_Part = tuple[tuple[float, float, float], tuple[float, float, float], Colour | None, Shape]
"""Lowest and highest corner, around the middle of the bottom [m]; None: the thing's own colour."""


def _upright(radius: float, low: float, high: float, colour: Colour | None = None) -> _Part:
    return (-radius, -radius, low), (radius, radius, high), colour, 'cylinder'


def _globe(radius: float, low: float, colour: Colour | None = None) -> _Part:
    return (-radius, -radius, low), (radius, radius, low + 2.0 * radius), colour, 'ball'


def _block(x: float, y: float, low: float, high: float, colour: Colour | None = None) -> _Part:
    return (-x / 2, -y / 2, low), (x / 2, y / 2, high), colour, 'box'


_SMALL: dict[str, tuple[_Part, ...]] = {
    'cup': (_upright(0.042, 0.0, 0.1),),
    'bowl': (_upright(0.085, 0.0, 0.07),),
    'bottle': (_upright(0.042, 0.0, 0.18), _upright(0.018, 0.18, 0.27)),
    'vase': (_globe(0.075, 0.0), _upright(0.04, 0.13, 0.25)),
    'book': (_block(0.16, 0.23, 0.0, 0.05),),
    'apple': (_globe(0.045, 0.0),),
    'box': (_block(0.24, 0.18, 0.0, 0.15),),
    'laptop': (_block(0.32, 0.23, 0.0, 0.025, DARK), ((-0.16, 0.1, 0.025), (0.16, 0.125, 0.23), None, 'box')),
    'clock': (_upright(0.06, 0.0, 0.03, DARK), _globe(0.065, 0.03)),
    'teddy bear': (_globe(0.085, 0.0), _globe(0.06, 0.15)),
    'candle': (_upright(0.04, 0.0, 0.14),),
    'plant': (_upright(0.07, 0.0, 0.13), _globe(0.09, 0.12, LEAF)),
    'toaster': (_block(0.28, 0.17, 0.0, 0.18), _block(0.2, 0.03, 0.18, 0.19, DARK)),
}
_FLOOR: dict[str, tuple[_Part, ...]] = {
    'ball': (_globe(0.11, 0.0),),
    'suitcase': (_block(0.4, 0.24, 0.0, 0.55),),
    'bin': (_upright(0.14, 0.0, 0.38),),
    'stool': (_upright(0.17, 0.36, 0.42), _upright(0.05, 0.0, 0.36, STEEL)),
}
_ALIVE: dict[str, tuple[_Part, ...]] = {
    'person': (_upright(0.2, 0.0, 1.4), _globe(0.13, 1.4, (226, 180, 150))),
    'cat': (((-0.2, -0.07, 0.0), (0.2, 0.07, 0.2), None, 'box'), _globe(0.08, 0.18)),
}

_Span = tuple[float, float, float, float, float, float]
"""Left, right (along the wall), back, front (away from it), bottom, top [m]."""


def _shelves(wide: float, deep: float, heights: Sequence[float], top: float) -> tuple[_Span, ...]:
    """Return boards at these heights between two sides, before a back."""
    half = wide / 2
    sides = [(side, side + 0.03, 0.0, deep, 0.0, top) for side in (-half, half - 0.03)]
    boards = [(-half, half, 0.0, deep, z - 0.03, z) for z in heights]
    return ((-half, half, 0.0, 0.03, 0.0, top), *sides, *boards)


_TRAY = ((-0.4, 0.4, 0.5, 0.85, 0.6, 0.62), (-0.4, 0.4, 0.83, 0.85, 0.62, 0.68),
         (-0.4, -0.38, 0.5, 0.85, 0.62, 0.68), (0.38, 0.4, 0.5, 0.85, 0.62, 0.68))  # fmt: skip
_LEGS = tuple((x, x + 0.06, y, y + 0.06, 0.0, 0.72) for x in (-0.6, 0.54) for y in (0.02, 0.62))

# What it is made of, its own colour, and the surfaces on or in it: spans from a board to what is above.
_FURNITURE: dict[str, tuple[tuple[_Span, ...], Colour, tuple[_Span, ...]]] = {
    'table': (((-0.6, 0.6, 0.02, 0.68, 0.72, 0.76), *_LEGS), OAK, ((-0.57, 0.57, 0.05, 0.65, 0.76, 2.0),)),
    'counter': (
        ((-0.6, 0.6, 0.0, 0.6, 0.0, 0.86), (-0.62, 0.62, 0.0, 0.62, 0.86, 0.9)),
        WHITE, ((-0.57, 0.57, 0.05, 0.58, 0.9, 2.0),),
    ),
    'shelf': (
        _shelves(1.1, 0.36, (0.45, 0.8, 1.15), 1.2), DARK_WOOD,
        ((-0.5, 0.5, 0.06, 0.34, 0.45, 0.75), (-0.5, 0.5, 0.06, 0.34, 0.8, 1.1)),
    ),
    'fridge': (
        _shelves(0.66, 0.56, (0.3, 0.65, 1.0, 1.5), 1.5), STEEL,
        ((-0.28, 0.28, 0.08, 0.54, 0.65, 0.95), (-0.28, 0.28, 0.08, 0.54, 1.0, 1.4)),
    ),
    'drawer': (
        ((-0.45, 0.45, 0.0, 0.5, 0.0, 0.85), *_TRAY), OAK,
        ((-0.42, 0.42, 0.04, 0.46, 0.85, 2.0), (-0.36, 0.36, 0.54, 0.81, 0.62, 2.0)),
    ),
    'sofa': (
        ((-0.65, 0.65, 0.0, 0.7, 0.0, 0.42), (-0.65, 0.65, 0.0, 0.2, 0.42, 0.8)),
        (96, 104, 128), ((-0.55, 0.55, 0.24, 0.66, 0.42, 2.0),),
    ),
    'lamp': (
        ((-0.12, 0.12, 0.1, 0.34, 0.0, 0.04), (-0.02, 0.02, 0.2, 0.24, 0.04, 1.1),
         (-0.16, 0.16, 0.06, 0.38, 1.1, 1.4)),
        (232, 214, 160), (),
    ),
}  # fmt: skip
_ROOMS: dict[str, tuple[str, ...]] = {
    'kitchen': ('counter', 'counter', 'fridge', 'table'),
    'living room': ('sofa', 'shelf', 'table', 'lamp'),
    'bedroom': ('drawer', 'shelf', 'lamp', 'table'),
    'study': ('table', 'table', 'shelf', 'drawer'),
}


@dataclass(frozen=True, slots=True)
class _Slot:
    """Where a piece of furniture can stand: the middle of its back, and which way its front faces."""

    x: float
    y: float
    facing: tuple[int, int]

    def span(self, span: _Span) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Return the corners of a span [m] in the map."""
        left, right, back, front, bottom, top = span
        ax, ay = self.facing
        xs = sorted(self.x + ax * out + ay * side for side, out in ((left, back), (right, front)))
        ys = sorted(self.y + ay * out - ax * side for side, out in ((left, back), (right, front)))
        return (xs[0], ys[0], bottom), (xs[1], ys[1], top)


@dataclass
class _Making:
    """A home while it is made."""

    rng: random.Random
    items: list[Item] = field(default_factory=list)
    surfaces: list[Surface] = field(default_factory=list)
    placed: dict[int, Placement] = field(default_factory=dict)

    def add(self, label: str, colour: str, kind: Kind, solids: tuple[Solid, ...]) -> Item:
        item = Item(len(self.items) + 1, label, colour, kind, solids)
        self.items.append(item)
        return item

    def furnish(self, label: str, slot: _Slot) -> None:
        """Put a piece of furniture into a slot, and add its surfaces."""
        spans, colour, surfaces = _FURNITURE[label]
        boxes = [slot.span(span) for span in spans]
        middle = [(min(low[i] for low, _ in boxes) + max(high[i] for _, high in boxes)) / 2 for i in range(2)]
        x, y = middle
        solids = tuple(
            Solid((low[0] - x, low[1] - y, low[2]), (high[0] - x, high[1] - y, high[2]), colour)
            for low, high in boxes
        )
        item = self.add(label, '', 'furniture', solids)
        self.placed[item.number] = Placement((x, y, 0.0))
        for low, high in map(slot.span, surfaces):
            self.surfaces.append(Surface(item.number, low[:2], high[:2], low[2], high[2] - low[2]))

    def make(self, label: str, colour: str, scale: float) -> Item:
        """Return a new small thing."""
        parts = _SMALL.get(label) or _FLOOR.get(label) or _ALIVE[label]
        own, (x, y, z) = _PAINTS[colour], (scale, scale, scale)
        solids = tuple(
            Solid((a[0] * x, a[1] * y, a[2] * z), (b[0] * x, b[1] * y, b[2] * z), paint or own, shape)
            for a, b, paint, shape in parts
        )
        return self.add(label, colour, 'alive' if label in _ALIVE else 'small', solids)

    def spot(self, item: Item, away: Placement | None = None) -> Placement | None:
        """Return a free place for an item; None: there is none.

        :param away: far enough from there
        """
        on_floor = item.label in _FLOOR or item.label in _ALIVE
        surfaces = [s for s in self.surfaces if (s.receptacle == 0) == on_floor]
        wide, deep, high = (side / 2 for side in item.size)
        for _ in range(TRIES):
            on = self.rng.choice(surfaces)
            if (
                2 * high > on.headroom_m
                or on.high[0] - on.low[0] < 2 * wide
                or on.high[1] - on.low[1] < 2 * deep
            ):
                continue
            x = self.rng.uniform(on.low[0] + wide, on.high[0] - wide)
            y = self.rng.uniform(on.low[1] + deep, on.high[1] - deep)
            found = Placement((x, y, on.z), on.receptacle)
            if away is not None and _apart(found, away) < LEAST_MOVE_M:
                continue
            if all(self._clear(item, found, other) for other in self.placed if other != item.number):
                return found
        return None

    def _clear(self, item: Item, there: Placement, number: int) -> bool:
        other, at = self.items[number - 1], self.placed[number]
        if other.kind == 'furniture' or there.receptacle != at.receptacle or there.bottom[2] != at.bottom[2]:
            return True
        return any(
            abs(there.bottom[i] - at.bottom[i]) >= (item.size[i] + other.size[i]) / 2 + GAP_M
            for i in range(2)
        )


def _apart(one: Placement, other: Placement) -> float:
    return max(abs(a - b) for a, b in zip(one.bottom, other.bottom, strict=True))


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
    making = _Making(rng)
    xs, ys = ([0.0, rng.uniform(4.6, 5.2), rng.uniform(9.6, 10.4)] for _ in range(2))
    names = rng.sample(list(_ROOMS), 4)
    cells = ((0, 0), (0, 1), (1, 1), (1, 0))
    rooms = [
        Place(name, (xs[i], ys[j]), (xs[i + 1], ys[j + 1])) for name, (i, j) in zip(names, cells, strict=True)
    ]
    for room in rooms:
        slots = _slots(room)
        rng.shuffle(slots)
        for label in _ROOMS[room.name]:
            making.furnish(label, slots.pop())
        for slot in slots:
            low, high = slot.span((-0.5, 0.5, 0.1, 0.6, 0.0, 2.0))
            making.surfaces.append(Surface(0, low[:2], high[:2], 0.0))
    _fill(making)
    stays = [dict(making.placed)]
    for _ in range(visits - 1):
        _change(making)
        stays.append(dict(making.placed))
    start_ns, paid = START_NS, []
    for placements in stays:
        paid.append(Visit(start_ns, placements, _corners(rng, rooms, xs[1], ys[1])))
        start_ns += round(rng.uniform(*HOURS) * 3600) * NS
    return Home(seed, (xs[2], ys[2]), tuple(rooms), _shell(rooms, xs, ys), tuple(making.items), tuple(paid))


def _slots(room: Place) -> list[_Slot]:
    """Return where furniture can stand in a room: two places on each wall, beside its middle."""
    (x0, y0), (x1, y1) = room.low, room.high
    off = HALF_WALL_M + 0.01
    found = []
    for start, end, at, facing, along in (
        (x0, x1, y0 + off, (0, 1), True),
        (x0, x1, y1 - off, (0, -1), True),
        (y0, y1, x0 + off, (1, 0), False),
        (y0, y1, x1 - off, (-1, 0), False),
    ):
        middle = (start + end) / 2
        for edge, door in ((start + CORNER_M, middle - DOOR_M / 2), (end - CORNER_M, middle + DOOR_M / 2)):
            place = (edge + door) / 2
            found.append(_Slot(place, at, facing) if along else _Slot(at, place, facing))
    return found


def _fill(making: _Making) -> None:
    """Put small things in, some of which look like others, and somebody who lives there."""
    rng = making.rng
    looks: list[tuple[str, str, float]] = []
    for _ in range(rng.randint(*SMALL)):
        alike = looks and rng.random() < 0.25
        label = rng.choice([*_SMALL, *_SMALL, *_FLOOR])
        looks.append(
            rng.choice(looks) if alike else (label, rng.choice(list(_PAINTS)), rng.uniform(0.9, 1.15))
        )
    for label, colour, scale in (*looks, ('person', 'blue', 1.0), ('cat', 'orange', 1.0)):
        _put(making, making.make(label, colour, scale))


def _put(making: _Making, item: Item) -> None:
    place = making.spot(item)
    if place is None:
        making.items.remove(item)  # it is the last one
    else:
        making.placed[item.number] = place


def _change(making: _Making) -> None:
    """Move, take away and bring some things: of those that look alike, one at most."""
    rng, changed = making.rng, set()
    small = [number for number in making.placed if making.items[number - 1].kind == 'small']
    rng.shuffle(small)
    count = len(small)
    jobs = ['move'] * max(2, round(MOVED * count)) + ['take'] * max(2, round(TAKEN * count))
    for number in small:
        item = making.items[number - 1]
        if not jobs or item.look in changed:
            continue
        changed.add(item.look)
        if jobs.pop() == 'take':
            del making.placed[number]
        elif place := making.spot(item, making.placed[number]):
            making.placed[number] = place
    for number, placement in list(making.placed.items()):
        item = making.items[number - 1]
        if item.kind == 'alive' and (place := making.spot(item, placement)):
            making.placed[number] = place
    brought = [(label, colour) for label in _SMALL for colour in _PAINTS if (label, colour) not in changed]
    _put(making, making.make(*rng.choice(brought), 1.0))


def _corners(
    rng: random.Random, rooms: Sequence[Place], x: float, y: float
) -> tuple[tuple[float, float, int], ...]:
    """Return a round: two stops in each room, and the doors between the rooms.

    :param x: of the wall between the rooms on the left and on the right, as y of the other one
    """
    order = list(range(4))
    if rng.random() < 0.5:
        order.reverse()
    first = rng.randrange(4)
    order = order[first:] + order[:first]
    found: list[tuple[float, float, int]] = []
    middles = [((r.low[0] + r.high[0]) / 2, (r.low[1] + r.high[1]) / 2) for r in rooms]
    for step, room in enumerate(order):
        cx, cy = middles[room]
        if step:
            bx, by = middles[order[step - 1]]
            upright = rooms[order[step - 1]].low[0] == rooms[room].low[0]
            found.append(((bx + cx) / 2, y, 0) if upright else (x, (by + cy) / 2, 0))
        dx, dy = rng.uniform(0.3, 0.6), rng.uniform(0.3, 0.6) * rng.choice((-1, 1))
        found += [(cx - dx, cy - dy, 1), (cx + dx, cy + dy, 1)]
    return tuple(found)


def _shell(rooms: Sequence[Place], xs: Sequence[float], ys: Sequence[float]) -> tuple[Solid, ...]:
    """Return the walls, with gaps for doors, and the floors."""
    spans = []
    for i, x in enumerate(xs):
        for low, high in pairwise(ys):
            spans += [((x, a), (x, b)) for a, b in _pieces(low, high, door=i == 1)]
    for j, y in enumerate(ys):
        for low, high in pairwise(xs):
            spans += [((a, y), (b, y)) for a, b in _pieces(low, high, door=j == 1)]
    half = HALF_WALL_M
    walls = [
        Solid((x0 - half, y0 - half, 0.0), (x1 + half, y1 + half, WALL_HEIGHT_M), _WALL)
        for (x0, y0), (x1, y1) in spans
    ]
    floors = [
        Solid((*room.low, -0.05), (*room.high, 0.0), colour)
        for room, colour in zip(rooms, _FLOORS, strict=True)
    ]
    return (*walls, *floors)


def _pieces(low: float, high: float, *, door: bool) -> list[tuple[float, float]]:
    """Return a wall, or what a door in its middle leaves of it."""
    middle = (low + high) / 2
    return [(low, middle - DOOR_M / 2), (middle + DOOR_M / 2, high)] if door else [(low, high)]
