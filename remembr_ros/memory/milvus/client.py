"""Connects to an embedded database (Milvus Lite), with its errors as ours."""

import logging
import os
import shutil
import signal
import socket
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.milvus.lite_process import in_use, lite_server, new_token
from remembr_ros.memory.model.uri import database_path
from remembr_ros.memory.writable import RESERVE

logger = logging.getLogger(__name__)

TIMEOUT_S = 30.0  # for one request; without a timeout pymilvus retries 75 times, which takes minutes
START_S = 90.0  # for a database to start: 0.1 s, but on a busy robot it is loaded from a cold disk
LONGEST_ADDRESS = 107  # of a socket's path on Linux [bytes]
# pymilvus pings every 10 s; Milvus Lite takes that for an attack and closes the connection.
_LITE_CHANNEL = {'grpc.keepalive_time_ms': 2**31 - 1}

_servers: dict[Path, tuple[Any, int]] = {}  # the databases of this process, and how many connections each has
_starting = threading.Lock()


@contextmanager
def translated(uri: str) -> Iterator[None]:
    """Turn pymilvus's and gRPC's errors into StoreUnavailable."""
    import grpc
    from pymilvus.exceptions import MilvusException

    try:
        yield
    except (MilvusException, grpc.RpcError, grpc.FutureTimeoutError) as error:
        message = getattr(error, 'message', None) or str(error)
        raise StoreUnavailable(f'the memory at {uri} does not work: {message}') from error


def connect(uri: str, mark: int = 0) -> Any:
    """Return a pymilvus.MilvusClient of an embedded database, with the address of its server.

    As ``found`` and ``token`` it has what the file was marked with before and since that started.

    :param mark: what the database is marked with if this starts it; 0: anything new
    :raises StoreUnavailable: there is no database, or another process has the file
    """
    from pymilvus import MilvusClient

    # pymilvus logs every failed request with its traceback; the error that is raised says the same once.
    logging.getLogger('pymilvus').setLevel(logging.CRITICAL)
    path = database_path(uri)
    server = _start_lite(path, mark)
    with translated(uri), ExitStack() as undo:
        undo.callback(_release_lite, path)
        client = MilvusClient(uri=server.uds_path, timeout=TIMEOUT_S, grpc_options=_LITE_CHANNEL)
        undo.pop_all()
    # Not the server itself: it deletes its lock file when nobody has it any more, but then that is another's.
    client.address, client.found, client.token = server.uds_path, server.found, server.token
    return client


def add_record_fields(records: Any, robots_apart: bool = False) -> None:
    """Add the fields of a memory to a schema.

    :param records: pymilvus.CollectionSchema
    :param robots_apart: spread the rows over partitions by robot
    """
    from pymilvus import DataType

    records.add_field('id', DataType.VARCHAR, max_length=64, is_primary=True)
    add_scope_fields(records, robots_apart)
    for name in ('frame_id', 'captioner', 'camera'):
        records.add_field(name, DataType.VARCHAR, max_length=256)
    for name in ('yaw', 'travelled'):
        records.add_field(name, DataType.DOUBLE)
    records.add_field('caption', DataType.VARCHAR, max_length=65_535)
    for name in ('scene_text', 'keyframes', 'facts'):
        records.add_field(name, DataType.JSON)
    records.add_field('merged', DataType.INT64)
    records.add_field('position', DataType.FLOAT_VECTOR, dim=3)


def add_scope_fields(fields: Any, robots_apart: bool = False) -> None:
    """Add what one filters by."""
    from pymilvus import DataType

    fields.add_field('robot', DataType.VARCHAR, max_length=256, is_partition_key=robots_apart)
    for name in ('map_id', 'source'):
        fields.add_field(name, DataType.VARCHAR, max_length=256)
    for name in ('start_ns', 'end_ns'):
        fields.add_field(name, DataType.INT64)
    for name in ('x', 'y', 'z'):
        fields.add_field(name, DataType.DOUBLE)
    fields.add_field('placed', DataType.BOOL)


