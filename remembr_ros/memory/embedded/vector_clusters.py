"""Nearly exact search among the vectors of very many passages: inverted lists, 8-bit numbers (FAISS IVF-SQ8).

Chosen by measurement: docs/memory.md.
"""

import errno
import logging
import math
import os
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.embedded.row_runs import Mask, Rows
from remembr_ros.memory.milvus import client as milvus

logger = logging.getLogger(__name__)

PREFIX = 'clusters-'
"""Of the names of saved clusters."""

SAMPLES_PER_LIST = 40
"""Vectors that a cluster's centre is found from."""

PROBED = 16
"""Fewest lists of sentences that a search reads, those with the nearest centres; of paragraphs, half."""

SCANNED = 8_000
"""Sentences that these lists should hold at least; of paragraphs half as many."""

SPREAD = 4.0
"""Numbers of unit vectors lie within so many standard deviations, nearly always: 8 bits span these."""

CHUNK = 8_192
"""Vectors added at once."""


class Found(NamedTuple):
    """What a search has found.

    :param rows: best first
    :param cosines: of their vectors and the query
    :param is_all: there are no more
    """

    rows: Rows
    cosines: NDArray[np.float32]
    is_all: bool


class VectorClusters:
    """Finds row numbers by the inner product of their vectors with a query.

    Vectors of paragraphs and those of sentences lie apart, and so do their clusters: in common ones the best
    paragraphs would be in lists that a search does not reach.

    :param indexes: of sentences and of paragraphs, each a faiss.IndexIVFScalarQuantizer
    :param rows: rows below this one are in them, unless they were removed
    :param trained_on: how many rows there were when the centres were found
    """

    def __init__(self, indexes: tuple[Any, Any], rows: int, trained_on: int) -> None:
        self._indexes = indexes
        self.rows = rows
        self.trained_on = trained_on

    @classmethod
    def build(
        cls, live: Rows, is_paragraph: Mask, read: Callable[[Rows], NDArray[np.float32]]
    ) -> 'VectorClusters':
        """Cluster vectors anew.

        :param live: rows to take in, ascending
        :param is_paragraph: of each row that there is, live or not
        :param read: returns rows, shape (len(rows), dimension); rows are ascending
        """
        kinds = [live[~is_paragraph[live]], live[is_paragraph[live]]]
        # Where there are none of a kind yet, any centres do.
        sentences, paragraphs = (_trained(rows if len(rows) else live, read) for rows in kinds)
        made = cls((sentences, paragraphs), 0, len(live))
        for start in range(0, len(live), CHUNK):
            part = live[start : start + CHUNK]
            made.add(part, read(part), is_paragraph[part])
        made.rows = len(is_paragraph)
        return made

    @classmethod
    def load(
        cls, path: Path, dimension: int, rows: int, trained_on: int, checksum: int
    ) -> 'VectorClusters | None':
        """Return what :meth:`save` wrote; None if it cannot be read, or is not what was written.

        :param dimension: of the vectors
        """
        import faiss

        try:
            if path.is_symlink() or not path.is_file():
                raise ValueError('it is no file')
            if _checksum(path) != checksum:
                raise ValueError('it was damaged')
            if hasattr(faiss, 'set_deserialization_vector_byte_limit'):  # from 1.14 on
                faiss.set_deserialization_vector_byte_limit(path.stat().st_size)
            reader = faiss.FileIOReader(str(path))
            indexes = faiss.read_index(reader), faiss.read_index(reader)
            for index in indexes:
                _check(index, dimension, rows)
        except (RuntimeError, OSError, MemoryError, ValueError) as failure:
            error = failure
        else:
            return cls(indexes, rows, trained_on)
        logger.warning('the index %s cannot be read and is built anew: %s', path, error)
        return None

    def save(self, folder: Path, generation: str) -> Path:
        """Write the clusters to a file, whole or not at all; return it.

        :param generation: becomes part of the name, with what :meth:`load` has to be told
        :raises OSError: the disk is full or not writable
        """
        import faiss

        temporary = folder / f'{PREFIX}{generation}.part'
        try:
            # A disk that is full for a moment is one on which Milvus Lite loses what it acknowledges.
            free = shutil.disk_usage(folder).free
            if free < milvus.RESERVE + self.rows * (self._indexes[0].d + 8):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
            writer = faiss.FileIOWriter(str(temporary))
            for index in self._indexes:
                faiss.write_index(index, writer)
            del writer  # which closes the file
            with temporary.open('rb') as file:
                os.fsync(file.fileno())
            checksum = _checksum(temporary)
            path = folder / f'{PREFIX}{generation}-{self.rows}-{self.trained_on}-{checksum:08x}.faiss'
            os.replace(temporary, path)
        except RuntimeError as error:
            raise OSError(f'cannot write {temporary}: {error}') from error
        finally:
            temporary.unlink(missing_ok=True)
        return path

    def add(self, rows: Rows, vectors: NDArray[np.float32], is_paragraph: Mask) -> None:
        """Take in vectors under their row numbers.

        :param is_paragraph: of each of these rows
        """
        for index, chosen in zip(self._indexes, (~is_paragraph, is_paragraph), strict=True):
            if chosen.any():
                numbers = np.ascontiguousarray(rows[chosen], np.int64)
                index.add_with_ids(np.ascontiguousarray(vectors[chosen]), numbers)
        if len(rows):
            self.rows = int(rows[-1]) + 1

    def remove(self, rows: Rows) -> None:
        """Take out rows."""
        if len(rows):
            for index in self._indexes:
                index.remove_ids(np.ascontiguousarray(rows, np.int64))

    def nearest(
        self, query: NDArray[np.float32], limit: int, among: Mask | None = None, effort: int = 1
    ) -> tuple[Found, Found]:
        """Return the sentences and the paragraphs whose 8-bit vectors fit best.

        :param query: shape (dimension,)
        :param limit: of the sentences, and of the paragraphs
        :param among: which rows are admitted, shape (rows,): exactly if they are few; None: all of them
        :param effort: so many times more lists are read than usually
        """
        sentences, paragraphs = (
            _search(index, query, limit, among, _probed(index, effort / half))
            for index, half in zip(self._indexes, (1, 2), strict=True)
        )
        return sentences, paragraphs


