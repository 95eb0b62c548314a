"""The newest memories as RViz markers."""

import math
import threading
from collections.abc import Iterable

from visualization_msgs.msg import Marker, MarkerArray

from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.base.markers import age_colour, balls, clear, described, label

MAX_LABELS = 100  # texts shown; more of them hide each other
REACH_M = 1.0  # [m] a click this far from a memory still means it


class MemoryMarkers:
    """Keeps the newest placed memories and draws them: a ball each, coloured by how much older it is
    than the newest, and what could be read there; the one that was selected is described.

    :param count: how many are kept
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._memories: dict[str, Memory] = {}  # by id, the newest last
        self._selected = ''
        self._lock = threading.Lock()
        self._changed = False

    def add(self, memories: Iterable[Memory]) -> None:
        """Show these as well, in place of the oldest; a memory that is shown already is replaced."""
        with self._lock:
            self._keep(memories)

    def add_older(self, memories: Iterable[Memory]) -> None:
        """Show these as well, as far as there is room, below those that are shown already.

        :param memories: oldest first
        """
        with self._lock:
            shown, self._memories = self._memories, {}
            self._keep([*memories, *shown.values()])

    def show(self, memories: Iterable[Memory]) -> None:
        """Show these and no others.

        :param memories: oldest first
        """
        with self._lock:
            self._memories = {}
            self._keep(memories)

    def resize(self, count: int) -> None:
        """Keep so many from now on; older ones are not known any more, see :meth:`add_older`."""
        with self._lock:
            self._count = count
            self._keep([])

    def select(self, frame_id: str, x: float, y: float) -> Memory | None:
        """Describe the memory at a place, the newest of several; return it. None: no memory is there.

        :param frame_id: what x and y [m] refer to; heights do not count, for a click is on the floor
        """
        with self._lock:
            near = [
                (math.hypot(memory.pose.x - x, memory.pose.y - y), -memory.end_ns, memory.id)
                for memory in self._memories.values()
                if memory.pose is not None and memory.frame_id == frame_id
            ]
            distance_m, _, found = min(near, default=(math.inf, 0, ''))
            self._selected = found if distance_m <= REACH_M else ''
            self._changed = True
            return self._memories.get(self._selected)

    def take(self) -> MarkerArray | None:
        """Return the markers; None if nothing has changed since they were taken."""
        with self._lock:
            if not self._changed:
                return None
            self._changed = False
            memories = list(self._memories.values())
            selected = self._memories.get(self._selected)
        return clear(_draw(memories, selected))

    def _keep(self, memories: Iterable[Memory]) -> None:
        """Keep these as the newest, and as many others as there is room for."""
        for memory in memories:
            self._memories.pop(memory.id, None)
            if memory.pose is not None:
                self._memories[memory.id] = memory
        for memory_id in list(self._memories)[: max(0, len(self._memories) - self._count)]:
            del self._memories[memory_id]
        self._changed = True


def _draw(memories: list[Memory], selected: Memory | None) -> Iterable[Marker]:
    newest_ns = max((memory.end_ns for memory in memories), default=0)
    yield from balls('memories', ((m, age_colour(newest_ns - m.end_ns)) for m in memories), 0.3)
    for memory in [memory for memory in memories if memory.scene_text][-MAX_LABELS:]:
        if memory.pose is not None and memory is not selected:
            yield label(memory.frame_id, 'scene_text', memory.pose, '\n'.join(memory.scene_text[:4]))
    if selected is not None and selected.pose is not None:
        yield label(selected.frame_id, 'selected', selected.pose, described(selected), above_m=1.0)
