import contextvars
import threading
import time
from collections.abc import Callable, Sequence

import pytest

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.chat.client import Message, Reply, ToolCall
from remembr_ros.agent.in_parallel import in_parallel
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.model.answer import Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Planner, Progress, Run
from remembr_ros.errors import BudgetExceeded, Cancelled, InvalidRequest, StoreUnavailable
from remembr_ros.memory.model.record import Memory
from test.patience import patiently
from test.scripted.chat import ScriptedChat
from test.unit.agent.hanging_chat import HangingChat
from test.unit.agent.listed_recall import ListedRecall

Make = Callable[..., Memory]
AskAbout = Callable[..., Question]


def test_outcomes_come_in_the_order_of_the_jobs(run: Run) -> None:
    second = threading.Event()

    def first() -> str:
        assert second.wait(10.0)  # it ends after the one that was started later
        return 'first'

    def fail() -> str:
        raise InvalidRequest('no')

    outcomes = in_parallel([first, lambda: second.set() or 'second', fail, lambda: str(1 / 0)], run)
    assert outcomes[:2] == ['first', 'second']
    assert isinstance(outcomes[2], InvalidRequest)
    assert isinstance(outcomes[3], StoreUnavailable)
    assert in_parallel([], run) == []


def test_a_job_sees_what_its_caller_set(run: Run) -> None:
    setting = contextvars.ContextVar('setting', default=0)
    setting.set(7)
    assert in_parallel([setting.get, setting.get], run) == [7, 7]


def test_nobody_waits_for_a_job_that_hangs(run: Run) -> None:
    hang = threading.Event()
    with pytest.raises(BudgetExceeded):
        in_parallel([hang.wait], Run(time.monotonic() + 0.05))
    hang.set()


def recalls(number: int) -> Reply:
    calls = (
        ToolCall(f'c{i}', 'recall_text', f'{{"query": "{text}"}}') for i, text in enumerate('abcde'[:number])
    )
    return Reply('', tuple(calls))


GOOD = Reply('', (ToolCall('x', 'answer', '{"kind": "position", "ids": ["m1"]}'),))


def test_the_calls_of_a_round_run_at_the_same_time(make_memory: Make, ask_about: AskAbout, run: Run) -> None:
    together = threading.Barrier(3)
    recall = ListedRecall([make_memory(0, ('LIFT',))], before=lambda: together.wait(10.0))
    chat = ScriptedChat([recalls(5), GOOD])
    assert (
        LoopPlanner(chat, calls_per_round=3, first_recall=False).answer(ask_about('Where?'), recall, run).kind
        is Kind.POSITION
    )
    assert len(recall.asked) == 3


def test_labels_do_not_depend_on_which_call_ends_first(
    make_memory: Make, ask_about: AskAbout, run: Run
) -> None:
    words = ['lift', 'exit', 'plant']
    memories = [make_memory(i, (word.upper(),)) for i, word in enumerate(words)]
    calls = tuple(
        ToolCall(word, 'recall_text', f'{{"query": "{word}", "near": [{5 * i}, 1], "radius": 1}}')
        for i, word in enumerate(words)
    )
    shown = set()
    for turn in range(6):
        order = iter([0.03 * ((turn + i) % 3) for i in range(3)])
        recall = ListedRecall(memories, before=lambda order=order: threading.Event().wait(next(order)))
        chat = ScriptedChat([Reply('', calls), GOOD])
        LoopPlanner(chat, first_recall=False).answer(ask_about('Where?'), recall, run)
        shown.add(tuple(message.content for message in chat.asked[1][0][3:]))
    assert len(shown) == 1


class Slow:
    """Hangs in one stage of a question, and says when it does."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.let_go = threading.Event()

    def __call__(self) -> None:
        self.reached.set()
        self.let_go.wait(30.0)

    def tokens(self, memory: Memory) -> int:
        return 0

    def look(self, memory: Memory, question: str, run: Run) -> str:
        self()
        return ''


LOOK = Reply('', (ToolCall('l', 'look_again', '{"ids": ["m1"], "question": "?"}'),))


@pytest.mark.parametrize('stage', ['first call', 'recall', 'look', 'last call', 'offline'])
def test_a_question_is_cancelled_at_any_stage(make_memory: Make, ask_about: AskAbout, stage: str) -> None:
    # The best of three: on a machine with other work a thread may get no turn for so long.
    times = (ends_after_cancel_s(make_memory, ask_about, stage) for _ in range(3))
    assert any(seconds < 0.2 for seconds in times)


def ends_after_cancel_s(make_memory: Make, ask_about: AskAbout, stage: str) -> float:
    """Return how long a question goes on that is cancelled at a stage [s]."""
    slow = Slow()
    scripts: dict[str, Sequence[Reply]] = {
        'first call': [],
        'recall': [recalls(2), GOOD],
        'look': [recalls(1), LOOK, GOOD],
        'last call': [recalls(2)],
    }
    recall = ListedRecall([make_memory(0, ('LIFT',))])
    if stage in ('recall', 'offline'):
        recall.before = slow
    planner: Planner = OfflinePlanner()
    if stage != 'offline':
        planner = LoopPlanner(
            HangingChat(list(scripts[stage]), hangs=slow.reached), second_look=slow, first_recall=False
        )
    cancel = threading.Event()
    ended: list[float] = []

    def ask() -> None:
        try:
            Agent(recall, [planner]).ask(ask_about('Where is the lift?'), cancel=cancel)
        except Cancelled:
            ended.append(time.monotonic())

    thread = threading.Thread(target=ask)
    thread.start()
    assert slow.reached.wait(10.0)
    cancelled = time.monotonic()
    cancel.set()
    thread.join(10.0)
    slow.let_go.set()
    assert ended
    return ended[0] - cancelled


def test_a_store_that_hangs_does_not_hold_a_question_beyond_its_time(
    make_memory: Make, ask_about: AskAbout
) -> None:
    slow = Slow()
    recall = ListedRecall([make_memory(0, ('LIFT',))], before=slow)
    began = time.monotonic()
    for planner in (OfflinePlanner(), LoopPlanner(ScriptedChat([recalls(1)]), first_recall=False)):
        with pytest.raises(BudgetExceeded):
            Agent(recall, [planner]).ask(ask_about('Where is the lift?'), timeout_s=0.3)
    slow.let_go.set()
    assert time.monotonic() - began < patiently(2.0)


def test_each_step_is_reported(make_memory: Make, ask_about: AskAbout) -> None:
    told: list[Progress] = []
    events: list[str] = []
    recall = ListedRecall([make_memory(4 * i, ('LIFT',)) for i in range(3)])

    def answer(messages: Sequence[Message]) -> Reply:
        return GOOD

    run = Run(float('inf'), on_progress=told.append, record=lambda event, about: events.append(event))
    LoopPlanner(ScriptedChat([recalls(1), answer]), first_recall=False).answer(
        ask_about('Where?'), recall, run
    )
    assert [(step.stage, step.memories_found) for step in told] == [
        ('thinking', 0),
        ('recalling', 0),
        ('recalling', 3),
        ('thinking', 3),
        ('answering', 3),
    ]
    assert [event for event in events if event != 'chat'] == ['hits', 'tool', 'answer']
