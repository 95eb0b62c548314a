"""Furniture, doors and appliances, made of a few solids each.

Each function takes the middle of the thing's back edge (x, y), on the floor against a wall, and which way its
front faces: one of 'north' (+y), 'east' (+x), 'south', 'west'.
"""

from collections.abc import Callable
from typing import Literal

from remembr_ros.simulation.building import HALF_WALL_M, Colour, Shape, Solid

Facing = Literal['north', 'east', 'south', 'west']
Span = tuple[float, float, float, float, float, float]
"""Left, right (along the wall, as seen from the front), back, front (away from the wall), bottom, top [m]."""

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


def block(
    x: float,
    y: float,
    facing: Facing,
    span: Span,
    colour: Colour,
    *,
    shape: Shape = 'box',
) -> Solid:
    """Return a solid given in the thing's own frame."""
    left, right, back, front, bottom, top = span
    ax, ay = DIRECTIONS[facing]
    corners = [
        (x + ax * out + ay * side, y + ay * out - ax * side)
        for out in (back, front)
        for side in (left, right)
    ]
    xs, ys = [c[0] for c in corners], [c[1] for c in corners]
    return Solid(
        (round(min(xs), 6), round(min(ys), 6), bottom),
        (round(max(xs), 6), round(max(ys), 6), top),
        colour,
        shape,
    )


def _made_of(*parts: tuple[Span, Colour | None, Shape]) -> Maker:
    """Return what makes a thing of solids; those of colour None have the thing's own."""

    def make(x: float, y: float, facing: Facing, colour: Colour) -> tuple[Solid, ...]:
        return tuple(block(x, y, facing, span, own or colour, shape=shape) for span, own, shape in parts)

    return make


door = _made_of(
    ((-0.45, 0.45, 0.0, 0.04, 0.0, 2.05), None, 'box'),
    ((-0.53, -0.45, 0.0, 0.06, 0.0, 2.13), WHITE, 'box'),
    ((0.45, 0.53, 0.0, 0.06, 0.0, 2.13), WHITE, 'box'),
    ((-0.45, 0.45, 0.0, 0.06, 2.05, 2.13), WHITE, 'box'),
    ((0.26, 0.40, 0.04, 0.09, 1.0, 1.04), STEEL, 'box'),
)

double_door = _made_of(
    ((-0.8, -0.01, 0.0, 0.04, 0.0, 2.0), None, 'box'),
    ((0.01, 0.8, 0.0, 0.04, 0.0, 2.0), None, 'box'),
    ((-0.88, -0.8, 0.0, 0.06, 0.0, 2.08), DARK, 'box'),
    ((0.8, 0.88, 0.0, 0.06, 0.0, 2.08), DARK, 'box'),
    ((-0.7, -0.1, 0.04, 0.1, 1.0, 1.05), STEEL, 'box'),
    ((0.1, 0.7, 0.04, 0.1, 1.0, 1.05), STEEL, 'box'),
)

# lifts are of steel
lift_door = _made_of(
    ((-0.6, -0.01, 0.0, 0.03, 0.0, 2.1), STEEL, 'box'),
    ((0.01, 0.6, 0.0, 0.03, 0.0, 2.1), STEEL, 'box'),
    ((-0.75, -0.6, 0.0, 0.06, 0.0, 2.2), DARK, 'box'),
    ((0.6, 0.75, 0.0, 0.06, 0.0, 2.2), DARK, 'box'),
    ((0.85, 0.97, 0.0, 0.03, 1.0, 1.25), DARK, 'box'),
)

plant = _made_of(
    ((-0.17, 0.17, 0.06, 0.40, 0.0, 0.36), None, 'cylinder'),
    ((-0.03, 0.03, 0.20, 0.26, 0.36, 0.7), DARK_WOOD, 'cylinder'),
    ((-0.22, 0.22, 0.02, 0.46, 0.55, 1.05), LEAF, 'ball'),
    ((-0.15, 0.15, 0.10, 0.40, 0.95, 1.3), (74, 148, 74), 'ball'),
)

bench = _made_of(
    ((-0.7, 0.7, 0.05, 0.45, 0.38, 0.45), None, 'box'),
    ((-0.7, 0.7, 0.02, 0.07, 0.5, 0.85), None, 'box'),
    ((-0.62, -0.55, 0.08, 0.42, 0.0, 0.38), DARK, 'box'),
    ((0.55, 0.62, 0.08, 0.42, 0.0, 0.38), DARK, 'box'),
)

