"""A spool: observations on disk, in order, until the server that they belong to is back."""

import fcntl
import json
import logging
import os
import struct
import threading
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.durable import sync_folder, write_at
from remembr_ros.memory.model.codec import from_plain, to_plain
from remembr_ros.memory.model.record import Memory, Observation

logger = logging.getLogger(__name__)

MAX_BYTES = 512_000_000
"""A day of a driving robot, one memory with two keyframes every 10 s, is about as much."""

_MAGIC = b'remembr spool 1\n'
_FRAME = struct.Struct('<II')  # before each entry: its length, and the CRC-32 of its bytes
_DRAINED = 0x80  # in the last byte of the length: the entry was dropped


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
    and torn ones at the end, which were not acknowledged and are cut off. What is drained is marked where it
    lies; when all is, the file is emptied.

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
            self._owner = os.open(path.with_name(path.name + '.lock'), os.O_CREAT | os.O_RDWR, 0o600)
        except OSError as error:
            raise _failed(path, error) from error
        try:
            self._take(self._owner)
            self._file = self._open()
            self._read_places()
            for folder in {path.parent, *(folder.parent for folder in new_folders)}:
                sync_folder(folder)
        except OSError as error:
            os.close(self._owner)
            raise _failed(path, error) from error
        except BaseException:
            os.close(self._owner)
            raise

    @property
    def count(self) -> int:
        """How many observations wait."""
        with self._lock:
            return len(self._places)

    @property
    def bytes(self) -> int:
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
        frames = [_FRAME.pack(len(data), zlib.crc32(data)) + data for data, _ in entries]
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
                    self._file.truncate(len(_MAGIC))
                    self._end = len(_MAGIC)
                for place in dropped if self._places else ():
                    # Not synced: after a power cut the same entries are drained again, which changes nothing.
                    byte = (place.size - _FRAME.size) >> 24 | _DRAINED
                    os.pwrite(self._file.fileno(), bytes([byte]), place.start + 3)
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

    def forget(self, predicate: Callable[[Memory], bool]) -> int:
        """Remove the observations whose memories meet a condition; no file has them when this returns.

        :return: how many were removed
        :raises StoreUnavailable: the disk does not work; all are still there
        """
        with self._lock:
            kept = [place for place in self._places if not predicate(self._read(place).memory)]
            removed = len(self._places) - len(kept)
            if removed:
                self._rewrite(kept)
            else:
                self._compact()  # it may have been drained already
            return removed

    def vacuum(self) -> None:
        """Remove what has been drained from the file.

        :raises StoreUnavailable: the disk does not work
        """
        with self._lock:
            self._compact()

    def close(self) -> None:
        """Let go of the files; what waits stays in them."""
        with self._lock:
            if self._owner >= 0:
                self._file.close()
                os.close(self._owner)
                self._owner = -1

    def _take(self, owner: int) -> None:
        try:
            fcntl.flock(owner, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise StoreUnavailable(
                f'the spool {self.path} cannot be opened: another process has it (a memory node?)'
            ) from error

    def _open(self) -> FileIO:
        self._new_path.unlink(missing_ok=True)  # from a rewrite that was cut off
        file = FileIO(os.open(self.path, os.O_CREAT | os.O_RDWR, 0o600), 'r+')
        head = file.read(len(_MAGIC)) or b''
        if head != _MAGIC:
            if not _MAGIC.startswith(head):  # a part of it: cut off when the file was made
                file.close()
                raise StoreUnavailable(f'{self.path} is no spool; choose another file, or move it away')
            write_at(file, 0, _MAGIC)
        return file

    def _read_places(self) -> None:
        """Find the entries; cut off what is torn at the end."""
        size = os.fstat(self._file.fileno()).st_size
        end = whole = len(_MAGIC)
        damaged = lost = 0
        while end + _FRAME.size <= size:
            length, checksum = _FRAME.unpack(os.pread(self._file.fileno(), _FRAME.size, end))
            drained, length = length >> 31, length & 0x7FFFFFFF
            start, end_of_entry = end, end + _FRAME.size + length
            if end_of_entry > size:
                break
            if not length:
                break
            data = os.pread(self._file.fileno(), length, start + _FRAME.size)
            end = end_of_entry
            if zlib.crc32(data) != checksum:
                damaged += not drained
                continue
            whole = end
            if not drained:
                self._places.append(_Place(start, end - start, decode(data).memory.end_ns))
                lost, damaged = lost + damaged, 0
        if lost:
            logger.error('%d memories in the spool %s are damaged and lost', lost, self.path)
        if whole < size:
            self._file.truncate(whole)
            os.fsync(self._file.fileno())
        self._end = whole

    def _read(self, place: _Place) -> Observation:
        start, length = place.start + _FRAME.size, place.size - _FRAME.size
        try:
            data = os.pread(self._file.fileno(), length, start)
        except OSError as error:
            raise _failed(self.path, error) from error
        return decode(data)

    def _compact(self) -> None:
        if self._end > len(_MAGIC) + self.bytes:
            self._rewrite(list(self._places))

    def _rewrite(self, kept: list[_Place]) -> None:
        """Put a file with these entries in place of the file, at once or not at all."""
        try:
            new = FileIO(os.open(self._new_path, os.O_CREAT | os.O_TRUNC | os.O_RDWR, 0o600), 'r+')
            try:
                write_at(new, 0, _MAGIC, sync=False)
                places, end = deque[_Place](), len(_MAGIC)
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


def _failed(path: Path, error: OSError) -> StoreUnavailable:
    return StoreUnavailable(
        f'the spool {path} cannot be used: {error.strerror or error}. Make room or mend its disk; what was '
        'spooled before is safe'
    )


def encode(observation: Observation) -> bytes:
    """Return an observation as bytes: a line of JSON with the sizes of the images, then the images."""
    head = {**to_plain(observation.memory), 'images': [len(image) for image in observation.images]}
    return b'\n'.join((json.dumps(head).encode(), b''.join(observation.images)))


def decode(data: bytes) -> Observation:
    """Return the observation that :func:`encode` made bytes of."""
    line, _, rest = data.partition(b'\n')
    head = json.loads(line)
    images = []
    for size in head['images']:
        images.append(rest[:size])
        rest = rest[size:]
    return Observation(from_plain(head), tuple(images))
