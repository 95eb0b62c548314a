"""Keyframes: JPEG files in a folder beside the database, each named by what is in it.

An image is stored once, however many memories name it. Nothing counts who does: it goes when nobody names it
any more, see :meth:`KeyframeFolder.remove` and :meth:`KeyframeFolder.collect`.
"""

import errno
import logging
import os
import shutil
import stat
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.durable import sync_folder
from remembr_ros.memory.keyframes import files as keyframe_files
from remembr_ros.memory.keyframes.files import (
    check_jpeg,
    fitted_jpeg,
    is_keyframe_name,
    keyframe_name,
    keyframe_path,
)
from remembr_ros.memory.problem import Problem

_log = logging.getLogger(__name__)

# Returns those of the given keyframes that some stored memory names. More names do no harm.
StillNamed = Callable[[Collection[str]], Collection[str]]

QUOTA_BYTES = 20 * 10**9  # a robot that keeps two frames of 60 kB every 3 s needs 3.5 GB a day
RESERVE_BYTES = 64 * 2**20  # stay free on the disk: what is said of a memory is worth more than its pictures
GRACE_S = 3600.0  # no add takes longer, from its first keyframe until its memories are durable

MAX_PER_MEMORY = 10  # images; the first ones are kept
MAX_BYTES_EACH = 512 * 1024  # a larger JPEG is encoded anew
MAX_WIDTH = 1280  # [px] a wider one is reduced to this

