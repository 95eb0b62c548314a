"""Memories in a SQLite file, searched by an index over its rows."""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.embedded import cache
from remembr_ros.memory.embedded.database import Database
from remembr_ros.memory.embedded.index import MemoryIndex
from remembr_ros.memory.model.engine import Entry, Forgotten, Stamp, Summary
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.model.uri import database_path
from remembr_ros.memory.writable import LAST_RESERVE, check_room, check_writable, is_writable
from remembr_ros.memory.writer_lock import WriterLock

T = TypeVar('T')

ROW = 500  # about what a row takes besides its vectors and text [bytes]

# The engines of this process and how many users each has: an index is made once.
_open: dict[tuple[Path, str], tuple['EmbeddedEngine', int]] = {}
_opening = threading.Lock()


def open_embedded(
    uri: str, collection: str, new: Callable[[], Stamp] | None, read_only: bool = False
) -> 'EmbeddedEngine':
    """Return the engine of a collection in a file, the same one to everybody who opens it; each closes it.

    :param new: makes the stamp of a new collection; None: there has to be one
    :param read_only: other processes may write it meanwhile; each change that is made all the same is refused
        while one does
    :raises StoreUnavailable: it cannot be opened, there is no such collection, or another process writes it
    :raises StoreMismatch: another program, or another version of this one, made it
    """
    key = (database_path(uri).resolve(), collection)
    with _opening:
        engine, users = _open.get(key, (None, 0))
        if engine is None:
            engine = EmbeddedEngine(key[0], collection, new, read_only)
        elif not read_only:
            engine.keep_others_from_writing()
        _open[key] = engine, users + 1
        return engine


class EmbeddedEngine(MemoryIndex):
    """The engine of a file; see remembr_ros.memory.model.engine.Engine. Made by :func:`open_embedded`."""

    compares = 100  # in 2 ms; among 100,000 with 67 perturbed copies of each caption these hold the best five

    def __init__(
        self, path: Path, collection: str, new: Callable[[], Stamp] | None, read_only: bool = False
    ) -> None:
        if path.is_dir():
            raise StoreUnavailable(f'{path} is a folder; give the path of a file')
        self._path = path
        self._collection = collection
        self._closed = False
        self._writing = threading.RLock()
        self._holds = False  # the lock, until it is closed
        self._lock_file = WriterLock(Path(f'{path}.{collection}.lock'), path)
        with ExitStack() as undo:
            undo.callback(self._lock_file.release)
            if not read_only:
                with suppress(OSError):  # SQLite says what is wrong
                    path.parent.mkdir(parents=True, exist_ok=True)
                self.keep_others_from_writing()
                if new is not None and not path.exists():
                    check_room(path)
            self._database = Database(path, collection, new, writable=is_writable(path))
            undo.callback(self._database.close)
            self.stamp = self._database.stamp
            super().__init__(self._database, Path(f'{path}.{collection}.cache'))
            self._files = self._identities()
            undo.pop_all()

    def keep_others_from_writing(self) -> None:
        """Take the lock until this is closed.

        :raises StoreUnavailable: another process has it
        """
        with self._writing:
            self._lock_file.take()
            self._holds = True

    def put(self, entries: Sequence[Entry], changed: Sequence[Memory] = (), gone: Sequence[str] = ()) -> None:
        size = sum(_text_size(e.memory) + ROW + e.vectors.size * 2 for e in entries)
        check_room(self._path, size + sum(_text_size(memory) + ROW for memory in changed))

        def write(_: Sequence[object]) -> None:
            self._database.delete(gone)
            self._database.update(changed)
            self._database.put(entries)

        self._change(write, [*entries, *changed, *gone])

    def update(self, memories: Sequence[Memory]) -> None:
        self.put([], memories)

    def delete(self, ids: Sequence[str]) -> None:
        check_room(self._path, reserve=LAST_RESERVE)
        self._change(self._database.delete, ids)

    def note(self, forgotten: Sequence[Forgotten], before_ns: int) -> None:
        check_room(self._path, reserve=LAST_RESERVE)
        self._change(partial(self._database.note, before_ns=before_ns), forgotten)

    def noted(self, since_ns: int) -> list[Forgotten]:
        return self._database.noted(since_ns)

    def vacuum(self) -> None:
        """Remove what deleted memories left in files: the database and the cache are rewritten.

        :raises StoreUnavailable: the disk has no room for a second copy, or somebody reads the file for long
        """
        with self._writing, self._locked():
            self.wait()  # what is being built may have what was forgotten meanwhile
            self._check_there()
            try:
                cache.discard(self._cache)
            except OSError as error:
                raise StoreUnavailable(
                    f'deleted memories can still be read from {self._cache}: {error}'
                ) from error
            self._check_room_to_vacuum()
            self._database.vacuum()
            self.save(at_least=-1)

    @property
    def problem(self) -> str:
        """What is lost or damaged, and what to do; empty: nothing that is known."""
        try:
            self._check_there()
            if self._holds:
                check_writable(self._path)
        except StoreUnavailable as error:
            return str(error)
        return self._database.problem

    def summary(self) -> Summary:
        beside = (*self._database.files, self._cache)
        size = sum(file.stat().st_size for file in beside if file.exists())
        with self._looking():
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
        """Do nothing: one process writes the file."""

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
                self._passages.close()
                if self._lock_file.held:
                    with suppress(StoreUnavailable):  # then the next start takes longer
                        self.save(at_least=self.count() // 100)
                self._database.close()
                self._lock_file.release()

    def _change(self, write: Callable[[Sequence[T]], None], what: Sequence[T]) -> None:
        """Change rows as a whole; when it returns they are durable, in the file that has this name."""
        with self._writing, self._locked():
            self._check_there()
            if not what:  # somebody asks whether it would be refused
                return
            with self._database.changing():
                write(what)
            self._check_there()
            with self._looking():  # the index follows
                pass
            self.keep()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if self._closed:
            raise StoreUnavailable(f'the memory {self._path} is closed')
        check_writable(self._path)
        self._lock_file.take()
        try:
            yield
        finally:
            if not self._holds:
                self._lock_file.release()

    def _check_there(self) -> None:
        """Refuse to go on where the files have gone: SQLite would go on in files that nobody finds again."""
        if self._identities() != self._files:
            raise StoreUnavailable(
                f'{self._path}, or {self._path.name}-wal or -shm beside it, was removed or replaced while it '
                'was open: what is stored now would be lost. Put it back as it was, or start what has it '
                'open again, which goes on with what is there'
            )

    def _identities(self) -> list[tuple[int, int] | None]:
        found: list[tuple[int, int] | None] = []
        for file in self._database.files:
            try:
                status = os.stat(file)
                found.append((status.st_dev, status.st_ino))
            except OSError:
                found.append(None)
        return found

    def _check_room_to_vacuum(self) -> None:
        size = sum(file.stat().st_size for file in self._database.files if file.exists())
        try:
            check_room(self._path, size // 2)
        except StoreUnavailable as error:
            raise StoreUnavailable(
                f'deleted memories can still be read from the file {self._path}: {error}; then forget them '
                'again, or open the memory again'
            ) from error


def _text_size(memory: Memory) -> int:
    return len(memory.caption) + sum(map(len, memory.scene_text))
