"""The passages of all memories by the likeness of their vectors."""

import logging
import threading
from collections.abc import Sequence

import numpy as np

from remembr_ros.memory.embedded.index_files import IndexFiles
from remembr_ros.memory.embedded.row_runs import Floats, Mask, Rows, Runs, SlotTable
from remembr_ros.memory.embedded.vector_clusters import VectorClusters, discard

logger = logging.getLogger(__name__)

FEW = 4_096  # up to so many vectors every one is read and compared, which takes 4 ms for 1024 numbers each
# Numbers: a scope with vectors of no more, half an hour of 1024 each, is searched by reading all: 4 ms.
READ_AT_ONCE = 1 << 22
GROWTH = 4  # clusters are found anew when there are so many times more vectors
# Least number of passages that a search over 8-bit vectors asks for; half a dozen may be of one memory.
FOUND = 500
Best = list[tuple[int, float]]  # slots, each with the best of its cosines, best first
RESCORED = 64  # the best of them, so many, are compared by their full vectors; the others are right to 0.001


class PassageIndex:
    """Finds memories, named by their slots, by the best of their passages. Safe to share between threads."""

    def __init__(self, files: IndexFiles) -> None:
        self._files = files
        self._lock = threading.RLock()
        self._runs = Runs()
        self._clusters: VectorClusters | None = None
        self._building: threading.Thread | None = None
        self._closed = False

    def load(self, slots: SlotTable) -> None:
        """Take back what the files hold."""
        with self._lock:
            self._runs.attach(slots, np.flatnonzero(slots['live']))
            runs, rows = self._runs, self._files.rows
            if rows > FEW:
                is_paragraph = np.resize(runs.is_paragraph, rows)
                folder, read = self._files.folder, self._files.read
                self._clusters = VectorClusters.load(folder, runs.live, is_paragraph, read)
                self._keep_up()
            else:
                discard(self._files.folder, None)

    def add(self, slots: SlotTable, new: Sequence[int], vectors: Sequence[Floats]) -> None:
        """Take in the vectors of memories that are in the files.

        :param new: their slots
        :param vectors: shape (passages, dimension) of each
        """
        with self._lock:
            self._runs.attach(slots, np.asarray(new, np.int64))
            if self._clusters is not None:
                rows = np.arange(slots['first'][new[0]], self._files.rows)
                together = np.concatenate([np.asarray(run, np.float32) for run in vectors])
                self._clusters.add(rows, together, self._runs.is_paragraph[rows])
            self._keep_up()

    def remove(self, slot: int) -> None:
        """Forget the vectors of a memory; a slot without any is passed over.

        :raises OSError: they cannot be overwritten
        """
        with self._lock:
            rows = self._runs.detach(slot)
            if self._clusters is not None:
                self._clusters.remove(rows)

    def nearest(self, query: Floats, limit: int, mask: Mask | None = None) -> tuple[Best, Best]:
        """Return the slots with the best passages, and those with the best paragraphs, with their cosines.

        Each best first; ties by slot.

        :param limit: so many at least, if there are; those that come next are returned where they are known
        :param mask: which slots are admitted, shape (slots,); None: all
        """
        with self._lock:
            rows = None if mask is None else self._runs.rows_of(np.flatnonzero(mask))
            if self._clusters is None or (rows is not None and rows.size * len(query) <= READ_AT_ONCE):
                rows = self._runs.live if rows is None else rows
                cosines = self._products(rows, query)
                whole = self._runs.is_paragraph[rows]
                return self._grouped(rows, cosines), self._grouped(rows[whole], cosines[whole])
            among = None
            if rows is not None:
                among = np.zeros(self._files.rows, np.bool_)
                among[rows] = True
            return self._clustered(self._clusters, query, limit, among)

    def likeness(self, queries: Floats, slots: Sequence[int]) -> dict[int, Floats]:
        """Return the cosine of each passage to each query per slot: shape (passages, queries); without those
        that have none.
        """
        with self._lock:
            chosen, counts = self._runs.in_order(np.unique(np.asarray(slots, np.int64)))
            vectors = self._files.read(self._runs.rows_of(chosen))
            scores = np.stack([_cosines(vectors, query) for query in queries], axis=1)
            ends = np.cumsum(counts)
            return dict(zip(chosen.tolist(), np.split(scores, ends[:-1]), strict=True)) if len(chosen) else {}

    def vectors(self, slot: int) -> Floats:
        """Return the vectors of a memory: shape (passages, dimension)."""
        with self._lock:
            return self._files.read(self._runs.rows_of(np.asarray([slot], np.int64)))

    def wait(self) -> None:
        """Wait until clusters that are being found anew are in use."""
        building = self._building
        if building is not None:
            building.join()

    def close(self) -> None:
        """Save what is found, and let go of it."""
        with self._lock:
            self._closed = True
        self.wait()
        with self._lock:
            clusters, self._clusters = self._clusters, None
        if clusters is not None:
            clusters.close()

    def _clustered(
        self, clusters: VectorClusters, query: Floats, limit: int, among: Mask | None
    ) -> tuple[Best, Best]:
        wanted, effort = max(FOUND, 2 * limit), 1
        while True:
            kinds = clusters.nearest(query, wanted, among, effort)
            for rows, cosines, _ in kinds:
                best = np.argsort(rows[:RESCORED])
                cosines[best] = self._products(rows[best], query)
            # Below the last of a kind there may be more of it, that are better than what is of the other.
            cut = [kind.cosines for kind in kinds if not kind.is_all and len(kind.rows)]
            least = max((cosines.min() for cosines in cut), default=-2.0)
            rows, cosines = (np.concatenate([kind[i] for kind in kinds]) for i in (0, 1))
            known = cosines >= least
            part, whole = self._grouped(rows[known], cosines[known]), self._grouped(*kinds[1][:2])
            enough = len(part) >= limit and (len(whole) >= limit or kinds[1].is_all)
            if enough or all(kind.is_all for kind in kinds):
                return part, whole
            # One memory's passages may fill the lists around the query; the others are farther away.
            wanted, effort = 4 * wanted, 4 * effort

    def _products(self, rows: Rows, query: Floats) -> Floats:
        """Return the cosines of the full vectors of rows (ascending)."""
        return _cosines(self._files.read(rows), query)

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
        rows = self._files.rows
        if self._closed or (self._building is not None and self._building.is_alive()):
            return
        clusters = self._clusters
        if rows > FEW if clusters is None else rows >= GROWTH * max(clusters.trained_on, FEW):
            logger.info('building the index over %d passages', rows)
            self._building = threading.Thread(target=self._rebuild, name='passage-index', daemon=True)
            self._building.start()

    def _rebuild(self) -> None:
        """Find clusters anew, off to the side: it takes 20 s for 700,000 vectors of 1024 numbers."""
        with self._lock:
            live, whole = self._runs.live, self._runs.is_paragraph.copy()
        try:
            clusters = VectorClusters.build(self._files.folder, live, whole, self._files.read)
        except (MemoryError, RuntimeError, OSError) as error:
            logger.error('the index of the memory stays as it is, searches get slower: %s', error)
            return
        with self._lock:
            clusters.remove(live[self._runs.owner[live] < 0])
            rows = np.arange(len(whole), len(self._runs.owner))
            clusters.take(rows[self._runs.owner[rows] >= 0], self._runs.is_paragraph, self._files.read)
            old, self._clusters = self._clusters, clusters
        if old is not None:
            old.close()


def _cosines(vectors: Floats, query: Floats) -> Floats:
    """Return the products of vectors, shape (vectors, dimension), and one vector."""
    # Not BLAS: where other processes have the cores, its threads wait for each other, 10 ms and more.
    products: Floats = np.einsum('ij,j->i', vectors, np.asarray(query, np.float32))
    return products