sofa = _made_of(
    ((-0.8, 0.8, 0.05, 0.75, 0.08, 0.42), None, 'box'),
    ((-0.8, 0.8, 0.05, 0.25, 0.42, 0.85), None, 'box'),
    ((-0.98, -0.8, 0.05, 0.75, 0.08, 0.6), None, 'box'),
    ((0.8, 0.98, 0.05, 0.75, 0.08, 0.6), None, 'box'),
)

# always red, by law
fire_extinguisher = _made_of(
    ((-0.09, 0.09, 0.04, 0.22, 0.55, 1.05), (200, 24, 24), 'cylinder'),
    ((-0.04, 0.04, 0.09, 0.17, 1.05, 1.15), DARK, 'cylinder'),
    ((-0.14, 0.14, 0.0, 0.02, 0.5, 1.3), WHITE, 'box'),
)

water_dispenser = _made_of(
    ((-0.17, 0.17, 0.03, 0.37, 0.0, 0.95), WHITE, 'box'),
    ((-0.13, 0.13, 0.07, 0.33, 0.95, 1.32), (120, 178, 224), 'cylinder'),
    ((-0.1, 0.1, 0.37, 0.39, 0.6, 0.8), DARK, 'box'),
)

bin_ = _made_of(
    ((-0.17, 0.17, 0.04, 0.38, 0.0, 0.62), None, 'cylinder'),
    ((-0.18, 0.18, 0.03, 0.39, 0.62, 0.68), DARK, 'cylinder'),
)

cabinet = _made_of(
    ((-0.45, 0.45, 0.01, 0.40, 0.0, 1.1), None, 'box'),
    ((-0.01, 0.01, 0.40, 0.41, 0.05, 1.05), DARK, 'box'),
    ((-0.09, -0.05, 0.40, 0.42, 0.5, 0.65), STEEL, 'box'),
    ((0.05, 0.09, 0.40, 0.42, 0.5, 0.65), STEEL, 'box'),
)

picture = _made_of(
    ((-0.5, 0.5, 0.0, 0.02, 1.0, 1.7), DARK, 'box'),
    ((-0.45, 0.45, 0.02, 0.03, 1.05, 1.65), WHITE, 'box'),
    ((-0.3, 0.1, 0.03, 0.035, 1.15, 1.5), None, 'box'),
    ((0.0, 0.32, 0.03, 0.04, 1.2, 1.6), COLOURS['yellow'], 'box'),
)


def helmet_shelf(x: float, y: float, facing: Facing, colour: Colour) -> tuple[Solid, ...]:
    return tuple(
        block(x, y, facing, (-0.5, 0.5, 0.0, 0.28, z, z + 0.03), OAK) for z in (0.5, 0.95, 1.4)
    ) + tuple(
        block(x, y, facing, (side - 0.13, side + 0.13, 0.02, 0.28, z, z + 0.2), colour, shape='ball')
        for side, z in ((-0.3, 0.53), (0.2, 0.53), (0.0, 0.98), (0.33, 0.98))
    )


def table(x: float, y: float, facing: Facing, colour: Colour) -> tuple[Solid, ...]:
    """Return a table with four chairs."""
    top = block(x, y, facing, (-0.4, 0.4, 0.5, 1.3, 0.72, 0.76), OAK)
    leg = block(x, y, facing, (-0.05, 0.05, 0.85, 0.95, 0.02, 0.72), DARK, shape='cylinder')
    foot = block(x, y, facing, (-0.25, 0.25, 0.65, 1.15, 0.0, 0.02), DARK, shape='cylinder')
    chairs: list[Solid] = []
    for side, out, wide, deep in (
        (0.0, 0.25, 0.2, 0.03),
        (0.0, 1.55, 0.2, 0.03),
        (-0.65, 0.9, 0.03, 0.2),
        (0.65, 0.9, 0.03, 0.2),
    ):
        chairs.append(block(x, y, facing, (side - 0.2, side + 0.2, out - 0.2, out + 0.2, 0.43, 0.47), colour))
        chairs.append(
            block(x, y, facing, (side - 0.03, side + 0.03, out - 0.03, out + 0.03, 0.0, 0.43), DARK)
        )
        back_side = side + (0.18 if side > 0 else -0.18 if side < 0 else 0.0)
        back_out = out + (0.18 if out > 1 else -0.18 if out < 0.5 else 0.0)
        span = (back_side - wide, back_side + wide, back_out - deep, back_out + deep, 0.47, 0.86)
        chairs.append(block(x, y, facing, span, colour))
    return (top, leg, foot, *chairs)


