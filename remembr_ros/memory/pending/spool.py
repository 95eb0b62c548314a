"""A durable queue of observations on disk, until their server is back."""

import json
import logging
import sqlite3
import threading
import zlib
from collections.abc import Collection, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.embedded.sqlite_file import changing, clean, opened, translated
from remembr_ros.memory.model.codec import from_plain, to_plain
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.writer_lock import WriterLock

logger = logging.getLogger(__name__)

MAX_BYTES = 512_000_000
"""A day of a driving robot, one memory with two keyframes every 10 s, is about as much."""

_TABLE = """
CREATE TABLE IF NOT EXISTS spool (
    number INTEGER PRIMARY KEY, id TEXT, end_ns INTEGER, size INTEGER, data BLOB, crc INTEGER
);
CREATE INDEX IF NOT EXISTS sizes ON spool (size)
"""


class Spool:
    """A durable, bounded queue. Safe to share between threads; one process has it at a time.

    :param path: of its SQLite file; its folder is made
    :param max_bytes: the most that it holds
    :ivar count: how many observations wait
    :ivar size: how many bytes those take
    :ivar oldest_ns: when the first of them ended [ns since the Unix epoch]; None: there is none
    :raises StoreUnavailable: it cannot be opened, or another process has it
    """

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._lock = threading.RLock()
        with suppress(OSError):  # whoever opens the lock says what is wrong
            path.parent.mkdir(parents=True, exist_ok=True)
        self._owner = WriterLock(path.with_name(path.name + '.lock'), f'the spool {path}')
        self._owner.take()
        with ExitStack() as undo:
            undo.callback(self._owner.release)
            self._rows = opened(path, _TABLE)
            self._count()
            undo.pop_all()

    def append(self, observations: Sequence[Observation]) -> None:
        """Add observations at the end, all or none; they survive whatever happens once this returns.

        :raises StoreUnavailable: the spool or its disk is full, or the disk does not work
        """
        encoded = [(observation.memory, encode(observation)) for observation in observations]
        rows = [(m.id, m.end_ns, len(data), data, zlib.crc32(data)) for m, data in encoded]
        with self._lock:
            if self.size + sum(len(data) for _, data in encoded) > self._max_bytes:
                raise StoreUnavailable(
                    f'the spool is full: {self.path} has {self.count} memories, {self.size / 1e6:.0f} of '
                    f'{self._max_bytes / 1e6:.0f} MB. Bring the server back, or give it more room'
                )
            with changing(self._rows, self.path):
                self._rows.executemany('INSERT INTO spool VALUES (NULL, ?, ?, ?, ?, ?)', rows)
            self._count()

    def peek(self, n: int) -> list[Observation]:
        """Return the first n observations; they stay. What is damaged is lost, and that is logged.

        :raises StoreUnavailable: the disk does not work
        """
        with self._lock, translated(self.path):
            sql = 'SELECT number, data, crc FROM spool ORDER BY number LIMIT ?'
            rows = self._rows.execute(sql, [n]).fetchall()
            damaged = [number for number, data, crc in rows if zlib.crc32(data) != crc]
            if damaged:
                logger.error('%d memories that waited in %s are damaged and lost', len(damaged), self.path)
                self._remove('number', damaged)
            return [decode(data) for number, data, _ in rows if number not in damaged]

    def queued(self) -> list[Observation]:
        """Return all that wait, without their images; what is damaged is left out.

        :raises StoreUnavailable: the disk does not work
        """
        with self._lock, translated(self.path):  # one after the other: the images may be many
            rows = self._rows.execute('SELECT data, crc FROM spool ORDER BY number')
            return [replace(decode(data), images=()) for data, crc in rows if zlib.crc32(data) == crc]

    def drop(self, n: int) -> None:
        """Remove the first n observations; if the process ends meanwhile, they may still be there.

        :raises StoreUnavailable: the disk does not work
        """
        with self._lock, translated(self.path):
            sql = 'SELECT number FROM spool ORDER BY number LIMIT ?'
            self._remove('number', [number for (number,) in self._rows.execute(sql, [n])])
            if not self.count:
                with suppress(sqlite3.Error, StoreUnavailable):  # a forgetting cleans it again
                    self._rows.execute('VACUUM')  # of nothing, which gives its room back
                    clean(self._rows, self.path)

    def forget(self, ids: Collection[str]) -> int:
        """Remove the observations of these memories; no file has them, or what was drained, after that.

        :return: how many were removed
        :raises StoreUnavailable: the disk does not work; all are still there
        """
        with self._lock:
            removed = self._remove('id', ids)
            clean(self._rows, self.path)
            return removed

    def close(self) -> None:
        """Let go of the files; what waits stays in them."""
        with self._lock:
            if self._owner.held:
                self._rows.close()
                self._owner.release()

    def _count(self) -> None:
        first = '(SELECT end_ns FROM spool ORDER BY number LIMIT 1)'
        with translated(self.path):  # by the index of sizes: the rows themselves are large
            found = self._rows.execute(f'SELECT count(*), total(size), {first} FROM spool').fetchone()
        self.count, self.size, self.oldest_ns = int(found[0]), int(found[1]), found[2]

    def _remove(self, column: str, values: Collection[object]) -> int:
        if not values:
            return 0
        with changing(self._rows, self.path):
            sql = f'DELETE FROM spool WHERE {column} IN (SELECT value FROM json_each(?))'
            removed = self._rows.execute(sql, [json.dumps(list(values))]).rowcount
        self._count()
        return removed


def encode(observation: Observation) -> bytes:
    """Return an observation as bytes: a line of JSON with the sizes of the images, then the images."""
    sizes = [len(image) for image in observation.images]
    head = {**to_plain(observation.memory), 'images': sizes, 'heard_ns': observation.heard_ns}
    return b'\n'.join((json.dumps(head).encode(), b''.join(observation.images)))


def decode(data: bytes) -> Observation:
    """Return the observation that :func:`encode` made bytes of."""
    line, _, rest = data.partition(b'\n')
    head = json.loads(line)
    images = []
    for size in head['images']:
        images.append(rest[:size])
        rest = rest[size:]
    return Observation(from_plain(head), tuple(images), head['heard_ns'])
