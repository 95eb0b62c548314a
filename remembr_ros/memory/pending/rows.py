"""Rows of a SQLite file that tell what is still to be done: what waits for a server, and changes begun."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.embedded.sqlite_file import check_identity, connect, make, translated


def opened(path: Path, table: str) -> sqlite3.Connection:
    """Return a connection to a file, which is made if there is none, for any thread.

    :param table: SQL that makes the table unless it is there
    :raises StoreUnavailable: it cannot be opened, or another program made it
    """
    try:
        with translated(path):
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch(mode=0o600)
            make(path)
            connection = connect(path, writable=True)
    except OSError as error:
        raise StoreUnavailable(f'{path} cannot be used: {error}; make room, or mend its disk') from error
    try:
        check_identity(connection, path)
        with changing(connection, path):
            connection.execute(table)
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def changing(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Change rows: all of it, durably, or nothing.

    :raises StoreUnavailable: the disk does not work
    """
    with translated(path):
        connection.execute('BEGIN IMMEDIATE')
        try:
            yield
            connection.execute('COMMIT')
        except BaseException:
            with suppress(sqlite3.Error):  # what failed may have ended it
                connection.execute('ROLLBACK')
            raise


def clean(connection: sqlite3.Connection, path: Path) -> None:
    """Leave nothing in the file's log of what was deleted; in the file itself nothing is.

    :raises StoreUnavailable: another program reads it for long
    """
    with translated(path):
        busy, _, _ = connection.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchone()
    if busy:
        raise StoreUnavailable(
            f'what was deleted can still be read from {path}-wal: another program has been reading the file; '
            'forget it again when it has ended'
        )
