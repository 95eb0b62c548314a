"""Of where a thing is, the newest sure knowledge wins, whosever it is."""

import time

import pytest

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import LOOK, deed
from remembr_ros.memory.model.record import PERSON, Memory
from remembr_ros.timestamps import NS
from test.object_room import BOOK, CUP, FRIDGE, HOUR_NS, TABLE, VISITS
from test.object_scene import T0
from test.unit.agent.listed_recall import ListedRecall

LATER_NS, NOW_NS = T0 + 3 * HOUR_NS, T0 + 5 * HOUR_NS
SHELF = Pose(7.0, 1.0, 1.0)
THINGS = [one.memory for one in (TABLE, CUP, BOOK, FRIDGE)]
SEEN = Memory(
    'seen', 'robbie', T0, T0 + NS, 'There is a red cup on a table.', Pose(0.0, 1.0), captioner='vlm'
)


def note(text: str, pose: Pose | None = None, ns: int = LATER_NS) -> Memory:
    return Memory(f'note {ns}', 'robbie', ns, ns, text, pose, source=PERSON)


def ask(text: str, *memories: Memory) -> Answer:
    recall = ListedRecall(memories)
    return OfflinePlanner().answer(Question(text, NOW_NS), recall, Run(time.monotonic() + 30.0))


def look(outcome: str, ns: int = LATER_NS, **of) -> Memory:
    about = {'object': 'red cup', 'object_id': 'cup'} | of
    made = deed(
        ns, ns, kind=LOOK, text='Looked for the red cup', outcome=outcome, pose=Pose(0.0, 1.0), **about
    )
    return made.memory('robbie')


@pytest.mark.parametrize('seen', [THINGS, [SEEN]], ids=['objects', 'captions'])
def test_a_newer_note_wins_and_an_older_one_does_not(seen: list[Memory]) -> None:
    told = 'The red cup is on the shelf now.'
    answer = ask('Where is the red cup?', *seen, note(told, SHELF))
    assert '2 hours ago' in answer.text
    assert (answer.kind, answer.pose) == (Kind.POSITION, SHELF)
    assert answer.text.startswith(f'A person noted "{told[:-1]}')
    assert answer.confidence > 0.5
    older = ask('Where is the red cup?', *seen, note(told, SHELF, T0 - HOUR_NS))
    assert older.pose != SHELF


@pytest.mark.parametrize(
    'text', ['I took the red cup away.', 'The red cup is gone', 'Somebody has stolen my red cup.']
)
@pytest.mark.parametrize('seen', [THINGS, [SEEN]], ids=['objects', 'captions'])
def test_a_note_tells_that_a_thing_is_gone(seen: list[Memory], text: str) -> None:
    answer = ask('Where is the red cup?', *seen, note(text))
    assert answer.kind is Kind.TEXT  # no goal
    assert answer.text.startswith('It is not there any more: a person noted "')
    assert answer.confidence > 0.5


@pytest.mark.parametrize(
    'text',
    [
        'I took the blue cup away.',
        'I took the book away.',
        'Lunch is at noon.',
        'The red cup is dirty.',
        'The red cup is out of order on Mondays.',
        'The red cup is for Anna.',
    ],
)
def test_notes_of_other_things_tell_nothing(text: str) -> None:
    answer = ask('Where is the red cup?', *THINGS, note(text))
    assert answer.kind is Kind.POSITION
    assert 'last seen' in answer.text


@pytest.mark.parametrize(
    'text',
    ['The red cup is at my mother.', 'I put the red cup into a box', 'The red cup is back in the hall.'],
)
def test_a_note_without_a_place_is_quoted(text: str) -> None:
    answer = ask('Where is the red cup?', *THINGS, note(text))
    assert answer.text.startswith('I know no place, but a person noted')


def test_a_look_that_found_nothing_wins_until_it_is_seen_again() -> None:
    gone = ask('Where is the red cup?', *THINGS, look('failed'))
    assert gone.kind is Kind.TEXT
    assert 'It is not there any more: I looked for the red cup' in gone.text
    for other in (
        look('succeeded'), look('unknown'), look('failed', ns=VISITS[0][0]),
        look('failed', object='book', object_id='book'),
    ):  # fmt: skip
        assert ask('Where is the red cup?', *THINGS, other).kind is Kind.POSITION


def test_where_it_was_then_is_asked_of_then() -> None:
    answer = ask('Where was the red cup 4 hours ago?', *THINGS, note('I took the red cup away.'))
    assert 'not there any more' not in answer.text


def test_the_newest_of_several_notes_wins() -> None:
    notes = [
        note('The red cup is gone.', None, LATER_NS),
        note('The red cup is on the shelf.', SHELF, LATER_NS + NS),
    ]
    assert ask('Where is the red cup?', *THINGS, *notes).pose == SHELF
