import os
import re
import resource
import shutil
import signal
import sqlite3
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory.embedded.database import Database
from remembr_ros.memory.model.recall import Query, Scope
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import EARLIEST_NS, LATEST_NS, NS

Make = Callable[..., Memory]
Add = Callable[..., list[Memory]]

HOSTILE = [
    'say "room"',
    "it's",
    'C:\\temp\\',
    'two\nlines\r\n\tand a tab',
    'zero \0 byte',
    'emoji 🚪😀 and ümlauts',
    '" or robot != "',
    "' or 1=1; drop table memories; --",
    '{"json": [1, 2]} %s {0} ${x}',
    '\u2028\u202e\ufeff',
    ' ',
    '',
]


def test_a_memory_comes_back_as_it_was_stored(store: MemoryStore, make: Make, add: Add) -> None:
    memory = make(
        1,
        pose=Pose(4_123_456.123456789, -0.1, 1e-9, -3.0),
        frame_id='map2',
        map_id='floor 1',
        travelled=1.1,
        scene_text=('EXIT', 'room 417B'),
        captioner='vlm',
        source='agent',
        merged=7,
    )
    assert add(memory, make(2, pose=None)) == [memory, make(2, pose=None)]
    assert store.get(['m2', 'nothing', 'm1', "it's", '']) == [make(2, pose=None), memory]


