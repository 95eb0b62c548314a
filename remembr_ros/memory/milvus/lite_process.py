"""The process of an embedded database (Milvus Lite), and which process has its file open."""

import fcntl
import os
import secrets
import shutil
import sqlite3
import struct
import subprocess
import tempfile
import warnings
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, NamedTuple


class Mark(NamedTuple):
    """What tells whether a database is as it was.

    :param token: of the process that last opened it
    :param commits: how often it was written
    """

    token: int
    commits: int


def new_token() -> int:
    """Return a token that no process had."""
    return secrets.randbelow(2**31 - 1) + 1


def commits(path: Path) -> int:
    """Return how often a database was written: SQLite counts in its header.

    :raises OSError: it cannot be read
    """
    with path.open('rb') as file:
        return int.from_bytes(file.read(28)[24:], 'big')


def mark(path: Path, token: int) -> Mark | None:
    """Write a token into a database that nobody has open; return what it was marked with before.

    None: it is damaged or cannot be written, and what starts it will say so.
    """
    with suppress(sqlite3.Error, OSError), closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute('begin immediate')  # what a killed process had begun is taken back
        found = Mark(int(file.execute('pragma user_version').fetchone()[0]), commits(path))
        file.execute(f'pragma user_version = {token}')
        file.execute('commit')
        return found
    return None


def lite_server(path: Path, token: int) -> Any:
    """Return a milvus_lite.server.Server of a file, with a home of its own while it runs.

    The file is marked with the token; as what it was found is in ``found`` then.

    Milvus Lite makes and removes ~/.cache/milvus, whoever else uses it: where one database is closed while
    another is opened, the other fails.
    """
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')  # it imports pkg_resources, which is deprecated
        from milvus_lite.server import Server

    class ServerWithHome(Server):  # type: ignore[misc]  # it has no types
        _lock_path: str
        home = ''
        found: Mark | None = None

        @property
        def args(self) -> list[Any]:
            # Asked for once, when it has the file's lock.
            self.home = tempfile.mkdtemp(prefix='milvus-lite-')
            return ['env', f'HOME={self.home}', *super().args]

        def start(self) -> bool:
            # As its own, which then waits for half a second: who starts it looks at once, and again.
            self._lock_fd = open(self._lock_path, 'a')  # noqa: SIM115  held until stop
            try:
                fcntl.lockf(self._lock_fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return False
            self.found = mark(path, token)
            libraries = os.pathsep.join((str(self._bin_path), os.environ.get('LD_LIBRARY_PATH', '')))
            environment = os.environ | {'LD_LIBRARY_PATH': libraries}
            self._p = subprocess.Popen(self.args, env=environment, cwd=self._work_dir)
            return True

        @property
        def runs(self) -> bool:
            """Whether its process was started and has not ended."""
            return self._p is not None and self._p.poll() is None

        @property
        def was_refused(self) -> bool:
            """Whether another process has the file, so that none was started."""
            return self._p is None

        def leave_lock(self) -> Path:
            """Return the lock of the process that has the file; its own clean-up would delete that."""
            lock, self._lock_path = Path(self._lock_path), ''
            return lock

        def stop(self) -> None:
            super().stop()
            if self.home:
                shutil.rmtree(self.home, ignore_errors=True)

    server = ServerWithHome(str(path))
    server.token = token
    return server


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
            args = [word for word in words if word and word[0] != '-' and 'python' not in Path(word).name]
            program, verb = (Path(args[0]).name if args else ''), (args[1] if len(args) > 1 else '')
            if program in ('remembr', 'remembr_ros.cli.main'):
                return f'remembr {verb}, process {process}', verb
            return ', '.join(filter(None, (program, f'process {process}'))), ''
    return '', ''
