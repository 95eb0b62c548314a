from dataclasses import replace

import pytest

from remembr_ros.agent.chat.client import Call
from remembr_ros.agent.chat.openai_client import PRESETS, OpenAIChat, find_preset, secrets
from remembr_ros.agent.llm.tools import TOOLS
from remembr_ros.errors import ChatUnavailable, InvalidRequest
from test.scripted.server import ScriptedReply, ScriptedServer

KEY = 'sk-secret-0123456789abcdef'


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for preset in PRESETS.values():
        monkeypatch.delenv(preset.key_variable, raising=False)
    for name in ('OPENAI_BASE_URL', 'HTTP_PROXY', 'http_proxy', 'ALL_PROXY', 'all_proxy'):
        monkeypatch.delenv(name, raising=False)


def test_a_server_is_known_by_name_or_by_its_url() -> None:
    assert sorted(PRESETS) == ['llama.cpp', 'nim', 'ollama', 'openai', 'vllm']
    assert find_preset(None) is find_preset('') is find_preset('openai') is find_preset('OpenAI')
    assert find_preset('ollama').base_url == 'http://localhost:11434/v1'
    assert find_preset('https://integrate.api.nvidia.com/v1/') is PRESETS['nim']
    own = find_preset('http://robot-server:8000/v1')
    assert (own.base_url, own.key_variable, own.needs_key) == (
        'http://robot-server:8000/v1',
        'OPENAI_API_KEY',
        False,
    )


@pytest.mark.parametrize('url', ['olama', 'localhost:8000/v1', 'ftp://host/v1', '/v1'])
def test_what_is_neither_is_refused_with_what_there_is(url: str) -> None:
    with pytest.raises(InvalidRequest, match=r'vllm, llama\.cpp'):
        find_preset(url)


def test_each_server_gets_its_own_key_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('OPENAI_API_KEY', KEY)
    assert PRESETS['ollama'].key == ''
    assert find_preset('http://robot-server:8000/v1').key == KEY
    monkeypatch.setenv('NVIDIA_API_KEY', ' nvapi-1 \n')
    assert PRESETS['nim'].key == 'nvapi-1'
    assert set(secrets()) == {KEY, 'nvapi-1'}


@pytest.mark.parametrize(('name', 'variable'), [('openai', 'OPENAI_API_KEY'), ('nim', 'NVIDIA_API_KEY')])
def test_a_key_that_is_missing_is_named(name: str, variable: str) -> None:
    with pytest.raises(ChatUnavailable, match=variable):
        OpenAIChat('', name).complete(Call((), (), timeout_s=1.0))


def test_a_preset_is_asked_as_it_is_known_to_like_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer([ScriptedReply('x')]) as server:
        monkeypatch.setitem(PRESETS, 'ollama', replace(PRESETS['ollama'], base_url=server.url))
        chat = OpenAIChat('', 'ollama')
        chat.complete(Call((), TOOLS, must_call='answer', timeout_s=10.0))
    body = server.requests[0].body
    assert body['model'] == 'scripted'
    assert not {'tool_choice', 'parallel_tool_calls'} & set(body)
    assert body['response_format']['json_schema']['name'] == 'answer'
