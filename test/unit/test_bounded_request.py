"""What holds a request before the server speaks, and what is left of it: in the process, and at its end."""

import multiprocessing
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from remembr_ros.agent.chat.client import Call, Message
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.model.answer import Ledger, Usage
from remembr_ros.errors import Cancelled, ChatUnavailable
from test.patience import patiently
from test.scripted.server import ScriptedReply, ScriptedServer

HELLO = (Message('user', 'Where is the lift?'),)

GOOD = ScriptedReply('By the stairs.', (), 12, 3)

CUT_SHORT = """
import socket, sys, threading
from remembr_ros.agent.chat.client import Call, Message
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.model.answer import Ledger
from remembr_ros.errors import ChatUnavailable

looked_up = threading.Event()

def hang(*_, **__):
    looked_up.set()
    threading.Event().wait(600.0)

def ask(timeout_s):
    chat = OpenAIChat('tiny', sys.argv[1], max_retries=0)
    chat.complete(Call((Message('user', 'Hm.'),), (), timeout_s=timeout_s))

if sys.argv[2] == 'given up':
    socket.getaddrinfo = hang
    try:
        ask(3.0)
    except ChatUnavailable as error:
        print(error)
else:
    threading.Thread(target=ask, args=(600.0,), daemon=True).start()
    print('asked', flush=True)
    sys.stdin.readline()
"""


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('OPENAI_API_KEY', 'OPENAI_BASE_URL', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer([GOOD]) as made:
        yield made


@pytest.fixture
def silent(server: ScriptedServer) -> Iterator[socket.socket]:
    """A server that accepts and says nothing."""
    ask(server.url)  # now the client is imported
    with socket.create_server(('127.0.0.1', 0)) as made:
        yield made


def ask(url: str, timeout_s: float = 20.0, **options: Any) -> str:
    chat = OpenAIChat('tiny', url, max_retries=0)
    options = {'ledger': Ledger(), **options}
    return chat.complete(Call(HELLO, (), timeout_s=timeout_s, **options)).content


def wait_for(condition: Any) -> None:
    deadline = time.monotonic() + 20.0
    while not condition() and time.monotonic() < deadline:
        threading.Event().wait(0.005)
    assert condition()


@pytest.mark.parametrize('scheme', ['http', 'https'])
def test_a_server_that_says_nothing_not_even_hello_holds_no_call(silent: socket.socket, scheme: str) -> None:
    url = f'{scheme}://127.0.0.1:{silent.getsockname()[1]}/v1'
    began, ledger = time.monotonic(), Ledger()
    with pytest.raises(ChatUnavailable, match='did not answer within'):
        ask(url, 0.5, ledger=ledger)
    assert time.monotonic() - began < patiently(1.5)
    # In a handshake nothing was asked yet.
    assert ledger.usage.calls == (1 if scheme == 'http' else 0)
    cancel = threading.Event()
    threading.Timer(0.1, cancel.set).start()
    began = time.monotonic()
    with pytest.raises(Cancelled):
        ask(url, 60.0, cancel=cancel)
    assert time.monotonic() - began < patiently(1.5)


def test_a_name_that_is_looked_up_for_ever_holds_no_call(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(server.url)  # now the client is imported
    found = threading.Event()
    monkeypatch.setattr(socket, 'getaddrinfo', lambda *_, **__: found.wait(30.0) and [])
    began, ledger = time.monotonic(), Ledger()
    with pytest.raises(ChatUnavailable, match='did not answer within'):
        ask('http://nobody.invalid/v1', 0.3, ledger=ledger)
    assert time.monotonic() - began < patiently(1.5)
    found.set()
    assert ledger.usage == Usage()


def test_nothing_is_left_of_calls_however_they_end(server: ScriptedServer) -> None:
    def threads() -> set[str]:
        return {thread.name for thread in threading.enumerate() if not thread.name.startswith('Thread-')}

    ask(server.url)
    chat, opened, running = OpenAIChat('tiny', server.url, max_retries=0), _opened(), threads()
    for number in range(150):
        server.reply = [[GOOD, ScriptedReply('x', cut_after=0), ScriptedReply('x', hang_s=60.0)][number % 3]]
        try:
            timeout_s = 0.05 if number % 3 == 2 else 20.0
            chat.complete(Call(HELLO, (), timeout_s=timeout_s))
        except ChatUnavailable:
            assert number % 3
    # The last call was given up: its thread closes the connection first, and ends then.
    wait_for(lambda: _opened() <= opened and threads() <= running)
    assert threads() <= running


def _opened() -> int:
    """Return how many files and sockets this process has open."""
    return len(os.listdir('/proc/self/fd'))


@pytest.mark.filterwarnings('ignore:.*multi-threaded.*:DeprecationWarning')  # that is the point
def test_a_forked_process_asks_on_its_own(server: ScriptedServer) -> None:
    chat = OpenAIChat('tiny', server.url, max_retries=0)

    def again(said: Any) -> None:
        reply = chat.complete(Call(HELLO, (), timeout_s=20.0))
        said.put(reply.content)

    chat.complete(Call(HELLO, (), timeout_s=20.0))
    forked = multiprocessing.get_context('fork')
    said = forked.SimpleQueue()
    process = forked.Process(target=again, args=(said,))
    process.start()
    process.join(30.0)
    assert process.exitcode == 0
    assert said.get() == 'By the stairs.'


@pytest.mark.parametrize('how', ['given up', 'in the middle'])
def test_a_process_ends_whatever_its_calls_wait_for(server: ScriptedServer, how: str) -> None:
    server.reply = [ScriptedReply('x', hang_s=600.0)]
    url = 'http://nobody.invalid/v1' if how == 'given up' else server.url
    process = subprocess.Popen(
        [sys.executable, '-c', CUT_SHORT, url, how],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    if how == 'in the middle':
        wait_for(lambda: server.requests)
    out, err = process.communicate('\n', timeout=60.0)
    assert (process.returncode, err) == (0, '')
    assert ('did not answer' if how == 'given up' else 'asked') in out
