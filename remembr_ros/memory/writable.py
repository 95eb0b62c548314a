"""Whether the files of a memory are there and can be written, and whether the disk has room."""

import os
import shutil
from pathlib import Path

from remembr_ros.errors import StoreUnavailable

# Bytes that stay free on the disk, for the database's journal and indexes. Keyframes stop long before, see
# remembr_ros.memory.keyframes.folder.RESERVE_BYTES; on a smaller disk there are none.
RESERVE = 8 * 1024 * 1024
LAST_RESERVE = RESERVE // 2  # deleting may use the rest: it makes the room that is missing


def check_writable(path: Path) -> None:
    """Refuse to change a memory where that cannot be.

    :param path: of the database, there or not
    :raises StoreUnavailable: it, or the folder that it is or would be in, cannot be written
    """
    path = path.resolve()
    folder = next(folder for folder in path.parents if os.path.exists(folder))
    for place in (path, folder, Path(f'{path}-wal'), Path(f'{path}-shm')):
        if os.path.exists(place) and not os.access(place, os.W_OK):
            raise StoreUnavailable(
                f'the memory {path} cannot be changed: {place} cannot be written. Check who owns it and how '
                f'its disk is mounted, or copy {path.name} and {path.name}-* to where they can be written. '
                'Reading works: ask, recall, info, export, read_only of the memory node'
            )


def is_writable(path: Path) -> bool:
    """Tell whether a memory can be changed; see :func:`check_writable`."""
    try:
        check_writable(path)
    except StoreUnavailable:
        return False
    return True


def is_there(path: Path) -> bool:
    """Tell whether a file is there.

    :raises StoreUnavailable: nobody can tell, because its folder cannot be entered
    """
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StoreUnavailable(
            f'{path} cannot be read: {error}; check the permissions of its folder'
        ) from error
    return True


def check_room(path: Path, size: int = 0, reserve: int = RESERVE) -> None:
    """Refuse to write to an embedded database where the disk is full, so that forgetting can still make room.

    :param size: of what shall be written, about [bytes]
    :param reserve: stay free [bytes]
    :raises StoreUnavailable: there is too little room
    """
    try:
        free = shutil.disk_usage(path.parent).free
    except OSError as error:
        raise StoreUnavailable(f'cannot write {path}: {error}') from error
    needed = reserve + 4 * size  # rows, indexes, and SQLite's log
    if free < needed:
        raise StoreUnavailable(
            f'the disk of {path} is full: {free / 1e6:.1f} MB are free, {needed / 1e6:.1f} MB are needed. '
            'Make room; what was stored before is safe'
        )
