"""A folder that cannot be written, for tests."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Let nobody write a folder: by its permissions, or for root, whom these do not keep, by a mount."""
    places = [folder, *folder.rglob('*')]
    if os.geteuid():
        modes = {place: place.stat().st_mode for place in places}
        for place, mode in modes.items():
            place.chmod(mode & ~0o222)
        yield
        for place, mode in modes.items():
            place.chmod(mode)
        return
    for options in ('--bind', '--options=remount,bind,ro'):
        at = [str(folder), str(folder)] if options == '--bind' else [str(folder)]
        if subprocess.run(['mount', options, *at], capture_output=True, check=False).returncode:
            pytest.skip('mounting is not allowed here')
    try:
        yield
    finally:
        # Lazily: a node that reads a file there may keep it open for longer.
        subprocess.run(['umount', '--lazy', str(folder)], check=True)
