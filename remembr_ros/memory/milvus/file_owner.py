"""Which process has a file, so that a person knows what to ask or to end."""

import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path

_FLOCK = 'hhqqi4x'  # struct flock of Linux on 64 bits: type, whence, start, length, process


_REMEDIES = {
    '': 'a memory node? then ask through that node',
    'web': 'ask on its page or through its /mcp, or end it',
    'mcp': 'it ends with the agent that started it; for several at once, start remembr web and use its /mcp',
}
"""What to do about a process that has a database, by the verb of remembr that it runs; empty: none."""


def in_use(path: Path, lock: Path) -> str:
    """Return the sentence that says that another process has a database.

    :param lock: the file that it has locked
    """
    owner, verb = _owner(lock)
    named = f': {owner}' if owner else ''
    remedy = _REMEDIES.get(verb, 'wait until it has ended')
    return f'{path} cannot be opened: another process has it{named} ({remedy})'


def _owner(lock: Path) -> tuple[str, str]:
    """Return the process that has a file locked, such as 'remembr web, process 4711', and the verb of remembr
    that it runs, if any; empty: nobody knows."""
    question = struct.pack(_FLOCK, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    with suppress(OSError), lock.open('rb') as file:
        kind, _, _, _, process = struct.unpack(_FLOCK, fcntl.fcntl(file, fcntl.F_GETLK, question))
        if kind != fcntl.F_UNLCK and process > 0:  # 0: it is in another container
            words = Path(f'/proc/{process}/cmdline').read_bytes().decode(errors='replace').split('\0')
            # What Python runs says more than that it is Python.
            told = [word for word in words if word and word[0] != '-' and 'python' not in Path(word).name]
            program, verb = (Path(told[0]).name if told else ''), (told[1] if len(told) > 1 else '')
            if program in ('remembr', 'remembr_ros.cli.main'):
                return f'remembr {verb}, process {process}', verb
            return ', '.join(filter(None, (program, f'process {process}'))), ''
    return '', ''
