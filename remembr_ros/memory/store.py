"""The memory store: durable, and searchable by text, position and time. See remembr_ros.memory.opening."""

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from remembr_ros.embedding.embedder import BULK_BYTES, Embedder
from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.geometry import RigidTransform
from remembr_ros.memory.connected_store import ConnectedStore
from remembr_ros.memory.consolidation.rule import Consolidation
from remembr_ros.memory.intake import Intake
from remembr_ros.memory.keyframes.folder import KeyframeFolder
from remembr_ros.memory.model.engine import Engine, Entry
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import OBJECT, PLACE, Memory, Observation, moved
from remembr_ros.memory.model.storable import storable
from remembr_ros.memory.objects.corrections import ObjectCorrection, corrected
from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.retention import RetentionPlan, RetentionPolicy, is_meant, plan_retention
from remembr_ros.memory.spool.spool import Spool
from remembr_ros.memory.spool.writer import SpoolingWriter, SpoolState
from remembr_ros.memory.store_info import StoreInfo, info_of
from remembr_ros.memory.whole_changes import WholeChanges, move_asked


class MemoryStore(ConnectedStore, AbstractContextManager['MemoryStore']):
    """Memories in a database, keyframes beside it. Safe to share between threads.

    Whatever asks the database raises StoreUnavailable where that does not work.

    :param connect: as uri, collection, embedder and behind: see ConnectedStore
    :param keyframes: where images are kept; closed with the store
    :param undone: folder where is noted what was begun, see remembr_ros.memory.whole_changes
    :param spool: where memories wait while a server is away; None: they cannot
    :param rule: returns when a stay goes on; None: everything is a memory of its own
    """

    def __init__(
        self,
        connect: Callable[[], Engine],
        uri: str,
        collection: str,
        *,
        embedder: Embedder | str | None,
        behind: bool = False,
        keyframes: KeyframeFolder,
        undone: Path,
        spool: Spool | None = None,
        rule: Callable[[], Consolidation] | None = None,
    ) -> None:
        self._changes = WholeChanges(undone, keyframes)
        super().__init__(
            connect, uri, collection, embedder=embedder, behind=behind, on_open=self._changes.open
        )
        self.keyframes = keyframes
        """Where images are kept, whether the server is there or not; their folder may not be there yet."""
        self._intake = Intake(lambda: self.embedder, keyframes, rule)
        self._writing = threading.Lock()
        self._naming = threading.Lock()
        self._spooling = SpoolingWriter(self._store, spool) if spool else None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close(reported=error is None)

    @property
    def problem(self) -> str:
        """What does not work at the moment, though memories are acknowledged; empty: everything does."""
        state = self._spooling.state() if self._spooling else None
        engine = self._connected.problem if self._connected else ''
        problems = (engine, state.problem if state else '', self.keyframes.problem, self._changes.problem)
        return '; '.join(filter(None, problems))

    @property
    def waiting(self) -> SpoolState | None:
        """What waits on this machine for the server; None: nothing can."""
        return self._spooling.state() if self._spooling else None

    def expect_bulk(self) -> None:
        """Keep the vectors of many more texts for when they come again; called before the first is stored."""
        self._intake.vector_bytes = BULK_BYTES

    def add(self, observations: Sequence[Observation]) -> list[Memory]:
        """Store memories; they survive whatever happens once this returns. Storing one again changes nothing.

        Another memory of the same id is replaced. While the server is away they wait on this machine's disk.

        :return: the memories as stored, in the order given: with the names of their keyframes, and where the
            robot stands and sees the same the memory of the stay
        :raises InvalidRequest: a memory makes no sense; nothing is stored
        :raises StoreUnavailable: the database does not work; calling again with the same memories is safe
        """
        if self._closed:
            raise StoreUnavailable(f'the memory {self._uri} is closed')
        return self._spooling.add(observations) if self._spooling else self._store(observations)

    def put(self, entries: Sequence[Entry]) -> None:
        """Store memories whose vectors are known, such as those of another store with the same embedder.

        :raises InvalidRequest: a memory makes no sense; nothing is stored
        """
        fitting = [replace(entry, memory=storable(entry.memory)) for entry in entries]
        with self._changing() as engine:
            named = {name for entry in fitting for name in entry.memory.keyframes}
            before = engine.get([entry.memory.id for entry in fitting])
            dropped = {name for memory in before for name in memory.keyframes} - named
            with self._changes.dropping(engine, dropped):
                engine.put(fitting)

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories of these ids in their order; unknown ids are passed over."""
        return self.engine.get(ids)

    def outline(self) -> Outline:
        """Return where and when all memories are, but for the names of places."""
        return self.engine.outline().without(PLACE)

    def keyframe(self, memory_id: str, index: int = 0) -> bytes:
        """Return a keyframe of a memory as JPEG.

        :raises InvalidRequest: there is no such memory or keyframe
        """
        found = self.get([memory_id])
        if not found:
            raise InvalidRequest(f'there is no memory {memory_id!r}')
        names = found[0].keyframes
        if not 0 <= index < len(names):
            raise InvalidRequest(
                f'memory {memory_id} has {len(names)} keyframes, none with the index {index}'
            )
        return self.keyframes.get(names[index])

    def matching(
        self, ids: Collection[str] | None = None, scope: Scope = ANYTHING, text: str = ''
    ) -> list[Memory]:
        """Return the memories that forgetting with these conditions would delete, oldest first.

        :param ids: any of these; None: whatever their ids
        :param text: part of the caption or of what was read, in whatever case; empty: whatever it says
        :raises InvalidRequest: the scope makes no sense
        """
        scope = self.resolved(scope)
        found = {m.id: m for m in self.engine.select(scope) if is_meant(m, ids, scope, text)}
        if self._spooling:
            # One that is being stored right now may be in both.
            waiting = self._spooling.matching(lambda m: is_meant(m, ids, scope, text))
            found |= {memory.id: memory for memory in waiting}
        return sorted(found.values(), key=lambda memory: (memory.start_ns, memory.id))

    def forget(
        self,
        ids: Collection[str] | None = None,
        scope: Scope = ANYTHING,
        text: str = '',
        *,
        leave_traces: bool = False,
    ) -> int:
        """Delete memories, their keyframes and what of them waits for the server; conditions as in matching.

        Afterwards no file of this store holds them any more. What is cut off is finished when the store is
        opened again, or by the next forgetting.

        :param leave_traces: do not rewrite the files: their room is used again, but it can be read till then
        :return: how many were deleted
        :raises InvalidRequest: no condition is given
        """
        if ids is None and scope == ANYTHING and not text:
            raise InvalidRequest('forgetting needs a condition: ids, a time, a place or a text')
        scope = self.resolved(scope)
        waiting = 0
        if self._spooling:
            waiting = self._spooling.forget(
                lambda m: is_meant(m, ids, scope, text), leave_traces=leave_traces
            )
        with self._changing() as engine:
            doomed_ones = [m for m in engine.select(scope) if is_meant(m, ids, scope, text)]
            self._changes.delete(engine, doomed_ones, vacuum=not leave_traces)
        return waiting + len(doomed_ones)

    def correct(self, correction: ObjectCorrection, now_ns: int) -> KnownObject | None:
        """Take what a person says of an object; return it as it is then, None: it is deleted.

        :param now_ns: when it is said
        :raises InvalidRequest: there is no such object, it is on another map, or that makes no sense
        """
        known = known_objects(self.matching(scope=Scope(source=OBJECT)), deleted=True)
        changed, gone = corrected(known, correction, now_ns)
        self.add([Observation(memory) for memory in changed])
        if gone:  # last: a kill in between leaves both, of which the one is an alias of the other
            self.forget(gone, leave_traces=True)
        return next(iter(known_objects(changed[:1])), None)

    def name_places(self, places: Sequence[NamedPlace]) -> list[NamedPlace]:
        """Store named places, all or none; the same again is the same place.

        :return: as they are stored
        :raises InvalidRequest: two places of a map are called the same
        """
        with self._naming:
            known, stored = self.places(), []
            for place in places:
                if (same := known.same_as(place)) is None:
                    known = known.with_new(place)
                stored.append(same or place)
            self.add([Observation(place.memory) for place in stored])
            return stored

    def retain(self, policy: RetentionPolicy, now_ns: int) -> RetentionPlan:
        """Delete what is too old or too much; return what that was."""
        with self._changing() as engine:
            found = plan_retention(engine.select(), policy, now_ns)
            self._changes.delete(engine, engine.get(found.ids), vacuum=False)
            return found

    def collect_keyframes(self) -> int:
        """Delete the keyframes that no memory names; return how many.

        :raises StoreUnavailable: the database or the disk does not work
        """
        try:
            return self.keyframes.collect(self.engine.named)
        except OSError as error:
            raise StoreUnavailable(f'cannot clean {self.keyframes.folder}: {error}') from error

    def move_map(
        self,
        map_id: str,
        transform: RigidTransform | None = None,
        *,
        new_map_id: str | None = None,
        frame_id: str | None = None,
    ) -> int:
        """Place the memories of a map anew: it was renamed, made again or merged into another one.

        :param transform: where the map is in the new one; None: in the same place
        :param new_map_id: None: the name stays
        :param frame_id: of the new map; None: as before
        :return: how many memories there were; where the same was cut off before, that is finished, and
            nothing is moved again: only what has come to the old name since
        :raises InvalidRequest: the name or the transform makes no sense; nothing is changed
        :raises StoreUnavailable: the database does not work; what was begun is finished at the next opening
        """
        asked = move_asked(map_id, transform, new_map_id, frame_id)
        with self._changing() as engine:
            return self._changes.move(
                engine,
                asked,
                lambda: [
                    (memory, storable(moved(memory, transform, map_id=new_map_id, frame_id=frame_id)))
                    for memory in engine.select(Scope(map_id=map_id))
                ],
                leaves=new_map_id not in (None, map_id),
            )

    def move_was_cut_off(
        self,
        map_id: str,
        transform: RigidTransform | None = None,
        *,
        new_map_id: str | None = None,
        frame_id: str | None = None,
    ) -> bool:
        """Tell whether move_map was cut off with these arguments: called again, it moves nothing twice.

        :raises StoreUnavailable: the disk does not work
        """
        with self._writing:
            return self._changes.was_cut_off(self.engine, move_asked(map_id, transform, new_map_id, frame_id))

    def info(self) -> StoreInfo:
        """Return what the store holds; works while the server is away."""
        stored, stamp, problem = None, None, self.problem
        try:
            stored, stamp = self.engine.summary(), self.engine.stamp
        except StoreUnavailable as error:
            if self._closed or not self._spooling:
                raise
            problem = str(error)
        address, waiting = (self._uri, self._collection), self.waiting
        return info_of(address, stamp, stored, keyframes=self.keyframes, waiting=waiting, problem=problem)

    def all(self) -> list[Memory]:
        """Return every memory, oldest first."""
        return sorted(self.engine.select(), key=lambda m: (m.start_ns, m.id))

    def close(self, *, reported: bool = True) -> None:
        """Close the connection; an embedded database's file can then be opened by another process.

        :param reported: somebody knows what move_map did; False: when it is called again, it says so again
        """
        if self._spooling:
            self._spooling.close()
        with self._writing:
            self._disconnect()
            self._changes.close(reported)

    @contextmanager
    def _changing(self) -> Iterator[Engine]:
        """Give the engine to one thread at a time, with nothing left undone that stands in the way."""
        with self._writing:
            engine = self.engine
            self._changes.ready(engine)
            try:
                yield engine
            finally:
                self._changed += 1

    def _store(self, observations: Sequence[Observation]) -> list[Memory]:
        """Store memories in the database."""
        with self._changing() as engine:
            return self._intake.store(engine, observations, self._changes.dropping)
