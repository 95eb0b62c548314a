import json
import re
from contextlib import suppress

import pytest

from remembr_bench.evaluation.baselines.one_call import (
    CHARACTERS_PER_TOKEN,
    RESERVE_TOKENS,
    AllCaptionsPlanner,
)
from remembr_ros.agent.chat.client import Reply, ToolCall
from remembr_ros.errors import InvalidRequest, Ungrounded
from test.scripted.chat import ScriptedChat


def answering(**arguments):
    return Reply('', (ToolCall('c0', 'answer', json.dumps(arguments)),))


GOOD = answering(kind='position', text='The printer', ids=['m1'])


def shown(chat):
    """The memories in the prompt, by label."""
    return re.findall(r'^\[(m\d+)\].*caption "(.*?)"', chat.asked[0][0][1].content, re.MULTILINE)


def test_every_memory_is_shown_in_the_order_of_time(drive, ask_about, run):
    chat = ScriptedChat([GOOD], 'tiny')
    planner = AllCaptionsPlanner(chat)
    assert planner.name == 'all_captions+tiny'
    answer = planner.answer(ask_about('Where is the printer?'), drive, run)
    assert shown(chat) == [
        ('m1', 'A lift with a red door.'),
        ('m2', 'A brown bench.'),
        ('m3', 'A printer.'),
        ('m4', 'Room 117.'),
        ('m5', 'A lift, its door open.'),
    ]
    assert drive.asked == [], 'nothing is searched for'
    assert answer.planner == 'all_captions+tiny'
    assert 'left out' not in chat.asked[0][0][1].content


@pytest.mark.parametrize('fit', [1, 3, 5])
def test_of_more_than_fit_the_newest_are_shown(drive, ask_about, run, fit):
    """The least context that holds so many."""
    for tokens in range(RESERVE_TOKENS + 400, RESERVE_TOKENS + 2_000):
        chat = ScriptedChat([GOOD])
        with suppress(InvalidRequest):
            AllCaptionsPlanner(chat, context_tokens=tokens).answer(ask_about('Where?'), drive, run)
            if len(shown(chat)) == fit:
                break
    assert [label for label, _ in shown(chat)] == [f'm{i + 1}' for i in range(fit)]
    assert shown(chat)[-1][1] == 'A lift, its door open.'
    content = chat.asked[0][0][1].content
    assert (f'{5 - fit} older ones are left out' in content) == (fit < 5)
    used = sum(len(message.content) for message in chat.asked[0][0])
    assert used <= (tokens - RESERVE_TOKENS) * CHARACTERS_PER_TOKEN


def test_a_context_without_room_for_a_memory_is_refused(drive, ask_about, run):
    planner = AllCaptionsPlanner(ScriptedChat([]), context_tokens=RESERVE_TOKENS + 1)
    with pytest.raises(InvalidRequest, match='context_tokens'):
        planner.answer(ask_about('Where?'), drive, run)


def test_a_number_that_no_caption_shows_is_no_answer(drive, ask_about, run):
    chat = ScriptedChat([answering(kind='text', text='There are 42 rooms.', ids=['m4'])] * 2)
    with pytest.raises(Ungrounded, match='numbers'):
        AllCaptionsPlanner(chat).answer(ask_about('How many rooms?'), drive, run)


def test_numbers_without_sense_are_refused():
    with pytest.raises(InvalidRequest, match='context_tokens'):
        AllCaptionsPlanner(ScriptedChat([]), context_tokens=RESERVE_TOKENS)
