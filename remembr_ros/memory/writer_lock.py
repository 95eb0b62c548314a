"""The lock of the one process that may write a memory, which says who that is."""

import fcntl
import os
import socket
import sys
from contextlib import suppress
from io import FileIO
from pathlib import Path

from remembr_ros.errors import StoreUnavailable

_REMEDIES = {
    'web': 'store on its page or through its /mcp, or end it',
    'mcp': 'it ends with the agent that started it; for several at once, start remembr web and use its /mcp',
}
"""What to do about a process that writes a memory, by the verb of remembr that it runs."""


class WriterLock:
    """Keeps other processes from writing, not from reading. Not safe to share between threads.

    :param path: of the lock's file, made when it is taken
    :param memory: what it is the lock of, as it may be shown
    """

    def __init__(self, path: Path, memory: object) -> None:
        self._path = path
        self._memory = memory
        self._file: FileIO | None = None

    @property
    def held(self) -> bool:
        """Whether this process has it."""
        return self._file is not None

    def take(self) -> None:
        """Take it; nothing happens if it is held.

        :raises StoreUnavailable: another process has it
        """
        if self._file is not None:
            return
        try:
            file = FileIO(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), 'r+')
        except OSError as error:
            raise StoreUnavailable(f'cannot open {self._path}: {error}') from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            with file:
                owner = file.read(200).decode(errors='replace')
            raise StoreUnavailable(self._in_use(owner)) from error
        with suppress(OSError):  # of a full disk: then nobody is told who has it
            file.truncate(0)
            file.write(_myself().encode())
        self._file = file

    def release(self) -> None:
        """Let others take it."""
        if self._file is not None:
            with suppress(OSError):
                self._file.truncate(0)
            self._file.close()
            self._file = None

    def _in_use(self, owner: str) -> str:
        verb = owner.removeprefix('remembr ').partition(',')[0] if owner.startswith('remembr ') else ''
        remedy = _REMEDIES.get(verb) or (
            'wait until it has ended' if verb else 'a memory node? then store and forget through that node'
        )
        named = f': {owner}' if owner else ''
        return f'{self._memory} cannot be changed: another process has it{named} ({remedy})'


def _myself() -> str:
    """Return this process as people know it, such as 'remembr web, process 4711 on robot1'."""
    program = Path(sys.argv[0]).name
    verb = next((word for word in sys.argv[1:] if not word.startswith('-')), '')
    if Path(sys.argv[0]).parts[-3:] == ('remembr_ros', 'cli', 'main.py'):
        program = 'remembr'
    who = f'{program} {verb}' if program == 'remembr' and verb else program
    return f'{who}, process {os.getpid()} on {socket.gethostname()}'
