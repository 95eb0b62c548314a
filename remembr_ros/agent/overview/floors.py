"""The floor on which a memory was made: by its map's name, its height, or what says so.

Floors are counted as the building's signs count them, 0 the ground floor, -1 the basement; where nothing says
how, the level nearest to z = 0 is the first one.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from remembr_ros.agent.model.quoting import ORDINALS, TO_TWENTY
from remembr_ros.memory.model.record import Memory

STOREY_M = 2.5  # No storey is lower
ON_LEVEL_M = 0.5  # Poses of one floor are this near to it in height
ON_LEVELS = 0.9  # Share of all poses that are, where there are floors; on a hill they are not
FEWEST = 3  # Memories on a floor; in a lift there are fewer

_ORDINALS, _CARDINALS = ORDINALS[:10], TO_TWENTY[1:11]
_NUMBERS = {word: number for some in (_ORDINALS, _CARDINALS) for number, word in enumerate(some, 1)}
_FLOOR = r'(?:floor|level|storey|story)'
_NAMED = re.compile(
    rf'\b(?P<ground>ground)[\s_-]*{_FLOOR}\b|\b(?P<below>basement)\b'
    rf'|(?<![a-z\d])(?P<nth>{"|".join(_ORDINALS)}|\d{{1,2}}(?:st|nd|rd|th))[\s_-]*{_FLOOR}(?![a-z])'
    rf'|(?<![a-z]){_FLOOR}[\s_#-]*(?P<number>{"|".join(_CARDINALS)}|\d{{1,2}})(?![a-z\d])',
    re.IGNORECASE,
)
_SHORT = re.compile(r'(?:.*[\W_])?(?:[fl](?P<after>\d{1,2})|(?P<before>\d{1,2})f)(?:[\W_].*)?', re.IGNORECASE)
"""'F2', 'campus_L2', '2F': names of maps."""


@dataclass(frozen=True, slots=True)
class OnFloor:
    """The memories of a floor.

    :param by: what says so: 'map', 'height' or 'text'; empty: nothing tells floors apart
    """

    memories: tuple[Memory, ...]
    by: str


def floors_in(text: str) -> set[int]:
    """Return the floors that a text names: 0 is the ground floor, -1 the basement."""
    found = set()
    for named in _NAMED.finditer(text):
        number = (named['nth'] or named['number'] or '').lower()
        digits = number.rstrip('stndrh')
        found.add(0 if named['ground'] else -1 if named['below'] else _NUMBERS.get(number) or int(digits))
    return found


def without_floors(text: str) -> str:
    """Return a text without the floors that it names."""
    return _NAMED.sub(' ', text)


def on_floor(memories: Iterable[Memory], floor: int) -> OnFloor:
    """Return the memories that were made on a floor.

    The names of maps count before heights, heights before what captions and signs say. Where there are
    heights, signs only say with which number the floors begin. Without, a memory that names no floor is of
    the same as those before and after it.
    """
    of_map: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in sorted(memories, key=lambda memory: (memory.start_ns, memory.id)):
        of_map[memory.map_id].append(memory)
    names = {map_id: floor_of_map(map_id) for map_id in of_map}
    if floor in names.values():
        return OnFloor(_all(group for map_id, group in of_map.items() if names[map_id] == floor), 'map')
    unnamed = [group for map_id, group in of_map.items() if names[map_id] is None]
    high = [(group, levels) for group in unnamed if len(levels := levels_of(group)) > 1]
    if high:
        return OnFloor(_all(_at_height(group, levels, floor) for group, levels in high), 'height')
    telling = _all(_said(group, floor) for group in unnamed)
    tells = telling or len(names) > len(unnamed)
    return OnFloor(telling, ('text' if telling else 'map') if tells else '')


def levels_of(memories: Iterable[Memory]) -> list[float]:
    """Return the heights of the floors that memories were made on [m], the lowest first.

    :return: empty: heights tell no floors apart, as on a hill
    """
    heights = sorted(memory.pose.z for memory in memories if memory.pose is not None)
    left, levels = heights, list[float]()
    while left:
        near = max((_around(left, z, ON_LEVEL_M) for z in left[:: max(1, len(left) // 200)]), key=len)
        level = median(near)
        if len(near) >= FEWEST:
            levels.append(level)
        apart = STOREY_M / 2
        left = [z for z in left if abs(z - level) > apart]
    levels.sort()
    on_one = sum(len(_around(heights, level, ON_LEVEL_M)) for level in levels)
    too_low = any(b - a < STOREY_M - ON_LEVEL_M for a, b in pairwise(levels))
    return [] if too_low or on_one < ON_LEVELS * len(heights) else levels


def _around(ordered: Sequence[float], z: float, within: float) -> Sequence[float]:
    return ordered[bisect_left(ordered, z - within) : bisect_right(ordered, z + within)]


def _at_height(memories: Sequence[Memory], levels: Sequence[float], floor: int) -> list[Memory]:
    ground = min(range(len(levels)), key=lambda i: abs(levels[i]))
    at: dict[str, int] = {}
    for memory in memories:
        if memory.pose is not None:
            z = memory.pose.z
            at[memory.id] = min(range(len(levels)), key=lambda i: abs(levels[i] - z)) - ground
    named = ((at[memory.id], _floors_said(memory)) for memory in memories if memory.id in at)
    votes = Counter(min(floors) - level for level, floors in named if len(floors) == 1)
    # What is called ground floor or basement is one whatever the others' numbers are.
    first = votes.most_common(1)[0][0] if votes and floor > 0 else 0 if floor <= 0 else 1
    return [memory for memory in memories if at.get(memory.id) == floor - first]


def _said(memories: Sequence[Memory], floor: int) -> list[Memory]:
    """Return the memories that name a floor, and those between two that do."""
    found: list[Memory] = []
    waiting: dict[str, list[Memory] | None] = {}
    for memory in memories:
        floors, between = _floors_said(memory), waiting.get(memory.robot)
        if floor in floors:
            found += [*(between or ()), memory]
            waiting[memory.robot] = []
        elif floors:
            waiting[memory.robot] = None
        elif between is not None:
            between.append(memory)
    return found


def _floors_said(memory: Memory) -> set[int]:
    return {floor for text in (memory.caption, *memory.scene_text) for floor in floors_in(text)}


def floor_of_map(map_id: str) -> int | None:
    """Return the floor that the name of a map names; None: it names none, or several."""
    named = floors_in(map_id)
    if len(named) == 1:
        return min(named)
    short = _SHORT.fullmatch(map_id)
    return int(short['after'] or short['before']) if short else None


def _all(groups: Iterable[Iterable[Memory]]) -> tuple[Memory, ...]:
    return tuple(memory for group in groups for memory in group)
