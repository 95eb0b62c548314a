"""The memory store: durable, and searchable by text, position and time. See remembr_ros.memory.opening."""

import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from itertools import compress
from types import TracebackType

from remembr_ros.embedding.embedder import BULK_BYTES, Embedder
from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.geometry import RigidTransform
from remembr_ros.memory.connected_store import ConnectedStore
from remembr_ros.memory.consolidation.rule import Consolidation
from remembr_ros.memory.intake import Intake
from remembr_ros.memory.keyframes.folder import KeyframeFolder
from remembr_ros.memory.model.engine import Engine, Entry
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import AGENT, OBJECT, Memory, Observation
from remembr_ros.memory.model.storable import storable
from remembr_ros.memory.motion.pose_graph import Moves
from remembr_ros.memory.objects.corrections import ObjectCorrection, corrected
from remembr_ros.memory.objects.known import KnownObject, known_objects
from remembr_ros.memory.pending.change_log import ChangeLog
from remembr_ros.memory.pending.forgetting import evidence_of, forgettings_of, is_meant, with_quoting
from remembr_ros.memory.pending.late import Latecomers
from remembr_ros.memory.pending.spool import Spool
from remembr_ros.memory.pending.writer import SpoolingWriter, SpoolState
from remembr_ros.memory.places.place import NamedPlace
from remembr_ros.memory.retention import RetentionPlan, RetentionPolicy, plan_retention
from remembr_ros.memory.store_info import StoreInfo, info_of
from remembr_ros.memory.whole_changes import MapMove, WholeChanges


