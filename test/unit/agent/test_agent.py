import threading
from collections.abc import Callable

import pytest

from remembr_ros.agent.agent import MAX_QUESTION, Agent
from remembr_ros.agent.build import build_agent
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.errors import Cancelled, ChatUnavailable, InvalidRequest, StoreUnavailable
from remembr_ros.memory.model.recall import Recall
from remembr_ros.memory.store import MemoryStore
from test.scripted.chat import ScriptedChat

AskAbout = Callable[..., Question]


@pytest.fixture(autouse=True)
def bare_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('REMEMBR_LLM', 'REMEMBR_LLM_URL', 'OPENAI_API_KEY', 'OPENAI_BASE_URL'):
        monkeypatch.delenv(name, raising=False)


def test_a_server_out_of_reach_gives_way_to_the_rules(hashing_tour: MemoryStore, ask_about: AskAbout) -> None:
    loop = LoopPlanner(ScriptedChat([ChatUnavailable('down')]))
    answer = Agent(hashing_tour, [loop, OfflinePlanner()]).ask(ask_about('Where is the lift?'))
    assert (answer.planner, answer.cost.calls) == ('offline', 0)
    with pytest.raises(ChatUnavailable, match='down'):
        Agent(hashing_tour, [LoopPlanner(ScriptedChat([ChatUnavailable('down')]))]).ask(
            ask_about('Where is the lift?')
        )


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
