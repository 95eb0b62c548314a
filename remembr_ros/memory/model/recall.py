"""Queries for memories (scope, text, place, time) and their results."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, check_point, distance
from remembr_ros.memory.model.record import SOURCES, Memory, check_plain
from remembr_ros.timestamps import NS

if TYPE_CHECKING:
    from remembr_ros.memory.model.area import Area

_T = TypeVar('_T')


@dataclass(frozen=True, slots=True)
class Scope:
    """Which memories a recall may find. Conditions combine with "and"; None admits all.

    :param after_ns: memories that end at or after this
    :param before_ns: memories that start at or before this
    :param near: with radius_m: memories at most that far from this point [m] in the map frame
    :param robots: any of these robots; empty: every robot
    :param map_id: the map; '' is a map of its own
    :param source: one of remembr_ros.memory.model.record.SOURCES
    :param without: all sources but these
    :param place: within the place of this name; a store makes it its area
    :param area: with near and radius_m around it: memories in this part of the map
    :raises InvalidRequest: the window or the place makes no sense
    """

    after_ns: int | None = None
    before_ns: int | None = None
    near: Point | None = None
    radius_m: float | None = None
    robots: tuple[str, ...] = ()
    map_id: str | None = None
    source: str | None = None
    without: tuple[str, ...] = ()
    place: str | None = None
    area: 'Area | None' = None

    def __post_init__(self) -> None:
        if self.after_ns is not None and self.before_ns is not None and self.after_ns > self.before_ns:
            raise InvalidRequest('the time window is empty: after lies later than before')
        if (self.near is None) != (self.radius_m is None):
            raise InvalidRequest(
                'near and radius go together: a radius needs near, a position around which it is'
            )
        if self.near is not None and self.radius_m is not None:
            if not (math.isfinite(self.radius_m) and self.radius_m >= 0.0):
                raise InvalidRequest(f'{self.radius_m} is not a radius in metres')
            check_point(self.near)

    def check(self) -> None:
        """Check that it can be searched.

        :raises InvalidRequest: a name cannot be one, nobody looked up its place, or there is no such source
        """
        for name in (*self.robots, self.map_id or ''):
            check_plain(name)
        if self.place is not None:
            raise InvalidRequest(f'nobody has looked up where {self.place[:60]!r} is')
        if self.source not in (None, *SOURCES):
            raise InvalidRequest(f'{self.source!r} is not a source; there are {", ".join(SOURCES)}')
        for source in self.without:
            check_plain(source)

    @property
    def is_narrow(self) -> bool:
        """Whether it is about a time or a place."""
        return (self.after_ns, self.before_ns, self.near, self.place) != (None, None, None, None)

    @property
    def asked_near(self) -> Point | None:
        """The place that somebody asked for by where it is: not the middle of one that has a name."""
        return None if self.area is not None and self.near == self.area.sphere[0] else self.near

    def within(self, after_ns: int | None, before_ns: int | None) -> 'Scope | None':
        """Return the part of the scope in a time window, open where None; None: there is none."""
        after = max((t for t in (self.after_ns, after_ns) if t is not None), default=None)
        before = min((t for t in (self.before_ns, before_ns) if t is not None), default=None)
        if after is not None and before is not None and after > before:
            return None
        return replace(self, after_ns=after, before_ns=before)

    def meet(self, other: 'Scope') -> 'Scope | None':
        """Return what both admit; None: there is nothing.

        :raises InvalidRequest: both have a place, which one scope cannot say
        """
        inside = self.within(other.after_ns, other.before_ns)
        robots = tuple(robot for robot in self.robots if not other.robots or robot in other.robots)
        if inside is None or (self.robots and not robots):
            return None
        fields = {}
        for name in ('near', 'radius_m', 'map_id', 'source', 'place', 'area'):
            mine, others = getattr(self, name), getattr(other, name)
            if None not in (mine, others) and mine != others:
                if name in ('map_id', 'source'):
                    return None
                raise InvalidRequest('a question within a place cannot ask of another one')
            fields[name] = others if mine is None else mine
        without = tuple(dict.fromkeys((*self.without, *other.without)))
        return replace(inside, robots=robots or other.robots, without=without, **fields)

    def admits(self, memory: Memory) -> bool:
        """Tell whether a memory meets every condition."""
        return (
            (self.after_ns is None or memory.end_ns >= self.after_ns)
            and (self.before_ns is None or memory.start_ns <= self.before_ns)
            and (not self.robots or memory.robot in self.robots)
            and self.map_id in (None, memory.map_id)
            and self.source in (None, memory.source)
            and memory.source not in self.without
            and self.reaches(memory.pose.position if memory.pose else None)
        )

    def reaches(self, position: Point | None) -> bool:
        """Tell whether a place (None: unplaced) lies inside the radius, and the area."""
        if self.near is None or self.radius_m is None:
            return True
        if position is None or distance(position, self.near) > self.radius_m:
            return False
        return self.area is None or bool(self.area.covers(np.array([position]))[0])


ANYTHING = Scope()


def offset_ns(memory: Memory, time_ns: int) -> int:
    """Return how far a memory lies from a time: negative before it, 0 around it [ns]."""
    return max(memory.start_ns - time_ns, 0) + min(memory.end_ns - time_ns, 0)


@dataclass(frozen=True, slots=True)
class Hit:
    """A memory that a recall found.

    :param score: relevance from 0 to 1, higher is better; only comparable within one recall by text
    :param distance_m: to the asked place; None if none was asked or the memory is unplaced
    :param offset_s: from the asked time to the memory, negative before it, 0 inside it; None: none was asked
    :param place: name of the place that it was made in; empty: it has none
    :param passages: its sentences and read texts that are nearest to the asked text, nearest first
    """

    memory: Memory
    score: float
    distance_m: float | None = None
    offset_s: float | None = None
    place: str = ''
    passages: tuple[str, ...] = ()

    def measured(self, place: Point | None, time_ns: int | None = None) -> 'Hit':
        """Return the hit with how far it is from a place and from a time, where these are given."""
        pose, metres, offset_s = self.memory.pose, self.distance_m, self.offset_s
        if place is not None and pose is not None:
            metres = distance(pose.position, place)
        if time_ns is not None:
            offset_s = offset_ns(self.memory, time_ns) / NS
        return replace(self, distance_m=metres, offset_s=offset_s)


class Order(str, Enum):
    """What a query puts first; the values are those of the service recall."""

    TEXT = 'text'
    PLACE = 'place'
    TIME = 'time'
    NEWEST = 'newest'
    AROUND = 'around'


@dataclass(frozen=True, slots=True)
class Query:
    """What a recall shall find: by a text, a place or a time, or by none of them the newest memories.

    :param text: those that fit it best, best first
    :param place: the placed ones nearest to this point [m] in the map frame, nearest first
    :param time_ns: those nearest to this time, nearest first; the future is allowed
    :param around: with time_ns: the memory at it with those right before and after it, in the order of time;
        half of the others before it, half after, and more on one side where the other has fewer
    :param scope: only memories in it
    :param limit: so many at most, 1 or more
    :raises InvalidRequest: that makes no sense
    """

    text: str | None = None
    _: KW_ONLY
    place: Point | None = None
    time_ns: int | None = None
    around: bool = False
    scope: Scope = ANYTHING
    limit: int = 5

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise InvalidRequest(f'the limit is {self.limit}; ask for at least one memory')
        if sum(by is not None for by in (self.text, self.place, self.time_ns)) > 1:
            raise InvalidRequest('ask by a text, by a place or by a time; a scope narrows it down')
        if self.around and self.time_ns is None:
            raise InvalidRequest('what lies around goes with a time')
        if self.text is not None and not self.text.strip():
            raise InvalidRequest('a recall by text needs a text')
        if self.place is not None:
            check_point(self.place)

    @property
    def order(self) -> Order:
        """What it puts first."""
        if self.text is not None:
            return Order.TEXT
        if self.place is not None:
            return Order.PLACE
        if self.time_ns is not None:
            return Order.AROUND if self.around else Order.TIME
        return Order.NEWEST

    def cut(self, hits: Sequence[Hit]) -> list[Hit]:
        """Return no more of these hits than it asks for.

        :param hits: in its order
        """
        if not self.around:
            return list(hits[: self.limit])
        middle = min(range(len(hits)), key=lambda i: abs(hits[i].offset_s or 0.0), default=0)
        return consecutive(hits, middle, self.limit)


def query_by(
    text: str | None, place: Point | None, time_ns: int | None, *, around: bool, scope: Scope, limit: int
) -> Query:
    """Return the query by the first of text, place and time that is given; the others do not narrow it.

    :raises InvalidRequest: that makes no sense
    """
    if around and (time_ns is None or text is not None or (place and scope.near is None)):
        raise InvalidRequest('around goes with time, not with a text nor with a place without radius')
    place = place if text is None and not around else None
    time_ns = time_ns if text is None and place is None else None
    return Query(text, place=place, time_ns=time_ns, around=around, scope=scope, limit=limit)


def consecutive(ordered: Sequence[_T], middle: int, limit: int) -> list[_T]:
    """Return one thing with those next to it, as many before it as after it where there are."""
    start = max(0, min(middle - (limit - 1) // 2, len(ordered) - limit))
    return list(ordered[start : start + limit])


@dataclass(frozen=True, slots=True)
class MapArea:
    """The part of a map in which memories were made.

    :param low: least coordinates [m] in the map frame
    :param high: greatest ones
    :param memories: how many were made there
    """

    map_id: str
    low: Point
    high: Point
    memories: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What there is in a scope, without reading any of it.

    :param first_ns: start of the earliest memory; None: there is none
    :param last_ns: end of the latest
    :param driven_m: how far the robots drove, in straight lines from memory to memory; None: nobody told,
        as a server of many memories does not
    :param areas: where, map by map, most memories first; empty if nobody told
    """

    memories: int
    first_ns: int | None = None
    last_ns: int | None = None
    driven_m: float | None = 0.0
    areas: tuple[MapArea, ...] = ()


def survey_of(memories: Iterable[Memory]) -> Survey:
    """Return the survey of these memories."""
    ordered = sorted(memories, key=lambda memory: (memory.start_ns, memory.id))
    driven_m, areas = 0.0, dict[str, MapArea]()
    last_at: dict[tuple[str, str], Point] = {}
    for memory in ordered:
        if memory.pose is None:
            continue
        at, map_id = memory.pose.position, memory.map_id
        driven_m += distance(last_at.get((memory.robot, map_id), at), at)
        last_at[memory.robot, map_id] = at
        known = areas.get(map_id, MapArea(map_id, at, at, 0))
        low, high = (tuple(map(pick, end, at)) for pick, end in ((min, known.low), (max, known.high)))
        areas[map_id] = MapArea(map_id, low, high, known.memories + 1)  # type: ignore[arg-type]
    return Survey(
        len(ordered),
        min((memory.start_ns for memory in ordered), default=None),
        max((memory.end_ns for memory in ordered), default=None),
        driven_m,
        tuple(sorted(areas.values(), key=lambda area: (-area.memories, area.map_id))),
    )
