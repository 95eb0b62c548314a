"""What stands in homes: furniture with the surfaces on and in it, small things, and who lives there."""

from collections.abc import Sequence

from remembr_bench.simulation.building import Colour, Shape
from remembr_bench.simulation.furniture import (
    COLOURS,
    DARK,
    DARK_WOOD,
    LEAF,
    OAK,
    STEEL,
    WHITE,
    Maker,
    Part,
    Span,
    made_of,
)

PAINTS: dict[str, Colour] = {**COLOURS, 'white': WHITE, 'black': (30, 30, 34), 'pink': (222, 130, 160)}


def _round(radius: float, low: float, high: float, colour: Colour | None = None) -> Part:
    return ((-radius, radius, -radius, radius, low, high), colour, 'cylinder')


def _ball(radius: float, low: float, colour: Colour | None = None) -> Part:
    return ((-radius, radius, -radius, radius, low, low + 2.0 * radius), colour, 'ball')


def _block(x: float, y: float, low: float, high: float, colour: Colour | None = None) -> Part:
    return ((-x / 2, x / 2, -y / 2, y / 2, low, high), colour, 'box')


ON_FURNITURE: dict[str, Maker] = {
    'cup': made_of(_round(0.042, 0.0, 0.1)),
    'bowl': made_of(_round(0.085, 0.0, 0.07)),
    'bottle': made_of(_round(0.042, 0.0, 0.18), _round(0.018, 0.18, 0.27)),
    'vase': made_of(_ball(0.075, 0.0), _round(0.04, 0.13, 0.25)),
    'book': made_of(_block(0.16, 0.23, 0.0, 0.05)),
    'apple': made_of(_ball(0.045, 0.0)),
    'box': made_of(_block(0.24, 0.18, 0.0, 0.15)),
    'laptop': made_of(
        _block(0.32, 0.23, 0.0, 0.025, DARK), ((-0.16, 0.16, 0.1, 0.125, 0.025, 0.23), None, 'box')
    ),
    'clock': made_of(_round(0.06, 0.0, 0.03, DARK), _ball(0.065, 0.03)),
    'teddy bear': made_of(_ball(0.085, 0.0), _ball(0.06, 0.15)),
    'candle': made_of(_round(0.04, 0.0, 0.14)),
    'plant': made_of(_round(0.07, 0.0, 0.13), _ball(0.09, 0.12, LEAF)),
    'toaster': made_of(_block(0.28, 0.17, 0.0, 0.18), _block(0.2, 0.03, 0.18, 0.19, DARK)),
}
ON_FLOOR: dict[str, Maker] = {
    'ball': made_of(_ball(0.11, 0.0)),
    'suitcase': made_of(_block(0.4, 0.24, 0.0, 0.55)),
    'bin': made_of(_round(0.14, 0.0, 0.38)),
    'stool': made_of(_round(0.17, 0.36, 0.42), _round(0.05, 0.0, 0.36, STEEL)),
}
ALIVE: dict[str, Maker] = {
    'person': made_of(_round(0.2, 0.0, 1.4), _ball(0.13, 1.4, (226, 180, 150))),
    'cat': made_of(_block(0.4, 0.14, 0.0, 0.2), _ball(0.08, 0.18)),
}


def _boxes(*spans: Span, shape: Shape = 'box') -> Maker:
    return made_of(*((span, None, shape) for span in spans))


def _shelves(wide: float, deep: float, heights: Sequence[float], top: float) -> Maker:
    """Return what makes boards at these heights between two sides, before a back."""
    half = wide / 2
    sides = [(side, side + 0.03, 0.0, deep, 0.0, top) for side in (-half, half - 0.03)]
    boards = [(-half, half, 0.0, deep, z - 0.03, z) for z in heights]
    return _boxes((-half, half, 0.0, 0.03, 0.0, top), *sides, *boards)


