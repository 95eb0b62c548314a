"""Ends a process or the room on its disk at a chosen step of its work.

Steps are what may leave something half done: a file that is opened to be written, cut, renamed or deleted,
bytes that are written or synced, a statement of SQL, a stretch of the work on one.
"""

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

HOWS = ('kill', 'part')
"""What happens at the step: the process is killed before it, or after half of it."""

CHANGES = ('sql INSERT', 'sql UPDATE', 'sql DELETE')
"""Steps that change rows, as they are called."""

_CHANGES = ('os.remove', 'os.rename', 'os.truncate', 'os.mkdir', 'os.rmdir', 'os.link')
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
LARGE = 100_000_000
"""No disk with so much room is filled [bytes]."""

_INSTRUCTIONS = 200
"""Of SQLite's virtual machine, between two steps."""


class Steps:
    """Counts the steps of this process, which cannot be undone: for a process of its own.

    :param folder: changes to files elsewhere do not count
    :param at: number of the step at which something happens, from 1; 0: at none
    :param how: one of HOWS, or 'full': the disk is filled and the process goes on
    """

    def __init__(self, folder: Path, at: int, how: str) -> None:
        self.labels: list[str] = []
        self._folder = str(folder)
        self._at = at
        self._how = how
        self._acting = False

    def watch(self) -> None:
        """Count from now on."""
        sys.addaudithook(self._on_event)
        for name in ('fsync', 'pwrite', 'ftruncate'):
            setattr(os, name, self._watched_write(name, getattr(os, name)))
        connect = sqlite3.connect

        def connected(*arguments: Any, **options: Any) -> sqlite3.Connection:
            connection = connect(*arguments, **options)
            connection.set_progress_handler(lambda: self._step('sqlite'), _INSTRUCTIONS)
            connection.set_trace_callback(self._on_statement)
            return connection

        sqlite3.connect = connected

    def _on_statement(self, sql: str) -> None:
        word = sql.lstrip(' -').partition(' ')[0]
        if word != 'SELECT':
            self._step(f'sql {word}')

    def _step(self, label: str, half: Callable[[], object] | None = None) -> None:
        self.labels.append(label)
        if len(self.labels) != self._at:
            return
        self._acting = True
        if self._how == 'full':
            fill(Path(self._folder).parent)
        else:
            if self._how == 'part' and half is not None:
                half()
            os.kill(os.getpid(), 9)
        self._acting = False

    def _on_event(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._acting:
            return
        if event == 'open' or event in _CHANGES:
            path = arguments[0]
            if not isinstance(path, str | bytes | os.PathLike):
                return
            path = os.fsdecode(path)
            if not path.startswith(self._folder) or (event == 'open' and not arguments[2] & _WRITES):
                return
            cuts = event == 'open' and arguments[2] & os.O_TRUNC
            self._step(f'{event} {self._short(path)}', (lambda: os.truncate(path, 0)) if cuts else None)

    def _watched_write(self, name: str, act: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(act)
        def watched(file: int, *arguments: Any) -> Any:
            path = os.readlink(f'/proc/self/fd/{file}')
            if path.startswith(self._folder) and not self._acting:
                half = None
                if name == 'pwrite':
                    data, offset = arguments
                    half = lambda: act(file, bytes(data)[: len(data) // 2], offset)  # noqa: E731
                self._step(f'{name} {self._short(path)}', half)
            return act(file, *arguments)

        return watched

    def _short(self, path: str) -> str:
        return path.removeprefix(self._folder).lstrip('/')


def fill(folder: Path) -> None:
    """Leave no room on a small disk, until the file 'filling' in this folder of it is deleted."""
    assert shutil.disk_usage(folder).free < LARGE, 'this is no small disk'
    size = 1 << 20
    with (folder / 'filling').open('wb', buffering=0) as file:
        while size:
            try:
                file.write(bytes(size))
            except OSError:
                size //= 2
