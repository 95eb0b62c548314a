import threading

import pytest

from remembr_bench.evaluation.pacing import PacedChat, Pacer
from remembr_ros.agent.chat.client import Call, Reply
from remembr_ros.errors import Cancelled, ChatUnavailable, InvalidRequest
from test.scripted.chat import ScriptedChat


class Clock:
    """A clock that waiting sets forward; safe for one thread."""

    def __init__(self) -> None:
        self.now = 1_000.0
        self.waits: list[float] = []

    def __call__(self) -> float:
        return self.now

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.now += seconds


class TimeoutsChat:
    """Keeps how long it was given."""

    model = 'tiny'

    def __init__(self) -> None:
        self.given: list[float] = []

    def complete(self, call: Call) -> Reply:
        self.given.append(call.timeout_s)
        return Reply('x')


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_calls_are_evenly_paced(clock: Clock):
    pacer = Pacer(6.0, clock=clock, wait=clock.wait)
    assert [pacer.take_turn(60.0) for _ in range(3)] == [0.0, 10.0, 10.0]
    assert clock.waits == [10.0, 10.0]


def test_idle_time_is_not_saved_up(clock: Clock):
    pacer = Pacer(6.0, clock=clock, wait=clock.wait)
    pacer.take_turn(60.0)
    clock.now += 1_000.0
    assert [pacer.take_turn(60.0) for _ in range(2)] == [0.0, 10.0]


def test_threads_get_different_turns():
    waits: list[float] = []
    pacer = Pacer(60.0, clock=lambda: 0.0, wait=waits.append)
    threads = [threading.Thread(target=pacer.take_turn, args=(1_000.0,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10.0)
    assert sorted(waits) == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]


def test_a_turn_that_comes_too_late_is_refused_and_left_to_others(clock: Clock):
    pacer = Pacer(6.0, clock=clock, wait=clock.wait)
    chat = PacedChat(ScriptedChat([Reply('a'), Reply('b')]), pacer)
    chat.complete(Call((), (), timeout_s=5.0))
    with pytest.raises(ChatUnavailable, match=r'pace of 6 calls per minute leaves no turn within 5 s'):
        chat.complete(Call((), (), timeout_s=5.0))
    assert clock.waits == []
    assert chat.complete(Call((), (), timeout_s=11.0)).content == 'b'
    assert clock.waits == [10.0]


def test_the_wait_is_taken_from_the_models_time_and_counted(clock: Clock):
    pacer = Pacer(6.0, clock=clock, wait=clock.wait)
    inner = TimeoutsChat()
    first, second = PacedChat(inner, pacer), PacedChat(inner, pacer)
    for chat in (first, second):
        chat.complete(Call((), (), timeout_s=30.0))
    assert inner.given == [30.0, 20.0]
    assert (first.waited_s, second.waited_s) == (0.0, 10.0)
    assert first.model == 'tiny'


@pytest.mark.parametrize('pace', [0.0, -1.0, float('nan'), float('inf')])
def test_a_pace_without_sense_is_refused(pace: float):
    with pytest.raises(InvalidRequest, match='per minute'):
        Pacer(pace)


def test_waiting_for_a_turn_ends_when_cancelled() -> None:
    pacer = Pacer(1.0)
    pacer.take_turn(1.0)
    chat = PacedChat(ScriptedChat([Reply('x')]), pacer)
    cancel = threading.Event()
    timer = threading.Timer(0.05, cancel.set)
    timer.start()
    with pytest.raises(Cancelled):
        chat.complete(Call((), (), timeout_s=300.0, cancel=cancel))
    timer.join()
