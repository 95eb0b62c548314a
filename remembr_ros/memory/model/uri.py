"""Where a memory is, as people and parameters say it: a server, or the path of an embedded database."""

from pathlib import Path

from remembr_ros.errors import InvalidRequest
from remembr_ros.printable import shown_url


def is_server(uri: str) -> bool:
    """Tell whether a uri names a Milvus server; otherwise it is the path of an embedded database."""
    return uri.startswith(('http://', 'https://', 'tcp://', 'unix:'))


def shown(uri: str) -> str:
    """Return a uri as it may be shown: that of a server without a password."""
    return shown_url(uri) if is_server(uri) else uri


def database_path(uri: str) -> Path:
    """Return the path of an embedded database.

    :raises InvalidRequest: it has no name
    """
    name = uri.removeprefix('file://')
    if not name.strip():
        raise InvalidRequest('the memory has no name; give the path of a file, or http(s)://host:port')
    return Path(name).expanduser().absolute()
