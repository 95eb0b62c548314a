"""Conversions between objects, queries for objects, and their messages."""

from geometry_msgs.msg import Vector3

from remembr_msgs.msg import Object as ObjectMsg
from remembr_msgs.msg import ObjectEvent as EventMsg
from remembr_msgs.msg import ObjectRelation as RelationMsg
from remembr_msgs.srv import FindObjects
from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.memory.objects.query import FoundObject, FoundObjects
from remembr_ros.memory.objects.relations import ObjectRelation, relation_named
from remembr_ros.nodes.base.conversions import point_to_msg, time_from_msg, time_to_msg
from remembr_ros.nodes.base.memory_conversion import memory_from_msg, memory_to_msg


def fill_found(found: FoundObjects, response: FindObjects.Response) -> None:
    """Fill what was found into a response."""
    response.objects = [object_to_msg(thing) for thing in found.objects]
    response.total = found.total
    response.anchors = [memory_to_msg(anchor.memory) for anchor in found.anchors]


def found_from_msg(response: FindObjects.Response) -> FoundObjects:
    """Return what a response found; an object whose facts are damaged is left out."""
    known = {
        thing.id: thing for thing in known_objects(memory_from_msg(msg.memory) for msg in response.objects)
    }
    objects = [
        FoundObject(known[msg.memory.id], tuple(map(_relation_from_msg, msg.relations)), msg.memory.place)
        for msg in response.objects
        if msg.memory.id in known
    ]
    anchors = known_objects(memory_from_msg(msg) for msg in response.anchors)
    return FoundObjects(tuple(objects), response.total, tuple(anchors))


def object_to_msg(found: FoundObject) -> ObjectMsg:
    """Return an object as a message."""
    known = found.known
    x, y, z = known.size
    msg = ObjectMsg(
        memory=memory_to_msg(known.memory),
        name=known.name,
        colour=known.facts.colour,
        size=Vector3(x=x, y=y, z=z),
        uncertainty=known.facts.std,
        presence=known.presence,
        state=known.state[0],
        relations=[_relation_to_msg(relation) for relation in found.relations],
    )
    msg.memory.place = found.place
    if known.state[0]:
        msg.state_since = time_to_msg(known.state[1], clamp=True)
    if known.missing_ns is not None:
        msg.missing_since = time_to_msg(known.missing_ns, clamp=True)
    return msg


def events_to_msg(known: KnownObject) -> list[EventMsg]:
    """Return what became of an object, oldest first."""
    facts = known.facts
    events = [(start, end, EventMsg(event=EventMsg.SEEN)) for start, end in facts.intervals]
    events += [(start, end, EventMsg(event=EventMsg.GONE)) for start, end in facts.absences]
    for left_ns, came_ns, old, new in known.moves:
        moved = EventMsg(event=EventMsg.MOVED, old_place=point_to_msg(old), new_place=point_to_msg(new))
        events.append((left_ns, came_ns, moved))
    events += [(at, at, EventMsg(event=EventMsg.STATE, state=state)) for at, state, _ in facts.states]
    for at_ns, until_ns, msg in events:
        msg.at, msg.until = time_to_msg(at_ns, clamp=True), time_to_msg(until_ns, clamp=True)
    return [msg for _, _, msg in sorted(events, key=lambda event: event[0])]


def _relation_to_msg(relation: ObjectRelation) -> RelationMsg:
    msg = RelationMsg(relation=relation.name, id=relation.other, name=relation.other_name)
    msg.since = time_to_msg(relation.since_ns, clamp=True)
    if relation.until_ns is not None:
        msg.until = time_to_msg(relation.until_ns, clamp=True)
    return msg


def _relation_from_msg(msg: RelationMsg) -> ObjectRelation:
    until_ns = time_from_msg(msg.until) or None
    return ObjectRelation(relation_named(msg.relation), msg.id, msg.name, time_from_msg(msg.since), until_ns)
