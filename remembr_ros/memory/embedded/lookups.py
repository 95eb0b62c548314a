"""Lookups in an index: by id, time, place, meaning and words; any number of threads may look."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point
from remembr_ros.memory.embedded.database import Database, memory_of
from remembr_ros.memory.embedded.passage_index import PassageIndex, cosines
from remembr_ros.memory.embedded.scalar_index import Columns, Mask, Slots, in_place_order, in_time_order
from remembr_ros.memory.embedded.vector_clusters import Floats, Numbers
from remembr_ros.memory.embedded.vector_table import SCALE
from remembr_ros.memory.matching.bm25 import WordIndex
from remembr_ros.memory.matching.ranking import newest_first
from remembr_ros.memory.model.engine import Compared
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import ANYTHING, Scope, Survey
from remembr_ros.memory.model.record import Memory

SURVEYS = 16  # that are kept


class Lookups(ABC):
    """Finds memories among those of an index. Who looks does not wait for a new memory to be written.

    :raises StoreUnavailable: the database does not work
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._lock = threading.RLock()
        self._looks = 0
        self._start()

    def _start(self) -> None:
        self._edition = 0
        self._columns = Columns()
        self._words = WordIndex()
        self._passages = PassageIndex(self._paragraphs, self._live, self._lock)
        self._memories: list[Memory | bytes | None] = []  # None: dead; as JSON until somebody asks
        self._slots: dict[str, int] = {}
        self._asked: tuple[str, Floats] | None = None
        self._scoped: tuple[Scope, Mask | None] | None = None
        self._surveys: dict[Scope, Survey] = {}  # until a memory changes: each question asks a few times

    @contextmanager
    def _looking(self) -> Iterator[None]:
        """Let one thread look at the index as the rows are now.

        Without a read transaction, which would take as long as a search by time: of the rows only vectors are
        read, and those of a number never change. They are there, or the memory was deleted meanwhile.
        """
        with self._lock:
            self._looks += 1
            try:
                if self._looks == 1 and self._database.edition != self._edition:
                    with self._database.snapshot():
                        self._follow(self._database.edition)
                yield
            finally:
                self._looks -= 1

    @abstractmethod
    def _follow(self, edition: int) -> None:
        """Take in what the rows have become; within a snapshot."""

    def get(self, ids: Sequence[str]) -> list[Memory]:
        with self._looking():
            return self._of(self._slots_of(ids))

    def vectors(self, ids: Sequence[str]) -> dict[str, Floats]:
        with self._looking():
            slots = np.array(sorted(set(self._slots_of(ids))), np.int64)
            stored, counts = self._database.vectors(self._columns.column('number')[slots])
            return dict(zip(self._ids(slots), _runs(_floats(stored), counts), strict=True))

    def select(self, scope: Scope = ANYTHING) -> Iterator[Memory]:
        """Return the memories in a scope as they are now, whatever becomes of them while they are read."""
        with self._looking():
            mask = self._admitted(scope)
            return iter(self._of(range(len(self._columns)) if mask is None else np.flatnonzero(mask)))

    def named(self, keyframes: Collection[str]) -> set[str]:
        with self._looking():
            return self._database.named(keyframes)

    def count(self, scope: Scope = ANYTHING) -> int:
        with self._looking():
            mask = self._admitted(scope)
            return len(self._slots) if mask is None else int(np.count_nonzero(mask))

    def like(self, vector: Floats, scope: Scope, limit: int) -> dict[str, float]:
        with self._looking():
            mask = self._admitted(scope)
            among = None if mask is None else self._columns.live(mask)
            numbers, scores = self._passages.nearest(vector, limit, among)
            return dict(zip(self._ids(self._columns.slots_of(numbers)), scores.tolist(), strict=True))

    def compared(self, vectors: Floats, ids: Sequence[str]) -> list[Compared]:
        with self._looking():
            slots = self._slots_of(ids)
            ascending = np.array(sorted(set(slots)), np.int64)
            stored, counts = self._database.vectors(self._columns.column('number')[ascending])
            found = stored.astype(np.float32)  # and not scaled, which takes as long
            scores = np.stack([cosines(found, text * (1.0 / SCALE)) for text in vectors], axis=1)
            of_slot = dict(zip(ascending.tolist(), _runs(scores, counts), strict=True))
            paragraphs = self._columns.column('paragraphs')[slots].tolist()
            return list(map(Compared, self._of(slots), [of_slot[slot] for slot in slots], paragraphs))

    def with_words(self, text: str, scope: Scope, limit: int) -> list[str]:
        """Return the ids of the memories whose words fit best (BM25), best first; then newer, by id."""
        with self._looking():
            scores, mask = self._shares(text), self._admitted(scope)
            matching = np.flatnonzero(scores > 0.0 if mask is None else mask & (scores > 0.0))
            if len(matching) > limit:
                among = scores[matching]
                matching = matching[among >= np.partition(among, -limit)[-limit]]
            ids, start_ns = self._columns.column('id'), self._columns.column('start_ns')
            order = np.lexsort((ids[matching], -start_ns[matching], -scores[matching]))[:limit]
            return self._ids(matching[order])

    def word_shares(self, text: str, memories: Sequence[Memory]) -> list[float]:
        with self._looking():
            shares = self._shares(text)
            return [float(shares[self._slots[m.id]]) if m.id in self._slots else 0.0 for m in memories]

    def rarities(self, asked: Sequence[str], memories: Sequence[Memory]) -> Floats:
        with self._looking():
            return self._words.rarities(asked)

    def nearest_in_place(self, position: Point, scope: Scope, limit: int) -> list[Memory]:
        with self._looking():
            mask = self._columns.admitted(scope, placed_only=True)
            return in_place_order(
                self._of(self._columns.nearest_in_place(position, mask, limit)), position, limit
            )

    def nearest_in_time(self, time_ns: int, scope: Scope, limit: int) -> list[Memory]:
        with self._looking():
            mask = self._admitted(scope)
            return in_time_order(
                self._of(self._columns.nearest_in_time(time_ns, mask, limit)), time_ns, limit
            )

    def newest(self, scope: Scope, limit: int) -> list[Memory]:
        with self._looking():
            return newest_first(self._of(self._columns.newest(self._admitted(scope), limit)))[:limit]

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        with self._looking():
            if scope not in self._surveys:
                self._surveys[scope] = self._columns.survey(self._admitted(scope))
                if len(self._surveys) > SURVEYS:
                    del self._surveys[next(iter(self._surveys))]
            return self._surveys[scope]

    def outline(self) -> Outline:
        with self._looking():
            return self._columns.outline()

    def _admitted(self, scope: Scope) -> Mask | None:
        """Return which slots a scope admits; a recall by text asks twice."""
        if self._scoped is None or self._scoped[0] != scope:
            self._scoped = scope, self._columns.admitted(scope)
        return self._scoped[1]

    def _shares(self, text: str) -> Floats:
        """Return the share of a text's words per slot; of the last text without counting again."""
        if self._asked is None or self._asked[0] != text:
            shares = self._words.shares(text)
            # The last slots may have no words.
            self._asked = text, np.pad(shares, (0, len(self._columns) - len(shares)))
        return self._asked[1]

    def _slots_of(self, ids: Sequence[str]) -> list[int]:
        """Return the slots of the memories that there are."""
        return [slot for memory_id in ids if (slot := self._slots.get(memory_id)) is not None]

    def _of(self, slots: Iterable[int]) -> list[Memory]:
        """Return the memories of slots that are live."""
        memories, found = self._memories, []
        for slot in slots:
            memory = memories[slot]
            if isinstance(memory, bytes):
                memory = memories[slot] = memory_of(memory)
            if memory is not None:
                found.append(memory)
        return found

    def _ids(self, slots: Slots) -> list[str]:
        return [memory_id.decode() for memory_id in self._columns.column('id')[slots].tolist()]

    def _live(self) -> tuple[Numbers, int]:
        return self._columns.live()

    def _paragraphs(self, numbers: Numbers) -> tuple[Floats, Numbers]:
        """Return the paragraphs of memories (ascending), and the number that each is of."""
        with self._lock:
            found, counts = self._database.vectors(numbers)
            paragraphs = self._columns.column('paragraphs')[self._columns.slots_of(numbers)]
        # A memory's paragraphs are the first of its vectors.
        place = np.arange(len(found)) - np.repeat(np.cumsum(counts) - counts, counts)
        is_paragraph = place < np.repeat(paragraphs, counts)
        return _floats(found[is_paragraph]), np.repeat(numbers, counts)[is_paragraph]


def _floats(stored: NDArray[np.int16]) -> Floats:
    vectors: Floats = stored.astype(np.float32)
    vectors *= np.float32(1.0 / SCALE)
    return vectors


def _runs(rows: NDArray[Any], counts: Numbers) -> list[NDArray[Any]]:
    """Return rows in runs of so many each; np.split takes 5 us for each."""
    ends = np.cumsum(counts)
    return [rows[a:b] for a, b in zip((ends - counts).tolist(), ends.tolist(), strict=True)]
