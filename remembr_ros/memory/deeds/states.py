"""States of objects, such as open or in hand: what was done to them left them so, and nothing else tells."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from remembr_ros.memory.deeds.deed import DeedFacts, facts_of
from remembr_ros.memory.deeds.verbs import is_same_kind
from remembr_ros.memory.model.record import OBJECT, Memory
from remembr_ros.memory.objects.known import MAX_NAMED, STATES, KnownObject

STATE = 'state'
"""Key of a deed's details: how its object is since, in words."""
_LEFT = {'open': 'open', 'close': 'closed', 'pick': 'in hand', 'place': 'normal'}


def state_left(facts: DeedFacts) -> str:
    """Return the state in which a deed left its object; empty: it changed none, as far as is known."""
    if facts.outcome in ('failed', 'cancelled'):
        return ''
    told = facts.details.get(STATE)
    if isinstance(told, str) and told.strip():
        return ' '.join(told.split())[:MAX_NAMED]
    return next((state for kind, state in _LEFT.items() if is_same_kind(facts.kind, kind)), '')


def with_states(deeds: Iterable[Memory], known: Sequence[KnownObject]) -> list[Memory]:
    """Return the memories of objects whose states change by deeds.

    A deed that turns out to be of another object changes that one, and no longer the one before.

    :param known: all objects
    """
    by_id = {name: one for one in known for name in (one.id, *one.facts.aliases)}
    states = {one.id: one.facts.states for one in known if one.facts.states}
    for memory in deeds:
        if (facts := facts_of(memory)) is None:
            continue
        meant, left = by_id.get(facts.object_id), state_left(facts)
        states = {name: tuple(s for s in those if s[2] != memory.id) for name, those in states.items()}
        if meant is not None and left:
            more = (*states.get(meant.id, ()), (memory.end_ns, left, memory.id))
            states[meant.id] = tuple(sorted(more))[-STATES:]
    return [
        replace(one.memory, facts={**one.memory.facts, 'states': [list(state) for state in told]})
        for one in known
        if (told := states.get(one.id, ())) != one.facts.states
    ]


def with_stored_states(memory: Memory, known: Memory | None) -> Memory:
    """Return an object with the states that are stored of it: who follows objects by sight knows none."""
    if memory.source != OBJECT or known is None:
        return memory
    rest = {name: fact for name, fact in memory.facts.items() if name != 'states'}
    return replace(memory, facts=rest | {n: s for n, s in known.facts.items() if n == 'states'})
