"""The files of the index, from which it opens without reading the database's rows.

A memory has a slot: an entry of fixed size in slots.bin, which says where the rest lies: its record and words
in memories.bin, its passages' vectors in passages.i16. All of it has checksums. A slot is written after what
it points to and lies within one page: a process that is killed leaves it as it was, or as it shall be.
"""

import json
import mmap
import os
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.durable import checksums, replace_file, write_all
from remembr_ros.memory.embedded.row_runs import Floats, Rows, SlotTable
from remembr_ros.memory.matching.bm25 import POSTING
from remembr_ros.memory.model.codec import from_plain, to_plain
from remembr_ros.memory.model.record import Memory

SLOT = np.dtype(
    [
        *(('check', '<u8'), ('id', 'S64'), ('start_ns', '<i8'), ('end_ns', '<i8')),
        *(('x', '<f8'), ('y', '<f8'), ('z', '<f8'), ('robot', '<u8'), ('map_id', '<u8'), ('source', '<u8')),
        *(('at', '<i8'), ('record', '<u4'), ('words', '<u4'), ('room', '<u4'), ('crc', '<u4')),
        *(('first', '<i8'), ('rows', '<u4'), ('paragraphs', '<u4'), ('sum', '<u8')),
        *(('length', '<u4'), ('volume', '<u4'), ('live', '?'), ('placed', '?'), ('reserved', 'V62')),
    ]
)
"""Of a memory: the checksum of all that follows; what one filters by, names as hashes; where its record is in
memories.bin, its bytes, the postings after it, the room of both and their checksum; the first of its rows of
vectors, how many, how many of them are paragraphs, their checksum; how many words its text has; the volume
of the database. All zeros: there is no memory any more."""

SCALE = 32_767  # of unit vectors' numbers in the file; as exact as 16-bit floats, read in a sixth of the time
# Records have room up to a multiple of this, so that a stay that goes on stays in its place [bytes].
ROOM = 256
_CHUNK = 1 << 24  # bytes that are checked at once


class Damaged(Exception):
    """The files do not tell what they have lost."""


