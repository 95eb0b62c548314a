"""Memories in an embedded Milvus Lite database, searched by an index over the same rows."""

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from remembr_ros.errors import StoreMismatch, StoreUnavailable
from remembr_ros.memory.embedded.index import MemoryIndex
from remembr_ros.memory.embedded.index_files import Damaged
from remembr_ros.memory.embedded.index_state import IndexState
from remembr_ros.memory.embedded.journal import Change, Journal, put_aside
from remembr_ros.memory.embedded.volumes import Volumes
from remembr_ros.memory.milvus import client as milvus
from remembr_ros.memory.milvus.lite_process import commits, new_token
from remembr_ros.memory.model.engine import Entry, Stamp, Summary, no_such_memory, read_stamp
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.model.uri import database_path
from remembr_ros.memory.writable import LAST_RESERVE, check_room

logger = logging.getLogger(__name__)

ROW = 500  # about what a row takes besides its vector and text [bytes]
AT_ONCE = 512  # memories that are taken into the index at once when it is made from the rows

# The engines of this process and how many users each has: two indexes over the same rows drift apart.
_open: dict[tuple[Path, str], tuple['EmbeddedEngine', int]] = {}
_opening = threading.Lock()


def open_embedded(uri: str, collection: str, new: Callable[[], Stamp] | None) -> 'EmbeddedEngine':
    """Return the engine of a collection in a file, the same one to everybody who opens it; each closes it.

    :param new: makes the stamp of a new collection; None: there has to be one
    :raises StoreUnavailable: it cannot be opened, or there is no such collection
    :raises StoreMismatch: another program, or a newer version of this one, made it
    """
    key = (database_path(uri).resolve(), collection)
    with _opening:
        engine, users = _open.get(key, (None, 0))
        if engine is None:
            engine = EmbeddedEngine(uri, collection, new)
        _open[key] = engine, users + 1
        return engine


