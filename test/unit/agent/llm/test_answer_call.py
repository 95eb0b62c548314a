"""A model's answer is held against what the rules surely know, and they answer where the model cannot."""

import json
import re
import time
from collections.abc import Sequence
from typing import Any

import pytest

from remembr_ros.agent.chat.client import Message, Reply, ToolCall
from remembr_ros.agent.llm.answer_call import CLUMSY, TRIED_AGAIN, Habit
from remembr_ros.agent.llm.loop import LoopPlanner
from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS
from test.scripted.chat import ScriptedChat

NOW_NS = 1_700_000_000 * NS


@pytest.fixture(scope='module')
def signs(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A memory of signs alone, of which the rules are sure."""
    texts = (('ROOM 117',), ('EXIT',), ('LIFT',), ('ROOM 118', 'PRINTER'))
    seen = [
        Observation(
            Memory(
                id=f's{i}',
                robot='robot',
                start_ns=NOW_NS - 60 * NS + 9 * NS * i,
                end_ns=NOW_NS - 60 * NS + 9 * NS * i + 3 * NS,
                pose=Pose(20.0 * i, 0.0, 0.0, 0.0),
                caption=f'Signs and labels that can be read: {", ".join(text)}.',
                scene_text=text,
                captioner='scene_text',
            )
        )
        for i, text in enumerate(texts)
    ]
    path = tmp_path_factory.mktemp('signs') / 'signs.db'
    with open_store(str(path), get_embedder('all-MiniLM-L6-v2')) as store:
        store.add(seen)
        yield store


def answer(**arguments: Any) -> Reply:
    return Reply('', (ToolCall('a', 'answer', json.dumps(arguments)),))


def asked(signs: MemoryStore, question: str, *replies: Any) -> tuple[Answer, ScriptedChat]:
    chat = ScriptedChat([*replies])
    run = Run(time.monotonic() + 60.0)
    return LoopPlanner(chat, rules=OfflinePlanner()).answer(Question(question, NOW_NS), signs, run), chat


def labelled(chat: ScriptedChat, text: str) -> str:
    """Return the label under which a model was shown a text."""
    (label,) = re.findall(rf'\[(m\d)\][^\n]*{text}', chat.asked[0][0][1].content)
    return str(label)


def test_not_seen_is_sent_back_once_where_a_sign_shows_it(signs: MemoryStore) -> None:
    given, chat = asked(
        signs, 'Where is room 117?', answer(kind='not_seen'), answer(kind='position', ids=['m1'])
    )
    assert (given.kind, given.planner, len(chat.asked)) == (Kind.POSITION, 'scripted', 2)
    assert f'{labelled(chat, "ROOM 117")} surely shows it' in chat.asked[1][0][-1].content


def test_who_insists_on_not_having_seen_it_is_overruled(signs: MemoryStore) -> None:
    given, chat = asked(signs, 'Where is room 117?', *[answer(kind='not_seen')] * 2)
    assert (given.kind, given.planner, len(chat.asked)) == (Kind.POSITION, 'offline', 2)


def test_who_insists_on_another_memory_is_believed_but_not_for_long(signs: MemoryStore) -> None:
    def exit_sign(messages: Sequence[Message]) -> Reply:
        (label,) = re.findall(r'\[(m\d)\][^\n]*EXIT', messages[1].content)
        return answer(kind='position', ids=[label])

    chat = ScriptedChat([exit_sign] * 2 * CLUMSY)
    planner = LoopPlanner(chat, rules=OfflinePlanner())
    for asked_before in range(CLUMSY):
        assert not planner.habit.is_clumsy
        question = Question('Where is room 117?', NOW_NS)
        given = planner.answer(question, signs, Run(time.monotonic() + 60.0))
        assert (given.planner, len(chat.asked)) == ('scripted', 2 * (asked_before + 1))
        assert given.evidence[0].memory.scene_text == ('EXIT',)
    assert planner.habit.is_clumsy


def test_nobody_is_sure_of_a_number_that_no_cited_memory_has(signs: MemoryStore) -> None:
    for number, sure in ((117, True), (121, False)):
        chat = ScriptedChat([answer(kind='binary', binary=True, ids=['m1'])])
        run = Run(time.monotonic() + 60.0)
        question = Question(f'Did you see room {number}?', NOW_NS)
        given = LoopPlanner(chat).answer(question, signs, run)
        assert (given.confidence >= 0.5) is sure, number


def test_an_answer_that_the_rules_share_is_taken_at_once(signs: MemoryStore) -> None:
    first = asked(signs, 'Where is room 117?', answer(kind='position', ids=['m1']))
    assert (first[0].planner, len(first[1].asked)) == ('scripted', 1)


def test_an_answer_without_a_search_is_looked_at_again_where_the_rules_think_of_another(
    signs: MemoryStore,
) -> None:
    def exit_sign(messages: Sequence[Message]) -> Reply:
        (label,) = re.findall(r'\[(m\d)\][^\n]*EXIT', messages[1].content)
        return answer(kind='position', ids=[label])

    search = Reply('', (ToolCall('b', 'recall_text', '{"query": "a place to copy a page"}'),))
    question = 'Where is the broken printer?'
    known = OfflinePlanner().answer(Question(question, NOW_NS), signs, Run(time.monotonic() + 60.0))
    assert (known.kind, known.confidence < 0.75) == (Kind.POSITION, True)
    _, chat = asked(signs, question, exit_sign, exit_sign)
    assert 'perhaps shows it' in chat.asked[1][0][-1].content
    _, chat = asked(signs, question, search, exit_sign)
    assert len(chat.asked) == 2


def test_what_is_counted_is_looked_for(signs: MemoryStore) -> None:
    one = answer(kind='text', text='One sign reads EXIT.', ids=['m1'])
    listed = Reply('', (ToolCall('b', 'list_all', '{"query": "exit"}'),))
    given, chat = asked(signs, 'How many exits are there?', one, listed, one)
    assert (given.planner, len(chat.asked)) == ('scripted', 3)
    assert 'list_all counts' in chat.asked[1][0][-1].content
    given, chat = asked(signs, 'How many exits are there?', one, one)
    assert (given.planner, len(chat.asked)) == ('offline', 2)


def test_no_becomes_cannot_tell_where_only_signs_were_read(signs: MemoryStore) -> None:
    given, _ = asked(signs, 'Did you see a dog?', answer(kind='binary', binary=False))
    assert (given.kind, given.planner) == (Kind.NOT_SEEN, 'scripted')
    assert 'only read signs' in given.text
    assert given.confidence < 0.5


def test_of_a_model_that_stumbles_what_the_rules_say_otherwise_is_not_believed(signs: MemoryStore) -> None:
    given, chat = asked(signs, 'Where is room 117?', Reply('Hm.'), *[answer(kind='not_seen')] * 2)
    assert (given.kind, given.planner) == (Kind.POSITION, 'offline')
    assert [must for _, must in chat.asked] == [None, 'answer', 'answer']


def test_a_model_that_never_uses_its_tools_is_asked_what_the_rules_cannot_answer(signs: MemoryStore) -> None:
    chat = ScriptedChat([Reply('Hm.'), answer(kind='position', ids=['m1'])] * CLUMSY)
    planner = LoopPlanner(chat, rules=OfflinePlanner())

    def ask(text: str) -> Answer:
        return planner.answer(Question(text, NOW_NS), signs, Run(time.monotonic() + 60.0))

    for _ in range(CLUMSY):
        ask('Where is room 117?')
    assert planner.habit.is_clumsy
    assert ask('Where is the lift?').planner == 'offline'
    assert len(chat.asked) == 2 * CLUMSY
    chat.replies.append(answer(kind='text', text='EXIT.', ids=['m1']))
    assert ask('Which sign is the most beautiful?').planner == 'scripted'
    assert [must for _, must in chat.asked[2 * CLUMSY :]] == ['answer']


def test_who_is_overruled_again_and_again_is_not_asked_what_the_rules_know(signs: MemoryStore) -> None:
    chat = ScriptedChat([answer(kind='not_seen')] * 2 * CLUMSY)
    planner = LoopPlanner(chat, rules=OfflinePlanner())
    for _ in range(CLUMSY + 3):
        question = Question('Where is room 117?', NOW_NS)
        given = planner.answer(question, signs, Run(time.monotonic() + 60.0))
        assert (given.kind, given.planner) == (Kind.POSITION, 'offline')
    assert len(chat.asked) == 2 * CLUMSY


def test_a_small_model_is_asked_what_the_rules_cannot_answer(signs: MemoryStore) -> None:
    chat = ScriptedChat([answer(kind='text', text='EXIT.', ids=['m1'])], model='qwen2.5-coder:1.5b')
    planner = LoopPlanner(chat, rules=OfflinePlanner())
    for text, by in (('Where is room 117?', 'offline'), ('Which sign is the most beautiful?', chat.model)):
        given = planner.answer(Question(text, NOW_NS), signs, Run(time.monotonic() + 60.0))
        assert given.planner == by
    assert given.confidence < 0.5
    assert [must for _, must in chat.asked] == ['answer']


def test_a_habit_is_tried_again_and_can_be_lost() -> None:
    habit = Habit()
    habit.note(stumbled=True)
    habit.note(stumbled=False)
    assert habit == Habit(0)
    for _ in range(CLUMSY):
        habit.note(stumbled=True)
    clumsy = []
    for _ in range(TRIED_AGAIN - CLUMSY + 1):
        clumsy.append(habit.is_clumsy)
        habit.note(stumbled=False)
    assert (clumsy.count(False), habit.is_clumsy) == (1, False)
