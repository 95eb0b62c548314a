"""The rows of a memory in a SQLite file: the truth, of which all else is made.

Every change is one transaction and has a number, its edition; a row tells in which it was last written. Who
has seen an edition asks for what came since. Records and vectors have checksums: SQLite's pages have none.
"""

import json
import sqlite3
import zlib
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.embedded import sqlite_file
from remembr_ros.memory.embedded.sqlite_file import check_identity, connect, files_of, make, translated
from remembr_ros.memory.embedded.vector_table import read_vectors, vector_row
from remembr_ros.memory.matching.ranking import paragraphs_among
from remembr_ros.memory.model.codec import from_plain, to_plain
from remembr_ros.memory.model.engine import Entry, Forgotten, Stamp, no_such_memory, stamp_from
from remembr_ros.memory.model.record import Memory

KEPT = 100_000  # editions of which is known what was deleted; who has seen only older ones reads everything

_TABLES = """
CREATE TABLE "{0}" (
    number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, edition INTEGER NOT NULL,
    paragraphs INTEGER NOT NULL, record TEXT NOT NULL, crc INTEGER NOT NULL
);
CREATE INDEX "{0} editions" ON "{0}" (edition);
CREATE TABLE "{0} vectors" (number INTEGER PRIMARY KEY, vectors BLOB NOT NULL, crc INTEGER NOT NULL);
CREATE TABLE "{0} keyframes" (number INTEGER, name TEXT, PRIMARY KEY (number, name)) WITHOUT ROWID;
CREATE INDEX "{0} keyframe names" ON "{0} keyframes" (name);
CREATE TABLE "{0} deleted" (edition INTEGER, number INTEGER, PRIMARY KEY (edition, number)) WITHOUT ROWID;
"""


class Row(NamedTuple):
    """A row of the records.

    :param number: of the memory, in the order of storing; a replaced memory gets a new one
    :param edition: in which it was written
    :param paragraphs: how many of its vectors, the first ones, say all of one thing
    :param record: JSON
    :param crc: that was stored with it
    """

    number: int
    edition: int
    paragraphs: int
    record: bytes
    crc: int = 0

    def checksum(self) -> int:
        """Return the checksum of what is there."""
        return zlib.crc32(self.record, zlib.crc32(b'%d %d %d' % self[:3]))


