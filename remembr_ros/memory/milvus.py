"""Connecting to Milvus: an embedded file (Milvus Lite) or a server; its errors as ours."""

import logging
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from remembr_ros.errors import InvalidRequest, StoreUnavailable

logger = logging.getLogger(__name__)

TIMEOUT_S = 20.0
"""For one request. Without a timeout pymilvus retries 75 times, which takes minutes."""

_LITE_NAME = re.compile(r'[A-Za-z0-9._-]{1,36}')


def is_server(uri: str) -> bool:
    """Tell whether a uri names a Milvus server; otherwise it is the path of an embedded database."""
    return uri.startswith(('http://', 'https://', 'tcp://', 'unix:'))


def database_path(uri: str) -> Path:
    """Return the path of an embedded database.

    :raises InvalidRequest: Milvus Lite cannot use a file of that name
    """
    path = Path(uri.removeprefix('file://')).expanduser().absolute()
    if not _LITE_NAME.fullmatch(path.name):
        raise InvalidRequest(
            f'{path.name!r} cannot be the name of a Milvus Lite file; '
            'use at most 36 letters, digits, dots, dashes and underscores'
        )
    return path


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


def connect(uri: str, token: str = '') -> Any:
    """Return a pymilvus.MilvusClient.

    :param uri: file or http(s)://host:port
    :param token: 'user:password' or an API key of a server
    :raises StoreUnavailable: there is no database, or another process has the file
    """
    from pymilvus import MilvusClient

    # pymilvus logs every failed request with its traceback; the error that is raised says the same once.
    logging.getLogger('pymilvus').setLevel(logging.CRITICAL)
    address = uri if is_server(uri) else _start_lite(database_path(uri))
    with translated(uri):
        return MilvusClient(uri=address, token=token, timeout=TIMEOUT_S)


def disconnect(client: Any, uri: str) -> None:
    """Close the connection and let go of an embedded database's file."""
    client.close()
    if not is_server(uri):
        from milvus_lite.server_manager import server_manager_instance

        server_manager_instance.release_server(str(database_path(uri)))


def _start_lite(path: Path) -> str:
    from milvus_lite.server_manager import server_manager_instance

    if path.is_dir():
        raise StoreUnavailable(f'{path} is a folder; give the path of a file')
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Ctrl-C reaches every process in the terminal, but the database has to outlive it for what is still
        # queued. A child inherits the mask.
        previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        lite_log = logging.getLogger()
        level = lite_log.level
        lite_log.setLevel(logging.CRITICAL)  # it logs to the root what the error below says
        try:
            address: str | None = server_manager_instance.start_and_get_uri(str(path))
        finally:
            lite_log.setLevel(level)
            signal.pthread_sigmask(signal.SIG_SETMASK, previous)
    except OSError as error:
        raise StoreUnavailable(f'cannot open {path}: {error}') from error
    if address is None:
        raise StoreUnavailable(
            f'{path} cannot be opened: another process has it (a memory node? then ask through that node), '
            'or it is not a Milvus Lite file'
        )
    return address
