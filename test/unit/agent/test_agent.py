import threading
from collections.abc import Callable

import pytest

from remembr_ros.agent.agent import (
    MAX_QUESTION,
    Agent,
    AgentConfig,
    build_agent,
    config_from_environment,
)
from remembr_ros.agent.answer import Answer, Kind, Question
from remembr_ros.agent.chat import ScriptedChat
from remembr_ros.agent.loop import LoopPlanner
from remembr_ros.agent.offline import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.errors import Cancelled, ChatUnavailable, InvalidRequest, StoreUnavailable
from remembr_ros.memory.recall import Recall
from remembr_ros.memory.store import MemoryStore

AskAbout = Callable[..., Question]


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'):
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
    assert answer.cost.latency_s > 0.0


def test_with_a_language_model_it_is_asked_first(hashing_tour: MemoryStore) -> None:
    assert (
        build_agent(hashing_tour, AgentConfig(llm='tiny', llm_url='http://127.0.0.1:9/v1')).planner == 'tiny'
    )


def test_a_server_out_of_reach_gives_way_to_the_rules(hashing_tour: MemoryStore, ask_about: AskAbout) -> None:
    loop = LoopPlanner(ScriptedChat([ChatUnavailable('down')]))
    answer = Agent(hashing_tour, [loop, OfflinePlanner()]).ask(ask_about('Where is the lift?'))
    assert (answer.planner, answer.cost.llm_calls) == ('offline', 0)
    with pytest.raises(ChatUnavailable, match='down'):
        Agent(hashing_tour, [LoopPlanner(ScriptedChat([ChatUnavailable('down')]))]).ask(ask_about('Where?'))


@pytest.mark.parametrize('text', ['', '  \n', 'x' * (MAX_QUESTION + 1)])
def test_an_empty_or_endless_question_is_refused(
    hashing_tour: MemoryStore, ask_about: AskAbout, text: str
) -> None:
    with pytest.raises(InvalidRequest, match='question'):
        build_agent(hashing_tour).ask(ask_about(text))


def test_the_longest_question_is_answered(hashing_tour: MemoryStore, ask_about: AskAbout) -> None:
    answer = build_agent(hashing_tour).ask(ask_about(('where is the lift ' * MAX_QUESTION)[:MAX_QUESTION]))
    assert isinstance(answer, Answer)


def test_a_question_cancelled_before_it_starts_is_not_answered(
    hashing_tour: MemoryStore, ask_about: AskAbout
) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(Cancelled):
        build_agent(hashing_tour).ask(ask_about('Where is the lift?'), cancel=cancel)


def test_a_memory_out_of_reach_is_not_answered_around(hashing_tour: MemoryStore, ask_about: AskAbout) -> None:
    class Broken:
        name = 'broken'

        def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
            raise StoreUnavailable('no memory')

    with pytest.raises(StoreUnavailable):
        Agent(hashing_tour, [Broken(), OfflinePlanner()]).ask(ask_about('Where is the lift?'))
