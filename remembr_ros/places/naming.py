"""Suggests names for rooms of a map, by signs read and objects seen in them."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import shapely

from remembr_ros.agent.model.answer import Question
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.places.place import MAX_NAME, NamedPlace, place
from remembr_ros.memory.places.places import Places
from remembr_ros.navigation.grid import Grid
from remembr_ros.places.rooms import FoundRoom, find_rooms

USUAL_RADIUS_M = 2.0  # of a place that somebody names where no map shows its walls
KNOWN = 0.5  # share of a found room, or of a named place, that both have in common from which it has a name
AHEAD_M = 1.5  # in front of the camera is what it reads, about
DOOR_M = 2.5  # from a sign to the room that it names
SEEN_IN = 0.5  # share of the memories of a room that say what room it is

_KINDS = (
    r'kitchen(?:ette)?|cafeteria|canteen|library|reception|lobby|laundry|pantry|restroom|bathroom|bedroom|toilets?|wc'
    r'|office|lab(?:oratory)?|workshop|storage|archive|lounge|garage|corridor|hallway'
    r'|(?:living|dining|meeting|conference|server|copy|mail|printer|store|laundry)[ -]?room'
)
_SIGN = re.compile(
    rf'(?:(?:room|lab|office|suite|studio)\s*#?\s*[a-z]?-?\d{{1,5}}[a-z]?|(?:[a-z]+ )?(?:{_KINDS}))',
    re.IGNORECASE,
)
_SEEN = re.compile(rf'\b({_KINDS})\b', re.IGNORECASE)


def room_around(at: Sequence[float], grid: Grid | None = None, radius: float | None = None) -> dict[str, Any]:
    """Return the shape of the room around a point [m], as arguments of place; else a circle.

    :param grid: the map that shows the rooms; None: there is none
    :param radius: of the circle, whatever the map shows [m]
    """
    point = shapely.Point(at[:2])
    for room in find_rooms(grid) if grid is not None and radius is None else ():
        if shapely.Polygon(room.outline).intersects(point):
            return {'outline': room.outline, 'z': at[2]}
    return {'center': at, 'radius': USUAL_RADIUS_M if radius is None else radius}


def name_here(
    name: str, question: Question, store: Callable[[NamedPlace], object], grid: Grid | None = None
) -> NamedPlace:
    """Store the room where a question is asked under a name.

    :param store: raises InvalidRequest where another place is called so
    :raises InvalidRequest: it is no name, or it is not known where that is
    """
    here = question.here
    if here is None:
        raise InvalidRequest('it is not known where the robot is')
    about: dict[str, Any] = {
        'map_id': question.map_id,
        'frame_id': question.frame_id,
        'now_ns': question.now_ns,
    }
    named = place(name, **room_around(here.position, grid), **about)
    store(named)
    return named


def proposed_rooms(
    grid: Grid, known: Places, memories: Iterable[Memory], map_id: str = ''
) -> list[NamedPlace]:
    """Return the rooms of a map that have no name yet, each with what it may be called, as a guess.

    :param known: places with names
    :param memories: of which those on the map tell
    """
    here = [room for room in known.all if room.memory.map_id == map_id]
    named = [room.shape for room in here]
    rooms = []
    for room in find_rooms(grid):
        shape = shapely.Polygon(room.outline)
        common = [(shape.intersection(other).area, other.area) for other in named]
        if all(area < KNOWN * min(shape.area, whole) for area, whole in common):
            rooms.append(room)
    taken = {name.lower() for room in here for name in room.names}
    guesses = _guesses(rooms, [memory for memory in memories if memory.map_id == map_id], taken)
    return [
        place(name, outline=room.outline, guessed=why, map_id=map_id)
        for number, room in enumerate(rooms)
        for name, why in [guesses.get(number, (f'unnamed {number + 1}', 'the map shows a room'))]
    ]


def _guesses(
    rooms: Sequence[FoundRoom], memories: Sequence[Memory], taken: set[str]
) -> dict[int, tuple[str, str]]:
    """Return what rooms, by their index, may be called, and why.

    :param taken: names of others, in lower case; those that are guessed are added
    """
    shapes = [shapely.Polygon(room.outline) for room in rooms]
    tree = shapely.STRtree(shapes)
    signs: defaultdict[str, list[tuple[int, Any]]] = defaultdict(list)
    words_in: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for memory in memories:
        if (pose := memory.pose) is None:
            continue
        inside = tree.query(shapely.Point(pose.x, pose.y), predicate='intersects')
        room = int(inside[0]) if len(inside) else -1
        ahead = shapely.Point(pose.x + AHEAD_M * math.cos(pose.yaw), pose.y + AHEAD_M * math.sin(pose.yaw))
        for text in memory.scene_text:
            if _SIGN.fullmatch(text.strip()) and len(text) <= MAX_NAME:
                signs[' '.join(text.split())].append((room, ahead))
        words_in[room].update({word.lower() for word in _SEEN.findall(memory.caption)} | {''})
    found: dict[int, tuple[str, str]] = {}
    for room, words in words_in.items():
        whole = words.pop('', 0)
        name, times = next(iter(words.most_common(1)), ('', 0))
        if room >= 0 and name and name not in taken and times >= SEEN_IN * whole:
            found[room] = name, f'{times} of {whole} memories made there say so'
            taken.add(name)
    read_in = Counter(room for readings in signs.values() for room in {room for room, _ in readings})
    fits = []
    for text, readings in signs.items():
        # The last reading is the nearest. Where several names are read are the doors of other rooms.
        beside = [i for i in range(len(rooms)) if read_in[i] <= 1]
        fits += [(shapes[i].distance(readings[-1][1]), text, i, len(readings)) for i in beside]
    for away, text, room, times in sorted(fits):
        if away <= DOOR_M and room not in found and text.lower() not in taken:
            found[room] = text, f'"{text}" was read there {times} times'
            taken.add(text.lower())
    return found
