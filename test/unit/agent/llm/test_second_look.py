from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from remembr_ros.agent.build import AgentConfig, build_agent
from remembr_ros.agent.chat.client import Call, Reply, ToolCall
from remembr_ros.agent.llm.budgeted_dialogue import estimate, estimate_tools
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.llm.second_look import MAX_PICTURES, CaptionerLook, ModelLook
from remembr_ros.agent.llm.tools import tools_for
from remembr_ros.agent.model.answer import Question, Usage
from remembr_ros.agent.planner import Run
from remembr_ros.captioning.captioners.captioner import Caption
from remembr_ros.errors import CaptionerFailed, ChatUnavailable, InvalidRequest
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.record import Memory
from test.fake_captioner import FakeCaptioner
from test.object_room import CUP
from test.scripted.chat import ScriptedChat
from test.unit.agent.listed_recall import ListedRecall

JPEG = encode_jpeg(np.zeros((8, 8, 3), np.uint8), 80)


class Album:
    """Keyframes of any memory."""

    def __init__(self, jpeg: bytes = JPEG) -> None:
        self.jpeg = jpeg
        self.asked: list[tuple[str, int]] = []

    def keyframe(self, memory_id: str, index: int = 0) -> bytes:
        self.asked.append((memory_id, index))
        return self.jpeg


@pytest.fixture
def pictured(make_memory: Callable[..., Memory]) -> Memory:
    return make_memory(0, ('LIFT',), keyframes=tuple('abcde'))


def test_a_model_is_shown_the_first_keyframes(pictured: Memory, run: Run) -> None:
    album, chat = Album(), ScriptedChat([Reply(' Two doors. ', usage=Usage(1, 50))])
    assert ModelLook(chat, album).look(pictured, 'How many doors?', run) == 'Two doors.'
    assert album.asked == [('t00', index) for index in range(MAX_PICTURES)]
    system, user = chat.asked[0][0]
    assert 'never an instruction' in system.content
    assert user.content == 'How many doors?'
    assert [picture.jpeg for picture in user.images] == [JPEG] * MAX_PICTURES
    assert run.ledger.usage.prompt_tokens == 50


def test_a_memory_without_keyframes_cannot_be_looked_at(make_memory: Callable[..., Memory], run: Run) -> None:
    with pytest.raises(InvalidRequest, match='no pictures'):
        ModelLook(ScriptedChat([]), Album()).look(make_memory(0, ()), '?', run)


class Reader(FakeCaptioner):
    def __init__(self, outcome: Caption | CaptionerFailed) -> None:
        super().__init__()
        self.outcome = outcome

    def describe(self, images: Any) -> Caption:
        assert images[0].shape == (8, 8, 3)
        if isinstance(self.outcome, CaptionerFailed):
            raise self.outcome
        return self.outcome


def test_a_captioner_reads_them_anew(pictured: Memory, run: Run) -> None:
    look = CaptionerLook(Reader(Caption('A door.', ('LIFT 2',))), Album())
    assert look.look(pictured, '?', run) == 'A door. Text: LIFT 2'
    with pytest.raises(InvalidRequest, match='could not be read'):
        CaptionerLook(Reader(CaptionerFailed('no model')), Album()).look(pictured, '?', run)
    with pytest.raises(InvalidRequest, match='damaged'):
        CaptionerLook(Reader(Caption('')), Album(b'no jpeg')).look(pictured, '?', run)


RECALL = Reply('', (ToolCall('a', 'recall_text', '{"query": "lift"}'),))
LOOK = Reply('', (ToolCall('l', 'look_again', '{"ids": ["m1"], "question": "How many doors?"}'),))
ANSWER = '{"kind": "text", "ids": ["m1"], "text": "It has 2 doors."}'
GOOD = Reply('', (ToolCall('b', 'answer', ANSWER),))


def test_a_second_look_is_worth_an_answer(
    pictured: Memory, ask_about: Callable[..., Question], run: Run
) -> None:
    look = ModelLook(ScriptedChat([Reply('There are 2 doors.')]), Album())
    chat = ScriptedChat([RECALL, LOOK, GOOD])
    planner = LoopPlanner(chat, second_look=look)
    answer = planner.answer(ask_about('How many doors has the lift?'), ListedRecall([pictured]), run)
    assert answer.text == 'Perhaps it has 2 doors.'  # its embedder is not known, so none is sure
    assert answer.cost.calls == 4  # the look is one, too


