"""Which occurrences a query finds: related to others in time, in order, by number, or never."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, permutations
from math import dist

from remembr_ros.geometry import Point, distance
from remembr_ros.memory.deeds.query import (
    HANDLING,
    MOVES,
    DeedOrder,
    DeedQuery,
    FoundDeeds,
    Occurrence,
    is_named,
)
from remembr_ros.memory.deeds.verbs import kinds_meant

TRIED = 6  # places on a way of which every order is tried: of more there are thousands
MOST_IMPROVED = 150  # places on a way: of more it takes seconds to find legs that cross

Source = Callable[[DeedQuery], Sequence[Occurrence]]
"""Returns what there is of the kind, time, place, robots and map of a query, in the order of time."""


def choose_deeds(query: DeedQuery, source: Source) -> FoundDeeds:
    """Return what a query finds among that which took place.

    :param source: knows what did
    """
    every, anchors = _related(replace(query, never=''), source)
    if query.never:
        asked = replace(query, never='', nth=None, limit=None)
        names = {_name(deed, query.never) for deed in every}
        anytime = replace(query.scope, after_ns=None, before_ns=None)
        anywhere = source(DeedQuery(scope=anytime, never=query.never))
        others = {_name(deed, query.never): deed for deed in anywhere}  # the last one of each
        every = [deed for name, deed in others.items() if name and not _covered(name, names)]
        every = [deed for deed in every if not asked.object or deed.fits(DeedQuery(object=asked.object))]
    ordered = _ordered(every, query)
    if query.nth is not None:
        at = query.nth - 1 if query.nth > 0 else query.nth
        ordered = ordered[at:][:1] if -len(ordered) <= at < len(ordered) else []
    return FoundDeeds(tuple(ordered[: query.limit]), tuple(every), tuple(anchors))


def _name(deed: Occurrence, field: str) -> str:
    return str(getattr(deed.facts, field)).casefold()


def _covered(name: str, names: Iterable[str]) -> bool:
    """Tell whether one of the names is this one in more words: who touched the red cup touched a cup."""
    return any(name == other or (other and is_named(name, other)) for other in names)


def _related(query: DeedQuery, source: Source) -> tuple[list[Occurrence], list[Occurrence]]:
    """Return what meets the conditions of a query, in the order of time, and what that is related to."""
    sides = (query.after, query.before, query.during)
    after, before, during = (_anchors(side, source) if side is not None else None for side in sides)
    if query.right:
        sought = after or before or []
        beside = [_beside(deed, query, source, later=query.after is not None) for deed in sought]
        pairs = [(deed, anchor) for deed, anchor in zip(beside, sought, strict=True) if deed is not None]
        kept = set(map(id, _fitting(query, [deed for deed, _ in pairs])))
        pairs = [pair for pair in pairs if id(pair[0]) in kept]
        return [deed for deed, _ in pairs], [anchor for _, anchor in pairs]
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
    own = {(anchor.memory.id, anchor.start_ns) for anchor in anchors}
    found = [
        deed
        for deed in found
        if (deed.memory.id, deed.start_ns) not in own
        and (window[0] is None or deed.start_ns >= window[0])
        and (window[1] is None or deed.end_ns <= window[1])
    ]
    if during is not None:
        inside = [(deed, anchor) for deed in found for anchor in during if _lasts(anchor, deed)]
        found = list({id(deed): deed for deed, _ in inside}.values())
        anchors = [*anchors, *{id(anchor): anchor for _, anchor in inside}.values()] or during
    if query.at_ns is not None and found:
        apart = [max(deed.start_ns - query.at_ns, query.at_ns - deed.end_ns, 0) for deed in found]
        found = [deed for deed, ns in zip(found, apart, strict=True) if ns == min(apart)]
    return found, anchors


def _anchors(query: DeedQuery, source: Source) -> list[Occurrence]:
    return sorted(choose_deeds(query, source).found, key=lambda deed: (deed.start_ns, deed.end_ns))


def _lasts(anchor: Occurrence, other: Occurrence) -> bool:
    same = (anchor.memory.id, anchor.start_ns) == (other.memory.id, other.start_ns)
    return not same and anchor.start_ns <= other.start_ns <= anchor.end_ns


def _last_pair(after: Sequence[Occurrence], before: Sequence[Occurrence]) -> list[Occurrence]:
    """Return the last two of which one is over when the other begins; the nearest such."""
    for end in reversed(before):
        earlier = [deed for deed in after if deed.end_ns <= end.start_ns]
        if earlier:
            return [earlier[-1], end]
    return []


def _beside(deed: Occurrence, query: DeedQuery, source: Source, *, later: bool) -> Occurrence | None:
    """Return the deed right after, or right before, another one of the same robot."""
    robot = replace(query.scope, robots=(deed.memory.robot,))
    kind = HANDLING if query.kind == HANDLING else ''
    side = robot.within(deed.end_ns, None) if later else robot.within(None, deed.start_ns)
    others = [
        other
        for other in (source(DeedQuery(kind, scope=side)) if side else ())
        if (other.memory.id, other.start_ns) != (deed.memory.id, deed.start_ns)
        and (other.start_ns >= deed.end_ns if later else other.end_ns <= deed.start_ns)
    ]
    if not others:
        return None
    return min(others, key=lambda o: o.start_ns) if later else max(others, key=lambda o: o.end_ns)


def _fitting(query: DeedQuery, deeds: Sequence[Occurrence]) -> list[Occurrence]:
    if query.kind in ('', MOVES[0]):
        return [deed for deed in deeds if deed.fits(query)]
    meant = kinds_meant(query.kind, {deed.facts.kind for deed in deeds})
    for kinds in meant:
        if found := [deed for deed in deeds if deed.facts.kind in kinds and deed.fits(query)]:
            return found
    # No kind is called so: what was said of it may have the word.
    wider = replace(query, attribute=f'{query.attribute} {query.kind}'.strip())
    return [] if meant else [deed for deed in deeds if deed.fits(wider)]


def _ordered(deeds: Sequence[Occurrence], query: DeedQuery) -> list[Occurrence]:
    here, order = query.here or (0.0, 0.0, 0.0), query.order
    if order is DeedOrder.FIRST:
        return list(deeds)
    if order is DeedOrder.LAST:
        return list(reversed(deeds))
    if order in (DeedOrder.LONGEST, DeedOrder.SHORTEST):
        return sorted(deeds, key=lambda deed: deed.seconds, reverse=order is DeedOrder.LONGEST)
    placed = [deed for deed in deeds if deed.memory.pose is not None]
    if order is DeedOrder.WAY:
        return _shortest_way(placed, here)
    away = {id(deed): distance(_at(deed), here) for deed in placed}
    return sorted(placed, key=lambda deed: away[id(deed)], reverse=order is DeedOrder.FARTHEST)


def _at(deed: Occurrence) -> Point:
    pose = deed.memory.pose
    return pose.position if pose is not None else (0.0, 0.0, 0.0)


def _shortest_way(deeds: Sequence[Occurrence], here: Point) -> list[Occurrence]:
    """Return things in the order of a short way from here by all of them: of few the shortest; of more to the
    nearest first, then without legs that cross (2-opt, Croes 1958)."""
    if len(deeds) <= TRIED:

        def length(way: Iterable[Occurrence]) -> float:
            return sum(dist(at, to) for at, to in pairwise([here, *map(_at, way)]))

        return list(min(permutations(deeds), key=length))
    left, way = list(deeds), list[Occurrence]()
    at = here
    while left:
        way.append(min(left, key=lambda deed: dist(_at(deed), at)))
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
