"""Corrections by a person: rename, merge, split, gone, or no such object.

It is kept among the facts of the object, outranks what a detector says of the same place, and can be undone.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import distance
from remembr_ros.memory.model.record import OBJECT, Memory, memory_id
from remembr_ros.memory.objects.known import (
    ALIASES,
    MAX_NAMED,
    MOVES,
    Interval,
    KnownObject,
    ObjectFacts,
    fewer,
    joined,
    thinned,
)
from remembr_ros.memory.objects.wording import sentence_of

MOVED_M = 0.4  # two that are one were moved, if they are further from each other, and one came later
ACTIONS = ('rename', 'gone', 'there', 'merge', 'split', 'delete')


@dataclass(frozen=True, slots=True)
class ObjectCorrection:
    """What a person says of an object.

    :param action: one of ACTIONS; 'there' takes back that it is gone, or no thing
    :param id: of the object, or an alias
    :param name: rename: what it is called; empty: as the detector calls it
    :param other: merge: the id of what is the same thing
    :param time_ns: split: since when it is another thing
    :param map_id: the map that it is meant for; None: whichever
    """

    action: str
    id: str
    name: str = ''
    other: str = ''
    time_ns: int | None = None
    map_id: str | None = None


def corrected(
    known: Sequence[KnownObject], correction: ObjectCorrection, now_ns: int
) -> tuple[list[Memory], list[str]]:
    """Return the memories of objects as they are by a correction, that of the named one first, and the ids of
    those that are no more.

    :param known: all of them, deleted ones, too
    :raises InvalidRequest: there is no such object, it is on another map, or the correction makes no sense
    """
    old = _named(known, correction.id)
    if correction.map_id not in (None, old.memory.map_id):
        raise InvalidRequest(f'object {old.id} is on map {old.memory.map_id!r}, not on {correction.map_id!r}')
    facts, seen_ns = old.facts, old.facts.intervals[-1][1]
    at_ns = max(now_ns, seen_ns + 1)
    if correction.action == 'rename':
        if len(correction.name) > MAX_NAMED:
            raise InvalidRequest(f'a name has at most {MAX_NAMED} characters')
        return [_with(old, named=' '.join(correction.name.split()))], []
    if correction.action == 'delete':
        return [_with(old, deleted=at_ns)], []
    if correction.action == 'gone':
        absences = (*facts.absences, (at_ns, at_ns)) if old.missing_ns is None else facts.absences
        return [_with(old, taken=at_ns, absences=absences)], []
    if correction.action == 'there':
        absences = tuple(span for span in facts.absences if span[0] != facts.taken)
        return [_with(old, taken=0, deleted=0, absences=absences)], []
    if correction.action == 'merge':
        other = _named(known, correction.other)
        done = other.id == old.id and correction.id != correction.other  # and this one
        return ([old.memory], []) if done else _merged(old, other)
    if correction.action == 'split' and correction.time_ns is not None:
        done = _is_split(
            known, old, correction.time_ns
        )  # a repeated command, whose answer a kill had cut off
        return ([old.memory] if done else _split(old, correction.time_ns)), []
    raise InvalidRequest(
        f'give one of {", ".join(ACTIONS)}, split with the time since when it is another thing'
    )


def _named(known: Sequence[KnownObject], name: str) -> KnownObject:
    for thing in known:
        if name in (thing.id, *thing.facts.aliases):
            return thing
    raise InvalidRequest(f'there is no object {name!r}; remembr objects lists them')


def _merged(named: KnownObject, other: KnownObject) -> tuple[list[Memory], list[str]]:
    """Return one object of two: the older id, where and how it was seen last."""
    if (
        named.id == other.id
        or named.memory.map_id != other.memory.map_id
        or named.memory.robot != other.memory.robot
    ):
        raise InvalidRequest('two objects of one robot on one map can be merged, and these are not')
    older, younger = sorted((named, other), key=lambda known: (known.memory.start_ns, known.id))
    last, first = sorted((named, other), key=lambda known: -known.facts.intervals[-1][1])
    last_seen_ns = last.facts.intervals[-1][1]
    ids = {older.id, younger.id}
    facts: dict[str, Any] = {
        'labels': dict(Counter(older.facts.labels) + Counter(younger.facts.labels)),
        'observations': older.facts.observations + younger.facts.observations,
        'intervals': fewer(joined((*older.facts.intervals, *younger.facts.intervals))),
        'absences': tuple(span for span in last.facts.absences if span[1] > last_seen_ns),
        'aliases': (*older.facts.aliases, *younger.facts.aliases, younger.id)[-ALIASES:],
        'named': older.facts.named or younger.facts.named,
        'apart': tuple(name for name in (*older.facts.apart, *younger.facts.apart) if name not in ids),
    }
    memory = replace(
        last.memory,
        id=older.id,
        start_ns=min(older.memory.start_ns, younger.memory.start_ns),
        keyframes=last.memory.keyframes or first.memory.keyframes,
    )
    before, came_ns = first.placed_at(last.position), last.facts.intervals[0][0]
    moves = [*before.facts.moves, *last.facts.moves]
    if first.facts.intervals[-1][1] < came_ns and distance(first.position, last.position) > MOVED_M:
        shift = last.relative(first.position), (0.0, 0.0, 0.0)
        moves.append((first.facts.intervals[-1][1], came_ns, *shift))
    facts['moves'] = tuple(sorted(moves))[-MOVES:]
    facts['sightings'] = thinned((*before.facts.sightings, *last.facts.sightings))
    return [_with(replace(last, memory=memory), **facts)], [younger.id]


def _is_split(known: Sequence[KnownObject], whole: KnownObject, time_ns: int) -> bool:
    """Tell whether what an object was since a time is another one already."""
    since = {
        _split_id(whole, at_ns) for at_ns, _ in (k.facts.intervals[0] for k in known) if at_ns >= time_ns
    }
    return whole.facts.intervals[-1][1] < time_ns and any(thing.id in since for thing in known)


def _split_id(whole: KnownObject, since_ns: int) -> str:
    return memory_id(whole.memory.robot, OBJECT, since_ns, f'{whole.id} split')


def _split(whole: KnownObject, time_ns: int) -> list[Memory]:
    """Return two objects of one: what it was before a time keeps the id, what it is since then is new."""
    before = tuple((start, min(end, time_ns - 1)) for start, end in whole.facts.intervals if start < time_ns)
    since = tuple((max(start, time_ns), end) for start, end in whole.facts.intervals if end >= time_ns)
    if not before or not since:
        raise InvalidRequest('it has to have been seen both before that time and since')
    later = [move for move in whole.moves if move[1] >= time_ns]
    identity = _split_id(whole, since[0][0])
    whole_ns = sum(end - start + 1 for start, end in (*before, *since))

    def part(thing: KnownObject, name: str, intervals: tuple[Interval, ...], *, old: bool) -> Memory:
        facts = thing.facts
        share = sum(end - start + 1 for start, end in intervals) / whole_ns
        memory = replace(thing.memory, id=name, start_ns=intervals[0][0], end_ns=intervals[-1][1])
        return _with(
            replace(thing, memory=memory),
            intervals=intervals,
            observations=max(1, round(share * facts.observations)),
            labels={label: max(share * score, 1e-3) for label, score in facts.labels.items()},
            sightings=tuple(sight for sight in facts.sightings if (sight[0] < time_ns) == old),
            absences=tuple(span for span in facts.absences if (span[0] < time_ns) == old),
            moves=tuple(move for move in facts.moves if (move[1] < time_ns if old else move[0] >= time_ns)),
            aliases=facts.aliases if old else (),
            apart=(*facts.apart, identity if old else whole.id),
            taken=0 if old else facts.taken,
        )

    left = whole.placed_at(later[0][2]) if later else whole
    return [part(left, whole.id, before, old=True), part(whole, identity, since, old=False)]


def _with(known: KnownObject, **facts: Any) -> Memory:
    """Return an object's memory with other facts, and the sentence that they make."""
    changed = replace(known, facts=ObjectFacts(**{**known.facts.model_dump(), **facts}))
    memory = replace(known.memory, facts=changed.facts.model_dump(mode='json'))
    return replace(memory, caption=sentence_of(changed))
