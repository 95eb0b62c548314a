"""What the rules answer about objects."""

import time

import pytest

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.timestamps import NS
from test.object_room import CUP, GONE, HOUR_NS, MOVED, ROOM, TABLE, VISITS, thing
from test.object_scene import T0
from test.unit.agent.listed_recall import ListedRecall

NEW = thing('clock', (2.0, -0.1, 1.5), (0.1, 0.1, 0.1), intervals=VISITS[1:])
NOW = T0 + 3 * HOUR_NS


def ask(text: str, *known: KnownObject) -> Answer:
    recall = ListedRecall([one.memory for one in known or (*ROOM, GONE, MOVED, NEW)])
    return OfflinePlanner().answer(Question(text, NOW), recall, Run(time.monotonic() + 30.0))


def cited(answer: Answer) -> set[str]:
    return {hit.memory.id for hit in answer.evidence}


@pytest.mark.parametrize(
    ('text', 'said', 'ids'),
    [
        ('What is on the table?', 'On the table: a green book and a red cup.', {'cup', 'book'}),
        ('What is in the fridge?', 'In the fridge: a white milk.', {'milk'}),
        ('What is under the table?', 'Under the table: a blue bowl.', {'bowl'}),
        ('What is next to the red mug?', 'Next to the red mug: a green book.', {'book'}),
        ('What is on the bowl?', 'Nothing that I know of is on the bowl.', {'bowl'}),
        ('How many cups are on the table?', '1 that I know of is on the table: a red cup.', {'cup'}),
        ('What colour is the cup?', 'Cup: red.', {'cup'}),
    ],
)
def test_texts(text: str, said: str, ids: set[str]) -> None:
    answer = ask(text)
    assert (answer.kind, answer.text, cited(answer)) == (Kind.TEXT, said, ids)
    assert answer.confidence > 0.7


def test_where_a_thing_is() -> None:
    answer = ask('Where is the cup?')
    assert answer.text.startswith(
        'The red cup was last seen on the table: at (0.2, 0.1) in map; 59 minutes ago'
    )
    assert answer.pose is not None
    assert answer.pose.position == pytest.approx((0.2, 0.1, 0.81))


def test_where_a_thing_was_before() -> None:
    answer = ask('Where was the plant before?')
    assert answer.kind is Kind.POSITION
    assert answer.pose is not None
    assert answer.pose.position == pytest.approx((2.0, 3.0, 0.3))
    assert 'was moved by' in answer.text
    assert 'has not been moved' in ask('Where was the cup before?').text


@pytest.mark.parametrize(
    ('text', 'yes'),
    [
        ('Is the cup still there?', True),
        ('Is the vase still there?', False),
        ('Is the vase gone?', True),
        ('Is the cup gone?', False),
        ('Has the plant been moved?', True),
        ('Has the cup been moved?', False),
        ('Is there a cup on the table?', True),
        ('Is the milk on the table?', False),
        ('Is the vase on the table?', False),
        ('Is there anything on the bowl?', False),
        ('Anything in the fridge?', True),
        ('Is the plant on the table?', False),
    ],
)
def test_yes_and_no(text: str, yes: bool) -> None:
    answer = ask(text)
    assert (answer.kind, answer.binary) == (Kind.BINARY, yes)
    assert answer.text.startswith('Yes' if yes else 'No')
    assert answer.evidence


@pytest.mark.parametrize(
    ('text', 'ids'),
    [
        ('What changed since the last visit?', {'vase', 'plant', 'clock'}),
        ('Which things are missing?', {'vase'}),
        ('What was moved?', {'plant'}),
        ('What is new here?', {'clock'}),
        ('What changed since 2023-11-14 23:50?', {'vase', 'plant', 'clock'}),
    ],
)
def test_changes(text: str, ids: set[str]) -> None:
    answer = ask(text)
    assert (answer.kind, cited(answer)) == (Kind.TEXT, ids)


def test_nothing_changed() -> None:
    answer = ask('What changed since the last visit?', *ROOM)
    assert answer.text == 'Since 2023-11-14 22:14:20 UTC, nothing is known to be changed.'


