"""Stores the objects of a camera in a memory store."""

import gc
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Protocol

from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import OBJECT, Memory, Observation
from remembr_ros.memory.objects.known import known_objects
from remembr_ros.objects.detectors.detection import Detection, PixelBox
from remembr_ros.objects.lifting import CameraView, lift
from remembr_ros.objects.object_map import ObjectMap
from remembr_ros.timestamps import NS

AGAIN_NS = 60 * NS  # of what is known, the last part, of which something may not have been stored
EVERY_NS = 10 * NS  # objects that changed are stored so often: each is rewritten as a whole
MOST_CLASSES = 1_000  # that each object carries; of a longer list nothing is told
NEW_NS = 2 * NS  # the same, where there are new ones


class ObjectStore(Protocol):
    """Where objects are kept: a MemoryStore, or who hands them on to one."""

    def matching(self, *, scope: Scope) -> list[Memory]:
        """Return what is stored in a scope.

        :raises StoreUnavailable: the store does not work
        """

    def add(self, observations: Sequence[Observation], gone: Sequence[str] = ()) -> list[Memory]:
        """Store objects and delete those that turned out to be others; return them as stored, in their order.

        :raises ObjectsChanged: somebody else changed objects meanwhile; nothing is stored
        :raises StoreUnavailable: the store does not work
        """


class ObjectKeeper:
    """Follows the objects of one robot in one map, and keeps them in a store. Used by one thread at a time.

    What could not be stored is stored with what comes next.

    :param classes: returns what is looked for, as far as that is known: what nobody looks for may be there
    :param live: what is seen is stored now and then; False: at once by keep, so that a recording whose
        reading was killed leaves nothing, and is read anew
    :ivar objects: what is known; another one after each reading
    :ivar images: how many were looked at
    :ivar detections: what was found in them
    :ivar dropped: what of that is of no use, by the reason
    :raises StoreUnavailable: the store does not work; so do see and keep
    """

    def __init__(
        self,
        store: ObjectStore,
        robot: str,
        map_id: str = '',
        frame_id: str = 'map',
        *,
        live: bool = True,
        classes: Callable[[], Iterable[str]] = tuple,
    ) -> None:
        self._live, self._classes = live, classes
        self.images = self.detections = 0
        self.dropped: Counter[str] = Counter()
        self._store = store
        self._of = robot, map_id, frame_id
        self._waiting: dict[str, Memory] = {}
        self._pictures: dict[str, bytes] = {}
        self._now_ns = self._kept_ns = 0
        self._camera = ''
        self._whole_ns = 0
        """All that was seen until then is stored."""
        self._read()

    def _read(self) -> None:
        """Follow what is stored, and what waits for that."""
        robot, map_id, frame_id = self._of
        collecting = gc.isenabled()
        gc.disable()  # else it looks through all that is read again and again: half of the time
        try:
            stored = self._store.matching(scope=Scope(robots=(robot,), map_id=map_id, source=OBJECT))
            self._stored = {memory.id for memory in stored}
            for name in self._stored & self._waiting.keys():  # it was, though nobody answered
                del self._waiting[name]
            known = known_objects([*stored, *self._waiting.values()], deleted=True)
            self.objects = ObjectMap(robot, map_id, frame_id, known)
        finally:
            if collecting:
                gc.enable()
        aliases = {alias for thing in known for alias in thing.facts.aliases}
        self._gone = [memory.id for memory in stored if memory.id in aliases]

    def read_again(self, *, placed: bool = True) -> None:
        """Go on from what is stored: somebody else changed it, or what was seen since is not to be kept.

        :param placed: objects that were never stored yet stay; else they are given up
        :raises StoreUnavailable: the store does not work; all stays as it is
        """
        new = {memory.id: (memory, crop) for memory, crop in self.objects.changed()} if placed else {}
        waiting, pictures = self._waiting, self._pictures
        self._waiting = {**waiting, **{name: memory for name, (memory, _) in new.items()}} if placed else {}
        self._waiting = {name: memory for name, memory in self._waiting.items() if name not in self._stored}
        crops = {name: crop for name, (_, crop) in new.items() if crop is not None}
        self._pictures = {name: crop for name, crop in (pictures | crops).items() if name in self._waiting}
        self._read()

    def agrees(self, view: CameraView, detections: list[Detection]) -> tuple[int, list[int]]:
        """Return how many things a view shows, and when those of them that are known were seen first [ns]."""
        return self.objects.agrees(view, lift(detections, view, Counter()))

    def __len__(self) -> int:
        """Return how many objects there are."""
        return len(self.objects)

    def has_read(self, stamp_ns: int, camera: str) -> bool:
        """Tell whether an image was read before: it tells nothing new.

        Of the last minute that is known, not all may have been stored: that is to be read again.
        """
        return self.objects.has_read(stamp_ns, camera, AGAIN_NS)

    def see(self, view: CameraView, detections: list[Detection]) -> dict[str, PixelBox]:
        """Take what a detector found in an image; now and then, store what has changed.

        :return: where in the image each object is that it shows
        """
        self.images += 1
        self.detections += len(detections)
        placed = lift(detections, view, self.dropped)
        found = self.objects.update(view, placed)
        self._now_ns = view.stamp_ns
        self._camera = detections[0].camera if detections else self._camera
        self._whole_ns = self._whole_ns or max(self._now_ns - 1, 0)
        self._kept_ns = self._kept_ns or self._now_ns
        if abs(self._now_ns - self._kept_ns) >= (NEW_NS if self.objects.has_new else EVERY_NS):
            self._kept_ns = self._now_ns
            self._gather()
            if self._live:
                self._write()
        return {name: thing.detection.box for name, thing in zip(found, placed, strict=True) if name}

    @property
    def behind(self) -> bool:
        """Whether something could not be stored, and waits for the next time."""
        return bool(self._waiting or self._gone)

    def keep(self) -> None:
        """Store what has changed since the last time."""
        self._gather()
        self._write()

    def _gather(self) -> None:
        self.objects.review(self._now_ns)
        for memory, crop in self.objects.changed():
            self._waiting[memory.id] = memory
            if crop is not None:
                self._pictures[memory.id] = crop
        self._gone += self.objects.gone()
        for name in self._gone:
            self._waiting.pop(name, None)
            self._pictures.pop(name, None)

    def _write(self) -> None:
        # The last one tells that all are stored. A kill leaves out what is written last, which are new ones.
        own, stored = self._camera, self._stored
        waiting = sorted(
            self._waiting.values(), key=lambda m: (m.camera == own, m.id not in stored, m.end_ns)
        )
        whole = [self._whole_ns] * (len(waiting) - 1) + [self._now_ns]
        classes = list(self._classes())
        told = {'classes': classes} if len(classes) <= MOST_CLASSES else {}
        observations = [
            Observation(
                replace(memory, facts={**memory.facts, **told, 'kept': [whole_ns, self._now_ns]}),
                (self._pictures[memory.id],) if memory.id in self._pictures else (),
            )
            for memory, whole_ns in zip(waiting, whole, strict=False)
        ]
        for memory in self._store.add(observations, self._gone) if observations or self._gone else []:
            self._stored.add(memory.id)
            if memory.keyframes and self._pictures.pop(memory.id, b''):
                self.objects.picture(memory.id, memory.keyframes)
        self._waiting.clear()
        self._whole_ns = self._now_ns
        self._gone.clear()
