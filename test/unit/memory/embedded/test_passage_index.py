import resource
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import pytest

from remembr_ros.memory.embedded import passage_index
from remembr_ros.memory.embedded.index_files import SCALE, SLOT, IndexFiles
from remembr_ros.memory.embedded.passage_index import PassageIndex
from remembr_ros.memory.embedded.scalar_index import Columns
from remembr_ros.memory.matching.bm25 import POSTING
from remembr_ros.memory.model.record import Memory

D = 16
Runs = list[np.ndarray]


class Kept(PassageIndex):
    """The passages of memories in a folder."""

    def __init__(self, folder: Path) -> None:
        self.kept = IndexFiles(folder, D)
        self.columns = Columns()
        super().__init__(self.kept)

    def take(self, run: np.ndarray, paragraphs: int = 0) -> int:
        """Take in the passages of a new memory; return its slot."""
        memory = Memory(f'm{len(self.columns)}', 'r', 1, 2, '')
        slot = self.columns.add(memory)
        self.columns.table[slot]['paragraphs'] = paragraphs
        self.kept.append(self.columns.table, [slot], [memory], [np.zeros(0, POSTING)], [run])
        self.add(self.columns.table, [slot], [run])
        return slot

    def forget(self, slot: int) -> None:
        self.remove(slot)
        self.kept.erase(self.columns.table, slot)

    def reload(self) -> set[int]:
        """Take back what the files hold; return the slots."""
        table, *_, damaged = self.kept.load(0)
        assert not damaged
        self.columns = Columns(table, lambda slot: self.kept.memory(table[slot]))
        self.load(table)
        return set(np.flatnonzero(table['live']).tolist())

    def leave(self) -> None:
        """Close the index."""
        self.close()
        self.kept.close()

    @property
    def live_rows(self) -> int:
        return len(self._runs.live)


Open = Callable[[], Kept]


