from collections.abc import Callable, Sequence
from typing import Any

import pytest

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.chat.client import Message, Picture, Reply, ToolCall
from remembr_ros.agent.llm.budgeted_dialogue import LEFT_OUT, PER_PICTURE, estimate, estimate_tools, fit
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.llm.tools import TOOLS
from remembr_ros.agent.model.answer import Kind, Question, Usage
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.errors import BudgetExceeded, ReplyInvalid
from remembr_ros.memory.model.record import Memory
from test.scripted.chat import ScriptedChat
from test.unit.agent.listed_recall import ListedRecall

RECALL = Reply('', (ToolCall('a', 'recall_text', '{"query": "wall"}'),))
GOOD = Reply('', (ToolCall('b', 'answer', '{"kind": "position", "ids": ["m1"]}'),))


@pytest.fixture
def recall(make_memory: Callable[..., Memory]) -> ListedRecall:
    return ListedRecall([make_memory(i, f'A wall of stone number {i}. ' * 20) for i in range(40)])


def test_an_estimate_grows_with_what_is_said() -> None:
    short, long = [Message('user', 'a' * 40)], [Message('user', 'a' * 400)]
    assert estimate(long) - estimate(short) == 90
    shown = [Message('user', '', images=(Picture('', b''),))]
    assert estimate(shown) > PER_PICTURE
    assert 300 < estimate_tools(TOOLS) < 900


def test_the_oldest_results_are_left_out_first() -> None:
    talk = [Message('system', 's' * 400), Message('user', 'q')]
    talk += [Message('tool', f'{i}' * 2_000, tool_call_id=f'c{i}') for i in range(3)]
    whole = estimate(talk)
    assert fit(talk, whole, 2) == talk
    fitted = fit(talk, whole - 100, 2)
    assert fitted is not None
    assert [message.content for message in fitted] == [*('s' * 400, 'q'), LEFT_OUT, '1' * 2_000, '2' * 2_000]
    assert fit(talk, 50, 2) is None


def test_an_answer_is_forced_before_the_tokens_are_used_up(
    recall: ListedRecall, ask_about: Callable[..., Question], run: Run
) -> None:
    chat = ScriptedChat([RECALL, GOOD])
    answer = LoopPlanner(chat, token_budget=3_000).answer(ask_about('Where?'), recall, run)
    assert answer.kind is Kind.POSITION
    assert [must for _, must in chat.asked] == [None, 'answer']


@pytest.mark.parametrize('counted', [0, 4_000])
def test_no_more_tokens_are_sent_than_the_budget_allows(
    recall: ListedRecall, ask_about: Callable[..., Question], counted: int
) -> None:
    recall_more = [
        Reply('', (ToolCall('a', 'recall_time', f'{{"time": "{i} minutes ago"}}'),), usage=Usage(1, counted))
        for i in range(20)
    ]
    for budget in range(500, 20_000, 500):
        chat = ScriptedChat(list[Any](recall_more))
        agent = Agent(recall, [LoopPlanner(chat, rounds=8, token_budget=budget), OfflinePlanner()])
        assert agent.ask(ask_about('Where is a wall?')).planner == 'offline'
        sent = sum(estimate(messages) + estimate_tools(TOOLS) for messages, _ in chat.asked)
        assert sent <= budget
        assert counted * (len(chat.asked) - 1) <= budget


def test_a_server_that_counts_more_than_is_estimated_is_believed(
    recall: ListedRecall, ask_about: Callable[..., Question]
) -> None:
    used: list[int] = []

    def counting(messages: Sequence[Message]) -> Reply:
        used.append(2 * (estimate(messages) + estimate_tools(TOOLS)))
        asked = f'{{"time": "{len(used)} minutes ago"}}'
        return Reply('', (ToolCall('a', 'recall_time', asked),), usage=Usage(1, used[-1]))

    for budget in range(3_000, 20_000, 1_000):
        used.clear()
        spent = Run(deadline=float('inf'))
        with pytest.raises((BudgetExceeded, ReplyInvalid)):
            LoopPlanner(ScriptedChat([counting] * 20), rounds=8, token_budget=budget).answer(
                ask_about('Where?'), recall, spent
            )
        assert spent.ledger.usage.prompt_tokens == sum(used) <= budget


def test_a_budget_too_small_for_anything_leaves_it_to_the_rules(
    recall: ListedRecall, ask_about: Callable[..., Question], run: Run
) -> None:
    loop = LoopPlanner(ScriptedChat([]), token_budget=100)
    with pytest.raises(BudgetExceeded, match='token_budget'):
        loop.answer(ask_about('Where?'), recall, run)
    assert Agent(recall, [loop, OfflinePlanner()]).ask(ask_about('Where is a wall?')).planner == 'offline'


def test_a_question_answered_from_one_recall_takes_few_tokens(
    make_memory: Callable[..., Memory], ask_about: Callable[..., Question]
) -> None:
    """Of captions as long as NaVQA's, with all tools but look_again."""
    seen = 'There is a {} sign at the {} end of a brick building, and a row of parked cars stands before it. '
    colours = 'red green blue white black brown grey yellow orange pink purple silver golden beige'.split()
    memories = []
    for i in range(30):
        pairs = ((colours[(i + j) % 14], colours[(3 * i + j) % 14]) for j in range(18))
        memories.append(make_memory(9 * i, ''.join(seen.format(*pair) for pair in pairs)))
    assert min(len(memory.caption) for memory in memories) > 1_650
    asked = 'Where did you see the yellow sign of a shop?'
    chat = ScriptedChat([GOOD])
    answer = LoopPlanner(chat).answer(ask_about(asked), ListedRecall(memories), Run(float('inf')))
    assert answer.kind is Kind.POSITION
    assert len(chat.asked) == 1
    sent = [estimate(messages) + estimate_tools(TOOLS) for messages, _ in chat.asked]
    assert sum(sent) <= 1_500
