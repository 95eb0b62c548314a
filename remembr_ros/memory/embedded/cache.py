"""The cache of an index: one file beside the database, so that it opens in a second.

It holds nothing that the rows do not, and may be deleted at any time. The database names the cache that was
made of it, so that none of another database, or of an older copy put back in its place, is taken.
"""

import logging
import os
import shutil
import struct
import zipfile
import zlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.writable import RESERVE

logger = logging.getLogger(__name__)

Arrays = dict[str, NDArray[Any]]
FORMAT = 1
# What NumPy and zipfile raise of damaged bytes, by 40,000 flips and cuts; of a disk; for want of memory.
UNREADABLE = (
    *(OSError, ValueError, LookupError, AttributeError, RuntimeError, EOFError, MemoryError),
    *(ArithmeticError, zipfile.BadZipFile, zlib.error, struct.error),
)


def load(path: Path, name: str, needed: Collection[str]) -> Arrays:
    """Return the arrays of a cache; none if none of this name is there, whole, with those that are needed."""
    try:
        with path.open('rb') as raw, np.load(raw, allow_pickle=False) as file:
            if file['name'].item() == f'{FORMAT} {name}':
                found = {key: file[key] for key in file.files}
                return found if found.keys() >= set(needed) else {}
    except FileNotFoundError:
        return {}
    except UNREADABLE as error:
        logger.warning('the cache %s cannot be read and is made anew: %s', path, error)
    return {}


def save(path: Path, name: str, arrays: Mapping[str, NDArray[Any]]) -> bool:
    """Write a cache in place of the one that there is, and tell whether it could; else starts take longer."""
    named = {**arrays, 'name': np.array(f'{FORMAT} {name}')}
    part = path.with_name(f'{path.name}.part')
    try:
        size = sum(array.nbytes for array in arrays.values())
        if shutil.disk_usage(path.parent).free < RESERVE + size:
            raise OSError('no room')
        with part.open('wb') as file:
            np.savez(file, **named)  # type: ignore[arg-type]  # of mypy's stub for its options
        os.replace(part, path)
    except OSError as error:
        logger.warning('the next start takes longer: cannot write %s: %s', path, error)
        for left in (part, path):
            with suppress(OSError):  # of a disk that cannot be written; of another name, it is not taken
                discard(left)
        return False
    return True


def discard(path: Path) -> None:
    """Delete a cache; a folder that somebody made there is not ours to empty, and does no harm.

    :raises OSError: the disk cannot be written
    """
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
