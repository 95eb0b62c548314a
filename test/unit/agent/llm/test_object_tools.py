"""The tools about objects, asked by a scripted model."""

import json
from collections.abc import Mapping

import pytest

from remembr_ros.agent.chat.client import Reply, ToolCall
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.llm.tools import ALL_TOOLS, OF_OBJECTS, parse_arguments
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import TALK, deed
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.timestamps import NS
from test.object_room import CUP, GONE, HOUR_NS, MOVED, ROOM, VISITS, thing
from test.object_scene import T0
from test.scripted.chat import ScriptedChat
from test.unit.agent.listed_recall import ListedRecall

NOW = T0 + 3 * HOUR_NS


def calls(*made: tuple[str, Mapping[str, object]]) -> Reply:
    return Reply('', tuple(ToolCall(f'c{i}', name, json.dumps(of)) for i, (name, of) in enumerate(made)))


def ask(
    text: str, *replies: Reply, known: tuple[KnownObject, ...] = (*ROOM, GONE, MOVED)
) -> tuple[Answer, ScriptedChat]:
    chat = ScriptedChat(list(replies))
    recall = ListedRecall([one.memory for one in known] or [Memory('m', 'robbie', T0, T0, 'A mug.')])
    return LoopPlanner(chat, first_recall=False).answer(
        Question(text, NOW), recall, Run(deadline=float('inf'))
    ), chat


def told(chat: ScriptedChat, number: int = 1) -> str:
    return str(chat.asked[number][0][-1].content)


def test_what_is_on_the_table_is_found_and_cited() -> None:
    answer, chat = ask(
        'What is on the table?',
        calls(('find_objects', {'relation': 'on', 'of': 'table'})),
        calls(('answer', {'kind': 'text', 'text': 'A cup and a book: 2 things.', 'ids': ['m1', 'm2']})),
    )
    assert told(chat).startswith('2 of 9 objects:\n[m1] ')
    assert 'on the table' in told(chat)
    assert {hit.memory.id for hit in answer.evidence} == {'cup', 'book'}
    assert answer.text == 'A cup and a book: 2 things.'
    assert answer.confidence > 0.5


def test_a_label_is_as_good_as_a_name_and_what_became_of_a_thing_is_told() -> None:
    answer, chat = ask(
        'Where is the vase?',
        calls(('find_objects', {'called': 'vase'}), ('find_objects', {'moved': True})),
        calls(('object_history', {'ids': ['m1', 'm2']})),
        calls(('answer', {'kind': 'position', 'text': 'The vase', 'ids': ['m1']})),
    )
    found = [str(message.content) for message in chat.asked[1][0] if message.role == 'tool']
    assert 'it was gone when I passed at' in found[0]
    assert found[1].startswith('1 of 9 objects:')
    history = told(chat, 2)
    assert 'm1: seen 2023-11-14 22:13:20 UTC; gone 2023-11-15 00:13:20 UTC' in history
    assert 'moved from (2.0, 3.0) to (3.0, 3.0)' in history
    assert (answer.kind, answer.evidence[0].memory.id) == (Kind.POSITION, 'vase')


def test_what_is_around_a_place_comes_nearest_first() -> None:
    _, chat = ask(
        'What is around the cup?',
        calls(('find_objects', {'called': 'cup'})),
        calls(('around', {'place': 'm1', 'radius': 1.0})),
        calls(('answer', {'kind': 'text', 'text': 'A book.', 'ids': ['m2']})),
    )
    lines = told(chat, 2).splitlines()
    assert lines[0] == '5 of 9 objects:'
    assert CUP.memory.caption in lines[1]


def test_an_object_by_its_label_anchors_a_relation() -> None:
    _, chat = ask(
        'What is next to the cup?',
        calls(('find_objects', {'called': 'cup'})),
        calls(('find_objects', {'relation': 'next to', 'of': 'm1'})),
        calls(('answer', {'kind': 'text', 'text': 'A book.', 'ids': ['m2']})),
    )
    assert told(chat, 2).startswith('1 of 9 objects:')


def test_no_is_said_of_what_was_looked_for_among_objects() -> None:
    answer, chat = ask(
        'Is there a sofa?',
        calls(('find_objects', {'called': 'sofa'}), ('find_objects', {'relation': 'on', 'of': 'sofa'})),
        calls(('answer', {'kind': 'binary', 'binary': False, 'text': 'No sofa.'})),
    )
    found = [str(message.content) for message in chat.asked[1][0] if message.role == 'tool']
    assert found == ['0 of 9 objects:', 'no object is called sofa']
    assert answer.binary is False


def test_the_tools_are_offered_only_where_there_are_objects() -> None:
    def offered(*known: KnownObject) -> set[str]:
        _, chat = ask(
            'What is here?',
            calls(('recall_text', {'query': 'mug'})),
            calls(('answer', {'kind': 'not_seen', 'text': 'Nothing.'})),
            known=known,
        )
        return chat.offered[0]

    assert offered(*ROOM) - offered() == {*OF_OBJECTS, 'just_now'}
    assert not offered() & OF_OBJECTS


def test_their_texts_are_short() -> None:
    size = sum(
        len(json.dumps([one.description, one.parameters])) for one in ALL_TOOLS if one.name in OF_OBJECTS
    )
    assert size < 1_000


