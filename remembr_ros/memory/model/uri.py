"""Where a memory is, as people and parameters say it: a server, or a file of this machine."""

import re
from pathlib import Path

from remembr_ros.errors import InvalidRequest
from remembr_ros.printable import shown_url

_LITE = 'milvus-lite:'
_LITE_NAME = re.compile(r'[A-Za-z0-9._-]{1,36}')

WHERE = (
    'a file, for one robot; http(s)://host:port of a Milvus server, for a fleet; or milvus-lite:FILE, for '
    "those who want Milvus's interface on a file (extra milvus-lite)"
)
"""Which kind of memory is for whom, in the words of help texts."""


def is_server(uri: str) -> bool:
    """Tell whether a uri names a Milvus server; otherwise it is in a file of this machine."""
    return uri.startswith(('http://', 'https://', 'tcp://', 'unix:'))


def is_lite(uri: str) -> bool:
    """Tell whether a uri names a file that Milvus Lite serves by the interface of a server."""
    return uri.startswith(_LITE)


def shown(uri: str) -> str:
    """Return a uri as it may be shown: that of a server without a password."""
    return shown_url(uri) if is_server(uri) else uri


def database_path(uri: str) -> Path:
    """Return the path of the file that a memory is in.

    :raises InvalidRequest: it has no name, or one that Milvus Lite cannot use
    """
    name = uri.removeprefix(_LITE).removeprefix('file://')
    if not name.strip():
        raise InvalidRequest('the memory has no name; give the path of a file, or http(s)://host:port')
    path = Path(name).expanduser().absolute()
    if not path.name:
        raise InvalidRequest(f'{str(path)!r} cannot be the name of a memory; give the path of a file')
    if not is_lite(uri):
        return path
    path = path.resolve()  # of a link, the target's name counts
    if not _LITE_NAME.fullmatch(path.name):
        raise InvalidRequest(
            f'{path.name!r} cannot be the name of a Milvus Lite file; '
            'use at most 36 letters, digits, dots, dashes and underscores'
        )
    return path
