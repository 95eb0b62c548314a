"""Which memory each row of vectors belongs to: the rows of a memory are contiguous."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]
Slots = NDArray[np.int64]
SlotTable = NDArray[np.void]  # of slots, see scalar_index
Floats = NDArray[np.float32]


class Runs:
    """The runs of slots; a slot is the number of a memory."""

    def __init__(self) -> None:
        self._end = 0
        self.count = 0
        """How many rows are searched."""
        self._owner = np.full(1024, -1, np.int32)  # of each row
        self._first = np.full(1024, -1, np.int64)  # of each slot, like the next
        self._count = np.zeros(1024, np.int64)

    @property
    def end(self) -> int:
        """The row that comes next."""
        return self._end

    @property
    def owner(self) -> NDArray[np.int32]:
        """The slot of each row that is searched; -1: of sentences, and of what was forgotten."""
        return self._owner[: self._end]

    @property
    def live(self) -> Rows:
        """The rows that are searched, ascending."""
        return np.flatnonzero(self.owner >= 0)

    def attach(self, table: SlotTable, slots: Slots) -> None:
        """Give slots the runs that the table tells of."""
        if not len(slots):
            return
        firsts, sizes, paragraphs = (
            table[name][slots].astype(np.int64) for name in ('first', 'rows', 'paragraphs')
        )
        self._end = max(self._end, int((firsts + sizes).max()))
        self._owner = _grown(self._owner, self._end, -1)
        self._first = _grown(self._first, int(slots.max()) + 1, -1)
        self._count = _grown(self._count, len(self._first), 0)
        self._first[slots], self._count[slots] = firsts, sizes
        # A memory's paragraphs are the first of its rows.
        rows = np.repeat(firsts - (np.cumsum(paragraphs) - paragraphs), paragraphs)
        self._owner[rows + np.arange(len(rows))] = np.repeat(slots, paragraphs)
        self.count += len(rows)

    def detach(self, slot: int) -> Rows:
        """Take a slot's run from it and return its rows, ascending; none if it has none."""
        rows = self.rows_of(np.array([slot]))
        self.count -= int(np.count_nonzero(self._owner[rows] >= 0))
        self._owner[rows] = -1
        self._first[slot : slot + 1] = -1
        return rows

    def in_order(self, slots: Slots) -> tuple[Slots, NDArray[np.int64]]:
        """Return those of the slots that have runs, in the order of their rows, and how many each has."""
        slots = slots[slots < len(self._first)]
        slots = slots[self._first[slots] >= 0]
        slots = slots[np.argsort(self._first[slots])]
        return slots, self._count[slots]

    def paragraphs_of(self, slots: Slots) -> Rows:
        """Return the rows of slots that are searched, ascending."""
        rows = self.rows_of(slots)
        return rows[self._owner[rows] >= 0]

    def rows_of(self, slots: Slots) -> Rows:
        """Return the rows of slots, ascending."""
        slots, counts = self.in_order(slots)
        starts: Rows = np.repeat(self._first[slots] - (np.cumsum(counts) - counts), counts)
        return starts + np.arange(len(starts))


def _grown(column: NDArray[Any], size: int, value: int) -> NDArray[Any]:
    """Return a column of at least that size; it grows to twice its size or more, so seldom."""
    more = max(size - len(column), len(column)) if size > len(column) else 0
    return np.concatenate([column, np.full(more, value, column.dtype)]) if more else column
