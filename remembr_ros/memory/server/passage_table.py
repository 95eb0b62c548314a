"""The passage rows of a memory on a server: a vector each, searched by cosine."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point
from remembr_ros.memory.matching.ranking import MAX_SENTENCES
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.server import filters, schema
from remembr_ros.memory.server.collections import EF, Features
from remembr_ros.memory.server.table import MOST, Row, Table


class PassageTable:
    """The passages.

    :param table: their rows
    :param able: what the server can do
    """

    def __init__(self, table: Table, able: Features) -> None:
        self._table = table
        self._able = able

    def put(self, entries: Sequence[Entry]) -> None:
        """Write the passages of memories, in place of all that these had."""
        ids = [entry.memory.id for entry in entries]
        before = [row['id'] for row in self._table.of_ids('memory_id', ids, ['id'])]
        kept = {
            schema.passage_id(entry.memory.id, index)
            for entry in entries
            for index in range(len(entry.vectors))
        }
        self._table.upsert(
            row for entry in entries for row in schema.passage_rows(entry.memory, entry.vectors)
        )
        self._table.delete([passage_id for passage_id in before if passage_id not in kept])

    def update(self, memories: Sequence[Memory]) -> None:
        """Rewrite what the passages repeat of their memories."""
        vectors = self.vectors([memory.id for memory in memories])
        self._table.upsert(
            row for memory in memories for row in schema.passage_rows(memory, vectors.get(memory.id, ()))
        )

    def delete(self, ids: Sequence[str]) -> None:
        """Delete every passage that these memories can have: another robot may just have written more."""
        self._table.delete([schema.passage_id(i, index) for i in ids for index in range(MAX_SENTENCES)])

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the vectors of these memories' passages, in their order."""
        rows = self._table.of_ids('memory_id', ids, ['id', 'vector'])
        return _in_order((row['id'], row['vector']) for row in rows)

    def like(self, vector: NDArray[np.float32], scope: Scope, limit: int) -> dict[str, float]:
        """Return the cosine of the best passage per memory id, of those with the best ones, best first.

        :param limit: so many at least, if there are
        """
        condition = filters.expression(scope)
        if self._able.grouping and limit <= MOST:
            found = self._search(vector, condition, limit, scope, group_by_field='memory_id')
            best = _best(found, scope)
            # A graph may be left with fewer groups than there are.
            if len(best) >= limit or (self._able.lite and len(found) < limit):
                return best
        best = {}
        among, size = condition, min(4 * limit, MOST)
        while True:
            found = self._search(vector, among, size, scope)
            for memory_id, cosine in _best(found, scope).items():
                best[memory_id] = max(cosine, best.get(memory_id, cosine))
            if len(best) >= limit or len(found) < size:
                return _ordered(best)
            if size == MOST:
                seen = list(dict.fromkeys(_memory_id(hit) for hit in found))
                among = f'{among} and not ({filters.any_of("memory_id", seen)})'
            size = min(4 * size, MOST)

    def likeness(self, vectors: NDArray[np.float32], ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        """Return the cosine of each passage, in their order, to each vector, per memory id."""
        cosines: dict[str, NDArray[np.float32]] = {}
        at_once = MOST // MAX_SENTENCES
        for start in range(0, len(ids), at_once):
            batch = ids[start : start + at_once]
            among = filters.any_of('memory_id', list(batch))
            found = [
                {hit['id']: hit['distance'] for hit in search}
                for search in self._searches(vectors, among, MAX_SENTENCES * len(batch), ANYTHING)
            ]
            known = set(found[0]).intersection(*found[1:])
            cosines |= _in_order((i, [of_one[i] for of_one in found]) for i in known)
        # A graph is searched approximately: what it has left out is looked up.
        missing = [memory_id for memory_id in ids if memory_id not in cosines]
        if missing:
            cosines |= {memory_id: of_one @ vectors.T for memory_id, of_one in self.vectors(missing).items()}
        return cosines

    def _search(
        self, vector: NDArray[np.float32], condition: str, limit: int, scope: Scope, **options: Any
    ) -> list[Row]:
        return self._searches(np.asarray(vector)[None], condition, limit, scope, **options)[0]

    def _searches(
        self, vectors: NDArray[np.float32], condition: str, limit: int, scope: Scope, **options: Any
    ) -> list[list[Row]]:
        fields = ['x', 'y', 'z'] if scope.near is not None else []
        params: dict[str, Any] = {'metric_type': 'IP'}
        if not self._able.lite:
            params['params'] = {'ef': max(EF, limit)}
        near = list(np.asarray(vectors, np.float32))
        return self._table.searches('vector', near, condition, limit, params=params, fields=fields, **options)


def _in_order(passages: Iterable[tuple[str, Any]]) -> dict[str, NDArray[np.float32]]:
    """Return what belongs to each memory's passages, in their order; without memories that lack one."""
    found: dict[str, dict[int, Any]] = defaultdict(dict)
    for passage_id, value in passages:
        memory_id, index = passage_id.rsplit('/', 1)
        found[memory_id][int(index)] = value
    return {
        memory_id: np.asarray([of_one[index] for index in range(len(of_one))], np.float32)
        for memory_id, of_one in found.items()
        if max(of_one) + 1 == len(of_one)
    }


def _best(found: Sequence[Row], scope: Scope) -> dict[str, float]:
    """Return the best cosine per memory id in the scope, best first, then by id."""
    best: dict[str, float] = {}
    for hit in found:
        if scope.near is None or scope.reaches(place(hit['entity'])):
            memory_id, cosine = _memory_id(hit), float(hit['distance'])
            best[memory_id] = max(cosine, best.get(memory_id, cosine))
    return _ordered(best)


def _memory_id(hit: Row) -> str:
    """Return whose passage a search has found."""
    return str(hit['id']).rsplit('/', 1)[0]


def place(row: Row) -> Point:
    """Return the place of a row."""
    return (row['x'], row['y'], row['z'])


def within(scope: Scope, row: Row) -> bool:
    """Tell whether the radius of a scope reaches a row, which the server has only compared with a box."""
    return scope.reaches(place(row) if row['placed'] else None)


def _ordered(best: dict[str, float]) -> dict[str, float]:
    return dict(sorted(best.items(), key=lambda item: (-item[1], item[0])))
