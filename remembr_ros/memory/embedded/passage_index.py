"""Similarity search over vectors: paragraphs are searched, sentences are compared."""

import logging
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.embedded.row_runs import Floats, Mask, Rows, Runs, SlotTable
from remembr_ros.memory.embedded.vector_clusters import Read, VectorClusters

logger = logging.getLogger(__name__)

FEW = 2_048  # up to so many vectors every one is read and compared, which takes 4 ms for 1024 numbers each
# Numbers: a scope with vectors of no more, half an hour of 1024 each, is searched by reading all: 4 ms.
READ_AT_ONCE = 1 << 22
GROWTH = 4  # clusters are found anew when there are so many times more vectors
# Least number of paragraphs that a search over 8-bit vectors asks for; half a dozen may be of one memory.
FOUND = 500
Best = list[tuple[int, float]]  # slots, each with the best of its cosines, best first
RESCORED = 64  # the best of them, so many, are compared by their full vectors; the others are right to 0.001


class PassageIndex:
    """Finds memories, named by their slots, by their best paragraphs. Safe to share between threads.

    :param read: returns vectors
    :param lock: is held while this works, also by read
    """

    def __init__(self, read: Read, lock: threading.RLock) -> None:
        self._read = read
        self._lock = lock
        self._runs = Runs()
        self._clusters: VectorClusters | None = None
        self._building: threading.Thread | None = None
        self._closed = False
        self.is_new = False
        """Whether clusters were found since they were dumped."""

    def load(self, slots: SlotTable, saved: Mapping[str, NDArray[Any]]) -> None:
        """Take in memories, with the clusters of some of them.

        :param saved: from :meth:`dump`, or nothing
        """
        with self._lock:
            self._runs.attach(slots, np.flatnonzero(slots['live']))
            if self._runs.count > FEW:
                self._clusters = VectorClusters.load(saved, self._runs.live, self._read)
                self._keep_up()

    def dump(self) -> dict[str, NDArray[Any]]:
        """Return what is found by, without what was removed."""
        with self._lock:
            self.is_new = False
            return {} if self._clusters is None else self._clusters.dump()

    def add(self, slots: SlotTable, new: Sequence[int]) -> None:
        """Take in memories.

        :param new: their slots
        """
        with self._lock:
            self._runs.attach(slots, np.asarray(new, np.int64))
            if self._clusters is not None:
                self._clusters.add(self._runs.paragraphs_of(np.asarray(new, np.int64)), self._read)
            self._keep_up()

    def remove(self, slot: int) -> None:
        """Forget the vectors of a memory; a slot without any is passed over."""
        with self._lock:
            rows = self._runs.detach(slot)
            if self._clusters is not None:
                self._clusters.remove(rows)

    def nearest(self, query: Floats, limit: int, mask: Mask | None = None) -> Best:
        """Return the slots with the best paragraphs, with the cosines of these, best first; ties by slot.

        :param limit: so many at least, if there are; those that come next are returned where they are known
        :param mask: which slots are admitted, shape (slots,); None: all
        """
        with self._lock:
            rows = None if mask is None else self._runs.paragraphs_of(np.flatnonzero(mask))
            if self._clusters is None or (rows is not None and rows.size * len(query) <= READ_AT_ONCE):
                rows = self._runs.live if rows is None else rows
                return self._grouped(rows, self._products(rows, query))
            among = None
            if rows is not None:
                among = np.zeros(self._runs.end, np.bool_)
                among[rows] = True
            wanted, effort = max(FOUND, 2 * limit), 1
            while True:
                rows, cosines, is_all = self._clusters.nearest(query, wanted, among, effort)
                best = np.argsort(rows[:RESCORED])
                cosines[best] = self._products(rows[best], query)
                found = self._grouped(rows, cosines)
                if is_all or len(found) >= limit:
                    return found
                # One memory's paragraphs may fill the lists around the query; the others are farther away.
                wanted, effort = 4 * wanted, 4 * effort

    def likeness(self, queries: Floats, slots: Sequence[int]) -> dict[int, Floats]:
        """Return the cosine of each passage to each query per slot: shape (passages, queries); without those
        that have none.
        """
        with self._lock:
            chosen, counts = self._runs.in_order(np.unique(np.asarray(slots, np.int64)))
            vectors = self._read(self._runs.rows_of(chosen))
            scores = np.stack([_cosines(vectors, query) for query in queries], axis=1)
            ends = np.cumsum(counts)
            return dict(zip(chosen.tolist(), np.split(scores, ends[:-1]), strict=True)) if len(chosen) else {}

    def vectors(self, slot: int) -> Floats:
        """Return the vectors of a memory: shape (passages, dimension)."""
        with self._lock:
            return self._read(self._runs.rows_of(np.asarray([slot], np.int64)))

    def wait(self) -> None:
        """Wait until clusters that are being found anew are in use."""
        building = self._building
        if building is not None:
            building.join()

    def close(self) -> None:
        """Find no clusters any more."""
        with self._lock:
            self._closed = True
        self.wait()

    def _products(self, rows: Rows, query: Floats) -> Floats:
        """Return the cosines of the full vectors of rows (ascending)."""
        return _cosines(self._read(rows), query)

    def _grouped(self, rows: Rows, cosines: Floats) -> Best:
        """Return the best cosine per slot among rows, best first."""
        owners = self._runs.owner[rows]
        order = np.lexsort((owners, -cosines))
        order = order[owners[order] >= 0]
        _, firsts = np.unique(owners[order], return_index=True)
        best = order[np.sort(firsts)]
        return list(zip(owners[best].tolist(), cosines[best].tolist(), strict=True))

    def _keep_up(self) -> None:
        """Find clusters when there are many vectors, and again when there are many more."""
        if self._closed or (self._building is not None and self._building.is_alive()):
            return
        count, clusters = self._runs.count, self._clusters
        if count > FEW if clusters is None else count >= GROWTH * max(clusters.trained_on, FEW):
            logger.info('building the index over %d paragraphs', count)
            self._building = threading.Thread(target=self._rebuild, name='passage-index', daemon=True)
            self._building.start()

    def _rebuild(self) -> None:
        """Find clusters anew, off to the side: it takes 20 s for 700,000 vectors of 1024 numbers."""
        with self._lock:
            taken = self._runs.live
        if not len(taken):  # all of them were forgotten meanwhile
            return
        try:
            clusters = VectorClusters.build(taken, self._read)
        except (MemoryError, RuntimeError, StoreUnavailable) as error:
            logger.error('the index of the memory stays as it is, searches get slower: %s', error)
            return
        with self._lock:
            live = self._runs.live
            clusters.remove(np.setdiff1d(taken, live))
            clusters.add(np.setdiff1d(live, taken), self._read)
            self._clusters, self.is_new = clusters, True


def _cosines(vectors: Floats, query: Floats) -> Floats:
    """Return the products of vectors, shape (vectors, dimension), and one vector."""
    # Not BLAS: where other processes have the cores, its threads wait for each other, 10 ms and more.
    products: Floats = np.einsum('ij,j->i', vectors, np.asarray(query, np.float32))
    return products
