"""Furniture, doors and appliances made of a few solids each, and where they stand on a floor.

Each maker takes the point of the wall's middle line (x, y) behind the middle of the thing, and which way its
front faces: one of 'north' (+y), 'east' (+x), 'south', 'west'.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from remembr_bench.simulation.building import HALF_WALL_M, Colour, Place, Shape, Solid, Thing

Facing = Literal['north', 'east', 'south', 'west']
Span = tuple[float, float, float, float, float, float]
"""Left, right (along the wall, as seen from the front), back, front (away from the wall), bottom, top [m]."""

Part = tuple[Span, Colour | None, Shape]
Maker = Callable[[float, float, Facing, Colour], tuple[Solid, ...]]

DIRECTIONS: dict[Facing, tuple[int, int]] = {
    'north': (0, 1),
    'east': (1, 0),
    'south': (0, -1),
    'west': (-1, 0),
}

OAK: Colour = (176, 133, 88)
DARK_WOOD: Colour = (104, 72, 46)
STEEL: Colour = (150, 155, 162)
DARK: Colour = (48, 51, 56)
WHITE: Colour = (236, 236, 232)
LEAF: Colour = (58, 128, 62)

COLOURS: dict[str, Colour] = {
    'red': (186, 44, 40),
    'blue': (44, 88, 168),
    'green': (52, 128, 74),
    'yellow': (226, 182, 48),
    'orange': (222, 116, 38),
    'purple': (116, 66, 140),
}


def off_wall(x: float, y: float, facing: Facing) -> tuple[float, float]:
    """Return the point of a wall's surface before a point of its middle line."""
    dx, dy = DIRECTIONS[facing]
    return (x + dx * HALF_WALL_M, y + dy * HALF_WALL_M)


def made_of(*parts: Part) -> Maker:
    """Return what makes a thing of solids; those of colour None have the thing's own."""

    def make(x: float, y: float, facing: Facing, colour: Colour) -> tuple[Solid, ...]:
        ax, ay = DIRECTIONS[facing]
        x, y = off_wall(x, y, facing)
        solids = []
        for (left, right, back, front, bottom, top), own, shape in parts:
            xs = sorted(round(x + ax * out + ay * side, 6) for side, out in ((left, back), (right, front)))
            ys = sorted(round(y + ay * out - ax * side, 6) for side, out in ((left, back), (right, front)))
            solids.append(Solid((xs[0], ys[0], bottom), (xs[1], ys[1], top), own or colour, shape))
        return tuple(solids)

    return make


door = made_of(
    ((-0.45, 0.45, 0.0, 0.04, 0.0, 2.05), None, 'box'),
    ((-0.53, -0.45, 0.0, 0.06, 0.0, 2.13), WHITE, 'box'),
    ((0.45, 0.53, 0.0, 0.06, 0.0, 2.13), WHITE, 'box'),
    ((-0.45, 0.45, 0.0, 0.06, 2.05, 2.13), WHITE, 'box'),
    ((0.26, 0.40, 0.04, 0.09, 1.0, 1.04), STEEL, 'box'),
)

double_door = made_of(
    ((-0.8, -0.01, 0.0, 0.04, 0.0, 2.0), None, 'box'),
    ((0.01, 0.8, 0.0, 0.04, 0.0, 2.0), None, 'box'),
    ((-0.88, -0.8, 0.0, 0.06, 0.0, 2.08), DARK, 'box'),
    ((0.8, 0.88, 0.0, 0.06, 0.0, 2.08), DARK, 'box'),
    ((-0.7, -0.1, 0.04, 0.1, 1.0, 1.05), STEEL, 'box'),
    ((0.1, 0.7, 0.04, 0.1, 1.0, 1.05), STEEL, 'box'),
)

# lifts are of steel
lift_door = made_of(
    ((-0.6, -0.01, 0.0, 0.03, 0.0, 2.1), STEEL, 'box'),
    ((0.01, 0.6, 0.0, 0.03, 0.0, 2.1), STEEL, 'box'),
    ((-0.75, -0.6, 0.0, 0.06, 0.0, 2.2), DARK, 'box'),
    ((0.6, 0.75, 0.0, 0.06, 0.0, 2.2), DARK, 'box'),
    ((0.85, 0.97, 0.0, 0.03, 1.0, 1.25), DARK, 'box'),
)

