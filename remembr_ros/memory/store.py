"""The memory store: durable, and searchable by text, position and time."""

import logging
import threading
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any

from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.memory import filters, milvus, schema
from remembr_ros.memory.keyframes import KeyframeFolder
from remembr_ros.memory.recall import ANYTHING, Scope
from remembr_ros.memory.record import Memory, Observation
from remembr_ros.memory.search import StoreSearch
from remembr_ros.memory.sentences import MAX_SENTENCES, passages
from remembr_ros.memory.stamp import VERSION, Stamp, check_embedder, read_stamp

logger = logging.getLogger(__name__)

BATCH = 256
"""Rows per request to the database."""


@dataclass(frozen=True, slots=True)
class StoreInfo:
    """What a store holds.

    :param placed: how many memories have a pose
    :param first_ns: start of the earliest memory; None if there is none
    :param last_ns: end of the latest one
    """

    uri: str
    collection: str
    embedder: str
    dimension: int
    memories: int
    placed: int
    keyframes: int
    first_ns: int | None
    last_ns: int | None
    robots: tuple[str, ...]
    maps: tuple[str, ...]
    sources: tuple[str, ...]


def open_store(
    uri: str,
    embedder: Embedder | str | None = None,
    *,
    collection: str = 'memories',
    create: bool = True,
    token: str = '',
) -> 'MemoryStore':
    """Open the memory at uri; make it if there is none.

    :param uri: path of an embedded database (Milvus Lite), or http(s)://host:port of a Milvus server
    :param embedder: an embedder, or the name of one, loaded when first needed; None: the one that made the
        collection, and for a new collection the default of remembr_ros.embedding.embedders
    :param create: False: refuse to make a new memory
    :param token: 'user:password' or an API key of a server
    :raises StoreUnavailable: it cannot be opened, or there is none and create is False
    :raises StoreMismatch: the collection was made with another embedder, or by another program
    """
    if not milvus.is_server(uri) and not create and not milvus.database_path(uri).exists():
        raise StoreUnavailable(
            f'there is no memory at {uri}; make one with: remembr ingest BAG --memory {uri}'
        )
    client = milvus.connect(uri, token)
    with ExitStack() as undo:
        undo.callback(milvus.disconnect, client, uri)
        with milvus.translated(uri):
            if client.has_collection(collection, timeout=milvus.TIMEOUT_S):
                stamp = read_stamp(client, collection)
                if embedder:
                    check_embedder(stamp, embedder, collection)
                full_text = any(
                    f['name'] == 'words' for f in client.describe_collection(collection)['fields']
                )
            elif not create:
                raise StoreUnavailable(f'there is no memory {collection!r} at {uri}')
            else:
                if not isinstance(embedder, Embedder):
                    embedder = get_embedder(embedder)
                stamp = Stamp(VERSION, embedder.name, embedder.dimension)
                full_text = _has_full_text(client, uri)
                milvus.check_room(uri)
                # Passages without records are left from a start that was cut off; nothing was acknowledged.
                if client.has_collection(schema.passages_of(collection)):
                    client.drop_collection(schema.passages_of(collection))
                milvus.create_collections(client, collection, stamp.to_text(), stamp.dimension, full_text)
            for name in (collection, schema.passages_of(collection)):
                client.load_collection(name)
        undo.pop_all()
    folder = Path(f'{milvus.database_path(uri)}.keyframes') if not milvus.is_server(uri) else None
    return MemoryStore(
        client,
        uri,
        collection,
        stamp=stamp,
        embedder=embedder,
        full_text=full_text,
        keyframe_folder=folder,
    )


