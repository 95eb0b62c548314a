"""Memories from one store to another, through a file."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.errors import BagUnreadable
from remembr_ros.memory import intake
from remembr_ros.memory.exchange import transfer
from remembr_ros.memory.exchange.transfer import export_memories, import_memories
from remembr_ros.memory.model.recall import Query, Scope
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore


class Counting(HashingEmbedder):
    """Keeps what it was asked for."""

    def __init__(self, dimension: int) -> None:
        super().__init__(dimension)
        self.texts: list[str] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.texts += texts
        return super().embed(texts)


@pytest.fixture
def filled(store: MemoryStore, make: Callable[..., Memory]) -> list[Memory]:
    """Memories in the store (hashing-64): notes, several segments in one, unplaced ones, an image."""
    image = cv2.imencode('.jpg', np.full((16, 16, 3), 90, np.uint8))[1].tobytes()
    odd = [
        make(0, caption='"Quotes", \U0001f916 and\nlines; DROP TABLE', merged=7, travelled=1.5),
        make(1, source='person', pose=None, map_id='first', captioner='x'),
        make(2, caption='', scene_text=('ROOM 7', 'EXIT')),
        *(make(i, robot='other' if i % 2 else 'robbie') for i in range(3, 12)),
    ]
    return store.add([Observation(odd[0], (image,)), *map(Observation, odd[1:])])


@pytest.fixture(params=[64, 128])
def other(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryStore]:
    """An empty store whose embedder is, or is not, that of the first one."""
    with open_store(str(tmp_path / 'other.db'), HashingEmbedder(request.param)) as opened:
        yield opened


@pytest.mark.parametrize('name', ['m.jsonl', 'm.jsonl.gz'])
def test_a_round_trip_changes_nothing(
    store: MemoryStore, other: MemoryStore, filled: list[Memory], tmp_path: Path, name: str
) -> None:
    seen: list[int] = []
    assert export_memories(store, tmp_path / name, on_progress=seen.append) == len(filled) == seen[-1]
    done = import_memories(other, tmp_path / name)
    same = other.embedder.dimension == 64
    assert (done.read, done.added, done.replaced) == (12, 12, 0)
    assert done.embedded == (0 if same else 12)
    assert other.all() == store.all() == filled
    assert other.keyframe(filled[0].id) == store.keyframe(filled[0].id)
    for text in ('ROOM 7', 'thing number 5'):
        assert other.find(Query(text, limit=1))[0].memory == store.find(Query(text, limit=1))[0].memory
    again = import_memories(other, tmp_path / name)
    assert (again.unchanged, again.embedded) == (12, 0)
    assert other.all() == filled


def test_an_import_goes_on_where_it_was_interrupted(
    store: MemoryStore,
    other: MemoryStore,
    filled: list[Memory],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(transfer, 'BATCH', 5)
    export_memories(store, tmp_path / 'm.jsonl')

    def interrupt(done: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_memories(other, tmp_path / 'm.jsonl', on_progress=interrupt)
    assert other.all() == filled[:5]
    done = import_memories(other, tmp_path / 'm.jsonl')
    assert (done.added, done.unchanged) == (7, 5)
    assert other.all() == filled


@pytest.mark.parametrize('apart', [2, 10])
def test_what_repeats_in_a_file_is_embedded_once(
    store: MemoryStore,
    make: Callable[..., Memory],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    apart: int,
) -> None:
    """Within a batch and over batches; more texts than are kept while a robot drives."""
    monkeypatch.setattr(transfer, 'BATCH', 5)
    monkeypatch.setattr(intake, 'MOST_BYTES', 0)
    store.add([Observation(make(i, caption=f'A shelf of type {i % apart}.')) for i in range(30)])
    export_memories(store, tmp_path / 'm.jsonl', vectors=False)
    embedder = Counting(64)
    with open_store(str(tmp_path / 'counting.db'), embedder) as other:
        embedder.texts.clear()
        assert import_memories(other, tmp_path / 'm.jsonl').embedded == 30
        assert sorted(embedder.texts) == [f'A shelf of type {i}.' for i in range(apart)]
        assert other.all() == store.all()


def test_what_comes_before_damage_is_stored(
    store: MemoryStore, other: MemoryStore, filled: list[Memory], tmp_path: Path
) -> None:
    path = tmp_path / 'm.jsonl'
    export_memories(store, path)
    path.write_bytes(b''.join(path.read_bytes().splitlines(keepends=True)[:8])[:-9])
    with pytest.raises(BagUnreadable, match='6 memories before it are whole'):
        import_memories(other, path)
    assert other.all() == filled[:6]


def test_a_scope_and_parts_left_out(
    store: MemoryStore, other: MemoryStore, filled: list[Memory], tmp_path: Path
) -> None:
    scope = Scope(robots=('robbie',), source='captioner')
    expected = [m for m in filled if scope.admits(m)]
    path = tmp_path / 'm.jsonl'
    assert export_memories(store, path, scope, vectors=False, keyframes=False) == len(expected)
    done = import_memories(other, path)
    assert done.embedded == len(expected)
    assert other.all() == [replace(m, keyframes=()) for m in expected]
    # Into where they came from: what the file leaves out stays.
    assert import_memories(store, path).unchanged == len(expected)
    assert store.all() == filled


def test_the_memories_of_two_robots_become_those_of_one(
    store: MemoryStore, other: MemoryStore, filled: list[Memory], tmp_path: Path
) -> None:
    export_memories(store, tmp_path / 'm.jsonl')
    for _ in range(2):
        import_memories(other, tmp_path / 'm.jsonl', robot='third', map_id='cellar')
    assert {(m.robot, m.map_id) for m in other.all()} == {('third', 'cellar')}
    assert [m.caption for m in other.all()] == [m.caption for m in filled]


def test_a_changed_memory_is_replaced(store: MemoryStore, filled: list[Memory], tmp_path: Path) -> None:
    export_memories(store, tmp_path / 'm.jsonl')
    store.add([Observation(replace(filled[3], caption='Something else.'))])
    done = import_memories(store, tmp_path / 'm.jsonl')
    assert (done.added, done.replaced, done.unchanged) == (0, 1, 11)
    assert store.all() == filled


def test_upstreams_captions_are_memories(other: MemoryStore, tmp_path: Path) -> None:
    path = tmp_path / 'captions_0.json'
    path.write_text(
        '[{"id": 0, "position": [1, 2, 3], "theta": 0.5, "time": 11.5, "start_time": 10, "end_time": 13,'
        ' "caption": "A lift."}]'
    )
    assert import_memories(other, path).embedded == 1
    (memory,) = other.all()
    assert (memory.caption, memory.map_id, memory.end_ns) == ('A lift.', 'captions_0', 13_000_000_000)


def test_a_memory_that_makes_no_sense_is_refused_with_its_file(other: MemoryStore, tmp_path: Path) -> None:
    path = tmp_path / 'm.jsonl'
    path.write_text(
        '{"format":"remembr_ros memories","version":1,"count":1}\n'
        '{"id":"../x","robot":"r","start_ns":1,"end_ns":2,"caption":"c"}\n'
    )
    with pytest.raises(BagUnreadable, match='is not the id of a memory'):
        import_memories(other, path)
    assert other.count() == 0


@pytest.mark.parametrize('damage', ['flipped', 'no JPEG', 'cut'])
def test_a_damaged_keyframe_is_named_and_left_out(
    store: MemoryStore, filled: list[Memory], tmp_path: Path, caplog: pytest.LogCaptureFixture, damage: str
) -> None:
    images = [cv2.imencode('.jpg', np.full((16, 16, 3), n, np.uint8))[1].tobytes() for n in (9, 90, 200)]
    (stored,) = store.add([Observation(replace(filled[0], id='pictured'), tuple(images))])
    bad, missing, whole = stored.keyframes
    place = store.keyframes.folder / bad[:2] / bad
    data = place.read_bytes()
    changed = {'flipped': data[:-9] + bytes([data[-9] ^ 1]) + data[-8:], 'cut': data[:50]}
    place.write_bytes(changed.get(damage, b'?' * len(data)))
    (store.keyframes.folder / missing[:2] / missing).unlink()  # such as of another robot
    found: list[tuple[str, str]] = []
    export_memories(store, tmp_path / 'm.jsonl', on_damaged=lambda *which: found.append(which))
    assert found == [(stored.id, bad)]
    [said] = [record.getMessage() for record in caplog.records if 'keyframe' in record.getMessage()]
    assert stored.id in said
    assert bad in said
    assert 'backup' in said
    import_memories(store, tmp_path / 'm.jsonl')
    assert store.get([stored.id])[0].keyframes == (whole,)
    caplog.clear()
    export_memories(store, tmp_path / 'm.jsonl', keyframes=False)
    assert not caplog.records
