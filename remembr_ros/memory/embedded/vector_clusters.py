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

logger = logging.getLogger(__name__)

Floats = NDArray[np.float32]
Numbers = NDArray[np.int64]

SAMPLES_PER_LIST = 40  # vectors that a cluster's centre is found from
PROBED = 8  # fewest lists that a search reads, those with the nearest centres
SCANNED = 4_000  # vectors that these lists should hold at least
# Numbers of unit vectors lie within so many standard deviations, nearly always: 8 bits span these.
SPREAD = 4.0
ADMITTED = 8_192  # paragraphs in a scope: up to so many all of them are compared
CHUNK = 2_048  # memories added at once
# Returns the paragraphs of memories (ascending), shape (paragraphs, dimension), and the number each is of.
Read = Callable[[Numbers], tuple[Floats, Numbers]]


class Found(NamedTuple):
    """What a search has found.

    :param numbers: of the memories, one for each of their paragraphs, best first
    :param cosines: of these and the query
    :param is_all: there are no more
    """

    numbers: Numbers
    cosines: Floats
    is_all: bool


class VectorClusters:
    """Finds the numbers of memories by the inner products of their paragraphs with a query.

    :param index: faiss.IndexIVFScalarQuantizer
    :param trained_on: how many paragraphs there were when the centres were found
    """

    def __init__(self, index: Any, trained_on: int) -> None:
        self._index = index
        self.trained_on = trained_on

    @classmethod
    def build(cls, numbers: Numbers, paragraphs: int, read: Read) -> 'VectorClusters':
        """Cluster the paragraphs of memories.

        :param numbers: ascending
        :param paragraphs: how many they have
        """
        made = cls(_trained(numbers, paragraphs, read), paragraphs)
        made.add(numbers, read)
        return made

    @classmethod
    def load(cls, saved: Mapping[str, NDArray[Any]], numbers: Numbers, read: Read) -> 'VectorClusters | None':
        """Return the clusters that :meth:`dump` gave, with these memories in them; None: none is of use.

        :param numbers: ascending
        """
        import faiss

        if not {'clusters', 'trained_on'} <= saved.keys():
            return None
        try:
            index = faiss.deserialize_index(saved['clusters'])
            if index.d != read(numbers[:0])[0].shape[1]:
                raise ValueError('they are of other vectors')
        except (RuntimeError, MemoryError, ValueError) as error:
            logger.warning('the clusters cannot be read and are found anew: %s', error)
            return None
        clusters = cls(index, int(saved['trained_on']))
        known = clusters.numbers()
        missing = np.setdiff1d(numbers, known, assume_unique=True)
        if len(missing) > len(known):
            return None  # to find them anew takes little longer, and holds up nobody
        clusters.remove(np.setdiff1d(known, numbers, assume_unique=True))
        clusters.add(missing, read)
        return clusters

    def dump(self) -> dict[str, NDArray[Any]]:
        """Return what is saved of them."""
        import faiss

        return {'clusters': faiss.serialize_index(self._index), 'trained_on': np.array(self.trained_on)}

    def numbers(self) -> Numbers:
        """Return the memories that there are, ascending."""
        import faiss

        lists = self._index.invlists
        parts = [np.empty(0, np.int64)]
        for i in range(self._index.nlist):
            parts.append(faiss.rev_swig_ptr(lists.get_ids(i), lists.list_size(i)).copy())
        return np.unique(np.concatenate(parts))

    def add(self, numbers: Numbers, read: Read) -> None:
        """Take in memories (ascending)."""
        for start in range(0, len(numbers), CHUNK):
            vectors, owners = read(numbers[start : start + CHUNK])
            self._index.add_with_ids(vectors, owners)

    def remove(self, numbers: Numbers) -> None:
        """Take out memories; those that are not there are passed over."""
        if len(numbers):
            self._index.remove_ids(np.ascontiguousarray(numbers, np.int64))

    def nearest(
        self, query: Floats, limit: int, admitted: NDArray[np.bool_] | None, paragraphs: int, effort: int = 1
    ) -> Found:
        """Return the memories whose 8-bit vectors fit best.

        :param query: shape (dimension,)
        :param admitted: which memories are, shape (largest number + 1,): exactly if they are few; None: all
        :param paragraphs: that these have
        :param effort: so many times more lists are read than usually
        """
        import faiss

        index = self._index
        if not index.ntotal:
            return Found(np.empty(0, np.int64), np.empty(0, np.float32), True)
        probed, selector = math.ceil(effort * max(PROBED, SCANNED * index.nlist / index.ntotal)), None
        if admitted is not None:
            bitmap = np.packbits(admitted, bitorder='little')
            share = max(paragraphs, 1) / int(index.ntotal)
            # What is admitted may lie in any list. All are read where that costs little.
            all_lists = share < 0.05 or paragraphs <= ADMITTED
            probed = int(index.nlist) if all_lists else int(probed / share)
            selector = faiss.IDSelectorBitmap(bitmap)  # type: ignore[arg-type,call-arg]  # the stub is of C++
        parameters = faiss.SearchParametersIVF(  # type: ignore[call-arg]
            sel=selector, nprobe=min(probed, int(index.nlist))
        )
        products, found = index.search(query[None], min(limit, int(index.ntotal)), params=parameters)
        valid = found[0] >= 0
        is_all = bool(np.count_nonzero(valid) < limit and probed >= index.nlist)
        return Found(found[0][valid], products[0][valid], is_all)


def _trained(numbers: Numbers, paragraphs: int, read: Read) -> Any:
    """Return an empty faiss.IndexIVFScalarQuantizer with the centres of the paragraphs of memories."""
    import faiss

    lists = max(1, min(paragraphs // 4, int(2 * paragraphs**0.5)))
    wanted = math.ceil(SAMPLES_PER_LIST * lists * len(numbers) / paragraphs)
    chosen = np.random.default_rng(0).choice(numbers, min(len(numbers), wanted), replace=False)
    samples, _ = read(np.sort(chosen))
    lists = min(lists, max(len(samples), 1))
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
