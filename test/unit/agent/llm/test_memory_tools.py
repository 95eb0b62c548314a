from collections.abc import Callable

import pytest

from remembr_ros.agent.llm.call_context import CallContext
from remembr_ros.agent.llm.memory_tools import MAX_READ
from remembr_ros.agent.llm.tools import job, parse_arguments
from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.planner import Run
from remembr_ros.errors import InvalidRequest, Ungrounded
from remembr_ros.memory.model.record import Memory
from test.unit.agent.listed_recall import ListedRecall

LONG = f'{" ".join(f"Wall {i} is grey." for i in range(100))} A red bicycle leans there.'


@pytest.fixture
def context(make_memory: Callable[..., Memory], ask_about: Callable[..., Question]) -> CallContext:
    memories = [
        make_memory(0, LONG, scene_text=tuple(f'SIGN {i}' for i in range(100))),
        make_memory(9, 'word ' * 10_000),
        make_memory(18, 'A door.', pose=None),
    ]
    return CallContext(ask_about('?'), ListedRecall(memories), Run(float('inf')))


def call(context: CallContext, name: str, arguments: str) -> str:
    return job(parse_arguments(name, arguments), context)()()


def test_a_caption_and_all_texts_are_read_whole(context: CallContext) -> None:
    shown = call(context, 'recall_text', '{"query": "bicycle"}')
    assert ('Wall 60 ' in shown, 'SIGN 90' in shown) == (False, False)
    reserved: list[int] = []
    context.reserve = reserved.append
    read = call(context, 'read', '{"ids": "m1"}')
    assert LONG.strip() in read
    assert 'SIGN 99' in read
    assert sum(reserved) == len(read) // 4


def test_what_is_read_is_bounded_and_so_are_the_tokens(context: CallContext) -> None:
    call(context, 'recall_text', '{"query": "word"}')
    assert len(call(context, 'read', '{"ids": ["m1", "m2", "m3"]}')) < 4 * MAX_READ

    def refuse(tokens: int) -> None:
        raise InvalidRequest('too few tokens')

    context.reserve = refuse
    with pytest.raises(InvalidRequest):
        call(context, 'read', '{"ids": ["m1"]}')
    with pytest.raises(Ungrounded):
        call(context, 'read', '{"ids": ["m9"]}')


def test_memories_are_ranked_by_distance_from_another(context: CallContext) -> None:
    call(context, 'recall_position', '{"position": [0, 1, 0]}')  # m1 is at 0 m, m2 at 45 m
    ranked = call(context, 'measure', '{"what": "nearest", "ids": ["m2", "m1"], "place": "m1"}')
    assert ranked == 'm1, 0.00 m; m2, 45.00 m from m1'
    farthest = call(context, 'measure', '{"what": "farthest", "ids": ["m1", "m2"], "place": "44, 1"}')
    assert farthest == 'm1, 44.00 m; m2, 1.00 m from there'
    assert call(context, 'measure', '{"what": "distance", "ids": ["m2"], "near": "m1"}') == '45.00 m'
    assert '[m2]' not in call(context, 'recall_position', '{"position": "m2"}')
