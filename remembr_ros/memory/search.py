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
        self,
        text: str,
        scope: Scope = ANYTHING,
        limit: int = 5,
        *,
        diverse: bool = True,
        hybrid: bool = True,
    ) -> list[Hit]:
        """Return the memories that fit the text best by meaning and words, best first.

        :param diverse: show distinct stays rather than one parked hour; False for evaluation
        :param hybrid: False: by meaning alone
        :raises InvalidRequest: the text is empty, or the scope or the limit makes no sense
        :raises StoreUnavailable: the database does not work
        """
        limit = _check_limit(limit)
        text = text.strip().encode('utf-8', 'replace').decode()[:MAX_QUERY]
        if not text:
            raise InvalidRequest('a recall by text needs a text')
        condition = filters.expression(scope)
        vector = self.embedder.embed_query(text)
        pool = min(max(CANDIDATES, 10 * limit), PAGE)
        with milvus.translated(self._uri):
            while True:
                similarity = self._similar(vector, condition, pool)
                exhausted = len(similarity) < pool
                by_words = self._matching_words(text, condition, pool) if hybrid else []
                missing = [memory_id for memory_id in by_words if memory_id not in similarity]
                if missing:
                    among = filters.any_of('memory_id', missing)
                    similarity |= self._similar(vector, among, len(missing))
                memories = [memory for memory in self._get(list(similarity)) if filters.within(scope, memory)]
                # A radius is a box to the database, and the best may all lie in its corners.
                if len(memories) >= limit or exhausted or pool == PAGE:
                    break
                pool = min(4 * pool, PAGE)
        asked = ranking.content_stems(text)
        hits = []
        for memory in memories:
            meaning = similarity[memory.id]
            score = ranking.score(meaning, ranking.coverage(asked, memory) if hybrid else None)
            hits.append(self._hit(memory, scope, score))
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
            found = self._client.search(
                self._collection,
                data=[np.asarray(position, np.float32)],
                anns_field='position',
                filter=condition,
                limit=2 * limit + 32,
                output_fields=_PLACE_AND_TIME,
                search_params={'metric_type': 'L2'},
                timeout=milvus.TIMEOUT_S,
            )[0]
            rows = [{**hit['entity'], 'id': hit['id']} for hit in found]
            away = sorted(distance(_position(row), position) for row in rows if _row_within(scope, row))
            if len(found) == 2 * limit + 32:
                # The index has 32-bit floats, which are metres apart far from the origin, and knows no ties:
                # it tells how far to look, and the 64-bit fields tell what is there.
                nearest = filters.box(position, away[limit - 1]) if len(away) >= limit else filters.EVERYTHING
                rows = list(self._rows(self._collection, f'{condition} and {nearest}', _PLACE_AND_TIME))
            rows = [row for row in rows if _row_within(scope, row)]
            rows.sort(key=lambda row: (distance(_position(row), position), -row['end_ns'], row['id']))
            memories = self._get([row['id'] for row in rows[:limit]])
        hits = []
        for memory in memories:
            if memory.pose is not None:
                metres = distance(memory.pose.position, position)
                hits.append(Hit(memory, 1.0 / (1.0 + metres), metres))
        return hits

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
            half_ns = self._reach(time_ns, condition, limit)
            memories = self._inside(f'{_around(time_ns, half_ns)} and {condition}', scope)
            while len(memories) < limit and half_ns < MAX_NS:  # the box had more than the radius
                half_ns *= 4
                memories = self._inside(f'{_around(time_ns, half_ns)} and {condition}', scope)
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
                (-row['end_ns'], -row['start_ns'], row['id'])
                for row in self._rows(self._collection, condition, _PLACE_AND_TIME)
                if _row_within(scope, row)
            ]
            memories = self._get([memory_id for _, _, memory_id in sorted(ends)[:limit]])
        return [self._hit(memory, scope, 1.0) for memory in ranking.newest_first(memories)]

    def count(self, scope: Scope = ANYTHING) -> int:
        """Return how many memories the scope admits.

        :raises InvalidRequest: the scope makes no sense
        :raises StoreUnavailable: the database does not work
        """
        condition = filters.expression(scope)
        with milvus.translated(self._uri):
            if scope.near is None:
                return self._count(condition)
            rows = self._rows(self._collection, condition, _PLACE_AND_TIME)
            return sum(_row_within(scope, row) for row in rows)

    def _count(self, condition: str) -> int:
        rows = self._client.query(
            self._collection, filter=condition, output_fields=['count(*)'], timeout=milvus.TIMEOUT_S
        )
        return int(rows[0]['count(*)'])

    def _reach(self, time_ns: int, condition: str, limit: int) -> int:
        """Return how far around a time lie at least limit memories, and not many more, or all there are [ns].

        Milvus cannot sort, so that counting narrows down where the nearest ones are.
        """
        low, high = 0, 4 * NS
        while (count := self._count(f'{_around(time_ns, high)} and {condition}')) < limit and high < MAX_NS:
            low, high = high, 4 * high
        while count > 4 * limit + CANDIDATES and high - low > NS:
            middle = (low + high) // 2
            fewer = self._count(f'{_around(time_ns, middle)} and {condition}')
            if fewer >= limit:
                high, count = middle, fewer
            else:
                low = middle
        return high

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
        found = []
        with milvus.no_words_yet():
            found = self._client.search(
                self._collection,
                data=[text],
                anns_field='words',
                filter=condition,
                limit=limit,
                output_fields=['id'],
                timeout=milvus.TIMEOUT_S,
            )[0]
        return [hit['id'] for hit in found]

    def _get(self, ids: Sequence[str]) -> list[Memory]:
        conditions = self._with_ids(filters.EVERYTHING, ids)
        found = {memory.id: memory for condition in conditions for memory in self._select(condition)}
        return [found[memory_id] for memory_id in ids if memory_id in found]

    def _with_ids(self, condition: str, ids: Sequence[str]) -> list[str]:
        """Return filters that together admit the memories of these ids that meet the condition."""
        known = [memory_id for memory_id in dict.fromkeys(ids) if schema.is_id(memory_id)]
        return [
            f'{condition} and {filters.any_of("id", known[start : start + PAGE])}'
            for start in range(0, len(known), PAGE)
        ]

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


_PLACE_AND_TIME = ['id', 'start_ns', 'end_ns', 'placed', 'x', 'y', 'z']


def _position(row: dict[str, Any]) -> Point:
    return (row['x'], row['y'], row['z'])


def _row_within(scope: Scope, row: dict[str, Any]) -> bool:
    return filters.position_within(scope, _position(row) if row['placed'] else None)


def _around(time_ns: int, half_ns: int) -> str:
    """Return the filter of the memories at most half_ns from a time."""
    return f'end_ns >= {max(time_ns - half_ns, 0)} and start_ns <= {min(time_ns + half_ns, MAX_NS)}'


def _offset_ns(memory: Memory, time_ns: int) -> int:
    """Return how far a memory lies from a time: negative before it, 0 around it."""
    if memory.start_ns <= time_ns <= memory.end_ns:
        return 0
    return memory.start_ns - time_ns if memory.start_ns > time_ns else memory.end_ns - time_ns


def _check_limit(limit: int) -> int:
    if limit < 1:
        raise InvalidRequest(f'the limit is {limit}; ask for at least one memory')
    return min(limit, MAX_LIMIT)
