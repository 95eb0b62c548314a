"""One query over what took place: deeds, sights of things, and visits to places, in order, time and number.

What each field means stands in one table in docs/deeds.md. Time, place, robot, map and source become the
engine's filter; what facts say is compared here.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import pairwise, permutations
from math import dist, fsum

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, check_point, distance
from remembr_ros.memory.deeds.deed import OUTCOMES, DeedFacts
from remembr_ros.memory.deeds.verbs import base, kinds_meant
from remembr_ros.memory.matching.terms import STOP_WORDS, content_stems, stem, synonyms, words, words_without
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

SIGHT, STAY, HANDLING = 'sight', 'stay', 'handling'
MOVES = ('moving', 'standing', 'turning', 'driving')
"""Kinds of what is no deed: a thing was in view; the robot was in a place that has a name; a thing was
picked and put elsewhere; it stood, turned (left, right), drove from one stop to the next, or did any of
these."""
TRIED = 6  # places on a way of which every order is tried: of more there are thousands
MOST_IMPROVED = 150  # places on a way: of more it takes seconds to find legs that cross
FIELDS = ('object', 'receptacle', 'place')  # of which names can be asked for


class DeedOrder(str, Enum):
    """What comes first: the first or the last in time, the longest, the shortest, the nearest to a place, the
    farthest from it, or what a robot that starts there comes to on the shortest way by all of them."""

    FIRST = 'first'
    LAST = 'last'
    LONGEST = 'longest'
    SHORTEST = 'shortest'
    NEAREST = 'nearest'
    FARTHEST = 'farthest'
    WAY = 'way'

    @property
    def from_here(self) -> bool:
        """Whether it needs a place to start from."""
        return self in (DeedOrder.NEAREST, DeedOrder.FARTHEST, DeedOrder.WAY)


@dataclass(frozen=True, slots=True)
class DeedQuery:
    """What is asked of that which took place. Conditions combine with "and"; what is empty is none.

    :param kind: by a usual word for it; 'sight': the object was in view; 'stay': the robot was in a
        place; 'handling': it handled a thing, from the pick to the place; one of MOVES, 'turning left',
        'turning right': how it moved
    :param object: words of its name
    :param receptacle: the same
    :param place: the same, of the place that is told, or that it was in
    :param attribute: more words that its names or its sentence have
    :param outcomes: any of these, of OUTCOMES
    :param scope: when, by which robot, on which map, near where
    :param after: begun when that was over, the last of several if it says nothing else
    :param before: over when that began, of which the same holds; with after: between the last such two
    :param during: begun while that lasted; of any
    :param right: with after or before: the very next deed is meant, of any of several
    :param at_ns: that was going on then, or else was nearest in time [ns since the Unix epoch]
    :param order: what comes first
    :param here: of the order [m] in the map
    :param nth: only this one, 1 is the first of the order, -1 its last
    :param limit: so many at most, 1 or more
    :param never: one of FIELDS: not these, but the last of each name in that field that none of these has
    :raises InvalidRequest: that makes no sense
    """

    kind: str = ''
    object: str = ''
    receptacle: str = ''
    place: str = ''
    attribute: str = ''
    outcomes: tuple[str, ...] = ()
    scope: Scope = ANYTHING
    after: 'DeedQuery | None' = None
    before: 'DeedQuery | None' = None
    during: 'DeedQuery | None' = None
    right: bool = False
    at_ns: int | None = None
    order: DeedOrder = DeedOrder.FIRST
    here: Point | None = None
    nth: int | None = None
    limit: int | None = None
    never: str = ''

    def __post_init__(self) -> None:
        if unknown := set(self.outcomes).difference(OUTCOMES):
            raise InvalidRequest(f'{min(unknown)!r} is no outcome; there are {", ".join(OUTCOMES)}')
        if self.never and self.never not in FIELDS:
            raise InvalidRequest(f'never is {self.never!r}; it may be {", ".join(FIELDS)}')
        if self.order.from_here and self.here is None:
            raise InvalidRequest(f'{self.order.value} needs a place to start from (here)')
        if self.here is not None:
            check_point(self.here)
        if self.nth == 0 or (self.limit is not None and self.limit < 1):
            raise InvalidRequest('nth counts from 1, or back from -1; the limit is 1 or more')
        if self.right and (self.after is None) == (self.before is None):
            raise InvalidRequest('the very next one is right after or right before something: give one')

    @property
    def names_nothing(self) -> bool:
        """Whether it is about whatever was done."""
        return not (self.kind or self.object or self.receptacle or self.place or self.attribute)


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Something that took place, in the terms of a deed.

    :param start_ns: nanoseconds since the Unix epoch
    :param facts: of a sight the kind SIGHT and the thing as object, of a stay STAY and the place
    :param memories: what it rests on, the one that tells most first
    :param metres: driven meanwhile [m]
    :param spent_ns: of its time
    """

    start_ns: int
    end_ns: int
    facts: DeedFacts
    memories: tuple[Memory, ...]
    metres: float = 0.0
    spent_ns: int = -1

    @property
    def memory(self) -> Memory:
        return self.memories[0]

    @property
    def as_memory(self) -> Memory:
        """The memory that tells most, as if it were of nothing but this: with its times and its facts."""
        facts = self.facts.model_dump(mode='json', exclude_defaults=True) | {'outcome': self.outcome}
        return replace(self.memory, start_ns=self.start_ns, end_ns=self.end_ns, facts=facts)

    @property
    def seconds(self) -> float:
        """How long it took [s]."""
        return (self.end_ns - self.start_ns if self.spent_ns < 0 else self.spent_ns) / NS

    @property
    def failed(self) -> bool:
        """Whether it did not come to its end."""
        return self.facts.outcome in ('failed', 'cancelled') or self.facts.kind == 'fail'

    def fits(self, query: DeedQuery) -> bool:
        """Tell whether it is what a query asks for, whatever its kind, its time and its relations."""
        facts = self.facts
        return (
            (not query.object or is_named(query.object, facts.object))
            and (not query.receptacle or is_named(query.receptacle, facts.receptacle))
            and (not query.place or is_named(query.place, facts.place))
            and (not query.outcomes or self.outcome in query.outcomes)
            and (not query.attribute or is_said(query.attribute, self.told))
        )

    @property
    def outcome(self) -> str:
        """How it ended; what is said to be a failure failed."""
        return 'failed' if self.facts.kind == 'fail' else self.facts.outcome

    @property
    def where(self) -> str:
        """The name of its place, of several the first; empty: it has none."""
        return self.facts.place.split(' / ')[0]

    @property
    def told(self) -> str:
        """All that is said of it."""
        facts = self.facts
        return ' '.join((facts.kind, facts.object, facts.receptacle, facts.place, self.memory.caption))


