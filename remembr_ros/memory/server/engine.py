"""Memories on a Milvus server, 2.3 or newer, that a fleet of robots shares."""

import logging
import threading
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import StoreUnavailable
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.matching import ranking
from remembr_ros.memory.matching.bm25 import rarities_among
from remembr_ros.memory.matching.ranking import paragraphs_among
from remembr_ros.memory.model.engine import Compared, Entry, Forgotten, Stamp, Summary
from remembr_ros.memory.model.outline import Outline, outline_of
from remembr_ros.memory.model.recall import ANYTHING, Scope, Survey, survey_of
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.model.storable import is_id
from remembr_ros.memory.server import collections, filters, schema
from remembr_ros.memory.server.collections import Features
from remembr_ros.memory.server.link import Link
from remembr_ros.memory.server.passage_table import PassageTable, place, within
from remembr_ros.memory.server.table import MOST, Row, Table
from remembr_ros.timestamps import MAX_NS, NS

logger = logging.getLogger(__name__)

_PLACE_AND_TIME = ['id', 'start_ns', 'end_ns', 'placed', 'x', 'y', 'z']

SURVEYED = 2_000  # Memories whose places a survey reads: a row takes a tenth of a millisecond
NAMES = 100  # keyframes asked for at once: each is a term of the filter


