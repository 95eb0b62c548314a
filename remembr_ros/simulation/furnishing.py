"""What stands where on the floor: the furniture of the named places, and small things along the corridors."""

import random
from dataclasses import replace

from remembr_ros.simulation import furniture
from remembr_ros.simulation.building import Colour, Place, Thing
from remembr_ros.simulation.furniture import COLOURS, Facing, Maker

_CORRIDOR_SPOTS: tuple[tuple[float, float, Facing], ...] = (  # where something small may stand
    (14.6, 4, 'north'), (19.6, 4, 'north'), (24.3, 4, 'north'), (11.2, 7, 'south'),
    (16.9, 7, 'south'), (22.0, 7, 'south'),
    (24.5, 9.0, 'east'), (24.5, 11.5, 'east'), (24.5, 14.6, 'east'), (24.3, 19, 'south'), (18.4, 19, 'south'),
    (14.5, 19, 'south'), (10.4, 19, 'south'), (22.0, 16, 'north'), (10.0, 16, 'north'),
    (4.5, 16.0, 'east'), (4.5, 14.3, 'east'), (4.5, 7.4, 'east'), (7.5, 14.3, 'west'), (7.5, 10.0, 'west'),
)  # fmt: skip

# name, maker, whether the colour is part of the name
_CORRIDOR_THINGS: tuple[tuple[str, Maker, bool], ...] = (
    ('plant', furniture.plant, False),
    ('bench', furniture.bench, True),
    ('fire extinguisher', furniture.fire_extinguisher, False),
    ('water dispenser', furniture.water_dispenser, False),
    ('bin', furniture.bin_, True),
    ('cabinet', furniture.cabinet, True),
    ('picture', furniture.picture, False),
    ('shelf with helmets', furniture.helmet_shelf, False),
)


def place_furniture(rng: random.Random, south: str, north: str, east: str) -> list[Thing]:
    """Return what belongs to the named places.

    :param south: name of the corridor that the robot drives first
    :param north: name of the one opposite
    :param east: name of the one between them
    """

    def paint() -> tuple[str, Colour]:
        return rng.choice(list(COLOURS.items()))

    chairs, sofa, seat = paint(), paint(), paint()
    tables = f'table with {chairs[0]} chairs'
    exit_colour: Colour = (90, 112, 100)
    pieces: list[tuple[str, str, Maker, tuple[float, float], Facing, Colour]] = [
        ('exit door', south, furniture.double_door, (27.5, 5.5), 'west', exit_colour),
        ('exit door', north, furniture.double_door, (4.5, 17.5), 'east', exit_colour),
        ('printer', east, furniture.printer, (26.0, 19), 'south', paint()[1]),
        (tables, 'cafeteria', furniture.table, (34, 8.9), 'west', chairs[1]),
        (tables, 'cafeteria', furniture.table, (34, 11.4), 'west', chairs[1]),
        (tables, 'cafeteria', furniture.table, (34, 6.2), 'west', chairs[1]),
        (tables, 'cafeteria', furniture.table, (32.2, 12.0 - rng.random()), 'west', chairs[1]),
        ('coffee machine', 'cafeteria', furniture.coffee_machine, (31.4, 14), 'south', paint()[1]),
        ('vending machine', 'cafeteria', furniture.vending_machine, (33.2, 14), 'south', paint()[1]),
        *(
            ('bookshelf', 'library', furniture.bookshelf, (x, 10.5), 'north', paint()[1])
            for x in (13.2, 14.8, 16.4, 18.0)
        ),
        ('bookshelf', 'library', furniture.bookshelf, (20, 12.0), 'west', paint()[1]),
        (f'{seat[0]} sofa', 'library', furniture.sofa, (12, 14.0), 'east', seat[1]),
        ('plant', 'library', furniture.plant, (12, 11.6), 'east', paint()[1]),
        ('reception desk', 'reception', furniture.reception_desk, (6.4, 0), 'north', paint()[1]),
        (f'{sofa[0]} sofa', 'reception', furniture.sofa, (9.5, 1.6), 'west', sofa[1]),
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