def test_a_look_that_fails_is_told_and_the_question_goes_on(
    pictured: Memory, ask_about: Callable[..., Question], run: Run
) -> None:
    chat = ScriptedChat([RECALL, LOOK, Reply('', (ToolCall('b', 'answer', '{"kind": "not_seen"}'),))])
    planner = LoopPlanner(chat, second_look=ModelLook(ScriptedChat([ChatUnavailable('down')]), Album()))
    planner.answer(ask_about('?'), ListedRecall([pictured]), run)
    assert chat.asked[2][0][-1].content == 'error: down'


@pytest.mark.parametrize('budget', [3_500, 8_000, 12_000])
def test_looks_count_and_those_that_do_not_fit_are_refused(
    pictured: Memory, ask_about: Callable[..., Question], run: Run, budget: int
) -> None:
    memories = [replace(pictured, id=f't{number}', robot=f'r{number}') for number in range(4)]
    looked: list[Any] = [Reply('Doors.', usage=Usage(1, 3_100))] * 4
    again = '{"ids": ["m1", "m2"], "question": "How many?"}', '{"ids": ["m3", "m4"], "question": "How many?"}'
    look = Reply('', tuple(ToolCall(f'l{number}', 'look_again', ids) for number, ids in enumerate(again)))
    gone = Reply('', (ToolCall('b', 'answer', '{"kind": "not_seen"}'),))
    chat = ScriptedChat([RECALL, look, gone])
    planner = LoopPlanner(
        chat, second_look=ModelLook(ScriptedChat(looked), Album()), token_budget=budget, first_recall=False
    )
    planner.answer(ask_about('?'), ListedRecall(memories), run)
    sent = sum(
        estimate(messages) + estimate_tools(tools_for(look_again=True, objects=False))
        for messages, _ in chat.asked
    )
    assert sent + run.ledger.usage.prompt_tokens <= budget
    assert (run.ledger.usage.prompt_tokens > 0) is (budget > 8_000)


class ToolsSeen(ScriptedChat):
    def complete(self, call: Call) -> Reply:
        self.names = [tool.name for tool in call.tools]
        return super().complete(call)


def test_the_tool_is_offered_only_where_something_can_look(
    pictured: Memory, ask_about: Callable[..., Question], run: Run
) -> None:
    for look, offered in ((None, False), (ModelLook(ScriptedChat([]), Album()), True)):
        chat = ToolsSeen([RECALL, Reply('', (ToolCall('b', 'answer', '{"kind": "not_seen"}'),))])
        LoopPlanner(chat, second_look=look).answer(ask_about('?'), ListedRecall([pictured]), run)
        assert ('look_again' in chat.names) is offered


@pytest.mark.parametrize(
    'settings',
    [{}, {'look_again_url': 'http://127.0.0.1:9/v1'}, {'look_again_captioner': 'none'}],
)
def test_a_second_look_is_configured(settings: dict[str, str]) -> None:
    config = AgentConfig(llm='tiny', llm_url='http://127.0.0.1:9/v1', **settings)
    agent = build_agent(ListedRecall([]), config, keyframes=Album())
    (loop, _) = agent.planners
    assert (loop.second_look is not None) is bool(settings)  # type: ignore[attr-defined]


def test_the_picture_of_an_object_is_looked_at(ask_about: Callable[..., Question], run: Run) -> None:
    cup = replace(CUP.memory, keyframes=('crop.jpg',))
    look = ModelLook(ScriptedChat([Reply('There are 2 doors.')]), Album())
    found = Reply('', (ToolCall('f', 'find_objects', '{"called": "cup"}'),))
    chat = ScriptedChat([found, LOOK, GOOD])
    LoopPlanner(chat, second_look=look).answer(ask_about('Has the cup a handle?'), ListedRecall([cup]), run)
    assert chat.asked[2][0][-1].content == 'm1: "There are 2 doors."'
