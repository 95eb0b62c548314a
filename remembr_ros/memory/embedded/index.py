"""The index of an embedded database over all that one searches by, made from its rows and kept current."""

import logging
import secrets
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.embedded import cache
from remembr_ros.memory.embedded.database import KEPT, Database, Row, memory_of
from remembr_ros.memory.embedded.lookups import Lookups
from remembr_ros.memory.embedded.scalar_index import COLUMNS, Columns
from remembr_ros.memory.matching.ranking import searchable

logger = logging.getLogger(__name__)

SAVED_EACH = 1_000  # changed memories, at least, or a share of all,
SAVED_SHARE = 16  # after which the cache is written: to take in so many takes a second at the next start
NEEDED = ('edition', *COLUMNS, 'terms', 'having', 'rows', 'counts', 'lengths')
"""What a cache has to have: of the columns and the words."""


class MemoryIndex(Lookups):
    """Finds memories. It says what the rows said when somebody began to look, whoever wrote them.

    Any number of threads may look while one changes the rows; who looks does not wait for a write.

    :param path: of the cache
    :raises StoreUnavailable: the database does not work
    """

    def __init__(self, database: Database, path: Path) -> None:
        super().__init__(database)
        self._cache = path
        self._unsaved = 0
        with self._lock, database.snapshot():
            self._load(database.edition)

    def wait(self) -> None:
        """Wait until clusters that are being found in the background are in use."""
        self._passages.wait()

    def save(self, *, at_least: int = 0) -> None:
        """Write the cache, if so many memories have changed since, or clusters were found."""
        if self._passages.is_new or self._unsaved > at_least:
            name = secrets.token_hex(8)
            with self._looking():
                arrays = {'edition': np.array(self._edition), **self._columns.dump(), **self._words.dump()}
                arrays |= self._passages.dump()
                self._unsaved = 0
            if cache.save(self._cache, name, arrays):
                try:
                    self._database.set_cached(name)
                except StoreUnavailable as error:  # such as locked; what was changed is durable all the same
                    logger.warning('the next start takes longer: %s', error)

    def keep(self) -> None:
        """Write the cache if the next start would take long without."""
        self.save(at_least=max(SAVED_EACH, self.count() // SAVED_SHARE))

    def _load(self, edition: int) -> None:
        """Take in the rows, most of them from the cache; within a snapshot."""
        self._start()
        saved = cache.load(self._cache, self._database.cached, NEEDED)
        known_edition, slots = 0, dict[int, int]()
        if saved:
            known_edition = int(saved['edition'])
            self._columns = Columns(saved)
            slots = {number: slot for slot, number in enumerate(self._columns.column('number').tolist())}
            self._memories = [None] * len(slots)
            ids = self._columns.column('id').tolist()
            self._slots = {memory_id.decode(): slot for slot, memory_id in enumerate(ids)}
            self._words.load(saved)
        newer = []
        for row in self._database.all():
            if row.number in slots and row.edition <= known_edition:
                self._memories[slots[row.number]] = row.record
            else:
                newer.append(row)
        self._take(newer)
        self._remove([number for number, slot in slots.items() if self._memories[slot] is None])
        self._passages.load(saved)
        self._edition = edition
        self._unsaved = len(newer)

    def _follow(self, edition: int) -> None:
        known, self._edition = self._edition, 0  # whatever fails on the way, all is read anew
        if not 0 < known <= edition <= known + KEPT:
            self._load(edition)
            return
        gone, written = self._database.since(known)
        self._remove(gone)
        new = self._take(written)
        if new:
            self._passages.add(np.array(new, np.int64))
        self._edition = edition
        self._unsaved += len(gone) + len(written)

    def _take(self, rows: Sequence[Row]) -> list[int]:
        """Take in rows; return the numbers of those that are new."""
        self._outdate()
        new = []
        slots = self._columns.slots_of(np.array([row.number for row in rows], np.int64)).tolist()
        for row, slot in zip(rows, slots, strict=True):
            memory = memory_of(row.record)
            if slot >= 0:
                self._columns.replace(slot, memory)
                self._memories[slot] = row.record
            else:
                self._slots[memory.id] = self._columns.add(memory, row.number, row.paragraphs)
                self._words.add(self._slots[memory.id], searchable(memory))
                self._memories.append(row.record)
                new.append(row.number)
        return new

    def _remove(self, numbers: Sequence[int]) -> None:
        """Forget memories; those that are not there are passed over."""
        self._outdate()
        self._passages.remove(np.array(numbers, np.int64))
        for slot in self._columns.slots_of(np.array(numbers, np.int64)).tolist():
            if slot < 0 or not self._columns.column('live')[slot]:
                continue
            memory_id = self._columns.column('id')[slot].decode()
            if self._slots.get(memory_id) == slot:
                del self._slots[memory_id]
            self._memories[slot] = None
            self._columns.remove(slot)
            self._words.remove(slot)

    def _outdate(self) -> None:
        """Forget what was worked out of memories that change now."""
        self._asked = self._scoped = None
        self._surveys.clear()
