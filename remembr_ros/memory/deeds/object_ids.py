"""Which known objects deeds were done to: by the id that was told, else by name, sight and distance."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from remembr_ros.geometry import Point, distance
from remembr_ros.memory.deeds.deed import facts_of
from remembr_ros.memory.deeds.wording import sentence
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.known import KnownObject
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


def with_object_ids(memory: Memory, known: Sequence[KnownObject]) -> Memory:
    """Return a deed with the ids of the objects that it was done to.

    What nobody knows stays a name, and an id that was told is kept.

    :param known: the objects of all robots and maps
    """
    facts = facts_of(memory)
    found: dict[str, Any] = {}
    for part in ('object', 'receptacle') if facts is not None else ():
        told = getattr(facts, part)
        if (
            told
            and not getattr(facts, f'{part}_id')
            and (one := object_meant(told, memory, known)) is not None
        ):
            found |= {f'{part}_id': one.id, part: one.name if told == one.id else told}
            if part == 'object' and told != found[part]:
                found['details'] = {**memory.facts.get('details', {}), BY: 'id'}
    if facts is None or not found:
        return memory
    caption = sentence(facts.model_copy(update=found))
    return replace(memory, caption=caption, facts={**memory.facts, **found})


def object_meant(
    told: str, memory: Memory, known: Sequence[KnownObject], hand: Point | None = None
) -> KnownObject | None:
    """Return the object that a deed was done to; None: nobody knows it, or it could be any of several.

    :param told: its name or id
    :param hand: where the gripper was [m] in the map; None: only where the robot was is known
    """
    if by_id := [one for one in known if told == one.id or told in one.facts.aliases]:
        return by_id[0]
    named = candidates(told, memory, known, hand)
    at = hand or (memory.pose.position if memory.pose is not None else None)
    if len(named) > 1 and at is not None:
        away = [distance(one.position, at) for one in named[:2]]
        named = named[:1] if away[1] - away[0] > (0.0 if hand else NEARER_M) else named
    return named[0] if len(named) == 1 else None


def candidates(
    told: str, memory: Memory, known: Sequence[KnownObject], hand: Point | None = None
) -> list[KnownObject]:
    """Return the objects of a name that a deed may have been done to, the nearest first: of several those in
    reach, of these those that were in sight then, if any was."""
    named = [one for one in known if one.memory.map_id == memory.map_id and is_called(one, told)]
    at = hand or (memory.pose.position if memory.pose is not None else None)
    if len(named) > 1 and at is not None:
        named = sorted(
            (one for one in named if distance(one.position, at) <= REACH_M),
            key=lambda one: distance(one.position, at),
        )
    window = memory.start_ns - IN_SIGHT_NS, memory.end_ns + IN_SIGHT_NS
    seen = [one for one in named if one.seen_within(*window)]
    return seen if len(named) > 1 and seen else named
