"""Reads and stores objects through the memory node's services."""

from collections.abc import Sequence

from rclpy.node import Node

from remembr_msgs.srv import KeepObjects
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.nodes.base.conversions import MAX_IDS
from remembr_ros.nodes.base.memory_conversion import memory_from_msg, memory_to_msg
from remembr_ros.nodes.base.services import ServiceCalls, checked

READY_S, STORED_S = 1.0, 5.0  # [s] the memory node is there within, and has stored what it is given
AT_ONCE = 50  # objects stored by one request


class KeptObjects(ServiceCalls):
    """Implements objects.keeper.ObjectStore; called by one thread, which is not the executor's.

    :param node: has to be spinning while a call waits
    """

    def __init__(self, node: Node, robot: str, map_id: str) -> None:
        super().__init__(node, READY_S)
        self._about = {'robot': robot, 'map': map_id}
        self._edition = ''
        self._client = self.client(KeepObjects, 'keep_objects')

    def matching(self, *, scope: Scope) -> list[Memory]:
        page = self._call()
        edition, found = page.edition, [memory_from_msg(msg) for msg in page.objects]
        while page.objects:
            page = self._call(after_id=page.objects[-1].id)
            found += [memory_from_msg(msg) for msg in page.objects]
        # Of the first page: what was changed between two of them is read once more at the next storing.
        self._edition = edition
        return found

    def add(self, observations: Sequence[Observation], gone: Sequence[str] = ()) -> list[Memory]:
        stored: list[Memory] = []
        for start in range(0, len(observations), AT_ONCE) or (0,):
            batch = observations[start : start + AT_ONCE]
            objects = [memory_to_msg(observation.memory, observation.images) for observation in batch]
            last = start + AT_ONCE >= len(observations)
            going = list(gone[:MAX_IDS]) if last else []
            kept = self._call(edition=self._edition, objects=objects, gone=going)
            stored += [memory_from_msg(msg) for msg in kept.objects]
        for start in range(MAX_IDS, len(gone), MAX_IDS):
            self._call(edition=self._edition, gone=list(gone[start : start + MAX_IDS]))
        return stored

    def _call(self, **what: object) -> KeepObjects.Response:
        request = KeepObjects.Request(**self._about, **what)
        return checked(self.call(self._client, request, timeout_s=STORED_S))
