"""What every chat client keeps to, whatever is behind it."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any

import pytest

from remembr_ros.agent.chat.bounded_call import FailoverChat
from remembr_ros.agent.chat.client import Call, ChatClient, Message, Reply, Tool, ToolCall
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.llm.tools import TOOLS
from remembr_ros.agent.model.answer import Ledger, Usage
from remembr_ros.errors import Cancelled, ChatUnavailable
from test.patience import patiently
from test.scripted.chat import ScriptedChat
from test.scripted.server import ScriptedReply, ScriptedServer

HELLO = (Message('system', 'Be brief.'), Message('user', 'Where is the lift?'))
CALLS = (ToolCall('a', 'recall_text', '{"query": "lift"}'), ToolCall('b', 'answer', 'no json'))

Make = Callable[[ScriptedReply], ChatClient]


def openai(stack: ExitStack, reply: ScriptedReply) -> ChatClient:
    server = stack.enter_context(ScriptedServer([reply]))
    return OpenAIChat('tiny', server.url, max_retries=0)


def scripted(_: ExitStack, reply: ScriptedReply) -> ChatClient:
    if reply.status != 200:
        return ScriptedChat([ChatUnavailable(reply.content)] * 10, 'tiny')
    done = Reply(reply.content, reply.tool_calls, Usage(1, reply.prompt_tokens, reply.completion_tokens))
    return ScriptedChat([done] * 10, 'tiny')


def failover(stack: ExitStack, reply: ScriptedReply) -> ChatClient:
    return FailoverChat([openai(stack, ScriptedReply('down', status=503)), openai(stack, reply)])


def paced(chat: ChatClient) -> ChatClient:
    pytest.importorskip('remembr_bench', reason='needs the pace of the evaluations of remembr_bench')
    from remembr_bench.evaluation.pacing import PacedChat, Pacer

    return PacedChat(chat, Pacer(60_000.0))


CLIENTS: dict[str, Callable[[ExitStack, ScriptedReply], ChatClient]] = {
    'scripted': scripted,
    'openai': openai,
    'failover': failover,
    'failover of one': lambda stack, reply: FailoverChat([openai(stack, reply)]),
    'paced': lambda stack, reply: paced(openai(stack, reply)),
    'all': lambda stack, reply: paced(failover(stack, reply)),
}

HANGING = [name for name in CLIENTS if name != 'scripted']


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('OPENAI_API_KEY', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def make(request: pytest.FixtureRequest) -> Iterator[Make]:
    with ExitStack() as stack:
        yield lambda reply: CLIENTS[request.param](stack, reply)


def ask(chat: ChatClient, messages: Sequence[Message] = HELLO, **changes: Any) -> Reply:
    options: dict[str, Any] = {'must_call': None, 'timeout_s': 10.0, 'ledger': Ledger(), **changes}
    return chat.complete(Call(messages, options.pop('tools', TOOLS), **options))


@pytest.mark.parametrize('make', CLIENTS, indirect=True)
class TestEveryClient:
    def test_says_what_the_model_said_and_what_it_took(self, make: Make) -> None:
        ledger = Ledger()
        reply = ask(make(ScriptedReply('Hm.', CALLS, 120, 7)), ledger=ledger)
        assert (reply.content, reply.tool_calls) == ('Hm.', CALLS)
        assert reply.usage == Usage(1, 120, 7)
        assert (ledger.usage.prompt_tokens, ledger.usage.completion_tokens) == (120, 7)
        assert ledger.usage.calls >= 1

    def test_has_the_name_of_the_model(self, make: Make) -> None:
        chat = make(ScriptedReply('Hm.'))
        assert (ask(chat).model or chat.model) == 'tiny'
        assert chat.model == 'tiny'

    def test_takes_no_tools_a_forced_call_and_a_conversation(self, make: Make) -> None:
        chat = make(ScriptedReply('Hm.'))
        no_tools: tuple[Tool, ...] = ()
        assert ask(chat, tools=no_tools).content == 'Hm.'
        assert ask(chat, must_call='answer').content == 'Hm.'
        talk = (*HELLO, Message('assistant', '', CALLS[:1]), Message('tool', 'nothing', tool_call_id='a'))
        assert ask(chat, talk).content == 'Hm.'

    def test_says_when_the_server_is_out_of_reach(self, make: Make) -> None:
        with pytest.raises(ChatUnavailable, match='no luck'):
            ask(make(ScriptedReply('no luck', status=403)))

    def test_does_not_begin_what_was_cancelled(self, make: Make) -> None:
        cancel = threading.Event()
        cancel.set()
        with pytest.raises(Cancelled):
            ask(make(ScriptedReply('Hm.')), cancel=cancel)

    def test_may_be_asked_by_several_threads_at_once(self, make: Make) -> None:
        chat = make(ScriptedReply('Hm.'))
        found: list[str] = []
        threads = [threading.Thread(target=lambda: found.append(ask(chat).content)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20.0)
        assert found == ['Hm.'] * 8


@pytest.mark.parametrize('make', HANGING, indirect=True)
class TestEveryClientOfAServer:
    def test_gives_up_in_time(self, make: Make) -> None:
        began = time.monotonic()
        with pytest.raises(ChatUnavailable, match='did not answer'):
            ask(make(ScriptedReply('x', hang_s=60.0)), timeout_s=0.3)
        assert time.monotonic() - began < patiently(3.0)

    def test_ends_when_cancelled(self, make: Make) -> None:
        cancel = threading.Event()
        timer = threading.Timer(0.1, cancel.set)
        timer.start()
        began = time.monotonic()
        with pytest.raises(Cancelled):
            ask(make(ScriptedReply('x', hang_s=60.0)), timeout_s=30.0, cancel=cancel)
        assert time.monotonic() - began < patiently(3.0)
        timer.join()
