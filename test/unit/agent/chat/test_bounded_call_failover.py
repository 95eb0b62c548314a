import math
from collections.abc import Callable

import pytest

from remembr_ros.agent.chat.bounded_call import LONGEST_REST_S, FailoverChat
from remembr_ros.agent.chat.client import Call, Reply
from remembr_ros.agent.model.answer import Ledger, Usage
from remembr_ros.chat_endpoint import Refused
from remembr_ros.errors import Cancelled, ChatUnavailable
from test.scripted.chat import ScriptedChat


class SlowChat:
    """Fails, or replies, after a time on the clock of the test; keeps how long it was given.

    :param lost: what a failure takes
    """

    def __init__(
        self,
        clock: 'Clock',
        takes_s: float,
        outcome: Reply | Exception,
        model: str = 'slow',
        lost: Usage = Usage(),  # noqa: B008  it is frozen
    ) -> None:
        self.model, self.lost = model, lost
        self.clock, self.takes_s, self.outcome = clock, takes_s, outcome
        self.given: list[float] = []

    def complete(self, call: Call) -> Reply:
        self.given.append(call.timeout_s)
        self.clock.now += min(self.takes_s, call.timeout_s)
        if isinstance(self.outcome, Exception):
            call.ledger.charge(self.lost)
            raise self.outcome
        call.ledger.charge(self.outcome.usage)
        return self.outcome


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ask() -> Callable[..., Reply]:
    def run(chat: FailoverChat, timeout_s: float = 30.0, ledger: Ledger | None = None) -> Reply:
        return chat.complete(Call((), (), timeout_s=timeout_s, ledger=ledger or Ledger()))

    return run


def test_the_second_answers_and_is_named(clock: Clock, ask: Callable[..., Reply]) -> None:
    first = SlowChat(clock, 0.001, ChatUnavailable('refused'))
    chat = FailoverChat([first, ScriptedChat([Reply('x'), Reply('y')], 'other')], clock=clock)
    assert chat.model == 'slow'
    reply = ask(chat)
    assert (reply.content, reply.model) == ('x', 'other')
    assert chat.model == 'other'


def test_the_size_is_that_of_the_model_that_would_be_asked(clock: Clock) -> None:
    down = ScriptedChat([ChatUnavailable('silent')], 'qwen3:8b')
    chat = FailoverChat([down, ScriptedChat([ChatUnavailable('gone')], 'qwen3:1.7b')], clock=clock)
    assert chat.parameters_b(1.0) == 8.0
    chat._rest(0, 1.0, 'silent')
    assert chat.parameters_b(1.0) == 1.7
    chat._rest(1, 1.0, 'gone')
    assert chat.parameters_b(1.0) == math.inf, 'nobody is asked for it'


def test_a_silent_server_leaves_time_for_the_second_and_is_left_alone(
    clock: Clock, ask: Callable[..., Reply]
) -> None:
    silent = SlowChat(clock, 1e9, ChatUnavailable('silent'))
    second = SlowChat(clock, 1.0, Reply('x'), 'other')
    chat = FailoverChat([silent, second], clock=clock)
    for _ in range(3):
        assert ask(chat).content == 'x'
    assert silent.given == [18.0]
    assert second.given == [12.0, 30.0, 30.0]
    clock.now += LONGEST_REST_S
    ask(chat)
    assert len(silent.given) == 2


def test_one_that_fails_at_once_is_asked_again_soon(clock: Clock, ask: Callable[..., Reply]) -> None:
    first = SlowChat(clock, 0.01, ChatUnavailable('refused'))
    chat = FailoverChat([first], clock=clock)
    with pytest.raises(ChatUnavailable, match='refused'):
        ask(chat)
    with pytest.raises(ChatUnavailable, match=r'refused.*tried again in 0 s'):
        ask(chat)
    clock.now += 0.11
    first.outcome = Reply('back')
    assert ask(chat).content == 'back'
    assert len(first.given) == 2


def test_where_all_rest_the_call_fails_at_once(clock: Clock, ask: Callable[..., Reply]) -> None:
    both = [SlowChat(clock, 1e9, ChatUnavailable(name)) for name in ('first', 'second')]
    chat = FailoverChat(both, clock=clock)
    with pytest.raises(ChatUnavailable, match='second'):
        ask(chat)
    began = clock.now
    with pytest.raises(ChatUnavailable, match=r'first .*tried again in'):
        ask(chat)
    assert clock.now == began
    assert [len(chat.given) for chat in both] == [1, 1]


def test_the_cost_has_all_calls(clock: Clock, ask: Callable[..., Reply]) -> None:
    first = SlowChat(clock, 0.001, ChatUnavailable('cut'), lost=Usage(1, 100, 0, estimated=True))
    chat = FailoverChat([first, ScriptedChat([Reply('x', (), Usage(1, 120, 7))])], clock=clock)
    ledger = Ledger()
    assert ask(chat, ledger=ledger).usage == Usage(1, 120, 7)
    assert ledger.usage == Usage(2, 220, 7, estimated=True)
    clock.now += LONGEST_REST_S
    second, ledger = SlowChat(clock, 0.001, ChatUnavailable('no'), lost=Usage(1, 50)), Ledger()
    with pytest.raises(ChatUnavailable):
        ask(FailoverChat([first, second], clock=clock), ledger=ledger)
    assert ledger.usage == Usage(2, 150, 0, estimated=True)


def test_a_cancelled_call_is_no_failure_of_the_server(clock: Clock, ask: Callable[..., Reply]) -> None:
    first = SlowChat(clock, 10.0, Cancelled('no longer'))
    second = ScriptedChat([Reply('x')])
    chat = FailoverChat([first, second], clock=clock)
    for _ in range(2):
        with pytest.raises(Cancelled):
            ask(chat)
    assert second.asked == []


@pytest.mark.parametrize(
    ('status', 'rests'),
    [(400, False), (413, False), (422, False), (401, True), (404, True), (429, True), (500, True)],
)
def test_a_refusal_of_one_request_is_no_failure_of_the_server(
    clock: Clock, ask: Callable[..., Reply], status: int, rests: bool
) -> None:
    first = SlowChat(clock, 1.0, Refused('the prompt is too long', status, '', None))
    chat = FailoverChat([first], clock=clock)
    for _ in range(2):
        with pytest.raises(ChatUnavailable):
            ask(chat)
    assert len(first.given) == (1 if rests else 2)


def test_a_question_in_a_hurry_does_not_take_the_server_from_the_others(
    clock: Clock, ask: Callable[..., Reply]
) -> None:
    slow = SlowChat(clock, 0.9, ChatUnavailable('did not answer'))
    chat = FailoverChat([slow], patience_s=25.0, clock=clock)
    with pytest.raises(ChatUnavailable):
        ask(chat, 0.8)
    slow.outcome = Reply('there')
    assert ask(chat).content == 'there'
    slow.outcome, slow.takes_s = ChatUnavailable('refused'), 0.1  # that is no lack of time
    for _ in range(2):
        with pytest.raises(ChatUnavailable):
            ask(chat, 0.8)
    assert slow.given == pytest.approx([0.8, 30.0, 0.8])