class Database:
    """The rows of one collection. One thread may change them, while another, in a snapshot, reads.

    :param path: absolute
    :param new: makes the stamp of a new collection; None: there has to be one
    :param writable: False: nothing can be written there
    :raises StoreUnavailable: it cannot be opened, or there is no such collection
    :raises StoreMismatch: another program, or another version of this one, made it
    """

    def __init__(self, path: Path, name: str, new: Callable[[], Stamp] | None, writable: bool = True) -> None:
        self._path = path
        self._name = name
        self._table = name.replace('"', '""')
        self._damaged: set[int] = set()
        self._hidden = 0  # rows that SQLite counts and does not find
        self._connections: list[sqlite3.Connection] = []
        try:
            with translated(path):
                if new is not None and writable:
                    make(path)
                for _ in range(2):
                    self._connections.append(connect(path, writable))
                self._reader, self._writer = self._connections
                check_identity(self._reader, path)
                if writable:  # a copy that VACUUM INTO made has no log
                    self._writer.execute('PRAGMA journal_mode=WAL')
                self.stamp = self._opened(new)
        except BaseException:
            self.close()
            raise

    @property
    def files(self) -> tuple[Path, ...]:
        """The database and, while it is open, the files that SQLite keeps beside it."""
        return files_of(self._path)

    @property
    def problem(self) -> str:
        """What is damaged and what to do; empty: nothing that was read."""
        if not (count := len(self._damaged) + self._hidden):
            return ''
        return (
            f'{count} memories in {self._path} are damaged and are left out, or not found by '
            'their meaning; put back a copy, or export the memory and import it into a new file'
        )

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Change rows: all of it, durably, or nothing.

        :raises StoreUnavailable: SQLite refuses it, or another program had the file locked for too long
        """
        with sqlite_file.changing(self._writer, self._path):
            yield
            sql = 'UPDATE collections SET edition = edition + 1 WHERE name = ?'
            self._writer.execute(sql, [self._name])

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let one thread read the rows as they are now, whatever is written meanwhile."""
        with translated(self._path):
            self._reader.execute('BEGIN')
            try:
                yield
            finally:
                with suppress(sqlite3.Error):
                    self._reader.execute('COMMIT')

    @property
    def edition(self) -> int:
        """Which change was the last one."""
        with translated(self._path):
            sql = 'SELECT edition FROM collections WHERE name = ?'
            edition: int = self._reader.execute(sql, [self._name]).fetchone()[0]
            return edition

    def put(self, entries: Sequence[Entry]) -> None:
        """Write memories, in place of those with the same ids; within :meth:`changing`."""
        self.delete([entry.memory.id for entry in entries])
        edition, last = self._next()
        records, vectors = [], []
        for number, entry in enumerate(entries, last + 1):
            paragraphs = paragraphs_among(entry.memory, len(entry.vectors))
            row = Row(number, edition, paragraphs, _record(entry.memory))
            records.append([*_columns(row), entry.memory.id])
            vectors.append(vector_row(number, entry.vectors))
        self._name_keyframes(last + 1, [entry.memory for entry in entries])
        columns = 'number, edition, paragraphs, record, crc, id'
        sql = f'INSERT INTO "{self._table}" ({columns}) VALUES (?, ?, ?, ?, ?, ?)'
        self._writer.executemany(sql, records)
        self._writer.executemany(f'INSERT INTO "{self._table} vectors" VALUES (?, ?, ?)', vectors)
        sql = 'UPDATE collections SET last = ? WHERE name = ?'
        self._writer.execute(sql, [last + len(entries), self._name])

    def update(self, memories: Sequence[Memory]) -> None:
        """Rewrite memories whose texts stay the same; unknown ids are left out; within :meth:`changing`."""
        edition, _ = self._next()
        for memory in memories:
            found = self._find(memory.id, 'number, paragraphs')
            if found is not None:
                number, paragraphs = found
                *_, text, crc = _columns(Row(number, edition, paragraphs, _record(memory)))
                sql = f'UPDATE "{self._table}" SET edition = ?, record = ?, crc = ? WHERE number = ?'
                self._writer.execute(sql, [edition, text, crc, number])
                self._writer.execute(f'DELETE FROM "{self._table} keyframes" WHERE number = ?', [number])
                self._name_keyframes(number, [memory])

    def delete(self, ids: Sequence[str]) -> None:
        """Delete memories; unknown ids are passed over; within :meth:`changing`."""
        edition, _ = self._next()
        found = (self._find(memory_id, 'number') for memory_id in ids)
        numbers = [row for row in found if row is not None]
        self._damaged.difference_update(number for (number,) in numbers)
        for table in ('', ' vectors', ' keyframes'):
            self._writer.executemany(f'DELETE FROM "{self._table}{table}" WHERE number = ?', numbers)
        sql = f'INSERT INTO "{self._table} deleted" VALUES (?, ?)'
        self._writer.executemany(sql, [[edition, number] for (number,) in numbers])
        self._writer.execute(f'DELETE FROM "{self._table} deleted" WHERE edition <= ?', [edition - KEPT])

    def note(self, forgotten: Sequence[Forgotten], before_ns: int) -> None:
        """Note what was forgotten; what is from before a time goes; within :meth:`changing`."""
        sqlite_file.note(self._writer, self._table, forgotten, before_ns)

    def noted(self, since_ns: int) -> list[Forgotten]:
        """Return what was noted since a time."""
        with translated(self._path):
            return sqlite_file.noted(self._reader, self._table, since_ns)

    def all(self) -> Iterator[Row]:
        """Yield every row that is whole, in the order of the numbers; within :meth:`snapshot`."""
        (count,) = self._reader.execute(f'SELECT COUNT(*) FROM "{self._table}"').fetchone()
        read = 0
        for row in self._rows('ORDER BY number'):
            read += 1
            if self._is_whole(row):
                yield row
        self._hidden = abs(count - read)

    def since(self, edition: int) -> tuple[list[int], list[Row]]:
        """Return what was deleted and what was written after an edition; within :meth:`snapshot`."""
        sql = f'SELECT number FROM "{self._table} deleted" WHERE edition > ?'
        gone = [number for (number,) in self._reader.execute(sql, [edition])]
        return gone, sorted(filter(self._is_whole, self._rows('WHERE edition > ?', edition)))

    def named(self, keyframes: Collection[str]) -> set[str]:
        """Return those of these keyframes that some memory names."""
        sql = f'SELECT name FROM "{self._table} keyframes" WHERE name IN (SELECT value FROM json_each(?))'
        with translated(self._path):
            return {name for (name,) in self._reader.execute(sql, [json.dumps(list(keyframes))])}

    def vectors(self, numbers: NDArray[np.int64]) -> tuple[NDArray[np.int16], NDArray[np.int64]]:
        """Return the vectors of memories, shape (vectors, dimension), and how many each has: none if damaged.

        :param numbers: ascending
        """
        with translated(self._path):
            vectors, counts = read_vectors(self._reader, self._table, numbers, self.stamp.dimension)
            if not counts.all():  # those that were deleted meanwhile have no record either
                sql = f'SELECT number FROM "{self._table}" WHERE number IN (SELECT value FROM json_each(?))'
                lost = json.dumps(numbers[counts == 0].tolist())
                self._damaged |= {number for (number,) in self._reader.execute(sql, [lost])}
        return vectors, counts

    @property
    def cached(self) -> str:
        """What names the cache that was made of these rows; within :meth:`snapshot`."""
        sql = 'SELECT cached FROM collections WHERE name = ?'
        return self._reader.execute(sql, [self._name]).fetchone()[0] or ''

    def set_cached(self, name: str) -> None:
        """Name the cache that was made of these rows."""
        with translated(self._path):
            self._writer.execute('UPDATE collections SET cached = ? WHERE name = ?', [name, self._name])

    def vacuum(self) -> None:
        """Rewrite the file, so that nothing of what was deleted is left in it, nor in its log.

        :raises StoreUnavailable: the disk has no room, or somebody reads the file for too long
        """
        with translated(self._path):
            self._writer.execute('VACUUM')
        sqlite_file.clean(self._writer, self._path)

    def close(self) -> None:
        """Close it; the last one puts what is in the log into the file."""
        for connection in self._connections:
            with suppress(sqlite3.Error):
                connection.close()

    def _opened(self, new: Callable[[], Stamp] | None) -> Stamp:
        """Return the stamp of the collection, which is made if there is none."""
        stamps = dict(self._reader.execute('SELECT name, stamp FROM collections').fetchall())
        if self._name in stamps:
            return stamp_from(stamps[self._name], self._name)
        if new is None:
            raise no_such_memory(stamps, self._name, str(self._path))
        made = new()
        with self.changing():
            for statement in _TABLES.format(self._table).split(';'):
                self._writer.execute(statement)
            sql = 'INSERT INTO collections (name, stamp, edition, last) VALUES (?, ?, 0, 0)'
            self._writer.execute(sql, [self._name, made.to_text()])
        return made

    def _name_keyframes(self, first: int, memories: Sequence[Memory]) -> None:
        named = [[number, name] for number, m in enumerate(memories, first) for name in set(m.keyframes)]
        self._writer.executemany(f'INSERT INTO "{self._table} keyframes" VALUES (?, ?)', named)

    def _next(self) -> tuple[int, int]:
        """Return the edition that is being written, and the last number that there was."""
        sql = 'SELECT edition + 1, last FROM collections WHERE name = ?'
        edition, last = self._writer.execute(sql, [self._name]).fetchone()
        return edition, last

    def _find(self, memory_id: str, columns: str) -> tuple[int, ...] | None:
        sql = f'SELECT {columns} FROM "{self._table}" WHERE id = ?'
        found: tuple[int, ...] | None = self._writer.execute(sql, [memory_id]).fetchone()
        return found

    def _rows(self, which: str, *values: int | str) -> Iterator[Row]:
        columns = "number, edition, paragraphs, coalesce(CAST(record AS BLOB), x''), crc"  # damaged, no text
        rows = self._reader.execute(f'SELECT {columns} FROM "{self._table}" {which}', values)
        return map(Row._make, rows)

    def _is_whole(self, row: Row) -> bool:
        with suppress(TypeError):  # damaged, a number may be a text
            if row.checksum() == row.crc:
                return True
        self._damaged.add(row.number)
        return False


def memory_of(record: bytes) -> Memory:
    """Return the memory that a record holds."""
    return from_plain(json.loads(record))


def _record(memory: Memory) -> bytes:
    return json.dumps(to_plain(memory), separators=(',', ':')).encode()


def _columns(row: Row) -> list[Any]:
    """Return the columns of a row, with its checksum."""
    return [*row[:3], row.record.decode(), row.checksum()]
