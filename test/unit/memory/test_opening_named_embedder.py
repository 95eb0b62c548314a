"""A memory that names an embedder of its own: nothing is loaded because a file says so."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import EmbedderUnavailable
from remembr_ros.memory import connected_store
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store

NS = 1_000_000_000


class Named(HashingEmbedder):
    """An embedder with the name of a model."""

    def __init__(self, name: str) -> None:
        super().__init__(64)
        self.name = name


@pytest.mark.parametrize('name', ['somebody/model', '/tmp/of somebody'])
def test_it_is_loaded_only_for_who_names_it(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / 'm.db')
    note = Memory('m1', 'r', 1_700_000_000 * NS, 1_700_000_000 * NS, 'a red door')
    with open_store(path, Named(name)) as made:
        made.add([Observation(note)])
    asked: list[Sequence[object]] = []

    def load(*given: object, **_: object) -> Named:
        asked.append(given)
        return Named(name)

    monkeypatch.setattr(connected_store, 'get_embedder', load)
    with open_store(path) as foreign:
        assert foreign.find(Query(limit=1))[0].memory == note
        with pytest.raises(EmbedderUnavailable, match='--embedder'):
            foreign.find(Query('door'))
        assert asked == []
    with open_store(path, name) as trusted:
        assert trusted.find(Query('door'))[0].memory == note
        assert asked == [(name,)]