def is_named(asked: str, told: str) -> bool:
    """Tell whether a name has all words of the one that is asked for, or others for the same things."""
    stems = content_stems(told) if told else frozenset()
    return all(stem in stems or not stems.isdisjoint(synonyms(stem)) for stem in content_stems(asked))


def is_said(asked: str, told: str) -> bool:
    """Tell whether a text has all words asked for, in any of their forms, or others for the same things."""
    bases = {base(word) for word in words(told)}
    return all(
        base(word) in bases or any(base(same) in bases for same in synonyms(stem(word)))
        for word in words_without(STOP_WORDS, asked)
    )


@dataclass(frozen=True, slots=True)
class FoundDeeds:
    """What a query found.

    :param found: in its order, no more than it wants
    :param every: all that meet its conditions, in the order of time
    :param anchors: what these are before, after or during
    :param whole: all memories were looked at; else the latest
    """

    found: tuple[Occurrence, ...] = ()
    every: tuple[Occurrence, ...] = ()
    anchors: tuple[Occurrence, ...] = ()
    whole: bool = True

    @property
    def seconds(self) -> float:
        """How long all that meet the conditions took [s]."""
        return fsum(one.seconds for one in self.every)

    @property
    def mean_seconds(self) -> float | None:
        """The same on average [s]; None: there are none."""
        return self.seconds / len(self.every) if self.every else None

    @property
    def metres(self) -> float:
        """How far the robot drove in all of these [m]."""
        return fsum(one.metres for one in self.every)


