"""One embedded database for these tests, a collection of its own for each."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore

START_NS = 1_700_000_000_000_000_000


@pytest.fixture(scope='session')
def database() -> Iterator[str]:
    """The path of a database that stays open."""
    # In memory where possible: the database syncs each write, which some hundred tests need not wait for.
    shared = Path('/dev/shm')
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        path = f'{folder}/memory.db'
        with open_store(path, HashingEmbedder(8), collection='held'):
            yield path


@pytest.fixture
def store(database: str, request: pytest.FixtureRequest) -> Iterator[MemoryStore]:
    """An empty store."""
    database_collections = request.config.stash.setdefault(_COUNT, [])
    database_collections.append(request.node.name)
    with open_store(database, HashingEmbedder(64), collection=f'c{len(database_collections)}') as opened:
        yield opened


_COUNT = pytest.StashKey[list[str]]()


@pytest.fixture
def make() -> Callable[..., Memory]:
    """Make the memory number i: 2 s long, every 3 s, a metre further along x."""

    def memory(i: int = 0, **changes: Any) -> Memory:
        start_ns = START_NS + i * 3_000_000_000
        fields: dict[str, Any] = {
            'id': f'm{i}',
            'robot': 'robbie',
            'start_ns': start_ns,
            'end_ns': start_ns + 2_000_000_000,
            'caption': f'I see thing number {i}.',
            'pose': Pose(float(i), 0.0, 0.0, 0.5),
            'facts': {'number': i, 'parts': [{'name': 'lid'}]},
        }
        if 'start_ns' in changes:
            fields['end_ns'] = changes['start_ns'] + 2_000_000_000
        return Memory(**{**fields, **changes})

    return memory


@pytest.fixture
def add(store: MemoryStore) -> Callable[..., list[Memory]]:
    """Store memories."""

    def stored(*memories: Memory) -> list[Memory]:
        return store.add([Observation(memory) for memory in memories])

    return stored
