"""The floor of a map parted at its doors, by a flood from the middles of rooms down to narrow passages."""

import math
from itertools import pairwise

import cv2
import numpy as np
from numpy.typing import NDArray

NARROWEST_M = 0.5  # of a passage: no robot goes through a narrower one
WIDEST_M = 2.5  # of an opening between two rooms; a wider one joins them
WIDENS = 1.12  # A room is wider than its doors by this factor at least,
DEPTH_M = 0.5  # and they are no deeper than a thick wall; a deeper passage is furniture, or a corridor.
LEVEL = 1.08  # between two widths of passages that are told apart

Labels = NDArray[np.int32]
"""Of each cell, the number of its room, from 1 on; 0: of none. No cell at the margin has one."""
Cells = NDArray[np.int64]
"""Where cells are in a grid, row by row."""
Passages = dict[tuple[int, int], float]
"""Between which two rooms, the lower number first, there is a passage, and its width [m]."""


def flooded(away: NDArray[np.float32], cell_m: float) -> tuple[Labels, Passages]:
    """Return the rooms but for what is near to their walls, and the passages between them.

    :param away: how far each cell is from the nearest wall [m]; the margin has 0
    """
    steps = math.ceil(math.log(WIDEST_M / NARROWEST_M, LEVEL))
    levels = [NARROWEST_M / 2 * LEVEL**step for step in range(steps, -1, -1)]
    flood = _Flood(away, cell_m, levels[0])
    for before, level in pairwise(levels):
        flood.sink(before, level)
    return flood.into[flood.labels], {pair: 2.0 * level for pair, level in flood.apart.items()}


class _Flood:
    """What is flooded so far.

    :ivar labels: as they were first given
    :ivar into: which label each has become
    :ivar apart: pairs of labels that have met in a passage, and at which level
    """

    def __init__(self, away: NDArray[np.float32], cell_m: float, level: float) -> None:
        number, parts = cv2.connectedComponents((away > level).astype(np.uint8), connectivity=4)
        self.labels: Labels = np.asarray(parts, np.int32)
        self.into = np.arange(number, dtype=np.int32)
        self.apart: Passages = {}
        self._away, self._cell_m = away, cell_m
        self._widest = np.zeros(number, np.float32)  # of each label [m]
        np.maximum.at(self._widest, self.labels.ravel(), away.ravel())
        self._cell = np.zeros(number, np.int64)  # any of each label
        starts = np.flatnonzero(np.diff(self.labels.ravel())) + 1
        self._cell[self.labels.ravel()[starts]] = starts

    def sink(self, before: float, level: float) -> None:
        """Flood what is at least this far from the walls [m].

        :param before: what has been flooded [m]
        """
        labels, away, old = self.labels.ravel(), self._away.ravel(), len(self.into)
        cells = np.flatnonzero((away > level) & (away <= before))
        number, grid = cv2.connectedComponents((self._away > level).astype(np.uint8), connectivity=4)
        parts = grid.ravel()
        known = np.flatnonzero(self.into == np.arange(old))[1:]
        count = np.bincount(parts[self._cell[known]], minlength=number)
        fresh = np.flatnonzero(count[1:] == 0) + 1
        label_of = np.zeros(number, np.int32)
        label_of[parts[self._cell[known]]] = known
        label_of[count > 1] = 0
        label_of[fresh] = np.arange(old, old + len(fresh))
        labels[cells] = label_of[parts[cells]]
        self.into = np.concatenate([self.into, label_of[fresh]])
        self._widest = np.concatenate([self._widest, np.zeros(len(fresh), np.float32)])
        self._cell = np.concatenate([self._cell, np.zeros(len(fresh), np.int64)])
        born = cells[labels[cells] >= old]
        np.maximum.at(self._widest, labels[born], away[born])
        self._cell[labels[born]] = born
        shared = cells[labels[cells] == 0]
        spread(self.labels, shared)
        # A ripple of a passage's own width goes first, that it does not hide the room behind.
        self._merge(level, shared, ripples=True)
        self._merge(level, shared, ripples=False)

    def _merge(self, level: float, cells: Cells, ripples: bool) -> None:
        """Merge the labels that meet in these cells, unless these are in a passage between two rooms."""
        into = self.into
        wide = np.float32(WIDENS * level)
        reach = math.ceil((level * math.sqrt(WIDENS**2 - 1.0) + DEPTH_M / 2) / self._cell_m) + 1
        then = into.copy()

        def widens(label: int, row: int, column: int) -> bool:
            near = np.s_[max(row - reach, 0) : row + reach + 1, max(column - reach, 0) : column + reach + 1]
            return bool((then[self.labels[near][self._away[near] > wide]] == label).any())

        for a, b, cell in contacts(self.labels, cells, then):
            pair = sorted((root(into, a), root(into, b)), key=lambda label: (self._widest[label], label))
            narrow, other = pair
            key = (min(pair), max(pair))
            if narrow == other or key in self.apart or (ripples and self._widest[narrow] > wide):
                continue
            place = divmod(cell, self.labels.shape[1])
            if not ripples and widens(a, *place) and widens(b, *place):
                self.apart[key] = level
            else:
                into[narrow] = other
        self.into = roots(into)
        apart: Passages = {}
        for (a, b), width in self.apart.items():
            one, other = sorted((int(self.into[a]), int(self.into[b])))
            if one != other:
                apart[one, other] = max(width, apart.get((one, other), 0.0))
        self.apart = apart


def root(into: NDArray[np.int32], label: int) -> int:
    """Return what a label has become."""
    while into[label] != label:
        label = int(into[label])
    return label


def roots(into: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return what each label has become."""
    while (into != into[into]).any():
        into = into[into]
    return into


def contacts(labels: Labels, cells: Cells, into: NDArray[np.int32]) -> list[tuple[int, int, int]]:
    """Return which two labels meet at some of the cells, and the middle one of these; the longest first.

    :param into: which label each has become
    """
    flat, size = labels.ravel(), len(into)
    here = into[flat[cells]].astype(np.int64)
    keys, places = [], []
    for step in (-1, 1, -labels.shape[1], labels.shape[1]):
        there = into[flat[cells + step]]
        meet = np.flatnonzero((here != there) & (here > 0) & (there > 0))
        keys.append(np.minimum(here[meet], there[meet]) * size + np.maximum(here[meet], there[meet]))
        places.append(cells[meet])
    key, place = np.concatenate(keys), np.concatenate(places)
    order = np.lexsort((place, key))
    pairs, first, counts = np.unique(key[order], return_index=True, return_counts=True)
    middle = place[order[first + counts // 2]]
    longest = np.argsort(-counts, kind='stable')
    return [(int(pairs[i] // size), int(pairs[i] % size), int(middle[i])) for i in longest]


def spread(labels: Labels, cells: Cells, steps: int = 2**31) -> None:
    """Spread labels over those of the cells that have none, as far as they are connected."""
    flat, width = labels.ravel(), labels.shape[1]
    for _ in range(steps):
        best = np.zeros(len(cells), np.int32)
        for step in (row + column for row in (-width, 0, width) for column in (-1, 0, 1)):
            np.maximum(best, flat[cells + step], out=best)
        if not best.any():
            return
        flat[cells[best > 0]] = best[best > 0]
        cells = cells[best == 0]
