"""Every memory of an embedded database by all that one searches for. The database is the truth."""

import logging
import threading
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point
from remembr_ros.memory.embedded.index_files import IndexFiles
from remembr_ros.memory.embedded.passage_index import PassageIndex
from remembr_ros.memory.embedded.row_runs import Floats, Mask, Slots
from remembr_ros.memory.embedded.scalar_index import Columns, in_place_order, in_time_order
from remembr_ros.memory.matching.bm25 import WordIndex
from remembr_ros.memory.matching.ranking import newest_first, searchable
from remembr_ros.memory.matching.sentences import paragraphs_among
from remembr_ros.memory.model.engine import Compared, Entry
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import ANYTHING, Scope, Survey
from remembr_ros.memory.model.record import Memory

logger = logging.getLogger(__name__)

SURVEYS = 16  # that are kept


class MemoryIndex:
    """Finds memories, and keeps what it finds them by in files.

    Any number of threads may look while one changes it; who looks does not wait for a new memory to be
    written.

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

    def load(self, slots: int) -> set[int]:
        """Take back what the files hold; return the volumes of the memories that are lost.

        :param slots: so many there have to be
        :raises Damaged: the files do not tell what they have lost
        """
        with self._lock:
            table, terms, postings, damaged = self._files.load(slots)
            with ThreadPoolExecutor(1) as beside:
                passages = beside.submit(self._passages.load, table)
                self._memories = [None] * len(table)
                self._columns = Columns(table, lambda slot: self._files.memory(table[slot]))
                live = np.flatnonzero(table['live'])
                of = table[live]
                ids = [memory_id.decode() for memory_id in of['id'].tolist()]
                self._slots = dict(zip(ids, live.tolist(), strict=True))
                self._held = Counter(of['volume'].tolist())
                self._words.load(terms, live, of['length'], of['words'], postings)
                self._terms_written = len(terms)
                passages.result()
            return damaged

    def clear(self) -> None:
        """Forget everything, in the files as well."""
        with self._lock:
            self._passages.close()
            self._files.clear()
            self._start()
            self._passages.load(self._columns.table)

    def take(self, entries: Sequence[Entry], volumes: Sequence[int]) -> None:
        """Take in memories, in place of those with the same ids.

        :param volumes: where each is in the database
        :raises OSError: the disk is full; the memories are there, but by meaning they are not found
        """
        with self._lock:
            old = [self._slots[e.memory.id] for e in entries if e.memory.id in self._slots]
            for entry, volume in zip(entries, volumes, strict=True):
                memory = entry.memory
                slot = self._columns.add(memory, volume)
                postings, length = self._words.add(slot, searchable(memory))
                of = self._columns.table[slot]
                of['length'], of['paragraphs'] = length, paragraphs_among(memory, len(entry.vectors))
                self._memories.append(memory)
                self._slots[memory.id] = slot
                self._held[volume] += 1
                self._count_named(memory.keyframes, 1)
                self._behind[slot] = postings, entry.vectors
            self._forget(old)
        self.catch_up()

    def catch_up(self) -> None:
        """Write to the files what they do not have yet.

        :raises OSError: the disk is full
        """
        if not self._behind:
            return
        with self._lock:
            new = sorted(self._behind)
            postings, vectors = zip(*(self._behind[slot] for slot in new), strict=True)
            memories = [self._memory(slot) for slot in new]
        # Without the lock: a disk may take its time, and nobody looks for these by their vectors yet.
        self._files.add_terms(self._words.terms[self._terms_written :])
        self._terms_written = len(self._words.terms)
        self._files.append(self._columns.table, new, memories, postings, vectors)
        with self._lock:
            self._behind = {}
            self._passages.add(self._columns.table, new)

    def change(self, memories: Iterable[Memory]) -> None:
        """Rewrite memories whose texts stay the same; unknown ids are passed over.

        :raises OSError: the disk is full; they are changed, but not in the files
        """
        with self._lock:
            self._outdate()
            changed = {self._slots[memory.id]: memory for memory in memories if memory.id in self._slots}
            for slot, memory in changed.items():
                self._count_named(memory.keyframes, 1)
                self._count_named(self._memory(slot).keyframes, -1)
                self._memories[slot] = memory
                self._columns.replace(slot, memory)
            for slot, memory in changed.items():
                if slot not in self._behind:
                    self._files.rewrite(self._columns.table, slot, memory)

    def remove(self, ids: Iterable[str]) -> None:
        """Forget memories; unknown ids are passed over.

        :raises OSError: they are forgotten, but not in the files
        """
        with self._lock:
            slots = (self._slots.pop(memory_id, None) for memory_id in ids)
            self._forget([slot for slot in slots if slot is not None])

    def ids_in(self, volume: int) -> list[str]:
        """Return the ids of the memories of a volume."""
        with self._lock:
            of = self._columns.table
            return [i.decode() for i in of['id'][of['live'] & (of['volume'] == volume)].tolist()]

    def volumes(self) -> set[int]:
        """Return the numbers of the volumes that there are memories of."""
        with self._lock:
            return {number for number, count in self._held.items() if count}

    def volume(self, memory_id: str) -> int | None:
        """Return where a memory is in the database; None if there is no such memory."""
        with self._lock:
            slot = self._slots.get(memory_id)
            return None if slot is None else int(self._columns.table['volume'][slot])

    def held(self, volume: int) -> int:
        """Return how many memories of a volume there are."""
        with self._lock:
            return self._held[volume]

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
            of = self._columns.table
            order = np.lexsort((of['id'][matching], -of['start_ns'][matching], -scores[matching]))[:limit]
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
            mask = self._admitted(scope)
            return newest_first(self._of(self._columns.newest(mask, limit)))[:limit]

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

    def wait(self) -> None:
        """Wait until an index that is being built in the background is in use."""
        self._passages.wait()

    def forget_traces(self) -> None:
        """Remove from the files the words that only forgotten memories had, and what clusters keep of them.

        :raises OSError: the disk is full
        """
        self.wait()  # what is being built may have what was forgotten meanwhile
        with self._lock:
            self._words.purge()
            self._files.replace_terms(self._words.terms)
            self._terms_written = len(self._words.terms)
            self._passages.save()

    def let_go(self) -> None:
        """Close the files."""
        self._passages.close()
        with self._lock:
            self._files.close()

    def _admitted(self, scope: Scope) -> Mask | None:
        """Return which slots a scope admits; a recall by text asks twice."""
        if self._scoped is None or self._scoped[0] != scope:
            self._scoped = scope, self._columns.admitted(scope)
        return self._scoped[1]

    def _outdate(self) -> None:
        """Forget what was worked out of memories that change now."""
        self._asked = self._scoped = None
        self._surveys.clear()

    def _forget(self, slots: Sequence[int]) -> None:
        self._outdate()
        failure: OSError | None = None
        for slot in slots:
            self._held[int(self._columns.table['volume'][slot])] -= 1
            if self._named is not None:
                self._count_named(self._memory(slot).keyframes, -1)
            self._memories[slot] = None
            self._behind.pop(slot, None)
            self._columns.remove(slot)
            self._words.remove(slot)
            self._passages.remove(slot)
            try:
                self._files.erase(self._columns.table, slot)
            except OSError as error:
                failure = error
        if failure is not None:
            raise failure

    def _count_named(self, keyframes: Iterable[str], more: int) -> None:
        if self._named is not None:
            for name in set(keyframes):
                self._named[name] += more
                if not self._named[name]:
                    del self._named[name]

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