@pytest.mark.parametrize(('said', 'meant'), [('inside', 'in'), ('On top of', 'on'), ('beside', 'next to')])
def test_relations_are_understood_in_other_words(said: str, meant: str) -> None:
    call = parse_arguments('find_objects', json.dumps({'relation': said, 'of': 'table'}))
    assert call.relation == meant  # type: ignore[attr-defined]


def test_a_history_of_what_is_no_object_is_refused() -> None:
    _, chat = ask(
        'What became of it?',
        calls(('recall_text', {'query': 'mug'})),
        calls(('object_history', {'ids': ['m1']})),
        calls(('answer', {'kind': 'not_seen', 'text': 'Nothing.'})),
        known=(),
    )
    assert 'no objects' in told(chat, 2)


SEEN = VISITS[1][1]  # when the room was seen last
DONE = [
    deed(SEEN - 60 * NS, SEEN - 50 * NS, kind='pick', object='cup', outcome='succeeded').memory('r'),
    deed(SEEN - 40 * NS, SEEN - 30 * NS, kind='open', object='fridge', outcome='failed').memory('r'),
    deed(SEEN - 20 * NS, SEEN - 20 * NS, kind='place', object='cup').memory('r'),
]
ASKED = deed(SEEN, SEEN, kind='ask', text='Asked where the cup is.').memory('r', TALK)


def just_now(now_ns: int, *memories: Memory, here: Pose | None = None) -> tuple[Answer, list[str]]:
    """Return an answer with the first label, and what the tool told."""
    said = {'kind': 'text', 'text': 'This.', 'ids': ['m1']}
    chat = ScriptedChat([calls(('just_now', {})), *2 * [calls(('answer', said))]])
    recall = ListedRecall([Memory('m', 'r', T0, T0, 'A mug.'), *memories])
    question = Question('What do you see, and what have you done?', now_ns, here)
    answer = LoopPlanner(chat, first_recall=False).answer(question, recall, Run(deadline=float('inf')))
    assert 'just_now' in chat.offered[0]
    return answer, told(chat).splitlines()


def test_what_is_in_view_comes_nearest_first_and_what_was_just_done_newest_last() -> None:
    objects = [one.memory for one in (*ROOM, GONE, MOVED)]
    answer, lines = just_now(SEEN + 10 * NS, *objects, *DONE, ASKED, here=Pose(2.0, 0.1))
    assert lines[0] == 'In view, 8 of 8:'
    assert ['fridge' in lines[1], 'milk' in lines[2], 'on the table' in '|'.join(lines)] == [True, True, True]
    assert not any('vase' in line for line in lines)
    assert lines[9] == 'Just done:'
    assert [line.partition('"')[2] for line in lines[10:]] == [
        'Picked the cup", succeeded',
        'Failed to open the fridge", failed',
        'Put the cup"',
    ]
    assert answer.evidence[0].memory.id == 'fridge'
    assert answer.confidence > 0.5


def test_nothing_in_view_and_nothing_done_lately_is_said_with_what_was_last() -> None:
    answer, lines = just_now(SEEN + 15 * 60 * NS, *(one.memory for one in ROOM), *DONE, ASKED)
    assert lines[0] == 'No object in view for 15 minutes; seen last:'
    assert lines[4] == 'No deed in the last 10 minutes; before that:'
    assert len(lines) == 6
    assert 'Put the cup' in lines[5]
    assert answer.evidence[0].memory.source == 'object'


def test_either_may_be_unknown() -> None:
    assert just_now(SEEN, CUP.memory)[1][-1] == 'No deed so far:'
    answer, lines = just_now(SEEN, *DONE)
    assert lines[:2] == ['No object in view so far:', 'Just done:']
    assert answer.evidence[0].memory.id == DONE[0].id


def test_of_a_thousand_objects_in_view_and_many_deeds_few_are_told() -> None:
    many = [thing('cup', (i % 40, i // 40, 0.0), (0.1, 0.1, 0.1), id=f'cup{i}').memory for i in range(1000)]
    done = [deed(SEEN - i * NS, SEEN - i * NS, kind='pick', object=f'cup {i}').memory('r') for i in range(50)]
    _, lines = just_now(SEEN, *many, *done, here=Pose(0.0, 0.0))
    assert lines[0] == 'In view, 12 of 1000:'
    assert (len(lines), len('\n'.join(lines)) < 2_500) == (12 + 5 + 2, True)
    assert lines[-1].endswith('"Picked the cup 0"')


def test_of_several_robots_it_is_said_which_did_what() -> None:
    other = deed(SEEN, SEEN, kind='dock').memory('other')
    assert 'robot "other"' in just_now(SEEN, *DONE, other)[1][-1]


def test_a_state_that_a_deed_left_is_told_with_the_object() -> None:
    held = thing('cup', (0.2, 0.1, 0.76), (0.1, 0.1, 0.1), states=((SEEN, 'in hand', 'd'),))
    _, chat = ask(
        'Is the cup in your hand?',
        calls(('find_objects', {'called': 'cup'})),
        calls(('answer', {'kind': 'binary', 'text': 'Yes', 'binary': True, 'ids': ['m1']})),
        known=(held,),
    )
    assert ', in hand, ' in told(chat)