plant = made_of(
    ((-0.17, 0.17, 0.06, 0.40, 0.0, 0.36), None, 'cylinder'),
    ((-0.03, 0.03, 0.20, 0.26, 0.36, 0.7), DARK_WOOD, 'cylinder'),
    ((-0.22, 0.22, 0.02, 0.46, 0.55, 1.05), LEAF, 'ball'),
    ((-0.15, 0.15, 0.10, 0.40, 0.95, 1.3), (74, 148, 74), 'ball'),
)

bench = made_of(
    ((-0.7, 0.7, 0.05, 0.45, 0.38, 0.45), None, 'box'),
    ((-0.7, 0.7, 0.02, 0.07, 0.5, 0.85), None, 'box'),
    ((-0.62, -0.55, 0.08, 0.42, 0.0, 0.38), DARK, 'box'),
    ((0.55, 0.62, 0.08, 0.42, 0.0, 0.38), DARK, 'box'),
)

sofa = made_of(
    ((-0.8, 0.8, 0.05, 0.75, 0.08, 0.42), None, 'box'),
    ((-0.8, 0.8, 0.05, 0.25, 0.42, 0.85), None, 'box'),
    ((-0.98, -0.8, 0.05, 0.75, 0.08, 0.6), None, 'box'),
    ((0.8, 0.98, 0.05, 0.75, 0.08, 0.6), None, 'box'),
)

# always red, by law
fire_extinguisher = made_of(
    ((-0.09, 0.09, 0.04, 0.22, 0.55, 1.05), (200, 24, 24), 'cylinder'),
    ((-0.04, 0.04, 0.09, 0.17, 1.05, 1.15), DARK, 'cylinder'),
    ((-0.14, 0.14, 0.0, 0.02, 0.5, 1.3), WHITE, 'box'),
)

water_dispenser = made_of(
    ((-0.17, 0.17, 0.03, 0.37, 0.0, 0.95), WHITE, 'box'),
    ((-0.13, 0.13, 0.07, 0.33, 0.95, 1.32), (120, 178, 224), 'cylinder'),
    ((-0.1, 0.1, 0.37, 0.39, 0.6, 0.8), DARK, 'box'),
)

bin_ = made_of(
    ((-0.17, 0.17, 0.04, 0.38, 0.0, 0.62), None, 'cylinder'),
    ((-0.18, 0.18, 0.03, 0.39, 0.62, 0.68), DARK, 'cylinder'),
)

cabinet = made_of(
    ((-0.45, 0.45, 0.01, 0.40, 0.0, 1.1), None, 'box'),
    ((-0.01, 0.01, 0.40, 0.41, 0.05, 1.05), DARK, 'box'),
    ((-0.09, -0.05, 0.40, 0.42, 0.5, 0.65), STEEL, 'box'),
    ((0.05, 0.09, 0.40, 0.42, 0.5, 0.65), STEEL, 'box'),
)

picture = made_of(
    ((-0.5, 0.5, 0.0, 0.02, 1.0, 1.7), DARK, 'box'),
    ((-0.45, 0.45, 0.02, 0.03, 1.05, 1.65), WHITE, 'box'),
    ((-0.3, 0.1, 0.03, 0.035, 1.15, 1.5), None, 'box'),
    ((0.0, 0.32, 0.03, 0.04, 1.2, 1.6), COLOURS['yellow'], 'box'),
)


helmet_shelf = made_of(
    *(((-0.5, 0.5, 0.0, 0.28, z, z + 0.03), OAK, 'box') for z in (0.5, 0.95, 1.4)),
    *(
        ((side - 0.13, side + 0.13, 0.02, 0.28, z, z + 0.2), None, 'ball')
        for side, z in ((-0.3, 0.53), (0.2, 0.53), (0.0, 0.98), (0.33, 0.98))
    ),
)


def _chair(side: float, out: float, dx: int, dy: int) -> list[Part]:
    """Return a chair around a place, with its back towards (dx, dy)."""
    x, y = side + 0.18 * dx, out + 0.18 * dy
    wide, deep = (0.03, 0.2) if dx else (0.2, 0.03)
    return [
        ((side - 0.2, side + 0.2, out - 0.2, out + 0.2, 0.43, 0.47), None, 'box'),
        ((side - 0.03, side + 0.03, out - 0.03, out + 0.03, 0.0, 0.43), DARK, 'box'),
        ((x - wide, x + wide, y - deep, y + deep, 0.47, 0.86), None, 'box'),
    ]


