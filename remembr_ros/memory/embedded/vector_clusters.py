"""Nearly exact search among the vectors of very many passages: inverted lists, 8-bit numbers (FAISS IVF-SQ8).

Chosen by measurement: docs/memory.md. The numbers of each row lie in a file in the order of rows,
with the list that they belong to, so that nothing has to be found again when the lists are made from there.
"""

import logging
import math
import os
import shutil
import uuid
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.durable import replace_file, write_all
from remembr_ros.memory.embedded.index_files import checksums
from remembr_ros.memory.embedded.row_runs import Floats, Mask, Rows
from remembr_ros.memory.milvus import client as milvus

logger = logging.getLogger(__name__)

# Ends of the names of the two files; the first is written when the other is complete.
CENTRES, CODES = '.centres', '.codes'
SAMPLES_PER_LIST = 40  # vectors that a cluster's centre is found from
# Fewest lists of sentences that a search reads, those with the nearest centres; of paragraphs, half.
PROBED = 16
SCANNED = 8_000  # sentences that these lists should hold at least; of paragraphs half as many
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

    Floats of paragraphs and those of sentences lie apart, and so do their clusters: in common ones the best
    paragraphs would be in lists that a search does not reach.

    :param indexes: of sentences and of paragraphs, each a faiss.IndexIVFScalarQuantizer
    :param trained_on: how many rows there were when the centres were found
    :param path: of its files, without their ends; None: there is no room for them
    :raises OSError: the disk does not work
    """

    def __init__(self, indexes: tuple[Any, Any], trained_on: int, path: Path | None) -> None:
        self._indexes = indexes
        self.trained_on = trained_on
        self._path = path
        self._width = -(-max(index.sa_code_size() for index in indexes) // 8) * 8
        self._codes: int | None = None
        if path is not None:
            self._codes = os.open(f'{path}{CODES}', os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o644)

    @classmethod
    def build(cls, folder: Path, live: Rows, is_paragraph: Mask, read: Read) -> 'VectorClusters':
        """Cluster vectors anew; they are kept in a folder, in place of others, if the disk has room.

        :param live: rows to take in, ascending
        :param is_paragraph: of each row that there is, live or not
        :raises OSError: the disk is full
        """
        kinds = [live[~is_paragraph[live]], live[is_paragraph[live]]]
        # Where there are none of a kind yet, any centres do.
        sentences, paragraphs = (_trained(rows if len(rows) else live, read) for rows in kinds)
        # A disk that is full for a moment is one on which Milvus Lite loses what it acknowledges.
        needed = milvus.RESERVE + len(is_paragraph) * (sentences.d + 32)
        path = folder / uuid.uuid4().hex if shutil.disk_usage(folder).free >= needed else None
        centres = _centres((sentences, paragraphs), len(live))
        made = cls((sentences, paragraphs), len(live), path)
        made.take(live, is_paragraph, read)
        made._keep(centres)
        return made

    @classmethod
    def load(cls, folder: Path, live: Rows, is_paragraph: Mask, read: Read) -> 'VectorClusters | None':
        """Return the clusters that were kept in a folder, with all live rows in them; None: there are none.

        What else is left of clusters is deleted.
        """
        found = None
        for centres in sorted(folder.glob(f'*{CENTRES}')):
            path = centres.with_suffix('')
            try:
                trained_on, indexes = _read_centres(centres, read(live[:0]).shape[1])
                found = cls(indexes, trained_on, path)
                found._fill(live, is_paragraph, read)
                break
            except (RuntimeError, OSError, MemoryError, ValueError) as error:
                found = None
                logger.warning('the clusters %s cannot be read and are found anew: %s', centres, error)
        discard(folder, None if found is None else found._path)
        return found

    def _keep(self, centres: bytes) -> None:
        try:
            if self._path is None:
                raise OSError('no room')
            replace_file(Path(f'{self._path}{CENTRES}'), centres)
        except OSError as error:
            logger.warning('the clusters of the memory are not kept, the next start takes longer: %s', error)
        if self._path is not None:
            discard(self._path.parent, self._path)

    def take(self, rows: Rows, is_paragraph: Mask, read: Read) -> None:
        """Take in rows that may have others between them.

        :param is_paragraph: of each row that there is
        """
        for start in range(0, len(rows), CHUNK):
            chosen = rows[start : start + CHUNK]
            for stretch in np.split(chosen, np.flatnonzero(np.diff(chosen) != 1) + 1):
                self.add(stretch, read(stretch), is_paragraph[stretch])

    def add(self, rows: Rows, vectors: Floats, is_paragraph: Mask) -> None:
        """Take in vectors under their row numbers. What a full disk does not take is found again later.

        :param rows: one after the other
        :param is_paragraph: of each of these rows
        """
        if not len(rows):
            return
        codes = np.zeros((len(rows), self._width + 8), np.uint8)
        for index, chosen in zip(self._indexes, (~is_paragraph, is_paragraph), strict=True):
            if chosen.any():
                made = index.sa_encode(np.ascontiguousarray(vectors[chosen], np.float32))
                index.add_sa_codes(made, np.ascontiguousarray(rows[chosen], np.int64))
                codes[chosen, : made.shape[1]] = made
        sums = checksums(np.ascontiguousarray(codes[:, : self._width]))
        codes[:, self._width :] = sums[:, None].view(np.uint8)
        try:
            self._write(int(rows[0]), codes.tobytes())
        except OSError as error:
            logger.warning('the next start takes longer: cannot write %s: %s', self._path, error)

    def remove(self, rows: Rows) -> None:
        """Take out rows.

        :raises OSError: the disk is full: what is overwritten needs no room, but copy-on-write does
        """
        if len(rows):
            for index in self._indexes:
                index.remove_ids(np.ascontiguousarray(rows, np.int64))
            for row in rows.tolist():
                self._write(row, bytes(self._width + 8))

    def close(self) -> None:
        """Close the file; what it lost without power is found anew."""
        if self._codes is not None:
            os.close(self._codes)

    def nearest(
        self, query: Floats, limit: int, among: Mask | None = None, effort: int = 1
    ) -> tuple[Found, Found]:
        """Return the sentences and the paragraphs whose 8-bit vectors fit best.

        :param query: shape (dimension,)
        :param limit: of the sentences, and of the paragraphs
        :param among: which rows are admitted, shape (rows,): exactly if they are few; None: all of them
        :param effort: so many times more lists are read than usually
        """
        sentences, paragraphs = self._indexes
        found = _search(sentences, query, limit, among, effort)
        return found, _search(paragraphs, query, limit, among, effort / 2)

    def _fill(self, live: Rows, is_paragraph: Mask, read: Read) -> None:
        """Take in the codes of the file, and what it lacks or has damaged from the vectors."""
        assert self._codes is not None
        size = os.fstat(self._codes).st_size // (self._width + 8)
        lost: list[Rows] = []
        if size:
            path = Path(f'{self._path}{CODES}')
            codes = np.memmap(path, np.uint8, 'r', shape=(size, self._width + 8))
            is_live = np.zeros(max(size, len(is_paragraph)), np.bool_)
            is_live[live] = True
            kinds = np.where(is_live[:size], np.resize(is_paragraph, size).astype(np.int8), -1)
            _reserve(self._indexes, codes, kinds)
            for start in range(0, size, CHUNK):
                kind = kinds[start : start + CHUNK]
                for row in start + np.flatnonzero(kind < 0):
                    if codes[row].any():  # of what was cut off
                        self._write(int(row), bytes(self._width + 8))
                for number, index in enumerate(self._indexes):
                    chosen = start + np.flatnonzero(kind == number)
                    part = codes[chosen]
                    right = checksums(part[:, : self._width]) == part[:, self._width :].view('<u8')[:, 0]
                    if not right.all():
                        lost.append(chosen[~right])
                        chosen, part = chosen[right], part[right]
                    if len(chosen):
                        made = np.ascontiguousarray(part[:, : index.sa_code_size()])
                        if _lists(index, made).max() >= index.nlist:
                            raise ValueError('it has lists that there are not')
                        index.add_sa_codes(made, chosen)
        self.take(np.concatenate([*lost, live[np.searchsorted(live, size) :]]), is_paragraph, read)

    def _write(self, row: int, data: bytes) -> None:
        if self._codes is not None:
            write_all(self._codes, row * (self._width + 8), data)


def discard(folder: Path, kept: Path | None) -> None:
    """Delete what is left of clusters, but for these."""
    for path in (path for end in (CENTRES, CODES, f'{CENTRES}.part') for path in folder.glob(f'*{end}')):
        of = path.name.partition('.')[0]
        # A folder that somebody made there is not ours to empty, and does no harm.
        if (kept is None or of != kept.name) and (path.is_symlink() or not path.is_dir()):
            path.unlink(missing_ok=True)


def _centres(indexes: tuple[Any, Any], trained_on: int) -> bytes:
    """Return what two indexes without rows know."""
    import faiss

    parts = [faiss.serialize_index(index).tobytes() for index in indexes]
    data = trained_on.to_bytes(8, 'little') + len(parts[0]).to_bytes(8, 'little') + b''.join(parts)
    return zlib.crc32(data).to_bytes(8, 'little') + data


def _read_centres(path: Path, dimension: int) -> tuple[int, tuple[Any, Any]]:
    """Return on how many rows clusters were trained, and two indexes without rows.

    :raises ValueError: it is not what :func:`_centres` made
    """
    import faiss

    if path.is_symlink() or not path.is_file():
        raise ValueError('it is no file')
    data = path.read_bytes()
    if zlib.crc32(data[8:]).to_bytes(8, 'little') != data[:8]:
        raise ValueError('it was damaged')
    if hasattr(faiss, 'set_deserialization_vector_byte_limit'):  # from 1.14 on
        faiss.set_deserialization_vector_byte_limit(len(data))
    size = int.from_bytes(data[16:24], 'little')
    parts = data[24 : 24 + size], data[24 + size :]
    sentences, paragraphs = (faiss.deserialize_index(np.frombuffer(part, np.uint8)) for part in parts)
    for index in (sentences, paragraphs):
        _check(index, dimension)
    return int.from_bytes(data[8:16], 'little'), (sentences, paragraphs)


def _lists(index: Any, codes: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Return the numbers of the lists that codes are of."""
    bytes_of_one = codes[:, : index.coarse_code_size()].astype(np.int64)
    found: NDArray[np.int64] = bytes_of_one @ (1 << 8 * np.arange(bytes_of_one.shape[1]))
    return found


