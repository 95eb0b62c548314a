"""One floor of an office building, different for each seed, also as a grid for nav2_map_server.

A ring of corridors with rooms, a cafeteria and a library. Drawn once, with the robot driving round the ring
counter-clockwise; then mirrored along x, y, both or neither.

    y 22.5 +-----------------------------------------+
           |         N2         |       N1           |
      19   |     +------------------------------+    |
           | .   | <- north corridor            |    |
      16   | W1  |   +-----+         +------+   +----+ 14
           |     |   | I3  | library |      |   |    |
           | W2  |   +-----+---------+------+     cafeteria
      7    |     |   | I4  |   I1   |   I2  |        |
      4    |     +-  +------------------------+ +----+
           |  reception |  S1  |  S2  |   S3    |    |
       0   +-----------------------------------------+
           0    4.5     9.5                   27.5   34 x
"""

import math
import random
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from remembr_bench.simulation import furniture
from remembr_bench.simulation.building import (
    HALF_WALL_M,
    WALL_HEIGHT_M,
    Building,
    Colour,
    Place,
    SignPanel,
    Solid,
    Thing,
    Waypoint,
    mirrored,
    sign_width,
)
from remembr_bench.simulation.furniture import (
    COLOURS,
    DIRECTIONS,
    Facing,
    corridor_furniture,
    off_wall,
    place_furniture,
)
from remembr_ros.errors import InvalidRequest

SIZE = (34.0, 22.5)
FLAG_LETTER_M = 0.1
WALL_LETTER_M = 0.1
"""Low enough that a text recogniser reads a sign from some 8 m and not from the other end of the corridor, so
that what is remembered of a sign is remembered near it."""
SIGN_CENTRE_M = 1.7
"""Height of a sign's middle: half a metre above the camera, so that a robot drives under it."""

_WALL_COLOUR: Colour = (228, 224, 214)

_WALLS = (  # x, y of one end, x, y of the other
    (0, 0, 34, 0), (34, 0, 34, 22.5), (34, 22.5, 0, 22.5), (0, 22.5, 0, 0),
    (4.5, 0, 4.5, 22.5), (9.5, 4, 34, 4), (0, 19, 34, 19), (27.5, 0, 27.5, 7),
    (27.5, 13, 27.5, 22.5), (27.5, 14, 34, 14),
    (7.5, 7, 24.5, 7), (24.5, 7, 24.5, 16), (7.5, 16, 12, 16), (20, 16, 24.5, 16), (7.5, 16, 7.5, 7),
    (12, 10.5, 12, 16), (20, 10.5, 20, 16), (7.5, 10.5, 24.5, 10.5),
    (9.5, 0, 9.5, 4), (14, 0, 14, 4), (19, 0, 19, 4), (11, 7, 11, 10.5), (16.5, 7, 16.5, 10.5),
    (11, 19, 11, 22.5), (18, 19, 18, 22.5), (0, 15.5, 4.5, 15.5), (0, 11.5, 4.5, 11.5), (0, 7.5, 4.5, 7.5),
)  # fmt: skip

_ROUTE = tuple(
    Waypoint(*corner) for corner in (
        (7.0, 5.5, 1.0), (26.0, 5.5), (26.0, 6.8), (29.5, 9.3), (29.5, 10.4, 2.0), (29.5, 11.2),
        (26.0, 13.0), (26.0, 17.5), (24.2, 17.5, 1.5), (20.2, 17.5), (17.9, 14.4),
        (15.8, 14.4, 2.0), (14.2, 14.4), (11.6, 17.5), (6.0, 17.5), (6.0, 16.3, 1.5),
        (6.0, 3.4, 2.0),
    )
)  # fmt: skip

_SOUTH, _EAST, _NORTH, _WEST = -math.pi / 2, 0.0, math.pi / 2, math.pi


@dataclass(frozen=True, slots=True)
class _Doorway:
    """A door with a flag sign before it, as the robot comes along.

    :param x: where the flag's bracket meets the wall
    :param facing: which way the door opens, into the corridor
    :param drive: the robot's heading there [rad]; the sign faces the other way
    :param room: low x, low y, high x, high y of the room behind
    """

    x: float
    y: float
    facing: Facing
    drive: float
    room: tuple[float, float, float, float]


