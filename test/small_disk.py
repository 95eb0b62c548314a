"""A disk with little room, for tests."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class MountRefused(Exception):
    """Raised when nothing may be mounted here."""


@contextmanager
def small_disk(size: str = '20m') -> Iterator[Path]:
    """Mount a disk of that size, in a folder whose name is short enough for the address of a database.

    :raises MountRefused: that is not allowed here
    """
    with tempfile.TemporaryDirectory() as folder:
        mount = ['mount', '-t', 'tmpfs', '-o', f'size={size}', 'tmpfs', folder]
        try:
            subprocess.run(mount, check=True, capture_output=True)
        except (OSError, subprocess.CalledProcessError) as error:
            raise MountRefused(f'a disk of {size} cannot be mounted here: {error}') from error
        try:
            yield Path(folder)
        finally:
            subprocess.run(['umount', folder], check=True)