class MemoryStore(StoreSearch):
    """Memories in Milvus, keyframes beside it. Safe to share between threads. Made by :func:`open_store`."""

    def __init__(
        self,
        client: Any,
        uri: str,
        collection: str,
        *,
        stamp: Stamp,
        embedder: Embedder | str | None,
        full_text: bool,
        keyframe_folder: Path | None,
    ) -> None:
        super().__init__(client, uri, collection, full_text)
        self._stamp = stamp
        self._embedder = embedder
        self._keyframes = KeyframeFolder(keyframe_folder) if keyframe_folder else None
        self._writing = threading.Lock()
        self._loading = threading.Lock()
        self._closed = False

    def __enter__(self) -> 'MemoryStore':
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def embedder(self) -> Embedder:
        """The embedder, loaded at first use.

        :raises EmbedderUnavailable: it cannot be loaded
        """
        with self._loading:
            if not isinstance(self._embedder, Embedder):
                loaded = get_embedder(self._embedder or self._stamp.embedder)
                check_embedder(self._stamp, loaded, self._collection)
                self._embedder = loaded
            return self._embedder

    def add(self, observations: Sequence[Observation]) -> list[Memory]:
        """Store memories; they survive whatever happens once this returns. Storing one again changes nothing.

        Another memory of the same id is replaced.

        :return: the memories as stored, with the names of their keyframes, in the order given
        :raises InvalidRequest: a memory makes no sense; nothing is stored
        :raises StoreUnavailable: the database does not work; calling again with the same memories is safe
        """
        observations = [replace(o, memory=schema.storable(o.memory)) for o in observations]
        with self._writing, milvus.translated(self._uri):
            milvus.check_room(self._uri, sum(self._size(o) for o in observations))
            stored = [self._with_keyframes(observation) for observation in observations]
            known = {memory.id: memory for memory in self._get([memory.id for memory in stored])}
            last = {memory.id: memory for memory in stored}
            new = {memory_id: m for memory_id, m in last.items() if known.get(memory_id) != m}
            if not new:
                return stored
            texts = {memory_id: passages(memory) or [''] for memory_id, memory in new.items()}
            # Each text once: a robot that drives slowly sees, and says, the same again.
            unique = list(dict.fromkeys(text for of_one in texts.values() for text in of_one))
            vectors = dict(zip(unique, self.embedder.embed(unique), strict=True))
            rows = [
                row
                for memory_id, memory in new.items()
                for row in schema.passage_rows(memory, [vectors[text] for text in texts[memory_id]])
            ]
            replaced = [memory_id for memory_id in new if memory_id in known]
            # Records last: one that is there has its passages, and after an end before that, storing again
            # finds the old record and starts over. What was acknowledged is found at any moment.
            self._upsert(schema.passages_of(self._collection), rows)
            self._delete_passages(
                [
                    schema.passage_id(memory_id, index)
                    for memory_id in replaced
                    for index in range(len(texts[memory_id]), MAX_SENTENCES)
                ]
            )
            self._upsert(self._collection, [schema.record_row(m, self._full_text) for m in new.values()])
            self._remove_keyframes(set(known[i].keyframes) - set(new[i].keyframes) for i in replaced)
            return stored

    def get(self, ids: Sequence[str]) -> list[Memory]:
        """Return the memories of these ids in their order; unknown ids are passed over.

        :raises StoreUnavailable: the database does not work
        """
        with milvus.translated(self._uri):
            return self._get(ids)

    def keyframe(self, memory_id: str, index: int = 0) -> bytes:
        """Return a keyframe of a memory as JPEG.

        :raises InvalidRequest: there is no such memory or keyframe
        :raises StoreUnavailable: the database does not work
        """
        found = self.get([memory_id])
        if not found:
            raise InvalidRequest(f'there is no memory {memory_id!r}')
        names = found[0].keyframes
        if self._keyframes is None or not 0 <= index < len(names):
            raise InvalidRequest(
                f'memory {memory_id} has {len(names)} keyframes, none with the index {index}'
            )
        return self._keyframes.get(names[index])

    def forget(self, ids: Sequence[str] | None = None, scope: Scope = ANYTHING) -> int:
        """Delete the memories of these ids (None: all) inside the scope, with their keyframes.

        :return: how many were deleted
        :raises InvalidRequest: neither ids nor a condition is given
        :raises StoreUnavailable: the database does not work
        """
        if ids is None and scope == ANYTHING:
            raise InvalidRequest('forgetting needs a condition: ids, a time or a place')
        with self._writing, milvus.translated(self._uri):
            condition = filters.expression(scope)
            conditions = [condition] if ids is None else self._with_ids(condition, ids)
            doomed = [memory for c in conditions for memory in self._inside(c, scope)]
            milvus.check_room(self._uri)  # deleting takes a journal
            self._delete_rows([memory.id for memory in doomed])
            self._remove_keyframes(memory.keyframes for memory in doomed)
            return len(doomed)

    def info(self) -> StoreInfo:
        """Return what the store holds.

        :raises StoreUnavailable: the database does not work
        """
        fields = ['robot', 'map_id', 'source', 'start_ns', 'end_ns', 'placed']
        with milvus.translated(self._uri):
            rows = list(self._rows(self._collection, filters.EVERYTHING, fields))
        return StoreInfo(
            uri=self._uri,
            collection=self._collection,
            embedder=self._stamp.embedder,
            dimension=self._stamp.dimension,
            memories=len(rows),
            placed=sum(bool(row['placed']) for row in rows),
            keyframes=self._keyframes.count() if self._keyframes is not None else 0,
            first_ns=min((int(row['start_ns']) for row in rows), default=None),
            last_ns=max((int(row['end_ns']) for row in rows), default=None),
            robots=tuple(sorted({row['robot'] for row in rows})),
            maps=tuple(sorted({row['map_id'] for row in rows})),
            sources=tuple(sorted({row['source'] for row in rows})),
        )

    def all(self) -> list[Memory]:
        """Return every memory, oldest first.

        :raises StoreUnavailable: the database does not work
        """
        with milvus.translated(self._uri):
            return sorted(self._select(filters.EVERYTHING), key=lambda m: (m.start_ns, m.id))

    def close(self) -> None:
        """Close the connection; an embedded database's file can then be opened by another process."""
        with self._writing:
            if not self._closed:
                self._closed = True
                milvus.disconnect(self._client, self._uri)

    def _size(self, observation: Observation) -> int:
        """Return about how many bytes an observation takes."""
        parts = passages(observation.memory) or ['']
        texts = sum(map(len, parts)) + len(parts) * (4 * self._stamp.dimension + 500)
        return texts + sum(map(len, observation.images))

    def _with_keyframes(self, observation: Observation) -> Memory:
        memory = observation.memory
        if not observation.images or self._keyframes is None:
            return memory
        try:
            return replace(memory, keyframes=self._keyframes.put(memory.id, observation.images))
        except OSError as error:
            logger.error('memory %s is stored without keyframes: %s', memory.id, error)
            return memory

    def _remove_keyframes(self, names: Iterable[Iterable[str]]) -> None:
        if self._keyframes is None:
            return
        try:
            self._keyframes.remove(name for of_one in names for name in of_one)
        except OSError as error:
            raise StoreUnavailable(
                f'the memories are gone, but not all of their keyframes: {error}; delete those of '
                f'{self._keyframes.folder} by hand'
            ) from error

    def _upsert(self, collection: str, rows: list[dict[str, Any]]) -> None:
        for start in range(0, len(rows), BATCH):
            self._client.upsert(collection, rows[start : start + BATCH], timeout=milvus.TIMEOUT_S)

    def _delete_passages(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), BATCH):
            condition = filters.any_of('id', list(ids[start : start + BATCH]))
            name = schema.passages_of(self._collection)
            self._client.delete(name, filter=condition, timeout=milvus.TIMEOUT_S)

    def _delete_rows(self, ids: Sequence[str]) -> None:
        for start in range(0, len(ids), BATCH):
            batch = list(ids[start : start + BATCH])
            # The record first: without it its passages are never found.
            for name, key in ((self._collection, 'id'), (schema.passages_of(self._collection), 'memory_id')):
                self._client.delete(name, filter=filters.any_of(key, batch), timeout=milvus.TIMEOUT_S)


def _has_full_text(client: Any, uri: str) -> bool:
    if not milvus.is_server(uri):
        return True
    version = client.get_server_version().lstrip('v')
    numbers = [int(part) for part in version.split('-')[0].split('.')[:2] if part.isdigit()]
    if numbers >= [2, 5]:
        return True
    logger.warning('Milvus %s has no full-text search (2.5 has): recall by text uses meaning alone', version)
    return False
