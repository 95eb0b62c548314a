"""The rows of an embedded database, in volumes of which only the last is kept loaded.

Milvus Lite keeps every loaded row in memory, vectors included, and an upsert takes the longer the more rows
its collection has. So a memory's rows go into two collections per volume (records and passages); when a
volume is full, the next one is begun and that one released. What is searched is the index in memory, see
remembr_ros.memory.embedded.index.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.embedded.journal import Change, Journal
from remembr_ros.memory.matching.sentences import MAX_SENTENCES
from remembr_ros.memory.milvus import client as milvus
from remembr_ros.memory.milvus import filters, schema
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.record import Memory

T = TypeVar('T')

FULL = 4_096
"""Memories per volume: 60 MB loaded with 7 passages of 1024 numbers each; an upsert takes 4 ms."""

BATCH = 256
"""Rows per request."""

PAGE = 1_000
"""Records read at once. The time that Milvus Lite takes grows with the square of the size of an answer."""

VECTOR_PAGE = 128
"""Vectors read at once."""


class Volumes:
    """Reads and writes the volumes of one collection. Not safe to share between threads.

    :param client: pymilvus.MilvusClient of a Milvus Lite database
    :param collection: the first volume
    :param dimension: of the passages' vectors
    :param journal: makes whole what was cut off
    :param held: tells how many memories of a volume there are
    :raises StoreMismatch: the journal is of something else
    """

    def __init__(
        self, client: Any, collection: str, dimension: int, journal: Journal, held: Callable[[int], int]
    ) -> None:
        self._client = client
        self._collection = collection
        self._dimension = dimension
        numbers = re.compile(re.escape(collection) + r'_volume_(\d+)')
        found = (numbers.fullmatch(name) for name in client.list_collections())
        self._last = max((int(match[1]) for match in found if match), default=0)
        self._held = held
        self._types: dict[str, dict[str, Any]] = {}
        if journal.pending is not None and not self._is_of_these(journal.pending):
            raise journal.mismatch()
        self._journal = journal
        self._doubtful: list[tuple[int, str]] = []  # volume and id of what failed while it was added

    @staticmethod
    def create(client: Any, collection: str, dimension: int, description: str = '') -> None:
        """Make the two collections of a volume.

        :param description: of the records
        """
        from pymilvus import DataType

        passages = client.create_schema(auto_id=False, enable_dynamic_field=False)
        passages.add_field('id', DataType.VARCHAR, max_length=128, is_primary=True)
        passages.add_field('memory_id', DataType.VARCHAR, max_length=64)
        # 16 bits lose less than 1e-5 of a cosine, and half of the size.
        passages.add_field('vector', DataType.FLOAT16_VECTOR, dim=dimension)
        index = client.prepare_index_params()
        index.add_index('vector', index_type='FLAT', metric_type='IP')
        name = schema.passages_of(collection)
        if client.has_collection(name):  # left from a start that was cut off; nothing was acknowledged
            client.drop_collection(name)
        _create(client, name, passages, index)
        records = client.create_schema(auto_id=False, enable_dynamic_field=False, description=description)
        milvus.add_record_fields(records)
        index = client.prepare_index_params()
        index.add_index('position', index_type='FLAT', metric_type='L2')
        # Last, because its presence says that the volume is ready.
        _create(client, collection, records, index)

    def read(self, number: int) -> Iterator[Memory]:
        """Yield the memories of a volume; none if there is no such volume."""
        name = self._name(number)
        if not self._client.has_collection(name):
            return
        pages = self._client.query_iterator(
            name,
            filter=filters.EVERYTHING,
            output_fields=schema.RECORD_FIELDS,
            batch_size=PAGE,
            timeout=milvus.TIMEOUT_S,
        )
        try:
            while page := pages.next():
                yield from map(schema.memory_from_row, page)
        finally:
            pages.close()
        self._let_go(number)

    def vectors(self, number: int, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the passages' vectors of memories of a volume, by id: shape (passages, dimension)."""
        rows: dict[str, dict[int, NDArray[np.float32]]] = {}
        name = schema.passages_of(self._name(number))
        for start in range(0, len(ids), BATCH):
            among = filters.any_of('memory_id', list(ids[start : start + BATCH]))
            keys = [
                row['id']
                for row in self._client.query(
                    name, filter=among, output_fields=['id'], timeout=milvus.TIMEOUT_S
                )
            ]
            for at in range(0, len(keys), VECTOR_PAGE):
                page = self._client.query(
                    name,
                    filter=filters.any_of('id', keys[at : at + VECTOR_PAGE]),
                    output_fields=['id', 'vector'],
                    timeout=milvus.TIMEOUT_S,
                )
                for row in page:
                    memory_id, index = row['id'].rsplit('/', 1)
                    rows.setdefault(memory_id, {})[int(index)] = _numbers(row['vector'])
        self._let_go(number)
        return {i: np.stack([of_one[k] for k in sorted(of_one)]) for i, of_one in rows.items()}

    def put(self, entries: Sequence[Entry], numbers: Sequence[int | None]) -> list[int]:
        """Write memories; return the number of the volume of each. To be followed by :meth:`done`.

        :param numbers: volume of each memory that is there already; None: it is new
        """
        known = [(n, entry) for entry, n in zip(entries, numbers, strict=True) if n is not None]
        if known:
            self._journal.begin(Change(replaced=tuple(known)))
            self._replace(known)
        used: list[int] = []
        fresh = [entry for entry, number in zip(entries, numbers, strict=True) if number is None]
        count = self._held(self._last)
        while fresh:
            if count >= FULL:
                self._begin()
                count = 0
            part, fresh = fresh[: FULL - count], fresh[FULL - count :]
            self._doubtful += [(self._last, entry.memory.id) for entry in part]
            # Records last: one that is there has its passages.
            self._send(schema.passages_of(self._name(self._last)), [r for e in part for r in _passages(e)])
            self._send(self._name(self._last), [schema.record_row(e.memory, True) for e in part])
            count += len(part)
            used += [self._last] * len(part)
        self._doubtful = []
        new = iter(used)
        return [next(new) if number is None else number for number in numbers]

    def update(self, memories: Sequence[tuple[int, Memory]]) -> None:
        """Rewrite records, whose texts stay the same. To be followed by :meth:`done`.

        :param memories: with the number of the volume of each
        """
        self._change(Change(updated=tuple(memories)))

    def delete(self, ids: Sequence[tuple[int, str]]) -> None:
        """Delete memories. To be followed by :meth:`done`.

        :param ids: with the number of the volume of each
        """
        self._change(Change(deleted=tuple(ids)))

    def settle(self) -> Change | None:
        """Finish a change that was cut off and return it; remove what was added, but not acknowledged.

        To be followed by :meth:`done`.
        """
        for number, ids in _by_volume(self._doubtful).items():
            self._remove(number, ids)
        self._doubtful = []
        change = self._journal.pending
        if change is not None:
            self._apply(change)
        return change

    def done(self) -> None:
        """Forget the last change: all that it is about has been told."""
        if self._journal.pending is not None or self._journal.torn:  # what is torn has texts, too
            self._journal.end()

    def drop_empty(self, numbers: Iterable[int]) -> None:
        """Delete those of these volumes that have no memories any more and get none."""
        for number in numbers:
            if number and number != self._last and not self._held(number):
                for collection in (self._name(number), schema.passages_of(self._name(number))):
                    self._client.drop_collection(collection)

    def _is_of_these(self, change: Change) -> bool:
        """Tell whether a change can be of these volumes."""
        rows = [*((n, entry.memory.id) for n, entry in change.replaced), *change.deleted]
        rows += [(n, memory.id) for n, memory in change.updated]
        dimensions = {entry.vectors.shape[1] for _, entry in change.replaced}
        return all(n <= self._last and schema.is_id(i) for n, i in rows) and dimensions <= {self._dimension}

    def _change(self, change: Change) -> None:
        if change != Change():
            self._journal.begin(change)
            self._apply(change)

    def _apply(self, change: Change) -> None:
        self._replace(change.replaced)
        for number, memories in _by_volume(change.updated).items():
            self._send(self._name(number), [schema.record_row(m, True) for m in memories], replace=True)
            self._let_go(number)
        for number, ids in _by_volume(change.deleted).items():
            self._remove(number, ids)
            self._let_go(number)

    def _remove(self, number: int, ids: Sequence[str]) -> None:
        name = self._name(number)
        # The record first: without it its passages are never found.
        for collection, key in ((name, 'id'), (schema.passages_of(name), 'memory_id')):
            if self._client.has_collection(collection):
                for start in range(0, len(ids), BATCH):
                    among = filters.any_of(key, list(ids[start : start + BATCH]))
                    self._client.delete(collection, filter=among, timeout=milvus.TIMEOUT_S)

    def sweep(self, known: Sequence[str]) -> None:
        """Delete passages of the last volume without a record: a write that was cut off left them.

        :param known: ids of the memories of the last volume
        """
        name = schema.passages_of(self._name(self._last))
        rows = self._client.query_iterator(
            name, filter='id != ""', output_fields=['id', 'memory_id'], batch_size=PAGE
        )
        kept = set(known)
        lost = []
        while page := rows.next():
            lost += [row['memory_id'] for row in page if row['memory_id'] not in kept]
        rows.close()
        for start in range(0, len(lost), BATCH):
            among = filters.any_of('memory_id', sorted(set(lost[start : start + BATCH])))
            self._client.delete(name, filter=among, timeout=milvus.TIMEOUT_S)

    def use(self, client: Any) -> None:
        """Go on with another connection to the same database."""
        self._client = client

    @property
    def last(self) -> int:
        """Number of the volume that is written to."""
        return self._last

    def _replace(self, entries: Sequence[tuple[int, Entry]]) -> None:
        for number, entry in entries:
            name = self._name(number)
            rows = _passages(entry)
            self._send(schema.passages_of(name), rows, replace=True)
            surplus = [schema.passage_id(entry.memory.id, i) for i in range(len(rows), MAX_SENTENCES)]
            self._client.delete(
                schema.passages_of(name), filter=filters.any_of('id', surplus), timeout=milvus.TIMEOUT_S
            )
            self._send(name, [schema.record_row(entry.memory, True)], replace=True)
        for number in {number for number, _ in entries}:
            self._let_go(number)

    def _send(self, collection: str, rows: list[dict[str, Any]], replace: bool = False) -> None:
        if collection not in self._types:
            described = self._client.describe_collection(collection)['fields']
            self._types[collection] = {
                f['name']: f['type'] for f in described if not f.get('is_function_output')
            }
        # The first volume may be of version 1 of the schema, which had more fields and wider vectors.
        types = self._types[collection]
        send = self._client.upsert if replace else self._client.insert
        for start in range(0, len(rows), BATCH):
            batch = [_fitting(row, types) for row in rows[start : start + BATCH]]
            send(collection, batch, timeout=milvus.TIMEOUT_S)

    def _begin(self) -> None:
        self._last += 1
        self.create(self._client, self._name(self._last), self._dimension)
        self._let_go(self._last - 1)

    def _let_go(self, number: int) -> None:
        if number != self._last:
            for name in (self._name(number), schema.passages_of(self._name(number))):
                if self._client.has_collection(name):
                    self._client.release_collection(name)

    def _name(self, number: int) -> str:
        return f'{self._collection}_volume_{number}' if number else self._collection