_DOORWAYS = (
    _Doorway(11.5, 4, 'north', _EAST, (9.5, 0, 14, 4)),
    _Doorway(14.0, 7, 'south', _EAST, (11, 7, 16.5, 10.5)),
    _Doorway(16.5, 4, 'north', _EAST, (14, 0, 19, 4)),
    _Doorway(19.0, 7, 'south', _EAST, (16.5, 7, 24.5, 10.5)),
    _Doorway(21.5, 4, 'north', _EAST, (19, 0, 27.5, 4)),
    _Doorway(21.2, 19, 'south', _WEST, (18, 19, 27.5, 22.5)),
    _Doorway(7.6, 19, 'south', _WEST, (4.5, 19, 11, 22.5)),
    _Doorway(4.5, 13.2, 'east', _SOUTH, (0, 11.5, 4.5, 15.5)),
    _Doorway(7.5, 12.3, 'west', _SOUTH, (7.5, 10.5, 12, 16)),
    _Doorway(4.5, 10.4, 'east', _SOUTH, (0, 7.5, 4.5, 11.5)),
    _Doorway(7.5, 9.0, 'west', _SOUTH, (7.5, 7, 11, 10.5)),
)

_ROOM_NAMES = ('OFFICE', 'LAB', 'STUDIO', 'MEETING', 'WORKSHOP', 'ARCHIVE', 'STORAGE', 'KITCHEN')
_NUMBERED = ('OFFICE', 'LAB', 'STUDIO', 'MEETING')
_SERVICES = ('LIFT', 'TOILETS', 'STAIRS')

_PAPER: dict[str, tuple[Colour, Colour]] = {  # text -> paper and ink
    'EXIT': ((0, 110, 60), (255, 255, 255)),
    'CAFETERIA': ((140, 30, 26), (255, 255, 255)),
    'LIBRARY': ((74, 38, 108), (255, 255, 255)),
    'RECEPTION': ((36, 40, 48), (255, 255, 255)),
    'PRINTER': ((250, 206, 60), (16, 16, 16)),
    **dict.fromkeys(_SERVICES, ((20, 66, 150), (255, 255, 255))),
}
_ROOM_PAPER: tuple[Colour, Colour] = ((250, 250, 246), (16, 18, 24))


def generate_building(seed: int = 0) -> Building:
    """Return the building of a seed: the same seed gives the same building.

    The seed decides which rooms there are and where, the furniture, the colours, and the mirroring.

    :raises InvalidRequest: the seed is negative
    """
    if seed < 0:
        raise InvalidRequest(f'the seed of a building is {seed}; give 0 or more')
    rng = random.Random(seed)
    flip_x, flip_y = rng.random() < 0.5, rng.random() < 0.5
    north, south = ('south', 'north') if flip_y else ('north', 'south')
    east, west = ('west', 'east') if flip_x else ('east', 'west')
    halls = (
        Place(f'{south} corridor', (4.5, 4.0), (27.5, 7.0), True),
        Place(f'{north} corridor', (4.5, 16.0), (27.5, 19.0), True),
        Place(f'{west} corridor', (4.5, 4.0), (7.5, 19.0), True),
        Place(f'{east} corridor', (24.5, 4.0), (27.5, 19.0), True),
        Place('reception', (4.5, 0.0), (9.5, 4.0)),
        Place('cafeteria', (27.5, 4.0), (34.0, 14.0)),
        Place('library', (12.0, 10.5), (20.0, 16.0)),
    )
    names = {hall.name.split()[0] if hall.is_corridor else hall.name: hall.name for hall in halls}
    side = {_EAST: names[south], _WEST: names[north], _SOUTH: names[west]}
    door_colour = rng.choice(list(COLOURS.items()))

    signs: list[SignPanel] = []
    things: list[Thing] = []
    rooms: list[Place] = []
    for doorway, text in zip(_DOORWAYS, _texts(rng), strict=True):
        signs.append(_flag(doorway, text, side[doorway.drive]))
        things.append(_door(doorway, text, side[doorway.drive], door_colour))
        x0, y0, x1, y1 = doorway.room
        rooms.append(Place(text, (x0, y0), (x1, y1)))
    signs += [
        _wall_sign('EXIT', side[_EAST], (27.5, 5.5), _WEST, 2.3),
        _wall_sign('CAFETERIA', 'cafeteria', (29.5, 14), _SOUTH),
        _wall_sign('PRINTER', names[east], (26.0, 19), _SOUTH),
        _wall_sign('LIBRARY', 'library', (12, 14.2), _EAST),
        _wall_sign('EXIT', side[_WEST], (4.5, 17.5), _EAST, 2.3),
        _wall_sign('RECEPTION', 'reception', (6.4, 0), _NORTH),
    ]
    things += place_furniture(rng, names[south], names[north], names[east])
    things += corridor_furniture(rng, halls)
    building = Building(
        seed,
        SIZE,
        tuple(_wall(*ends) for ends in _WALLS),
        halls + tuple(rooms),
        tuple(signs),
        tuple(things),
        _ROUTE,
    )
    if flip_x:
        building = mirrored(building, 0)
    return mirrored(building, 1) if flip_y else building


