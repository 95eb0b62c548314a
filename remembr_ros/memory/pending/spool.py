"""A durable queue of observations on disk, until their server is back."""

import json
import logging
import threading
import zlib
from collections import deque
from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.embedded.sqlite_file import translated
from remembr_ros.memory.model.codec import from_plain, to_plain
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.pending.rows import changing, clean, opened
from remembr_ros.memory.writer_lock import WriterLock

logger = logging.getLogger(__name__)

MAX_BYTES = 512_000_000
"""A day of a driving robot, one memory with two keyframes every 10 s, is about as much."""

_TABLE = """
CREATE TABLE IF NOT EXISTS spool (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL, end_ns INTEGER NOT NULL, data BLOB NOT NULL, crc INTEGER
)
"""


class _Waiting(NamedTuple):
    number: int
    end_ns: int
    size: int


class Spool:
    """A durable, bounded queue. Safe to share between threads; one process has it at a time.

    :param path: of its SQLite file; its folder is made
    :param max_bytes: the most that it holds
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
        try:
            self._rows = opened(path, _TABLE)
            with translated(path):
                sql = 'SELECT number, end_ns, length(data) FROM spool ORDER BY number'
                self._waiting = deque(map(_Waiting._make, self._rows.execute(sql)))
        except BaseException:
            self._owner.release()
            raise

    @property
    def count(self) -> int:
        """How many observations wait."""
        with self._lock:
            return len(self._waiting)

    @property
    def size(self) -> int:
        """How many bytes those take."""
        with self._lock:
            return sum(waiting.size for waiting in self._waiting)

    @property
    def oldest_ns(self) -> int | None:
        """When the first of them ended [ns since the Unix epoch]; None: there is none."""
        with self._lock:
            return self._waiting[0].end_ns if self._waiting else None

    def append(self, observations: Sequence[Observation]) -> None:
        """Add observations at the end, all or none; they survive whatever happens once this returns.

        :raises StoreUnavailable: the spool or its disk is full, or the disk does not work
        """
        entries = [(o.memory.id, o.memory.end_ns, encode(o)) for o in observations]
        with self._lock:
            size = self.size
            if size + sum(len(data) for *_, data in entries) > self._max_bytes:
                raise StoreUnavailable(
                    f'the spool is full: {self.path} has {self.count} memories, {size / 1e6:.0f} of '
                    f'{self._max_bytes / 1e6:.0f} MB. Bring the server back, or give it more room'
                )
            first = self._waiting[-1].number + 1 if self._waiting else 1
            with changing(self._rows, self.path):
                rows = [
                    (number, *entry, zlib.crc32(entry[-1])) for number, entry in enumerate(entries, first)
                ]
                self._rows.executemany('INSERT INTO spool VALUES (?, ?, ?, ?, ?)', rows)
            self._waiting += [_Waiting(number, end_ns, len(data)) for number, _, end_ns, data, _ in rows]

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

    def drop(self, n: int) -> None:
        """Remove the first n observations; if the process ends meanwhile, they may still be there.

        :raises StoreUnavailable: the disk does not work
        """
        with self._lock:
            self._remove('number', [waiting.number for waiting in list(self._waiting)[:n]])
            if not self._waiting:
                with translated(self.path):
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

    def _remove(self, column: str, values: Collection[object]) -> int:
        if not values:
            return 0
        with changing(self._rows, self.path):
            sql = f'DELETE FROM spool WHERE {column} IN (SELECT value FROM json_each(?)) RETURNING number'
            gone = {number for (number,) in self._rows.execute(sql, [json.dumps(list(values))])}
        self._waiting = deque(waiting for waiting in self._waiting if waiting.number not in gone)
        return len(gone)


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
