"""The memory node's services as the page needs them."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rclpy.client import Client
from rclpy.node import Node

from remembr_msgs.msg import Event
from remembr_msgs.srv import CorrectObject, Forget, GetKeyframe, Remember, RememberEvent
from remembr_msgs.srv import Outline as OutlineSrv
from remembr_ros.forms.events import NoteForm
from remembr_ros.forms.faces import fill_message
from remembr_ros.forms.forget import ForgetForm
from remembr_ros.memory.deeds.deed import Deed
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.corrections import ObjectCorrection
from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.nodes.agent.recall_client import RecallClient
from remembr_ros.nodes.base.conversions import pose_to_msg, time_to_msg
from remembr_ros.nodes.base.memory_conversion import OUTLINE_PAGE, memory_from_msg, outline_from_pages
from remembr_ros.nodes.base.services import checked

TOLD_S = 12.0  # [s] the events node responds once a deed is stored, which it waits 10 s for


class MemoryClient:
    """Services of the memory node, and of the events node; may be called from any thread but the executor's.

    This is the half of remembr_ros.web.backend.Backend that is about the memory.

    :param node: has to be spinning while a call waits
    :param timeout_s: as of a RecallClient
    :param map_frame: of the poses that are given
    """

    def __init__(self, node: Node, timeout_s: float = 5.0, map_frame: str = 'map') -> None:
        self.recall = RecallClient(node, timeout_s)
        self._map_frame = map_frame
        client = self.recall.client
        self._outlines, self._forgets = client(OutlineSrv, 'outline'), client(Forget, 'forget')
        self._corrections, self._notes = client(CorrectObject, 'correct_object'), client(Remember, 'remember')
        self._deeds = client(RememberEvent, 'remember_event')

    def on_change(self) -> None:
        """Called when something was stored or forgotten by this."""

    def destroy(self) -> None:
        """Give the clients back."""
        self.recall.close()

    def outline(self) -> Outline:
        """Return where and when all memories are.

        :raises StoreUnavailable: the memory node does not answer, or its store does not work
        """
        pages: list[OutlineSrv.Response] = []
        request = OutlineSrv.Request()
        while not pages or len(pages[-1].ids) == OUTLINE_PAGE:
            response = self._call(self._outlines, request)
            pages.append(response)
            if response.ids:
                request = OutlineSrv.Request(after_ns=response.start[-1], after_id=response.ids[-1])
        return outline_from_pages(pages)

    def get(self, ids: Sequence[str]) -> list[Memory]:
        return self.recall.get(ids)

    def picture(self, name: str) -> bytes:
        """Return a keyframe by its name as JPEG.

        :raises InvalidRequest: there is none
        :raises StoreUnavailable: the memory node does not answer, or its store does not work
        """
        return self.recall.picture(GetKeyframe.Request(name=name))

    def doomed(self, form: ForgetForm) -> list[str]:
        """Return the ids of what a forgetting would delete, at most 1,000; raises as forget does."""
        return list(self._forgetting(self._call, form.model_copy(update={'dry_run': True})).ids)

    def forget(self, form: ForgetForm) -> int:
        """Delete memories, their pictures and what rests on them; return how many.

        :raises InvalidRequest: the memory is read-only, or that makes no sense
        :raises StoreUnavailable: the memory node does not answer, or its store does not work
        """
        return int(self._forgetting(self._change, form).count)

    def correct(self, correction: ObjectCorrection) -> KnownObject | None:
        """Say what is true of an object; return it as it is then, None: it is deleted; raises as forget."""
        request = CorrectObject.Request(
            action=correction.action,
            id=correction.id,
            name=correction.name,
            other=correction.other,
            time=time_to_msg(correction.time_ns or 0, clamp=True),
            map=correction.map_id or '',
            use_map=correction.map_id is not None,
        )
        corrected = self._change(self._corrections, request).objects
        return next(iter(known_objects(memory_from_msg(known.memory) for known in corrected)), None)

    def name_place(self, place: NamedPlace) -> str:
        """Give a part of a map its name, and return the id of its memory; raises as forget does."""
        identity = self.recall.name_place(
            replace(place, memory=replace(place.memory, frame_id=self._map_frame))
        )
        self.on_change()
        return identity

    def note(self, form: NoteForm) -> str:
        """Store a person's note, without a time of now, and return its id; raises as forget does."""
        request = Remember.Request(use_pose=form.pose is not None)
        fill_message(form, request)
        if form.time is not None:  # a stamp of zero is now
            request.pose.header.stamp = time_to_msg(max(form.time, 1))
        if form.pose is not None:
            request.pose.header.frame_id, request.pose.pose = self._map_frame, pose_to_msg(form.pose)
        return str(self._change(self._notes, request).id)

    def tell(self, deed: Deed) -> str:
        """Store what the robot did, as somebody tells it, and return its id; without times it is of now.

        :raises InvalidRequest: that makes no sense
        :raises StoreUnavailable: the events node does not answer, or no memory node has stored it yet
        """
        event = RememberEvent.Request(event=_event(replace(deed, frame_id=self._map_frame)))
        return str(self._change(self._deeds, event, whose='events', timeout_s=TOLD_S).id)

    def _forgetting(self, call: Callable[..., Any], form: ForgetForm) -> Any:
        request = Forget.Request()
        fill_message(form, request)
        return call(self._forgets, request)

    def _change(self, client: Client, request: Any, **how: Any) -> Any:
        response = self._call(client, request, **how)
        self.on_change()
        return response

    def _call(self, client: Client, request: Any, **how: Any) -> Any:
        """Return the response; raise what the node says went wrong: the services share these codes."""
        return checked(self.recall.call(client, request, **how))


def _event(deed: Deed) -> Event:
    event = Event(robot=deed.robot, map_id=deed.map_id, details=json.dumps(deed.facts.details))
    event.begin, event.end = time_to_msg(deed.begin_ns), time_to_msg(deed.end_ns)
    for name in ('kind', 'text', 'object', 'receptacle', 'place', 'outcome', 'reason'):
        setattr(event, name, getattr(deed.facts, name))
    event.use_pose = deed.pose is not None
    if deed.pose is not None:
        event.pose.header.frame_id, event.pose.pose = deed.frame_id, pose_to_msg(deed.pose)
    return event
