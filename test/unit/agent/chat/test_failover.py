import threading
from collections.abc import Callable, Sequence

import pytest

from remembr_ros.agent.chat.client import Message, Reply, ScriptedChat, Tool, Usage, charged
from remembr_ros.agent.chat.failover import LONGEST_REST_S, FailoverChat
from remembr_ros.chat_endpoint import Refused
from remembr_ros.errors import Cancelled, ChatUnavailable


class SlowChat:
    """Fails, or replies, after a time on the clock of the test; keeps how long it was given."""

    def __init__(
        self, clock: 'Clock', takes_s: float, outcome: Reply | Exception, model: str = 'slow'
    ) -> None:
        self.model = model
        self.clock, self.takes_s, self.outcome = clock, takes_s, outcome
        self.given: list[float] = []

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        *,
        must_call: str | None,
        timeout_s: float,
        cancel: threading.Event | None = None,
    ) -> Reply:
        self.given.append(timeout_s)
        self.clock.now += min(self.takes_s, timeout_s)
        if isinstance(self.outcome, Exception):
            raise self.outcome
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
    def run(chat: FailoverChat, timeout_s: float = 30.0) -> Reply:
        return chat.complete((), (), must_call=None, timeout_s=timeout_s)

    return run


def test_the_second_answers_and_is_named(clock: Clock, ask: Callable[..., Reply]) -> None:
    first = SlowChat(clock, 0.001, ChatUnavailable('refused'))
    chat = FailoverChat([first, ScriptedChat([Reply('x'), Reply('y')], 'other')], clock=clock)
    assert chat.model == 'slow'
    reply = ask(chat)
    assert (reply.content, reply.model) == ('x', 'other')
    assert chat.model == 'other'


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
    lost = charged(ChatUnavailable('cut'), Usage(1, 100, 0, estimated=True))
    first = SlowChat(clock, 0.001, lost)
    chat = FailoverChat([first, ScriptedChat([Reply('x', (), 120, 7)])], clock=clock)
    reply = ask(chat)
    assert (reply.calls, reply.prompt_tokens, reply.completion_tokens) == (2, 220, 7)
    assert reply.estimated
    clock.now += LONGEST_REST_S
    chat = FailoverChat(
        [first, SlowChat(clock, 0.001, charged(ChatUnavailable('no'), Usage(1, 50)))], clock=clock
    )
    with pytest.raises(ChatUnavailable) as failure:
        ask(chat)
    assert (failure.value.calls, failure.value.prompt_tokens) == (2, 150)


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