class MemoryStore(ConnectedStore, AbstractContextManager['MemoryStore']):
    """Memories in a database, keyframes beside it. Safe to share between threads.

    Whatever asks the database raises StoreUnavailable where that does not work.

    :param connect: as uri, collection, embedder and behind: see ConnectedStore
    :param keyframes: where images are kept; closed with the store
    :param log: where is noted what was begun, see remembr_ros.memory.whole_changes; closed with the store
    :param finishes: what was cut off is finished when it is opened; False: nothing is to be changed
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
        log: ChangeLog,
        finishes: bool = True,
        spool: Spool | None = None,
        rule: Callable[[], Consolidation] | None = None,
    ) -> None:
        self._changes = WholeChanges(log, keyframes)
        on_open = self._changes.open if finishes else lambda engine: None
        super().__init__(connect, uri, collection, embedder=embedder, behind=behind, on_open=on_open)
        self.keyframes = keyframes
        self._intake = Intake(lambda: self.embedder, keyframes, rule)
        self._writing = threading.Lock()
        self._naming = threading.Lock()
        self.late = Latecomers()
        """What waits on its way here; whoever has a queue of its own adds it."""
        self._spooling = SpoolingWriter(self._store, spool, self.late.is_forgotten) if spool else None
        self.late.queues += [self._spooling] if self._spooling else []

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

    def add(self, observations: Sequence[Observation], gone: Sequence[str] = ()) -> list[Memory]:
        """Store memories; they survive whatever happens once this returns. Storing one again changes nothing.

        Another memory of the same id is replaced. While the server is away they wait on this machine's disk.

        :param gone: ids of those whose place they take: these are deleted, in a file with the same write
        :return: as stored, in the order given: with the names of their keyframes, or the memory of a stay
        :raises InvalidRequest: a memory makes no sense; nothing is stored
        :raises StoreUnavailable: the database does not work; calling again is safe
        """
        if not self._spooling:
            stored = self._store(observations, gone)
        else:  # in the order of what waits
            stored = self.add_heard(observations)
            if gone:
                self.forget(gone, leave_traces=True)
        return [memory for memory in stored if memory is not None]

    def add_heard(self, observations: Sequence[Observation]) -> list[Memory | None]:
        """Store memories, as add does, but not what was forgotten since it was heard: None in its place."""
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

    def matching(
        self, ids: Collection[str] | None = None, scope: Scope = ANYTHING, text: str = ''
    ) -> list[Memory]:
        """Return the memories that meet these conditions, stored or waiting, oldest first.

        :param ids: any of these; None: whatever their ids
        :param text: part of the caption or of what was read, in whatever case; empty: whatever it says
        :raises InvalidRequest: the scope makes no sense
        """
        scope = self.resolved(scope)

        def meant(memory: Memory) -> bool:
            return is_meant(memory, ids, scope, text)

        # First: what is being stored right now is in both.
        found = {o.memory.id: o.memory for o in self.late.queued(lambda o: meant(o.memory))}
        found |= {memory.id: memory for memory in self.engine.select(scope) if meant(memory)}
        return sorted(found.values(), key=lambda memory: (memory.start_ns, memory.id))

    def doomed(
        self, ids: Collection[str] | None = None, scope: Scope = ANYTHING, text: str = ''
    ) -> list[Memory]:
        """Return what forgetting with these conditions would delete: as matching, and what quotes it."""
        found = with_quoting(self.matching(ids, scope, text), self.matching(scope=Scope(source=AGENT)))
        return sorted(found, key=lambda memory: (memory.start_ns, memory.id))

    def forget(
        self,
        ids: Collection[str] | None = None,
        scope: Scope = ANYTHING,
        text: str = '',
        *,
        among: Collection[str] | None = None,
        asked_ns: int | None = None,
        leave_traces: bool = False,
    ) -> int:
        """Delete memories, their keyframes, what rests on them, and what waits; conditions as in matching.

        Afterwards no file of this store holds them any more. What is cut off is finished when the store is
        opened again, or by the next forgetting. What was heard before it and comes late is not stored.

        :param among: of those that are stored only these
        :param asked_ns: when that was asked for [ns since the Unix epoch]; None: now
        :param leave_traces: only tidy up: what comes late is stored, and the files are not rewritten: their
            room is used again, but it can be read till then
        :return: how many were deleted
        :raises InvalidRequest: no condition is given
        """
        if ids is None and scope == ANYTHING and not text:
            raise InvalidRequest('forgetting needs a condition: ids, a time, a place or a text')
        scope, at_ns = self.resolved(scope), self.late.now_ns() if asked_ns is None else asked_ns
        conditions = forgettings_of(at_ns, ids, scope, text)
        if not leave_traces:
            self.late.note(conditions)  # from now on it holds, also where the database does not work
        going = self.late.forget(lambda o: any(condition.holds(o) for condition in conditions))
        with self._changing() as engine:
            meant = (m for m in engine.select(scope) if is_meant(m, ids, scope, text))
            found = [memory for memory in meant if among is None or memory.id in among]
            if not leave_traces:
                found = with_quoting(found, list(engine.select(Scope(source=AGENT))))
                gone = forgettings_of(at_ns, {memory.id for memory in found})
                self.late.note([*conditions, *gone], engine)
            self._changes.delete(engine, found, vacuum=not leave_traces)
        going |= {memory.id for memory in found}
        if leave_traces:
            return len(going)
        return len(going | self.late.forget(lambda o: not going.isdisjoint(evidence_of(o.memory))))

    def correct(self, correction: ObjectCorrection, now_ns: int) -> KnownObject | None:
        """Take what a person says of an object; return it as it is then, None: it is deleted.

        :param now_ns: when it is said
        :raises InvalidRequest: there is no such object, it is on another map, or that makes no sense
        """
        known = self.matching(scope=Scope(source=OBJECT))
        changed, gone = corrected(known_objects(known, deleted=True), correction, now_ns)
        self.add([Observation(memory) for memory in changed], gone)
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
        transform: RigidTransform | Moves | None = None,
        *,
        new_map_id: str | None = None,
        frame_id: str | None = None,
    ) -> int:
        """Place the memories of a map anew: it was renamed, made again or merged into another one.

        :param transform: where the map is in the new one, or how SLAM moved it; None: in the same place
        :param new_map_id: None: the name stays
        :param frame_id: of the new map; None: as before
        :return: how many memories there were; where the same was cut off before, that is finished, and
            nothing is moved again: only what has come to the old name since
        :raises InvalidRequest: a name or the transform makes no sense; nothing is changed
        :raises StoreUnavailable: the database does not work; what was begun is finished at the next opening
        """
        with self._changing() as engine:
            return self._changes.move(engine, MapMove(map_id, transform, new_map_id, frame_id))

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
            return self._changes.was_cut_off(self.engine, MapMove(map_id, transform, new_map_id, frame_id))

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

    def close(self, *, reported: bool = True) -> None:
        """Close the connection; an embedded database's file can then be opened by another process.

        :param reported: somebody knows what move_map did; False: called again, it says so again
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

    def _store(self, observations: Sequence[Observation], gone: Sequence[str] = ()) -> list[Memory | None]:
        """Store memories in the database; None: it was forgotten since it was heard."""
        with self._changing() as engine:
            waited = self._spooling is not None and self._spooling.state().spooled > 0
            admitted = self.late.admitted(engine, observations, waited)
            kept = list(compress(observations, admitted))
            stored = iter(self._intake.store(engine, kept, self._changes.dropping, gone))
            return [next(stored) if is_kept else None for is_kept in admitted]
