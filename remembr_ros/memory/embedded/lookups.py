"""Lookups in an index: by id, time, place, meaning and words; any number of threads may look."""

import threading
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point
from remembr_ros.memory.embedded.index_files import IndexFiles
from remembr_ros.memory.embedded.passage_index import PassageIndex
from remembr_ros.memory.embedded.row_runs import Floats, Mask, Slots
from remembr_ros.memory.embedded.scalar_index import Columns, in_place_order, in_time_order
from remembr_ros.memory.matching.bm25 import WordIndex
from remembr_ros.memory.matching.ranking import newest_first
from remembr_ros.memory.model.engine import Compared
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import ANYTHING, Scope, Survey
from remembr_ros.memory.model.record import Memory

SURVEYS = 16  # that are kept


class Lookups:
    """Finds memories among those of an index. Who looks does not wait for a new memory to be written.

    :raises OSError: the disk does not work
    """

    def __init__(self, folder: Path, dimension: int) -> None:
        self._files = IndexFiles(folder, dimension)
        self._lock = threading.RLock()
        self._start()

    def _start(self) -> None:
        self._columns = Columns()
        self._words = WordIndex()
        self._terms_written = 0
        self._passages = PassageIndex(self._files)
        self._memories: list[Memory | None] = []  # None: dead, or not read from the file yet
        self._slots: dict[str, int] = {}
        self._held: Counter[int] = Counter()  # memories per volume
        self._named: Counter[str] | None = None  # how many memories name a keyframe, when somebody asks
        self._behind: dict[int, tuple[NDArray[np.void], Floats]] = {}
        self._asked: tuple[str, Floats] | None = None
        self._scoped: tuple[Scope, Mask | None] | None = None
        self._surveys: dict[Scope, Survey] = {}  # until a memory changes: each question asks a few times

    def get(self, ids: Sequence[str]) -> list[Memory]:
        with self._lock:
            return [self._memory(self._slots[i]) for i in ids if i in self._slots]

    def vectors(self, ids: Sequence[str]) -> dict[str, Floats]:
        with self._lock:
            slots, behind = {i: self._slots[i] for i in ids if i in self._slots}, self._behind
            return {i: behind[n][1] if n in behind else self._passages.vectors(n) for i, n in slots.items()}

    def select(self, scope: Scope = ANYTHING) -> Iterator[Memory]:
        """Return the memories in a scope as they are now, whatever becomes of them while they are read."""
        with self._lock:
            mask = self._admitted(scope)
            return iter(self._of(np.arange(len(self._columns)) if mask is None else np.flatnonzero(mask)))

    def named(self, keyframes: Collection[str]) -> set[str]:
        with self._lock:
            if self._named is None:
                counts: Counter[str] = Counter()
                for slot in self._slots.values():
                    counts.update(set(self._memory(slot).keyframes))
                self._named = counts
            return {name for name in keyframes if name in self._named}

    def count(self, scope: Scope = ANYTHING) -> int:
        with self._lock:
            mask = self._admitted(scope)
            return len(self._slots) if mask is None else int(np.count_nonzero(mask))

    def like(self, vector: Floats, scope: Scope, limit: int) -> dict[str, float]:
        with self._lock:
            found = self._passages.nearest(vector, limit, self._admitted(scope))
            return {self._id(slot): cosine for slot, cosine in found}

    def compared(self, vectors: Floats, ids: Sequence[str]) -> list[Compared]:
        with self._lock:
            table, behind = self._columns.table, self._behind
            slots = [self._slots[i] for i in ids if i in self._slots]
            cosines = self._passages.likeness(vectors, [slot for slot in slots if slot not in behind])
            cosines |= {slot: behind[slot][1] @ vectors.T for slot in slots if slot in behind}
            return [
                Compared(self._memory(slot), cosines[slot], int(table[slot]['paragraphs']))
                for slot in slots
                if slot in cosines
            ]

    def with_words(self, text: str, scope: Scope, limit: int) -> list[str]:
        """Return the ids of the memories whose words fit best (BM25), best first; then newer, by id."""
        with self._lock:
            scores = self._shares(text).copy()
            mask = self._admitted(scope)
            if mask is not None:
                scores[~mask] = 0.0
            matching = np.flatnonzero(scores)
            if len(matching) > limit:
                least = np.partition(scores[matching], -limit)[-limit]
                matching = matching[scores[matching] >= least]
            rows = self._columns.table
            order = np.lexsort((rows['id'][matching], -rows['start_ns'][matching], -scores[matching]))[:limit]
            return [self._id(slot) for slot in matching[order].tolist()]

    def word_shares(self, text: str, memories: Sequence[Memory]) -> list[float]:
        with self._lock:
            shares = self._shares(text)
            return [float(shares[self._slots[m.id]]) if m.id in self._slots else 0.0 for m in memories]

    def rarities(self, asked: Sequence[str], memories: Sequence[Memory]) -> Floats:
        with self._lock:
            return self._words.rarities(asked)

    def nearest_in_place(self, position: Point, scope: Scope, limit: int) -> list[Memory]:
        with self._lock:
            mask = self._columns.admitted(scope, placed_only=True)
            return in_place_order(
                self._of(self._columns.nearest_in_place(position, mask, limit)), position, limit
            )

    def nearest_in_time(self, time_ns: int, scope: Scope, limit: int) -> list[Memory]:
        with self._lock:
            mask = self._admitted(scope)
            return in_time_order(
                self._of(self._columns.nearest_in_time(time_ns, mask, limit)), time_ns, limit
            )

    def newest(self, scope: Scope, limit: int) -> list[Memory]:
        with self._lock:
            return newest_first(self._of(self._columns.newest(self._admitted(scope), limit)))[:limit]

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        with self._lock:
            if scope not in self._surveys:
                self._surveys[scope] = self._columns.survey(self._admitted(scope))
                if len(self._surveys) > SURVEYS:
                    del self._surveys[next(iter(self._surveys))]
            return self._surveys[scope]

    def outline(self) -> Outline:
        with self._lock:
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

    def _of(self, slots: Slots) -> list[Memory]:
        return [self._memory(slot) for slot in slots.tolist()]

    def _id(self, slot: int) -> str:
        return str(self._columns.table['id'][slot].decode())

    def _memory(self, slot: int) -> Memory:
        memory = self._memories[slot]
        if memory is None:
            memory = self._memories[slot] = self._files.memory(self._columns.table[slot])
        return memory
