"""What the robot left open, by what it last opened or closed; and things that it carried elsewhere."""

import time

import pytest

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS
from test.unit.agent.listed_recall import ListedRecall

T = 1_700_000_000 * NS
MINUTE = 60 * NS


def did(minute: int, kind: str, thing: str, receptacle: str = '', place: str = '') -> Memory:
    begin_ns, pose = T + minute * MINUTE, Pose(float(minute), 0.0)
    about = {'object': thing, 'receptacle': receptacle, 'place': place, 'outcome': 'succeeded'}
    return deed(begin_ns, begin_ns + MINUTE // 2, kind=kind, pose=pose, **about).memory('r')


DONE = [
    did(1, 'open', 'fridge', place='kitchen'),
    did(2, 'open', 'drawer', place='study'),
    did(3, 'close', 'fridge', place='kitchen'),
    did(4, 'open', 'window', place='study'),
    did(5, 'close', 'window', place='study'),
    did(6, 'open', 'window', place='study'),
    did(7, 'pick', 'red cup', 'table', 'study'),
    did(8, 'place', 'red cup', 'shelf', 'kitchen'),
    did(9, 'slice', 'red cup', 'shelf', 'kitchen'),
    did(10, 'pick', 'red cup', 'shelf', 'kitchen'),
    did(11, 'place', 'red cup', 'table', 'hall'),
    did(12, 'pick', 'blue cup', 'fridge', 'kitchen'),
    did(13, 'place', 'blue cup', 'shelf', 'kitchen'),
    did(14, 'switch on', 'blue lamp', 'table', 'hall'),
    did(15, 'peel', 'blue apple', 'pink bowl', 'kitchen'),
]


def ask(text: str, *others: Memory) -> Answer:
    question, recall = Question(text, T + 60 * MINUTE), ListedRecall([*DONE, *others])
    return OfflinePlanner().answer(question, recall, Run(time.monotonic() + 30.0))


@pytest.mark.parametrize(
    ('text', 'yes', 'evidence'),
    [
        ('Is the fridge open?', False, 2),
        ('Is the fridge closed?', True, 2),
        ('Did you leave the fridge open?', False, 2),
        ('Is the window still open?', True, 5),
        ('Have you left the drawer shut?', False, 1),
        ('Did you switch on the blue lamp?', True, 13),
        ('Did you switch on the green lamp?', False, None),
        ('Did you peel the blue apple?', True, 14),
        ('Did you peel the pink apple?', False, None),  # pink is the bowl
    ],
)
def test_yes_or_no(text: str, yes: bool, evidence: int | None) -> None:
    answer = ask(text)
    assert (answer.kind, answer.binary) == (Kind.BINARY, yes)
    assert evidence is None or answer.evidence[0].memory.id == DONE[evidence].id


def test_what_was_left_open() -> None:
    assert {hit.memory.id for hit in ask('What did you leave open?').evidence} == {DONE[1].id, DONE[5].id}


def test_moves_are_counted_by_where_things_were_put() -> None:
    assert ask('How many times did you move the red cup?').text.startswith('2 times')
    assert ask('How often did you move the blue cup?').text.startswith('once')


def test_it_is_the_thing_that_is_asked_for() -> None:
    answer = ask('Where was the red cup before you put it on the shelf?')
    assert answer.evidence[0].memory.id == DONE[6].id  # and not what was before the blue cup was put there


PICKED = did(20, 'pick', 'blue cup', 'shelf', 'kitchen')


@pytest.mark.parametrize(
    'text', ['What are you holding?', 'What is in your hand?', 'What is in your hands now?']
)
def test_what_is_in_hand(text: str) -> None:
    assert [hit.memory.id for hit in ask(text, PICKED).evidence] == [PICKED.id]
    assert ask(text).text == 'Nothing that I remember, of 2 that I handled.'


@pytest.mark.parametrize(
    ('text', 'yes'),
    [
        ('Is the blue cup in your hand?', True),
        ('Is the red cup in your hand?', False),
        ('Are you holding the blue cup?', True),
        ('Are you carrying the red cup?', False),
    ],
)
def test_whether_it_is_in_hand(text: str, yes: bool) -> None:
    answer = ask(text, PICKED)
    assert (answer.kind, answer.binary) == (Kind.BINARY, yes)


@pytest.mark.parametrize('text', ['Is the fridge open or closed?', 'Is the fridge closed or open?'])
def test_which_of_both_it_is_is_no_question_of_yes_or_no(text: str) -> None:
    answer = ask(text)
    assert (answer.kind, answer.binary) == (Kind.TEXT, None)
    assert 'close the fridge' in answer.text.lower() or 'Closed the fridge' in answer.text