class EmbeddedEngine(MemoryIndex):
    """The engine of a file; see remembr_ros.memory.model.engine.Engine. Made by :func:`open_embedded`.

    It is the index over the rows of a database, and keeps both the same. Reads wait for
    no write to either, but for files of the index that a deletion overwrites.
    """

    def __init__(self, uri: str, collection: str, new: Callable[[], Stamp] | None) -> None:
        self._uri = uri
        self._path = database_path(uri).resolve()
        self._collection = collection
        self._folder = Path(f'{self._path}.index') / collection
        self._closed = False
        self._writing = threading.RLock()
        self._lags = False  # files of the index lack something
        self._state = IndexState(self._folder)
        noted = Path(f'{self._path}.{collection}.journal')
        with ExitStack() as undo:
            mark = new_token()
            with suppress(OSError):  # then it is made anew next time
                self._state.announce(mark)
            undo.callback(self._state.close)
            self._client: Any = milvus.connect(uri, mark)
            undo.callback(self._disconnect)
            with milvus.translated(uri):
                if self._client.has_collection(collection, timeout=milvus.TIMEOUT_S):
                    self.stamp = read_stamp(self._client, collection)
                elif new is None:
                    raise no_such_memory(self._client, collection, uri)
                else:
                    check_room(self._path)
                    put_aside(noted)
                    self.stamp = new()
                    Volumes.create(self._client, collection, self.stamp.dimension, self.stamp.to_text())
                try:
                    super().__init__(self._folder, self.stamp.dimension)
                except OSError as error:
                    raise StoreUnavailable(f'cannot write {self._folder}: {error}') from error
                undo.callback(self.let_go)
                journal = Journal(noted, self.stamp.identity)
                self._volumes = Volumes(self._client, collection, self.stamp.dimension, journal, self.held)
                self._restore()
            undo.pop_all()

    compares = 100  # in 2 ms; among 100,000 with 67 perturbed copies of each caption these hold the best five

    def put(self, entries: Sequence[Entry]) -> None:
        check_room(self._path, sum(map(_size, entries)))
        with self._changing():
            try:
                self.catch_up()
            except OSError as error:
                raise StoreUnavailable(f'cannot write {self._folder}: {error}; make room') from error
            numbers = self._volumes.put(entries, [self.volume(e.memory.id) for e in entries])
            with self._indexing():
                self.take(entries, numbers)

    def update(self, memories: Sequence[Memory]) -> None:
        check_room(self._path, sum(_text_size(memory) + ROW for memory in memories))
        with self._changing():
            known = ((self.volume(memory.id), memory) for memory in memories)
            self._make(Change(updated=tuple((n, memory) for n, memory in known if n is not None)))

    def delete(self, ids: Sequence[str]) -> None:
        check_room(self._path, reserve=LAST_RESERVE)
        with self._changing():
            known = ((self.volume(memory_id), memory_id) for memory_id in dict.fromkeys(ids))
            change = Change(deleted=tuple((n, memory_id) for n, memory_id in known if n is not None))
            self._make(change)
            self._volumes.drop_empty({number for number, _ in change.deleted})

    def vacuum(self) -> None:
        """Remove what deleted memories left in files: the database is closed, rewritten and opened again.

        :raises StoreUnavailable: the disk has no room for a second copy, or the file is in use otherwise
        """
        with _opening, ExitStack() as undo:
            self._check_open()
            others = [engine for (path, _), (engine, _) in _open.items() if path == self._path]
            for engine in others:
                undo.enter_context(engine._writing)
            try:
                self.forget_traces()
            except OSError as error:
                raise StoreUnavailable(f'cannot write {self._folder}: {error}; make room') from error
            for engine in others:
                engine._begin()
                undo.callback(engine._end)
                engine._disconnect()
                undo.callback(engine._reconnect)
            if milvus.users(self._path):
                raise StoreUnavailable(
                    f'deleted memories can still be read from the file {self._path}: something else in this '
                    'process has it open; close that and forget them again'
                )
            milvus.vacuum_file(self._path)

    def summary(self) -> Summary:
        size = sum(size_on_disk(path) for path in (self._path, self._folder))
        with self._lock:
            first_ns, last_ns = self._columns.span() or (None, None)
            return Summary(
                memories=self.count(),
                placed=self._columns.placed(),
                first_ns=first_ns,
                last_ns=last_ns,
                robots=self._columns.names('robot'),
                maps=self._columns.names('map_id'),
                sources=self._columns.names('source'),
                bytes=size,
            )

    def claim(self, name: str) -> None:
        """Do nothing: one process has the file."""

    def is_claimed(self, name: str) -> bool:
        return True

    def release(self, name: str) -> None:
        pass

    def close(self) -> None:
        with _opening:
            _, users = _open.pop((self._path, self._collection), (self, 1))
            if users > 1:
                _open[self._path, self._collection] = self, users - 1
                return
            with self._writing:
                if self._closed:
                    return
                self._closed = True
                with suppress(OSError):  # then what is in the files is read from the database
                    self.wait()
                    self._files.save()
                    self._end(closed=True)
                self.let_go()
                self._disconnect()
                self._state.close()

    def _restore(self) -> None:
        """Take the index from its files, and from the database what these do not hold."""
        try:
            since = self._state.in_doubt(self.stamp.to_text(), self._client.found)
            doubtful = self.load(self._state.slots)
        except Damaged as reason:
            logger.info('the index of %s is made from its rows: %s', self._uri, reason)
            since, doubtful = 0, set()
            self.clear()
        last = self._volumes.last
        if since is not None:
            doubtful |= set(range(since, last + 1))
        if since == 0:
            doubtful |= self.volumes()  # of which some may not be there
        self._begin()
        change = self._volumes.settle()  # first: of what was being replaced the rows may be missing
        try:
            for number in sorted(doubtful):
                self._reconcile(number)
        except OSError as error:
            raise StoreUnavailable(f'cannot write {self._folder}: {error}') from error
        if last in doubtful:
            self._volumes.sweep(self.ids_in(last))
        self._volumes.drop_empty(doubtful)
        self._follow(change)
        self._volumes.done()
        self._end()

    def _reconcile(self, number: int) -> None:
        """Make the index say of a volume what its rows say."""
        rows = {memory.id: memory for memory in self._volumes.read(number)}
        self.remove([memory_id for memory_id in self.ids_in(number) if memory_id not in rows])
        missing, changed = [], []
        for memory in rows.values():
            (known,) = self.get([memory.id]) or (None,)
            if known is None or self.volume(memory.id) != number or _texts(known) != _texts(memory):
                missing.append(memory)
            elif known != memory:
                changed.append(memory)
        if missing:
            logger.info('reading the vectors of %d memories from %s', len(missing), self._uri)
        vectors = self._volumes.vectors(number, [memory.id for memory in missing])
        if len(vectors) < len(missing):
            raise StoreMismatch(
                f'{self._uri}: the vectors of {len(missing) - len(vectors)} memories are not there; '
                'restore the file from a copy, or export its memories and import them into a new one'
            )
        self.change(changed)
        for start in range(0, len(missing), AT_ONCE):
            part = missing[start : start + AT_ONCE]
            self.take([Entry(memory, vectors[memory.id]) for memory in part], [number] * len(part))

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Write to a database that is there and has nothing left undone."""
        with self._writing:
            self._check_open()
            if not milvus.is_connected(self._client, self._path):
                logger.error('the database of %s has ended and is started again', self._uri)
                self._disconnect()
                self._reconnect()
            with milvus.translated(self._uri):
                self._begin()
                self._follow(self._volumes.settle())  # a write that failed half-way
                self._volumes.done()
                yield
                self._volumes.done()
                self._end()

    def _make(self, change: Change) -> None:
        self._volumes.change(change)
        self._follow(change)

    def _follow(self, change: Change | None) -> None:
        """Change in the index what the database has now."""
        if change is not None:
            with self._indexing():
                if change.replaced:
                    numbers, entries = zip(*change.replaced, strict=True)
                    self.take(entries, numbers)
                self.change(memory for _, memory in change.updated)
                self.remove(memory_id for _, memory_id in change.deleted)

    @contextmanager
    def _indexing(self) -> Iterator[None]:
        """Write to the index what is durable in the database; it is read from there if that fails."""
        try:
            yield
        except OSError as error:
            # What is kept in memory instead is small: there was room a moment ago.
            logger.error('the memory %s is stored, but not all of its index: %s', self._uri, error)
            self._lags = True
            self._state.distrust(self._client.token)

    def _begin(self) -> None:
        if not self._lags:
            with suppress(OSError):  # then the number of commits tells
                self._state.begin(self._client.token, self._volumes.last, len(self._columns))

    def _end(self, closed: bool = False) -> None:
        if not self._lags:
            with suppress(OSError):  # as above
                self._state.end(self._client.token, commits(self._path), len(self._columns), closed)

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable(f'the memory {self._uri} is closed')

    def _reconnect(self) -> None:
        self._client = milvus.connect(self._uri, self._client.token)
        self._volumes.client = self._client

    def _disconnect(self) -> None:
        milvus.disconnect(self._client, self._uri)


def _texts(memory: Memory) -> tuple[str, ...]:
    """Return what a memory's vectors stand for."""
    return (memory.caption, *memory.scene_text)


def size_on_disk(path: Path) -> int:
    """Return the size of a file, or of the files in a folder [bytes]."""
    files = [path] if path.is_file() else path.rglob('*')
    return sum(file.stat().st_size for file in files if file.is_file())


def _size(entry: Entry) -> int:
    """Return about how many bytes an entry takes, in the database and in the index's files."""
    return _text_size(entry.memory) + entry.vectors.size * 4 + len(entry.vectors) * ROW


def _text_size(memory: Memory) -> int:
    return len(memory.caption) + sum(map(len, memory.scene_text))
