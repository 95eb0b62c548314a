"""The SQLite file of an embedded memory: how it is made and opened, and what its errors mean."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from remembr_ros.errors import StoreMismatch, StoreUnavailable
from remembr_ros.memory.durable import sync_folder
from remembr_ros.memory.model.engine import Forgotten

LOCKED_S = 5.0  # that a lock of another program, such as a backup, is waited for
PAGE = 16_384  # bytes; of SQLite's own 4 kB a row of vectors takes several
CHECKPOINT = 256  # pages of the log, after which they are put into the file; see docs/memory.md
IDENTITY = 0x52454D42  # 'REMB': what the file says it is, to `file` and to us

_COLLECTIONS = """
CREATE TABLE collections (
    name TEXT PRIMARY KEY, stamp TEXT NOT NULL, edition INTEGER NOT NULL, last INTEGER NOT NULL, cached TEXT
);
"""
_DAMAGED = '; put back a copy, or save what is there: sqlite3 FILE .recover | sqlite3 NEW_FILE'
_REMEDIES = {
    'locked': '; another program, such as a backup or a shell, has had it locked for {:.0f} s: end that',
    'full': '; make room: what was stored before is safe',
    'readonly': '; check who owns it and how its disk is mounted',
    'disk I/O': '; check the disk (dmesg)',
    **dict.fromkeys(('malformed', 'constraint', 'already exists'), _DAMAGED),
    'not a database': ': it is not a memory, or is damaged; choose another file, or put back a copy',
}
"""What to do, by a word of SQLite's error."""


def files_of(path: Path) -> tuple[Path, Path, Path]:
    """Return a database, its log, and the index of that which processes share."""
    return path, Path(f'{path}-wal'), Path(f'{path}-shm')


def make(path: Path) -> None:
    """Begin a file that is not there or is empty, as one whose making was cut off; another is left as it is.

    :raises StoreUnavailable: its disk is none that processes can share files on
    """
    missing = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path, timeout=LOCKED_S, isolation_level=None)) as connection:
        if connection.execute('SELECT 1 FROM sqlite_master').fetchone():
            return
        connection.execute(f'PRAGMA page_size={PAGE}')
        connection.execute('PRAGMA synchronous=FULL')
        connection.executescript(f'BEGIN IMMEDIATE; PRAGMA application_id={IDENTITY}; {_COLLECTIONS} COMMIT')
        (mode,) = connection.execute('PRAGMA journal_mode=WAL').fetchone()
        if mode != 'wal':
            raise StoreUnavailable(
                f'{path} is on a disk whose files cannot be shared between processes, such as one on the '
                'network; put the memory on a disk of this machine'
            )
    for folder in (path.parent, *(folder.parent for folder in missing)):
        sync_folder(folder)


def connect(path: Path, writable: bool) -> sqlite3.Connection:
    """Return a connection to a file that is there, for any thread.

    :param writable: False: nothing can be written there
    :raises StoreUnavailable: it cannot be read without writing
    """
    mode = 'rw' if writable else 'ro'
    _, log, shared = files_of(path)
    if not writable and not (log.exists() and shared.exists()):  # else somebody may be writing it
        mode = 'ro&immutable=1'  # or SQLite would look for files that it cannot make
    if not writable and log.exists() and log.stat().st_size and not shared.exists():
        raise StoreUnavailable(
            f'{path} cannot be read where nothing can be written: {log} has what was written last. Copy '
            f'{path.name} and {path.name}-* to where they can be written'
        )
    connection = sqlite3.connect(
        f'{path.as_uri()}?mode={mode}',
        uri=True,
        timeout=LOCKED_S,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute('PRAGMA synchronous=FULL')
    connection.execute('PRAGMA secure_delete=ON')
    connection.execute(f'PRAGMA wal_autocheckpoint={CHECKPOINT}')
    return connection


def check_identity(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file that is no memory, such as a recording.

    :raises StoreMismatch: an earlier version made it
    :raises StoreUnavailable: another program did
    """
    (identity,) = connection.execute('PRAGMA application_id').fetchone()
    if identity == IDENTITY:
        return
    tables = [name for (name,) in connection.execute('SELECT name FROM sqlite_master')]
    if 'collection_meta' in tables:
        raise StoreMismatch(
            f'{path} is a memory of an earlier version, in Milvus Lite; export it with the program that made '
            'it, and import it into a new file'
        )
    raise StoreUnavailable(f'{path} is not a memory; choose another file')


def note(connection: sqlite3.Connection, table: str, forgotten: Sequence[Forgotten], before_ns: int) -> None:
    """Note what was forgotten of the memories in a table; what is from before a time goes."""
    table = f'"{table} forgotten"'  # made here: a file of before has none
    connection.execute(f'CREATE TABLE IF NOT EXISTS {table} (at_ns INTEGER, conditions TEXT)')
    connection.executemany(f'INSERT INTO {table} VALUES (?, ?)', forgotten)
    connection.execute(f'DELETE FROM {table} WHERE at_ns < ?', [before_ns])


def noted(connection: sqlite3.Connection, table: str, since_ns: int) -> list[Forgotten]:
    """Return what was noted since a time."""
    known = connection.execute(f'PRAGMA table_info("{table} forgotten")').fetchall()
    sql = f'SELECT at_ns, conditions FROM "{table} forgotten" WHERE at_ns >= ?'
    return connection.execute(sql, [since_ns]).fetchall() if known else []


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into StoreUnavailable, with what to do."""
    try:
        yield
    except sqlite3.Error as error:
        remedy = next((remedy for word, remedy in _REMEDIES.items() if word in str(error)), '')
        remedy = remedy.format(LOCKED_S)
        raise StoreUnavailable(f'the memory {path} does not work: {error}{remedy}') from error


def opened(path: Path, tables: str) -> sqlite3.Connection:
    """Return a connection to a file, which is made if there is none, for any thread.

    :param tables: SQL that makes the tables, unless they are there
    :raises StoreUnavailable: it cannot be opened, or another program made it
    """
    try:
        with translated(path), ExitStack() as undo:
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch(mode=0o600)
            make(path)
            connection = undo.enter_context(closing(connect(path, writable=True)))
            check_identity(connection, path)
            with changing(connection, path):
                for statement in tables.split(';'):
                    connection.execute(statement)
            undo.pop_all()
            return connection
    except OSError as error:
        raise StoreUnavailable(f'{path} cannot be used: {error}; make room, or mend its disk') from error


@contextmanager
def changing(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """Change rows: all of it, durably, or nothing.

    :raises StoreUnavailable: the disk does not work
    """
    with translated(path), ExitStack() as undo:
        connection.execute('BEGIN IMMEDIATE')
        undo.callback(_roll_back, connection)
        yield
        connection.execute('COMMIT')
        undo.pop_all()


def _roll_back(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.Error):  # what failed may have ended it
        connection.execute('ROLLBACK')


def clean(connection: sqlite3.Connection, path: Path) -> None:
    """Leave nothing in the log of what was deleted; in the file itself nothing is.

    :raises StoreUnavailable: another program reads it for long
    """
    with translated(path):
        busy, _, _ = connection.execute('PRAGMA wal_checkpoint(TRUNCATE)').fetchone()
    if busy:
        raise StoreUnavailable(
            f'what was deleted can still be read from {path}-wal: another program has been reading the file; '
            'forget it again when it has ended'
        )
