"""The passages of all memories by the likeness of their vectors, in memory; on disk beside the database."""

import logging
import re
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.embedded.row_runs import Mask, Rows, Run, Runs
from remembr_ros.memory.embedded.vector_clusters import CHUNK, PREFIX, VectorClusters
from remembr_ros.memory.embedded.vector_file import VectorFile

logger = logging.getLogger(__name__)

FEW = 4_096
"""Up to so many vectors every one is compared, which takes 4 ms for 1024 numbers each."""

READ_AT_ONCE = 1 << 22
"""Numbers: a scope with vectors of no more, half an hour of 1024 each, is searched by reading all: 4 ms."""

GROWTH = 4
"""Clusters are found anew when there are so many times more vectors."""

FOUND = 500
"""Least number of passages that a search over 8-bit vectors asks for; half a dozen may be of one memory."""

RESCORED = 64
"""The best of them, so many, are compared by their full vectors; the others are right to 0.001."""

_SAVED = re.compile(PREFIX + r'([0-9a-f]+)-(\d+)-(\d+)-([0-9a-f]{8})\.faiss')


class PassageIndex:
    """Finds memories, named by their slots, by the best of their passages. Safe to share between threads.

    :param folder: where its files are
    :param dimension: of a vector
    :raises OSError: the disk does not work
    """

    def __init__(self, folder: Path, dimension: int) -> None:
        self._file = VectorFile(folder, dimension)
        self._lock = threading.RLock()
        self._runs = Runs()
        # Untouched pages of zeros take no memory.
        self._few: NDArray[np.float32] | None = np.zeros((FEW, dimension), np.float32)
        self._clusters: VectorClusters | None = None
        self._saved_rows = 0
        self._discarded = 0
        self._building: threading.Thread | None = None
        self._closed = False

    @property
    def live_rows(self) -> int:
        """How many vectors there are."""
        with self._lock:
            return len(self._runs.live)

    def restore(self, wanted: Mapping[str, tuple[int, int]]) -> set[str]:
        """Take back what the files hold; return the ids of the memories that they hold whole.

        :param wanted: slot and fingerprint of the texts per memory id; what else the files hold is erased
        """
        with self._lock:
            entries = self._file.entries
            firsts = np.cumsum(entries['rows'], dtype=np.int64) - entries['rows']
            newest: dict[str, int] = {}
            useless = []
            for run, (raw_id, texts, live) in enumerate(
                zip(entries['id'].tolist(), entries['texts'].tolist(), entries['live'].tolist(), strict=True)
            ):
                if not live:
                    continue
                memory_id = raw_id.decode('ascii', 'replace')
                slot = wanted.get(memory_id)
                if slot is None or slot[1] != texts:
                    useless.append(run)
                    continue
                if memory_id in newest:
                    useless.append(newest[memory_id])
                newest[memory_id] = run
            for run in useless:
                self._file.erase(run, int(firsts[run]))
            self._runs.grow(self._file.rows)
            for memory_id, run in newest.items():
                count, paragraphs = int(entries[run]['rows']), int(entries[run]['paragraphs'])
                self._runs.attach(wanted[memory_id][0], Run(run, int(firsts[run]), count), paragraphs)
            self._load_clusters()
            return set(newest)

    def add(
        self,
        slots: Sequence[int],
        ids: Sequence[str],
        texts: Sequence[int],
        runs: Sequence[NDArray[np.float32]],
        paragraphs: Sequence[int],
    ) -> None:
        """Take in the vectors of memories, in place of those that their slots had.

        :param texts: fingerprint of each memory's texts
        :param runs: shape (passages, dimension) each
        :param paragraphs: how many of each memory's passages are paragraphs, the first ones
        :raises OSError: the disk is full; nothing is taken in
        """
        with self._lock:
            first = begin = self._file.append(ids, texts, runs, paragraphs)
            entry = len(self._file.entries) - len(ids)
            self._runs.grow(self._file.rows)
            for slot, run, whole in zip(slots, runs, paragraphs, strict=True):
                self.remove(slot)
                self._runs.attach(slot, Run(entry, first, len(run)), whole)
                first, entry = first + len(run), entry + 1
            vectors = np.concatenate([np.asarray(run, np.float32) for run in runs])
            if self._clusters is not None:
                rows = np.arange(begin, first)
                self._clusters.add(rows, vectors, self._runs.is_paragraph[rows])
            elif self._few is not None and first <= FEW:
                self._few[begin:first] = vectors
            self._keep_up()

    def remove(self, slot: int) -> None:
        """Erase the vectors of a memory; a slot without any is passed over."""
        with self._lock:
            run = self._runs.detach(slot)
            if run is None:
                return
            self._file.erase(run.entry, run.first)
            if self._clusters is not None:
                self._clusters.remove(np.arange(run.first, run.first + run.size))

    def nearest(
        self, query: NDArray[np.float32], limit: int, mask: Mask | None = None
    ) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
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
                among = np.zeros(self._file.rows, np.bool_)
                among[rows] = True
            return self._clustered(self._clusters, query, limit, among)

    def likeness(self, query: NDArray[np.float32], slots: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        """Return the cosine of each passage per slot: shape (passages,); without those that have none."""
        with self._lock:
            chosen, counts = self._runs.in_order(np.unique(np.asarray(slots, np.int64)))
            scores = self._products(self._runs.rows_of(chosen), query)
            ends = np.cumsum(counts)
            return dict(zip(chosen.tolist(), np.split(scores, ends[:-1]), strict=True)) if len(chosen) else {}

    def vectors(self, slot: int) -> NDArray[np.float32]:
        """Return the vectors of a memory: shape (passages, dimension)."""
        with self._lock:
            return self._file.read(self._runs.rows_of(np.asarray([slot], np.int64)))

    def discard_saved(self) -> None:
        """Delete the saved clusters: they hold what was erased meanwhile."""
        with self._lock:
            self._saved_rows = 0
            self._discarded += 1
            for path in self._file.folder.glob(f'{PREFIX}*'):
                _drop(path)

    def wait(self, timeout_s: float | None = None) -> None:
        """Wait until clusters that are being found anew are in use."""
        building = self._building
        if building is not None:
            building.join(timeout_s)

    def close(self) -> None:
        """Save and close the files."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
        self.wait()
        with self._lock:
            if self._clusters is not None and self._clusters.rows > 1.05 * self._saved_rows:
                self._saved(self._clusters)
            else:
                with suppress(OSError):
                    self._file.save()
            self._file.close()

    def _clustered(
        self, clusters: VectorClusters, query: NDArray[np.float32], limit: int, among: Mask | None
    ) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
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

    def _products(self, rows: Rows, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosines of the full vectors of rows (ascending)."""
        # Not BLAS: where other processes have the cores, its threads wait for each other, 10 ms and more.
        products: NDArray[np.float32] = np.einsum('ij,j->i', self._read(rows), np.asarray(query, np.float32))
        return products

    def _grouped(self, rows: Rows, cosines: NDArray[np.float32]) -> list[tuple[int, float]]:
        """Return the best cosine per slot among rows, best first."""
        owners = self._runs.owner[rows]
        order = np.lexsort((owners, -cosines))
        order = order[owners[order] >= 0]
        _, firsts = np.unique(owners[order], return_index=True)
        best = order[np.sort(firsts)]
        return list(zip(owners[best].tolist(), cosines[best].tolist(), strict=True))

    def _read(self, rows: Rows) -> NDArray[np.float32]:
        return self._few[rows] if self._few is not None else self._file.read(rows)

    def _load_clusters(self) -> None:
        """Take the saved clusters and what came after them; without any, find them or do without."""
        for path in sorted(self._file.folder.glob(f'{PREFIX}*'), reverse=True):
            name = _SAVED.fullmatch(path.name)
            if name and name[1] == self._file.generation and int(name[2]) <= self._file.rows:
                found = VectorClusters.load(
                    path, self._file.dimension, int(name[2]), int(name[3]), int(name[4], 16)
                )
                if found is not None and (self._clusters is None or found.rows > self._clusters.rows):
                    self._clusters = found
                    continue
            _drop(path)
        live = self._runs.live
        if self._clusters is not None:
            self._few = None
            self._saved_rows = saved = self._clusters.rows
            gone = np.flatnonzero(self._runs.owner[:saved] < 0)
            self._clusters.remove(gone)
            self._catch_up(self._clusters)
        elif not len(live):
            self._file.clear()
        elif self._file.rows > FEW:
            logger.info('building the index over %d passages', len(live))
            self._few = None
            self._clusters = VectorClusters.build(live, self._runs.is_paragraph, self._file.read)
        elif self._few is not None:
            self._few[: self._file.rows] = self._file.read(np.arange(self._file.rows))

    def _catch_up(self, clusters: VectorClusters) -> None:
        """Add the rows that came after the clusters were made."""
        rows = np.arange(clusters.rows, self._file.rows)
        rows = rows[self._runs.owner[rows] >= 0]
        for start in range(0, len(rows), CHUNK):
            part = rows[start : start + CHUNK]
            clusters.add(part, self._file.read(part), self._runs.is_paragraph[part])
        clusters.rows = self._file.rows

    def _keep_up(self) -> None:
        """Find clusters when there are many vectors, and again when there are many more."""
        if self._building is not None and self._building.is_alive():
            return
        if self._clusters is None:
            if self._file.rows > FEW:
                whole = self._runs.is_paragraph
                self._clusters = VectorClusters.build(self._runs.live, whole, self._file.read)
                self._few = None
        elif self._file.rows >= GROWTH * max(self._clusters.trained_on, FEW):
            self._building = threading.Thread(target=self._rebuild, name='passage-index', daemon=True)
            self._building.start()

    def _rebuild(self) -> None:
        """Find clusters anew, off to the side: it takes 20 s for 700,000 vectors of 1024 numbers."""
        with self._lock:
            live, generation = self._runs.live, self._file.generation
            whole = self._runs.is_paragraph.copy()
        try:
            clusters = VectorClusters.build(live, whole, self._file.read)
        except (MemoryError, RuntimeError, OSError) as error:
            logger.error('the index of the memory stays as it is, searches get slower: %s', error)
            return
        # Saved before it is in use: nobody waits for the disk, and what is erased meanwhile is erased below.
        with self._lock:
            kept = self._discarded
        saved = self._saved(clusters)
        with self._lock:
            if self._discarded != kept and saved is not None:
                saved.unlink(missing_ok=True)
                saved = None
            if generation != self._file.generation:  # while it is closed, closing waits for this
                return
            if saved is not None:
                self._saved_rows = clusters.rows
            clusters.remove(live[self._runs.owner[live] < 0])
            self._catch_up(clusters)
            self._clusters = clusters

    def _saved(self, clusters: VectorClusters) -> Path | None:
        """Write clusters to a file and return it; None: there is no room."""
        try:
            self._file.save()
            path = clusters.save(self._file.folder, self._file.generation)
        except OSError as error:
            logger.warning('the index of the memory is not saved, the next start takes longer: %s', error)
            return None
        for other in self._file.folder.glob(f'{PREFIX}*'):
            if other != path:
                _drop(other)
        return path


def _drop(path: Path) -> None:
    """Delete a file; a folder that somebody made there is not ours to empty, and does no harm."""
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
