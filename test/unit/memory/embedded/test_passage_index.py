import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from remembr_ros.memory.embedded import passage_index
from remembr_ros.memory.embedded.passage_index import PassageIndex
from remembr_ros.memory.embedded.vector_clusters import VectorClusters

D = 16
Runs = list[np.ndarray]


class Kept(PassageIndex):
    """The paragraphs of memories, at hand; a memory's number is its place."""

    def __init__(self, of: 'Kept | None' = None) -> None:
        self.runs: Runs = of.runs if of else []
        self.gone: set[int] = of.gone if of else set()
        super().__init__(self.read, self.live, threading.RLock())

    def read(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        runs = [self.runs[number] for number in numbers.tolist()]
        owners = np.repeat(numbers, [len(run) for run in runs])
        return np.concatenate([np.zeros((0, D), np.float32), *runs]), owners

    def live(self) -> tuple[np.ndarray, int]:
        numbers = [number for number in range(len(self.runs)) if number not in self.gone]
        return np.array(numbers, np.int64), sum(len(self.runs[number]) for number in numbers)

    def take(self, run: np.ndarray) -> int:
        """Take in the paragraphs of a new memory; return its number."""
        self.runs.append(run)
        self.add(np.array([len(self.runs) - 1]))
        return len(self.runs) - 1

    def forget(self, number: int) -> None:
        self.gone.add(number)
        self.remove(np.array([number]))

    def best(self, query: np.ndarray, limit: int, among: Any = None) -> list[tuple[int, float]]:
        """Search; return pairs."""
        numbers, cosines = self.nearest(query, limit, among)
        return list(zip(numbers.tolist(), cosines.tolist(), strict=True))

    def found(self, query: np.ndarray, limit: int, mask: np.ndarray) -> list[tuple[int, float]]:
        """Search among those of a mask."""
        numbers = np.flatnonzero(mask)
        return self.best(query, limit, (numbers, sum(len(self.runs[n]) for n in numbers.tolist())))

    def again(self, saved: dict[str, np.ndarray]) -> 'Kept':
        """Return another one that begins with what there is, and with the clusters that were saved."""
        made = Kept(self)
        made.load(saved)
        return made


@pytest.fixture
def index(monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    """One so small that clusters begin with 300 passages."""
    monkeypatch.setattr(passage_index, 'FEW', 300)
    monkeypatch.setattr(passage_index, 'READ_AT_ONCE', 10)
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
        index.take(run)
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
        right += len({slot for slot, _ in index.best(query, 5)[:5]} & {slot for slot, _ in expected})
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
    assert close_to(index.found(query, memories, mask), expected)


def test_many_passages_of_one_memory_do_not_hide_the_others(index: Kept) -> None:
    rng = np.random.default_rng(2)
    query = unit(rng, 1)[0]
    hog = query + 0.001 * rng.normal(size=(2_000, D)).astype(np.float32)
    index.take(hog / np.linalg.norm(hog, axis=1, keepdims=True))
    runs = filled(index, 50, seed=4)
    found = index.best(query, 6)[:6]
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
        assert close_to(again.best(query, 3)[:3], exact(runs, query, there)[:3])
    again.close()


@pytest.mark.parametrize('more', [50, 900], ids=['taken in', 'found anew'])
def test_what_came_since_clusters_were_saved_is_found(index: Kept, more: int) -> None:
    runs = filled(index, 400)
    kept = index.dump()
    runs += filled(index, more, seed=7)
    again = index.again(kept)
    again.wait()
    query = runs[-1][0]
    assert again.best(query, 1)[0][0] == len(runs) - 1
    assert close_to(again.best(runs[3][0], 3)[:3], exact(runs, runs[3][0])[:3])
    again.close()


def test_clusters_of_other_vectors_are_found_anew(index: Kept, caplog: pytest.LogCaptureFixture) -> None:
    runs = filled(index, 400)
    rows = np.arange(2_000)
    other = VectorClusters.build(rows, 2_000, lambda n: (np.ones((len(n), 2 * D), np.float32), n))
    again = index.again(other.dump())
    again.wait()
    assert 'are found anew' in caplog.text
    query = unit(np.random.default_rng(1), 1)[0]
    assert close_to(again.best(query, 3)[:3], exact(runs, query)[:3])
    again.close()


def test_nothing_of_what_was_removed_is_saved(index: Kept) -> None:
    runs = filled(index, 400)
    index.forget(7)
    kept = VectorClusters.load(index.dump(), index.live()[0], index.read)
    assert kept is not None
    assert kept.numbers().tolist() == index.live()[0].tolist()
    lists = kept._index.invlists
    assert sum(lists.list_size(i) for i in range(kept._index.nlist)) == sum(map(len, runs)) - len(runs[7])


def test_everything_removed_leaves_an_empty_index_that_goes_on(index: Kept) -> None:
    filled(index, 400)
    for slot in range(400):
        index.forget(slot)
    assert index.best(np.ones(D, np.float32), 3) == []
    again = index.again(index.dump())
    assert again.best(np.ones(D, np.float32), 3) == []
    run = unit(np.random.default_rng(3), 4)
    slot = again.take(run)
    assert again.best(run[2], 1)[0][0] == slot
    again.close()


def test_few_paragraphs_are_compared_exactly_whatever_came_and_went(index: Kept) -> None:
    runs = filled(index, 20)
    query = unit(np.random.default_rng(1), 1)[0]
    there = np.ones(23, np.bool_)
    for change in (None, 'more', 'less'):
        if change == 'more':
            runs += filled(index, 3, seed=5)
        elif change == 'less':
            index.forget(4)
            there[4] = False
        expected = exact(runs, query, there[: len(runs)])
        found = index.best(query, 99)
        assert [number for number, _ in found] == [number for number, _ in expected]
        assert np.allclose([c for _, c in found], [c for _, c in expected], atol=1e-6)
        scope = there[: len(runs)] & (np.arange(len(runs)) % 2 == 0)
        assert close_to(index.found(query, 99, scope), exact(runs, query, scope))
