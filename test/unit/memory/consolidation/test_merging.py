"""Consolidation while memories are stored."""

from collections.abc import Callable
from pathlib import Path

import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.consolidation.rule import Consolidation, alike_for
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store

PARKED = Pose(1.0, 2.0, 0.0, 0.5)


@pytest.mark.parametrize(
    ('consolidation', 'expected'),
    [(False, 3), (True, 1), (Consolidation(0.5), 1), (Consolidation(0.5, max_gap_ns=0), 3)],
)
def test_a_stay_is_one_memory_if_that_is_wanted(
    tmp_path: Path, make: Callable[..., Memory], consolidation: bool | Consolidation, expected: int
) -> None:
    stay = [Observation(make(i, caption='A red chair stands there.', pose=PARKED)) for i in range(3)]
    with open_store(str(tmp_path / 'm.db'), HashingEmbedder(64), consolidation=consolidation) as store:
        store.add(stay[:2])
        stored = store.add(stay[2:])
        assert store.count() == expected
        assert stored[0].merged == 4 - expected


def test_the_likeness_is_that_of_the_embedder_and_asked_once(
    tmp_path: Path, make: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def counted(embedder: HashingEmbedder) -> float:
        asked.append(embedder.name)
        return alike_for(embedder)

    monkeypatch.setattr('remembr_ros.memory.consolidation.rule.alike_for', counted)
    with open_store(str(tmp_path / 'm.db'), 'hashing-64', consolidation=True) as store:
        store.add([])
        assert asked == []
        for i in range(2):
            store.add([Observation(make(i))])
    assert asked == ['hashing-64']
