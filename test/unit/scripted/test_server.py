import gzip
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.agent.chat.client import Call, Message, Reply, ToolCall
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.llm.tools import TOOLS
from remembr_ros.agent.model.answer import Usage
from remembr_ros.errors import ChatUnavailable
from test.patience import patiently
from test.scripted.reply import load_rules
from test.scripted.server import ScriptedReply, ScriptedServer, main


def post(url: str, body: Any) -> tuple[int, dict[str, str], bytes]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(f'{url}/chat/completions', data, {'Content-Type': 'application/json'})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=10.0) as response:
            return response.status, dict(response.headers), response.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, dict(error.headers), error.read()


def ask(url: str, *messages: Message) -> Reply:
    chat = OpenAIChat('', url, max_retries=0)
    return chat.complete(Call(messages, TOOLS, timeout_s=10.0))


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('OPENAI_API_KEY', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'):
        monkeypatch.delenv(name, raising=False)


def test_replies_come_in_turn_and_the_last_one_repeats():
    calls = (ToolCall('a', 'recall_text', '{"query": "lift"}'), ToolCall('b', 'answer', 'no json'))
    with ScriptedServer([ScriptedReply('one', calls, 12, 3), ScriptedReply('two')]) as server:
        replies = [ask(server.url, Message('user', text)) for text in 'abc']
        asked = [request.body['messages'][0]['content'] for request in server.requests]
    assert replies == [
        Reply('one', calls, Usage(1, 12, 3), model='scripted'),
        Reply('two', model='scripted'),
        Reply('two', model='scripted'),
    ]
    assert asked == ['a', 'b', 'c']
    assert [request.body['model'] for request in server.requests] == ['scripted'] * 3


def test_a_function_chooses_the_reply():
    with ScriptedServer(lambda body: ScriptedReply(body['messages'][-1]['content'].upper())) as server:
        assert ask(server.url, Message('user', 'lift')).content == 'LIFT'


def test_a_function_that_fails_is_a_failure_of_the_server(caplog: pytest.LogCaptureFixture):
    def fail(_: dict[str, Any]) -> ScriptedReply:
        raise ZeroDivisionError

    with ScriptedServer(fail) as server, pytest.raises(ChatUnavailable, match='ZeroDivisionError'):
        ask(server.url, Message('user', 'lift'))
    assert 'ZeroDivisionError' in caplog.text


def test_status_headers_and_bytes_are_sent_as_they_are():
    script = [
        ScriptedReply('slow down', status=429, headers={'Retry-After': '3'}),
        ScriptedReply(body=b'<html>', headers={'Content-Type': 'text/html'}),
        ScriptedReply(body=b'{"choices": [{"mess'),
    ]
    with ScriptedServer(script) as server:
        status, headers, data = post(server.url, {})
        assert (status, headers['Retry-After'], json.loads(data)) == (
            429,
            '3',
            {'error': {'message': 'slow down'}},
        )
        status, headers, data = post(server.url, {})
        assert (status, headers['Content-Type'], data) == (200, 'text/html', b'<html>')
        assert post(server.url, {})[2] == b'{"choices": [{"mess'


def test_what_is_no_request_is_refused(caplog: pytest.LogCaptureFixture):
    with ScriptedServer([ScriptedReply('x')]) as server:
        assert post(server.url, b'no json')[0] == 500
        assert post(f'{server.url}/elsewhere', {})[0] == 404
        assert server.requests == []
    assert 'no reply' in caplog.text


def test_many_may_ask_at_once():
    with ScriptedServer([ScriptedReply('x')]) as server:
        threads = [threading.Thread(target=post, args=(server.url, {'n': i})) for i in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(10.0)
        assert sorted(request.body['n'] for request in server.requests) == list(range(20))


def test_closing_lets_go_what_hangs():
    ended = threading.Event()
    with ScriptedServer([ScriptedReply(hang_s=600.0)]) as server:

        def hang() -> None:
            with pytest.raises(ChatUnavailable):
                ask(server.url, Message('user', 'x'))
            ended.set()

        threading.Thread(target=hang, daemon=True).start()
        deadline = time.monotonic() + 10.0
        while not server.requests and time.monotonic() < deadline:
            ended.wait(0.01)
        began = time.monotonic()
    assert time.monotonic() - began < patiently(5.0)
    assert ended.wait(10.0)


RULES = [
    {
        'when': 'LIFT',
        'turn': 0,
        'reply': {
            'tool_calls': [{'name': 'recall_text', 'arguments': {'query': 'lift'}}],
            'prompt_tokens': 5,
        },
    },
    {'when': 'lift', 'reply': {'content': 'On the left.'}},
    {'when': 'broken', 'reply': {'body': '<html>', 'headers': {'Content-Type': 'text/html'}}},
    {'when': 'busy', 'reply': {'status': 429, 'headers': {'Retry-After': '1'}}},
]


@pytest.fixture
def start(tmp_path: Path) -> Any:
    started: list[subprocess.Popen[str]] = []

    def run(rules: Any) -> tuple[subprocess.Popen[str], str]:
        path = tmp_path / 'script.json'
        path.write_text(json.dumps(rules))
        command = [sys.executable, '-W', 'error', '-m', 'test.scripted.server', str(path)]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ))
        assert started[-1].stdout is not None
        return started[-1], started[-1].stdout.readline().strip()

    yield run
    for process in started:
        process.kill()
        process.wait(10.0)
        assert process.stdout is not None
        process.stdout.close()


