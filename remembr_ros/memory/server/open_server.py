"""Opening a memory on a Milvus server, or making one there."""

import logging
import re
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.engine import Stamp, no_such_memory, stamp_from
from remembr_ros.memory.server import collections, schema
from remembr_ros.memory.server.connection import Connection
from remembr_ros.memory.server.engine import ServerEngine
from remembr_ros.memory.server.link import Link
from remembr_ros.memory.server.table import Table

logger = logging.getLogger(__name__)

_NAME = re.compile(r'[A-Za-z_][A-Za-z0-9_]{0,199}')

_LOAD_S = 600.0  # [s] for a server to load what it has on its disks into memory


def open_server(
    connection: Connection, collection: str, new: Callable[[], Stamp] | None = None
) -> ServerEngine:
    """Open the memory of that name on a server; make it if there is none.

    :param new: makes the stamp of a new memory; None: refuse to make one
    :raises StoreUnavailable: the server does not work, or has no such memory
    :raises StoreMismatch: another program, or a newer version of this one, made it
    :raises InvalidRequest: the name or the connection makes no sense
    """
    if not _NAME.fullmatch(collection):
        raise InvalidRequest(
            f'{collection!r} is no name of a collection; use letters, digits and underscores'
        )
    link = Link(connection)
    with ExitStack() as undo:
        undo.callback(link.close)
        with link.client() as client:
            able = collections.features(client)
            names = (collection, schema.passages_of(collection))
            if not client.has_collection(collection, timeout=link.timeout_s):
                if new is None:
                    raise no_such_memory(_memories(client), collection, connection.shown)
                collections.create(client, collection, new(), able, link.timeout_s)
            described = client.describe_collection(collection)
            stamp = stamp_from(described.get('description', ''), collection)
            fields = {field['name'] for field in described['fields']}
            for name in names:
                client.load_collection(name, timeout=_LOAD_S)
                # Whatever was acknowledged before is seen from now on, whoever wrote it.
                Table(client, name, link.timeout_s).settle()
        undo.pop_all()
    return ServerEngine(link, collection, stamp, able, full_text='words' in fields)


def _memories(client: Any) -> set[str]:
    """Return the names of the memories that a server has.

    :param client: pymilvus.MilvusClient
    """
    names = set(client.list_collections())
    ends = '_passages', '_forgotten', '_moving'
    return {name for name in names if not any(name.removesuffix(end) in names - {name} for end in ends)}
