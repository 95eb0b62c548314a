"""Memories in an embedded Milvus Lite database, searched by an index in memory over the same rows."""

import logging
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import StoreMismatch, StoreUnavailable
from remembr_ros.geometry import Point
from remembr_ros.memory.embedded.index import MemoryIndex
from remembr_ros.memory.embedded.journal import Journal
from remembr_ros.memory.embedded.volumes import Volumes
from remembr_ros.memory.milvus import client as milvus
from remembr_ros.memory.model.engine import Entry, Summary
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.model.stamp import Stamp, no_such_memory, read_stamp

logger = logging.getLogger(__name__)

ROW = 500
"""About what a row takes besides its vector and text [bytes]."""


_open: dict[tuple[Path, str], tuple['EmbeddedEngine', int]] = {}
"""The engines of this process and how many users each has: two indexes over the same rows drift apart."""

_opening = threading.Lock()


def open_embedded(uri: str, collection: str, new: Callable[[], Stamp] | None) -> 'EmbeddedEngine':
    """Return the engine of a collection in a file, the same one to everybody who opens it; each closes it.

    :param new: makes the stamp of a new collection; None: there has to be one
    :raises StoreUnavailable: it cannot be opened, or there is no such collection
    :raises StoreMismatch: another program, or a newer version of this one, made it
    """
    key = (milvus.database_path(uri).resolve(), collection)
    with _opening:
        engine, users = _open.get(key, (None, 0))
        if engine is None:
            engine = EmbeddedEngine(uri, collection, new)
        _open[key] = engine, users + 1
        return engine