class ServerEngine:
    """The engine over two collections of a server; see memory.model.engine. Made by memory.server.opening.

    :param able: what the server can do
    :param full_text: the collection has BM25
    """

    def __init__(self, link: Link, collection: str, stamp: Stamp, able: Features, full_text: bool) -> None:
        self._link = link
        self._collection = collection
        self.stamp = stamp
        """What the collection says of itself."""
        self.ending = ExitStack()
        """Closed with it, once."""
        self._able = able
        self._full_text = full_text
        self._writing = threading.Lock()
        self._beside = ThreadPoolExecutor(4, 'milvus')
        self._half_ns = 64 * NS
        self._latest_ns = 0
        self._earliest_ns = 0

    problem = ''

    compares = 30  # in 5 ms, where the server is on the same machine

    def put(self, entries: Sequence[Entry], changed: Sequence[Memory] = (), gone: Sequence[str] = ()) -> None:
        self.update(changed)
        with self._writing, self._tables() as (records, passages):
            # Records last: one that is there has its passages, and after an end before that, storing again
            # finds the old record and starts over.
            passages.put(entries)
            records.upsert(schema.record_row(entry.memory, self._full_text) for entry in entries)
        self.delete(gone)

    def update(self, memories: Sequence[Memory]) -> None:
        with self._writing, self._tables() as (records, passages):
            ids = [memory.id for memory in memories]
            stored = {row['id'] for row in records.of_ids('id', ids, ['id'])}
            known = {memory.id: memory for memory in memories if memory.id in stored}
            passages.update(list(known.values()))
            records.upsert(schema.record_row(memory, self._full_text) for memory in known.values())

    def delete(self, ids: Sequence[str]) -> None:
        known = _ids(ids)
        with self._writing, self._tables() as (records, passages):
            records.delete(known)  # first: without it its passages are never recalled
            passages.delete(known)

    def vacuum(self) -> None:
        """Ask the server to write what is new and to remove what is deleted from its files."""
        with self._writing, self._link.client() as client:
            for name in (self._collection, schema.passages_of(self._collection)):
                if not self._able.lite:
                    client.flush(name, timeout=self._link.timeout_s)
                    client.compact(name, timeout=self._link.timeout_s)

    def get(self, ids: Sequence[str]) -> list[Memory]:
        with self._tables() as (records, _):
            rows = records.of_ids('id', _ids(ids), schema.RECORD_FIELDS)
            found = {row['id']: schema.memory_from_row(row) for row in rows}
        return [found[memory_id] for memory_id in ids if memory_id in found]

    def vectors(self, ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        with self._tables() as (_, passages):
            return passages.vectors(_ids(ids))

    def select(self, scope: Scope = ANYTHING) -> Iterator[Memory]:
        condition = filters.expression(scope)
        with self._tables() as (records, _):
            for row in records.rows(condition, schema.RECORD_FIELDS):
                memory = schema.memory_from_row(row)
                if scope.reaches(memory.pose.position if memory.pose else None):
                    yield memory

    def note(self, forgotten: Sequence[Forgotten], before_ns: int) -> None:
        with self._writing, self._link.client() as client:
            collections.note(client, self._collection, forgotten, before_ns, self._link.timeout_s)

    def noted(self, since_ns: int) -> list[Forgotten]:
        with self._link.client() as client:
            return collections.noted(client, self._collection, since_ns, self._link.timeout_s)

    def named(self, keyframes: Collection[str]) -> set[str]:
        names = list(keyframes)
        among = [names[start : start + NAMES] for start in range(0, len(names), NAMES)]
        conditions = [filters.lists_any_of('keyframes', batch) for batch in among]
        if names and self._able.lite:  # which dies of this filter now and then
            conditions = [filters.EVERYTHING]
        with self._tables() as (records, _):
            rows = [row for condition in conditions for row in records.rows(condition, ['keyframes'])]
        return set(names) & {n for row in rows for n in row['keyframes']['list']}

    def count(self, scope: Scope = ANYTHING) -> int:
        condition = filters.expression(scope)
        with self._tables() as (records, _):
            if scope.near is None:
                return records.count(condition)
            return sum(within(scope, row) for row in records.rows(condition, _PLACE_AND_TIME))

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        """Return what there is in the scope; of more than SURVEYED memories only how many and since when.

        Place and time of each are read: of 14,000 memories that took 1.4 s before every question.
        """
        condition = filters.expression(scope)
        with self._tables() as (records, _):
            if scope.near is None and (held := records.count(condition)) > SURVEYED:
                newest = self.newest(scope, 1)
                first_ns = self._first_ns(records, condition)
                return Survey(held, first_ns, newest[0].end_ns if newest else None, driven_m=None)
            rows = records.rows(condition, [*_PLACE_AND_TIME, 'robot', 'map_id'])
            return survey_of(schema.whereabouts(row) for row in rows if within(scope, row))

    def outline(self) -> Outline:
        with self._tables() as (records, _):
            fields = [*_PLACE_AND_TIME, 'robot', 'map_id', 'source']
            return outline_of(
                (
                    *(row['id'], row['start_ns'], row['end_ns'], place(row) if row['placed'] else None),
                    *(row['robot'], row['map_id'], row['source']),
                )
                for row in records.rows(filters.EVERYTHING, fields)
            )

    def summary(self) -> Summary:
        with self._tables() as (records, _):
            memories = records.count(filters.EVERYTHING)
            last = self.newest(ANYTHING, 1)
            return Summary(
                memories=memories,
                placed=records.count('placed == true'),
                first_ns=self._first_ns(records, filters.EVERYTHING) if memories else None,
                last_ns=last[0].end_ns if last else None,
                robots=records.distinct('robot'),
                maps=records.distinct('map_id'),
                sources=records.distinct('source'),
                bytes=None,
            )

    def like(self, vector: NDArray[np.float32], scope: Scope, limit: int) -> dict[str, float]:
        """Return the memories with the best passages; paragraphs are not told apart: see docs/fleet.md."""
        with self._tables() as (_, passages):
            return passages.like(vector, scope, limit)

    def compared(self, vectors: NDArray[np.float32], ids: Sequence[str]) -> list[Compared]:
        """Return memories, in their order, compared with texts: two requests at once."""
        likeness = self._beside.submit(self._likeness, vectors, ids)
        memories, cosines = self.get(ids), likeness.result()
        found = ((memory, cosines[memory.id]) for memory in memories if memory.id in cosines)
        return [Compared(memory, near, paragraphs_among(memory, len(near))) for memory, near in found]

    def with_words(self, text: str, scope: Scope, limit: int) -> list[str]:
        condition = filters.expression(scope)
        if not self._full_text or not text.strip():
            return []
        size = min(limit, MOST)
        try:
            with self._tables() as (records, _):
                while True:
                    found = records.search(
                        'words', text, condition, size, params={'metric_type': 'BM25'}, fields=_PLACE_AND_TIME
                    )
                    near = [hit for hit in found if within(scope, hit['entity'])]
                    if len(near) >= limit or len(found) < size or size == MOST:
                        break
                    size = min(4 * size, MOST)  # a radius is a box to the server
        except StoreUnavailable as error:
            if 'NaN or Inf' in str(error):  # not one word is stored: their mean number is 0 / 0
                return []
            raise
        near.sort(key=lambda hit: (-hit['distance'], hit['id']))
        return [hit['id'] for hit in near[:limit]]

    def word_shares(self, text: str, memories: Sequence[Memory]) -> list[float]:
        return [float(share) for share in ranking.word_shares(text, memories)]

    def rarities(self, asked: Sequence[str], memories: Sequence[Memory]) -> NDArray[np.float32]:
        return rarities_among(asked, [ranking.searchable(memory) for memory in memories])

    def nearest_in_place(self, position: Point, scope: Scope, limit: int) -> list[Memory]:
        condition = filters.expression(scope, placed_only=True)
        with self._tables() as (records, _):
            pool = min(2 * limit + 32, MOST)
            near = np.asarray(position, np.float32)
            params = {'metric_type': 'L2'}
            found = records.search('position', near, condition, pool, params=params, fields=_PLACE_AND_TIME)
            rows = [{**hit['entity'], 'id': hit['id']} for hit in found]
            away = sorted(distance(place(row), position) for row in rows if within(scope, row))
            if len(found) == pool:
                # The index has 32-bit floats, which are metres apart far from the origin, and knows no ties:
                # it tells how far to look, and the 64-bit fields tell what is there.
                box = filters.box(position, away[limit - 1]) if len(away) >= limit else filters.EVERYTHING
                rows = list(records.rows(f'{condition} and {box}', _PLACE_AND_TIME))
        rows = [row for row in rows if within(scope, row)]
        rows.sort(key=lambda row: (distance(place(row), position), -row['end_ns'], row['id']))
        return self.get([row['id'] for row in rows[:limit]])

    def nearest_in_time(self, time_ns: int, scope: Scope, limit: int) -> list[Memory]:
        time_ns = min(max(time_ns, 0), MAX_NS)
        condition = filters.expression(scope)
        with self._tables() as (records, _):
            reached, rows = records.reach(
                lambda half: f'{filters.around(time_ns, half)} and {condition}',
                lambda row: within(scope, row),
                _PLACE_AND_TIME,
                limit,
                start=self._half_ns,
                low=0,
                high=MAX_NS,
            )
        self._half_ns = min(reached, 3600 * NS)
        rows.sort(key=lambda row: (_away_ns(row, time_ns), row['start_ns'], row['id']))
        return self.get([row['id'] for row in rows[:limit]])

    def newest(self, scope: Scope, limit: int) -> list[Memory]:
        condition = filters.expression(scope)
        with self._tables() as (records, _):
            reached, rows = records.reach(
                lambda reach: f'end_ns >= {-reach} and {condition}',
                lambda row: within(scope, row),
                _PLACE_AND_TIME,
                limit,
                start=-self._latest_ns,
                low=-MAX_NS,
                high=0,
            )
        self._latest_ns = -reached
        rows.sort(key=lambda row: (-row['end_ns'], -row['start_ns'], row['id']))
        return self.get([row['id'] for row in rows[:limit]])

    def claim(self, name: str) -> None:
        with self._link.client() as client:
            collections.claim(client, self._collection, name, self._link.timeout_s)

    def is_claimed(self, name: str) -> bool:
        with self._link.client() as client:
            return collections.is_claimed(client, self._collection, name, self._link.timeout_s)

    def release(self, name: str) -> None:
        with self._link.client() as client:
            collections.release(client, self._collection, name, self._link.timeout_s)

    def _likeness(self, vectors: NDArray[np.float32], ids: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        with self._tables() as (_, passages):
            return passages.likeness(vectors, _ids(ids))

    def close(self) -> None:
        self._beside.shutdown(wait=False, cancel_futures=True)
        self._link.close()
        self.ending.close()

    def _first_ns(self, records: Table, condition: str) -> int | None:
        """Return the start of the earliest memory that a condition admits."""
        self._earliest_ns, rows = records.reach(
            lambda reach: f'start_ns <= {reach} and {condition}',
            bool,
            ['start_ns'],
            1,
            start=self._earliest_ns,
            low=0,
            high=MAX_NS,
        )
        return min((int(row['start_ns']) for row in rows), default=None)

    @contextmanager
    def _tables(self) -> Iterator[tuple[Table, PassageTable]]:
        """Give the records and the passages.

        :raises StoreUnavailable: the server does not work
        """
        with self._link.client() as client:
            timeout_s = self._link.timeout_s
            rows = Table(client, schema.passages_of(self._collection), timeout_s)
            yield Table(client, self._collection, timeout_s), PassageTable(rows, self._able)


def _ids(ids: Sequence[str]) -> list[str]:
    return [memory_id for memory_id in dict.fromkeys(ids) if is_id(memory_id)]


def _away_ns(row: Row, time_ns: int) -> int:
    """Return how far a memory lies from a time."""
    return max(int(row['start_ns']) - time_ns, time_ns - int(row['end_ns']), 0)