def test_nothing_is_acknowledged_on_a_full_disk(
    store: MemoryStore, make: Make, add: Add, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    add(make(1))
    usage = shutil.disk_usage(tmp_path)
    monkeypatch.setattr('shutil.disk_usage', lambda _: usage._replace(free=1_000_000))
    for write in (
        lambda: add(make(2)),
        lambda: store.forget(['m1']),
        lambda: open_store(str(tmp_path / 'new.db'), 'hashing'),
    ):
        with pytest.raises(StoreUnavailable, match=r'disk .* is full'):
            write()
    assert store.all() == [make(1)]
    monkeypatch.undo()
    assert add(make(2)) == [make(2)]


def test_numbers_keep_every_bit(store: MemoryStore, make: Make, add: Add) -> None:
    rng = np.random.default_rng(1)
    memories = [
        make(
            i,
            start_ns=int(rng.integers(EARLIEST_NS, LATEST_NS - 2 * NS)),
            pose=Pose(*(rng.standard_normal(4) * 10.0 ** rng.integers(-9, 8))),
        )
        for i in range(100)
    ]
    add(*memories)
    assert store.get([memory.id for memory in memories]) == memories


def test_storing_again_changes_nothing(store: MemoryStore, make: Make, add: Add) -> None:
    memories = [make(i) for i in range(10)]
    add(*memories)
    before = store.info()
    assert add(*memories) == memories
    assert store.info() == before
    assert store.all() == memories


def test_a_changed_memory_replaces_the_old_one(store: MemoryStore, make: Make, add: Add) -> None:
    add(make(1, caption='A red sofa. A lamp. A window.'), make(2, caption='A printer.'))
    add(make(1, caption='A green door.'))
    assert store.count() == 2
    assert store.get(['m1'])[0].caption == 'A green door.'
    assert not any('sofa' in hit.memory.caption for hit in store.find(Query('red sofa')))
    assert store.find(Query('green door'))[0].memory.id == 'm1'


def test_a_replacement_that_is_cut_off_loses_nothing_and_can_be_repeated(
    store: MemoryStore, make: Make, add: Add, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(make(1, caption='A red sofa. A lamp. A window.'))
    put = Database.put

    def fails_at_the_end(self: Database, entries: Any) -> None:
        put(self, entries)
        raise sqlite3.OperationalError('database or disk is full')

    monkeypatch.setattr(Database, 'put', fails_at_the_end)
    with pytest.raises(StoreUnavailable):
        add(make(1, caption='A green door.'))
    assert [memory.caption for memory in store.get(['m1'])] == ['A red sofa. A lamp. A window.']
    assert [hit.memory.id for hit in store.find(Query('sofa'))] == ['m1']
    monkeypatch.undo()
    add(make(1, caption='A green door.'))
    assert store.get(['m1'])[0].caption == 'A green door.'
    assert store.engine.vectors(['m1'])['m1'].shape == (1, 64)


def test_of_two_with_one_id_in_a_batch_the_last_counts(store: MemoryStore, make: Make, add: Add) -> None:
    add(make(1, caption='first'))
    add(make(1, caption='second'), make(1, caption='first'))
    assert [memory.caption for memory in store.all()] == ['first']


@pytest.mark.parametrize('text', HOSTILE)
def test_hostile_texts_are_kept_as_they_are(store: MemoryStore, make: Make, add: Add, text: str) -> None:
    memory = make(1, caption=text, scene_text=(text, 'sign'), captioner=text)
    add(memory, make(2))
    assert store.get(['m1']) == [memory]
    add(memory)
    assert store.count() == 2
    if text.strip():
        assert len(store.find(Query(text))) == 2


@pytest.mark.parametrize('name', [t for t in HOSTILE if t and not re.search(r'[\x00-\x1f]', t)])
def test_hostile_names_admit_only_themselves(store: MemoryStore, make: Make, add: Add, name: str) -> None:
    add(make(1, robot=name, map_id=name), make(2))
    for scope in (Scope(robots=(name,)), Scope(map_id=name), Scope(robots=(name,), map_id=name)):
        assert store.count(scope) == 1
        assert [hit.memory.id for hit in store.find(Query('thing', scope=scope))] == ['m1']
        assert [hit.memory.id for hit in store.find(Query(time_ns=0, scope=scope))] == ['m1']
    assert store.forget(scope=Scope(robots=(name,))) == 1
    assert [memory.id for memory in store.all()] == ['m2']


def test_lone_surrogates_are_replaced(store: MemoryStore, make: Make, add: Add) -> None:
    add(make(1, caption='a \ud800 b', scene_text=('\udfff',), captioner='\ud800'))
    assert store.get(['m1'])[0].caption == 'a ? b'
    assert store.find(Query('a \ud800'))[0].memory.id == 'm1'


@pytest.mark.parametrize('letter', ['x', 'é', '😀', '\x01'])
def test_huge_texts_are_cut_and_not_lost(store: MemoryStore, make: Make, add: Add, letter: str) -> None:
    memory = make(1, caption='A sofa. ' + letter * 70_000, scene_text=('EXIT', letter * 70_000, 'never'))
    (stored,) = add(memory)
    assert store.get(['m1']) == [stored]
    assert memory.caption.startswith(stored.caption)
    assert 59_000 < len(stored.caption.encode()) <= 60_000
    assert stored.scene_text[0] == 'EXIT'
    assert add(memory) == [stored]
    assert store.find(Query('sofa'))[0].memory.id == 'm1'


@pytest.mark.parametrize(
    'changes',
    [
        {'id': ''},
        {'id': '../up'},
        {'id': "it's"},
        {'id': 'a\0b'},
        {'id': 'a' * 65},
        {'robot': 'a\nb'},
        {'robot': '\ud800'},
        {'robot': 'r' * 201},
        {'map_id': '\0'},
        {'frame_id': 'f' * 300},
        {'source': 'camera'},
        {'start_ns': -1, 'end_ns': 5},
        {'start_ns': 5, 'end_ns': 4},
        {'end_ns': 2**63},
        {'pose': Pose(float('nan'), 0.0)},
        {'pose': Pose(0.0, float('inf'))},
        {'pose': Pose(1e39, 0.0)},
        {'pose': Pose(0.0, 0.0, 0.0, float('nan'))},
        {'travelled': float('inf')},
        {'travelled': -1.0},
        {'merged': 0},
    ],
)
def test_memories_without_sense_are_refused_and_nothing_is_stored(
    store: MemoryStore, make: Make, add: Add, changes: dict
) -> None:
    with pytest.raises(InvalidRequest):
        add(make(1), make(2, **changes))
    assert store.count() == 0


def test_nothing_to_add_is_nothing(store: MemoryStore) -> None:
    assert store.add([]) == []
    assert store.get([]) == []
    assert store.all() == []


def test_info_tells_what_is_stored(store: MemoryStore, make: Make, add: Add) -> None:
    empty = store.info()
    assert (empty.memories, empty.placed, empty.first_ns, empty.last_ns, empty.robots) == (
        0,
        0,
        None,
        None,
        (),
    )
    add(make(3, robot='b', map_id='x'), make(1), make(2, pose=None, source='person'))
    info = store.info()
    assert (info.memories, info.placed) == (3, 2)
    assert (info.first_ns, info.last_ns) == (make(1).start_ns, make(3).end_ns)
    assert (info.robots, info.maps) == (('b', 'robbie'), ('', 'x'))
    assert info.sources == ('captioner', 'person')
    assert (info.embedder, info.dimension) == ('hashing-64', 64)


def test_forgetting_needs_a_condition(store: MemoryStore, add: Add, make: Make) -> None:
    add(make(1))
    with pytest.raises(InvalidRequest, match='condition'):
        store.forget()
    assert store.forget([]) == 0
    assert store.forget(['nothing', "it's", '" or id != "']) == 0
    assert store.count() == 1


@pytest.mark.parametrize(
    ('asked', 'left'),
    [
        ((['m1', 'm3', 'm1'], Scope()), ['m0', 'm2', 'm4']),
        ((None, Scope(after_ns=1_700_000_006_000_000_000)), ['m0', 'm1']),
        ((None, Scope(near=(1.0, 0.0, 0.0), radius_m=1.0)), ['m3', 'm4']),
        ((['m0', 'm4'], Scope(near=(0.0, 0.0, 0.0), radius_m=2.0)), ['m1', 'm2', 'm3', 'm4']),
    ],
)
def test_the_forgotten_is_not_found_by_any_recall(
    store: MemoryStore, make: Make, add: Add, asked: tuple[list[str] | None, Scope], left: list[str]
) -> None:
    memories = [make(i) for i in range(5)]
    add(*memories)
    assert store.forget(*asked) == 5 - len(left)
    assert [memory.id for memory in store.all()] == left
    assert {hit.memory.id for hit in store.find(Query('thing number', limit=9))} == set(left)
    assert {hit.memory.id for hit in store.find(Query(place=(0.0, 0.0, 0.0), limit=9))} == set(left)
    assert {hit.memory.id for hit in store.find(Query(time_ns=0, limit=9))} == set(left)
    assert set(store.engine.vectors([memory.id for memory in memories])) == set(left)


def test_twenty_thousand_ids_can_be_asked_for_at_once(store: MemoryStore, make: Make, add: Add) -> None:
    add(make(1))
    ids = [f'{i:020d}' for i in range(20_000)] + ['m1']
    assert [memory.id for memory in store.get(ids)] == ['m1']
    assert store.forget(ids) == 1


def test_threads_may_add_and_recall_at_once(store: MemoryStore, make: Make, add: Add) -> None:
    add(make(0))
    failures: list[Exception] = []

    def work(job: Callable[[int], object]) -> None:
        try:
            for i in range(8):
                job(i)
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    jobs = [lambda i, k=k: add(make(1 + 8 * k + i)) for k in range(3)]
    jobs += [
        lambda i: store.find(Query('thing'))[0],
        lambda i: store.find(Query(place=(0.0, 0.0, 0.0)))[0],
        lambda i: store.find(Query(time_ns=0))[0],
    ]
    threads = [threading.Thread(target=work, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60.0)
    assert failures == []
    assert [memory.id for memory in store.all()] == [f'm{i}' for i in range(25)]


@pytest.fixture
def own(tmp_path: Path) -> MemoryStore:
    """A store with a file and a keyframe folder of its own."""
    with open_store(str(tmp_path / 'own.db'), 'hashing-8') as opened:
        yield opened


@cache
def jpeg(number: int, side: int = 16) -> bytes:
    image = np.random.default_rng(number).integers(0, 256, (side, side, 3), np.uint8)
    return cv2.imencode('.jpg', image)[1].tobytes()


def test_keyframes_live_and_die_with_their_memories(own: MemoryStore, make: Make) -> None:
    a, b = own.add([Observation(make(1), (jpeg(1), jpeg(2), jpeg(3))), Observation(make(2), (jpeg(4),))])
    assert own.get(['m1', 'm2']) == [a, b]
    assert [own.keyframe('m1', i) for i in range(3)] == [jpeg(1), jpeg(2), jpeg(3)]
    assert own.info().keyframes == 4
    own.add([Observation(make(1), (jpeg(5),))])  # fewer than before: nothing would name the others
    assert own.info().keyframes == 2
    assert own.keyframe('m1') == jpeg(5)
    for memory_id, index in (('m1', 1), ('m1', -1), ('nothing', 0), ("it's", 0)):
        with pytest.raises(InvalidRequest):
            own.keyframe(memory_id, index)
    assert own.forget(['m1']) == 1
    assert own.info().keyframes == 1


def test_a_keyframe_that_two_memories_share_outlives_one_of_them(own: MemoryStore, make: Make) -> None:
    own.add([Observation(make(1), (jpeg(1), jpeg(2))), Observation(make(2), (jpeg(1),))])
    assert own.info().keyframes == 2
    own.forget(['m1'])
    assert own.keyframe('m2') == jpeg(1)
    assert own.info().keyframes == 1
    own.forget(['m2'])
    assert own.info().keyframes == 0


def test_without_room_a_memory_is_stored_without_keyframes(
    own: MemoryStore, make: Make, caplog: pytest.LogCaptureFixture
) -> None:
    limit = 400_000  # the database, in this process, needs some
    small, large = jpeg(1, 8), jpeg(2, 1_200)
    assert len(small) < limit < len(large)
    previous = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, previous[1]))
    try:
        (stored,) = own.add([Observation(make(1), (large, small))])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, previous)
        signal.signal(signal.SIGXFSZ, handler)
    assert own.get(['m1']) == [stored] == [make(1)]
    assert own.info().keyframes == 0
    assert 'without keyframes' in caplog.text
    (again,) = own.add([Observation(make(1), (large, small))])
    assert len(again.keyframes) == 2


def test_keyframes_that_cannot_be_deleted_are_an_error(
    own: MemoryStore, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    own.add([Observation(make(1), (jpeg(1),))])

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, 'Permission denied')

    monkeypatch.setattr('remembr_ros.memory.keyframes.files.delete', denied)
    with pytest.raises(StoreUnavailable, match='by hand'):
        own.forget(['m1'])
    assert own.count() == 0


def test_a_closed_store_says_so_and_closes_twice(tmp_path: Path, make: Make) -> None:
    path = str(tmp_path / 'm.db')
    first, second = open_store(path, 'hashing-8'), open_store(path)
    first.add([Observation(make(1))])
    first.close()
    first.close()
    assert second.count() == 1
    second.close()
    with pytest.raises(StoreUnavailable):
        second.count()
    with pytest.raises(StoreUnavailable):
        second.add([Observation(make(2))])
    assert not os.path.exists(f'{path}.keyframes')
