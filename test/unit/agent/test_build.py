from collections.abc import Callable
from pathlib import Path

import pytest

from remembr_ros.agent.build import VARIABLES, AgentConfig, build_agent, config_from_environment
from remembr_ros.agent.chat.bounded_call import allowed_s
from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.trace import questions, read_trace
from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.store import MemoryStore
from test.scripted.server import ScriptedReply, ScriptedServer

AskAbout = Callable[..., Question]


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (*VARIABLES.values(), 'OPENAI_API_KEY', 'OPENAI_BASE_URL', 'HTTP_PROXY', 'http_proxy'):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ('given', 'environment', 'expected'),
    [
        (('', ''), {}, ('', '')),
        (('', ''), {'OPENAI_API_KEY': 'k'}, ('gpt-4o', '')),
        (('', ''), {'REMEMBR_LLM': 'a', 'OPENAI_API_KEY': 'k'}, ('a', '')),
        (('', ''), {'REMEMBR_LLM_URL': 'http://u', 'OPENAI_API_KEY': 'k'}, ('', 'http://u')),
        (('', ''), {'REMEMBR_LLM': 'a', 'REMEMBR_LLM_URL': 'http://u'}, ('a', 'http://u')),
        (('b', 'http://v'), {'REMEMBR_LLM': 'a', 'REMEMBR_LLM_URL': 'http://u'}, ('b', 'http://v')),
        (('b', ''), {'REMEMBR_LLM_URL': 'http://u'}, ('b', 'http://u')),
        (('', 'http://v'), {'OPENAI_API_KEY': 'k'}, ('', 'http://v')),
    ],
)
def test_what_is_given_comes_before_the_environment(
    monkeypatch: pytest.MonkeyPatch,
    given: tuple[str, str],
    environment: dict[str, str],
    expected: tuple[str, str],
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    config = config_from_environment(AgentConfig(*given, rounds=7))
    assert ((config.llm, config.llm_url), config.rounds) == (expected, 7)


def test_without_a_language_model_the_rules_answer(hashing_tour: MemoryStore, ask_about: AskAbout) -> None:
    agent = build_agent(hashing_tour)
    assert agent.planner == 'offline'
    answer = agent.ask(ask_about('  Where is the lift?\n'))
    assert (answer.kind, answer.planner) == (Kind.POSITION, 'offline')
    assert answer.cost.seconds > 0.0


def test_a_call_may_take_most_of_what_its_question_has_left() -> None:
    assert allowed_s(0.0, 300.0) == 225.0
    assert allowed_s(0.0, 60.0) == 45.0
    assert allowed_s(20.0, 60.0) == 20.0
    assert allowed_s(100.0, 60.0) == 57.0


def test_the_tokens_of_a_reply_are_bounded_as_configured(
    hashing_tour: MemoryStore, ask_about: AskAbout
) -> None:
    with ScriptedServer([ScriptedReply('no')]) as server:
        config = AgentConfig(llm='tiny', llm_url=server.url, reply_tokens=77)
        build_agent(hashing_tour, config).ask(ask_about('Where is the lift?'))
        assert server.requests[0].body['max_tokens'] == 77
    with pytest.raises(InvalidRequest, match='0 tokens'):
        build_agent(hashing_tour, AgentConfig(llm='tiny', llm_url=server.url, reply_tokens=0))


def test_with_a_language_model_it_is_asked_first(hashing_tour: MemoryStore) -> None:
    assert (
        build_agent(hashing_tour, AgentConfig(llm='tiny', llm_url='http://127.0.0.1:9/v1')).planner == 'tiny'
    )


def test_every_name_can_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for field, variable in VARIABLES.items():
        monkeypatch.setenv(variable, f'{field} of the environment')
    config = config_from_environment(AgentConfig(trace='given'))
    for field in VARIABLES:
        expected = 'given' if field == 'trace' else f'{field} of the environment'
        assert getattr(config, field) == expected


@pytest.mark.parametrize('field', ['llm_url', 'llm_fallback_url'])
def test_a_server_that_is_none_is_refused(hashing_tour: MemoryStore, field: str) -> None:
    with pytest.raises(InvalidRequest, match='ollama'):
        build_agent(hashing_tour, AgentConfig(llm='x', **{field: 'olama'}))  # type: ignore[arg-type]


def test_servers_are_tried_in_turn_then_the_rules_and_all_of_it_counts(
    hashing_tour: MemoryStore, ask_about: AskAbout, tmp_path: Path
) -> None:
    with (
        ScriptedServer([ScriptedReply('x', cut_after=1)]) as first,
        ScriptedServer([ScriptedReply('no', status=403)]) as second,
    ):
        config = AgentConfig('a', first.url, 'b', second.url, trace=str(tmp_path / 'trace.jsonl'))
        answer = build_agent(hashing_tour, config).ask(ask_about('Where is the lift?'))
        assert (len(first.requests), len(second.requests)) == (3, 1)
    assert (answer.kind, answer.planner) == (Kind.POSITION, 'offline')
    assert answer.cost.calls == 3  # that a model had begun to answer
    assert answer.cost.prompt_tokens > 1_000
    assert answer.cost.estimated
    (events,) = questions(read_trace(tmp_path / 'trace.jsonl'))
    assert (events[-1]['planner'], events[-1]['tokens_estimated']) == ('offline', True)
