import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from remembr_ros.embedding.behind import EmbedderBehind
from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import EmbedderLoading
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store


def test_a_new_memory_loads_its_embedder_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = []

    def load(name: str | None = None, *, behind: bool = False) -> Embedder:
        loaded.append(name)
        return HashingEmbedder(16)

    for module in ('opening', 'connected_store'):
        monkeypatch.setattr(f'remembr_ros.memory.{module}.get_embedder', load)
    with open_store(str(tmp_path / 'm.db'), 'hashing-16') as store:
        assert store.embedder.name == 'hashing-16'
    assert loaded == ['hashing-16']


@pytest.mark.parametrize('is_new', [True, False], ids=['new', 'existing'])
def test_a_memory_can_be_opened_while_its_embedder_is_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[..., Memory], is_new: bool
) -> None:
    path = str(tmp_path / 'm.db')
    if not is_new:
        open_store(path, 'hashing-16').close()
    released, loaded = threading.Event(), threading.Event()

    def load() -> Embedder:
        assert released.wait(30.0)
        return HashingEmbedder(16)

    def get_embedder(name: str | None = None, *, behind: bool = False) -> Embedder:
        assert behind
        return EmbedderBehind('hashing-16', 16, load)

    for module in ('opening', 'connected_store'):
        monkeypatch.setattr(f'remembr_ros.memory.{module}.get_embedder', get_embedder)
    with open_store(path, None if not is_new else 'hashing-16', behind=True) as store:
        assert (store.embedder.name, store.count(), store.find(Query())) == ('hashing-16', 0, [])
        for use in (lambda: store.find(Query('a door')), lambda: store.add([Observation(make(1))])):
            with pytest.raises(EmbedderLoading, match='is being loaded'):
                use()
        assert store.embedder_behind is not None
        store.embedder_behind.then(loaded.set)
        released.set()
        assert loaded.wait(30.0)
        assert store.add([Observation(make(1))]) == [make(1)]
        assert [hit.memory.id for hit in store.find(Query(make(1).caption))] == ['m1']
