import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from remembr_ros.errors import InvalidRequest, StoreUnavailable
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.pending.spool import Spool
from remembr_ros.memory.pending.writer import SpoolingWriter
from test.patience import holds_within

WAIT_S = 30.0


class Server:
    """A server that goes and comes; it records what it stores, in order."""

    def __init__(self) -> None:
        self.away = False
        self.asked = 0
        self.refused: set[str] = set()
        self.stored: list[str] = []
        self.asking = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()

    def store(self, observations: Sequence[Observation]) -> list[Memory]:
        self.asked += 1
        self.asking.set()
        assert self.go_on.wait(WAIT_S)
        if self.away:
            raise StoreUnavailable('nobody answers at http://robot:19530')
        names = [o.memory.id for o in observations]
        if self.refused & set(names):
            raise InvalidRequest('makes no sense')
        self.stored += names
        return [o.memory for o in observations]


@pytest.fixture
def server() -> Server:
    return Server()


Open = Callable[[], SpoolingWriter]


@pytest.fixture
def opened(server: Server, tmp_path: Path) -> Iterator[Open]:
    writers = []

    def open_writer() -> SpoolingWriter:
        writers.append(SpoolingWriter(server.store, Spool(tmp_path / 'spool'), retry_s=0.01))
        return writers[-1]

    yield open_writer
    server.go_on.set()
    for writer in writers:
        writer.close()


def observation(i: int) -> Observation:
    return Observation(Memory(f'm{i}', 'r', i, i + 1, f'thing {i}'), (b'jpeg',))


def test_while_the_server_is_there_nothing_waits(server: Server, opened: Open) -> None:
    writer = opened()
    assert writer.add([observation(1)]) == [observation(1).memory]
    state = writer.state()
    assert (server.stored, state.spooled, state.bytes, state.oldest_ns) == (['m1'], 0, 0, None)
    assert (state.away, state.spooled, state.problem) == (False, 0, '')


def test_while_it_is_away_everything_waits_and_follows_in_order(server: Server, opened: Open) -> None:
    writer = opened()
    server.away = True
    for i in range(100):
        assert writer.add([observation(i)]) == [observation(i).memory]
    state = writer.state()
    assert (state.spooled, state.oldest_ns, state.away) == (100, 1, True)
    assert 'http://robot:19530' in state.problem
    assert server.stored == []
    server.away = False
    assert holds_within(WAIT_S, lambda: not writer.state().spooled)
    writer.add([observation(100)])
    assert server.stored == [f'm{i}' for i in range(101)]


def test_a_server_that_never_was_there_costs_nothing(server: Server, opened: Open) -> None:
    server.away = True
    writer = opened()
    writer.add([observation(1)])
    writer.close()
    server.away = False
    writer = opened()
    assert holds_within(WAIT_S, lambda: not writer.state().spooled)
    assert server.stored == ['m1']


def test_new_ones_do_not_overtake_what_is_on_its_way(server: Server, opened: Open) -> None:
    server.away = True
    writer = opened()
    writer.add([observation(1)])
    server.go_on.clear()
    server.asking.clear()
    assert server.asking.wait(WAIT_S)  # the first is being stored, slowly
    server.away = False
    writer.add([observation(2)])  # and this does not wait for it
    assert server.stored == []
    server.go_on.set()
    assert holds_within(WAIT_S, lambda: not writer.state().spooled)
    assert server.stored == ['m1', 'm2']


def test_what_can_never_be_stored_does_not_hold_up_the_others(
    server: Server, opened: Open, caplog: pytest.LogCaptureFixture
) -> None:
    writer = opened()
    server.away = True
    server.refused = {'m2'}
    for i in range(4):
        writer.add([observation(i)])
    server.away = False
    assert holds_within(WAIT_S, lambda: not writer.state().spooled)
    assert server.stored == ['m0', 'm1', 'm3']
    assert 'm2 can never be stored' in caplog.text


def test_nonsense_is_refused_before_it_waits(server: Server, opened: Open) -> None:
    writer = opened()
    server.away = True
    with pytest.raises(InvalidRequest, match='ends before it starts'):
        writer.add([Observation(Memory('m1', 'r', 5, 4, 'x'))])
    assert writer.state().spooled == 0


def test_what_waits_can_be_forgotten(server: Server, opened: Open) -> None:
    writer = opened()
    server.away = True
    for i in range(4):
        writer.add([observation(i)])
    assert [o.memory.id for o in writer.queued()] == ['m0', 'm1', 'm2', 'm3']
    writer.forget(['m0', 'm2', 'unknown'])
    server.away = False
    assert holds_within(WAIT_S, lambda: not writer.state().spooled)
    assert server.stored == ['m1', 'm3']


def test_a_full_spool_is_told(server: Server, tmp_path: Path) -> None:
    writer = SpoolingWriter(server.store, Spool(tmp_path / 'small', max_bytes=400))
    server.away = True
    writer.add([observation(1)])
    with pytest.raises(StoreUnavailable, match='the spool is full'):
        writer.add([observation(2)])
    writer.close()


def test_an_error_of_the_program_does_not_end_the_draining(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    failures = [StoreUnavailable('away'), RuntimeError('a mistake'), StoreUnavailable('away')]
    stored: list[str] = []

    def store(observations: Sequence[Observation]) -> list[Memory]:
        if failures:
            raise failures.pop(0)
        stored.extend(o.memory.id for o in observations)
        return []

    writer = SpoolingWriter(store, Spool(tmp_path / 'spool'), retry_s=0.01)
    writer.add([observation(1)])
    assert holds_within(WAIT_S, lambda: not writer.state().spooled)
    assert stored == ['m1']
    writer.close()


def test_a_memory_whose_keyframes_are_damaged_is_stored_without_them(tmp_path: Path) -> None:
    away, stored = threading.Event(), []
    away.set()

    def store(observations: Sequence[Observation]) -> list[Memory]:
        if away.is_set():
            raise StoreUnavailable('nobody answers')
        if any(o.images for o in observations):
            raise InvalidRequest('a keyframe is not a JPEG')
        stored.extend(o.memory.id for o in observations)
        return [o.memory for o in observations]

    writer = SpoolingWriter(store, Spool(tmp_path / 'spool'), retry_s=0.01)
    writer.add([observation(1), observation(2)])
    away.clear()
    assert holds_within(WAIT_S, lambda: not writer.state().spooled)
    assert stored == ['m1', 'm2']
    writer.close()
