"""Which known objects deeds were done to: by the id that was told, or by a name that only one has."""

from collections.abc import Sequence
from dataclasses import replace

from remembr_ros.geometry import distance
from remembr_ros.memory.deeds.deed import facts_of
from remembr_ros.memory.deeds.wording import sentence
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.objects.wording import is_called

REACH_M = 1.5  # of several things of a name the only one so near to the robot is meant [m]


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
    found: dict[str, str] = {}
    for part in ('object', 'receptacle') if facts is not None else ():
        told = getattr(facts, part)
        if told and not getattr(facts, f'{part}_id') and (one := _meant(told, memory, known)) is not None:
            found |= {f'{part}_id': one.id, part: one.name if told == one.id else told}
    if facts is None or not found:
        return memory
    caption = sentence(facts.model_copy(update=found))
    return replace(memory, caption=caption, facts={**memory.facts, **found})


def _meant(told: str, memory: Memory, known: Sequence[KnownObject]) -> KnownObject | None:
    if by_id := [one for one in known if told == one.id or told in one.facts.aliases]:
        return by_id[0]
    named = [one for one in known if one.memory.map_id == memory.map_id and is_called(one, told)]
    if len(named) > 1 and (pose := memory.pose) is not None:
        named = [one for one in named if distance(one.position, pose.position) <= REACH_M]
    return named[0] if len(named) == 1 else None
