"""Who looks for memories while others come."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembr_ros.memory.embedded import passage_index
from remembr_ros.memory.embedded.database import Database
from remembr_ros.memory.embedded.engine import EmbeddedEngine, open_embedded
from remembr_ros.memory.embedded.vector_clusters import VectorClusters
from remembr_ros.memory.model.engine import VERSION, Entry, Stamp
from remembr_ros.memory.model.recall import ANYTHING
from remembr_ros.memory.model.record import Memory
from test.patience import patiently

D = 8
Make = Callable[..., Memory]
ONES = np.full(D, D**-0.5, np.float32)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[EmbeddedEngine]:
    made = open_embedded(str(tmp_path / 'memory.db'), 'memories', lambda: Stamp(VERSION, 'test', D))
    yield made
    made.close()


def put(engine: EmbeddedEngine, *memories: Memory) -> None:
    engine.put([Entry(memory, ONES[None]) for memory in memories])


def held(
    monkeypatch: pytest.MonkeyPatch, of: type[Any], name: str
) -> tuple[threading.Event, threading.Event]:
    """Have a method wait after its work; return what is set when that is done, and what lets it go on."""
    method = getattr(of, name)
    begun, let = threading.Event(), threading.Event()

    def holding(self: Any, *args: Any) -> Any:
        found = method(*args) if isinstance(self, type) else method(self, *args)
        begun.set()
        assert let.wait(patiently(20.0))
        return found

    monkeypatch.setattr(of, name, classmethod(holding) if of is VectorClusters else holding)
    return begun, let


def looked_up(engine: EmbeddedEngine) -> list[Any]:
    """Return what is found in each way, on a thread, so that who would wait for ever fails."""
    found: list[Any] = []

    def look() -> None:
        found.append(sorted(memory.id for memory in engine.select()))
        found.append(sorted(memory.id for memory in engine.newest(ANYTHING, 9)))
        found.append(sorted(engine.like(ONES, ANYTHING, 9))[:9])
        found.append(engine.count())

    looking = threading.Thread(target=look, daemon=True)
    looking.start()
    looking.join(patiently(5.0))
    assert not looking.is_alive(), 'who looks waits for the disk'
    return found


def test_who_looks_while_memories_are_written_sees_those_that_are_committed(
    engine: EmbeddedEngine, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(engine, make(1), make(2))
    begun, let = held(monkeypatch, Database, 'put')
    writing = threading.Thread(target=put, args=[engine, make(2, caption='Another text.'), make(3)])
    writing.start()
    assert begun.wait(patiently(20.0))
    try:
        found = looked_up(engine)
        captions = {memory.id: memory.caption for memory in engine.select()}
        vectors = engine.vectors(['m1', 'm2', 'm3'])
        compared = engine.compared(ONES[None], ['m1', 'm2', 'm3'])
    finally:
        let.set()
        writing.join()
    assert found == [['m1', 'm2'], ['m1', 'm2'], ['m1', 'm2'], 2]
    assert captions['m2'] == make(2).caption
    assert [vectors[i].shape for i in ('m1', 'm2')] == [(1, D)] * 2
    assert [one.cosines.item() for one in compared] == pytest.approx([1.0] * 2, abs=1e-3)
    assert looked_up(engine) == [['m1', 'm2', 'm3']] * 3 + [3]
    assert engine.get(['m2'])[0].caption == 'Another text.'


def test_who_looks_does_not_wait_until_clusters_are_found(
    engine: EmbeddedEngine, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passage_index, 'FEW', 20)
    begun, let = held(monkeypatch, VectorClusters, 'build')
    put(engine, *(make(i) for i in range(21)))
    assert begun.wait(patiently(20.0))
    put(engine, make(21))
    engine.delete(['m3'])
    try:
        assert looked_up(engine)[3] == 21
    finally:
        let.set()
    engine.wait()
    assert set(engine.like(ONES, ANYTHING, 50)) == {f'm{i}' for i in range(22) if i != 3}


def test_what_is_selected_is_what_there_was_at_the_call(engine: EmbeddedEngine, make: Make) -> None:
    put(engine, make(1), make(2))
    found = engine.select()
    engine.delete(['m1'])
    put(engine, make(3))
    assert sorted(memory.id for memory in found) == ['m1', 'm2']