def _trained(rows: Rows, read: Callable[[Rows], NDArray[np.float32]]) -> Any:
    """Return an empty faiss.IndexIVFScalarQuantizer with the centres of rows."""
    import faiss

    lists = max(1, min(len(rows) // 4, int(2 * len(rows) ** 0.5)))
    chosen = np.random.default_rng(0).choice(rows, min(len(rows), SAMPLES_PER_LIST * lists), replace=False)
    samples = read(np.sort(chosen))
    dimension = samples.shape[1]
    index = faiss.IndexIVFScalarQuantizer(
        faiss.IndexFlatIP(dimension),
        dimension,
        lists,
        faiss.ScalarQuantizer.QT_8bit,
        faiss.METRIC_INNER_PRODUCT,
        False,
    )
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


def _check(index: Any, dimension: int, rows: int) -> None:
    """Refuse an index that is not one of :func:`_trained`: it would fail at each search.

    :raises ValueError: it is of another kind or dimension, or has numbers of rows that there are not
    """
    import faiss

    if not isinstance(index, faiss.IndexIVFScalarQuantizer):
        raise ValueError(f'it has an index of another kind, {type(index).__name__}')
    if {index.d, index.sq.d, index.quantizer.d, index.code_size} != {dimension}:
        raise ValueError(f'its vectors have {index.d} numbers, those of the memory {dimension}')
    lists: Any = index.invlists
    as_made = (
        index.metric_type == faiss.METRIC_INNER_PRODUCT
        and index.sq.qtype == faiss.ScalarQuantizer.QT_8bit
        and index.is_trained
        and index.sq.trained.size() == 2 * dimension
        and lists.code_size == dimension
        and index.nlist == lists.nlist == index.quantizer.ntotal >= 1
        and index.ntotal == lists.compute_ntotal()
    )
    if not as_made:
        raise ValueError('it was made in another way')
    for number in range(index.nlist):
        ids = faiss.rev_swig_ptr(lists.get_ids(number), lists.list_size(number))
        if ids.size and not 0 <= ids.min() <= ids.max() < rows:
            raise ValueError('it has rows that there are not')


def _probed(index: Any, effort: float) -> int:
    """Return how many lists of an index are to be read."""
    lists: int = math.ceil(effort * max(PROBED, SCANNED * index.nlist / max(index.ntotal, 1)))
    return lists


def _search(index: Any, query: NDArray[np.float32], limit: int, among: Mask | None, probed: int) -> Found:
    """Return the best rows of one index."""
    import faiss

    if not index.ntotal:
        return Found(np.empty(0, np.int64), np.empty(0, np.float32), True)
    selector = None
    if among is not None:
        bitmap = np.packbits(among, bitorder='little')
        share = max(int(np.count_nonzero(among)), 1) / max(len(among), 1)
        # What is admitted may lie in any list. All are read where that costs little.
        probed = int(index.nlist) if share < 0.05 else int(probed / share)
        selector = faiss.IDSelectorBitmap(bitmap)  # type: ignore[arg-type,call-arg]  # the stub is of C++
    parameters = faiss.SearchParametersIVF(  # type: ignore[call-arg]
        sel=selector, nprobe=min(probed, int(index.nlist))
    )
    products, found = index.search(query[None], min(limit, int(index.ntotal)), params=parameters)
    there = found[0] >= 0
    is_all = bool(np.count_nonzero(there) < limit and probed >= index.nlist)
    return Found(found[0][there], products[0][there], is_all)


def _checksum(path: Path) -> int:
    checksum = 0
    with path.open('rb') as file:
        while data := file.read(1 << 24):
            checksum = zlib.crc32(data, checksum)
    return checksum
