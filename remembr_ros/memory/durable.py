"""Writing so that it survives the end of the process and of the power."""

import os
from io import FileIO
from pathlib import Path


def write_all(handle: int, start: int, data: bytes) -> None:
    """Write all of the data at a place; durable after fsync."""
    view = memoryview(data)
    while view:
        written = os.pwrite(handle, view, start)
        view, start = view[written:], start + written


def write_at(file: FileIO, start: int, data: bytes, sync: bool = True) -> None:
    """Write all of the data at a place, durably."""
    write_all(file.fileno(), start, data)
    if sync:
        os.fsync(file.fileno())


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


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
