"""Keyframes as JPEG files: checked and made to fit, named by content, in folders that stay small.

    <folder>/ab/abcdef0123456789abcdef0123456789.jpg

The name is the start of the SHA-256 of the file.

No link is followed, neither in place of a file nor of a folder: a memory may come from somebody else, who
could have pointed it at any file of this machine. What is no regular file is no keyframe.
"""

import errno
import fcntl
import hashlib
import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from remembr_ros.errors import InvalidRequest
from remembr_ros.image_header import announced_size
from remembr_ros.images import MAX_PIXELS, decode_compressed, encode_jpeg

_NAME = re.compile(r'[0-9a-f]{32}\.jpg')
_FAN = re.compile(r'[0-9a-f]{2}')
_PART = '.part'

_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

MAX_BYTES = 2**25  # a larger file is no keyframe; those that are put take half a megabyte


def keyframe_name(image: bytes) -> str:
    return f'{hashlib.sha256(image).hexdigest()[:32]}.jpg'


def is_keyframe_name(name: str) -> bool:
    """Tell whether a text can be the name of a keyframe; none of these leads out of the folder."""
    return bool(_NAME.fullmatch(name))


def keyframe_path(folder: Path, name: str) -> Path:
    """Return where the keyframe of that name is.

    :raises InvalidRequest: it is no name of a keyframe
    """
    if not is_keyframe_name(name):
        raise InvalidRequest(f'{name!r} is not the name of a keyframe')
    return folder / name[:2] / name


def read(folder: Path, name: str) -> bytes:
    """Return what is in the file of a keyframe.

    :raises OSError: there is none: it is missing, a link, a device or larger than MAX_BYTES
    """
    with os.fdopen(os.open(_checked(folder, name), _FILE), 'rb') as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, 'it is no regular file')
        if found.st_size > MAX_BYTES:
            raise OSError(errno.EFBIG, f'it has {found.st_size} bytes, more than {MAX_BYTES}')
        return file.read(MAX_BYTES)


def status(folder: Path, name: str) -> os.stat_result | None:
    """Return what the file system knows of a keyframe, or of the link in its place; None: there is none.

    :raises OSError: its folder is a link, or cannot be read
    """
    with suppress(FileNotFoundError):
        return _checked(folder, name).lstat()
    return None


def touch(folder: Path, name: str) -> None:
    """Make a keyframe young.

    :raises OSError: it is missing, or of somebody else
    """
    os.utime(_checked(folder, name), follow_symlinks=False)


def delete(folder: Path, name: str) -> None:
    """Delete a keyframe; of a link the link, not what it points to.

    :raises OSError: it is missing, or cannot be deleted
    """
    os.unlink(_checked(folder, name))


def keyframe_files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield every keyframe.

    :raises OSError: a folder cannot be read
    """
    return (entry for entry in _all_files(folder) if is_keyframe_name(entry.name))


def remove_abandoned(folder: Path) -> None:
    """Delete the halves of files whose writer has ended; who still writes has its file locked.

    :raises OSError: a folder cannot be read
    """
    for entry in _all_files(folder):
        if entry.name.endswith(_PART):
            with suppress(OSError), os.fdopen(os.open(entry.path, _FILE), 'rb') as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                os.unlink(entry.path)


def write_whole(folder: Path, name: str, data: bytes) -> set[Path]:
    """Write a keyframe so that it is there as a whole or not at all.

    :return: the folders to make durable; before that the file may be gone after a power cut
    :raises OSError: it cannot be written; nothing is left of it
    """
    path = _checked(folder, name)
    changed = {path.parent}
    if not path.parent.is_dir():
        path.parent.mkdir(parents=True, exist_ok=True)
        changed |= {folder, folder.parent}
    temporary, handle = _part(path.parent)
    try:
        with os.fdopen(handle, 'wb') as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
    return changed


def _part(folder: Path) -> tuple[Path, int]:
    """Make a file in a folder that nobody takes for abandoned; return its path and its descriptor.

    :raises OSError: it cannot be made
    """
    while True:
        path = folder / f'{secrets.token_hex(8)}{_PART}'
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with suppress(OSError):  # some network disks have no locks
            fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return path, handle
        os.close(handle)  # another process came between and removed it


def _checked(folder: Path, name: str) -> Path:
    """Return where a keyframe is, or would be.

    :raises InvalidRequest: it is no name of a keyframe
    :raises NotADirectoryError: a folder on the way is a link, or no folder
    """
    path = keyframe_path(folder, name)
    for step in (folder, path.parent):
        if step.is_symlink() or (step.exists() and not step.is_dir()):
            raise _linked(step)
    return path


def _linked(folder: Path) -> NotADirectoryError:
    return NotADirectoryError(
        errno.ENOTDIR,
        'it is no folder, or a link, which is not followed; mount another disk there',
        str(folder),
    )


def _all_files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """Yield the regular files in the folders of a folder that may have keyframes."""
    for fan in () if folder.is_symlink() else _entries(folder):
        if _FAN.fullmatch(fan.name) and fan.is_dir(follow_symlinks=False):
            yield from (entry for entry in _entries(fan.path) if entry.is_file(follow_symlinks=False))


def _entries(folder: Path | str) -> list[os.DirEntry[str]]:
    with suppress(FileNotFoundError), os.scandir(folder) as entries:
        return list(entries)
    return []


_QUALITIES = (85, 70, 55, 40)  # what is tried in turn before the picture is made smaller
_SMALLEST = 16  # [px] a picture whose sides are no longer is not made smaller


def check_jpeg(data: bytes) -> tuple[int, int]:
    """Return width and height of a JPEG [px], from its header.

    :raises InvalidRequest: it is none
    """
    # announced_size knows other formats, too
    size = announced_size(data) if data.startswith(b'\xff\xd8\xff') else None
    if size is None:
        raise InvalidRequest(
            f'a keyframe of {len(data)} bytes is not a JPEG (it begins with '
            f'{data[:8].hex(" ") or "nothing"}); encode it as JPEG first'
        )
    width, height, _ = size
    if width <= 0 or height <= 0 or width * height > MAX_PIXELS:
        raise InvalidRequest(f'a keyframe says that it is {width} x {height} pixels; it is damaged')
    return width, height


def fitted_jpeg(data: bytes, max_width: int, max_bytes: int) -> bytes:
    """Return a JPEG as it is if it is small enough, else encoded anew, the same for the same input.

    :param max_width: a wider picture is reduced to this [px]
    :param max_bytes: of the result; what is larger loses quality first, then size
    :raises InvalidRequest: it is no JPEG, or too damaged to be reduced
    """
    import cv2

    width, _ = check_jpeg(data)
    if width <= max_width and len(data) <= max_bytes:
        return data
    try:
        image = decode_compressed('jpeg', data)
        while True:
            if image.shape[1] > max_width:
                size = (max_width, max(1, round(image.shape[0] * max_width / image.shape[1])))
                image = cv2.resize(image, size, interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
            for quality in _QUALITIES:
                smaller = encode_jpeg(image, quality)
                if len(smaller) <= max_bytes:
                    return smaller
            if max(image.shape[:2]) <= _SMALLEST:
                return smaller  # less than a kilobyte
            half = (max(1, image.shape[1] // 2), max(1, image.shape[0] // 2))
            image = cv2.resize(image, half, interpolation=cv2.INTER_AREA)  # type: ignore[assignment]
    except ValueError as error:
        raise InvalidRequest(f'a keyframe cannot be reduced: {error}') from error
