"""Queries for objects and their results, also as JSON; used by command line, services, tools and rules."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.objects.relations import ObjectRelation, Relations, relation_named
from remembr_ros.memory.objects.wording import changes_of, is_called
from remembr_ros.timestamps import format_iso


class ObjectOrder(str, Enum):
    """Which objects come first: those that fit a text best, are nearest to a place, were seen last, first,
    or most often, or are the largest."""

    TEXT = 'text'
    NEAREST = 'nearest'
    LAST_SEEN = 'last seen'
    FIRST_SEEN = 'first seen'
    MOST_SEEN = 'most seen'
    LARGEST = 'largest'


@dataclass(frozen=True, slots=True)
class ObjectQuery:
    """Which objects are asked for; each field as the form in remembr_ros.forms.objects says it.

    :param scope: seen in this time (of a relation: when it held), within this place, by these robots, on
        this map
    :raises InvalidRequest: that makes no sense
    """

    called: str = ''
    text: str = ''
    relation: str = ''
    anchor: str = ''
    missing: bool | None = None
    moved: bool | None = None
    changed_since_ns: int | None = None
    place: Point | None = None
    order: ObjectOrder | None = None
    scope: Scope = ANYTHING
    limit: int | None = None

    def __post_init__(self) -> None:
        if self.relation:
            relation_named(self.relation)
        if bool(self.relation) != bool(self.anchor.strip()):
            raise InvalidRequest('a relation goes with the object that others are on, in, under or next to')
        if self.limit is not None and self.limit < 1:
            raise InvalidRequest(f'the limit is {self.limit}; ask for at least one object')
        if self.order is ObjectOrder.NEAREST and self.place is None:
            raise InvalidRequest('the nearest needs a place to be near to')
        if self.order is ObjectOrder.TEXT and not self.text.strip():
            raise InvalidRequest('what fits a text best needs a text')

    @property
    def ordered_by(self) -> ObjectOrder:
        """What comes first."""
        if self.order is not None:
            return self.order
        if self.text:
            return ObjectOrder.TEXT
        return ObjectOrder.LAST_SEEN if self.place is None else ObjectOrder.NEAREST


@dataclass(frozen=True, slots=True)
class FoundObject:
    """An object that a query found.

    :param relations: how it lies to others, in the time that was asked for; without one, now
    :param place: name of the place that it is in; empty: it has none
    """

    known: KnownObject
    relations: tuple[ObjectRelation, ...] = ()
    place: str = ''


@dataclass(frozen=True, slots=True)
class FoundObjects:
    """What a query found.

    :param objects: in its order, no more than its limit
    :param total: how many there are in all
    :param anchors: what the relation is to
    """

    objects: tuple[FoundObject, ...] = ()
    total: int = 0
    anchors: tuple[KnownObject, ...] = ()


def choose_objects(
    query: ObjectQuery, known: Sequence[KnownObject], scores: Mapping[str, float] | None = None
) -> FoundObjects:
    """Return what a query finds among all objects.

    :param known: all of the scope's robots and map, whenever they were seen
    :param scores: by id, how well those that fit the text do
    """
    of_map: dict[tuple[str, str, str], list[KnownObject]] = {}
    for candidate in known:
        of_map.setdefault(_map_of(candidate), []).append(candidate)
    relations = {map_key: Relations(group) for map_key, group in of_map.items()}
    window = query.scope.after_ns, query.scope.before_ns
    anchors = tuple(candidate for candidate in known if query.anchor and is_meant(candidate, query.anchor))
    candidates: Iterable[KnownObject] = known
    if query.relation:
        pairs = (pair for anchor in anchors for pair in relations[_map_of(anchor)].to(anchor, query.relation))
        candidates = {obj.id: obj for obj, relation in pairs if relation.held(*window)}.values()
    found = [candidate for candidate in candidates if _is_asked(candidate, query, scores)]
    found = _ordered(found, query, scores or {})
    shown = found[: query.limit]
    entries = [
        FoundObject(obj, tuple(rel for rel in relations[_map_of(obj)].of(obj) if rel.held(*window)))
        for obj in shown
    ]
    return FoundObjects(tuple(entries), len(found), anchors)


def is_meant(known: KnownObject, name: str) -> bool:
    """Tell whether a name is that of an object, or its id."""
    return name in (known.id, *known.facts.aliases) or is_called(known, name)


def _map_of(known: KnownObject) -> tuple[str, str, str]:
    return known.memory.robot, known.memory.map_id, known.memory.frame_id


def _is_asked(known: KnownObject, query: ObjectQuery, scores: Mapping[str, float] | None) -> bool:
    missing = known.missing_ns is not None
    return (
        (not query.called or is_meant(known, query.called))
        and (scores is None or known.id in scores)
        and query.missing in (None, missing)
        and query.moved in (None, bool(known.moves))
        and (query.changed_since_ns is None or bool(changes_of(known, query.changed_since_ns)))
        and query.scope.reaches(known.position)
        and bool(known.seen_within(query.scope.after_ns, query.scope.before_ns))
    )


def _ordered(found: list[KnownObject], query: ObjectQuery, scores: Mapping[str, float]) -> list[KnownObject]:
    order, place = query.ordered_by, query.place or (0.0, 0.0, 0.0)
    keys = {
        ObjectOrder.TEXT: lambda thing: -scores.get(thing.id, 0.0),
        ObjectOrder.NEAREST: lambda thing: distance(thing.position, place),
        ObjectOrder.LAST_SEEN: lambda thing: -thing.memory.end_ns,
        ObjectOrder.FIRST_SEEN: lambda thing: thing.memory.start_ns,
        ObjectOrder.MOST_SEEN: lambda thing: -thing.facts.observations,
        ObjectOrder.LARGEST: lambda thing: -thing.size[0] * thing.size[1] * thing.size[2],
    }
    # Without a word about the order, what lies next to something stays by its distance from that.
    if query.relation and query.order is None and query.place is None and not query.text:
        return found
    return sorted(found, key=keys[order])


def history(known: KnownObject) -> list[dict[str, Any]]:
    """Return what happened to an object, oldest first: when it was seen, gone and moved, and its
    states, as JSON."""
    events: list[tuple[int, dict[str, Any]]]
    events = [(start, {'event': 'seen', 'until': format_iso(end)}) for start, end in known.facts.intervals]
    events += [(start, {'event': 'gone', 'until': format_iso(end)}) for start, end in known.facts.absences]
    events += [
        (left, {'event': 'moved', 'until': format_iso(came), 'from': list(a), 'to': list(b)})
        for left, came, a, b in known.moves
    ]
    events += [(at, {'event': 'state', 'state': state}) for at, state, _ in known.facts.states]
    return [{'at': format_iso(at), **event} for at, event in sorted(events, key=lambda pair: pair[0])]


def object_json(
    known: KnownObject, relations: Sequence[ObjectRelation] = (), place: str = ''
) -> dict[str, Any]:
    """Return an object as `remembr objects --json` prints it: times in UTC, the rest metres in the map."""
    memory, facts, missing_ns = known.memory, known.facts, known.missing_ns
    return {
        'id': known.id,
        'robot': memory.robot,
        'map': memory.map_id,
        'name': known.name,
        'recognised_as': known.recognised_as,
        'colour': facts.colour,
        'position': list(known.position),
        'place': place,
        'size': list(known.size),
        'uncertainty': facts.std,
        'measured': facts.measured,
        'first_seen': format_iso(memory.start_ns),
        'last_seen': format_iso(memory.end_ns),
        'presence': known.presence,
        'missing_since': None if missing_ns is None else format_iso(missing_ns),
        'last_looked': format_iso(max(facts.looked, facts.intervals[-1][1])),
        'history': history(known),
        'state': known.state[0] or 'unknown',
        'relations': [_relation_json(relation) for relation in relations],
        'observations': facts.observations,
        'keyframes': list(memory.keyframes),
        'aliases': list(facts.aliases),
    }


def _relation_json(relation: ObjectRelation) -> dict[str, Any]:
    return {
        'relation': relation.name,
        'id': relation.other,
        'name': relation.other_name,
        'since': format_iso(relation.since_ns),
        'until': None if relation.until_ns is None else format_iso(relation.until_ns),
    }
