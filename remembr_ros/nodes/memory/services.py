"""The services of the memory node: recall, find_objects, find_deeds, object_history, remember, forget, ..."""

import math
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from rclpy.task import Future
from sensor_msgs.msg import CompressedImage

from remembr_msgs.msg import MapArea
from remembr_msgs.srv import (
    CorrectObject,
    FindDeeds,
    FindObjects,
    Forget,
    GetKeyframe,
    KeepObjects,
    ObjectHistory,
    Outline,
    Recall,
    Remember,
    RememberPlace,
)
from remembr_ros.errors import InvalidRequest, RemembrError, StoreUnavailable
from remembr_ros.forms.deeds import DeedsForm
from remembr_ros.forms.faces import from_message
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.forms.objects import ObjectsForm
from remembr_ros.forms.recall import RecallForm
from remembr_ros.memory.model.recall import Hit, Survey
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.notes import note
from remembr_ros.memory.places.place import place
from remembr_ros.memory.search import MAX_LIMIT
from remembr_ros.memory.store import MemoryStore
from remembr_ros.nodes.base.conversions import (
    MAX_IDS,
    frame_name,
    point_from_msg,
    point_to_msg,
    pose_from_msg,
    time_from_msg,
    time_to_msg,
)
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.memory_conversion import fill_page, hit_to_msg
from remembr_ros.nodes.base.services import answering, first_of, refuse
from remembr_ros.nodes.base.worker_pool import WorkerPool, settle
from remembr_ros.nodes.memory.objects import ObjectServices
from remembr_ros.nodes.memory.parameters import MemoryParameters
from remembr_ros.nodes.memory.requests import fill_deeds
from remembr_ros.nodes.memory.store_gauge import StoreGauge
from remembr_ros.nodes.objects.conversion import fill_found

THREADS = 4
LOADING_S = 2.0  # [s] what needs the embedder waits for it so long; then it has to be asked again
RECENT_NOTES = 1000  # notes of this process that are known even while the server is away
READ_ONLY = 'the memory is read-only (parameter read_only of the memory node): nothing is stored or deleted'

_CHANGES = (Remember.Request, RememberPlace.Request, CorrectObject.Request, KeepObjects.Request)
"""Requests that store something, which may need the embedder."""


