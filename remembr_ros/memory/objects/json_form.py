"""Objects as JSON."""

from collections.abc import Sequence
from typing import Any

from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.objects.relations import ObjectRelation
from remembr_ros.timestamps import format_iso


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
        'map_id': memory.map_id,
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
