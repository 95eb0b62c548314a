"""Which memories were made at one place, and which in one stay there."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from remembr_ros.geometry import Point, distance
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

SAME_PLACE_M = 5.0
"""Unless the asker says otherwise: a thing is often seen from some metres before it to some behind it."""

GAP_NS = 30 * NS  # A thing out of sight for longer than this was left, and seen again is seen another time

Walls = Callable[[Point, Sequence[Point]], Iterable[bool]]
"""Tells from which of several points [m] a wall divides one."""

WentAway = Callable[[Memory, Memory], bool]
"""Tells whether a robot was elsewhere between two of its memories, of one place."""

Mapped = tuple[str, str]  # A frame and the map that it belongs to


@dataclass(frozen=True, slots=True)
class SamePlace:
    """What makes the points that memories were made at one place: they are near, and no wall is between.

    :param radius_m: points up to this far from each other, inclusive, are near
    :param walls: of the map; None: there is none to ask
    :param mapped: frame and map that walls knows
    """

    radius_m: float = SAME_PLACE_M
    walls: Walls | None = None
    mapped: Mapped = ('map', '')

    def joins(self, mapped: Mapped, point: Point, others: Sequence[Point]) -> list[bool]:
        """Return which of other points of the same frame and map are at one place with a point."""
        near = [distance(point, other) <= self.radius_m for other in others]
        if self.walls is None or mapped != self.mapped or not any(near):
            return near
        divided = iter(
            self.walls(point, [other for other, is_near in zip(others, near, strict=True) if is_near])
        )
        return [is_near and not next(divided) for is_near in near]


USUAL = SamePlace()  # Without a map, and where nobody says otherwise


def by_place(hits: Sequence[Hit], same_place: SamePlace) -> list[list[Hit]]:
    """Return the hits in groups of one place each; groups, and the hits in each, in the order given.

    What is at one place with any of a group belongs to it. A hit without a pose says nothing of places: it
    goes with the one of its map that is nearest in time.
    """
    placed: defaultdict[Mapped, list[int]] = defaultdict(list)
    for i, hit in enumerate(hits):
        if hit.memory.pose is not None:
            placed[hit.memory.frame_id, hit.memory.map_id].append(i)
    groups = [group for mapped, rows in placed.items() for group in _joined(hits, mapped, rows, same_place)]
    group_of = {i: group for group in groups for i in group}
    unplaced: dict[str, list[int]] = {}
    for i, hit in enumerate(hits):
        if hit.memory.pose is None:
            map_id = hit.memory.map_id
            of_map = [j for j in group_of if hits[j].memory.map_id == map_id]
            near = sorted((_apart(hit.memory, hits[j].memory), j) for j in of_map)
            (group_of[near[0][1]] if near else unplaced.setdefault(map_id, [])).append(i)
    return [[hits[i] for i in group] for group in sorted(map(sorted, (*groups, *unplaced.values())))]


def _joined(
    hits: Sequence[Hit], mapped: Mapped, rows: Sequence[int], same_place: SamePlace
) -> Iterator[list[int]]:
    points = {i: pose.position for i in rows if (pose := hits[i].memory.pose) is not None}
    size = max(same_place.radius_m, 0.1)  # [m] What joins a point is in its cell or in one next to it
    cells = {i: tuple(math.floor(value / size) for value in point) for i, point in points.items()}
    left: defaultdict[tuple[int, ...], list[int]] = defaultdict(list)
    for i, cell in cells.items():
        left[cell].append(i)
    for i in points:
        if i not in left[cells[i]]:
            continue
        group = [i]
        left[cells[i]].remove(i)
        for member in group:  # which grows meanwhile
            for cell in product(*((value - 1, value, value + 1) for value in cells[member])):
                if not left.get(cell):
                    continue
                joined = same_place.joins(mapped, points[member], [points[j] for j in left[cell]])
                group += [j for j, joins in zip(left[cell], joined, strict=True) if joins]
                left[cell] = [j for j, joins in zip(left[cell], joined, strict=True) if not joins]
        yield group


def _apart(memory: Memory, other: Memory) -> tuple[bool, int, int, str]:
    """Return what sorts memories by how near they are to one in time, its own robot's first."""
    gap_ns = max(memory.start_ns - other.end_ns, other.start_ns - memory.end_ns, 0)
    return other.robot != memory.robot, gap_ns, other.start_ns, other.id


def stays(hits: Sequence[Hit], went_away: WentAway = lambda _, __: True) -> list[list[Hit]]:
    """Return the hits in groups of one stay each, all in the order of time.

    :param went_away: asked of memories that are more than GAP_NS apart
    """
    found: list[list[Hit]] = []
    end_ns = 0
    for hit in sorted(hits, key=lambda hit: (hit.memory.start_ns, hit.memory.id)):
        if found and (
            hit.memory.start_ns - end_ns <= GAP_NS or not went_away(found[-1][-1].memory, hit.memory)
        ):
            found[-1].append(hit)
        else:
            found.append([hit])
            end_ns = 0
        end_ns = max(end_ns, hit.memory.end_ns)
    return found


def stay_of(chosen: Hit, hits: Sequence[Hit]) -> list[Hit]:
    """Return the stay that a hit belongs to, in the order of time.

    :param hits: that one among them
    """
    return next(stay for stay in stays(hits) if any(hit.memory.id == chosen.memory.id for hit in stay))


def span(stay: Sequence[Hit]) -> tuple[int, int]:
    """Return when a stay began and ended, nanoseconds since the Unix epoch."""
    return min(hit.memory.start_ns for hit in stay), max(hit.memory.end_ns for hit in stay)