table = made_of(
    ((-0.4, 0.4, 0.5, 1.3, 0.72, 0.76), OAK, 'box'),
    ((-0.05, 0.05, 0.85, 0.95, 0.02, 0.72), DARK, 'cylinder'),
    ((-0.25, 0.25, 0.65, 1.15, 0.0, 0.02), DARK, 'cylinder'),
    *_chair(0.0, 0.25, 0, -1),
    *_chair(0.0, 1.55, 0, 1),
    *_chair(-0.65, 0.9, -1, 0),
    *_chair(0.65, 0.9, 1, 0),
)
"""A table with four chairs; the colour is the chairs'."""

coffee_machine = made_of(
    ((-0.9, 0.9, 0.0, 0.6, 0.0, 0.88), WHITE, 'box'),
    ((-0.95, 0.95, 0.0, 0.65, 0.88, 0.93), DARK_WOOD, 'box'),
    ((-0.25, 0.25, 0.1, 0.5, 0.93, 1.4), DARK, 'box'),
    ((-0.18, 0.18, 0.5, 0.51, 1.18, 1.34), None, 'box'),
    ((0.5, 0.58, 0.3, 0.38, 0.93, 1.02), None, 'cylinder'),
    ((0.63, 0.71, 0.36, 0.44, 0.93, 1.02), WHITE, 'cylinder'),
)
"""A coffee machine on a counter."""

vending_machine = made_of(
    ((-0.5, 0.5, 0.0, 0.8, 0.0, 1.95), None, 'box'),
    ((-0.42, 0.16, 0.8, 0.81, 0.6, 1.85), DARK, 'box'),
    ((0.24, 0.42, 0.8, 0.81, 1.1, 1.4), STEEL, 'box'),
    *(
        ((side, side + 0.12, 0.8, 0.83, z, z + 0.16), list(COLOURS.values())[(i + j) % 6], 'box')
        for j, z in enumerate((0.7, 1.0, 1.3, 1.6))
        for i, side in enumerate((-0.36, -0.2, -0.04))
    ),
)

_BOOKS = (None, *COLOURS.values())

bookshelf = made_of(
    ((-0.7, 0.7, 0.0, 0.03, 0.0, 1.95), DARK_WOOD, 'box'),
    ((-0.7, -0.66, 0.0, 0.32, 0.0, 1.95), OAK, 'box'),
    ((0.66, 0.7, 0.0, 0.32, 0.0, 1.95), OAK, 'box'),
    *(((-0.66, 0.66, 0.0, 0.32, z, z + 0.03), OAK, 'box') for z in (0.05, 0.5, 0.95, 1.4, 1.92)),
    *(
        ((x, x + 0.2, 0.04, 0.27, z, z + 0.24 + 0.06 * ((i * 7 + j) % 3)), _BOOKS[(i * 3 + j * 5) % 7], 'box')
        for j, z in enumerate((0.08, 0.53, 0.98, 1.43))
        for i, x in enumerate((-0.64, -0.42, -0.2, 0.03, 0.24, 0.45))
        if (i + 2 * j) % 5
    ),
)

printer = made_of(
    ((-0.4, 0.4, 0.05, 0.65, 0.0, 0.75), WHITE, 'box'),
    ((-0.4, 0.4, 0.05, 0.65, 0.75, 0.85), DARK, 'box'),
    ((-0.4, 0.4, 0.05, 0.6, 0.85, 1.08), WHITE, 'box'),
    ((-0.3, 0.3, 0.3, 0.8, 0.72, 0.75), STEEL, 'box'),
    ((0.1, 0.35, 0.6, 0.66, 0.95, 1.06), None, 'box'),
)
"""An office printer that stands on the floor."""

reception_desk = made_of(
    ((-1.1, 1.1, 0.0, 0.5, 0.0, 1.0), OAK, 'box'),
    ((-1.15, 1.15, 0.0, 0.55, 1.0, 1.05), WHITE, 'box'),
    ((-1.0, 1.0, 0.5, 0.52, 0.35, 0.6), None, 'box'),
    ((-0.7, -0.2, 0.1, 0.14, 1.12, 1.42), DARK, 'box'),
    ((-0.48, -0.42, 0.1, 0.14, 1.05, 1.12), DARK, 'box'),
)


