import threading
from collections.abc import Iterator

import faiss
import numpy as np
import pytest

from remembr_ros.memory.embedded import passage_index
from remembr_ros.memory.embedded.passage_index import PassageIndex
from remembr_ros.memory.embedded.scalar_index import Columns
from remembr_ros.memory.embedded.vector_clusters import VectorClusters, _rows
from remembr_ros.memory.model.record import Memory

D = 16
Runs = list[np.ndarray]


class Kept(PassageIndex):
    """The passages of memories, with their vectors at hand."""

    def __init__(self, of: 'Kept | None' = None) -> None:
        self.vectors = of.vectors if of else np.zeros((0, D), np.float32)
        self.columns = of.columns if of else Columns()
        super().__init__(lambda rows: self.vectors[rows], threading.RLock())

    def take(self, run: np.ndarray, paragraphs: int | None = None) -> int:
        """Take in the passages of a new memory, all of them paragraphs unless told; return its slot."""
        number = len(self.columns)
        memory = Memory(f'm{number}', 'r', 1, 2, '')
        slot = self.columns.add(memory, number, len(run), len(run) if paragraphs is None else paragraphs)
        self.vectors = np.concatenate([self.vectors, run])
        self.add(self.columns.table, [slot])
        return slot

    def forget(self, slot: int) -> None:
        self.remove(slot)
        self.columns.remove(slot)

    def again(self, saved: dict[str, np.ndarray]) -> 'Kept':
        """Return another one that begins with what there is, and with the clusters that were saved."""
        made = Kept(self)
        made.load(self.columns.table, saved)
        return made

    @property
    def live_rows(self) -> int:
        return len(self._runs.live)


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    """One so small that clusters begin with 300 passages."""
    monkeypatch.setattr(passage_index, 'FEW', 300)
    monkeypatch.setattr(passage_index, 'READ_AT_ONCE', 20 * D)
    made = Kept()
    yield made
    made.close()


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
def test_the_best_paragraph_of_each_memory_counts(index: Kept, memories: int) -> None:
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


@pytest.mark.parametrize('memories', [60, 400])
@pytest.mark.parametrize('share', [0.0, 0.005, 0.03, 0.5])
def test_only_the_admitted_are_found_and_all_of_them(index: Kept, memories: int, share: float) -> None:
    runs = filled(index, memories)
    rng = np.random.default_rng(5)
    mask = rng.uniform(size=memories) < share
    query = unit(rng, 1)[0]
    expected = exact(runs, query, mask)
    assert close_to(index.nearest(query, memories, mask), expected)


def test_many_passages_of_one_memory_do_not_hide_the_others(index: Kept) -> None:
    rng = np.random.default_rng(2)
    query = unit(rng, 1)[0]
    hog = query + 0.001 * rng.normal(size=(2_000, D)).astype(np.float32)
    index.take(hog / np.linalg.norm(hog, axis=1, keepdims=True))
    runs = filled(index, 50, seed=4)
    found = index.nearest(query, 6)[:6]
    assert found[0][0] == 0
    assert [slot for slot, _ in found[1:]] == [slot + 1 for slot, _ in exact(runs, query)[:5]]


@pytest.mark.parametrize('memories', [40, 500])
@pytest.mark.parametrize('saved', ['before', 'after', 'never'])
def test_it_comes_back_after_a_restart(index: Kept, memories: int, saved: str) -> None:
    runs = filled(index, memories)
    kept = index.dump() if saved == 'before' else {}
    runs.append(unit(np.random.default_rng(8), 2))
    assert index.take(runs[-1]) == memories
    index.forget(5)
    index.wait()
    kept = index.dump() if saved == 'after' else kept
    again = index.again(kept)
    assert (again._clusters is None) == (memories == 40 or saved == 'never')
    there = np.arange(memories + 1) != 5
    for seed in range(5):
        query = unit(np.random.default_rng(seed), 1)[0]
        assert close_to(again.nearest(query, 3)[:3], exact(runs, query, there)[:3])
    assert again.live_rows == sum(len(run) for run, live in zip(runs, there, strict=True) if live)
    again.close()


@pytest.mark.parametrize('more', [50, 900], ids=['taken in', 'found anew'])
def test_what_came_since_clusters_were_saved_is_found(index: Kept, more: int) -> None:
    runs = filled(index, 400)
    kept = index.dump()
    runs += filled(index, more, seed=7)
    again = index.again(kept)
    again.wait()
    query = runs[-1][0]
    assert again.nearest(query, 1)[0][0] == len(runs) - 1
    assert close_to(again.nearest(runs[3][0], 3)[:3], exact(runs, runs[3][0])[:3])
    again.close()


def test_clusters_of_other_vectors_are_found_anew(index: Kept, caplog: pytest.LogCaptureFixture) -> None:
    runs = filled(index, 400)
    rows = np.arange(2_000)
    other = VectorClusters.build(rows, lambda chosen: np.ones((len(chosen), 2 * D), np.float32))
    again = index.again(other.dump())
    again.wait()
    assert 'are found anew' in caplog.text
    query = unit(np.random.default_rng(1), 1)[0]
    assert close_to(again.nearest(query, 3)[:3], exact(runs, query)[:3])
    again.close()


def test_nothing_of_what_was_removed_is_saved(index: Kept) -> None:
    runs = filled(index, 400)
    index.forget(7)
    kept = VectorClusters.load(index.dump(), index._runs.live, lambda rows: index.vectors[rows])
    assert kept is not None
    kept._index.set_direct_map_type(faiss.DirectMap.Hashtable)
    numbers = np.array([kept._index.reconstruct(int(row)) for row in _rows(kept._index)])
    assert len(numbers) == sum(map(len, runs)) - len(runs[7])
    assert (numbers @ runs[7].T).max() < 0.99


def test_everything_removed_leaves_an_empty_index_that_goes_on(index: Kept) -> None:
    filled(index, 400)
    for slot in range(400):
        index.forget(slot)
    assert index.nearest(np.ones(D, np.float32), 3) == []
    again = index.again(index.dump())
    assert again.live_rows == 0
    run = unit(np.random.default_rng(3), 4)
    slot = again.take(run)
    assert again.nearest(run[2], 1)[0][0] == slot
    again.close()
