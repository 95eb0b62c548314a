import threading
from dataclasses import replace

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: make setup')

from remembr_ros.errors import EmbedderLoading, InvalidRequest, StoreUnavailable
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.nodes.memory import caption_intake
from remembr_ros.nodes.memory.caption_intake import StoreWriter
from remembr_ros.nodes.memory.parameters import MemoryParameters


class Log:
    """Keeps what is logged."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def error(self, text: str, **_) -> None:
        self.lines.append(text)


class Store:
    """Keeps batches; fails as it is told."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.down = threading.Event()
        self.tried = threading.Event()
        self.gate = threading.Event()
        self.gate.set()

    def add_heard(self, observations):
        self.tried.set()
        assert self.gate.wait(10)
        if self.down.is_set():
            raise StoreUnavailable('the disk is full')
        ids = [observation.memory.id for observation in observations]
        if 'bad' in ids:
            raise InvalidRequest('bad memory')
        if 'bug' in ids:
            raise KeyError('bug')
        self.batches.append(ids)
        return [observation.memory for observation in observations]

    @property
    def ids(self) -> list[str]:
        return [name for batch in self.batches for name in batch]


def nobody(*_) -> None:
    """Whom nothing is told."""


def observation(name: str) -> Observation:
    return Observation(Memory(name, 'robot', 0, 1, 'text'))


@pytest.fixture
def store():
    return Store()


@pytest.fixture
def writer(store):
    stored, refused = [], []
    made = StoreWriter(
        store,
        lambda batch, memories: stored.extend(zip(batch, memories, strict=True)),
        lambda memory_id, result, why: refused.append((memory_id, why)),
        Log(),
        MemoryParameters(batch_size=3, retry_period=0.01),
    )
    made.heard, made.refused = stored, refused
    yield made
    store.gate.set()
    made.close()


def test_everything_is_stored_in_order_and_told(store, writer):
    names = [str(i) for i in range(4)]
    for name in names:
        writer.put(observation(name))
    assert writer.drain(10)
    assert store.ids == names
    assert [memory.id for _, memory in writer.heard] == names
    assert [observation.memory.id for observation, _ in writer.heard] == names
    assert (writer.stored, writer.waiting) == (4, 0)


def test_what_waits_is_stored_in_batches(store, writer):
    store.gate.clear()
    writer.put(observation('first'))
    assert store.tried.wait(10)
    for name in 'abcd':
        writer.put(observation(name))
    store.gate.set()
    assert writer.drain(10)
    assert store.batches == [['first'], ['a', 'b', 'c'], ['d']]


def test_a_store_out_of_reach_is_tried_until_it_is_back(store, writer):
    store.down.set()
    writer.put(observation('patient'))
    assert store.tried.wait(10)
    assert not writer.drain(0.05)
    assert writer.problem == 'the disk is full'
    store.down.clear()
    assert writer.drain(10)
    assert store.ids == ['patient']
    assert writer.problem == ''


def test_an_embedder_that_is_being_loaded_is_no_failure(store, monkeypatch):
    asked = threading.Event()

    def loading(_):
        asked.set()
        raise EmbedderLoading('soon')

    writer = StoreWriter(store, nobody, nobody, log := Log(), MemoryParameters())
    with monkeypatch.context() as patch:
        patch.setattr(store, 'add_heard', loading)
        writer.put(observation('early'))
        assert asked.wait(10)
        assert (writer.problem, writer.waiting, log.lines) == ('', 1, [])
    assert writer.drain(10)
    assert store.ids == ['early']
    writer.close()


@pytest.mark.parametrize('name', ['bad', 'bug'])
def test_what_the_store_refuses_does_not_hold_up_the_rest(store, writer, name):
    store.gate.clear()
    writer.put(observation('first'))
    assert store.tried.wait(10)
    for each in ('a', name, 'b'):
        writer.put(observation(each))
    store.gate.set()
    assert writer.drain(10)
    assert store.ids == ['first', 'a', 'b']
    assert writer.rejected == 1
    # Of a bug nobody says that the caption makes no sense.
    assert writer.refused == ([('bad', 'bad memory')] if name == 'bad' else [])


def test_what_waits_already_is_queued_once_and_of_two_with_one_id_the_last(store, writer):
    store.gate.clear()
    writer.put(observation('first'))
    assert store.tried.wait(10)
    writer.put(observation('first'))
    for name in 'aab':
        writer.put(observation(name))
    better = Observation(replace(observation('a').memory, caption='better'))
    writer.put(better)
    assert writer.waiting == 3
    store.gate.set()
    assert writer.drain(10)
    assert store.batches == [['first'], ['a', 'b']]
    assert better in [observed for observed, _ in writer.heard]
    assert (writer.waiting, writer.is_full) == (0, False)


def test_closing_while_the_store_is_down_says_how_many_are_lost(store, writer):
    store.down.set()
    writer.put(observation('a'))
    assert store.tried.wait(10)
    writer.put(observation('b'))
    assert writer.close() == 2
    assert writer.problem == 'the disk is full'


def test_what_there_is_no_room_for_is_not_taken_until_there_is(store, monkeypatch):
    monkeypatch.setattr(caption_intake, 'MAX_BYTES', 30_000)
    writer = StoreWriter(store, nobody, nobody, log := Log(), MemoryParameters(batch_size=1))
    store.gate.clear()
    writer.put(observation('first'))
    assert store.tried.wait(10)
    for name in 'ab':
        writer.put(replace(observation(name), images=(bytes(4000),)))
    assert (writer.waiting, writer.is_full) == (3, False)
    writer.put(replace(observation('a'), images=(bytes(5000),)))  # in place of the other
    assert not writer.is_full
    writer.put(replace(observation('late'), images=(bytes(4000),)))
    assert (writer.waiting, writer.is_full) == (3, True)
    assert any('no room' in line for line in log.lines)
    store.gate.set()
    assert writer.drain(10)
    assert store.ids == ['first', 'a', 'b']
    writer.put(observation('late'))
    assert writer.drain(10)
    assert (store.ids[-1], writer.is_full) == ('late', False)
    writer.close()


def test_what_extends_a_memory_is_counted(store):
    store.add_heard = lambda observations: [observation('stay').memory for _ in observations]
    heard = []
    writer = StoreWriter(store, lambda _, memories: heard.extend(memories), nobody, Log(), MemoryParameters())
    writer.put(observation('stay'))
    writer.put(observation('later'))
    assert writer.drain(10)
    assert (writer.stored, writer.merged) == (2, 1)
    assert [memory.id for memory in heard] == ['stay', 'stay']
    writer.close()


def test_a_store_that_hangs_does_not_hold_up_the_end(store, writer):
    store.gate.clear()
    writer.put(observation('a'))
    assert store.tried.wait(10)
    assert writer.close(0.05) == 1
    assert writer.hangs
