"""A room of known objects: a table with a red cup and a book, a bowl under it, a fridge with milk in it."""

from dataclasses import replace
from typing import Any

from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.objects.wording import sentence
from remembr_ros.timestamps import NS
from test.object_scene import T0, known_object

HOUR_NS = 3600 * NS
VISITS = ((T0, T0 + 60 * NS), (T0 + 2 * HOUR_NS, T0 + 2 * HOUR_NS + 60 * NS))
"""When the robot looked."""


def thing(
    name: str, at: tuple[float, float, float], size: tuple[float, float, float], **changes: Any
) -> KnownObject:
    """Return an object that stands at a place, the middle of its bottom, and was seen in both visits."""
    x, y, z = at
    facts = {
        'labels': {name: 3.0},
        'colour': '',
        'intervals': VISITS,
        'observations': 9,
        'sightings': (),
        **changes,
    }
    facts.setdefault('id', name.replace(' ', '-'))
    known = known_object(position=(x, y, z + size[2] / 2.0), size=size, **facts)
    return replace(known, memory=replace(known.memory, caption=sentence(known, '')))


TABLE = thing('table', (0.0, 0.0, 0.0), (1.2, 0.8, 0.75), colour='brown')
CUP = thing('cup', (0.2, 0.1, 0.76), (0.08, 0.08, 0.1), colour='red')
BOOK = thing('book', (-0.2, 0.1, 0.74), (0.16, 0.23, 0.05), colour='green')
BOWL = thing('bowl', (0.1, 0.0, 0.0), (0.2, 0.2, 0.1), colour='blue')
FRIDGE = thing('fridge', (2.0, 0.0, 0.0), (0.6, 0.6, 1.5), colour='white')
MILK = thing('milk', (2.0, 0.0, 0.65), (0.08, 0.08, 0.25), colour='white')
BOTTLE = thing('bottle', (2.0, 0.1, 1.5), (0.08, 0.08, 0.3), colour='green')
ROOM = (TABLE, CUP, BOOK, BOWL, FRIDGE, MILK, BOTTLE)

GONE = thing(
    'vase', (0.4, 0.2, 0.76), (0.1, 0.1, 0.2), intervals=VISITS[:1], absences=(VISITS[1],), colour='blue'
)
"""Was on the table, and was not there at the second visit."""
MOVED = thing(
    'plant',
    (3.0, 3.0, 0.0),
    (0.3, 0.3, 0.6),
    moves=((VISITS[0][1], VISITS[1][0], (-1.0, 0.0, 0.0), (0.0, 0.0, 0.0)),),
)
"""Was a metre further along -x at the first visit."""