class IndexFiles:
    """The files of one index. One thread may write while others read vectors.

    :param folder: made if it is not there
    :raises OSError: the disk does not work
    """

    def __init__(self, folder: Path, dimension: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.dimension = dimension
        self.rows = 0  # of vectors, those of deleted memories included
        self._row = 2 * dimension
        self._end = 0  # of the records
        self._terms_end = 0
        self._handles: list[int] = []
        try:
            for name in ('slots.bin', 'memories.bin', 'terms.txt', 'passages.i16'):
                self._handles.append(os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644))
        except OSError:
            self.close()
            raise
        self._slots, self._memories, self._terms, self._vectors = self._handles

    def load(self, least: int) -> tuple[SlotTable, list[str], NDArray[np.void], set[int]]:
        """Return the slots, the terms, the postings of all live slots, and the volumes of what was damaged.

        Memories that were damaged are erased.

        :param least: so many slots there have to be
        :raises Damaged: what there was is not known any more
        """
        with ThreadPoolExecutor(1) as beside:
            sums = beside.submit(self._sums)
            raw = bytearray(_read(self._slots))
            slots = np.frombuffer(raw, SLOT, len(raw) // SLOT.itemsize)
            as_written = slots['check'] == checksums(slots.view(np.uint8).reshape(-1, SLOT.itemsize)[:, 8:])
            written = slots.view(np.uint8).reshape(-1, SLOT.itemsize).any(axis=1)
            if len(slots) < least:
                raise Damaged('slots.bin was cut short')
            if (written & ~(as_written & slots['live'])).any():
                raise Damaged('slots.bin was damaged')
            terms = self._read_terms()
            is_whole, postings = self._blobs(slots)
            if postings['term'].max(initial=0) >= max(len(terms), 1):
                raise Damaged('terms.txt was cut short')
            ends = slots['first'] + slots['rows']
            running = sums.result()
            present = ends < len(running)
            first, end = (np.where(present, numbers, 0) for numbers in (slots['first'], ends))
            is_whole &= present & (running[end] - running[first] == slots['sum'])
        live = np.flatnonzero(slots['live'])
        newest = dict(zip(slots['id'][live].tolist(), live.tolist(), strict=True))
        if len(newest) < len(live):  # a replacement was cut off
            is_whole[np.setdiff1d(live, list(newest.values()))] = False
        bad = live[~is_whole[live]]
        self.rows = int(ends.max(initial=0))
        self._end = int((slots['at'] + slots['room']).max(initial=0))
        if len(bad):
            postings = postings[np.repeat(is_whole[live], slots['words'][live])]
        volumes = set(slots['volume'][bad].tolist())
        for slot in bad.tolist():
            self.erase(slots, slot)
        return slots, terms, postings, volumes

    def append(
        self,
        slots: SlotTable,
        new: Sequence[int],
        memories: Sequence[Memory],
        postings: Sequence[NDArray[np.void]],
        runs: Sequence[Floats],
    ) -> None:
        """Write memories into new slots, and fill these in.

        :param slots: all there are, with what is told of the new ones
        :param new: numbers of the new slots, ascending
        :param runs: vectors of each memory: shape (passages, dimension)
        :raises OSError: the disk is full; nothing is added
        """
        halves = [np.rint(np.clip(run, -1.0, 1.0) * SCALE).astype('<i2') for run in runs]
        blobs, row, at = [], self.rows, self._end
        for slot, memory, words, half in zip(new, memories, postings, halves, strict=True):
            data = _to_bytes(memory)
            blob = data + words.tobytes()
            blobs.append(blob + bytes(-len(blob) % ROOM))
            entry = slots[slot]
            entry['at'], entry['record'], entry['words'] = at, len(data), len(words)
            entry['room'], entry['crc'] = len(blobs[-1]), zlib.crc32(blob)
            entry['first'], entry['rows'] = row, len(half)
            entry['sum'] = checksums(half).sum(dtype=np.uint64)
            row, at = row + len(half), at + len(blobs[-1])
        # What a slot points to first.
        write_all(self._vectors, self.rows * self._row, b''.join(half.tobytes() for half in halves))
        write_all(self._memories, self._end, b''.join(blobs))
        self._write_slots(slots, new[0], new[-1] + 1)
        self.rows, self._end = row, at

    def rewrite(self, slots: SlotTable, slot: int, memory: Memory) -> None:
        """Write a memory whose texts stay the same.

        :raises OSError: the disk is full; it is as it was, or damaged, which is noticed
        """
        entry = slots[slot]
        at, size = int(entry['at']), int(entry['record'])
        words = os.pread(self._memories, int(entry['words']) * POSTING.itemsize, at + size)
        data = _to_bytes(memory)
        blob = data + words
        old = int(entry['room'])
        if len(blob) > old:
            entry['at'], entry['room'] = self._end, len(blob) + -len(blob) % ROOM
            self._end += int(entry['room'])
        entry['record'], entry['crc'] = len(data), zlib.crc32(blob)
        write_all(self._memories, int(entry['at']), blob.ljust(int(entry['room']), b'\0'))
        self._write_slots(slots, slot, slot + 1)
        if at != entry['at']:
            write_all(self._memories, at, bytes(old))

    def erase(self, slots: SlotTable, slot: int) -> None:
        """Overwrite all of a memory with zeros: a vector tells about its text.

        :raises OSError: the disk is full: what is overwritten needs no room, but copy-on-write does
        """
        entry = slots[slot].copy()
        slots[slot] = np.zeros((), SLOT)
        if not entry['room']:  # never written
            return
        write_all(self._vectors, int(entry['first']) * self._row, bytes(int(entry['rows']) * self._row))
        write_all(self._memories, int(entry['at']), bytes(int(entry['room'])))
        self._write_slots(slots, slot, slot + 1)

    def memory(self, entry: np.void) -> Memory:
        """Return the memory of a slot.

        :raises StoreUnavailable: the file lost what it had
        """
        data = os.pread(self._memories, int(entry['record']), int(entry['at']))
        try:
            return from_plain(json.loads(data))
        except ValueError as error:
            raise self._lost('memories.bin') from error

    def read(self, rows: Rows) -> Floats:
        """Return rows: shape (len(rows), dimension).

        :param rows: ascending, without repetition
        :raises StoreUnavailable: it is closed, or the file lost what it had
        """
        if not self._handles:
            raise StoreUnavailable(f'the memory of {self.folder} is closed')
        raw = bytearray(len(rows) * self._row)
        view = memoryview(raw)
        at = 0
        for first, count in _stretches(rows):
            size = count * self._row
            if os.preadv(self._vectors, [view[at : at + size]], first * self._row) < size:
                raise self._lost('passages.i16')
            at += size
        vectors: Floats = np.frombuffer(raw, '<i2').reshape(-1, self.dimension).astype(np.float32)
        vectors *= np.float32(1.0 / SCALE)
        return vectors

    def add_terms(self, terms: Sequence[str]) -> None:
        """Write terms after those that there are.

        :raises OSError: the disk is full; nothing is added
        """
        if terms:
            data = ''.join(map(_term_line, terms)).encode()
            write_all(self._terms, self._terms_end, data)
            self._terms_end += len(data)

    def replace_terms(self, terms: Sequence[str]) -> None:
        """Write all terms anew.

        :raises OSError: the disk is full
        """
        replace_file(self.folder / 'terms.txt', ''.join(map(_term_line, terms)).encode())
        new = os.open(self.folder / 'terms.txt', os.O_RDWR)
        os.dup2(new, self._terms)
        os.close(new)
        self._terms_end = os.fstat(self._terms).st_size

    def clear(self) -> None:
        """Forget everything."""
        for handle in self._handles:
            os.ftruncate(handle, 0)
        self.rows = self._end = self._terms_end = 0

    def save(self) -> None:
        """Make sure that everything survives a power failure.

        :raises OSError: the disk does not work
        """
        for handle in self._handles:
            os.fsync(handle)

    def close(self) -> None:
        """Close the files; nothing can be read any more. Another file may get their descriptors."""
        handles, self._handles = self._handles, []
        for handle in handles:
            os.close(handle)

    def _write_slots(self, slots: SlotTable, start: int, end: int) -> None:
        part = slots[start:end]
        live = part['live']
        part['check'][live] = checksums(part.view(np.uint8).reshape(-1, SLOT.itemsize)[:, 8:])[live]
        write_all(self._slots, start * SLOT.itemsize, part.tobytes())

    def _read_terms(self) -> list[str]:
        """Return the terms; raise Damaged if not all of them can be read."""
        data = _read(self._terms)
        self._terms_end = data.rfind(b'\n') + 1
        lines = data[: self._terms_end].decode(errors='replace').split('\n')[:-1]
        terms = [line[9:] for line in lines]
        if any(f'{line}\n' != _term_line(term) for line, term in zip(lines, terms, strict=True)):
            raise Damaged('terms.txt was damaged')
        return terms

    def _blobs(self, slots: SlotTable) -> tuple[NDArray[np.bool_], NDArray[np.void]]:
        """Return of which slots the record and the words are whole, and all postings of the live ones."""
        is_whole = np.zeros(len(slots), np.bool_)
        found: list[bytes] = []
        live = np.flatnonzero(slots['live'])
        size = os.fstat(self._memories).st_size
        if not size or not len(live):
            return is_whole, np.zeros(int(slots['words'][live].sum()), POSTING)
        columns = (slots[name][live].tolist() for name in ('at', 'record', 'words', 'crc'))
        with mmap.mmap(self._memories, size, access=mmap.ACCESS_READ) as data:
            for slot, at, record, words, crc in zip(live.tolist(), *columns, strict=True):
                blob = data[at : at + record + words * POSTING.itemsize]
                is_whole[slot] = whole = zlib.crc32(blob) == crc
                found.append(blob[record:] if whole else bytes(words * POSTING.itemsize))
        return is_whole, np.frombuffer(b''.join(found), POSTING)

    def _sums(self) -> NDArray[np.uint64]:
        """Return the sum of the checksums of the rows before each, and of all: shape (rows + 1,)."""
        rows = os.fstat(self._vectors).st_size // self._row
        sums = np.zeros(rows + 1, np.uint64)
        if rows:
            numbers = np.memmap(self.folder / 'passages.i16', '<i2', 'r', shape=(rows, self.dimension))
            step = max(_CHUNK // self._row, 1)
            for start in range(0, rows, step):
                sums[start + 1 : start + 1 + step] = checksums(numbers[start : start + step])
        return np.cumsum(sums, dtype=np.uint64)

    def _lost(self, name: str) -> StoreUnavailable:
        return StoreUnavailable(f'{self.folder / name} was cut short; open the memory again to mend it')


def _to_bytes(memory: Memory) -> bytes:
    return json.dumps(to_plain(memory), separators=(',', ':')).encode()


def _term_line(term: str) -> str:
    return f'{zlib.crc32(term.encode()):08x} {term}\n'


def _read(file: int) -> bytes:
    return os.pread(file, os.fstat(file).st_size, 0)


def _stretches(rows: Rows) -> list[tuple[int, int]]:
    """Return (first, count) of each stretch of consecutive numbers."""
    if not len(rows):
        return []
    starts = np.concatenate([[0], np.flatnonzero(np.diff(rows) != 1) + 1])
    counts = np.diff(np.concatenate([starts, [len(rows)]]))
    return list(zip(rows[starts].tolist(), counts.tolist(), strict=True))