_LEGS = [(x, x + 0.06, y, y + 0.06, 0.0, 0.72) for x in (-0.6, 0.54) for y in (0.02, 0.62)]
_TRAY = ((-0.4, 0.4, 0.5, 0.85, 0.6, 0.62), (-0.4, 0.4, 0.83, 0.85, 0.62, 0.68),
         (-0.4, -0.38, 0.5, 0.85, 0.62, 0.68), (0.38, 0.4, 0.5, 0.85, 0.62, 0.68))  # fmt: skip
_LAMP = ((-0.12, 0.12, 0.1, 0.34, 0.0, 0.04), (-0.02, 0.02, 0.2, 0.24, 0.04, 1.1),
         (-0.16, 0.16, 0.06, 0.38, 1.1, 1.4))  # fmt: skip

FURNITURE: dict[str, tuple[Maker, Colour, Maker]] = {
    'table': (_boxes((-0.6, 0.6, 0.02, 0.68, 0.72, 0.76), *_LEGS), OAK,
              _boxes((-0.57, 0.57, 0.05, 0.65, 0.76, 2.0))),
    'counter': (_boxes((-0.6, 0.6, 0.0, 0.6, 0.0, 0.86), (-0.62, 0.62, 0.0, 0.62, 0.86, 0.9)), WHITE,
                _boxes((-0.57, 0.57, 0.05, 0.58, 0.9, 2.0))),
    'shelf': (_shelves(1.1, 0.36, (0.45, 0.8, 1.15), 1.2), DARK_WOOD,
              _boxes((-0.5, 0.5, 0.06, 0.34, 0.45, 0.75), (-0.5, 0.5, 0.06, 0.34, 0.8, 1.1))),
    'fridge': (_shelves(0.66, 0.56, (0.3, 0.65, 1.0, 1.5), 1.5), STEEL,
               _boxes((-0.28, 0.28, 0.08, 0.54, 0.65, 0.95), (-0.28, 0.28, 0.08, 0.54, 1.0, 1.4))),
    'drawer': (_boxes((-0.45, 0.45, 0.0, 0.5, 0.0, 0.85), *_TRAY), OAK,
               _boxes((-0.42, 0.42, 0.04, 0.46, 0.85, 2.0), (-0.36, 0.36, 0.54, 0.81, 0.62, 2.0))),
    'sofa': (_boxes((-0.65, 0.65, 0.0, 0.7, 0.0, 0.42), (-0.65, 0.65, 0.0, 0.2, 0.42, 0.8)), (96, 104, 128),
             _boxes((-0.55, 0.55, 0.24, 0.66, 0.42, 2.0))),
    'lamp': (_boxes(*_LAMP), (232, 214, 160), _boxes()),
}  # fmt: skip
"""What makes it, its colour, and what makes its surfaces: as boxes from a board to what is above."""

ROOMS: dict[str, tuple[str, ...]] = {
    'kitchen': ('counter', 'counter', 'fridge', 'table'),
    'living room': ('sofa', 'shelf', 'table', 'lamp'),
    'bedroom': ('drawer', 'shelf', 'lamp', 'table'),
    'study': ('table', 'table', 'shelf', 'drawer'),
}

SHAPES = {
    **dict.fromkeys(('apple', 'ball'), 'ball'),
    **dict.fromkeys(('book', 'box'), 'box'),
    **dict.fromkeys(('cup', 'bottle', 'candle', 'bin'), 'cylinder'),
}
FUNCTIONS = {
    **dict.fromkeys(('cup', 'bottle'), 'drinking'),
    **dict.fromkeys(('bowl', 'apple'), 'eating'),
    **dict.fromkeys(('ball', 'teddy bear'), 'playing'),
    'book': 'reading',
    'vase': 'holding flowers',
    'laptop': 'computing',
    'clock': 'telling the time',
    'candle': 'giving light',
    'toaster': 'toasting bread',
}
"""What some things are shaped like, and what people use them for."""
