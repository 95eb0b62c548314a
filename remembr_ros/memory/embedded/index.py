"""Every memory of an embedded database by all that one searches for. The database is the truth."""

import threading
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point
from remembr_ros.memory.embedded.passage_index import PassageIndex
from remembr_ros.memory.embedded.row_runs import Mask
from remembr_ros.memory.embedded.scalar_index import Columns, in_place_order, in_time_order
from remembr_ros.memory.matching.bm25 import WordIndex
from remembr_ros.memory.matching.ranking import newest_first, searchable
from remembr_ros.memory.matching.sentences import paragraphs_among
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.memory.model.record import Memory


class MemoryIndex:
    """Finds memories. Safe to share between threads.

    :param folder: where the passages' vectors are kept
    :param dimension: of a vector
    :raises OSError: the disk does not work
    """

    def __init__(self, folder: Path, dimension: int) -> None:
        self._memories: list[Memory | None] = []
        self._volumes: list[int] = []
        self._slots: dict[str, int] = {}
        self._named: Counter[str] = Counter()  # how many memories name a keyframe
        self._columns = Columns()
        self._words = WordIndex()
        self._passages = PassageIndex(folder, dimension)
        self._lock = threading.RLock()
        self._asked: tuple[str, NDArray[np.float32]] | None = None
        self._scoped: tuple[Scope, Mask | None] | None = None

    def restore(self, stored: Iterable[tuple[int, Memory]]) -> list[Memory]:
        """Fill an empty index; return the memories whose vectors its files do not hold.

        :param stored: memories with the number of their volume in the database
        """
        with self._lock:
            for volume, memory in stored:
                self._place(memory, volume)
            wanted = {
                memory_id: (slot, fingerprint(self._memory(slot))) for memory_id, slot in self._slots.items()
            }
            held = self._passages.restore(wanted)
            return [self._memory(slot) for memory_id, slot in self._slots.items() if memory_id not in held]

    def add_vectors(self, entries: Sequence[Entry]) -> None:
        """Take in the vectors of memories that :meth:`restore` missed, or of new texts.

        :raises OSError: the disk is full
        """
        with self._lock:
            memories = [entry.memory for entry in entries]
            self._passages.add(
                [self._slots[memory.id] for memory in memories],
                [memory.id for memory in memories],
                [fingerprint(memory) for memory in memories],
                [entry.vectors for entry in entries],
                [paragraphs_among(entry.memory, len(entry.vectors)) for entry in entries],
            )

    def put(self, entries: Sequence[Entry], volumes: Sequence[int]) -> None:
        """Take in memories, in place of those with the same ids.

        :param volumes: where each is in the database
        :raises OSError: the disk is full; the memories are there, but by text they are not found
        """
        with self._lock:
            for entry, volume in zip(entries, volumes, strict=True):
                self._place(entry.memory, volume)
            self.add_vectors(entries)

    def update(self, memories: Sequence[Memory]) -> None:
        """Rewrite memories whose texts stay the same."""
        with self._lock:
            for memory in memories:
                self._place(memory, self._volumes[self._slots[memory.id]])

    def remove(self, ids: Iterable[str]) -> None:
        """Forget memories; unknown ids are passed over."""
        with self._lock:
            for memory_id in ids:
                self._asked = self._scoped = None
                slot = self._slots.pop(memory_id, None)
                if slot is not None:
                    self._count_named(self._memory(slot).keyframes, -1)
                    self._memories[slot] = None
                    self._columns.remove(slot)
                    self._words.remove(slot)
                    self._passages.remove(slot)

    def volume(self, memory_id: str) -> int | None:
        """Return where a memory is in the database; None if there is no such memory."""
        with self._lock:
            slot = self._slots.get(memory_id)
            return None if slot is None else self._volumes[slot]

    def get(self, ids: Iterable[str]) -> list[Memory]:
        """Return the memories of these ids, in their order; unknown ids are passed over."""
        with self._lock:
            return [self._memory(self._slots[i]) for i in ids if i in self._slots]

    def vectors(self, ids: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """Return the passages' vectors per memory id; unknown ids are passed over."""
        with self._lock:
            return {i: self._passages.vectors(self._slots[i]) for i in ids if i in self._slots}

    def select(self, scope: Scope = ANYTHING) -> Iterator[Memory]:
        """Yield the memories in a scope as they were at the call."""
        with self._lock:
            found = self._of(self._slots_in(scope))
        yield from found

    def named(self, keyframes: Iterable[str]) -> set[str]:
        """Return those of these keyframes that some memory names."""
        with self._lock:
            return {name for name in keyframes if name in self._named}

    def count(self, scope: Scope = ANYTHING) -> int:
        """Return how many memories the scope admits."""
        with self._lock:
            mask = self._admitted(scope)
            return len(self._slots) if mask is None else int(np.count_nonzero(mask))

    def like(
        self, vector: NDArray[np.float32], scope: Scope, limit: int
    ) -> tuple[dict[str, float], dict[str, float]]:
        """Return the memories with the best passages, and those with the best paragraphs; see Engine."""
        with self._lock:
            found = self._passages.nearest(vector, limit, self._admitted(scope))
            part, whole = ({self._memory(slot).id: cosine for slot, cosine in near} for near in found)
            return part, whole

    def likeness(self, vector: NDArray[np.float32], ids: Iterable[str]) -> dict[str, NDArray[np.float32]]:
        """Return the cosine of each passage per memory id; unknown ids are passed over."""
        with self._lock:
            slots = [self._slots[i] for i in ids if i in self._slots]
            found = self._passages.likeness(vector, slots)
            return {self._memory(slot).id: cosines for slot, cosines in found.items()}

    def with_words(self, text: str, scope: Scope, limit: int) -> list[str]:
        """Return the ids of the memories whose words fit best (BM25), best first; then newer ones first."""
        with self._lock:
            scores = self._shares(text).copy()
            mask = self._admitted(scope)
            if mask is not None:
                scores[~mask] = 0.0
            matching = np.flatnonzero(scores)
            if len(matching) > limit:
                least = np.partition(scores[matching], -limit)[-limit]
                matching = matching[scores[matching] >= least]
            order = np.lexsort((-matching, -scores[matching]))[:limit]
            return [memory.id for memory in self._of(matching[order])]

    def word_shares(self, text: str, ids: Sequence[str]) -> list[float]:
        """Return how much of a text's words each memory has, 0 to 1; 0 for unknown ids."""
        with self._lock:
            shares = self._shares(text)
            return [float(shares[self._slots[i]]) if i in self._slots else 0.0 for i in ids]

    def nearest_in_place(self, position: Point, scope: Scope, limit: int) -> list[Memory]:
        """Return the placed memories nearest to a point; see Engine."""
        with self._lock:
            mask = self._columns.admitted(scope, placed_only=True)
            return in_place_order(
                self._of(self._columns.nearest_in_place(position, mask, limit)), position, limit
            )

    def nearest_in_time(self, time_ns: int, scope: Scope, limit: int) -> list[Memory]:
        """Return the memories nearest to a time; see Engine."""
        with self._lock:
            mask = self._admitted(scope)
            return in_time_order(
                self._of(self._columns.nearest_in_time(time_ns, mask, limit)), time_ns, limit
            )

    def newest(self, scope: Scope, limit: int) -> list[Memory]:
        """Return the memories that ended last; see Engine."""
        with self._lock:
            mask = self._admitted(scope)
            return newest_first(self._of(self._columns.newest(mask, limit)))[:limit]

    @property
    def columns(self) -> Columns:
        """What there is, in figures."""
        return self._columns

    def forget_traces(self) -> None:
        """Remove from files what was removed from memory."""
        self._passages.discard_saved()

    def wait(self) -> None:
        """Wait until what is built in the background is in use."""
        self._passages.wait()

    def close(self) -> None:
        """Save and close the files."""
        self._passages.close()

    def _admitted(self, scope: Scope) -> Mask | None:
        """Return which slots a scope admits; a recall by text asks twice."""
        if self._scoped is None or self._scoped[0] != scope:
            self._scoped = scope, self._columns.admitted(scope)
        return self._scoped[1]

    def _place(self, memory: Memory, volume: int) -> None:
        self._asked = self._scoped = None
        self._count_named(memory.keyframes, 1)
        slot = self._slots.get(memory.id)
        if slot is None:
            slot = self._slots[memory.id] = self._columns.add(memory)
            self._memories.append(memory)
            self._volumes.append(volume)
        else:
            known = self._memory(slot)
            self._count_named(known.keyframes, -1)
            self._columns.replace(slot, memory)
            self._memories[slot] = memory
            self._volumes[slot] = volume
            if searchable(known) == searchable(memory):
                return
            self._words.remove(slot)
        self._words.add(slot, searchable(memory))

    def _count_named(self, keyframes: Iterable[str], more: int) -> None:
        for name in set(keyframes):
            self._named[name] += more
            if not self._named[name]:
                del self._named[name]

    def _shares(self, text: str) -> NDArray[np.float32]:
        """Return the share of a text's words per slot; of the last text without counting again."""
        if self._asked is None or self._asked[0] != text:
            shares = self._words.shares(text)
            # The last slots may have no words.
            self._asked = text, np.pad(shares, (0, len(self._columns) - len(shares)))
        return self._asked[1]

    def _slots_in(self, scope: Scope) -> NDArray[np.int64]:
        mask = self._admitted(scope)
        return np.arange(len(self._columns)) if mask is None else np.flatnonzero(mask)

    def _of(self, slots: NDArray[np.int64]) -> list[Memory]:
        return [self._memory(slot) for slot in slots.tolist()]

    def _memory(self, slot: int) -> Memory:
        memory = self._memories[slot]
        assert memory is not None, 'a live slot has a memory'
        return memory


def fingerprint(memory: Memory) -> int:
    """Return a checksum of the texts that a memory's vectors stand for."""
    return zlib.crc32('\0'.join((memory.caption, *memory.scene_text)).encode('utf-8', 'replace'))
