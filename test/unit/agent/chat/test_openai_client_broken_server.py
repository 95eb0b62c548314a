"""Servers that do everything wrong, over real HTTP: a call ends in time, in little memory, and when told."""

import resource
import statistics
import threading
import time
from typing import Any

import pytest

from remembr_ros.agent.chat.bounded_call import complete
from remembr_ros.agent.chat.client import Call, Message
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.llm.tools import TOOLS
from remembr_ros.agent.model.answer import Ledger
from remembr_ros.agent.planner import Run
from remembr_ros.bounded_request import MAX_BODY
from remembr_ros.errors import Cancelled, ChatUnavailable
from test.patience import patiently
from test.scripted.server import ScriptedReply, ScriptedServer

HELLO = (Message('user', 'Where is the lift?'),)

GOOD = ScriptedReply('By the stairs.')

HANGS = {
    'silence': ScriptedReply('x', hang_s=600.0),
    'a byte now and then, headers and all': ScriptedReply('x' * 5_000, drip_s=0.03),
    'a body that stops': ScriptedReply('x' * 50, headers={'Content-Length': '100000'}, linger_s=600.0),
}

BROKEN = {
    'invalid JSON': ScriptedReply(body=b'{"choices": ['),
    'HTML': ScriptedReply(body=b'<html>It works!</html>', headers={'Content-Type': 'text/html'}),
    'deep JSON': ScriptedReply(body=b'[' * 1_000_000),
    'cut': ScriptedReply('x' * 1_000, cut_after=200),
    'cut before the body': ScriptedReply('x', cut_after=0),
    '100 MB': ScriptedReply('x', pad_mb=100.0),
    'gzip of 100 MB': ScriptedReply('x', pad_mb=100.0, gzip=True),
    'no end': ScriptedReply('x', pad_mb=10_000.0),
    'wrong length': ScriptedReply('x', headers={'Content-Length': '-5'}),
    'wrong types': ScriptedReply(body={'choices': [{'message': {'tool_calls': 7}}], 'usage': 'much'}),
    'status 999': ScriptedReply('x', status=999),
    'redirect to itself': ScriptedReply('x', status=302, headers={'Location': '/v1/chat/completions'}),
}


@pytest.fixture
def chat(server: ScriptedServer) -> OpenAIChat:
    return OpenAIChat('tiny', server.url, max_retries=1)


def wait_for(condition: Any) -> None:
    """Wait until it is so."""
    deadline = time.monotonic() + 10.0
    while not condition() and time.monotonic() < deadline:
        threading.Event().wait(0.005)
    assert condition()


@pytest.mark.parametrize('reply', BROKEN.values(), ids=BROKEN)
def test_what_is_no_reply_ends_as_a_server_out_of_reach(
    server: ScriptedServer, chat: OpenAIChat, reply: ScriptedReply
) -> None:
    server.reply = [reply]
    began = time.monotonic()
    with pytest.raises(ChatUnavailable, match=r'127\.0\.0\.1') as failure:
        chat.complete(Call(HELLO, TOOLS, timeout_s=20.0))
    assert time.monotonic() - began < patiently(10.0)
    assert len(str(failure.value)) < 500
    server.reply = [GOOD]
    assert chat.complete(Call(HELLO, TOOLS, timeout_s=20.0)).content == 'By the stairs.'


@pytest.mark.parametrize('pad_mb', [100.0, 10_000.0])
def test_a_body_of_any_size_takes_little_memory(
    server: ScriptedServer, chat: OpenAIChat, pad_mb: float
) -> None:
    server.reply = [GOOD]
    chat.complete(Call(HELLO, TOOLS, timeout_s=20.0))
    server.reply = [ScriptedReply('x', pad_mb=pad_mb)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ChatUnavailable, match='longer than 4 MB'):
        chat.complete(Call(HELLO, TOOLS, timeout_s=20.0))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    assert grown < 10 * MAX_BODY
    wait_for(lambda: server.hung_up == 1)


