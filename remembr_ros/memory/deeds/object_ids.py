"""Which known object a deed was done to, and the state (open, in hand) that the deed left it in."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from remembr_ros.geometry import Point, distance
from remembr_ros.memory.deeds.deed import DeedFacts, facts_of, sentence
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.model.record import OBJECT, Memory
from remembr_ros.memory.objects.known import MAX_NAMED, STATES, KnownObject
from remembr_ros.memory.objects.wording import is_called
from remembr_ros.timestamps import NS

BY = 'object_by'
"""Key of a deed's details: who said which object it was done to, where that is sure; nobody else may then."""
REACH_M = 1.5  # of several things of a name only those so near to the robot can be meant [m]
IN_SIGHT_NS = 30 * NS  # before a deed and after it: what was seen then was there for it
NEARER_M = 0.3  # of several that were, the nearest one is meant if it is nearer by this [m]


def names_objects(memory: Memory) -> bool:
    """Tell whether it is a deed of something that may be a known object."""
    facts = facts_of(memory)
    return facts is not None and bool(facts.object or facts.receptacle)


def with_object_ids(memory: Memory, known: Sequence[KnownObject], stored: Memory | None = None) -> Memory:
    """Return a deed with the ids of the objects that it was done to.

    What nobody knows stays a name, and an id that was told is kept. A deed that comes once more is of what
    was meant before, though there may be several of that name by now.

    :param known: the objects of all robots and maps
    :param stored: what is stored as this deed
    """
    if stored is not None and (before := facts_of(stored)) is not None:
        meant = [thing for thing in known if thing.id in (before.object_id, before.receptacle_id)]
        if meant and with_object_ids(memory, meant) == stored:
            return stored
    facts = facts_of(memory)
    found: dict[str, Any] = {}
    for part in ('object', 'receptacle') if facts is not None else ():
        name = getattr(facts, part)
        if (
            name
            and not getattr(facts, f'{part}_id')
            and (thing := object_meant(name, memory, known)) is not None
        ):
            found |= {f'{part}_id': thing.id, part: thing.name if name == thing.id else name}
            if part == 'object' and name != found[part]:
                found['details'] = {**memory.facts.get('details', {}), BY: 'id'}
    if facts is None or not found:
        return memory
    caption = sentence(facts.model_copy(update=found))
    return replace(memory, caption=caption, facts={**memory.facts, **found})


def object_meant(
    name: str, memory: Memory, known: Sequence[KnownObject], hand: Point | None = None
) -> KnownObject | None:
    """Return the object that a deed was done to; None: nobody knows it, or it could be any of several.

    :param name: its name or id
    :param hand: where the gripper was [m] in the map; None: only where the robot was is known
    """
    if by_id := [thing for thing in known if name == thing.id or name in thing.facts.aliases]:
        return by_id[0]
    named = candidates(name, memory, known, hand)
    at = hand or (memory.pose.position if memory.pose is not None else None)
    if len(named) > 1 and at is not None:
        away = [distance(thing.position, at) for thing in named[:2]]
        named = named[:1] if away[1] - away[0] > (0.0 if hand else NEARER_M) else named
    return named[0] if len(named) == 1 else None


def candidates(
    name: str, memory: Memory, known: Sequence[KnownObject], hand: Point | None = None
) -> list[KnownObject]:
    """Return the objects of a name that a deed may have been done to, the nearest first: of several those in
    reach, of these those that were in sight then, if any was."""
    named = [thing for thing in known if thing.memory.map_id == memory.map_id and is_called(thing, name)]
    at = hand or (memory.pose.position if memory.pose is not None else None)
    if len(named) > 1 and at is not None:
        named = sorted(
            (thing for thing in named if distance(thing.position, at) <= REACH_M),
            key=lambda thing: distance(thing.position, at),
        )
    window = memory.start_ns - IN_SIGHT_NS, memory.end_ns + IN_SIGHT_NS
    seen = [thing for thing in named if thing.seen_within(*window)]
    return seen if len(named) > 1 and seen else named


STATE = 'state'
"""Key of a deed's details: how its object is since, in words."""
_LEFT = {'open': 'open', 'close': 'closed', 'pick': 'in hand', 'place': 'normal'}


def state_left(facts: DeedFacts) -> str:
    """Return the state in which a deed left its object; empty: it changed none, as far as is known."""
    if facts.outcome in ('failed', 'cancelled'):
        return ''
    text = facts.details.get(STATE)
    if isinstance(text, str) and text.strip():
        return ' '.join(text.split())[:MAX_NAMED]
    return next((state for kind, state in _LEFT.items() if is_same_kind(facts.kind, kind)), '')


def with_states(deeds: Iterable[Memory], known: Sequence[KnownObject]) -> list[Memory]:
    """Return the memories of objects whose states change by deeds.

    A deed that turns out to be of another object changes that one, and no longer the one before.

    :param known: all objects
    """
    by_id = {name: thing for thing in known for name in (thing.id, *thing.facts.aliases)}
    states = {thing.id: thing.facts.states for thing in known if thing.facts.states}
    for memory in deeds:
        if (facts := facts_of(memory)) is None:
            continue
        meant, left = by_id.get(facts.object_id), state_left(facts)
        states = {name: tuple(s for s in entries if s[2] != memory.id) for name, entries in states.items()}
        if meant is not None and left:
            more = (*states.get(meant.id, ()), (memory.end_ns, left, memory.id))
            states[meant.id] = tuple(sorted(more))[-STATES:]
    return [
        replace(thing.memory, facts={**thing.memory.facts, 'states': [list(state) for state in known_states]})
        for thing in known
        if (known_states := states.get(thing.id, ())) != thing.facts.states
    ]


def with_stored_states(memory: Memory, known: Memory | None) -> Memory:
    """Return an object with the states that are stored of it: who follows objects by sight knows none."""
    if memory.source != OBJECT or known is None:
        return memory
    rest = {name: fact for name, fact in memory.facts.items() if name != 'states'}
    return replace(memory, facts=rest | {n: s for n, s in known.facts.items() if n == 'states'})
