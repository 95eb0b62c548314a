"""Writing a file so that it is there whole, or as it was before."""

import os
from pathlib import Path


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