def test_what_was_somewhere_is_told_of_then() -> None:
    answer = ask('What was on the table on 2023-11-14 at 22:13?')
    assert cited(answer) == {'cup', 'book', 'vase'}
    assert answer.text.startswith('On the table there was:')


def test_those_that_were_seen_in_a_time_are_counted() -> None:
    two = (*ROOM, thing('cup', (0.3, 0.3, 0.76), (0.1, 0.1, 0.1), id='other', intervals=VISITS[1:]))
    assert cited(ask('How many cups did you see on 2023-11-14 at 22:13?', *two)) == {'cup'}
    assert cited(ask('How many cups are there?', *two)) == {'cup', 'other'}


def test_when_it_was_seen_first_and_last() -> None:
    assert ask('When did you last see the vase?').time_ns == T0 + 60 * NS
    assert ask('When did you first see the cup?').time_ns == T0


def test_a_thing_in_the_shade_is_perhaps_the_one() -> None:
    grey = thing('laptop', (0.0, 0.0, 0.76), (0.3, 0.2, 0.2), colour='grey')
    assert cited(ask('Where is the white laptop?', *ROOM, grey)) == {'laptop'}
    assert ask('Where is the red laptop?', *ROOM, grey).kind is Kind.NOT_SEEN


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('Is there anything on the table besides the cup?', 'Yes: green book.'),
        ('Are there as many cups as books in the house?', 'Yes: both alike, cups, 1; books, 1.'),
    ],
)
def test_what_is_left_out_is_left_out(text: str, said: str) -> None:
    assert ask(text).text.startswith(said)


@pytest.mark.parametrize(
    'text', ['Which cups are not on the table?', 'Which things are not under the table?']
)
def test_what_no_object_says_of_itself_is_not_left_out(text: str) -> None:
    assert ask(text).confidence < 0.5


def test_without_objects_nothing_is_said_by_them() -> None:
    recall = ListedRecall([])
    answer = OfflinePlanner().answer(
        Question('What is on the table?', NOW), recall, Run(time.monotonic() + 30.0)
    )
    assert answer.kind is Kind.NOT_SEEN


def test_what_a_person_named_is_found_by_both_names() -> None:
    named = thing('cup', (0.2, 0.1, 0.76), (0.08, 0.08, 0.1), named="grandma's chalice")
    assert "grandma's chalice" in ask('Where is the cup?', *ROOM[:1], named).text
    assert cited(ask('Where is the chalice?', *ROOM[:1], named)) == {'cup'}


def test_what_became_of_a_thing() -> None:
    answer = ask('What happened to the vase?')
    assert answer.text.startswith(
        'The blue vase: seen 2023-11-14 22:13:20 UTC; gone 2023-11-15 00:13:20 UTC, seen '
    )
    assert ask('When was the plant moved?').time_ns == VISITS[1][0]
    assert ask('When did the vase disappear?').time_ns == VISITS[1][0]
    assert ask('When was the cup moved?').binary is False


def test_all_that_is_known_is_counted() -> None:
    answer = ask('How many objects do you know?')
    assert answer.text.startswith('9 objects are known: ')
    assert answer.text.endswith(', 1 more gone.')
    assert len(answer.evidence) == 9
    assert cited(ask('How many things are on the table?')) == {'cup', 'book'}


def test_what_is_in_a_thing_nobody_sees() -> None:
    answer = ask('What is in the bowl?')
    assert answer.text == 'Perhaps: Nothing that I know of is in the bowl.'
    assert answer.confidence < 0.5 < ask('What is on the bowl?').confidence


def test_the_other_one_is_not_understood() -> None:
    assert ask('Where is the bowl?').confidence > 0.5
    assert ask('Where is the other bowl?').confidence < 0.5


