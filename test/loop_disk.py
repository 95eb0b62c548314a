"""An ext4 disk in a file, whose copy is what a power cut leaves; for tests."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from test.small_disk import MountRefused


def make_disk(image: Path, size: int = 160 * 2**20) -> None:
    """Make an empty disk.

    :raises MountRefused: there is no program that makes it
    """
    with image.open('wb') as file:
        file.truncate(size)
    _run('mkfs.ext4', '-q', '-F', '-m', '0', str(image))


@contextmanager
def mounted(image: Path) -> Iterator[Path]:
    """Mount a disk; its journal is replayed.

    :raises MountRefused: that is not allowed here
    """
    with tempfile.TemporaryDirectory() as folder:
        _run('mount', '-o', 'loop', str(image), folder)
        try:
            yield Path(folder)
        finally:
            subprocess.run(['umount', folder], check=True)


def cut_power(image: Path, copy: Path) -> None:
    """Copy a mounted disk as it is now: what only the kernel's cache has is not in it.

    Who writes to it has been stopped. What the kernel still writes by itself is let come to its end.
    """
    while True:
        before = image.stat().st_mtime_ns
        _run('cp', '--sparse=always', str(image), str(copy))
        if image.stat().st_mtime_ns == before:
            return


def _run(*command: str) -> None:
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise MountRefused(f'a disk cannot be made and mounted here: {error}') from error
