"""How keyframes lie on the disk: names made of what is in them, in folders that stay small.

    <folder>/ab/abcdef0123456789abcdef0123456789.jpg

The name is the start of the SHA-256 of the file. Files of the older layout, <folder>/<memory id>_<index>.jpg,
are read, counted and deleted like the others.
"""

import fcntl
import hashlib
import os
import re
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from remembr_ros.errors import InvalidRequest

_NAME = re.compile(r'[0-9a-f]{32}\.jpg')
_OLD_NAME = re.compile(r'[A-Za-z0-9][A-Za-z0-9._-]{0,63}_[0-9]{1,4}\.jpg')
_FAN = re.compile(r'[0-9a-f]{2}')
_PART = '.part'


def keyframe_name(image: bytes) -> str:
    """Return the name of an image."""
    return f'{hashlib.sha256(image).hexdigest()[:32]}.jpg'


def is_keyframe_name(name: str) -> bool:
    """Tell whether a text can be the name of a keyframe; none of these leads out of the folder."""
    return bool(_NAME.fullmatch(name) or _OLD_NAME.fullmatch(name))


def keyframe_path(folder: Path, name: str) -> Path:
    """Return where the keyframe of that name is.

    :raises InvalidRequest: it is no name of a keyframe
    """
    if not is_keyframe_name(name):
        raise InvalidRequest(f'{name!r} is not the name of a keyframe')
    return folder / name[:2] / name if _NAME.fullmatch(name) else folder / name


def keyframe_files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield every keyframe.

    :raises OSError: a folder cannot be read
    """
    for entry in _all_files(folder):
        if is_keyframe_name(entry.name):
            yield entry


def remove_abandoned(folder: Path) -> None:
    """Delete the halves of files whose writer has ended; who still writes has its file locked.

    :raises OSError: a folder cannot be read
    """
    for entry in _all_files(folder):
        if entry.name.endswith(_PART):
            with suppress(OSError), open(entry.path, 'rb') as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(entry.path)


def write_whole(path: Path, data: bytes) -> set[Path]:
    """Write a file so that it is there as a whole or not at all.

    :return: the folders to give to :func:`sync`; before that the file may be gone after a power cut
    :raises OSError: it cannot be written; nothing is left of it
    """
    changed = {path.parent}
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        changed |= {path.parent.parent, path.parent.parent.parent}
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=_PART)
    try:
        with os.fdopen(handle, 'wb') as file:
            with suppress(OSError):  # some network disks have no locks
                fcntl.flock(file, fcntl.LOCK_EX)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    return changed


def sync(folder: Path) -> None:
    """Make durable which files are in a folder.

    :raises OSError: the disk does not work
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _all_files(folder: Path) -> Iterator[os.DirEntry[str]]:
    for entry in _entries(folder):
        if not entry.is_dir(follow_symlinks=False):
            yield entry
        elif _FAN.fullmatch(entry.name):
            yield from _entries(Path(entry.path))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        return list(entries)
    return []
