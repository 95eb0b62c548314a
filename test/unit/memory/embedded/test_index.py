"""Who looks for memories while others come."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembr_ros.memory.embedded import passage_index
from remembr_ros.memory.embedded.index import MemoryIndex
from remembr_ros.memory.embedded.index_files import IndexFiles
from remembr_ros.memory.embedded.vector_clusters import VectorClusters
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.recall import ANYTHING
from remembr_ros.memory.model.record import Memory
from test.patience import patiently

D = 8
Make = Callable[..., Memory]
ONES = np.full(D, D**-0.5, np.float32)


@pytest.fixture
def index(tmp_path: Path) -> Iterator[MemoryIndex]:
    made = MemoryIndex(tmp_path / 'index', D)
    yield made
    made.let_go()


def take(index: MemoryIndex, *memories: Memory) -> None:
    index.take([Entry(memory, ONES[None]) for memory in memories], [0] * len(memories))


def held(
    monkeypatch: pytest.MonkeyPatch, of: type[Any], name: str
) -> tuple[threading.Event, threading.Event]:
    """Have a method wait; return what is set when it has begun, and what lets it go on."""
    method = getattr(of, name)
    begun, let = threading.Event(), threading.Event()

    def holding(self: Any, *args: Any) -> Any:
        begun.set()
        assert let.wait(patiently(20.0))
        return method(*args) if isinstance(self, type) else method(self, *args)

    monkeypatch.setattr(of, name, classmethod(holding) if of is VectorClusters else holding)
    return begun, let


def looked_up(index: MemoryIndex) -> list[Any]:
    """Return what is found in each way, on a thread, so that who would wait for ever fails."""
    found: list[Any] = []

    def look() -> None:
        found.append(sorted(memory.id for memory in index.select()))
        found.append(sorted(memory.id for memory in index.newest(ANYTHING, 9)))
        found.append(sorted(index.like(ONES, ANYTHING, 9))[:9])
        found.append(index.count())

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(patiently(5.0))
    assert not looking.is_alive(), 'who looks waits for the disk'
    return found


def test_who_looks_does_not_wait_until_a_memory_is_written(
    index: MemoryIndex, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    take(index, make(1), make(2))
    begun, let = held(monkeypatch, IndexFiles, 'append')
    writing = threading.Thread(target=take, args=[index, make(2, caption='Another text.'), make(3)])
    writing.start()
    assert begun.wait(patiently(20.0))
    try:
        found = looked_up(index)
        captions = {memory.id: memory.caption for memory in index.select()}
        vectors = index.vectors(['m1', 'm2', 'm3'])
        compared = index.compared(ONES[None], ['m1', 'm2', 'm3'])
    finally:
        let.set()
        writing.join()
    assert found == [['m1', 'm2', 'm3'], ['m1', 'm2', 'm3'], ['m1'], 3]
    assert captions['m2'] == 'Another text.'
    assert [vectors[i].shape for i in ('m1', 'm2', 'm3')] == [(1, D)] * 3
    assert [one.cosines.item() for one in compared] == pytest.approx([1.0] * 3, abs=1e-3)
    assert looked_up(index) == [['m1', 'm2', 'm3']] * 3 + [3]


def test_who_looks_does_not_wait_until_clusters_are_found(
    index: MemoryIndex, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage_index, 'FEW', 20)
    begun, let = held(monkeypatch, VectorClusters, 'build')
    take(index, *(make(i) for i in range(21)))
    assert begun.wait(patiently(20.0))
    take(index, make(21))
    try:
        assert looked_up(index)[3] == 22
    finally:
        let.set()
    index.wait()
    assert set(index.like(ONES, ANYTHING, 50)) == {f'm{i}' for i in range(22)}


def test_what_is_selected_is_what_there_was_at_the_call(index: MemoryIndex, make: Make) -> None:
    take(index, make(1), make(2))
    found = index.select()
    index.remove(['m1'])
    take(index, make(3))
    assert sorted(memory.id for memory in found) == ['m1', 'm2']