coffee_machine = _made_of(
    ((-0.9, 0.9, 0.0, 0.6, 0.0, 0.88), WHITE, 'box'),
    ((-0.95, 0.95, 0.0, 0.65, 0.88, 0.93), DARK_WOOD, 'box'),
    ((-0.25, 0.25, 0.1, 0.5, 0.93, 1.4), DARK, 'box'),
    ((-0.18, 0.18, 0.5, 0.51, 1.18, 1.34), None, 'box'),
    ((0.5, 0.58, 0.3, 0.38, 0.93, 1.02), None, 'cylinder'),
    ((0.63, 0.71, 0.36, 0.44, 0.93, 1.02), WHITE, 'cylinder'),
)
"""A coffee machine on a counter."""


def vending_machine(x: float, y: float, facing: Facing, colour: Colour) -> tuple[Solid, ...]:
    snacks = tuple(
        block(x, y, facing, (side, side + 0.12, 0.8, 0.83, z, z + 0.16), list(COLOURS.values())[(i + j) % 6])
        for j, z in enumerate((0.7, 1.0, 1.3, 1.6))
        for i, side in enumerate((-0.36, -0.2, -0.04))
    )
    return (
        block(x, y, facing, (-0.5, 0.5, 0.0, 0.8, 0.0, 1.95), colour),
        block(x, y, facing, (-0.42, 0.16, 0.8, 0.81, 0.6, 1.85), DARK),
        block(x, y, facing, (0.24, 0.42, 0.8, 0.81, 1.1, 1.4), STEEL),
        *snacks,
    )


def bookshelf(x: float, y: float, facing: Facing, colour: Colour) -> tuple[Solid, ...]:
    frame = (
        block(x, y, facing, (-0.7, 0.7, 0.0, 0.03, 0.0, 1.95), DARK_WOOD),
        block(x, y, facing, (-0.7, -0.66, 0.0, 0.32, 0.0, 1.95), OAK),
        block(x, y, facing, (0.66, 0.7, 0.0, 0.32, 0.0, 1.95), OAK),
        *(
            block(x, y, facing, (-0.66, 0.66, 0.0, 0.32, z, z + 0.03), OAK)
            for z in (0.05, 0.5, 0.95, 1.4, 1.92)
        ),
    )
    palette = [colour, *COLOURS.values()]
    books = tuple(
        block(
            x,
            y,
            facing,
            (left, left + 0.2, 0.04, 0.27, z, z + 0.24 + 0.06 * ((i * 7 + j) % 3)),
            palette[(i * 3 + j * 5) % 7],
        )
        for j, z in enumerate((0.08, 0.53, 0.98, 1.43))
        for i, left in enumerate((-0.64, -0.42, -0.2, 0.03, 0.24, 0.45))
        if (i + 2 * j) % 5
    )
    return frame + books


printer = _made_of(
    ((-0.4, 0.4, 0.05, 0.65, 0.0, 0.75), WHITE, 'box'),
    ((-0.4, 0.4, 0.05, 0.65, 0.75, 0.85), DARK, 'box'),
    ((-0.4, 0.4, 0.05, 0.6, 0.85, 1.08), WHITE, 'box'),
    ((-0.3, 0.3, 0.3, 0.8, 0.72, 0.75), STEEL, 'box'),
    ((0.1, 0.35, 0.6, 0.66, 0.95, 1.06), None, 'box'),
)
"""An office printer that stands on the floor."""

reception_desk = _made_of(
    ((-1.1, 1.1, 0.0, 0.5, 0.0, 1.0), OAK, 'box'),
    ((-1.15, 1.15, 0.0, 0.55, 1.0, 1.05), WHITE, 'box'),
    ((-1.0, 1.0, 0.5, 0.52, 0.35, 0.6), None, 'box'),
    ((-0.7, -0.2, 0.1, 0.14, 1.12, 1.42), DARK, 'box'),
    ((-0.48, -0.42, 0.1, 0.14, 1.05, 1.12), DARK, 'box'),
)