def _texts(rng: random.Random) -> list[str]:
    """Return what the flag signs say, in the order of the doorways; no text twice."""
    hundred = 100 * rng.randint(1, 4)
    texts = [f'ROOM {hundred + number}' for number in rng.sample(range(1, 40), 5)]
    for name in rng.sample(_ROOM_NAMES, 3):
        texts.append(f'{name} {rng.randint(2, 9)}' if name in _NUMBERED else name)
    texts += _SERVICES
    rng.shuffle(texts)
    return texts


def _wall(x0: float, y0: float, x1: float, y1: float) -> Solid:
    low = (min(x0, x1) - HALF_WALL_M, min(y0, y1) - HALF_WALL_M, 0.0)
    high = (max(x0, x1) + HALF_WALL_M, max(y0, y1) + HALF_WALL_M, WALL_HEIGHT_M)
    return Solid(low, high, _WALL_COLOUR)


def _flag(doorway: _Doorway, text: str, place: str) -> SignPanel:
    paper, ink = _PAPER.get(text, _ROOM_PAPER)
    x, y = off_wall(doorway.x, doorway.y, doorway.facing)
    dx, dy = DIRECTIONS[doorway.facing]
    reach = sign_width(text, FLAG_LETTER_M) / 2 + 0.03
    centre = (x + dx * reach, y + dy * reach, SIGN_CENTRE_M)
    towards = _EAST if doorway.drive == _WEST else _WEST if doorway.drive == _EAST else -doorway.drive
    return SignPanel(text, place, centre, towards, FLAG_LETTER_M, paper, ink, two_sided=True)


def _wall_sign(
    text: str, place: str, at: tuple[float, float], yaw: float, up_m: float = SIGN_CENTRE_M
) -> SignPanel:
    paper, ink = _PAPER[text]
    out = HALF_WALL_M + 0.02
    centre = (at[0] + out * round(math.cos(yaw)), at[1] + out * round(math.sin(yaw)), up_m)
    return SignPanel(text, place, centre, yaw, WALL_LETTER_M, paper, ink)


def _door(doorway: _Doorway, text: str, place: str, colour: tuple[str, Colour]) -> Thing:
    """Return the door, 0.9 m behind the flag as the robot comes."""
    along = 0.9
    x = doorway.x + along * round(math.cos(doorway.drive))
    y = doorway.y + along * round(math.sin(doorway.drive))
    if text == 'LIFT':
        return Thing('lift door', place, furniture.lift_door(x, y, doorway.facing, colour[1]))
    return Thing(f'{colour[0]} door', place, furniture.door(x, y, doorway.facing, colour[1]))


RESOLUTION_M = 0.05
MARGIN_M = 1.0  # around the outermost walls
LIDAR_M = 0.3  # What stands at this height is in the way
FREE, OCCUPIED, UNKNOWN = 254, 0, 205  # As map_saver writes them


def write_floor_map(folder: Path, building: Building) -> Path:
    """Write map.yaml and map.pgm as a robot that saw every room would have saved them.

    :param folder: is there
    :return: map.yaml
    """
    solids = [solid for thing in building.things for solid in thing.solids]
    obstacles = [*building.walls, *(solid for solid in solids if solid.low[2] <= LIDAR_M <= solid.high[2])]
    low = [min(wall.low[axis] for wall in building.walls) - MARGIN_M for axis in (0, 1)]
    high = [max(wall.high[axis] for wall in building.walls) + MARGIN_M for axis in (0, 1)]
    width, height = (math.ceil((high[axis] - low[axis]) / RESOLUTION_M) for axis in (0, 1))
    cells = np.full((height, width), UNKNOWN, np.uint8)
    margin = round(MARGIN_M / RESOLUTION_M)
    cells[margin:-margin, margin:-margin] = FREE
    for solid in obstacles:
        rows, columns = (_cells(solid, axis, low[axis]) for axis in (1, 0))
        cells[rows, columns] = OCCUPIED
    # The picture's first row is the farthest north.
    if not cv2.imwrite(str(folder / 'map.pgm'), cells[::-1]):
        raise OSError(f'cannot write {folder / "map.pgm"}')
    file = folder / 'map.yaml'
    file.write_text(
        f'image: map.pgm\nmode: trinary\nresolution: {RESOLUTION_M}\n'
        f'origin: [{low[0]:.3f}, {low[1]:.3f}, 0.0]\n'
        'negate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.25\n'
    )
    return file


def _cells(solid: Solid, axis: int, origin: float) -> slice:
    """Return which rows or columns a solid covers, at least one."""
    first = math.floor((solid.low[axis] - origin) / RESOLUTION_M)
    return slice(first, max(first + 1, math.ceil((solid.high[axis] - origin) / RESOLUTION_M)))
