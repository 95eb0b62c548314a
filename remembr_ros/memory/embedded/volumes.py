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

from remembr_ros.memory.embedded.journal import Change, Journal
from remembr_ros.memory.embedded.row_runs import Floats
from remembr_ros.memory.matching.ranking import MAX_SENTENCES
from remembr_ros.memory.milvus import client as milvus
from remembr_ros.memory.milvus import filters, schema
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.model.storable import is_id

T = TypeVar('T')

FULL = 4_096  # memories per volume: 60 MB loaded with 7 passages of 1024 numbers each; an upsert takes 4 ms
BATCH = 256  # rows per request
PAGE = 1_000  # records read at once; the time Milvus Lite takes grows with the square of an answer's size
VECTOR_PAGE = 128  # vectors read at once


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
        self.client = client
        self._collection = collection
        self._dimension = dimension
        numbers = re.compile(re.escape(collection) + r'_volume_(\d+)')
        found = (numbers.fullmatch(name) for name in client.list_collections())
        self.last = max((int(match[1]) for match in found if match), default=0)
        """Number of the volume that is written to."""
        self._held = held
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
        name = schema.passages_of(collection)
        if client.has_collection(name):  # left from a start that was cut off; nothing was acknowledged
            client.drop_collection(name)
        _create(client, name, passages, 'vector', 'IP')
        records = client.create_schema(auto_id=False, enable_dynamic_field=False, description=description)
        milvus.add_record_fields(records)
        # Last, because its presence says that the volume is ready.
        _create(client, collection, records, 'position', 'L2')

    def read(self, number: int) -> Iterator[Memory]:
        """Yield the memories of a volume; none if there is no such volume."""
        name, _ = self._names(number)
        if not self.client.has_collection(name):
            return
        yield from map(schema.memory_from_row, self._rows(name, filters.EVERYTHING, schema.RECORD_FIELDS))
        self._let_go(number)

    def vectors(self, number: int, ids: Sequence[str]) -> dict[str, Floats]:
        """Return the passages' vectors of memories of a volume, by id: shape (passages, dimension)."""
        rows: dict[str, dict[int, Floats]] = {}
        _, name = self._names(number)
        for start in range(0, len(ids), BATCH):
            keys = [row['id'] for row in self._query(name, 'memory_id', ids[start : start + BATCH], ['id'])]
            for at in range(0, len(keys), VECTOR_PAGE):
                for row in self._query(name, 'id', keys[at : at + VECTOR_PAGE], ['id', 'vector']):
                    memory_id, index = row['id'].rsplit('/', 1)
                    rows.setdefault(memory_id, {})[int(index)] = _numbers(row['vector'])
        self._let_go(number)
        return {i: np.stack([of_one[k] for k in sorted(of_one)]) for i, of_one in rows.items()}

    def put(self, entries: Sequence[Entry], numbers: Sequence[int | None]) -> list[int]:
        """Write memories; return the number of the volume of each. To be followed by :meth:`done`.

        :param numbers: volume of each memory that is there already; None: it is new
        """
        known = tuple((n, entry) for entry, n in zip(entries, numbers, strict=True) if n is not None)
        self.change(Change(replaced=known))
        used: list[int] = []
        fresh = [entry for entry, number in zip(entries, numbers, strict=True) if number is None]
        room = FULL - self._held(self.last)
        while fresh:
            if room <= 0:
                self.last += 1
                self.create(self.client, self._names(self.last)[0], self._dimension)
                self._let_go(self.last - 1)
                room = FULL
            part, fresh = fresh[:room], fresh[room:]
            self._doubtful += [(self.last, entry.memory.id) for entry in part]
            # Records last: one that is there has its passages.
            records, passages = self._names(self.last)
            self._send(passages, [row for e in part for row in _passage_rows(e)])
            self._send(records, [schema.record_row(e.memory, False) for e in part])
            room -= len(part)
            used += [self.last] * len(part)
        self._doubtful = []
        new = iter(used)
        return [next(new) if number is None else number for number in numbers]

    def change(self, change: Change) -> None:
        """Replace, update or delete memories. To be followed by :meth:`done`."""
        if change != Change():
            self._journal.begin(change)
            self._apply(change)

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
        if self._journal.pending is not None:
            self._journal.end()

    def drop_empty(self, numbers: Iterable[int]) -> None:
        """Delete those of these volumes that have no memories any more and get none."""
        for number in numbers:
            if number and number != self.last and not self._held(number):
                for collection in self._names(number):
                    self.client.drop_collection(collection)

    def sweep(self, known: Iterable[str]) -> None:
        """Delete passages of the last volume without a record: a write that was cut off left them.

        :param known: ids of the memories of the last volume
        """
        _, name = self._names(self.last)
        stored = {row['memory_id'] for row in self._rows(name, 'id != ""', ['id', 'memory_id'])}
        self._delete(name, 'memory_id', sorted(stored.difference(known)))

    def _is_of_these(self, change: Change) -> bool:
        """Tell whether a change can be of these volumes."""
        rows = [*((n, entry.memory.id) for n, entry in change.replaced), *change.deleted]
        rows += [(n, memory.id) for n, memory in change.updated]
        dimensions = {entry.vectors.shape[1] for _, entry in change.replaced}
        return all(n <= self.last and is_id(i) for n, i in rows) and dimensions <= {self._dimension}

    def _apply(self, change: Change) -> None:
        for number, entries in _by_volume(change.replaced).items():
            records, passages = self._names(number)
            for entry in entries:
                rows = _passage_rows(entry)
                self._send(passages, rows, replace=True)
                surplus = [schema.passage_id(entry.memory.id, i) for i in range(len(rows), MAX_SENTENCES)]
                self._delete(passages, 'id', surplus)
                self._send(records, [schema.record_row(entry.memory, False)], replace=True)
            self._let_go(number)
        for number, memories in _by_volume(change.updated).items():
            self._send(self._names(number)[0], [schema.record_row(m, False) for m in memories], replace=True)
            self._let_go(number)
        for number, ids in _by_volume(change.deleted).items():
            self._remove(number, ids)
            self._let_go(number)

    def _remove(self, number: int, ids: Sequence[str]) -> None:
        # The record first: without it its passages are never found.
        for collection, key in zip(self._names(number), ('id', 'memory_id'), strict=True):
            if self.client.has_collection(collection):
                self._delete(collection, key, ids)

    def _delete(self, collection: str, key: str, values: Sequence[str]) -> None:
        for start in range(0, len(values), BATCH):
            among = filters.any_of(key, values[start : start + BATCH])
            self.client.delete(collection, filter=among, timeout=milvus.TIMEOUT_S)

    def _query(self, name: str, key: str, values: Sequence[str], fields: list[str]) -> list[dict[str, Any]]:
        among = filters.any_of(key, values)
        return list(self.client.query(name, filter=among, output_fields=fields, timeout=milvus.TIMEOUT_S))

    def _rows(self, name: str, condition: str, fields: list[str]) -> Iterator[dict[str, Any]]:
        pages = self.client.query_iterator(
            name, filter=condition, output_fields=fields, batch_size=PAGE, timeout=milvus.TIMEOUT_S
        )
        try:
            while page := pages.next():
                yield from page
        finally:
            pages.close()

    def _send(self, collection: str, rows: list[dict[str, Any]], replace: bool = False) -> None:
        send = self.client.upsert if replace else self.client.insert
        for start in range(0, len(rows), BATCH):
            send(collection, rows[start : start + BATCH], timeout=milvus.TIMEOUT_S)

    def _let_go(self, number: int) -> None:
        if number != self.last:
            for name in self._names(number):
                if self.client.has_collection(name):
                    self.client.release_collection(name)

    def _names(self, number: int) -> tuple[str, str]:
        """Return the collections of a volume: the records and the passages."""
        name = f'{self._collection}_volume_{number}' if number else self._collection
        return name, schema.passages_of(name)


