from collections.abc import Callable, Iterator
from pathlib import Path

import faiss
import numpy as np
import pytest

from remembr_ros.memory.embedded import passage_index
from remembr_ros.memory.embedded.index_files import SCALE, SLOT, IndexFiles
from remembr_ros.memory.embedded.passage_index import PassageIndex
from remembr_ros.memory.embedded.scalar_index import Columns
from remembr_ros.memory.embedded.vector_clusters import VectorClusters, _from_bytes, _rows
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

    def take(self, run: np.ndarray, paragraphs: int | None = None) -> int:
        """Take in the passages of a new memory, all of them paragraphs unless told; return its slot."""
        memory = Memory(f'm{len(self.columns)}', 'r', 1, 2, '')
        slot = self.columns.add(memory)
        self.columns.table[slot]['paragraphs'] = len(run) if paragraphs is None else paragraphs
        self.kept.append(self.columns.table, [slot], [memory], [np.zeros(0, POSTING)], [run])
        self.add(self.columns.table, [slot])
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
    """Take in memories; return the paragraphs of each."""
    rng = np.random.default_rng(seed)
    runs = [unit(rng, int(rng.integers(1, 8))) for _ in range(memories)]
    for run in runs:
        index.take(np.concatenate([run, unit(rng, 2)]), len(run))  # the others are sentences
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
def test_the_best_paragraph_of_each_memory_counts(open_index: Open, memories: int) -> None:
    index = open_index()
    runs = filled(index, memories)
    index.wait()
    rng = np.random.default_rng(9)
    right = 0
    for _ in range(40):
        query = unit(rng, 1)[0]
        expected = exact(runs, query)[:5]
        right += len({slot for slot, _ in index.nearest(query, 5)[:5]} & {slot for slot, _ in expected})
    # Random vectors have no clusters at all: what anything says has more.
    assert right / (40 * min(5, memories)) >= (1.0 if memories < 100 else 0.95)
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
    assert close_to(index.nearest(query, memories, mask), expected)
    index.leave()


def test_many_passages_of_one_memory_do_not_hide_the_others(open_index: Open) -> None:
    index = open_index()
    rng = np.random.default_rng(2)
    query = unit(rng, 1)[0]
    hog = query + 0.001 * rng.normal(size=(2_000, D)).astype(np.float32)
    index.take(hog / np.linalg.norm(hog, axis=1, keepdims=True))
    runs = filled(index, 50, seed=4)
    found = index.nearest(query, 6)[:6]
    assert found[0][0] == 0
    assert [slot for slot, _ in found[1:]] == [slot + 1 for slot, _ in exact(runs, query)[:5]]
    index.leave()


@pytest.mark.parametrize('memories', [40, 500])
@pytest.mark.parametrize('closed', [True, False], ids=['closed', 'killed'])
def test_it_comes_back_after_a_restart(open_index: Open, memories: int, closed: bool) -> None:
    index = open_index()
    runs = filled(index, memories)
    runs.append(unit(np.random.default_rng(8), 2))
    assert index.take(runs[-1]) == memories
    index.forget(5)
    if closed:
        index.leave()
    index.wait()
    again = open_index()
    assert again.reload() == {i for i in range(memories + 1) if i != 5}
    there = np.arange(memories + 1) != 5
    for seed in range(5):
        query = unit(np.random.default_rng(seed), 1)[0]
        assert close_to(again.nearest(query, 3)[:3], exact(runs, query, there)[:3])
    assert again.live_rows == sum(len(run) for run, live in zip(runs, there, strict=True) if live)
    again.leave()


@pytest.fixture
def saved(open_index: Open, tmp_path: Path) -> tuple[Runs, Path]:
    """The paragraphs of 400 memories, and the file of their clusters."""
    index = open_index()
    runs = filled(index, 400)
    index.leave()
    return runs, tmp_path / 'index' / 'clusters.bin'


def is_found(index: Kept, runs: Runs) -> bool:
    index.reload()
    query = unit(np.random.default_rng(1), 1)[0]
    return close_to(index.nearest(query, 3)[:3], exact(runs, query)[:3])


