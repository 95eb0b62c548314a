"""The object services of the memory node: keeping, correction, history."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from remembr_msgs.msg import Memory as MemoryMsg
from remembr_msgs.srv import CorrectObject, KeepObjects, ObjectHistory
from remembr_ros.errors import InvalidRequest, ObjectsChanged
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import OBJECT, Memory, Observation
from remembr_ros.memory.objects.corrections import ObjectCorrection
from remembr_ros.memory.objects.query import FoundObject, ObjectQuery
from remembr_ros.memory.store import MemoryStore
from remembr_ros.nodes.base.conversions import map_from_msg, time_from_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.memory_conversion import memory_to_msg, observation_from_msg
from remembr_ros.nodes.memory.requests import heard_ns
from remembr_ros.nodes.objects.conversion import events_to_msg, object_to_msg

PAGE = 200  # objects read at once


class ObjectServices:
    """Answers requests about objects; any thread may call it.

    Who follows objects reads them once and then stores what it knows of each as a whole. An edition tells
    whether somebody else changed any meanwhile, which would be undone by that.

    :param on_stored: called with objects, once they are durable
    """

    def __init__(
        self, node: ManagedNode, store: MemoryStore, on_stored: Callable[[list[Memory]], None]
    ) -> None:
        self._node, self._store, self._on_stored = node, store, on_stored
        self._changing = threading.Lock()
        self._process, self._changes = time.time_ns(), 0

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Let somebody change objects who does not follow them; nobody stores any meanwhile."""
        with self._changing:
            self._changes += 1
            yield

    def keep(self, request: KeepObjects.Request, response: KeepObjects.Response) -> None:
        """Store what somebody knows of objects, or have them read what is stored."""
        observations = [observation_from_msg(msg) for msg in request.objects]
        if any(observation.memory.source != OBJECT for observation in observations):
            raise InvalidRequest('only objects are kept so; captions and deeds come on the topic captions')
        with self._changing:
            response.edition = f'{self._process}.{self._changes}'
            if not request.edition:
                response.objects = self._page(request)
            elif request.edition != response.edition:
                raise ObjectsChanged('somebody else changed objects meanwhile: read them again')
            else:
                stored = self._store.add(self._pictured(observations), list(request.gone))
                response.objects = [memory_to_msg(replace(memory, facts={})) for memory in stored]
                self._on_stored(stored)

    def correct(self, request: CorrectObject.Request, response: CorrectObject.Response) -> None:
        """Take what a person says of an object."""
        correction = ObjectCorrection(
            request.action,
            request.id,
            request.name,
            request.other,
            time_from_msg(request.time) or None,
            map_from_msg(request),
        )
        with self.changing():
            known = self._store.correct(correction, self._node.now_ns())
        if known is not None:
            response.objects = [object_to_msg(FoundObject(known))]
            self._on_stored([known.memory])

    def history(self, request: ObjectHistory.Request, response: ObjectHistory.Response) -> None:
        """Tell what became of an object."""
        found = [
            thing
            for thing in self._store.find_objects(ObjectQuery(request.id)).objects
            if request.id in (thing.known.id, *thing.known.facts.aliases)
        ]
        if not found:
            raise InvalidRequest(f'there is no object {request.id!r}; find_objects tells the ids')
        response.object, response.events = object_to_msg(found[0]), events_to_msg(found[0].known)

    def _pictured(self, observations: Sequence[Observation]) -> list[Observation]:
        """Return objects as heard now, with the pictures that are stored of them, where no new ones come."""
        pictures = {kept.id: kept.keyframes for kept in self._store.get([o.memory.id for o in observations])}
        heard = [replace(one, heard_ns=heard_ns(self._node, one.memory)) for one in observations]
        return [
            one if one.images else replace(one, memory=replace(one.memory, keyframes=names))
            for one in heard
            for names in (pictures.get(one.memory.id, ()),)
        ]

    def _page(self, request: KeepObjects.Request) -> list[MemoryMsg]:
        """Return some of what is stored of the objects of a robot on a map: who follows them finds out which
        are deleted, and which a kill left after they were merged."""
        scope = Scope(robots=(request.robot,), map_id=request.map, source=OBJECT)
        rest = [memory for memory in self._store.matching(scope=scope) if memory.id > request.after_id]
        return [memory_to_msg(memory) for memory in sorted(rest, key=lambda memory: memory.id)[:PAGE]]