class MemoryServices:
    """Offers the services of a node while it is active, each request on a thread of a pool.

    :param node: its parameters name the robot and the frame of notes that name none
    :param gauge: asked before a thread is occupied with a store that does not answer
    :param on_stored: called with a note, once it is durable
    :param on_deleted: called when memories were deleted
    """

    def __init__(
        self,
        node: ManagedNode,
        parameters: MemoryParameters,
        store: MemoryStore,
        gauge: StoreGauge,
        *,
        on_stored: Callable[[list[Memory]], None],
        on_deleted: Callable[[], None],
    ) -> None:
        self._node = node
        self._parameters = parameters
        self._store = store
        self._gauge = gauge
        self._on_stored = on_stored
        self._on_deleted = on_deleted
        self._noting = threading.Lock()
        self._notes: dict[str, Memory] = {}
        self._pool = WorkerPool(node, THREADS, 'memory')
        self.objects = ObjectServices(node, store, on_stored)
        for kind, name, work in (
            (Recall, 'recall', self._recall),
            (Remember, 'remember', self._remember),
            (RememberPlace, 'remember_place', self._remember_place),
            (Forget, 'forget', self._forget),
            (GetKeyframe, 'get_keyframe', self._get_keyframe),
            (Outline, 'outline', self._outline),
            (FindObjects, 'find_objects', self._find_objects),
            (FindDeeds, 'find_deeds', self._find_deeds),
            (ObjectHistory, 'object_history', self.objects.history),
            (CorrectObject, 'correct_object', self.objects.correct),
            (KeepObjects, 'keep_objects', self.objects.keep),
        ):
            node.offer(kind, name, self._off_the_executor(work))

    def close(self, timeout_s: float) -> None:
        """Wait for the requests that are under way, at most so long."""
        self._pool.close(timeout_s)

    def _off_the_executor(self, work: Callable[[Any, Any], None]) -> Callable[[Any, Any], Any]:
        """Return a callback that awaits work(request, response) on a thread."""
        answer = answering(self._node, work)

        async def callback(request: Any, response: Any) -> Any:
            changes = isinstance(request, _CHANGES)
            try:
                self._node.twins.raise_if_any()
                # A note can wait on this machine, an answer cannot.
                if not isinstance(request, Remember.Request):
                    self._gauge.raise_if_away()
                if changes:
                    self._refuse_if_read_only()
            except RemembrError as error:
                refuse(response, error)
                return response
            by_text = isinstance(request, Recall.Request | FindObjects.Request) and request.text
            if changes or by_text:
                await self._embedder_loaded()
            return await self._pool.call(answer, request, response)

        return callback

    async def _embedder_loaded(self) -> None:
        """Wait while the embedder is being loaded, at most LOADING_S; what needs it says that it is not."""
        behind = self._store.embedder_behind
        if behind is None or not behind.loading:
            return
        loaded = Future()
        behind.then(lambda: settle(self._node, loaded))
        await first_of(self._node, LOADING_S, loaded)

    def _refuse_if_read_only(self) -> None:
        if self._parameters.read_only:
            raise InvalidRequest(READ_ONLY)

    def _recall(self, request: Recall.Request, response: Recall.Response) -> None:
        response.embedder = self._store.embedder_name
        if request.id:
            response.memories = [hit_to_msg(Hit(memory, 1.0)) for memory in self._store.get(request.id)]
            response.total = len(response.memories)
            return
        form = from_message(RecallForm, request)
        response.memories = [hit_to_msg(hit) for hit in form.find(self._store)]
        response.total = self._store.count(form.scope())
        if request.survey:
            _tell(self._store.survey(form.scope()), response)

    def _find_objects(self, request: FindObjects.Request, response: FindObjects.Response) -> None:
        query = from_message(ObjectsForm, request).query()
        fill_found(self._store.find_objects(replace(query, limit=query.limit or MAX_LIMIT)), response)

    def _find_deeds(self, request: FindDeeds.Request, response: FindDeeds.Response) -> None:
        form = from_message(DeedsForm, request)
        fill_deeds(form.model_copy(update={'limit': form.limit or MAX_LIMIT}).find(self._store), response)

    def _remember(self, request: Remember.Request, response: Remember.Response) -> None:
        parameters = self._parameters
        pose_frame = request.pose.header.frame_id if request.use_pose else ''
        given_ns = time_from_msg(request.pose.header.stamp)

        def existing(identity: str) -> Memory | None:
            if identity in self._notes:
                return self._notes[identity]
            try:
                self._gauge.raise_if_away()
                return next(iter(self._store.get([identity])), None)
            except StoreUnavailable:
                # Nobody noted anything else at this very nanosecond. At a time that was given, maybe.
                if given_ns:
                    raise
                return None

        # Two notes of the same instant are two notes, also when both are on their way.
        with self._noting:
            memory = note(
                request.text,
                request.robot or parameters.robot,
                given_ns or self._node.now_ns(),
                existing=existing,
                pose=pose_from_msg(request.pose.pose) if request.use_pose else None,
                frame_id=frame_name(pose_frame) if pose_frame else parameters.map_frame,
                map_id=request.map,
            )
            stored = self._store.add([Observation(memory)])
            self._notes[memory.id] = memory
            if len(self._notes) > RECENT_NOTES:
                del self._notes[next(iter(self._notes))]
        self._on_stored(stored)
        response.id = stored[0].id

    def _remember_place(self, request: RememberPlace.Request, response: RememberPlace.Response) -> None:
        corners, center = [(p.x, p.y) for p in request.outline], point_from_msg(request.center)
        named = place(
            request.name,
            outline=corners,
            center=None if corners else center,
            radius=None if corners else request.radius,
            other_names=request.other_names,
            map_id=request.map,
            frame_id=frame_name(request.frame_id) if request.frame_id else self._parameters.map_frame,
            robot=self._parameters.robot,
            z=request.outline[0].z if corners else 0.0,
            now_ns=self._node.now_ns(),
        )
        (stored,) = self._store.name_places([named])
        self._on_stored([stored.memory])
        response.id = stored.memory.id

    def _forget(self, request: Forget.Request, response: Forget.Response) -> None:
        conditions = from_message(ForgetForm, request).conditions()
        if request.dry_run:
            found = self._store.doomed(*conditions)
            response.count = len(found)
            response.ids = [memory.id for memory in found[:MAX_IDS]]
            return
        self._refuse_if_read_only()
        with self._noting, self.objects.changing():
            self._notes.clear()
            response.count = self._store.forget(*conditions)
        self._on_deleted()

    def _get_keyframe(self, request: GetKeyframe.Request, response: GetKeyframe.Response) -> None:
        if request.name:
            data = self._store.keyframes.get(request.name)
        else:
            data = self._store.keyframe(request.id, int(request.index))
        response.image = CompressedImage(format='jpeg', data=data)
        for memory in [] if request.name else self._store.get([request.id]):
            response.image.header.stamp = time_to_msg(memory.start_ns, clamp=True)

    def _outline(self, request: Outline.Request, response: Outline.Response) -> None:
        fill_page(self._store.outline(), request, response)


def _tell(survey: Survey, response: Recall.Response) -> None:
    """Fill what a survey tells into the response of a recall."""
    if survey.first_ns is not None and survey.last_ns is not None:
        response.first = time_to_msg(survey.first_ns, clamp=True)
        response.last = time_to_msg(survey.last_ns, clamp=True)
    response.driven = math.nan if survey.driven_m is None else survey.driven_m
    response.areas = [
        MapArea(map_id=a.map_id, low=point_to_msg(a.low), high=point_to_msg(a.high), memories=a.memories)
        for a in survey.areas
    ]
