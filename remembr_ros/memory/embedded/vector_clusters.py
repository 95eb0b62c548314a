"""Nearly exact search in very many vectors: inverted lists, 8-bit numbers (FAISS IVF-SQ8).

Chosen by measurement: docs/memory.md. They are saved as a whole; what came since is taken in again from its
vectors.
"""

import logging
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.embedded.row_runs import Floats, Mask, Rows

logger = logging.getLogger(__name__)

SAMPLES_PER_LIST = 40  # vectors that a cluster's centre is found from
PROBED = 8  # fewest lists that a search reads, those with the nearest centres
SCANNED = 4_000  # vectors that these lists should hold at least
# Numbers of unit vectors lie within so many standard deviations, nearly always: 8 bits span these.
SPREAD = 4.0
CHUNK = 8_192  # vectors added at once
# Returns the vectors of rows, shape (len(rows), dimension); rows are ascending.
Read = Callable[[Rows], Floats]


class Found(NamedTuple):
    """What a search has found.

    :param rows: best first
    :param cosines: of their vectors and the query
    :param is_all: there are no more
    """

    rows: Rows
    cosines: Floats
    is_all: bool


class VectorClusters:
    """Finds row numbers by the inner product of their vectors with a query.

    :param index: faiss.IndexIVFScalarQuantizer
    :param trained_on: how many rows there were when the centres were found
    """

    def __init__(self, index: Any, trained_on: int) -> None:
        self._index = index
        self.trained_on = trained_on

    @classmethod
    def build(cls, rows: Rows, read: Read) -> 'VectorClusters':
        """Cluster the vectors of rows (ascending)."""
        made = cls(_trained(rows, read), len(rows))
        made.add(rows, read)
        return made

    @classmethod
    def load(cls, saved: Mapping[str, NDArray[Any]], rows: Rows, read: Read) -> 'VectorClusters | None':
        """Return the clusters that :meth:`dump` gave, with these rows in them; None: there are none of use.

        :param rows: those to be found, ascending
        """
        import faiss

        try:
            index = faiss.deserialize_index(saved['clusters'])
            if index.d != read(rows[:0]).shape[1]:
                raise ValueError('they are of other vectors')
        except (KeyError, RuntimeError, MemoryError, ValueError) as error:
            if 'clusters' in saved:
                logger.warning('the clusters cannot be read and are found anew: %s', error)
            return None
        clusters, known = cls(index, int(saved['trained_on'])), _rows(index)
        missing = np.setdiff1d(rows, known)
        if len(missing) > len(known):
            return None  # to find them anew takes little longer, and holds up nobody
        clusters.remove(np.setdiff1d(known, rows))
        clusters.add(missing, read)
        return clusters

    def dump(self) -> dict[str, NDArray[Any]]:
        """Return what is saved of them."""
        import faiss

        return {'clusters': faiss.serialize_index(self._index), 'trained_on': np.array(self.trained_on)}

    def add(self, rows: Rows, read: Read) -> None:
        """Take in rows (ascending)."""
        for start in range(0, len(rows), CHUNK):
            chosen = rows[start : start + CHUNK]
            self._index.add_with_ids(read(chosen), np.ascontiguousarray(chosen, np.int64))

    def remove(self, rows: Rows) -> None:
        """Take out rows; those that are not there are passed over."""
        if len(rows):
            self._index.remove_ids(np.ascontiguousarray(rows, np.int64))

    def nearest(self, query: Floats, limit: int, among: Mask | None = None, effort: int = 1) -> Found:
        """Return the rows whose 8-bit vectors fit best.

        :param query: shape (dimension,)
        :param among: which rows are admitted, shape (rows,): exactly if they are few; None: all of them
        :param effort: so many times more lists are read than usually
        """
        import faiss

        index = self._index
        if not index.ntotal:
            return Found(np.empty(0, np.int64), np.empty(0, np.float32), True)
        probed, selector = math.ceil(effort * max(PROBED, SCANNED * index.nlist / index.ntotal)), None
        if among is not None:
            bitmap = np.packbits(among, bitorder='little')
            share = max(int(np.count_nonzero(among)), 1) / int(index.ntotal)
            # What is admitted may lie in any list. All are read where that costs little.
            probed = int(index.nlist) if share < 0.05 else int(probed / share)
            selector = faiss.IDSelectorBitmap(bitmap)  # type: ignore[arg-type,call-arg]  # the stub is of C++
        parameters = faiss.SearchParametersIVF(  # type: ignore[call-arg]
            sel=selector, nprobe=min(probed, int(index.nlist))
        )
        products, found = index.search(query[None], min(limit, int(index.ntotal)), params=parameters)
        valid = found[0] >= 0
        is_all = bool(np.count_nonzero(valid) < limit and probed >= index.nlist)
        return Found(found[0][valid], products[0][valid], is_all)


def _rows(index: Any) -> Rows:
    """Return the rows that an index has, ascending."""
    import faiss

    lists = index.invlists
    parts = [np.empty(0, np.int64)]
    parts += [faiss.rev_swig_ptr(lists.get_ids(i), lists.list_size(i)).copy() for i in range(index.nlist)]
    return np.sort(np.concatenate(parts))


def _trained(rows: Rows, read: Read) -> Any:
    """Return an empty faiss.IndexIVFScalarQuantizer with the centres of rows."""
    import faiss

    lists = max(1, min(len(rows) // 4, int(2 * len(rows) ** 0.5)))
    chosen = np.random.default_rng(0).choice(rows, min(len(rows), SAMPLES_PER_LIST * lists), replace=False)
    samples = read(np.sort(chosen))
    dimension = samples.shape[1]
    centres, kind = faiss.IndexFlatIP(dimension), faiss.ScalarQuantizer.QT_8bit
    index = faiss.IndexIVFScalarQuantizer(centres, dimension, lists, kind, faiss.METRIC_INNER_PRODUCT, False)
    index.cp.niter = 8
    index.cp.min_points_per_centroid = 1
    index.cp.max_points_per_centroid = SAMPLES_PER_LIST
    index.train(samples)
    # A robot that has stood still so far knows little of how far numbers may lie apart.
    low, width = np.split(faiss.vector_to_array(index.sq.trained), 2)
    high = np.maximum(low + width, SPREAD / dimension**0.5)
    low = np.minimum(low, -SPREAD / dimension**0.5)
    faiss.copy_array_to_vector(np.concatenate([low, high - low]), index.sq.trained)
    return index