@pytest.mark.parametrize('reply', HANGS.values(), ids=HANGS)
def test_no_server_holds_a_call_past_its_deadline(
    server: ScriptedServer, chat: OpenAIChat, reply: ScriptedReply
) -> None:
    server.reply = [reply]
    began = time.monotonic()
    ledger = Ledger()
    with pytest.raises(ChatUnavailable, match='did not answer within'):
        chat.complete(Call(HELLO, TOOLS, timeout_s=0.5, ledger=ledger))
    assert 0.5 <= time.monotonic() - began < patiently(1.5)
    assert (ledger.usage.calls, ledger.usage.estimated) == (1, True)
    assert ledger.usage.prompt_tokens > 400
    wait_for(lambda: server.hung_up == 1)


@pytest.mark.parametrize('reply', HANGS.values(), ids=HANGS)
def test_a_cancelled_call_ends_at_once_at_the_server_too(
    server: ScriptedServer, chat: OpenAIChat, reply: ScriptedReply
) -> None:
    server.reply = [reply]
    took = []
    for count in range(1, 6):
        cancel, ended = threading.Event(), threading.Event()
        at = [0.0]

        def ask(cancel: threading.Event = cancel, ended: threading.Event = ended, at: Any = at) -> None:
            with pytest.raises(Cancelled):
                complete(
                    chat,
                    HELLO,
                    TOOLS,
                    must_call=None,
                    run=Run(time.monotonic() + 60.0, cancel),
                    call_timeout_s=60.0,
                )
            at[0] = time.monotonic()
            ended.set()

        threading.Thread(target=ask, daemon=True).start()
        wait_for(lambda count=count: len(server.requests) == count)
        began = time.monotonic()
        cancel.set()
        assert ended.wait(10.0)
        took.append(at[0] - began)
        wait_for(lambda count=count: server.hung_up == count)
    assert statistics.median(took) < 0.2


def test_a_wait_before_the_next_attempt_is_cancelled(server: ScriptedServer, chat: OpenAIChat) -> None:
    server.reply = [ScriptedReply('busy', status=503, retry_after_s=30.0)]
    cancel = threading.Event()
    threading.Thread(target=lambda: (wait_for(lambda: server.requests), cancel.set()), daemon=True).start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        chat.complete(Call(HELLO, (), timeout_s=60.0, cancel=cancel))
    assert time.monotonic() - began < patiently(5.0)


def test_a_server_without_names_hangs_no_call(server: ScriptedServer) -> None:
    server.models = ScriptedReply(hang_s=600.0)
    chat = OpenAIChat('', server.url)
    with pytest.raises(ChatUnavailable, match='did not answer within'):
        chat.complete(Call(HELLO, (), timeout_s=0.3))


def test_one_call_that_is_cancelled_leaves_the_others_alone(server: ScriptedServer, chat: OpenAIChat) -> None:
    server.reply = lambda body: ScriptedReply('x', hang_s=600.0 if 'hang' in str(body) else 0.3)
    cancel = threading.Event()

    def hang() -> None:
        with pytest.raises(Cancelled):
            chat.complete(
                Call(
                    (Message('user', 'hang'),),
                    (),
                    must_call=None,
                    timeout_s=60.0,
                    ledger=Ledger(),
                    cancel=cancel,
                )
            )

    hanging = threading.Thread(target=hang, daemon=True)
    hanging.start()
    wait_for(lambda: server.requests)
    found: list[str] = []
    other = threading.Thread(
        target=lambda: found.append(chat.complete(Call(HELLO, (), timeout_s=60.0)).content)
    )
    other.start()
    wait_for(lambda: len(server.requests) == 2)
    cancel.set()
    hanging.join(10.0)
    other.join(10.0)
    assert found == ['x']
    assert not hanging.is_alive()


def test_no_threads_are_left_behind(server: ScriptedServer, chat: OpenAIChat) -> None:
    server.reply = [GOOD]
    for _ in range(5):
        complete(chat, HELLO, (), must_call=None, run=Run(time.monotonic() + 60.0), call_timeout_s=60.0)
    wait_for(lambda: not [t for t in threading.enumerate() if t.name.startswith('chat')])
