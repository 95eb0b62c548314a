"""The newest memories as RViz markers."""

import threading
from collections import deque
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
        self._memories: deque[Memory] = deque(maxlen=count)
        self._lock = threading.Lock()
        self._changed = False

    def add(self, memories: Iterable[Memory]) -> None:
        """Show these as well, in place of the oldest."""
        with self._lock:
            self._memories.extend(memory for memory in memories if memory.pose is not None)
            self._changed = True

    def clear(self) -> None:
        """Show none."""
        with self._lock:
            self._memories.clear()
            self._changed = True

    def take(self) -> MarkerArray | None:
        """Return the markers; None if nothing has changed since they were taken."""
        with self._lock:
            if not self._changed:
                return None
            self._changed = False
            memories = list(self._memories)
        return MarkerArray(markers=[Marker(action=Marker.DELETEALL), *_draw(memories)])


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
