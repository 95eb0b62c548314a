"""A store whose process ended in the middle of something, opened again: done once, and whole."""

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.cli.main import main
from remembr_ros.errors import StoreUnavailable
from remembr_ros.geometry import RigidTransform
from remembr_ros.memory.embedded.database import Database
from remembr_ros.memory.embedded.engine import EmbeddedEngine
from remembr_ros.memory.keyframes.folder import KeyframeFolder
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.motion.pose_graph import PoseGraph
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.pending.change_log import ChangeLog
from remembr_ros.memory.retention import RetentionPolicy
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import MAX_NS
from test.unit.memory.test_store import jpeg

Make = Callable[..., Memory]
BY = RigidTransform((100.0, 0.0, 0.0))
MANY = 12


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr('remembr_ros.memory.whole_changes.BATCH', 5)
    shared = Path('/dev/shm')  # where there is no waiting for a disk
    with tempfile.TemporaryDirectory(dir=shared if os.access(shared, os.W_OK) else None) as folder:
        yield f'{folder}/memory.db'


def opened(path: str) -> MemoryStore:
    return open_store(path, 'hashing-16')


def killed_at(patch: pytest.MonkeyPatch, owner: type, name: str, call: int) -> None:
    """Let the process end at a call of a method."""
    real, calls = getattr(owner, name), iter(range(10**6))

    def method(self: Any, *arguments: Any, **options: Any) -> Any:
        if next(calls) == call:
            raise Killed
        return real(self, *arguments, **options)

    patch.setattr(owner, name, method)


