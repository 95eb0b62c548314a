"""Who moves the maps of a memory on a server: one at a time, of all robots and machines.

A claim is an empty collection: it can be made once, whoever tries, and its description tells whose it is.
"""

import socket
import time
from typing import Any

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.server import schema as server_schema
from remembr_ros.timestamps import format_iso


def claim(client: Any, collection: str, name: str, timeout_s: float) -> None:
    """Keep others from moving maps until it is released.

    :param client: pymilvus.MilvusClient
    :param name: of the claim; the same one may claim again
    :raises InvalidRequest: somebody else is at it
    """
    where = _collection(collection)
    if not client.has_collection(where, timeout=timeout_s):
        whose = f'{name} {socket.gethostname()} {format_iso(time.time_ns())}'
        server_schema.create_empty(client, where, whose, timeout_s)
    whose = client.describe_collection(where, timeout=timeout_s)['description']
    if whose.partition(' ')[0] != name:
        raise InvalidRequest(
            f'maps of this memory are being moved by another machine: {whose.partition(" ")[2]}. Do this '
            'again when that is done; if it was cut off, open the memory there, which finishes it. If that '
            f'machine is gone, drop the collection {where!r}: what was moved stays moved'
        )


def is_claimed(client: Any, collection: str, name: str, timeout_s: float) -> bool:
    """Tell whether a claim holds."""
    where = _collection(collection)
    if not client.has_collection(where, timeout=timeout_s):
        return False
    whose: str = client.describe_collection(where, timeout=timeout_s)['description']
    return whose.partition(' ')[0] == name


def release(client: Any, collection: str, name: str, timeout_s: float) -> None:
    """End a claim; one that does not hold is passed over."""
    if is_claimed(client, collection, name, timeout_s):
        client.drop_collection(_collection(collection), timeout=timeout_s)


def _collection(collection: str) -> str:
    return f'{collection}_moving'
