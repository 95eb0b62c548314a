"""What a collection says of itself: which schema and which embedder made it."""

import json
import re
import uuid
from dataclasses import asdict, dataclass, field
from typing import Any

from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import canonical_name
from remembr_ros.errors import StoreMismatch, StoreUnavailable

VERSION = 3  # of the schema


class NoSuchMemory(StoreUnavailable):
    """Raised when there is no memory, and none shall be made."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a collection says of itself.

    :param version: of its schema
    :param embedder: that made its vectors
    :param dimension: of these
    :param identity: no other collection has it
    """

    version: int
    embedder: str
    dimension: int
    identity: str = field(default_factory=lambda: uuid.uuid4().hex)

    def to_text(self) -> str:
        """Return what is kept as the description of the collection."""
        return json.dumps(asdict(self))


def read_stamp(client: Any, collection: str) -> Stamp:
    """Return the stamp of a collection.

    :param client: pymilvus.MilvusClient
    :raises StoreMismatch: another program, or another version of this one, made it
    """
    description = client.describe_collection(collection).get('description', '')
    try:
        stamp = Stamp(**{'identity': ''} | json.loads(description))
    except (ValueError, TypeError):
        raise StoreMismatch(
            f'the collection {collection!r} was not made by remembr_ros; choose another file or collection'
        ) from None
    if stamp.version != VERSION:
        raise StoreMismatch(
            f'the collection {collection!r} has schema version {stamp.version}, this program {VERSION}; '
            'export it with the program that made it, and import it into a new one'
        )
    return stamp


def no_such_memory(client: Any, collection: str, uri: str) -> NoSuchMemory:
    """Return the error that says that a store lacks a memory, and which others it has.

    :param client: pymilvus.MilvusClient
    :param uri: of the store, as it may be shown
    """
    names = set(client.list_collections())
    parts = re.compile(r'(.+?)(?:_volume_\d+)?(?:_passages)?')
    others = sorted(
        name for name in names if (of := parts.fullmatch(name)) and (of[1] == name or of[1] not in names)
    )
    remedy = f'make one with: remembr ingest BAG --memory {uri}'
    if others:
        held = ', '.join(map(repr, others[:10])) + (' and more' if len(others) > 10 else '')
        remedy = f"it holds {held} (the memory node's parameter collection names one); or {remedy}"
    return NoSuchMemory(f'there is no memory {collection!r} at {uri}; {remedy}')


def check_embedder(stamp: Stamp, embedder: Embedder | str, collection: str) -> None:
    """Check that an embedder, or the embedder of that name, made the collection.

    :raises StoreMismatch: it did not
    """
    name = embedder if isinstance(embedder, str) else embedder.name
    if canonical_name(name) != canonical_name(stamp.embedder):
        raise StoreMismatch(
            f'the collection {collection!r} was made with the embedder {stamp.embedder!r}, not {name!r}: '
            f'their vectors do not compare. Use {stamp.embedder!r}, or ingest again into a new file.'
        )
    if not isinstance(embedder, str) and embedder.dimension != stamp.dimension:
        raise StoreMismatch(
            f'the embedder {name!r} makes vectors of {embedder.dimension} numbers now, but the collection '
            f'{collection!r} has {stamp.dimension}; ingest again into a new file'
        )