def vacuum_file(path: Path) -> None:
    """Rewrite an embedded database that nobody has open, so that nothing of what was deleted is left in it.

    :raises StoreUnavailable: it cannot be rewritten, such as for lack of room; nothing is lost
    """
    free = shutil.disk_usage(path.parent).free
    needed = RESERVE + 2 * path.stat().st_size
    if free < needed:
        raise StoreUnavailable(
            f'deleted memories can still be read from the file {path}: cleaning it needs '
            f'{needed / 1e6:.0f} MB, {free / 1e6:.0f} MB are free. '
            'Make room; then forget them again, or open the memory again'
        )
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as file:
            file.execute('pragma wal_checkpoint(truncate)')
            file.execute('vacuum')
            file.execute('pragma wal_checkpoint(truncate)')
    except sqlite3.Error as error:
        raise StoreUnavailable(
            f'deleted memories can still be read from the file {path}, which cannot be rewritten: {error}'
        ) from error


def users(path: Path) -> int:
    """Return how many connections of this process an embedded database has."""
    with _starting:
        return _servers.get(path, (None, 0))[1]


def is_connected(client: Any, path: Path) -> bool:
    """Tell whether the embedded database that a connection is of still runs; a process can be killed."""
    with _starting:
        server, _ = _servers.get(path, (None, 0))
        return server is not None and server.runs and client.address == server.uds_path


def disconnect(client: Any, uri: str) -> None:
    """Close the connection and, if it was the last one, let go of an embedded database's file."""
    client.close()
    _release_lite(database_path(uri))


def _start_lite(path: Path, mark: int) -> Any:
    """Return the server of the embedded database; start it if this process has not."""
    path = database_path(str(path.resolve()))  # of a link, the target's name counts
    if path.is_dir():
        raise StoreUnavailable(f'{path} is a folder; give the path of a file')
    with _starting:
        server, users = _servers.get(path, (None, 0))
        try:
            if server is not None and not server.runs:
                server.stop()  # it was killed; the other connections notice by themselves
                server = None
            if server is None:
                path.parent.mkdir(parents=True, exist_ok=True)
                if path.exists() and path.stat().st_size:
                    _check_file(path)
                else:
                    _prepare(path)
                server = lite_server(path, mark or new_token())
                _start(server, path)
        except OSError as error:
            raise StoreUnavailable(f'cannot open {path}: {error}') from error
        _servers[path] = server, users + 1
        return server


def _start(server: Any, path: Path) -> None:
    address = server.uds_path.removeprefix('unix:')
    if len(os.fsencode(address)) > LONGEST_ADDRESS:
        raise StoreUnavailable(
            f'{path} cannot be opened: {address} is too long for the address of its database; '
            'set TMPDIR to a shorter path'
        )
    # Ctrl-C reaches every process in the terminal, but the database has to outlive it for what is still
    # queued. A child inherits the mask.
    previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        started = server.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, previous)
    deadline = time.monotonic() + START_S
    while started and not _listens(address):
        started = server.runs and time.monotonic() < deadline
        time.sleep(0.02)
    if started:
        return
    if server.was_refused:
        raise StoreUnavailable(in_use(path, server.leave_lock()))
    server.stop()
    raise StoreUnavailable(
        f'{path} cannot be opened: it is damaged, or its folder or disk cannot be written, or the machine '
        f'is too busy to start the database within {START_S:.0f} s'
    )


def _listens(address: str) -> bool:
    """Tell whether a process listens at a socket's path; a moment before, there is only the path."""
    with socket.socket(socket.AF_UNIX) as probe:
        return probe.connect_ex(address) == 0


def _check_file(path: Path) -> None:
    """Refuse what is not a Milvus Lite file: a recording's SQLite file would get tables that it never had.

    :raises StoreUnavailable: it is not
    """
    try:
        with closing(sqlite3.connect(f'{path.as_uri()}?mode=ro', uri=True)) as file:
            tables = {name for (name,) in file.execute('select name from sqlite_master')}
    except sqlite3.OperationalError:  # locked: by whom, the start will tell
        return
    except sqlite3.DatabaseError:
        tables = {''}
    if tables and 'collection_meta' not in tables:
        raise StoreUnavailable(f'{path} is not a memory: it is no Milvus Lite file; choose another file')


def _prepare(path: Path) -> None:
    """Begin a file whose pages hold several vectors of 2 kB: of SQLite's own, of 4 kB, half stays empty."""
    # What cannot be written, the start will tell.
    with suppress(sqlite3.Error), closing(sqlite3.connect(path, isolation_level=None)) as file:
        file.execute('pragma page_size = 16384')
        file.execute('vacuum')


def _release_lite(path: Path) -> None:
    path = path.resolve()
    with _starting:
        server, users = _servers.pop(path, (None, 0))
        if users > 1:
            _servers[path] = server, users - 1
        elif server is not None:
            server.stop()