_BATCH = 500
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class KeyframeFolder:
    """Stores images; memories name them. Safe to share between threads.

    Where there is no room, by the quota or on the disk, memories go on without keyframes: put returns fewer
    names, :attr:`problem` says why, and it goes on by itself once there is room.

    :param folder: made when the first keyframe is stored
    :param quota_bytes: what the keyframes may take [bytes]
    :param clock: monotonic [s]
    """

    def __init__(
        self, folder: Path, *, quota_bytes: int = QUOTA_BYTES, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.folder = folder
        self._quota_bytes = quota_bytes
        self._clock = clock
        self._lock = threading.Lock()
        self._totals: tuple[int, int] | None = None  # files and bytes, once they have been counted
        self._puts = 0
        # By name: number and time of its last put, oldest first.
        self._recent: dict[str, tuple[int, float]] = {}
        self._unsynced: set[Path] = set()
        self._problem = Problem(
            _log, 'memories are stored without keyframes', f'keyframes are kept again in {folder}', clock
        )

    @property
    def problem(self) -> str:
        """Why images are not kept at the moment, and what to do; empty: they are."""
        return self._problem.text

    def put(self, images: Sequence[bytes]) -> tuple[str, ...]:
        """Store the JPEGs of a memory; return their names, fewer where there is no room.

        What it names is durable. A file appears whole or not at all, whatever happens meanwhile.

        :param images: best first; the same one twice has one name
        :raises InvalidRequest: one is not a JPEG; none is stored
        """
        fitted = [fitted_jpeg(jpeg, MAX_WIDTH, MAX_BYTES_EACH) for jpeg in images[:MAX_PER_MEMORY]]
        named = {keyframe_name(image): image for image in fitted}
        with self._lock:
            return self._keep(named) if named else ()

    def those_of(self, names: Iterable[str]) -> tuple[bytes, ...]:
        """Return those of these keyframes that are there, as JPEG."""
        found = []
        for name in names:
            with suppress(InvalidRequest):
                found.append(self.get(name))
        return tuple(found)

    def present(self, names: Iterable[str]) -> list[str]:
        """Return those of these names that something lies under, whatever it is."""
        known = filter(is_keyframe_name, names)
        return sorted(name for name in known if os.path.lexists(keyframe_path(self.folder, name)))

    def get(self, name: str) -> bytes:
        """Return the JPEG of that name.

        :raises InvalidRequest: there is none
        """
        try:
            data = keyframe_files.read(self.folder, name)
            check_jpeg(data)
        except (OSError, InvalidRequest) as error:
            raise InvalidRequest(f'there is no keyframe {name!r} in {self.folder}: {error}') from error
        return data

    def remove(self, names: Iterable[str], still_named: StillNamed) -> int:
        """Delete those keyframes that no memory names any more, at once; missing ones are passed over.

        To be called when the memories that named them are gone, under the same lock as the caller's adds: an
        image that was put, but whose memory is not stored yet, would be taken for nobody's. What is put while
        still_named looks stays.

        :return: how many were deleted
        :raises OSError: some could not be deleted; the others are
        """
        return self._remove(sorted(set(filter(is_keyframe_name, names))), still_named)

    def collect(self, still_named: StillNamed) -> int:
        """Delete the keyframes that no memory names, such as those of an add that was cut off.

        Needs no lock of the caller: what was put within the grace stays, by the monotonic clock (a robot's
        wall clock jumps) and by the time of the file (other processes).

        :return: how many were deleted
        :raises OSError: some could not be deleted; the others are
        """
        with self._lock:
            self._count()  # anew: other processes may have been here
        now = time.time()
        old = []
        for entry in keyframe_files.keyframe_files(self.folder):
            with suppress(FileNotFoundError):
                age_s = now - entry.stat(follow_symlinks=False).st_mtime
                if age_s > GRACE_S:
                    old.append(entry.name)
                elif age_s < -GRACE_S:  # put while the clock was ahead; else it would never become old
                    os.utime(entry.path, follow_symlinks=False)
        return self._remove(sorted(old), still_named, young_stay=True)

    def totals(self) -> tuple[int, int]:
        """Return how many keyframes are stored, and how many bytes they take.

        :raises OSError: the folder cannot be read
        """
        with self._lock:
            return self._totals or self._count()

    def _keep(self, named: Mapping[str, bytes]) -> tuple[str, ...]:
        """Write what is not there yet. The lock is held."""
        problem, tried = '', False
        names: list[str] = []
        changed = self._unsynced
        try:
            for name, image in named.items():
                size = _size(keyframe_files.status(self.folder, name))
                if size == len(image):
                    with suppress(PermissionError):  # young again, so that it is not collected meanwhile
                        keyframe_files.touch(self.folder, name)
                else:
                    tried = True
                    if problem := self._no_room(len(image)):
                        break
                    changed |= keyframe_files.write_whole(self.folder, name, image)
                    # One of another size was cut short by a disk that did not keep its word.
                    self._account(size is None, len(image) - (size or 0))
                names.append(name)
        except OSError as error:
            problem = self._explained(error)
        try:
            while changed:
                with suppress(FileNotFoundError):
                    sync_folder(next(iter(changed)))
                changed.pop()
        except OSError as error:
            problem, names = self._explained(error), []
        self._remember_puts(names)
        if tried or problem:
            self._problem.report(problem)
        return tuple(names)

    def _remember_puts(self, names: Iterable[str]) -> None:
        now = self._clock()
        for name in names:
            self._puts += 1
            self._recent.pop(name, None)
            self._recent[name] = (self._puts, now)
        while self._recent and self._recent[oldest := next(iter(self._recent))][1] < now - GRACE_S:
            del self._recent[oldest]

    def _no_room(self, size: int) -> str:
        taken = (self._totals or self._count())[1]
        if taken + size > self._quota_bytes:
            return (
                f'the keyframes in {self.folder} take {taken / 1e6:.1f} MB of the '
                f'{self._quota_bytes / 1e6:.1f} MB allowed; allow more, or keep memories for a shorter time'
            )
        found = next(folder for folder in (self.folder, *self.folder.absolute().parents) if folder.exists())
        free = shutil.disk_usage(found).free
        if free < size + RESERVE_BYTES:
            return f'the disk of {self.folder} is full: {free / 1e6:.1f} MB are free; make room'
        return ''

    def _explained(self, error: OSError) -> str:
        if error.errno in _FULL:
            return f'the disk of {self.folder} is full: {error.strerror}; make room'
        return f'cannot write to {self.folder}: {error}; check its permissions and its disk'

    def _count(self) -> tuple[int, int]:
        """Look at every file, once; after that put and remove keep account. The lock is held."""
        keyframe_files.remove_abandoned(self.folder)
        sizes = []
        for entry in keyframe_files.keyframe_files(self.folder):
            with suppress(FileNotFoundError):
                sizes.append(entry.stat(follow_symlinks=False).st_size)
        self._totals = (len(sizes), sum(sizes))
        return self._totals

    def _remove(self, names: Sequence[str], still_named: StillNamed, *, young_stay: bool = False) -> int:
        removed = 0
        failed: OSError | None = None
        for start in range(0, len(names), _BATCH):
            batch = names[start : start + _BATCH]
            puts, asked_at = self._puts, self._clock()
            named = set(still_named(batch))  # without the lock: it may wait for whoever puts
            with self._lock:
                changed = set()
                for name in batch:
                    number, put_at = self._recent.get(name, (0, float('-inf')))
                    # Of an add after the question, or still on its way then, the answer knows nothing.
                    on_its_way = young_stay and put_at >= asked_at - GRACE_S
                    if name in named or number > puts or on_its_way:
                        continue
                    try:
                        if self._delete(name, young_stay):
                            changed.add(keyframe_path(self.folder, name).parent)
                            removed += 1
                    except OSError as error:
                        failed = error
                for folder in sorted(changed):
                    with suppress(OSError):  # gone all the same, unless the power fails soon
                        sync_folder(folder)
        if failed:
            raise failed
        return removed

    def _delete(self, name: str, young_stay: bool) -> bool:
        try:
            status = keyframe_files.status(self.folder, name)
            if status is None or stat.S_ISDIR(status.st_mode):
                return False
            if young_stay and time.time() - status.st_mtime <= GRACE_S:
                return False  # put by another process
            keyframe_files.delete(self.folder, name)
        except FileNotFoundError:
            return False
        except NotADirectoryError as error:
            if self.folder.is_symlink():
                raise  # all pictures lie behind it: who wanted them gone has to hear that they are not
            _log.warning('the keyframe %s is left alone: %s', name, error)
            return False
        if (size := _size(status)) is not None:
            self._account(-1, -size)
        return True

    def _account(self, files: int, size: int) -> None:
        if self._totals is not None:
            self._totals = (self._totals[0] + files, self._totals[1] + size)


def _size(status: os.stat_result | None) -> int | None:
    """Return the size of a regular file [bytes]; None: it is none."""
    return status.st_size if status is not None and stat.S_ISREG(status.st_mode) else None