@pytest.mark.parametrize('how', ['cut off', 'flipped', 'gone', 'zeros', 'empty'])
def test_damaged_clusters_are_mended(open_index: Open, saved: tuple[Runs, Path], how: str) -> None:
    runs, path = saved
    whole = path.read_bytes()
    data = bytearray(whole)
    data[len(data) // 2] ^= 4
    content = {'cut off': whole[:1000], 'flipped': bytes(data), 'zeros': bytes(len(data)), 'empty': b''}
    path.unlink() if how == 'gone' else path.write_bytes(content[how])
    for _ in range(2):  # mended for good
        again = open_index()
        assert is_found(again, runs)
        again.leave()
    *_, kept = _from_bytes(path.read_bytes())
    assert kept.ntotal == sum(map(len, runs))


@pytest.mark.parametrize('how', ['cut off', 'killed'])
def test_clusters_of_rows_that_are_written_again_are_not_taken_for_theirs(
    open_index: Open, saved: tuple[Runs, Path], how: str
) -> None:
    runs, path = saved
    again = open_index()
    again.reload()
    if how == 'cut off':
        with (path.parent / 'slots.bin').open('rb+') as slots:  # as after a write that was cut off
            slots.truncate(399 * SLOT.itemsize)
    else:
        again.forget(399)
    killed = open_index()
    killed.reload()
    mine = unit(np.random.default_rng(1), len(runs[-1]))
    slot = killed.take(mine)
    assert killed.nearest(mine[0], 1)[0][0] == slot
    killed.leave()
    last = open_index()
    last.reload()
    assert last.nearest(mine[0], 1)[0][0] == slot
    last.leave()


@pytest.mark.parametrize('more', [50, 900], ids=['taken in', 'found anew'])
def test_what_came_since_clusters_were_saved_is_found(
    open_index: Open, saved: tuple[Runs, Path], more: int
) -> None:
    runs, path = saved
    old = path.read_bytes()
    index = open_index()
    index.reload()
    runs += filled(index, more, seed=7)
    index.leave()
    path.write_bytes(old)
    again = open_index()
    assert is_found(again, runs)
    again.wait()
    query = runs[-1][0]
    assert again.nearest(query, 1)[0][0] == len(runs) - 1
    again.leave()


def test_clusters_that_nothing_changed_are_not_written_again(
    open_index: Open, saved: tuple[Runs, Path]
) -> None:
    runs, path = saved
    before = path.stat()
    index = open_index()
    assert is_found(index, runs)
    index.leave()
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_clusters_of_other_vectors_are_found_anew(
    open_index: Open, saved: tuple[Runs, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    runs, path = saved
    rows = np.arange(2_000)
    other = VectorClusters.build(rows, lambda chosen: np.ones((len(chosen), 2 * D), np.float32))
    path.write_bytes(other.to_bytes(len(rows)))
    index = open_index()
    assert is_found(index, runs)
    assert 'are found anew' in caplog.text
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


def test_no_file_holds_what_was_removed_once_it_is_saved(open_index: Open, saved: tuple[Runs, Path]) -> None:
    runs, path = saved
    index = open_index()
    index.reload()
    index.forget(7)
    index.save()
    trace = np.rint(runs[7] * SCALE).astype('<i2').tobytes()
    for file in path.parent.iterdir():
        assert trace not in file.read_bytes()
    *_, kept = _from_bytes(path.read_bytes())
    kept.set_direct_map_type(faiss.DirectMap.Hashtable)
    numbers = np.array([kept.reconstruct(int(row)) for row in _rows(kept)])
    assert len(numbers) == sum(map(len, runs)) - len(runs[7])
    assert (numbers @ runs[7].T).max() < 0.99
    index.leave()


def test_everything_removed_leaves_an_empty_index_that_goes_on(open_index: Open) -> None:
    index = open_index()
    filled(index, 400)
    for slot in range(400):
        index.forget(slot)
    assert index.nearest(np.ones(D, np.float32), 3) == []
    index.leave()
    again = open_index()
    assert again.reload() == set()
    run = unit(np.random.default_rng(3), 4)
    slot = again.take(run)
    assert again.nearest(run[2], 1)[0][0] == slot
    again.leave()
