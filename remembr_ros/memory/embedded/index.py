"""The index of an embedded database over all that one searches by. The database is the truth."""

from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from remembr_ros.memory.embedded.lookups import Lookups
from remembr_ros.memory.embedded.scalar_index import Columns
from remembr_ros.memory.matching.ranking import paragraphs_among, searchable
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.record import Memory


class MemoryIndex(Lookups):
    """Finds memories, and keeps what it finds them by in files.

    Any number of threads may look while one changes it; who looks does not wait for a new memory to be
    written.

    :raises OSError: the disk does not work
    """

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
                rows = table[live]
                ids = [memory_id.decode() for memory_id in rows['id'].tolist()]
                self._slots = dict(zip(ids, live.tolist(), strict=True))
                self._held = Counter(rows['volume'].tolist())
                self._words.load(terms, live, rows['length'], rows['words'], postings)
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
                row = self._columns.table[slot]
                row['length'], row['paragraphs'] = length, paragraphs_among(memory, len(entry.vectors))
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
            table = self._columns.table
            return [i.decode() for i in table['id'][table['live'] & (table['volume'] == volume)].tolist()]

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