def _by_volume(items: Iterable[tuple[int, T]]) -> dict[int, list[T]]:
    found: dict[int, list[T]] = defaultdict(list)
    for number, item in items:
        found[number].append(item)
    return found


def _passages(entry: Entry) -> list[dict[str, Any]]:
    return schema.passage_rows(entry.memory, entry.vectors)


def _fitting(row: dict[str, Any], types: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of a row that a collection has."""
    from pymilvus import DataType

    fitting = {name: value for name, value in row.items() if name in types}
    if types.get('vector') == DataType.FLOAT16_VECTOR:
        fitting['vector'] = np.asarray(row['vector'], np.float16)
    return fitting


def _create(client: Any, name: str, fields: Any, index: Any) -> None:
    """Make a collection and load it.

    :param fields: pymilvus.CollectionSchema
    :param index: pymilvus' IndexParams
    """
    client.create_collection(name, schema=fields)
    # Of no rows it is there at once; pymilvus would look only after half a second.
    client.create_index(name, index, sync=False)
    client.load_collection(name)


def _numbers(vector: Any) -> NDArray[np.float32]:
    """Return a vector as pymilvus gives it: bytes of 16-bit floats in a list, or a list of numbers."""
    if isinstance(vector, list) and len(vector) == 1 and isinstance(vector[0], bytes):
        vector = vector[0]
    if isinstance(vector, bytes):
        return np.frombuffer(vector, np.float16).astype(np.float32)
    return np.asarray(vector, np.float32)