def test_a_process_of_its_own_serves_rules_until_it_is_terminated(start: Callable[..., Any]):
    process, url = start(RULES)
    first = Message('user', 'Where is the Lift?')
    recall = (ToolCall('call_0', 'recall_text', '{"query": "lift"}'),)
    later = (first, Message('assistant', '', recall), Message('tool', 'nothing', tool_call_id='call_0'))
    for _ in range(2):  # rules are not used up
        assert ask(url, first) == Reply('', recall, Usage(1, 5, 0), model='scripted')
        assert ask(url, *later).content == 'On the left.'
    assert post(url, {'messages': [{'role': 'user', 'content': [{'text': 'broken'}]}]})[2] == b'<html>'
    assert post(url, {'messages': [{'role': 'user', 'content': 'busy'}]})[0] == 429
    assert post(url, {'messages': [{'role': 'user', 'content': 'anything else'}]})[0] == 404
    assert post(url, {})[0] == 404
    process.send_signal(signal.SIGINT)
    assert process.wait(10.0) == 0


def test_any_fits_every_question(start: Callable[..., Any]):
    _, url = start([{'when': 'any', 'reply': {'content': 'So it is.'}}])
    assert ask(url, Message('user', 'Is it?')).content == 'So it is.'


FAULTS = [
    {'when': 'cut', 'reply': {'body': 'x' * 100, 'cut_after': 10}},
    {'when': 'padded', 'reply': {'content': 'Hm.', 'pad_mb': 1.5}},
    {'when': 'drip', 'reply': {'content': 'Hm.', 'drip_s': 0.0001}},
    {'when': 'seconds', 'reply': {'status': 429, 'retry_after_s': 5}},
    {'when': 'date', 'reply': {'status': 503, 'retry_after_s': 5, 'retry_after_date': True}},
    {'when': 'refuse', 'reply': {'content': 'Hm.', 'refuse': ['tools', 'seed']}},
    {'when': 'gzip', 'reply': {'content': 'Hm.', 'pad_mb': 1.0, 'gzip': True}},
]


def test_rules_can_do_what_servers_do_wrong(tmp_path: Path) -> None:
    path = tmp_path / 'script.json'
    path.write_text(json.dumps(FAULTS))

    def asked(what: str, **fields: Any) -> tuple[int, dict[str, str], bytes]:
        return post(server.url, {'messages': [{'role': 'user', 'content': what}], **fields})

    with ScriptedServer(load_rules(path)) as server:
        with pytest.raises(http.client.IncompleteRead) as cut:
            asked('cut')
        assert cut.value.partial == b'x' * 10
        data = asked('padded')[2]
        assert len(data) > 1_500_000
        assert json.loads(data)['choices'][0]['message']['content'] == 'Hm.'
        assert json.loads(asked('drip')[2])['choices'][0]['message']['content'] == 'Hm.'
        assert (asked('seconds')[0], asked('seconds')[1]['Retry-After']) == (429, '5')
        until = parsedate_to_datetime(asked('date')[1]['Retry-After']).timestamp()
        assert until - time.time() == pytest.approx(5.0, abs=3.0)
        status, _, data = asked('refuse', seed=1)
        assert (status, 'seed is not supported' in data.decode()) == (400, True)
        assert asked('refuse')[0] == 200
        _, headers, data = asked('gzip')
        assert headers['Content-Encoding'] == 'gzip'
        assert len(data) < 10_000
        assert json.loads(gzip.decompress(data))['choices'][0]['message']['content'] == 'Hm.'
        assert server.hung_up == 0


def test_who_hangs_up_is_counted() -> None:
    with ScriptedServer([ScriptedReply(hang_s=600.0)]) as server:
        address = server.url.removeprefix('http://').removesuffix('/v1').split(':')
        with socket.create_connection((address[0], int(address[1]))) as connection:
            connection.sendall(b'POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}')
            deadline = time.monotonic() + 10.0
            while not server.requests and time.monotonic() < deadline:
                threading.Event().wait(0.01)
            assert server.hung_up == 0
        while not server.hung_up and time.monotonic() < deadline:
            threading.Event().wait(0.01)
        assert server.hung_up == 1


@pytest.mark.parametrize('script', ['', '{}', '[{"when": "x"}]', '[{"when": "x", "reply": {"colour": 1}}]'])
def test_a_script_without_sense_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str], script: str):
    path = tmp_path / 'script.json'
    path.write_text(script)
    assert main([str(path)]) == 1
    assert 'script.json' in capsys.readouterr().err
