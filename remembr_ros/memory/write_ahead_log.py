"""The write-ahead log of changes beside a memory; whoever opens it next finishes what is in it.

    <folder>/<random>.begun   its rows may have been changed, or not
    <folder>/<random>.rows    they have been; the rest may have been done, or not

Who works on one has it locked, which ends with the process.
"""

import errno
import fcntl
import os
import re
import stat
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from io import FileIO
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.durable import sync_folder, write_at

_NEW, _BEGUN, _ROWS = '.part', '.begun', '.rows'
_NAME = re.compile(r'[0-9a-f]{32}\.(part|begun|rows)')

MAX_BYTES = 2**29  # a larger file is no note: a million memories that are moved take less


Location = tuple[tuple[float, float, float, float] | None, str, str]
"""Where a memory is: x, y, z [m] and yaw [rad], None if it has no place; its map and frame."""


class Placed(BaseModel):
    """Where a memory is to be, and was when that was begun."""

    model_config = ConfigDict(strict=True, frozen=True)
    id: str
    to: Location
    was: Location


class ChangePlan(BaseModel):
    """What is to be done; doing it twice does no harm. Nothing of it is what a memory says.

    :param ids: of the memories to delete
    :param keyframes: to delete, where no memory names them
    :param vacuum: clean the files of what was deleted
    :param placed: memories to place anew
    :param asked: for placed: what somebody asked for, to recognise it when it is asked for again
    """

    model_config = ConfigDict(strict=True, frozen=True)
    ids: tuple[str, ...] = ()
    keyframes: tuple[str, ...] = ()
    vacuum: bool = False
    placed: tuple[Placed, ...] = ()
    asked: str = ''


class LoggedChange:
    """A change in the log, which this process has to itself. Made by :class:`WriteAheadLog`."""

    def __init__(self, path: Path, file: FileIO, plan: ChangePlan) -> None:
        self._path = path
        self._file = file
        self.has_ended = False
        """Whether there is nothing left to do."""
        self.plan = plan

    @property
    def name(self) -> str:
        """Its own, among those of all machines."""
        return self._path.stem

    @property
    def has_rows(self) -> bool:
        """Whether rows of the database are still to be changed."""
        return self._path.suffix == _BEGUN and bool(self.plan.ids or self.plan.placed)

    def rows_are_done(self) -> None:
        """Note that no row has to be changed any more: what is stored from now on stays.

        :raises StoreUnavailable: the disk does not work; they will be changed again
        """
        with _writing(self._path):
            self._path = self._path.rename(self._path.with_suffix(_ROWS))
            sync_folder(self._path.parent)

    def end(self) -> None:
        """Forget it: all of it is done.

        :raises StoreUnavailable: the disk does not work; it will be done again
        """
        with _writing(self._path):
            os.unlink(self._path)
            self.has_ended = True
            sync_folder(self._path.parent)
        self.leave()

    def leave(self) -> None:
        """Let go of it; what has not ended is there for whoever comes."""
        self._file.close()


class WriteAheadLog:
    """The changes that are not finished, in a folder.

    :param folder: made when it is needed
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.problem = ''
        """Which of them could not be read; empty: all could."""

    def begin(self, plan: ChangePlan, name: str = '') -> LoggedChange:
        """Note a change, durably.

        :param name: of one that is begun, in whose place this comes; empty: a new one
        :raises StoreUnavailable: the disk is full; nothing must be done
        """
        path = self._folder / f'{name or uuid.uuid4().hex}{_NEW}'
        begun = path.with_suffix(_BEGUN)
        if self._folder.is_symlink():
            raise StoreUnavailable(_linked(self._folder))
        with _writing(path), ExitStack() as undo:
            if not self._folder.is_dir():
                self._folder.mkdir(parents=True, exist_ok=True)
                sync_folder(self._folder.parent)
            file = undo.enter_context(path.open('xb', buffering=0))
            try:
                _lock(file)
                write_at(file, 0, plan.model_dump_json().encode())
                path = path.rename(begun)
                sync_folder(self._folder)
            except OSError:
                path.unlink(missing_ok=True)
                raise
            undo.pop_all()
        return LoggedChange(begun, file, plan)

    def take_unfinished(self) -> list[LoggedChange]:
        """Return the changes that nobody is at; they are the caller's, who leaves each in the end.

        :raises StoreUnavailable: the folder cannot be read
        """
        problems: list[str] = []
        found: list[LoggedChange] = []
        if self._folder.is_symlink():
            self.problem = _linked(self._folder)
            return []
        try:
            for path in sorted(self._folder.glob('*')) if self._folder.is_dir() else ():
                if _NAME.fullmatch(path.name):
                    found += _taken(path, problems)
        except OSError as error:
            for change in found:
                change.leave()
            raise StoreUnavailable(f'cannot read {self._folder}: {error}; mend its disk') from error
        self.problem = '; '.join(problems)
        return found


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StoreUnavailable(f'cannot write {path}: {error}; make room, or mend its disk') from error


def _linked(folder: Path) -> str:
    return f'{folder} is a link, which is not followed; move it away'


def _opened(path: Path) -> FileIO:
    """Open a file that may be of somebody else's making: no link, device or pipe.

    :raises FileNotFoundError: there is none
    :raises ValueError: it is something else than a file of bounded size
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO):  # a link; a socket
            raise ValueError from error
        raise
    file = FileIO(descriptor)
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
        file.close()
        raise ValueError
    return file


def _taken(path: Path, problems: list[str]) -> list[LoggedChange]:
    """Return what a file holds, if nobody is at it."""
    with ExitStack() as undo:
        try:
            file = undo.enter_context(_opened(path))
        except FileNotFoundError:  # it was done meanwhile
            return []
        except (ValueError, IsADirectoryError):
            problems.append(f'{path} is no file that tells what is to be finished; move it away')
            return []
        if not _lock(file) or not _is_named(file, path):
            return []
        if path.suffix == _NEW:  # its writer has ended before anything was changed
            path.unlink()
            return []
        try:
            plan = ChangePlan.model_validate_json(file.readall())
        except ValidationError:
            problems.append(f'{path} does not tell what is to be finished; move it away')
            return []
        undo.pop_all()
        return [LoggedChange(path, file, plan)]


def _lock(file: FileIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # some network disks have no locks
        return True
    return True


def _is_named(file: FileIO, path: Path) -> bool:
    """Tell whether an open file still has that name: who had it locked may have renamed it since."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    return False
