"""Which process has a file, so that a person knows what to ask or to end."""

import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path

_FLOCK = 'hhqqi4x'  # struct flock of Linux on 64 bits: type, whence, start, length, process


def in_use(path: Path, lock: Path) -> str:
    """Return the sentence that says that another process has a database.

    :param lock: the file that it has locked
    """
    owner = _owner(lock)
    named = f': {owner}' if owner else ''
    return (
        f'{path} cannot be opened: another process has it{named} (a memory node? then ask through that node)'
    )


def _owner(lock: Path) -> str:
    """Return the process that has a file locked, such as 'memory_node, process 4711'; empty: nobody knows."""
    question = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    with suppress(OSError), lock.open('rb') as file:
        kind, _, _, _, process = struct.unpack(_FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, question))
        if kind != fcntl.F_UNLCK and process > 0:  # 0: it is in another container
            words = Path(f'/proc/{process}/cmdline').read_bytes().decode(errors='replace').split('\0')
            # What Python runs says more than that it is Python.
            told = [word for word in words if word and word[0] != '-' and 'python' not in Path(word).name]
            return ', '.join([*(Path(word).name for word in told[:1]), f'process {process}'])
    return ''