@pytest.fixture
def dying(path: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Do something to the memory, and end the process at a call of a method."""

    def run(owner: type, name: str, call: int, work: Callable[[MemoryStore], object]) -> None:
        store = opened(path)
        with monkeypatch.context() as patch:
            killed_at(patch, owner, name, call)
            with pytest.raises(Killed), store:
                work(store)

    return run


def traces(path: str, text: bytes) -> list[Path]:
    return [f for f in Path(path).parent.rglob('*') if f.is_file() and text in f.read_bytes()]


def pictures(path: str) -> int:
    return len(list(Path(path).parent.glob('*.keyframes/*/*.jpg')))


def fill(path: str, make: Make, count: int, map_id: str = 'a') -> None:
    with opened(path) as store:
        store.add([Observation(make(i, map_id=map_id)) for i in range(count)])


def places(path: str) -> set[float]:
    """Return by how much the memories were moved."""
    with opened(path) as store:
        return {m.pose.x - int(m.id[1:]) for m in store.all() if m.pose}


def test_a_map_that_was_cut_off_while_it_moved_moves_once(
    path: str, make: Make, dying: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    fill(path, make, MANY)
    dying(EmbeddedEngine, 'update', 1, lambda store: store.move_map('a', BY))
    again = ['map', 'transform', 'a', '--by', '100', '0', '0', '--memory', path]
    assert main(again) == 0
    assert f'{MANY} memories' in capsys.readouterr().out
    assert places(path) == {100.0}
    assert main(again) == 0  # asked for again by somebody who was told
    assert places(path) == {200.0}


def test_a_map_that_was_cut_off_is_moved_when_the_memory_is_opened(
    path: str, make: Make, dying: Callable[..., None], capsys: pytest.CaptureFixture[str]
) -> None:
    fill(path, make, MANY)
    dying(EmbeddedEngine, 'update', 1, lambda store: store.move_map('a', BY))
    assert places(path) == {100.0}
    assert main(['map', 'transform', 'a', '--by', '100', '0', '0', '--memory', path]) == 0
    assert 'no memory was moved twice' in capsys.readouterr().err
    assert places(path) == {100.0}


STEPS_OF_MOVING = [((ChangeLog, 'write', 1), 0.0), ((EmbeddedEngine, 'update', 1), 100.0)]


@pytest.mark.parametrize(('step', 'begun'), STEPS_OF_MOVING)
def test_a_correction_by_the_pose_graph_that_was_cut_off_moves_once(
    path: str, make: Make, dying: Callable[..., None], step: tuple[type, str, int], begun: float
) -> None:
    fill(path, make, MANY)
    graph, way = PoseGraph(), {number: complex(number, 0.0) for number in range(MANY)}
    assert graph.take(way, MAX_NS) == []
    [moves] = graph.take({number: place + 100.0 for number, place in way.items()}, MAX_NS)
    dying(*step, lambda store: store.move_map('a', moves))
    assert {round(by, 6) for by in places(path)} == {begun}, 'what was begun is finished when it is opened'
    with opened(path) as store:
        assert store.move_map('a', moves) == MANY, 'asked for again, it is told'
    assert {round(by, 6) for by in places(path)} == {100.0}


RENAMING = [(ChangeLog, 'write', 1), (EmbeddedEngine, 'update', 1), (Database, 'update', 0)]


@pytest.mark.parametrize('step', RENAMING)
def test_a_rename_that_was_cut_off_can_be_repeated(
    path: str, make: Make, dying: Callable[..., None], step: tuple[type, str, int]
) -> None:
    fill(path, make, MANY)
    dying(*step, lambda store: store.move_map('a', new_map_id='b'))
    assert main(['map', 'rename', 'a', 'b', '--memory', path]) == 0
    with opened(path) as store:
        assert store.info().maps == ('b',)
    assert main(['map', 'rename', 'a', 'b', '--memory', path]) == 1


def secrets(path: str, make: Make) -> None:
    with opened(path) as store:
        store.add([Observation(make(i, caption=f'Secret {i} of Anna.'), (jpeg(i),)) for i in range(12)])


STEPS = [
    (EmbeddedEngine, 'delete', 1),
    (Database, 'delete', 0),
    (KeyframeFolder, 'remove', 0),
    (KeyframeFolder, '_delete', 3),
    (EmbeddedEngine, 'vacuum', 0),
]


@pytest.mark.parametrize('step', STEPS, ids=lambda step: step[1])
def test_a_forgetting_that_was_cut_off_leaves_nothing(
    path: str, make: Make, dying: Callable[..., None], step: tuple[type, str, int]
) -> None:
    secrets(path, make)
    dying(*step, lambda store: store.forget(text='secret'))
    with opened(path) as store:
        assert store.count() == 0
        store.forget(text='secret')
        assert store.info().problem == ''
    assert not traces(path, b'of Anna')
    assert pictures(path) == 0


def test_without_room_to_clean_the_file_the_next_forgetting_or_opening_does_it(
    path: str, make: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    secrets(path, make)
    full = pytest.MonkeyPatch()
    full.setattr(Database, 'vacuum', _no_room)
    with opened(path) as store:
        with pytest.raises(StoreUnavailable, match='Make room'):
            store.forget(text='secret')
        assert 'Make room' in store.problem
    with opened(path) as store:
        assert 'Make room' in store.info().problem
        assert 'Make room' in caplog.text
        with pytest.raises(StoreUnavailable, match='Make room'):
            store.forget(text='secret')
        full.undo()
        assert store.forget(text='secret') == 0
        assert store.problem == ''
        assert not traces(path, b'of Anna')
    assert pictures(path) == 0


def _no_room(_: Database) -> None:
    raise StoreUnavailable('deleted memories can still be read. Make room')


@pytest.mark.parametrize('step', STEPS[1:4], ids=lambda step: step[1])
def test_what_was_too_much_is_gone_with_its_pictures(
    path: str, make: Make, dying: Callable[..., None], step: tuple[type, str, int]
) -> None:
    secrets(path, make)
    policy = RetentionPolicy(max_memories=3)
    dying(*step, lambda store: store.retain(policy, 10**18))
    with opened(path) as store:
        assert store.count() == 3
        assert store.retain(policy, 10**18).ids == []
    assert pictures(path) == 3


def test_the_pictures_of_a_stay_that_are_not_kept_are_deleted(path: str, make: Make) -> None:
    same = {'caption': 'A red door.', 'pose': make(0).pose}
    with open_store(path, 'hashing-16', consolidation=True) as store:
        for i in range(5):
            store.add([Observation(make(i, **same), (jpeg(2 * i), jpeg(2 * i + 1)))])
        (stay,) = store.all()
        assert stay.merged == 5
        assert store.info().keyframes == len(stay.keyframes) == 2
        store.forget([stay.id])
    assert pictures(path) == 0


def test_the_pictures_of_what_is_replaced_are_deleted_also_after_the_end_of_the_process(
    path: str, make: Make, dying: Callable[..., None]
) -> None:
    with opened(path) as store:
        store.add([Observation(make(1), (jpeg(1), jpeg(2)))])
    changed = Observation(make(1, caption='A blue door.'), (jpeg(2), jpeg(3)))
    dying(KeyframeFolder, 'remove', 0, lambda store: store.add([changed]))
    with opened(path) as store:
        assert store.add([changed])[0].caption == 'A blue door.'
        assert store.info().keyframes == 2
        assert store.keyframes.those_of(store.all()[0].keyframes) == (jpeg(2), jpeg(3))


def test_a_replacement_looks_at_no_other_memories(
    path: str, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened(path) as store:
        store.add([Observation(make(i), (jpeg(i),)) for i in range(50)])
        looked: list[object] = []
        real = EmbeddedEngine.select
        monkeypatch.setattr(EmbeddedEngine, 'select', lambda *a: looked.append(a) or real(*a))
        monkeypatch.setattr(EmbeddedEngine, 'named', _counted(EmbeddedEngine.named, looked))
        for i in range(20):  # the same images, as recaption does
            store.add([Observation(make(i, caption='A door.'), (jpeg(i),))])
        assert looked == []
        store.add([Observation(make(i, caption='A window.'), (jpeg(100 + i),)) for i in range(20)])
        assert len(looked) == 1, 'once for all of them'
        assert store.info().keyframes == 50


def _counted(real: Callable[..., Any], calls: list[object]) -> Callable[..., Any]:
    def method(self: Any, names: Any) -> Any:
        calls.append(sorted(names))
        return real(self, names)

    return method
