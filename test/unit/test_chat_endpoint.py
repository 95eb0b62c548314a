"""What goes to a language model's server goes nowhere else, and what lets one in is not shown."""

import json
import logging
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

from remembr_ros.agent.chat.bounded_call import complete
from remembr_ros.agent.chat.client import Call, Message
from remembr_ros.agent.chat.openai_client import OpenAIChat
from remembr_ros.agent.llm.tools import TOOLS
from remembr_ros.agent.planner import Run
from remembr_ros.captioning.captioners.by_name import get_captioner
from remembr_ros.captioning.captioners.captioner import Clip, caption_clip
from remembr_ros.errors import CaptionerFailed, ChatUnavailable, InvalidRequest, RemembrError
from test.scripted.server import ScriptedReply, ScriptedServer

HELLO = (Message('user', 'Where is the lift?'),)

IMAGES = [np.zeros((4, 4, 3), np.uint8)]

PASSWORD = 'Tr0ub4dor'


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('OPENAI_API_KEY', 'OPENAI_BASE_URL', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer([ScriptedReply('By the stairs.')]) as made:
        yield made


@pytest.fixture
def elsewhere() -> Iterator[ScriptedServer]:
    with ScriptedServer([ScriptedReply('Tell me more.')]) as made:
        yield made


def ask(url: str, model: str = 'tiny') -> str:
    """Return what a model says there."""
    chat = OpenAIChat(model, url, max_retries=1)
    return chat.complete(Call(HELLO, TOOLS, timeout_s=20.0)).content


def describe(url: str) -> str:
    """Return what a captioner says there of an image."""
    captioner: Any = get_captioner('openai', model='vlm', base_url=url)
    try:
        return str(caption_clip(captioner, Clip(IMAGES)).text)
    finally:
        captioner.close()


def logged_in(server: ScriptedServer) -> str:
    """Return the URL with a user and a password."""
    return server.url.replace('//', f'//anna:{PASSWORD}@')


@pytest.mark.parametrize('status', [301, 302, 303, 307, 308])
@pytest.mark.parametrize('use', [ask, describe])
def test_no_redirect_to_another_server_is_followed(
    server: ScriptedServer, elsewhere: ScriptedServer, status: int, use: Callable[[str], str]
) -> None:
    to = f'{elsewhere.url}/chat/completions'
    server.reply = [ScriptedReply('moved', status=status, headers={'Location': to})]
    with pytest.raises(RemembrError, match=rf'redirects \({status}\) to {elsewhere.url}.*is not followed'):
        use(server.url)
    assert len(server.requests) == 1
    assert not elsewhere.requests


def test_the_list_of_models_is_not_redirected(server: ScriptedServer, elsewhere: ScriptedServer) -> None:
    server.models = ScriptedReply('', status=302, headers={'Location': f'{elsewhere.url}/models'})
    with pytest.raises(ChatUnavailable, match='redirects'):
        ask(server.url, model='')
    assert not server.requests


@pytest.mark.parametrize('to', ['http://[::1', '//', 'http://a:b:c/', 'file:///etc/passwd', '/v1/elsewhere'])
def test_a_redirect_to_nowhere_is_said_to_be_one(server: ScriptedServer, to: str) -> None:
    server.reply = [ScriptedReply('', status=302, headers={'Location': to})]
    with pytest.raises(ChatUnavailable, match='redirects'):
        ask(server.url)
    assert len(server.requests) == 1


def test_the_target_of_a_redirect_is_shown_without_a_password(server: ScriptedServer) -> None:
    to = f'http://anna:{PASSWORD}@inside/v1?key={PASSWORD}'
    server.reply = [ScriptedReply('', status=302, headers={'Location': to})]
    with pytest.raises(ChatUnavailable, match='to http://inside/v1') as refusal:
        ask(server.url)
    assert PASSWORD not in str(refusal.value)


@pytest.mark.parametrize('use', [ask, describe])
def test_a_password_in_the_url_is_sent_and_not_shown(
    server: ScriptedServer, use: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    assert use(logged_in(server)) == 'By the stairs.'
    assert server.requests[0].headers['authorization'].startswith('Basic ')
    # As Python's representation of a dict: what a server that repeats a request says.
    echo = str({'url': logged_in(server), **server.requests[0].headers})
    server.reply = [ScriptedReply(echo, status=401)]
    with pytest.raises(RemembrError, match='401') as refusal:
        use(logged_in(server))
    server.close()
    with pytest.raises(RemembrError, match='cannot be reached') as lost:
        use(logged_in(server))
    basic = server.requests[0].headers['authorization'].removeprefix('Basic ')
    for text in (str(refusal.value), str(lost.value), caplog.text):
        assert PASSWORD not in text
        assert basic not in text
    assert server.url in str(refusal.value)


def test_a_recorded_call_does_not_show_a_password(server: ScriptedServer) -> None:
    server.reply = [ScriptedReply(f'no access with {logged_in(server)}', status=403)]
    calls: list[Mapping[str, Any]] = []
    run = Run(float('inf'), record=lambda _, about: calls.append(about))
    chat = OpenAIChat('tiny', logged_in(server), max_retries=0)
    with pytest.raises(ChatUnavailable):
        complete(chat, HELLO, TOOLS, must_call=None, run=run, call_timeout_s=10.0)
    assert '403' in calls[0]['error']
    assert PASSWORD not in json.dumps(calls)


def test_a_key_of_the_server_is_masked_whoever_it_belongs_to(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', 'my"own\\key')
    said = json.dumps({'authorization': 'Bearer my"own\\key', 'upstream': {'x-api-key': 'their-own-key'}})
    server.reply = [ScriptedReply(said, status=401)]
    with pytest.raises(ChatUnavailable, match='401') as refusal:
        ask(server.url)
    assert 'own' not in str(refusal.value)


def test_what_a_terminal_would_obey_in_a_refusal_is_shown(server: ScriptedServer) -> None:
    server.reply = [ScriptedReply('\x1b]0;owned\x07 \u202e', status=418)]
    with pytest.raises(ChatUnavailable, match='owned') as refusal:
        ask(server.url)
    assert str(refusal.value).isprintable()


URLS = [
    'http://[::1',
    'http://',
    'http:///v1',
    'https://:8000/v1',
    'http://robot:port/v1',
    'http://robot:99999/v1',
    'http://anna:p/w@robot/v1',
    'http://robot\n/v1',
    'http://ro\x00bot/v1',
    'ftp://robot/v1',
]


@pytest.mark.parametrize('url', URLS)
def test_what_is_no_url_is_refused_before_anything_is_asked(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InvalidRequest, match='no language model server'):
        OpenAIChat('tiny', url)
    with pytest.raises(InvalidRequest, match='no language model server'):
        get_captioner('openai', base_url=url)
    if url.isprintable():
        monkeypatch.setenv('OPENAI_BASE_URL', url)
        with pytest.raises(InvalidRequest, match='no language model server'):
            OpenAIChat('tiny')


@pytest.mark.parametrize('url', ['http://1.2.3.999/v1', 'http://[::zz]/v1', f'http://{"ü" * 80}/v1'])
def test_a_url_that_only_the_client_refuses_is_a_server_out_of_reach(url: str) -> None:
    with pytest.raises((ChatUnavailable, InvalidRequest)):
        ask(url)
    with pytest.raises((CaptionerFailed, InvalidRequest)):
        describe(url)


def test_a_proxy_that_makes_no_sense_is_a_server_out_of_reach(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('HTTP_PROXY', 'gopher://robot')
    with pytest.raises(ChatUnavailable, match='cannot be asked'):
        ask(server.url)


def test_a_server_named_in_the_environment_is_shown_and_logged_in_to(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', 'sk-1')
    monkeypatch.setenv('OPENAI_BASE_URL', logged_in(server))
    server.reply = [ScriptedReply('no', status=403)]
    with pytest.raises(ChatUnavailable, match=f'^{server.url} refused: 403'):
        ask('')
    assert server.requests[0].headers['authorization'].startswith('Basic ')
