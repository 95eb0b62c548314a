import threading
from collections.abc import Callable
from dataclasses import replace

import pytest

from remembr_ros.agent.agent import MAX_QUESTION, Agent
from remembr_ros.agent.build import build_agent
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.errors import Cancelled, ChatUnavailable, InvalidRequest, StoreUnavailable
from remembr_ros.memory.model.recall import Query, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS
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


ASKED = Scope(robots=('nobody', 'somebody else'), map_id='office', before_ns=1_800_000_000 * NS)
TOLD = '(asked of nobody or somebody else on map office, until 2027-01-15 08:00)'


class Citing:
    """A planner that cites all that it finds, and asks for more than it may see."""

    name = 'citing'

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        hits = [*recall.find(Query('lift')), *recall.find(Query(scope=Scope(robots=('r',))))]
        assert recall.count() == len(hits) == recall.survey().memories
        return Answer(Kind.TEXT, 'All.', self.name, evidence=tuple(hits))


def test_a_question_is_asked_within_its_scope_whatever_answers(
    hashing_tour: MemoryStore, ask_about: AskAbout, fresh: Callable[..., MemoryStore]
) -> None:
    lift = hashing_tour.find(Query('lift', limit=1))[0].memory
    store = fresh(lift, replace(lift, id='other', robot='another', map_id='office'))
    for planner in (OfflinePlanner(), Citing()):
        agent = Agent(store, [planner])
        question = replace(ask_about('Where is the lift?'), asker='ann', scope=ASKED)
        answer = agent.ask(question)
        assert answer.evidence == ()
        assert answer.text.endswith(TOLD)
    everything = Agent(hashing_tour, [OfflinePlanner()]).ask(ask_about('Where is the lift?'))
    assert everything.evidence
    assert 'asked' not in everything.text


def test_of_a_map_that_nobody_remembers_it_is_said_which_there_are(
    hashing_tour: MemoryStore, ask_about: AskAbout, fresh: Callable[..., MemoryStore]
) -> None:
    nowhere = ask_about('Where is the lift?', scope=Scope(map_id='office'))
    with pytest.raises(InvalidRequest, match="no memory of a map 'office'; there are: ''"):
        Agent(hashing_tour, [OfflinePlanner()]).ask(nowhere)
    note = Memory('n', 'r', 1, 2, 'The key is here.', map_id='attic')  # nobody knows where on it
    store = fresh(hashing_tour.find(Query('lift', limit=1))[0].memory, note)
    with pytest.raises(InvalidRequest, match=r"there are: '', 'attic'$"):
        Agent(store, [OfflinePlanner()]).ask(nowhere)
    assert Agent(fresh(), [OfflinePlanner()]).ask(nowhere).kind is Kind.NOT_SEEN


def test_a_follow_up_question_stays_within_its_scope(hashing_tour: MemoryStore, ask_about: AskAbout) -> None:
    agent = Agent(hashing_tour, [OfflinePlanner()])
    first = agent.ask(replace(ask_about('Where is the lift?'), asker='ann'))
    seen = first.evidence[0].memory
    scope = Scope(after_ns=seen.start_ns)
    again = agent.ask(replace(ask_about('What happened before that?'), asker='ann', scope=scope))
    assert all(hit.memory.end_ns >= seen.start_ns for hit in again.evidence)
    assert '(asked since ' in again.text
