"""Named places, asked about by a scripted model."""

import json
from collections.abc import Mapping

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.chat.client import Reply, ToolCall
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.memory.places.place import place
from test.scripted.chat import ScriptedChat
from test.unit.agent.listed_recall import ListedRecall
from test.unit.agent.offline.places.test_place_answers import DRIVE, NOW, ROOMS


def calls(*made: tuple[str, Mapping[str, object]]) -> Reply:
    return Reply('', tuple(ToolCall(f'c{i}', name, json.dumps(of)) for i, (name, of) in enumerate(made)))


def ask(text: str, *replies: Reply, memories=(*DRIVE, *ROOMS)) -> tuple[Answer, ScriptedChat]:
    chat = ScriptedChat(list(replies))
    return Agent(ListedRecall(list(memories)), [LoopPlanner(chat, first_recall=False)]).ask(
        Question(text, NOW)
    ), chat


def told(chat: ScriptedChat, number: int = 1) -> str:
    return str(chat.asked[number][0][-1].content)


def test_how_long_it_was_in_each_place_is_measured_by_code() -> None:
    answer, chat = ask(
        'Which room were you in longest, and for how long?',
        calls(('happened', {'kind': 'stay'}), ('happened', {'kind': 'stay', 'never': 'place'})),
        calls(('answer', {'kind': 'duration', 'text': 'The kitchen', 'ids': ['m1', 'm2']})),
    )
    stays, never = (str(message.content) for message in chat.asked[1][0] if message.role == 'tool')
    assert stays.startswith('5; ')
    assert '] the kitchen: 2 times, 3 minutes 49 seconds in all' in stays
    assert never.count('living room') == 1
    assert 'kitchen' not in never
    assert (answer.kind, answer.duration_s) == (Kind.DURATION, 229.0)
    assert answer.text == 'The kitchen: 3 minutes 49 seconds.'


def test_each_visit_of_a_place_that_is_named() -> None:
    _, chat = ask(
        'When were you in the hall?',
        calls(('happened', {'kind': 'stay', 'near': 'the Hall'})),
        calls(('answer', {'kind': 'time', 'text': 'I was there', 'ids': ['m1']})),
    )
    lines = told(chat).splitlines()
    assert [line.split('] ')[-1] for line in lines] == [
        '2; 1 minute in all, 30 seconds on average',
        'the hall: 2 times, 1 minute in all',
        '22:16:40 to 22:17:20 the hall',
        '22:18:20 to 22:18:40 the hall',
    ]


def test_a_smaller_place_counts_before_the_one_that_is_named_unless_it_is_a_part_of_it() -> None:
    for to_y, said in ((13, 'the hall: once, 40 seconds in all'), (8, 'the hall: 2 times, 1 minute in all')):
        balcony = place('balcony', outline=[(14, 5.25), (16, 5.25), (16, to_y), (14, to_y)]).memory
        _, chat = ask(
            'When were you in the hall?',
            calls(('happened', {'kind': 'stay', 'near': 'hall'})),
            calls(('answer', {'kind': 'time', 'text': 'I was there', 'ids': ['m1']})),
            memories=(*DRIVE, *ROOMS, balcony),
        )
        assert told(chat).splitlines()[1].endswith(said)


def test_any_tool_is_narrowed_down_by_the_name_of_a_place() -> None:
    answer, chat = ask(
        'Is there a printer in the hall?',
        calls(('recall_text', {'query': 'printer', 'near': 'hall'})),
        calls(('answer', {'kind': 'position', 'text': 'There', 'ids': ['m1']})),
    )
    assert 'of 6 memories' in told(chat)
    assert 'A printer beside a door.' in told(chat)
    assert ', in the hall, ' in told(chat)
    assert 'in the hall' in answer.text
    assert 'Named places, for near: cellar, hall, kitchen, living room' in str(chat.asked[0][0][-1].content)


def test_without_named_places_nobody_pays_for_them() -> None:
    looks = calls(('recall_text', {'query': 'dog'}))
    _, chat = ask('Where is the dog?', looks, calls(('answer', {'kind': 'not_seen'})), memories=DRIVE)
    assert 'Named places' not in str(chat.asked[0][0][-1].content)
