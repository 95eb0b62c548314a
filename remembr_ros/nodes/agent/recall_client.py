"""Recall, and keyframes, through the memory node's services."""

import contextvars
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rclpy.node import Node

from remembr_msgs.srv import FindObjects, GetKeyframe, RememberPlace
from remembr_msgs.srv import Recall as RecallSrv
from remembr_ros.errors import EmbedderLoading
from remembr_ros.forms.faces import fill_message
from remembr_ros.forms.objects import objects_asked
from remembr_ros.forms.recall import recall_asked
from remembr_ros.memory.model.recall import ANYTHING, Hit, MapArea, Query, Scope, Survey
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.query import FoundObjects, ObjectQuery
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.nodes.base.conversions import point_from_msg, point_to_msg, time_from_msg
from remembr_ros.nodes.base.memory_conversion import hit_from_msg
from remembr_ros.nodes.base.services import ServiceCalls, checked
from remembr_ros.nodes.objects.conversion import found_from_msg

_Query = TypeVar('_Query')

MAX_LIMIT = 1000  # as many memories as one request may ask for
REASON_S = 0.1  # before the deadline of a question, to tell that it was the memory that did not answer [s]
LOADING_S = 2.2  # a memory node that still loads its embedder says so within this time [s]
AGAIN_S = 0.1  # before it is asked again [s]


@dataclass(frozen=True)
class _Asking:
    """What holds for all calls of one question.

    :param deadline: on time.monotonic's clock [s]
    :param on_wait: told what the question waits for
    :param found: by memory id, what it has recalled
    """

    deadline: float = math.inf
    on_wait: Callable[[str], None] = lambda why: None
    found: dict[str, Hit] = field(default_factory=dict)


_asking: contextvars.ContextVar[_Asking | None] = contextvars.ContextVar('asking', default=None)
"""The question that is being answered; the threads that it starts inherit it."""


def _now_asking() -> _Asking:
    return _asking.get() or _Asking()


class RecallClient(ServiceCalls):
    """Implements memory.recall.Recall and agent.llm.second_look.Keyframes; may be called from any
    thread but the executor's.

    :param node: has to be spinning while a call waits
    :param timeout_s: for finding the memory node, and again for its response [s]
    """

    def __init__(self, node: Node, timeout_s: float = 5.0) -> None:
        super().__init__(node, timeout_s, lambda: _now_asking().deadline - REASON_S)
        self.embedder_name = ''  # until the memory node has told it
        self._recalls = self.client(RecallSrv, 'recall')
        self._pictures = self.client(GetKeyframe, 'get_keyframe')
        self._objects = self.client(FindObjects, 'find_objects')
        self._places = self.client(RememberPlace, 'remember_place')

    @contextmanager
    def until(
        self, deadline: float, on_wait: Callable[[str], None] = lambda why: None
    ) -> Iterator[dict[str, Hit]]:
        """Let no call inside wait beyond the deadline, on time.monotonic's clock [s].

        It holds in threads, too, that are started inside with a copy of the context. While the memory node
        loads its embedder a call goes on waiting; without a deadline it raises EmbedderLoading.

        :param on_wait: told from time to time why a call still waits; may raise to end that
        :return: by memory id, what is recalled inside, at the best score it was found with
        """
        token = _asking.set(asking := _Asking(deadline, on_wait))
        try:
            yield asking.found
        finally:
            _asking.reset(token)

    def find(self, query: Query) -> list[Hit]:
        hits = [hit_from_msg(msg) for msg in self._recall(query_to_msg(query)).memories]
        found = _now_asking().found
        for hit in hits:
            known = found.get(hit.memory.id)
            if known is None or hit.score > known.score:
                found[hit.memory.id] = hit
        return hits

    def count(self, scope: Scope = ANYTHING) -> int:
        return int(self._recall(query_to_msg(Query(scope=scope, limit=1))).total)

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        request = query_to_msg(Query(scope=scope, limit=1))
        request.survey = True
        answer = self._recall(request)
        areas = [
            MapArea(a.map_id, point_from_msg(a.low), point_from_msg(a.high), a.memories) for a in answer.areas
        ]
        if not answer.total:
            return Survey(0)
        times = time_from_msg(answer.first), time_from_msg(answer.last)
        driven_m = None if math.isnan(answer.driven) else answer.driven
        return Survey(answer.total, *times, driven_m, tuple(areas))

    def find_objects(self, query: ObjectQuery) -> FoundObjects:
        """Return the objects that a query asks for; raises as find does."""
        request = FindObjects.Request()
        fill_message(objects_asked(query), request)
        return found_from_msg(self._answered(lambda: self.call(self._objects, request)))

    def name_place(self, place: NamedPlace) -> str:
        """Have the memory node give a place its name; return its id.

        :raises InvalidRequest: another place of the map is called so, or the memory is read-only
        :raises StoreUnavailable: the memory node does not answer, or its store does not work
        """
        request = RememberPlace.Request(
            name=place.name,
            other_names=list(place.facts.other_names),
            map=place.memory.map_id,
            frame_id=place.memory.frame_id,
            outline=[point_to_msg((x, y, place.pose.z)) for x, y in place.outline],
            center=point_to_msg(place.pose.position),
            radius=place.facts.radius or 0.0,
        )
        return str(self._answered(lambda: self.call(self._places, request)).id)

    def keyframe(self, memory_id: str, index: int = 0) -> bytes:
        """Return a keyframe of a memory as JPEG.

        :raises InvalidRequest: there is no such memory or keyframe
        :raises StoreUnavailable: the memory node does not answer, or its store does not work
        """
        return self.picture(GetKeyframe.Request(id=memory_id, index=index))

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories of these ids in their order; unknown ids are passed over."""
        found: list[Memory] = []
        for start in range(0, len(ids), MAX_LIMIT):
            answer = self._recall(RecallSrv.Request(id=ids[start : start + MAX_LIMIT]))
            found += [hit_from_msg(msg).memory for msg in answer.memories]
        return found

    def picture(self, request: GetKeyframe.Request) -> bytes:
        """Return the keyframe that a request names as JPEG; raises as keyframe does."""
        return bytes(checked(self.call(self._pictures, request)).image.data)

    def _recall(self, request: RecallSrv.Request) -> RecallSrv.Response:
        response = self._answered(lambda: self.call(self._recalls, request))
        self.embedder_name = response.embedder
        return response

    def _answered(self, call: Callable[[], Any]) -> Any:
        """Return the response of a service of the memory node, whose error codes are those of recall."""
        while True:
            response = call()
            if response.error_code != RecallSrv.Response.LOADING:
                break
            asking = _now_asking()
            asking.on_wait(response.error_msg)
            if not LOADING_S + REASON_S < asking.deadline - time.monotonic() < math.inf:
                raise EmbedderLoading(response.error_msg)
            time.sleep(AGAIN_S)
        return checked(response)


def query_to_msg(query: Query) -> RecallSrv.Request:
    """Return a query as a request.

    :raises InvalidRequest: no request can ask for that
    """
    request = RecallSrv.Request()
    fill_message(recall_asked(query), request)
    return request
