"""A durable queue of observations on disk, until their server is back."""

import logging
import mmap
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.durable import sync_folder, write_at
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.pending.entry import (
    DRAINED,
    FRAME,
    MAGIC,
    MARKER,
    STATE,
    decode,
    encode,
    entry_checksum,
    frames,
)
from remembr_ros.memory.writer_lock import WriterLock

logger = logging.getLogger(__name__)

MAX_BYTES = 512_000_000
"""A day of a driving robot, one memory with two keyframes every 10 s, is about as much."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an entry lies in the file.

    :param start: of its frame [byte]
    :param size: of frame and entry [bytes]
    :param end_ns: end of its memory
    """

    start: int
    size: int
    end_ns: int


class Spool:
    """A durable, bounded queue. Safe to share between threads; one process has it at a time.

    The file is only appended to, so that a process or a machine that ends at any moment leaves whole entries
    and torn ones at the end, which were not acknowledged. What cannot be read, there or between others, is
    moved to a file of its own, ``<path>.damaged``. What is drained is marked where it lies; when all is, the
    file is emptied.

    :param path: of the file; its folder is made
    :param max_bytes: the most that it holds
    :raises StoreUnavailable: it cannot be opened, or another process has it
    """

    def __init__(self, path: Path, max_bytes: int = MAX_BYTES) -> None:
        self.path = path
        self._max_bytes = max_bytes
        self._lock = threading.RLock()
        self._places: deque[_Place] = deque()
        try:
            new_folders = [folder for folder in (path.parent, *path.parent.parents) if not folder.exists()]
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _failed(path, error) from error
        self._owner = WriterLock(path.with_name(path.name + '.lock'), f'the spool {path}')
        self._owner.take()
        try:
            self._file = self._open()
            self._read_places()
            for folder in {path.parent, *(folder.parent for folder in new_folders)}:
                sync_folder(folder)
        except OSError as error:
            self._owner.release()
            raise _failed(path, error) from error
        except BaseException:
            self._owner.release()
            raise

    @property
    def count(self) -> int:
        """How many observations wait."""
        with self._lock:
            return len(self._places)

    @property
    def size(self) -> int:
        """How many bytes those take."""
        with self._lock:
            return self._end - self._places[0].start if self._places else 0

    @property
    def oldest_ns(self) -> int | None:
        """When the first of them ended [ns since the Unix epoch]; None: there is none."""
        with self._lock:
            return self._places[0].end_ns if self._places else None

    def append(self, observations: Sequence[Observation]) -> None:
        """Add observations at the end, all or none; they survive whatever happens once this returns.

        :raises StoreUnavailable: the spool or its disk is full, or the disk does not work
        """
        entries = [(encode(observation), observation.memory.end_ns) for observation in observations]
        frames = [FRAME.pack(MARKER, 0, len(data), entry_checksum(data)) + data for data, _ in entries]
        with self._lock:
            size = sum(map(len, frames))
            if self._end + size > self._max_bytes:
                self._compact()
            if self._end + size > self._max_bytes:
                raise StoreUnavailable(
                    f'the spool is full: {self.path} has {self.count} memories, {self._end / 1e6:.0f} of '
                    f'{self._max_bytes / 1e6:.0f} MB. Bring the server back, or give it more room'
                )
            try:
                write_at(self._file, self._end, b''.join(frames))
            except OSError as error:
                with suppress(OSError):
                    self._file.truncate(self._end)
                    os.fsync(self._file.fileno())
                raise _failed(self.path, error) from error
            for frame, (_, end_ns) in zip(frames, entries, strict=True):
                self._places.append(_Place(self._end, len(frame), end_ns))
                self._end += len(frame)

    def peek(self, n: int) -> list[Observation]:
        """Return the first n observations; they stay.

        :raises StoreUnavailable: the disk does not work
        """
        with self._lock:
            return [self._read(place) for place in list(self._places)[:n]]

    def drop(self, n: int) -> None:
        """Remove the first n observations; if the process ends meanwhile, they may still be there.

        :raises StoreUnavailable: the disk does not work
        """
        with self._lock:
            dropped = [self._places.popleft() for _ in range(min(n, len(self._places)))]
            if not dropped:
                return
            try:
                if not self._places:
                    self._file.truncate(len(MAGIC))
                    self._end = len(MAGIC)
                for place in dropped if self._places else ():
                    # Not synced: after a power cut the same entries are drained again, which changes nothing.
                    os.pwrite(self._file.fileno(), bytes([DRAINED]), place.start + STATE)
            except OSError as error:
                self._places.extendleft(reversed(dropped))
                raise _failed(self.path, error) from error

    def matching(self, predicate: Callable[[Memory], bool]) -> list[Memory]:
        """Return the waiting memories that meet a condition.

        :raises StoreUnavailable: the disk does not work
        """
        with self._lock:
            waiting = (self._read(place).memory for place in self._places)
            return [memory for memory in waiting if predicate(memory)]

    def forget(self, predicate: Callable[[Memory], bool], *, leave_traces: bool = False) -> int:
        """Remove the observations whose memories meet a condition; no file has them when this returns.

        :param leave_traces: keep what was drained or is damaged, of which nobody knows whether it meets it
        :return: how many were removed
        :raises StoreUnavailable: the disk does not work; all are still there
        """
        with self._lock:
            kept = [place for place in self._places if not predicate(self._read(place).memory)]
            removed = len(self._places) - len(kept)
            if removed:
                self._rewrite(kept)
            elif not leave_traces:
                self._compact()  # it may have been drained already
            if not leave_traces:
                self._damaged_path.unlink(missing_ok=True)
            return removed

    def close(self) -> None:
        """Let go of the files; what waits stays in them."""
        with self._lock:
            if self._owner.held:
                self._file.close()
                self._owner.release()

    def _open(self) -> FileIO:
        self._new_path.unlink(missing_ok=True)  # from a rewrite that was cut off
        file = FileIO(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600), 'r+')
        head = file.read(len(MAGIC)) or b''
        if head != MAGIC:
            if not MAGIC.startswith(head):  # a part of it: cut off when the file was made
                file.close()
                raise StoreUnavailable(f'{self.path} is no spool; choose another file, or move it away')
            write_at(file, 0, MAGIC)
        return file

    def _read_places(self) -> None:
        """Find the entries; move away what is none."""
        self._end = len(MAGIC)
        damaged = []
        with mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            for start, end, data in frames(content):
                if data is None:
                    damaged.append((start, end))
                    continue
                self._end = end
                if content[start + STATE] != DRAINED:
                    self._places.append(_Place(start, end - start, decode(data).memory.end_ns))
        for start, end in damaged:
            self._move_away(start, os.pread(self._file.fileno(), end - start, start))
        if damaged:
            self._file.truncate(self._end)
            os.fsync(self._file.fileno())

    def _move_away(self, start: int, data: bytes) -> None:
        """Move what is no entry to a file for that."""
        if not any(data):  # a power cut left it, or it was moved before
            return
        with open(self._damaged_path, 'ab', opener=partial(os.open, mode=0o600)) as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        sync_folder(self.path.parent)
        logger.error(
            '%d bytes of the spool %s cannot be read and lie in %s now: %s',
            *(len(data), self.path, self._damaged_path),
            'memories that were acknowledged are lost'
            if start < self._end
            else 'what was being written when the process or the power ended, or a memory that is lost',
        )
        write_at(self._file, start, bytes(len(data)), sync=False)

    def _read(self, place: _Place) -> Observation:
        start, length = place.start + FRAME.size, place.size - FRAME.size
        try:
            data = os.pread(self._file.fileno(), length, start)
        except OSError as error:
            raise _failed(self.path, error) from error
        return decode(data)

    def _compact(self) -> None:
        if self._end > len(MAGIC) + self.size:
            self._rewrite(list(self._places))

    def _rewrite(self, kept: list[_Place]) -> None:
        """Put a file with these entries in place of the file, at once or not at all."""
        try:
            new = FileIO(os.open(self._new_path, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600), 'r+')
            try:
                write_at(new, 0, MAGIC, sync=False)
                places, end = deque[_Place](), len(MAGIC)
                for place in kept:
                    write_at(new, end, os.pread(self._file.fileno(), place.size, place.start), sync=False)
                    places.append(_Place(end, place.size, place.end_ns))
                    end += place.size
                os.fsync(new.fileno())
                os.replace(self._new_path, self.path)
            except BaseException:
                new.close()
                with suppress(OSError):
                    self._new_path.unlink(missing_ok=True)
                raise
            old, self._file, self._places, self._end = self._file, new, places, end
            old.close()
            sync_folder(self.path.parent)
        except OSError as error:
            raise _failed(self.path, error) from error

    @property
    def _new_path(self) -> Path:
        return self.path.with_name(self.path.name + '.part')

    @property
    def _damaged_path(self) -> Path:
        return self.path.with_name(self.path.name + '.damaged')


def _failed(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f'the spool {path} cannot be used: {error.strerror or error}. Make room or mend its disk; what was '
        'spooled before is safe'
    )