_CORRIDOR_SPOTS: tuple[tuple[float, float, Facing], ...] = (  # where something small may stand
    (14.6, 4, 'north'), (19.6, 4, 'north'), (24.3, 4, 'north'), (11.2, 7, 'south'),
    (16.9, 7, 'south'), (22.0, 7, 'south'),
    (24.5, 9.0, 'east'), (24.5, 11.5, 'east'), (24.5, 14.6, 'east'), (24.3, 19, 'south'), (18.4, 19, 'south'),
    (14.5, 19, 'south'), (10.4, 19, 'south'), (22.0, 16, 'north'), (10.0, 16, 'north'),
    (4.5, 16.0, 'east'), (4.5, 14.3, 'east'), (4.5, 7.4, 'east'), (7.5, 14.3, 'west'), (7.5, 10.0, 'west'),
)  # fmt: skip

# name, maker, whether the colour is part of the name
_CORRIDOR_THINGS: tuple[tuple[str, Maker, bool], ...] = (
    ('plant', plant, False),
    ('bench', bench, True),
    ('fire extinguisher', fire_extinguisher, False),
    ('water dispenser', water_dispenser, False),
    ('bin', bin_, True),
    ('cabinet', cabinet, True),
    ('picture', picture, False),
    ('shelf with helmets', helmet_shelf, False),
)


def place_furniture(rng: random.Random, south: str, north: str, east: str) -> list[Thing]:
    """Return what belongs to the named places.

    :param south: name of the corridor that the robot drives first
    :param north: name of the one opposite
    :param east: name of the one between them
    """

    def paint() -> tuple[str, Colour]:
        return rng.choice(list(COLOURS.items()))

    chairs, waiting, reading = paint(), paint(), paint()
    tables = f'table with {chairs[0]} chairs'
    exit_colour: Colour = (90, 112, 100)
    pieces: list[tuple[str, str, Maker, tuple[float, float], Facing, Colour]] = [
        ('exit door', south, double_door, (27.5, 5.5), 'west', exit_colour),
        ('exit door', north, double_door, (4.5, 17.5), 'east', exit_colour),
        ('printer', east, printer, (26.0, 19), 'south', paint()[1]),
        (tables, 'cafeteria', table, (34, 8.9), 'west', chairs[1]),
        (tables, 'cafeteria', table, (34, 11.4), 'west', chairs[1]),
        (tables, 'cafeteria', table, (34, 6.2), 'west', chairs[1]),
        (tables, 'cafeteria', table, (32.2, 12.0 - rng.random()), 'west', chairs[1]),
        ('coffee machine', 'cafeteria', coffee_machine, (31.4, 14), 'south', paint()[1]),
        ('vending machine', 'cafeteria', vending_machine, (33.2, 14), 'south', paint()[1]),
        *(
            ('bookshelf', 'library', bookshelf, (x, 10.5), 'north', paint()[1])
            for x in (13.2, 14.8, 16.4, 18.0)
        ),
        ('bookshelf', 'library', bookshelf, (20, 12.0), 'west', paint()[1]),
        (f'{reading[0]} sofa', 'library', sofa, (12, 14.0), 'east', reading[1]),
        ('plant', 'library', plant, (12, 11.6), 'east', paint()[1]),
        ('reception desk', 'reception', reception_desk, (6.4, 0), 'north', paint()[1]),
        (f'{waiting[0]} sofa', 'reception', sofa, (9.5, 1.6), 'west', waiting[1]),
    ]
    return [
        Thing(name, place, maker(*at, facing, colour)) for name, place, maker, at, facing, colour in pieces
    ]


def corridor_furniture(rng: random.Random, halls: tuple[Place, ...]) -> list[Thing]:
    """Return something for most of the spots along the corridors' walls."""
    kinds = list(_CORRIDOR_THINGS) * 2
    rng.shuffle(kinds)
    things: list[Thing] = []
    for (x, y, facing), (name, maker, has_colour) in zip(
        rng.sample(_CORRIDOR_SPOTS, len(kinds)), kinds, strict=True
    ):
        colour_name, colour = rng.choice(list(COLOURS.items()))
        thing = Thing(f'{colour_name} {name}' if has_colour else name, '', maker(x, y, facing, colour))
        place = next(hall.name for hall in halls if hall.holds(*thing.centre[:2]))
        things.append(replace(thing, place=place))
    return things
