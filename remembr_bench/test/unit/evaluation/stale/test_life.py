"""Two days in a home: where things were, and what is remembered of them."""

from collections import Counter
from itertools import pairwise

import pytest

from remembr_bench.evaluation.stale import life
from remembr_bench.simulation.homes.home import name_of

pytest.importorskip('pyvista', reason='pyvista is not installed')


def test_things_are_moved_and_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(life, 'DAYS', 2)
    stays, memories = life.live_days(1)
    assert len(stays) == len({name_of(item) for item in stays}) > 10
    for of_item in stays.values():
        assert all(before.to_ns <= after.from_ns for before, after in pairwise(of_item))
        assert all(before.place != after.place for before, after in pairwise(of_item))
    assert any(of_item[-1].place is None for of_item in stays.values())
    sources = Counter(memory.source for memory in memories)
    assert set(sources) == {'captioner', 'object', 'agent', 'person', 'place'}
    assert sources['agent'] >= 4
    seen = [memory for memory in memories if memory.source == 'captioner']
    assert all(memory.end_ns - memory.start_ns <= 3 * 10**9 for memory in seen)
    told = [memory for memory in memories if memory.source == 'person']
    assert all((memory.pose is None) == memory.caption.startswith('I took') for memory in told)