Source = Callable[[DeedQuery], Sequence[Occurrence]]
"""Returns what there is of the kind, time, place, robots and map of a query, in the order of time."""


def choose_deeds(query: DeedQuery, source: Source) -> FoundDeeds:
    """Return what a query finds among that which took place.

    :param source: knows what did
    """
    every, anchors = _related(replace(query, never=''), source)
    if query.never:
        asked = replace(query, never='', nth=None, limit=None)
        names = {_name(one, query.never) for one in every}
        anytime = replace(query.scope, after_ns=None, before_ns=None)
        anywhere = source(DeedQuery(scope=anytime, never=query.never))
        others = {_name(one, query.never): one for one in anywhere}  # the last one of each
        every = [one for name, one in others.items() if name and not _covered(name, names)]
        every = [one for one in every if not asked.object or one.fits(DeedQuery(object=asked.object))]
    ordered = _ordered(every, query)
    if query.nth is not None:
        at = query.nth - 1 if query.nth > 0 else query.nth
        ordered = ordered[at:][:1] if -len(ordered) <= at < len(ordered) else []
    return FoundDeeds(tuple(ordered[: query.limit]), tuple(every), tuple(anchors))


def _name(one: Occurrence, field: str) -> str:
    return str(getattr(one.facts, field)).casefold()


def _covered(name: str, names: Iterable[str]) -> bool:
    """Tell whether one of the names is this one in more words: who touched the red cup touched a cup."""
    return any(name == other or (other and is_named(name, other)) for other in names)


def _related(query: DeedQuery, source: Source) -> tuple[list[Occurrence], list[Occurrence]]:
    """Return what meets the conditions of a query, in the order of time, and what that is related to."""
    sides = (query.after, query.before, query.during)
    after, before, during = (_anchors(side, source) if side is not None else None for side in sides)
    if query.right:
        sought = after or before or []
        beside = [_beside(one, query, source, later=query.after is not None) for one in sought]
        pairs = [(one, anchor) for one, anchor in zip(beside, sought, strict=True) if one is not None]
        kept = set(map(id, _fitting(query, [one for one, _ in pairs])))
        pairs = [pair for pair in pairs if id(pair[0]) in kept]
        return [one for one, _ in pairs], [anchor for _, anchor in pairs]
    anchors: list[Occurrence] = []
    window: tuple[int | None, int | None] = (None, None)
    if after is not None and before is not None:
        anchors = _last_pair(after, before)
        window = (anchors[0].end_ns, anchors[-1].start_ns) if anchors else window
    elif after is not None or before is not None:
        anchors = (after or before or [])[-1:]
        if anchors:
            window = (anchors[0].end_ns, None) if after is not None else (None, anchors[0].start_ns)
    if (after is not None or before is not None) and not anchors:
        return [], []
    narrowed = query.scope.within(*window)
    found = [] if narrowed is None else _fitting(query, source(replace(query, scope=narrowed)))
    own = {(one.memory.id, one.start_ns) for one in anchors}
    found = [
        one
        for one in found
        if (one.memory.id, one.start_ns) not in own
        and (window[0] is None or one.start_ns >= window[0])
        and (window[1] is None or one.end_ns <= window[1])
    ]
    if during is not None:
        inside = [(one, anchor) for one in found for anchor in during if _lasts(anchor, one)]
        found = list({id(one): one for one, _ in inside}.values())
        anchors = [*anchors, *{id(anchor): anchor for _, anchor in inside}.values()] or during
    if query.at_ns is not None and found:
        apart = [max(one.start_ns - query.at_ns, query.at_ns - one.end_ns, 0) for one in found]
        found = [one for one, ns in zip(found, apart, strict=True) if ns == min(apart)]
    return found, anchors


def _anchors(query: DeedQuery, source: Source) -> list[Occurrence]:
    found = choose_deeds(query, source).found
    return sorted(found, key=lambda one: (one.start_ns, one.end_ns))


def _lasts(anchor: Occurrence, one: Occurrence) -> bool:
    same = (anchor.memory.id, anchor.start_ns) == (one.memory.id, one.start_ns)
    return not same and anchor.start_ns <= one.start_ns <= anchor.end_ns


