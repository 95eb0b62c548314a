"""The newest memories as RViz markers."""

import threading
from collections.abc import Iterable

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from remembr_ros.memory.record import Memory

MAX_LABELS = 100
"""Texts shown; more of them hide each other."""


class MemoryMarkers:
    """Keeps the newest placed memories and draws them: a sphere each, and what could be read.

    :param count: how many are kept
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._memories: dict[str, Memory] = {}  # by id, the newest last
        self._lock = threading.Lock()
        self._changed = False

    def add(self, memories: Iterable[Memory]) -> None:
        """Show these as well, in place of the oldest; a memory that is shown already is replaced."""
        with self._lock:
            for memory in memories:
                self._memories.pop(memory.id, None)
                if memory.pose is not None:
                    self._memories[memory.id] = memory
            self._trim()

    def add_older(self, memories: Iterable[Memory]) -> None:
        """Show these as well, as far as there is room, below those that are shown already.

        :param memories: oldest first
        """
        with self._lock:
            older = {memory.id: memory for memory in memories if memory.pose is not None}
            self._memories = {
                memory_id: memory for memory_id, memory in older.items() if memory_id not in self._memories
            } | self._memories
            self._trim()

    def show(self, memories: Iterable[Memory]) -> None:
        """Show these and no others.

        :param memories: oldest first
        """
        with self._lock:
            self._memories = {memory.id: memory for memory in memories if memory.pose is not None}
            self._trim()

    def resize(self, count: int) -> None:
        """Keep so many from now on; older ones are not known any more, see :meth:`add_older`."""
        with self._lock:
            self._count = count
            self._trim()

    def take(self) -> MarkerArray | None:
        """Return the markers; None if nothing has changed since they were taken."""
        with self._lock:
            if not self._changed:
                return None
            self._changed = False
            memories = list(self._memories.values())
        return MarkerArray(markers=[Marker(action=Marker.DELETEALL), *_draw(memories)])

    def _trim(self) -> None:
        for memory_id in list(self._memories)[: max(0, len(self._memories) - self._count)]:
            del self._memories[memory_id]
        self._changed = True


def _draw(memories: list[Memory]) -> list[Marker]:
    markers = []
    for frame_id in sorted({memory.frame_id for memory in memories}):
        spheres = _marker(frame_id, 'memories', len(markers), Marker.SPHERE_LIST, 0.3)
        spheres.scale.x = spheres.scale.y = 0.3
        spheres.color = ColorRGBA(r=0.2, g=0.6, b=1.0, a=0.8)
        spheres.points = [_point(memory, 0.0) for memory in memories if memory.frame_id == frame_id]
        markers.append(spheres)
    labelled = [memory for memory in memories if memory.scene_text][-MAX_LABELS:]
    for index, memory in enumerate(labelled):
        label = _marker(memory.frame_id, 'scene_text', index, Marker.TEXT_VIEW_FACING, 0.25)
        label.pose.position = _point(memory, 0.5)
        label.color = ColorRGBA(r=1.0, g=1.0, b=1.0, a=1.0)
        label.text = '\n'.join(memory.scene_text[:4])
        markers.append(label)
    return markers


def _marker(frame_id: str, namespace: str, index: int, kind: int, height: float) -> Marker:
    # A stamp of zero: shown wherever the frame is now.
    marker = Marker(ns=namespace, id=index, type=kind, action=Marker.ADD)
    marker.header.frame_id = frame_id
    marker.header.stamp = Time()
    marker.pose.orientation.w = 1.0
    marker.scale.z = height
    return marker


def _point(memory: Memory, above: float) -> Point:
    assert memory.pose is not None
    return Point(x=memory.pose.x, y=memory.pose.y, z=memory.pose.z + above)