class EmbeddedEngine:
    """The engine of a file; see remembr_ros.memory.model.engine.Engine. Made by :func:`open_embedded`.

    Reads never wait for writes to the disk.

    :param uri: path of the database
    :param new: makes the stamp of a new collection; None: there has to be one
    :raises StoreUnavailable: it cannot be opened, or there is no such collection
    :raises StoreMismatch: another program, or a newer version of this one, made it
    """

    def __init__(self, uri: str, collection: str, new: Callable[[], Stamp] | None) -> None:
        self._uri = uri
        self._path = milvus.database_path(uri).resolve()
        self._collection = collection
        self._behind: list[Entry] = []
        self._closed = False
        self._writing = threading.RLock()
        with ExitStack() as undo:
            self._client: Any = milvus.connect(uri)
            undo.callback(self._disconnect)
            with milvus.translated(uri):
                if self._client.has_collection(collection, timeout=milvus.TIMEOUT_S):
                    self._stamp = read_stamp(self._client, collection)
                elif new is None:
                    raise no_such_memory(self._client, collection, uri)
                else:
                    milvus.check_room(uri)
                    self._stamp = new()
                    dimension, description = self._stamp.dimension, self._stamp.to_text()
                    Volumes.create(self._client, collection, dimension, description)
                self._index = self._open_index()
                undo.callback(self._index.close)
                journal = Journal(Path(f'{self._path}.{collection}.journal'))
                self._volumes = Volumes(self._client, collection, self._stamp.dimension, journal)
                self._volumes.settle()
                self._restore()
            undo.pop_all()

    compares = 100
    """In 2 ms. Among 100,000 memories with 67 perturbed copies of each caption these hold the best five."""

    @property
    def stamp(self) -> Stamp:
        return self._stamp

    def put(self, entries: Sequence[Entry]) -> None:
        milvus.check_room(self._uri, sum(map(_size, entries)))
        with self._changing():
            self._catch_up()
            numbers = self._volumes.put(entries, [self._index.volume(e.memory.id) for e in entries])
            self._take_in(entries, numbers)

    def update(self, memories: Sequence[Memory]) -> None:
        milvus.check_room(self._uri, sum(_text_size(memory) + ROW for memory in memories))
        with self._changing():
            numbers = [(self._index.volume(memory.id), memory) for memory in memories]
            changed = [(number, memory) for number, memory in numbers if number is not None]
            self._volumes.update(changed)
            self._index.update([memory for _, memory in changed])

    def delete(self, ids: Sequence[str]) -> None:
        milvus.check_room(self._uri, reserve=milvus.LAST_RESERVE)
        with self._changing():
            known = [(n, i) for n, of_one in self._by_volume(ids).items() for i in of_one]
            self._volumes.delete(known)
            self._remove(ids)

    def vacuum(self) -> None:
        """Remove what deleted memories left in files: the database is closed, rewritten and opened again.

        :raises StoreUnavailable: the disk has no room for a second copy, or the file is in use otherwise
        """
        with _opening, ExitStack() as undo:
            if self._closed:
                raise self._is_closed()
            self._index.forget_traces()
            others = [engine for (path, _), (engine, _) in _open.items() if path == self._path]
            for engine in others:
                undo.enter_context(engine._writing)
            for engine in others:
                engine._disconnect()
                undo.callback(engine._reconnect)
            if milvus.users(self._path):
                raise StoreUnavailable(
                    f'deleted memories can still be read from the file {self._path}: something else in this '
                    'process has it open; close that and forget them again'
                )
            milvus.vacuum_file(self._path)

    def get(self, ids: Sequence[str]) -> list[Memory]:
        return self._index.get(ids)

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        return self._index.vectors(ids)

    def select(self, scope: Scope = ANYTHING) -> Iterator[Memory]:
        return self._index.select(scope)

    def named(self, keyframes: Collection[str]) -> set[str]:
        return self._index.named(keyframes)

    def count(self, scope: Scope = ANYTHING) -> int:
        return self._index.count(scope)

    def summary(self) -> Summary:
        columns = self._index.columns
        first_ns, last_ns = columns.span() or (None, None)
        return Summary(
            memories=self._index.count(),
            placed=columns.placed(),
            first_ns=first_ns,
            last_ns=last_ns,
            robots=columns.names('robot'),
            maps=columns.names('map_id'),
            sources=columns.names('source'),
            bytes=sum(size_on_disk(path) for path in (self._path, self._index_folder)),
        )

    def like(
        self, vector: NDArray[np.float32], scope: Scope, limit: int
    ) -> tuple[dict[str, float], dict[str, float]]:
        return self._index.like(vector, scope, limit)

    def likeness(self, vector: NDArray[np.float32], ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        return self._index.likeness(vector, ids)

    def compared(
        self, vector: NDArray[np.float32], ids: Sequence[str]
    ) -> tuple[list[Memory], dict[str, NDArray[np.float32]]]:
        return self.get(ids), self.likeness(vector, ids)

    def with_words(self, text: str, scope: Scope, limit: int) -> list[str]:
        return self._index.with_words(text, scope, limit)

    def word_shares(self, text: str, memories: Sequence[Memory]) -> list[float]:
        return self._index.word_shares(text, [memory.id for memory in memories])

    def nearest_in_place(self, position: Point, scope: Scope, limit: int) -> list[Memory]:
        return self._index.nearest_in_place(position, scope, limit)

    def nearest_in_time(self, time_ns: int, scope: Scope, limit: int) -> list[Memory]:
        return self._index.nearest_in_time(time_ns, scope, limit)

    def newest(self, scope: Scope, limit: int) -> list[Memory]:
        return self._index.newest(scope, limit)

    def claim(self, name: str) -> None:
        """Do nothing: one process has the file."""

    def is_claimed(self, name: str) -> bool:
        return True

    def release(self, name: str) -> None:
        pass

    def wait(self) -> None:
        """Wait until an index that is being built in the background is in use."""
        self._index.wait()

    def close(self) -> None:
        with _opening:
            _, users = _open.pop((self._path, self._collection), (self, 1))
            if users > 1:
                _open[self._path, self._collection] = self, users - 1
                return
            with self._writing:
                self._closed = True
                self._index.close()
                self._disconnect()

    @property
    def _index_folder(self) -> Path:
        return Path(f'{self._path}.index') / self._collection

    def _open_index(self) -> MemoryIndex:
        try:
            return MemoryIndex(self._index_folder, self._stamp.dimension)
        except OSError as error:
            raise StoreUnavailable(f'cannot write {self._index_folder}: {error}') from error

    def _restore(self) -> None:
        """Fill the index from its files, and from the database what they do not hold."""
        missing = self._index.restore(self._volumes.read())
        if missing:
            logger.info('reading the vectors of %d memories from %s', len(missing), self._uri)
        for number, ids in self._by_volume([memory.id for memory in missing]).items():
            vectors = self._volumes.vectors(number, ids)
            found = [Entry(m, vectors[m.id]) for m in self._index.get(ids) if m.id in vectors]
            if len(found) < len(ids):
                raise StoreMismatch(
                    f'{self._uri}: the vectors of {len(ids) - len(found)} memories are not there; '
                    'restore the file from a copy, or export its memories and import them into a new one'
                )
            try:
                self._index.add_vectors(found)
            except OSError as error:
                raise StoreUnavailable(f'cannot write {self._index_folder}: {error}') from error
        last = self._volumes.last
        self._volumes.sweep([m.id for m in self._index.select() if self._index.volume(m.id) == last])

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Write to a database that is there and has nothing left undone."""
        with self._writing:
            if self._closed:
                raise self._is_closed()
            if not milvus.is_connected(self._client, self._uri):
                logger.error('the database of %s has ended and is started again', self._uri)
                self._disconnect()
                self._reconnect()
            with milvus.translated(self._uri):
                self._settle()
                yield

    def _settle(self) -> None:
        """Finish a write that failed half-way."""
        change = self._volumes.settle()
        if change is not None:
            self._take_in([entry for _, entry in change.replaced], [number for number, _ in change.replaced])
            self._index.update([memory for _, memory in change.updated])
            self._remove([memory_id for _, memory_id in change.deleted])

    def _take_in(self, entries: Sequence[Entry], numbers: Sequence[int]) -> None:
        try:
            self._index.put(entries, numbers)
        except OSError as error:
            # They are durable, and what is kept here is small: there was room a moment ago.
            self._behind += entries
            logger.error('%d memories are stored, but not found by text yet: %s', len(entries), error)

    def _remove(self, ids: Sequence[str]) -> None:
        self._index.remove(ids)
        self._behind = [entry for entry in self._behind if entry.memory.id not in set(ids)]

    def _is_closed(self) -> StoreUnavailable:
        return StoreUnavailable(f'the memory {self._uri} is closed')

    def _catch_up(self) -> None:
        """Take in what could not be: the disk was full."""
        if not self._behind:
            return
        try:
            self._index.add_vectors(self._behind)
        except OSError as error:
            raise StoreUnavailable(f'cannot write {self._index_folder}: {error}; make room') from error
        self._behind = []

    def _by_volume(self, ids: Sequence[str]) -> dict[int, list[str]]:
        """Return the known ids per volume."""
        found: dict[int, list[str]] = defaultdict(list)
        for memory_id in dict.fromkeys(ids):
            number = self._index.volume(memory_id)
            if number is not None:
                found[number].append(memory_id)
        return found

    def _reconnect(self) -> None:
        self._client = milvus.connect(self._uri)
        self._volumes.use(self._client)

    def _disconnect(self) -> None:
        milvus.disconnect(self._client, self._uri)


def size_on_disk(path: Path) -> int:
    """Return the size of a file, or of the files in a folder [bytes]."""
    files = [path] if path.is_file() else path.rglob('*')
    return sum(file.stat().st_size for file in files if file.is_file())


def _size(entry: Entry) -> int:
    """Return about how many bytes an entry takes, in the database and in the index's files."""
    return _text_size(entry.memory) + entry.vectors.size * 4 + len(entry.vectors) * ROW


def _text_size(memory: Memory) -> int:
    return len(memory.caption) + sum(map(len, memory.scene_text))
