"""Memories in a file that Milvus Lite serves: the interface of a server, and no promise beyond Lite's own."""

import socket
import sqlite3
import time
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.model.engine import Engine, Stamp
from remembr_ros.memory.model.uri import database_path
from remembr_ros.memory.server.connection import Connection
from remembr_ros.memory.server.open_server import open_server
from remembr_ros.memory.writer_lock import WriterLock

START_S = 30.0  # [s] for it to listen: less than a second, but on a busy robot it comes from a cold disk


def open_lite(uri: str, collection: str, new: Callable[[], Stamp] | None = None) -> Engine:
    """Open the memory of that name in a file of Milvus Lite, once at a time; see open_server.

    :param uri: milvus-lite:FILE
    :raises StoreUnavailable: Milvus Lite is not installed or does not start, or somebody has the file
    """
    with ExitStack() as undo:
        address = _serve(database_path(uri), undo)
        engine = open_server(Connection(address, known_as=uri), collection, new)
        engine.ending = undo.pop_all()
        return engine


def _serve(path: Path, undo: ExitStack) -> str:
    """Start what serves a file, until undo; return its address."""
    try:
        from milvus_lite.server_manager import server_manager_instance as lite

        path.parent.mkdir(parents=True, exist_ok=True)
        # Lite has a lock of its own, but whom it refuses deletes that, and the next one would be let in.
        lock = WriterLock(Path(f'{path}.lock'), path)
        lock.take()
        undo.callback(lock.release)
        with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as file:
            tables = [name for (name,) in file.execute('select name from sqlite_master')]
            if tables and 'collection_meta' not in tables:  # another program's, which would get more
                raise StoreUnavailable(f'{path} is no file of Milvus Lite; choose another file')
        if (address := lite.start_and_get_uri(str(path))) is None:
            raise OSError('it is damaged or cannot be written, or another program has it')
        undo.callback(lite.release_server, str(path))
        deadline = time.monotonic() + START_S
        with socket.socket(socket.AF_UNIX) as probe:
            while probe.connect_ex(address.removeprefix('unix:')) and time.monotonic() < deadline:
                time.sleep(0.05)
        return str(address)
    except ImportError as error:
        raise StoreUnavailable(f"{path} needs Milvus Lite: pip install 'remembr_ros[milvus-lite]'") from error
    except OSError as error:
        raise StoreUnavailable(f'{path} cannot be opened: {error}') from error
