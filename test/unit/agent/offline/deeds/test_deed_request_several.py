import time

import pytest

from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.offline.deeds.deed_request import several_named
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import Pose
from test.unit.agent.listed_recall import ListedRecall
from test.unit.agent.offline.deeds.test_deed_answers import DONE, MINUTE, SEEN, T, ask


@pytest.mark.parametrize(
    ('text', 'names'),
    [
        (
            'Which of these did you pick up: the cup, the plate or the keys?',
            ('the cup', 'the plate', 'the keys'),
        ),
        ('The cup and the keys: which of them did you put somewhere?', ('The cup', 'the keys')),
        ('Which did you put away first, the cup or the red keys?', ('the cup', 'the red keys')),
        ('Where is the cup?', ()),
        ('Which room is it in?', ()),
        ('', ()),
    ],
)
def test_the_things_are_told_from_the_question(text, names):
    found, rest = several_named(text)
    assert found == names
    assert not any(name in rest for name in names)
    assert names or rest == text


def test_of_several_things_those_are_told_of_which_it_is_true():
    assert ask('Which of these did you pick up: the cup, the plate or the keys?').text == 'the cup.'
    assert ask('Which of these did you never pick up: the cup, the plate or the keys?').text == (
        'Not the plate, nor the keys.'
    )
    assert ask('Which did you put down first, the keys or the cup?').text.startswith('the cup, ')


def test_how_far_a_deed_is_from_here():
    text, here = 'How far from here did you pick up the cup?', Pose(0.0, 1.0)
    question = Question(text, T + 60 * MINUTE, here=here)
    answer = OfflinePlanner().answer(question, ListedRecall([*SEEN, *DONE]), Run(time.monotonic() + 30.0))
    assert answer.text.startswith('4.0 m from here: ')
    assert [hit.memory.id for hit in answer.evidence] == [DONE[3].id]
