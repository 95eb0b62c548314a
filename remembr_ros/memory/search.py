"""The three recalls over Milvus."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from remembr_ros.embedding.embedder import Embedder
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, distance
from remembr_ros.memory import filters, milvus, ranking, schema
from remembr_ros.memory.recall import ANYTHING, Hit, Scope
from remembr_ros.memory.record import Memory
from remembr_ros.timestamps import MAX_NS, NS

MAX_LIMIT = 1_000
"""More hits than this are no recall any more."""

MAX_QUERY = 10_000
"""Characters of a search text that count; embedders read far less."""

PAGE = 8_192
"""Rows fetched at once; Milvus allows 16,384."""

CANDIDATES = 50
"""Fewest memories that a recall by text ranks."""


class StoreSearch(ABC):
    """Recall over the two collections of remembr_ros.memory.schema.

    :param client: pymilvus.MilvusClient
    :param full_text: the records have a BM25 index
    """

    def __init__(self, client: Any, uri: str, collection: str, full_text: bool) -> None:
        self._client = client
        self._uri = uri
        self._collection = collection
        self._full_text = full_text

    @property
    @abstractmethod
    def embedder(self) -> Embedder:
        """What the passages' vectors were made with."""

    def by_text(
        self, text: str, scope: Scope = ANYTHING, limit: int = 5, *, diverse: bool = True
    ) -> list[Hit]:
        """Return the memories that fit the text best by meaning and words, best first.

        :param diverse: show distinct stays rather than one parked hour; False for evaluation
        :raises InvalidRequest: the text is empty, or the scope or the limit makes no sense
        :raises StoreUnavailable: the database does not work
        """
        limit = _check_limit(limit)
        text = text.strip()[:MAX_QUERY]
        if not text:
            raise InvalidRequest('a recall by text needs a text')
        condition = filters.expression(scope)
        vector = self.embedder.embed_query(text)
        pool = max(CANDIDATES, 10 * limit)
        with milvus.translated(self._uri):
            similarity = self._similar(vector, condition, pool)
            by_words = self._matching_words(text, condition, pool)
            missing = [memory_id for memory_id in by_words if memory_id not in similarity]
            if missing:
                similarity |= self._similar(vector, filters.any_of('memory_id', missing), len(missing))
            memories = self._get(list(similarity))
        asked = ranking.content_stems(text)
        hits = [
            self._hit(memory, scope, ranking.score(similarity[memory.id], ranking.coverage(asked, memory)))
            for memory in memories
            if filters.within(scope, memory)
        ]
        hits.sort(key=lambda hit: (-hit.score, -hit.memory.start_ns, hit.memory.id))
        return ranking.diversify(hits, limit) if diverse else hits[:limit]

    def by_position(self, position: Point, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        """Return the memories nearest to a point, nearest first; unplaced ones are left out.

        :param position: [m] in the map frame
        :raises InvalidRequest: the position, the scope or the limit makes no sense
        :raises StoreUnavailable: the database does not work
        """
        limit = _check_limit(limit)
        filters.check_point(position)
        condition = filters.expression(scope, placed_only=True)
        with milvus.translated(self._uri):
            pool = limit
            while True:
                # The index has 32-bit floats, the records 64-bit ones: fetch more, then sort exactly.
                pool = min(2 * pool + 32, PAGE)
                found = self._client.search(
                    self._collection,
                    data=[np.asarray(position, np.float32)],
                    anns_field='position',
                    filter=condition,
                    limit=pool,
                    output_fields=schema.RECORD_FIELDS,
                    search_params={'metric_type': 'L2'},
                    timeout=milvus.TIMEOUT_S,
                )[0]
                memories = [schema.memory_from_row({**hit['entity'], 'id': hit['id']}) for hit in found]
                inside = [memory for memory in memories if filters.within(scope, memory)]
                if len(inside) >= limit or len(found) < pool or pool == PAGE:
                    break
        hits = []
        for memory in inside:
            away = distance(memory.pose.position, position) if memory.pose else np.inf
            hits.append(Hit(memory, 1.0 / (1.0 + away), away))
        hits.sort(key=lambda hit: (hit.distance_m, -hit.memory.end_ns, hit.memory.id))
        return hits[:limit]

    def by_time(self, time_ns: int, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        """Return the memories nearest to a time, nearest first.

        :param time_ns: nanoseconds since the Unix epoch; the future is allowed
        :raises InvalidRequest: the scope or the limit makes no sense
        :raises StoreUnavailable: the database does not work
        """
        limit = _check_limit(limit)
        time_ns = min(max(time_ns, 0), MAX_NS)
        condition = filters.expression(scope)
        with milvus.translated(self._uri):
            # Milvus cannot sort: widen a window until it holds enough, then sort what is in it.
            half_ns = 4 * NS
            while True:
                window = (
                    f'end_ns >= {max(time_ns - half_ns, 0)} and start_ns <= {min(time_ns + half_ns, MAX_NS)}'
                )
                memories = self._inside(f'{window} and {condition}', scope)
                if len(memories) >= limit or half_ns >= MAX_NS:
                    break
                half_ns *= 4
        hits = []
        for memory in memories:
            offset_s = _offset_ns(memory, time_ns) / NS
            hits.append(Hit(memory, 1.0 / (1.0 + abs(offset_s)), offset_s=offset_s))
        hits.sort(key=lambda hit: (abs(_offset_ns(hit.memory, time_ns)), hit.memory.start_ns, hit.memory.id))
        return hits[:limit]

    def newest(self, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        """Return the memories that ended last, newest first.

        :raises InvalidRequest: the scope or the limit makes no sense
        :raises StoreUnavailable: the database does not work
        """
        limit = _check_limit(limit)
        condition = filters.expression(scope)
        with milvus.translated(self._uri):
            ends = [
                (int(row['end_ns']), row['id'])
                for row in self._rows(self._collection, condition, ['id', *_SCALARS])
                if _row_within(scope, row)
            ]
            ends.sort(key=lambda end: (-end[0], end[1]))
            memories = self._get([memory_id for _, memory_id in ends[:limit]])
        return [self._hit(memory, scope, 1.0) for memory in ranking.newest_first(memories)]

    def count(self, scope: Scope = ANYTHING) -> int:
        """Return how many memories the scope admits.

        :raises InvalidRequest: the scope makes no sense
        :raises StoreUnavailable: the database does not work
        """
        condition = filters.expression(scope)
        with milvus.translated(self._uri):
            if scope.near is None:
                rows = self._client.query(
                    self._collection,
                    filter=condition,
                    output_fields=['count(*)'],
                    timeout=milvus.TIMEOUT_S,
                )
                return int(rows[0]['count(*)'])
            rows = self._rows(self._collection, condition, ['id', *_SCALARS])
            return sum(_row_within(scope, row) for row in rows)

    def _hit(self, memory: Memory, scope: Scope, score: float) -> Hit:
        if scope.near is None or memory.pose is None:
            return Hit(memory, score)
        return Hit(memory, score, distance(memory.pose.position, scope.near))

    def _similar(self, vector: Any, condition: str, limit: int) -> dict[str, float]:
        """Return the cosine of the best passage per memory id, for the memories with the best ones."""
        found = self._client.search(
            schema.passages_of(self._collection),
            data=[vector],
            anns_field='vector',
            filter=condition,
            limit=min(limit, PAGE),
            group_by_field='memory_id',
            output_fields=['memory_id'],
            search_params={'metric_type': 'IP'},
            timeout=milvus.TIMEOUT_S,
        )[0]
        return {hit['entity']['memory_id']: float(hit['distance']) for hit in found}

    def _matching_words(self, text: str, condition: str, limit: int) -> list[str]:
        """Return the ids of the memories whose words fit best (BM25)."""
        if not self._full_text:
            return []
        found = self._client.search(
            self._collection,
            data=[text],
            anns_field='words',
            filter=condition,
            limit=min(limit, PAGE),
            output_fields=['id'],
            timeout=milvus.TIMEOUT_S,
        )[0]
        return [hit['id'] for hit in found]

    def _get(self, ids: Sequence[str]) -> list[Memory]:
        rows: dict[str, Memory] = {}
        unique = list(dict.fromkeys(ids))
        for start in range(0, len(unique), PAGE):
            for memory in self._select(filters.any_of('id', unique[start : start + PAGE])):
                rows[memory.id] = memory
        return [rows[memory_id] for memory_id in ids if memory_id in rows]

    def _inside(self, condition: str, scope: Scope) -> list[Memory]:
        return [memory for memory in self._select(condition) if filters.within(scope, memory)]

    def _select(self, condition: str) -> list[Memory]:
        rows = self._rows(self._collection, condition, schema.RECORD_FIELDS)
        return [schema.memory_from_row(row) for row in rows]

    def _rows(self, collection: str, condition: str, fields: list[str]) -> Iterator[dict[str, Any]]:
        """Yield every row that meets the condition."""
        rows = self._client.query(
            collection, filter=condition, output_fields=fields, limit=PAGE, timeout=milvus.TIMEOUT_S
        )
        if len(rows) < PAGE:
            yield from rows
            return
        pages = self._client.query_iterator(
            collection, filter=condition, output_fields=fields, batch_size=PAGE, timeout=milvus.TIMEOUT_S
        )
        try:
            while page := pages.next():
                yield from page
        finally:
            pages.close()


_SCALARS = ['end_ns', 'placed', 'x', 'y', 'z']


def _row_within(scope: Scope, row: dict[str, Any]) -> bool:
    if scope.near is None or scope.radius_m is None:
        return True
    return bool(row['placed']) and distance((row['x'], row['y'], row['z']), scope.near) <= scope.radius_m


def _offset_ns(memory: Memory, time_ns: int) -> int:
    """Return how far a memory lies from a time: negative before it, 0 around it."""
    if memory.start_ns <= time_ns <= memory.end_ns:
        return 0
    return memory.start_ns - time_ns if memory.start_ns > time_ns else memory.end_ns - time_ns


def _check_limit(limit: int) -> int:
    if limit < 1:
        raise InvalidRequest(f'the limit is {limit}; ask for at least one memory')
    return min(limit, MAX_LIMIT)
