"""Handlings: a thing that was picked somewhere and put elsewhere, as one occurrence of two deeds."""

from collections.abc import Sequence
from math import fsum

from remembr_ros.geometry import distance
from remembr_ros.memory.deeds.object_ids import REACH_M
from remembr_ros.memory.deeds.query import HANDLING, Occurrence
from remembr_ros.memory.deeds.verbs import kinds_meant


def handlings(done: Sequence[Occurrence]) -> list[Occurrence]:
    """Return each time that a thing was handled, in the order of time.

    That is from the begin of a pick to the end of the next place of the same thing, or else of what is called
    so, by the same robot. A deed with an object that belongs to no such pair is one by itself.

    :param done: deeds, in the order of time
    """
    kinds = {deed.facts.kind for deed in done}
    picks, places = (frozenset[str]().union(*kinds_meant(kind, kinds)) for kind in ('pick', 'place'))
    picked: list[Occurrence] = []  # and not put anywhere yet
    found: list[Occurrence] = []
    for deed in done:
        if not deed.facts.object:
            continue
        if deed.facts.kind in places and not deed.failed:
            held = [o for o in picked if o.memory.robot == deed.memory.robot]
            # What was seen elsewhere may have got another id: in the hand it is the same thing.
            name = deed.facts.object.casefold()
            same = [o for o in held if is_same(o, deed)] or [
                o for o in held if o.facts.object.casefold() == name
            ]
            if same:
                picked.remove(same[-1])
                found.append(_handling(deed, same[-1], done))
                continue
        if deed.facts.kind in picks and not deed.failed:
            picked.append(deed)
        else:
            found.append(_handling(deed, deed, done))
    found += [_handling(deed, deed, done) for deed in picked]
    return sorted(found, key=lambda handling: (handling.start_ns, handling.end_ns))


def is_same(deed: Occurrence, other: Occurrence, part: str = 'object') -> bool:
    """Tell whether two deeds were done to the same thing: by its id, or else its name.

    :param part: one of FIELDS; of receptacles without an id many have one name: they are the same where the
        deeds were done within REACH_M
    """
    ids, names = ([getattr(o.facts, name, '') for o in (deed, other)] for name in (f'{part}_id', part))
    if all(ids):
        return bool(ids[0] == ids[1])
    at = [o.memory.pose.position for o in (deed, other) if o.memory.pose is not None]
    near = part != 'receptacle' or len(at) < 2 or distance(*at) <= REACH_M
    return deed is other or (near and names[0].casefold() == names[1].casefold() != '')


def _handling(place: Occurrence, pick: Occurrence, done: Sequence[Occurrence]) -> Occurrence:
    robot, times = pick.memory.robot, (pick.start_ns, place.start_ns)
    metres = (o.metres for o in done if o.memory.robot == robot and times[0] <= o.start_ns <= times[1])
    object_id = place.facts.object_id or pick.facts.object_id
    facts = place.facts.model_copy(update={'kind': HANDLING, 'object_id': object_id})
    memories = (place.memory,) if place is pick else (place.memory, pick.memory)
    return Occurrence(pick.start_ns, place.end_ns, facts, memories, fsum(metres))
