"""A small building as two captioners would remember it, in a store for each of two embedders."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.planner import Run
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import EmbedderUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS

START_NS = 1_700_000_000 * NS

TOUR: list[tuple[str, ...] | str] = [
    ('ROOM 101',),
    (),
    ('ROOM 102', 'LIFT'),
    (),
    ('ROOM 103',),
    ('ROOM 103', 'PRINTER'),
    (),
    ('LAB 3',),
    ('EXIT',),
    (),
    ('Cafetria',),
    ('Dr. Ellis',),
    'A kitchen with red cupboards, a coffee machine and several mugs on the table.',
    'The robot is still in the kitchen. A television hangs on the wall.',
    'A corridor with a blue carpet. A water fountain stands on the left. Two people talk to each other.',
    'There is a green plant by the window and a red sofa. A vending machine sells drinks.',
    'A bicycle leans against a brick wall outside. A dog lies on the grass next to a bench.',
    ('EXIT', 'MEETING POINT'),
    (),
    ('ROOM 101',),
]
"""What was read, or seen, every 10 s at x = 0, 5, 10 ... m."""


def memory(i: int, seen: tuple[str, ...] | str, **changes: Any) -> Memory:
    if isinstance(seen, str):
        caption, texts = seen, ()
    else:
        texts = seen
        quoted = ', '.join(f'"{text}"' for text in texts)
        caption = f'Signs and labels that can be read: {quoted}.' if texts else 'No readable text.'
    start_ns = START_NS + i * 10 * NS
    fields: dict[str, Any] = {
        'id': f't{i:02}',
        'robot': 'robbie',
        'start_ns': start_ns,
        'end_ns': start_ns + 3 * NS,
        'caption': caption,
        'scene_text': texts,
        'pose': Pose(5.0 * i, 1.0, 0.0, 0.5),
    }
    return Memory(**{**fields, **changes})


@pytest.fixture(scope='session')
def make_memory() -> Callable[..., Memory]:
    return memory


@pytest.fixture(scope='session')
def folder() -> Iterator[Path]:
    # In memory where possible: the database syncs each write.
    shared = Path('/dev/shm')
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as path:
        yield Path(path)


def _tour(folder: Path, embedder: str) -> Iterator[MemoryStore]:
    try:
        loaded = get_embedder(embedder)
    except EmbedderUnavailable as error:
        pytest.skip(str(error))
    with open_store(str(folder / f'{embedder}.db'), loaded) as store:
        store.add([Observation(memory(i, seen)) for i, seen in enumerate(TOUR)])
        yield store


@pytest.fixture(scope='session')
def hashing_tour(folder: Path) -> Iterator[MemoryStore]:
    yield from _tour(folder, 'hashing')


@pytest.fixture(scope='session')
def minilm_tour(folder: Path) -> Iterator[MemoryStore]:
    yield from _tour(folder, 'all-MiniLM-L6-v2')


@pytest.fixture(params=['hashing', 'minilm'])
def tour(request: pytest.FixtureRequest) -> MemoryStore:
    """The tour; read only."""
    store: MemoryStore = request.getfixturevalue(f'{request.param}_tour')
    return store


@pytest.fixture
def fresh(folder: Path, request: pytest.FixtureRequest) -> Iterator[Callable[..., MemoryStore]]:
    """Return a function that makes a store of these memories."""
    opened: list[MemoryStore] = []

    def make(*memories: Memory) -> MemoryStore:
        # the numbers of earlier tests' files are taken
        path = folder / f'f{len(list(folder.glob("f*.db")))}.db'
        store = open_store(str(path), get_embedder('hashing'))
        opened.append(store)
        store.add([Observation(m) for m in memories])
        return store

    yield make
    for store in opened:
        store.close()


@pytest.fixture(scope='session')
def ask_about() -> Callable[..., Question]:
    """Make a question, asked 5 minutes after the start from x = 42 m."""

    def make(text: str, **changes: Any) -> Question:
        fields: dict[str, Any] = {'now_ns': START_NS + 300 * NS, 'here': Pose(42.0, 1.0)}
        return Question(text, **{**fields, **changes})

    return make


@pytest.fixture
def run() -> Run:
    return Run(deadline=float('inf'))
