"""Which known objects deeds were done to: by the id that was told, or by a name that only one has."""

from collections.abc import Sequence
from dataclasses import replace

from remembr_ros.geometry import distance
from remembr_ros.memory.deeds.deed import facts_of
from remembr_ros.memory.deeds.wording import sentence
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.objects.wording import is_called

REACH_M = 1.5  # of several things of a name the only one so near to the robot is meant [m]
_PARTS = ('object', 'receptacle')


def names_objects(observation: Observation) -> bool:
    """Tell whether it is a deed of something that may be a known object."""
    facts = facts_of(observation.memory)
    return facts is not None and any(getattr(facts, part) for part in _PARTS)


def with_object_ids(observation: Observation, known: Sequence[KnownObject]) -> Observation:
    """Return a deed with the ids of the objects that it was done to; what nobody knows stays a name.

    :param known: the objects of all robots and maps
    """
    memory = observation.memory
    facts = facts_of(memory)
    if facts is None:
        return observation
    found: dict[str, str] = {}
    for part in _PARTS:
        told = getattr(facts, part)
        one = _meant(told, memory, known) if told else None
        if one is not None:
            found |= {f'{part}_id': one.id, part: one.name if told == one.id else told}
    if not found:
        return observation
    caption = sentence(facts.model_copy(update=found))
    return replace(observation, memory=replace(memory, caption=caption, facts={**memory.facts, **found}))


def _meant(told: str, memory: Memory, known: Sequence[KnownObject]) -> KnownObject | None:
    if by_id := [one for one in known if told == one.id or told in one.facts.aliases]:
        return by_id[0]
    named = [one for one in known if one.memory.map_id == memory.map_id and is_called(one, told)]
    if len(named) > 1 and (pose := memory.pose) is not None:
        named = [one for one in named if distance(one.position, pose.position) <= REACH_M]
    return named[0] if len(named) == 1 else None
