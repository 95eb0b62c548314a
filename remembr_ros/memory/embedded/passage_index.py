"""Similarity search over the paragraphs of memories, which are named by their numbers in the database."""

import logging
import threading
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import StoreUnavailable
from remembr_ros.memory.embedded.vector_clusters import Floats, Numbers, Read, VectorClusters

logger = logging.getLogger(__name__)

FEW = 2_048  # up to so many paragraphs all are compared, exactly, and kept: 8 MB of 1024 numbers each
READ_AT_ONCE = 100  # memories: a scope of no more is searched by reading them, in 1 to 2 ms; else by clusters
GROWTH = 4  # clusters are found anew when there are so many times more paragraphs
# Least number of paragraphs that a search over 8-bit vectors asks for; half a dozen may be of one memory.
FOUND = 500
# So many of the best are compared by full vectors; the others are right to 0.001. Who asks for more compares
# them all with the sentences of each, a recall by text: there it would be done twice.
RESCORED = 64
Best = tuple[Numbers, Floats]  # memories, each with the best of its cosines, best first


class PassageIndex:
    """Finds memories by their best paragraphs. Safe to share between threads.

    :param read: returns paragraphs
    :param live: returns the numbers of all memories, and how many paragraphs these have
    :param lock: is held while this works, also by the two
    """

    def __init__(self, read: Read, live: Callable[[], tuple[Numbers, int]], lock: threading.RLock) -> None:
        self._read = read
        self._live = live
        self._lock = lock
        self._clusters: VectorClusters | None = None
        # All paragraphs, and whose they are, while they are few.
        self._kept: tuple[Floats, Numbers] | None = None
        self._building: threading.Thread | None = None
        self._closed = False
        self.is_new = False
        """Whether clusters were found since they were dumped."""

    def load(self, saved: Mapping[str, NDArray[Any]]) -> None:
        """Take in all memories, with the clusters of some of them.

        :param saved: from :meth:`dump`, or nothing
        """
        with self._lock:
            numbers, paragraphs = self._live()
            if paragraphs > FEW:
                self._clusters = VectorClusters.load(saved, numbers, self._read)
            self._keep_up(paragraphs)

    def dump(self) -> dict[str, NDArray[Any]]:
        """Return what is found by, without what was removed."""
        with self._lock:
            self.is_new = False
            return {} if self._clusters is None else self._clusters.dump()

    def add(self, numbers: Numbers) -> None:
        """Take in memories (ascending) that are live by now."""
        with self._lock:
            paragraphs = self._live()[1]
            if self._clusters is not None:
                self._clusters.add(numbers, self._read)
            elif self._kept is not None and paragraphs <= FEW:
                vectors, owners = self._read(numbers)
                self._kept = (
                    np.concatenate([self._kept[0], vectors]),
                    np.concatenate([self._kept[1], owners]),
                )
            else:
                self._kept = None
            self._keep_up(paragraphs)

    def remove(self, numbers: Numbers) -> None:
        """Forget memories; those that are not there are passed over."""
        with self._lock:
            if self._clusters is not None:
                self._clusters.remove(numbers)
            elif self._kept is not None:
                self._kept = _chosen(self._kept, ~np.isin(self._kept[1], numbers))

    def nearest(self, query: Floats, limit: int, among: tuple[Numbers, int] | None = None) -> Best:
        """Return the memories with the best paragraphs and the cosines of these, best first; ties by number.

        :param limit: so many at least, if there are; those that come next are returned where they are known
        :param among: which are admitted (ascending), and how many paragraphs these have; None: all
        """
        with self._lock:
            if self._clusters is None:
                found = self._everything()
                if among is not None:
                    found = _chosen(found, np.isin(found[1], among[0]))
                return _grouped(found[1], cosines(found[0], query))
            if among and len(among[0]) <= READ_AT_ONCE:
                return self._compared(among[0], query)
            admitted, paragraphs = None, 0
            if among is not None:
                numbers, paragraphs = among
                admitted = np.zeros(int(numbers.max(initial=0)) + 1, np.bool_)
                admitted[numbers] = True
            wanted, effort = max(FOUND, 2 * limit), 1
            while True:
                rough = self._clusters.nearest(query, wanted, admitted, paragraphs, effort)
                best, scores = _grouped(rough.numbers, rough.cosines)
                if rough.is_all or len(best) >= limit:
                    break
                # One memory's paragraphs may fill the lists around the query; the others are farther away.
                wanted, effort = 4 * wanted, 4 * effort
            if limit > RESCORED:
                return best, scores
            exact, exactly = self._compared(np.sort(best[:RESCORED]), query)
            best = np.concatenate([exact, best[RESCORED:]])
            scores = np.concatenate([exactly, scores[RESCORED:]])
            order = np.lexsort((best, -scores))
            return best[order], scores[order]

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

    def _everything(self) -> tuple[Floats, Numbers]:
        """Return all paragraphs and whose they are; kept while they are few."""
        numbers, paragraphs = self._live()
        found = self._kept or self._read(numbers)
        self._kept = found if paragraphs <= FEW else None
        return found

    def _compared(self, numbers: Numbers, query: Floats) -> Best:
        """Return memories by the cosines of their full vectors."""
        vectors, owners = self._read(numbers)
        return _grouped(owners, cosines(vectors, query))

    def _keep_up(self, paragraphs: int) -> None:
        """Find clusters when there are many vectors, and again when there are many more."""
        if self._closed or (self._building is not None and self._building.is_alive()):
            return
        known = self._clusters
        if paragraphs > FEW if known is None else paragraphs >= GROWTH * max(known.trained_on, FEW):
            logger.info('building the index over %d paragraphs', paragraphs)
            self._building = threading.Thread(target=self._rebuild, name='passage-index', daemon=True)
            self._building.start()

    def _rebuild(self) -> None:
        """Find clusters anew, off to the side: it takes 20 s for 700,000 vectors of 1024 numbers."""
        try:
            with self._lock:
                taken, paragraphs = self._live()
            if not paragraphs:  # all of them were forgotten meanwhile
                return
            clusters = VectorClusters.build(taken, paragraphs, self._read)
            with self._lock:
                live, _ = self._live()
                clusters.remove(np.setdiff1d(taken, live, assume_unique=True))
                clusters.add(np.setdiff1d(live, taken, assume_unique=True), self._read)
                self._clusters, self._kept, self.is_new = clusters, None, True
        except (MemoryError, RuntimeError, StoreUnavailable) as error:
            logger.error('the index of the memory stays as it is, searches get slower: %s', error)


def _chosen(found: tuple[Floats, Numbers], mask: NDArray[np.bool_]) -> tuple[Floats, Numbers]:
    return found[0][mask], found[1][mask]


def cosines(vectors: Floats, query: Floats) -> Floats:
    """Return the products of vectors, shape (vectors, dimension), and one vector."""
    # Not BLAS: where other processes have the cores, its threads wait for each other, 10 ms and more.
    products: Floats = np.einsum('ij,j->i', vectors, np.asarray(query, np.float32))
    return products


def _grouped(numbers: Numbers, products: Floats) -> Best:
    """Return the best cosine per number, best first; ties by number."""
    order = np.lexsort((numbers, -products))
    _, firsts = np.unique(numbers[order], return_index=True)
    best = order[np.sort(firsts)]
    return numbers[best], products[best]
