"""Where a memory is, as people and parameters say it: a server, or the path of an embedded database."""

import re
from pathlib import Path

from remembr_ros.errors import InvalidRequest
from remembr_ros.printable import shown_url

_LITE_NAME = re.compile(r'[A-Za-z0-9._-]{1,36}')


def is_server(uri: str) -> bool:
    """Tell whether a uri names a Milvus server; otherwise it is the path of an embedded database."""
    return uri.startswith(('http://', 'https://', 'tcp://', 'unix:'))


def shown(uri: str) -> str:
    """Return a uri as it may be shown: that of a server without a password."""
    return shown_url(uri) if is_server(uri) else uri


def database_path(uri: str) -> Path:
    """Return the path of an embedded database.

    :raises InvalidRequest: Milvus Lite cannot use a file of that name
    """
    name = uri.removeprefix('file://')
    if not name.strip():
        raise InvalidRequest('the memory has no name; give the path of a file, or http(s)://host:port')
    path = Path(name).expanduser().absolute()
    if not _LITE_NAME.fullmatch(path.name):
        raise InvalidRequest(
            f'{path.name!r} cannot be the name of a Milvus Lite file; '
            'use at most 36 letters, digits, dots, dashes and underscores'
        )
    return path