@pytest.fixture
def open_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Open the index of a folder; small enough for clusters to begin with 300 passages."""
    monkeypatch.setattr(passage_index, 'FEW', 300)
    monkeypatch.setattr(passage_index, 'READ_AT_ONCE', 20 * D)
    opened: list[Kept] = []

    def make() -> Kept:
        opened.append(Kept(tmp_path / 'index'))
        return opened[-1]

    yield make
    for index in opened:
        index.wait()


def unit(rng: np.random.Generator, rows: int) -> np.ndarray:
    vectors = rng.normal(size=(rows, D)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def filled(index: Kept, memories: int, seed: int = 0) -> Runs:
    rng = np.random.default_rng(seed)
    runs = [unit(rng, int(rng.integers(1, 8))) for _ in range(memories)]
    for run in runs:
        index.take(run, len(run) // 2)
        index.wait()  # or clusters are found anew, with the next memory, only where that was slow
    return runs


def exact(runs: Runs, query: np.ndarray, mask: np.ndarray | None = None) -> list[tuple[int, float]]:
    best = [(slot, float((run @ query).max())) for slot, run in enumerate(runs) if mask is None or mask[slot]]
    return sorted(best, key=lambda found: (-found[1], found[0]))


def close_to(found: list[tuple[int, float]], expected: list[tuple[int, float]]) -> bool:
    # Of two that are the same but for rounding either may come first.
    same = sorted(slot for slot, _ in found) == sorted(slot for slot, _ in expected)
    return same and np.allclose(
        [c for _, c in found], [c for _, c in expected], atol=0.02
    )  # 8 bits of 16 numbers


@pytest.mark.parametrize('memories', [5, 60, 400, 3_000], ids=['few', 'all', 'clusters', 'clusters anew'])
def test_the_best_passage_of_each_memory_counts(open_index: Open, memories: int) -> None:
    index = open_index()
    runs = filled(index, memories)
    index.wait()
    rng = np.random.default_rng(9)
    right = 0
    for _ in range(40):
        query = unit(rng, 1)[0]
        expected = exact(runs, query)[:5]
        right += len({slot for slot, _ in index.nearest(query, 5)[0][:5]} & {slot for slot, _ in expected})
    # Random vectors have no clusters at all: what anything says has more.
    assert right / (40 * min(5, memories)) >= (1.0 if memories < 100 else 0.95)
    index.leave()


@pytest.mark.parametrize('memories', [60, 3_000], ids=['all', 'clusters'])
@pytest.mark.parametrize('share', [None, 0.01, 0.5])
def test_paragraphs_are_told_from_sentences(open_index: Open, memories: int, share: float | None) -> None:
    index = open_index()
    runs = filled(index, memories)
    index.wait()
    rng = np.random.default_rng(6)
    mask = None if share is None else rng.uniform(size=memories) < share
    query = unit(rng, 1)[0]
    wholes = [run[: len(run) // 2] if len(run) > 1 else -query[None] for run in runs]
    expected = [found for found in exact(wholes, query, mask) if found[1] > -0.999]
    part, whole = index.nearest(query, memories, mask)
    assert close_to(part, exact(runs, query, mask))
    assert close_to(whole, expected)
    index.leave()


@pytest.mark.parametrize('memories', [60, 400])
@pytest.mark.parametrize('share', [0.0, 0.005, 0.03, 0.5])
def test_only_the_admitted_are_found_and_all_of_them(open_index: Open, memories: int, share: float) -> None:
    index = open_index()
    runs = filled(index, memories)
    rng = np.random.default_rng(5)
    mask = rng.uniform(size=memories) < share
    query = unit(rng, 1)[0]
    expected = exact(runs, query, mask)
    assert close_to(index.nearest(query, memories, mask)[0], expected)
    index.leave()


def test_many_passages_of_one_memory_do_not_hide_the_others(open_index: Open) -> None:
    index = open_index()
    rng = np.random.default_rng(2)
    query = unit(rng, 1)[0]
    hog = query + 0.001 * rng.normal(size=(2_000, D)).astype(np.float32)
    index.take(hog / np.linalg.norm(hog, axis=1, keepdims=True), 1)
    runs = filled(index, 50, seed=4)
    found = index.nearest(query, 6)[0][:6]
    assert found[0][0] == 0
    assert [slot for slot, _ in found[1:]] == [slot + 1 for slot, _ in exact(runs, query)[:5]]
    index.leave()


@pytest.mark.parametrize('memories', [40, 500])
@pytest.mark.parametrize('closed', [True, False], ids=['closed', 'killed'])
def test_it_comes_back_after_a_restart(open_index: Open, memories: int, closed: bool) -> None:
    index = open_index()
    runs = filled(index, memories)
    runs.append(unit(np.random.default_rng(8), 2))
    assert index.take(runs[-1], 1) == memories
    index.forget(5)
    if closed:
        index.leave()
    index.wait()
    again = open_index()
    assert again.reload() == {i for i in range(memories + 1) if i != 5}
    there = np.arange(memories + 1) != 5
    for seed in range(5):
        query = unit(np.random.default_rng(seed), 1)[0]
        assert close_to(again.nearest(query, 3)[0][:3], exact(runs, query, there)[:3])
    assert again.live_rows == sum(len(run) for run, live in zip(runs, there, strict=True) if live)
    again.leave()


@pytest.mark.parametrize('end', ['.centres', '.codes'])
@pytest.mark.parametrize('how', ['cut off', 'flipped', 'gone', 'zeros'])
def test_damaged_clusters_are_mended(open_index: Open, tmp_path: Path, end: str, how: str) -> None:
    index = open_index()
    runs = filled(index, 400)
    index.leave()
    (path,) = (tmp_path / 'index').glob(f'*{end}')
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    content = {'cut off': path.read_bytes()[:1000], 'flipped': bytes(data), 'zeros': bytes(len(data))}
    path.unlink() if how == 'gone' else path.write_bytes(content[how])
    for _ in range(2):  # mended for good
        again = open_index()
        again.reload()
        query = unit(np.random.default_rng(1), 1)[0]
        assert close_to(again.nearest(query, 3)[0][:3], exact(runs, query)[:3])
        again.leave()


def test_codes_of_rows_that_are_written_again_are_not_taken_for_theirs(
    open_index: Open, tmp_path: Path
) -> None:
    index = open_index()
    runs = filled(index, 400)
    index.leave()
    (path,) = (tmp_path / 'index').glob('*.codes')
    codes = path.read_bytes()
    with (tmp_path / 'index' / 'slots.bin').open('rb+') as slots:  # as after a write that was cut off
        slots.truncate(399 * SLOT.itemsize)
    again = open_index()
    again.reload()
    mine = unit(np.random.default_rng(1), len(runs[-1]))
    again.leave()
    assert path.read_bytes()[: len(codes) // 2] == codes[: len(codes) // 2]
    third = open_index()
    third.reload()
    slot = third.take(mine)
    assert third.nearest(mine[0], 1)[0][0][0] == slot
    third.leave()
    last = open_index()
    last.reload()
    assert last.nearest(mine[0], 1)[0][0][0] == slot
    last.leave()


def clusters(dimension: int, metric: int = faiss.METRIC_INNER_PRODUCT, kind: Any = None) -> Any:
    kind = faiss.ScalarQuantizer.QT_8bit if kind is None else kind
    centres = faiss.IndexFlat(dimension, metric)
    index = faiss.IndexIVFScalarQuantizer(centres, dimension, 4, kind, metric, False)
    vectors = np.random.default_rng(0).normal(size=(160, dimension)).astype(np.float32)
    index.train(vectors)
    index.add_with_ids(vectors, np.arange(len(vectors)))
    return index


FOREIGN = {
    'another kind': lambda: faiss.index_factory(D, 'HNSW8', faiss.METRIC_INNER_PRODUCT),
    'another dimension': lambda: clusters(2 * D),
    'another measure': lambda: clusters(D, faiss.METRIC_L2),
    'other numbers': lambda: clusters(D, kind=faiss.ScalarQuantizer.QT_fp16),
    'rows already': lambda: clusters(D),
}


@pytest.fixture
def saved(open_index: Open, tmp_path: Path) -> tuple[Runs, Path]:
    """The centres of the clusters of 100 memories in their file."""
    index = open_index()
    runs = filled(index, 100)
    index.leave()
    (path,) = (tmp_path / 'index').glob('*.centres')
    return runs, path


def replaced(path: Path, data: bytes) -> None:
    """Put bytes in the place of saved centres, with the checksum that they have."""
    path.write_bytes(zlib.crc32(data).to_bytes(8, 'little') + data)


def is_found(index: Kept, runs: Runs) -> bool:
    index.reload()
    query = unit(np.random.default_rng(1), 1)[0]
    return close_to(index.nearest(query, 3)[0][:3], exact(runs, query)[:3])


@pytest.mark.parametrize('foreign', FOREIGN)
def test_clusters_of_another_make_are_built_anew(
    open_index: Open, saved: tuple[Runs, Path], foreign: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Though their checksum is right."""
    runs, path = saved
    data = path.read_bytes()[8:]
    size = int.from_bytes(data[8:16], 'little')
    replaced(path, data[: 16 + size] + faiss.serialize_index(FOREIGN[foreign]()).tobytes())
    index = open_index()
    assert is_found(index, runs)
    assert 'are found anew' in caplog.text
    mine = unit(np.random.default_rng(1), 1)
    slot = index.take(mine, 1)
    assert index.nearest(mine[0], 1)[1][0][0] == slot
    index.forget(slot)
    index.leave()


