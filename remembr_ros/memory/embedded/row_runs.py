"""Whose vectors the rows of a file are: each memory's lie side by side, in a run."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Mask = NDArray[np.bool_]
Rows = NDArray[np.int64]
Slots = NDArray[np.int64]


class RowRun(NamedTuple):
    """The rows of one memory.

    :param first: number of its first row
    :param size: how many rows it has
    """

    first: int
    size: int


class Runs:
    """The runs of slots; a slot is the number of a memory."""

    def __init__(self) -> None:
        self._end = 0
        self._owner = np.full(1024, -1, np.int32)  # of each row
        self._is_paragraph = np.zeros(1024, np.bool_)  # of each row
        self._first = np.full(1024, -1, np.int64)  # of each slot, like those below
        self._count = np.zeros(1024, np.int64)

    @property
    def owner(self) -> NDArray[np.int32]:
        """The slot of each row, -1: none any more."""
        return self._owner[: self._end]

    @property
    def is_paragraph(self) -> Mask:
        """Whether each row says all of one thing."""
        return self._is_paragraph[: self._end]

    @property
    def live(self) -> Rows:
        """The rows that belong to a slot, ascending."""
        return np.flatnonzero(self.owner >= 0)

    def attach(self, slots: Slots, firsts: Rows, sizes: Rows, paragraphs: Rows) -> None:
        """Give slots their runs.

        :param paragraphs: how many of each run's rows are paragraphs, the first ones
        """
        if not len(slots):
            return
        self._grow(int(slots.max()) + 1, int((firsts + sizes).max()))
        self._first[slots], self._count[slots] = firsts, sizes
        within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        rows = np.repeat(firsts, sizes) + within
        self._owner[rows] = np.repeat(slots, sizes)
        self._is_paragraph[rows] = within < np.repeat(paragraphs, sizes)

    def detach(self, slot: int) -> RowRun | None:
        """Take a slot's run from it and return it; None: it has none."""
        if slot >= len(self._first) or self._first[slot] < 0:
            return None
        run = RowRun(int(self._first[slot]), int(self._count[slot]))
        self._owner[run.first : run.first + run.size] = -1
        self._first[slot] = -1
        return run

    def in_order(self, slots: Slots) -> tuple[Slots, NDArray[np.int64]]:
        """Return those of the slots that have runs, in the order of their rows, and how many each has."""
        slots = slots[slots < len(self._first)]
        slots = slots[self._first[slots] >= 0]
        slots = slots[np.argsort(self._first[slots])]
        return slots, self._count[slots]

    def rows_of(self, slots: Slots) -> Rows:
        """Return the rows of slots, ascending."""
        slots, counts = self.in_order(slots)
        starts: Rows = np.repeat(self._first[slots] - (np.cumsum(counts) - counts), counts)
        rows: Rows = starts + np.arange(len(starts))
        return rows

    def _grow(self, slots: int, end: int) -> None:
        self._end = max(self._end, end)
        if end > len(self._owner):
            more = max(end - len(self._owner), len(self._owner))
            self._owner = np.concatenate([self._owner, np.full(more, -1, np.int32)])
            self._is_paragraph = np.concatenate([self._is_paragraph, np.zeros(more, np.bool_)])
        if slots > len(self._first):
            more = max(slots - len(self._first), len(self._first))
            self._first = np.concatenate([self._first, np.full(more, -1, np.int64)])
            self._count = np.concatenate([self._count, np.zeros(more, np.int64)])
