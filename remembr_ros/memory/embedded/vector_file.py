"""The passages' vectors on disk, in the order in which they came, for an index in memory to read back.

What is in here is in the database as well; this spares reading it from there at every start, and holds full
vectors that need no room in memory. Two files: rows of 16-bit numbers, and an entry for each memory's rows.
Both are checked whole when they are opened: a damaged run counts as erased, and is read from the database.
"""

import json
import os
import re
import uuid
import zlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import StoreUnavailable

ENTRY = np.dtype(
    [
        *(('id', 'S64'), ('texts', '<u4'), ('rows', '<u4'), ('paragraphs', '<u4'), ('crc', '<u4')),
        *(('live', '<u4'), ('check', '<u4')),
    ]
)
"""Of a memory: its id, a fingerprint of its texts, how many rows it has, the first of which are so many
paragraphs, their checksum, 0 if erased; and the checksum of all that."""

CHECKED_AT_ONCE = 1 << 24
"""Bytes of vectors read at once to check them: 1.4 GB (100,000 memories) take 2 s."""

_GENERATION = re.compile(r'[0-9a-f]{32}')

SCALE = 32_767
"""Of the numbers of unit vectors in the file. As exact as 16-bit floats, but read in a sixth of the time."""


class VectorFile:
    """Appends runs of vectors and reads rows of any of them.

    :param folder: made if it is not there
    :param dimension: of a vector; files of another dimension are started anew
    :raises OSError: the disk does not work
    """

    def __init__(self, folder: Path, dimension: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.dimension = dimension
        self._row = 2 * dimension
        self._checkpoint = folder / 'checkpoint.json'
        state = self._state()
        self.generation = str(state.get('generation', ''))
        """Changes when rows get other numbers."""
        self._closed = False
        flags = os.O_RDWR | os.O_CREAT
        self._runs = self.rows = 0
        self._vectors = os.open(folder / 'vectors.i16', flags, 0o644)
        self._entries = os.open(folder / 'entries.bin', flags, 0o644)
        if not _GENERATION.fullmatch(self.generation) or state.get('dimension') != dimension:
            self.clear()
        entries = self._sound_entries()
        self._entry_buffer = entries
        self._runs = len(entries)
        self.rows = int(entries['rows'].sum(dtype=np.int64))
        os.ftruncate(self._entries, self._runs * ENTRY.itemsize)
        os.ftruncate(self._vectors, self.rows * self._row)

    @property
    def entries(self) -> NDArray[np.void]:
        """One per run, of the type ENTRY: shape (runs,)."""
        return self._entry_buffer[: self._runs]

    def append(
        self,
        ids: Sequence[str],
        texts: Sequence[int],
        runs: Sequence[NDArray[np.float32]],
        paragraphs: Sequence[int],
    ) -> int:
        """Add the runs of memories; return the number of the first row.

        :param texts: fingerprint of each memory's texts
        :param paragraphs: how many of each memory's rows are paragraphs, the first ones
        :param runs: vectors of each memory: shape (passages, dimension)
        :raises OSError: the disk is full; nothing is added
        """
        halves = [np.rint(np.clip(run, -1.0, 1.0) * SCALE).astype('<i2') for run in runs]
        entries = np.zeros(len(ids), ENTRY)
        entries['id'], entries['texts'] = [memory_id.encode() for memory_id in ids], texts
        entries['rows'], entries['paragraphs'] = [len(half) for half in halves], paragraphs
        entries['crc'], entries['live'] = [zlib.crc32(half.tobytes()) for half in halves], 1
        for entry in entries:
            entry['check'] = _checksum(entry)
        self._check_open()
        first = self.rows
        # Vectors first: an entry says that its rows are there.
        _write(self._vectors, b''.join(half.tobytes() for half in halves), first * self._row)
        _write(self._entries, entries.tobytes(), self._runs * ENTRY.itemsize)
        end = self._runs + len(entries)
        if end > len(self._entry_buffer):
            larger = np.zeros(2 * end, ENTRY)
            larger[: self._runs] = self.entries
            self._entry_buffer = larger
        self._entry_buffer[self._runs : end] = entries
        self._runs = end
        self.rows += int(entries['rows'].sum())
        return first

    def read(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return rows: shape (len(rows), dimension).

        :param rows: ascending, without repetition
        :raises StoreUnavailable: it is closed, or the file lost what it had
        """
        self._check_open()
        raw = bytearray(len(rows) * self._row)
        view = memoryview(raw)
        at = 0
        for first, count in _runs(rows):
            size = count * self._row
            if os.preadv(self._vectors, [view[at : at + size]], first * self._row) < size:
                raise StoreUnavailable(
                    f'{self.folder / "vectors.i16"} was cut short; open the memory again to mend it'
                )
            at += size
        vectors: NDArray[np.float32] = (
            np.frombuffer(raw, '<i2').reshape(-1, self.dimension).astype(np.float32)
        )
        vectors *= np.float32(1.0 / SCALE)
        return vectors

    def erase(self, run: int, first: int) -> None:
        """Overwrite a run with zeros: a vector tells about its text.

        :param run: index of its entry
        :param first: number of its first row
        """
        self._check_open()
        entry = self.entries[run]
        entry['live'] = 0
        entry['id'] = b''
        entry['check'] = _checksum(entry)
        # On a full disk what is overwritten needs no room, but copy-on-write does: then the entry stays as it
        # was, too, and whoever opens this next erases it.
        with suppress(OSError):
            _write(self._vectors, bytes(int(entry['rows']) * self._row), first * self._row)
            _write(self._entries, entry.tobytes(), run * ENTRY.itemsize)

    def save(self) -> None:
        """Make sure that everything survives a power failure.

        :raises OSError: the disk does not work
        """
        os.fsync(self._vectors)
        os.fsync(self._entries)
        state = {'generation': self.generation, 'dimension': self.dimension}
        replace_file(self._checkpoint, json.dumps(state).encode())

    def clear(self) -> None:
        """Forget every row."""
        self._checkpoint.unlink(missing_ok=True)
        os.ftruncate(self._entries, 0)
        os.ftruncate(self._vectors, 0)
        self.generation = uuid.uuid4().hex
        self._entry_buffer = np.zeros(0, ENTRY)
        self._runs = self.rows = 0
        self.save()

    def close(self) -> None:
        """Close the files; nothing can be read any more. Another file may get their descriptors."""
        if self._closed:
            return
        self._closed = True
        os.close(self._vectors)
        os.close(self._entries)

    def _state(self) -> dict[str, object]:
        try:
            state = json.loads(self._checkpoint.read_bytes())
        except (OSError, ValueError):
            return {}
        return state if isinstance(state, dict) else {}

    def _check_open(self) -> None:
        if self._closed:
            raise StoreUnavailable(f'the memory of {self.folder} is closed')

    def _sound_entries(self) -> NDArray[np.void]:
        """Return the entries, up to the first that tells nothing; those of damaged rows as erased."""
        size = os.fstat(self._entries).st_size // ENTRY.itemsize
        entries = np.frombuffer(bytearray(os.pread(self._entries, size * ENTRY.itemsize, 0)), ENTRY).copy()
        # Without the number of its rows nothing is known of those that follow either.
        sound = next((i for i, entry in enumerate(entries) if entry['check'] != _checksum(entry)), size)
        entries = entries[:sound]
        ends = np.cumsum(entries['rows'], dtype=np.int64)
        whole = int(np.searchsorted(ends, os.fstat(self._vectors).st_size // self._row, side='right'))
        entries = entries[:whole].copy()
        for run, checksum in enumerate(self._checksums(entries['rows'])):
            entry = entries[run]
            if entry['live'] and checksum != entry['crc']:
                # Such as one of which only a part was erased: the rest of it shall not stay.
                size = int(entry['rows']) * self._row
                _write(self._vectors, bytes(size), int(ends[run]) * self._row - size)
                entry['live'], entry['id'] = 0, b''
                entry['check'] = _checksum(entry)
                _write(self._entries, entry.tobytes(), run * ENTRY.itemsize)
        return entries

    def _checksums(self, counts: NDArray[np.uint32]) -> Iterator[int]:
        """Yield the checksum of each run of so many rows."""
        offset, data, at = 0, memoryview(b''), 0
        for count in counts.tolist():
            size = count * self._row
            if at + size > len(data):
                offset += at
                data, at = memoryview(os.pread(self._vectors, max(CHECKED_AT_ONCE, size), offset)), 0
            yield zlib.crc32(data[at : at + size])
            at += size


def _checksum(entry: np.void) -> int:
    """Return the checksum of an entry's other fields."""
    return zlib.crc32(entry.tobytes()[: -ENTRY['check'].itemsize])


def replace_file(path: Path, data: bytes) -> None:
    """Write a file so that it is there whole, or as it was before, whatever happens.

    :raises OSError: the disk is full or not writable
    """
    temporary = path.with_name(f'{path.name}.part')
    with temporary.open('wb') as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def _write(file: int, data: bytes, offset: int) -> None:
    view = memoryview(data)
    while view:
        written = os.pwrite(file, view, offset)
        view, offset = view[written:], offset + written


def _runs(rows: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return (first, count) of each stretch of consecutive numbers."""
    if not len(rows):
        return []
    breaks = np.flatnonzero(np.diff(rows) != 1) + 1
    starts = np.concatenate([[0], breaks])
    counts = np.diff(np.concatenate([starts, [len(rows)]]))
    return list(zip(rows[starts].tolist(), counts.tolist(), strict=True))