@pytest.mark.skipif(
    not hasattr(faiss, 'set_deserialization_vector_byte_limit'), reason='this FAISS cannot be told a limit'
)
def test_a_size_that_the_file_does_not_have_takes_no_memory(
    open_index: Open, saved: tuple[Runs, Path]
) -> None:
    runs, path = saved
    data = path.read_bytes()[8:]
    size = int.from_bytes(data[8:16], 'little')
    lists = faiss.deserialize_index(np.frombuffer(data[16 : 16 + size], np.uint8)).nlist
    centres = data.index((D * lists).to_bytes(8, 'little'))
    replaced(path, data[:centres] + (1 << 28).to_bytes(8, 'little') + data[centres + 8 :])  # 1 GiB
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    index = open_index()
    assert is_found(index, runs)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 500_000
    index.leave()


@pytest.mark.parametrize('make', ['folder', 'link'])
def test_what_is_no_file_is_not_read(open_index: Open, saved: tuple[Runs, Path], make: str) -> None:
    runs, path = saved
    path.unlink()
    if make == 'folder':
        path.mkdir()
        (path / 'of somebody').write_text('keep')
    else:
        path.symlink_to('/dev/zero')
    index = open_index()
    assert is_found(index, runs)
    index.leave()
    assert path.is_dir() == (make == 'folder')


def test_no_file_holds_what_was_removed(open_index: Open, tmp_path: Path) -> None:
    index = open_index()
    runs = filled(index, 400)
    index.leave()
    (path,) = (tmp_path / 'index').glob('*.codes')
    width = path.stat().st_size // sum(map(len, runs))
    first = sum(map(len, runs[:7]))
    codes = path.read_bytes()[first * width : (first + len(runs[7])) * width]
    again = open_index()
    again.reload()
    again.forget(7)
    again.leave()
    for trace in (np.rint(runs[7] * SCALE).astype('<i2').tobytes(), codes):
        for file in (tmp_path / 'index').iterdir():
            assert trace not in file.read_bytes()


def test_everything_removed_leaves_an_empty_index_that_goes_on(open_index: Open) -> None:
    index = open_index()
    filled(index, 400)
    for slot in range(400):
        index.forget(slot)
    assert index.nearest(np.ones(D, np.float32), 3) == ([], [])
    index.leave()
    again = open_index()
    assert again.reload() == set()
    run = unit(np.random.default_rng(3), 4)
    slot = again.take(run)
    assert again.nearest(run[2], 1)[0][0][0] == slot
    again.leave()