def _reserve(indexes: tuple[Any, Any], codes: NDArray[np.uint8], kinds: NDArray[np.int8]) -> None:
    """Make room for codes, exactly: lists that grow by and by take twice the memory."""
    for number, index in enumerate(indexes):
        of = _lists(index, codes[:, : index.coarse_code_size()][kinds == number])
        for each, count in enumerate(np.bincount(of[of < index.nlist], minlength=index.nlist).tolist()):
            index.invlists.resize(each, count)
            index.invlists.resize(each, 0)


def _trained(rows: Rows, read: Read) -> Any:
    """Return an empty faiss.IndexIVFScalarQuantizer with the centres of rows."""
    import faiss

    lists = max(1, min(len(rows) // 4, int(2 * len(rows) ** 0.5)))
    chosen = np.random.default_rng(0).choice(rows, min(len(rows), SAMPLES_PER_LIST * lists), replace=False)
    samples = read(np.sort(chosen))
    dimension = samples.shape[1]
    centres, kind = faiss.IndexFlatIP(dimension), faiss.ScalarQuantizer.QT_8bit
    metric = faiss.METRIC_INNER_PRODUCT
    index = faiss.IndexIVFScalarQuantizer(centres, dimension, lists, kind, metric, False)
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


def _check(index: Any, dimension: int) -> None:
    """Refuse an index that is not an empty one of :func:`_trained`: it would fail at each search.

    :raises ValueError: it is of another kind or dimension
    """
    import faiss

    lists: Any = getattr(index, 'invlists', None)
    as_made = (
        isinstance(index, faiss.IndexIVFScalarQuantizer)
        and {index.d, index.sq.d, index.quantizer.d, index.code_size, lists.code_size} == {dimension}
        and index.metric_type == faiss.METRIC_INNER_PRODUCT
        and index.sq.qtype == faiss.ScalarQuantizer.QT_8bit
        and index.is_trained
        and index.sq.trained.size() == 2 * dimension
        and index.nlist == lists.nlist == index.quantizer.ntotal >= 1
        and index.ntotal == lists.compute_ntotal() == 0
    )
    if not as_made:
        raise ValueError(f'it was made in another way, or not for vectors of {dimension} numbers')


def _search(index: Any, query: Floats, limit: int, among: Mask | None, effort: float) -> Found:
    """Return the best rows of one index."""
    import faiss

    if not index.ntotal:
        return Found(np.empty(0, np.int64), np.empty(0, np.float32), True)
    probed, selector = math.ceil(effort * max(PROBED, SCANNED * index.nlist / index.ntotal)), None
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