def test_what_the_robot_put_where_nobody_looked_since() -> None:
    cup = next(one for one in ROOM if one.id == 'cup')
    table = next(one for one in ROOM if one.id == 'bowl')
    put = deed(
        T0 + 2 * HOUR_NS,
        T0 + 2 * HOUR_NS + NS,
        kind='place',
        object='red cup',
        object_id=cup.id,
        receptacle='blue bowl',
        receptacle_id=table.id,
        outcome='succeeded',
        pose=Pose(0.2, 0.5),
    ).memory('r')
    recall = ListedRecall([*(one.memory for one in ROOM), put])

    def asked(text: str, after_ns: int = 0) -> str:
        question = Question(text, NOW + after_ns)
        return OfflinePlanner().answer(question, recall, Run(time.monotonic() + 30.0)).text

    assert asked('Where is the cup?').startswith('I put the red cup on the blue bowl')
    assert 'I put the red cup on the blue bowl' in asked('What is in the blue bowl?')
    assert asked('Is the cup in the blue bowl?').startswith('Yes: I put the red cup on the blue bowl')


def test_both_of_two_things() -> None:
    assert ask('Is there both a cup and a book?').binary
    assert not ask('Did you see both a red cup and a purple submarine?').binary


@pytest.mark.parametrize(('text', 'yes'), [('Did you see a red stool?', False), ('Did you see a cup?', True)])
def test_a_colour_of_another_thing_is_none(text: str, yes: bool) -> None:
    seen = Memory('a', 'r', T0, T0 + NS, 'I see a red cup, a green book and a table.', Pose(1.0, 1.0))
    answer = OfflinePlanner().answer(Question(text, NOW), ListedRecall([seen]), Run(time.monotonic() + 30.0))
    assert answer.binary is yes


def see(text: str, later_s: int, *others: Memory, known: tuple[KnownObject, ...] = (*ROOM, GONE)) -> Answer:
    """Return the answer at a time after the room was seen last."""
    question = Question(text, VISITS[1][1] + later_s * NS, Pose(2.0, 0.1))
    recall = ListedRecall([*(one.memory for one in known), *others])
    return OfflinePlanner().answer(question, recall, Run(time.monotonic() + 30.0))


@pytest.mark.parametrize('text', ['What do you see right now?', 'What can you see?', 'What is in view?'])
def test_what_is_in_view_is_told_nearest_first(text: str) -> None:
    answer = see(text, 15)
    assert (answer.kind, cited(answer)) == (Kind.TEXT, {one.id for one in ROOM})
    assert answer.text.startswith('In view, 7 of 7: a white fridge, a white milk, a green bottle')


def test_nothing_in_view_is_told_with_what_was_seen_last() -> None:
    answer = see('What do you see now?', 16)
    assert answer.text.startswith('No object in view for 16 seconds; seen last: a')
    assert len(answer.evidence) == 3


def test_where_captions_alone_tell_of_now_they_do() -> None:
    wall = Memory('wall', 'robbie', T0 + 3 * HOUR_NS, T0 + 3 * HOUR_NS, 'A white wall.', Pose(2.0, 0.0))
    answer = see('What do you see now?', 3540, wall)
    assert cited(answer) == {'wall'}


def test_another_time_is_not_now() -> None:
    assert 'In view' not in see('What did you see yesterday?', 0).text
    assert 'In view' not in see('What can you see on 2023-11-14 at 22:13?', 0).text
    assert 'n view' not in see('What do you see?', 0, known=()).text


