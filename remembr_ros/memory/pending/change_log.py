"""The write-ahead log of changes to a memory; whoever opens it next finishes what is in it.

Of a memory in a file it is a table there, of one on a server a table in a file of this machine.
"""

import sqlite3
import uuid
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from remembr_ros.memory.embedded.sqlite_file import changing, opened, translated

_TABLE = 'CREATE TABLE IF NOT EXISTS "{0} begun" (name TEXT PRIMARY KEY, has_rows INTEGER, plan TEXT)'

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
    """A change in the log. Made by :class:`ChangeLog`.

    :ivar name: its own, among those of all machines
    :ivar has_ended: whether there is nothing left to do
    """

    def __init__(self, log: 'ChangeLog', name: str, has_rows: bool, plan: ChangePlan) -> None:
        self._log, self.name, self.plan = log, name, plan
        self._has_rows, self.has_ended = has_rows, False

    @property
    def has_rows(self) -> bool:
        """Whether rows of the database are still to be changed."""
        return self._has_rows and bool(self.plan.ids or self.plan.placed)

    def rows_are_done(self) -> None:
        """Note that no row has to be changed any more: what is stored from now on stays.

        :raises StoreUnavailable: the disk does not work; they will be changed again
        """
        self._log.write('UPDATE "{0} begun" SET has_rows = 0 WHERE name = ?', self.name)
        self._has_rows = False

    def end(self) -> None:
        """Forget it: all of it is done.

        :raises StoreUnavailable: the disk does not work; it will be done again
        """
        self._log.write('DELETE FROM "{0} begun" WHERE name = ?', self.name)
        self.has_ended = True


class ChangeLog:
    """The changes that are not finished. Not safe to share between threads.

    :param path: of the SQLite file, which is made when it is needed
    :param collection: whose memories are changed
    """

    def __init__(self, path: Path, collection: str) -> None:
        self._path = path
        self._table = collection.replace('"', '""')
        self._rows: sqlite3.Connection | None = None
        self.problem = ''
        """Which of them could not be read; empty: all could."""

    def begin(self, plan: ChangePlan, name: str = '') -> LoggedChange:
        """Note a change, durably.

        :param name: of one that is begun, in whose place this comes; empty: a new one
        :raises StoreUnavailable: the disk is full; nothing must be done
        """
        name = name or uuid.uuid4().hex
        self.write('INSERT OR REPLACE INTO "{0} begun" VALUES (?, 1, ?)', name, plan.model_dump_json())
        return LoggedChange(self, name, True, plan)

    def unfinished(self) -> list[LoggedChange]:
        """Return the changes that were begun and have not ended, in their order.

        :raises StoreUnavailable: the file cannot be read
        """
        if not self._path.exists():
            return []
        found, self.problem = [], ''
        with translated(self._path):
            rows = self._opened().execute(f'SELECT * FROM "{self._table} begun" ORDER BY rowid').fetchall()
        for name, has_rows, plan in rows:
            try:
                found.append(LoggedChange(self, name, bool(has_rows), ChangePlan.model_validate_json(plan)))
            except ValidationError:
                self.problem = f'a change of {self._path} that was cut off is damaged: check what it left'
        return found

    def write(self, sql: str, *values: str) -> None:
        """Change the table, whose name stands for {0}, durably."""
        rows = self._opened()
        with changing(rows, self._path):
            rows.execute(sql.format(self._table), values)

    def close(self) -> None:
        """Let go of the file."""
        if self._rows is not None:
            self._rows.close()
            self._rows = None

    def _opened(self) -> sqlite3.Connection:
        if self._rows is None:
            self._rows = opened(self._path, _TABLE.format(self._table))
        return self._rows
