"""Objects from what a camera sees into a memory store."""

import gc
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import OBJECT, Memory, Observation
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.memory.store import MemoryStore
from remembr_ros.objects.detectors.detection import Detection
from remembr_ros.objects.lifting import CameraView, lift
from remembr_ros.objects.object_map import ObjectMap
from remembr_ros.timestamps import NS

AGAIN_NS = 60 * NS  # of what is known, the last part, of which something may not have been stored
EVERY_NS = 10 * NS  # objects that changed are stored so often: each is rewritten as a whole


class ObjectKeeper:
    """Follows the objects of one robot in one map, and keeps them in a store. Used by one thread at a time.

    What could not be stored is stored with what comes next.

    :ivar images: how many were looked at
    :ivar detections: what was found in them
    :ivar dropped: what of that is of no use, by the reason
    :raises StoreUnavailable: the store does not work; so do see and keep
    """

    def __init__(self, store: MemoryStore, robot: str, map_id: str = '', frame_id: str = 'map') -> None:
        self.images = self.detections = 0
        self.dropped: Counter[str] = Counter()
        self._store = store
        collecting = gc.isenabled()
        gc.disable()  # else it looks through all that is read again and again: half of the time
        try:
            stored = store.matching(scope=Scope(robots=(robot,), map_id=map_id, source=OBJECT))
            known = known_objects(stored, deleted=True)
            self._map = ObjectMap(robot, map_id, frame_id, known)
        finally:
            if collecting:
                gc.enable()
        aliases = {alias for one in known for alias in one.facts.aliases}
        self._gone = [memory.id for memory in stored if memory.id in aliases]
        self._waiting: dict[str, Memory] = {}
        self._pictures: dict[str, bytes] = {}
        self._now_ns = self._kept_ns = 0
        self._camera = ''
        self._whole_ns = 0
        """All that was seen until then is stored."""

    def __len__(self) -> int:
        """Return how many objects there are."""
        return len(self._map)

    def has_read(self, stamp_ns: int, camera: str) -> bool:
        """Tell whether an image was read before: it tells nothing new.

        Of the last minute that is known, not all may have been stored: that is to be read again.
        """
        return self._map.has_read(stamp_ns, camera, AGAIN_NS)

    def see(self, view: CameraView, detections: list[Detection]) -> None:
        """Take what a detector found in an image; now and then, store what has changed."""
        self.images += 1
        self.detections += len(detections)
        self._map.update(view, lift(detections, view, self.dropped))
        self._now_ns = view.stamp_ns
        self._camera = detections[0].camera if detections else self._camera
        self._whole_ns = self._whole_ns or max(self._now_ns - 1, 0)
        self._kept_ns = self._kept_ns or self._now_ns
        if abs(self._now_ns - self._kept_ns) >= EVERY_NS:
            self._kept_ns = self._now_ns
            self.keep()

    def keep(self) -> None:
        """Store what has changed since the last time."""
        self._map.review(self._now_ns)
        for memory, crop in self._map.changed():
            self._waiting[memory.id] = memory
            if crop is not None:
                self._pictures[memory.id] = crop
        self._gone += self._map.gone()
        for name in self._gone:
            self._waiting.pop(name, None)
            self._pictures.pop(name, None)
        # One comes after all others, and tells that they are stored: a kill may leave out any of one change.
        waiting = sorted(self._waiting.values(), key=lambda one: (one.camera == self._camera, one.end_ns))
        self._add(waiting[:-1], self._whole_ns)
        self._add(waiting[-1:], self._now_ns)
        self._whole_ns = self._now_ns
        # Last: a kill in between leaves both, which is found at the next start.
        if self._gone:
            self._store.forget(self._gone, leave_traces=True)
            self._gone.clear()

    def _add(self, memories: Sequence[Memory], whole_ns: int) -> None:
        """Store some of what waits.

        :param whole_ns: until when all that was seen is stored then
        """
        kept = {'kept': [whole_ns, self._now_ns]}
        pictures = {one.id: (self._pictures[one.id],) for one in memories if one.id in self._pictures}
        stored = [
            Observation(replace(one, facts={**one.facts, **kept}), pictures.get(one.id, ()))
            for one in memories
        ]
        for memory in self._store.add(stored) if stored else []:
            if memory.keyframes and self._pictures.pop(memory.id, b''):
                self._map.picture(memory.id, memory.keyframes)
        for one in memories:
            del self._waiting[one.id]