def test_of_a_thousand_things_in_view_twelve_are_told() -> None:
    many = [thing('cup', (i % 40, i // 40, 0.0), (0.1, 0.1, 0.1), id=f'cup{i}') for i in range(1000)]
    answer = see('What do you see?', 0, known=tuple(many))
    assert answer.text == 'In view, 12 of 1000: 12 cups.'


@pytest.mark.parametrize(
    ('text', 'known'),
    [
        ("Where's my coffee mug?", 'the mug'),
        ('In which corner is the table?', 'the table'),
        ('Is the bowl full?', 'the bowl'),
    ],
)
def test_of_a_known_thing_a_detector_does_not_tell_all(text: str, known: str) -> None:
    answer = ask(text)
    assert answer.kind in (Kind.NOT_SEEN, Kind.BINARY)
    assert known in answer.text
    assert answer.confidence < 0.5


def test_how_far_things_are_that_touch_nobody_is_sure() -> None:
    assert ask('How far is the book from the table?').confidence < 0.5


@pytest.mark.parametrize(
    ('text', 'said'),
    [
        ('How big is the table?', 'The brown table is about 1.20 x 0.80 m, and 0.75 m high'),
        ('How wide is the fridge?', 'The white fridge is about 0.60 x 0.60 m'),
        ('What is the size of the red cup?', 'The red cup is about 0.08 x 0.08 m'),
        ('How tall is the fridge?', 'The white fridge is about 1.50 m high'),
        ('What height does the table have?', 'The brown table is about 0.75 m high'),
    ],
)
def test_sizes_are_told(text: str, said: str) -> None:
    answer = ask(text)
    assert answer.text.startswith(said), answer.text
    assert answer.confidence > 0.5


def test_the_size_of_what_was_never_measured_is_not_told() -> None:
    far = thing('lamp', (3.0, 0.0, 0.0), (0.2, 0.2, 0.2), measured=False)
    answer = ask('How big is the lamp?', *ROOM, far)
    assert answer.kind is Kind.NOT_SEEN
    assert answer.confidence < 0.5


OPEN = thing('fridge', (2.0, 0.0, 0.0), (0.6, 0.6, 1.5), colour='white', states=((T0, 'open', 'deed'),))


@pytest.mark.parametrize(
    ('text', 'yes'),
    [
        ('Is the fridge open?', True),
        ('Is the fridge closed?', False),
        ('Was the fridge shut?', False),
        ('Is the fridge still open?', True),
    ],
)
def test_a_deed_tells_the_state_of_what_it_was_done_to(text: str, yes: bool) -> None:
    answer = ask(text, OPEN, CUP)
    assert (answer.kind, answer.binary) == (Kind.BINARY, yes), answer.text
    assert 'open since' in answer.text
    assert answer.confidence > 0.5


@pytest.mark.parametrize(
    'text', ['Is the fridge open?', 'Is the cup full?', 'Is the fridge on?', 'What state is the fridge in?']
)
def test_a_state_of_which_no_deed_tells_is_not_known(text: str) -> None:
    answer = ask(text)
    assert answer.kind is Kind.NOT_SEEN, answer.text
    assert answer.text.startswith('I cannot tell')
    assert answer.confidence < 0.5


def test_an_open_fridge_may_be_empty() -> None:
    answer = ask('Is the fridge empty?', OPEN)
    assert answer.kind is Kind.NOT_SEEN
    assert 'it is open' in answer.text


def looked_for(*classes: str) -> list[KnownObject]:
    return [thing('cup', (0.0, 0.0, 1.0), (0.1, 0.1, 0.1), classes=classes), TABLE]


@pytest.mark.parametrize(
    ('text', 'classes', 'sure'),
    [
        ('Is there a banana?', ('cup', 'banana'), True),
        ('Is there a green banana?', ('cup', 'banana'), True),
        ('Where is the telly?', ('cup', 'tvmonitor'), True),
        ('Where is the doughnut?', ('donut',), True),
        ('Is there a toaster?', ('cup', 'banana'), False),
        ('Is there a toaster?', (), False),
        ('Is there a meter?', ('parking meter',), False),  # nobody looks for others
        ('Is there a glove?', ('baseball glove',), False),
        ('Is there a banana milk?', ('banana',), False),
        ('Was there a noise?', ('noise',), False),
    ],
)
def test_what_no_detector_looks_for_may_be_there(text: str, classes: tuple[str, ...], sure: bool) -> None:
    answer = ask(text, *looked_for(*classes))
    assert answer.binary is not True
    assert not answer.evidence
    assert (answer.confidence > 0.5) is sure, answer.text


def test_what_a_detector_overlooks_is_less_sure_than_what_somebody_described() -> None:
    assert ask('Is there a banana?', *looked_for('banana')).confidence == pytest.approx(0.9)