def _last_pair(after: Sequence[Occurrence], before: Sequence[Occurrence]) -> list[Occurrence]:
    """Return the last two of which one is over when the other begins; the nearest such."""
    for end in reversed(before):
        earlier = [one for one in after if one.end_ns <= end.start_ns]
        if earlier:
            return [earlier[-1], end]
    return []


def _beside(one: Occurrence, query: DeedQuery, source: Source, *, later: bool) -> Occurrence | None:
    """Return the deed right after, or right before, another one of the same robot."""
    robot = replace(query.scope, robots=(one.memory.robot,))
    kind = HANDLING if query.kind == HANDLING else ''
    side = robot.within(one.end_ns, None) if later else robot.within(None, one.start_ns)
    others = [
        other
        for other in (source(DeedQuery(kind, scope=side)) if side else ())
        if (other.memory.id, other.start_ns) != (one.memory.id, one.start_ns)
        and (other.start_ns >= one.end_ns if later else other.end_ns <= one.start_ns)
    ]
    if not others:
        return None
    return min(others, key=lambda o: o.start_ns) if later else max(others, key=lambda o: o.end_ns)


def _fitting(query: DeedQuery, some: Sequence[Occurrence]) -> list[Occurrence]:
    if query.kind in ('', MOVES[0]):
        return [one for one in some if one.fits(query)]
    meant = kinds_meant(query.kind, {one.facts.kind for one in some})
    for kinds in meant:
        if found := [one for one in some if one.facts.kind in kinds and one.fits(query)]:
            return found
    # No kind is called so: what was said of it may have the word.
    said = replace(query, attribute=f'{query.attribute} {query.kind}'.strip())
    return [] if meant else [one for one in some if one.fits(said)]


def _ordered(some: Sequence[Occurrence], query: DeedQuery) -> list[Occurrence]:
    here, order = query.here or (0.0, 0.0, 0.0), query.order
    if order is DeedOrder.FIRST:
        return list(some)
    if order is DeedOrder.LAST:
        return list(reversed(some))
    if order in (DeedOrder.LONGEST, DeedOrder.SHORTEST):
        return sorted(some, key=lambda one: one.seconds, reverse=order is DeedOrder.LONGEST)
    placed = [one for one in some if one.memory.pose is not None]
    if order is DeedOrder.WAY:
        return _shortest_way(placed, here)
    away = {id(one): distance(_at(one), here) for one in placed}
    return sorted(placed, key=lambda one: away[id(one)], reverse=order is DeedOrder.FARTHEST)


def _at(one: Occurrence) -> Point:
    pose = one.memory.pose
    return pose.position if pose is not None else (0.0, 0.0, 0.0)


def _shortest_way(some: Sequence[Occurrence], here: Point) -> list[Occurrence]:
    """Return things in the order of a short way from here by all of them: of few the shortest; of more to the
    nearest first, then without legs that cross (2-opt, Croes 1958)."""
    if len(some) <= TRIED:

        def length(way: Iterable[Occurrence]) -> float:
            return sum(dist(at, to) for at, to in pairwise([here, *map(_at, way)]))

        return list(min(permutations(some), key=length))
    left, way = list(some), list[Occurrence]()
    at = here
    while left:
        way.append(min(left, key=lambda one: dist(_at(one), at)))
        left.remove(way[-1])
        at = _at(way[-1])
    points = [here, *map(_at, way)]
    improved = len(points) <= MOST_IMPROVED
    while improved:
        improved = False
        for i in range(1, len(points) - 1):
            for j in range(i + 1, len(points)):
                after = points[j + 1] if j + 1 < len(points) else None
                old = dist(points[i - 1], points[i]) + (dist(points[j], after) if after else 0.0)
                new = dist(points[i - 1], points[j]) + (dist(points[i], after) if after else 0.0)
                if new < old - 1e-9:
                    points[i : j + 1] = points[i : j + 1][::-1]
                    way[i - 1 : j] = way[i - 1 : j][::-1]
                    improved = True
    return way