def _by_volume(items: Iterable[tuple[int, T]]) -> dict[int, list[T]]:
    found: dict[int, list[T]] = defaultdict(list)
    for number, item in items:
        found[number].append(item)
    return found


def _passage_rows(entry: Entry) -> list[dict[str, Any]]:
    memory_id = entry.memory.id
    return [
        {'id': schema.passage_id(memory_id, index), 'memory_id': memory_id, 'vector': vector}
        for index, vector in enumerate(np.asarray(entry.vectors, np.float16))
    ]


def _create(client: Any, name: str, fields: Any, searched: str, metric: str) -> None:
    """Make a collection and load it."""
    index = client.prepare_index_params()
    index.add_index(searched, index_type='FLAT', metric_type=metric)
    client.create_collection(name, schema=fields)
    # Of no rows it is there at once; pymilvus would look only after half a second.
    client.create_index(name, index, sync=False)
    client.load_collection(name)


def _numbers(vector: Any) -> Floats:
    """Return a vector as pymilvus gives it: bytes of 16-bit floats in a list, or a list of numbers."""
    if isinstance(vector, list) and len(vector) == 1 and isinstance(vector[0], bytes):
        vector = vector[0]
    if isinstance(vector, bytes):
        return np.frombuffer(vector, np.float16).astype(np.float32)
    return np.asarray(vector, np.float32)
