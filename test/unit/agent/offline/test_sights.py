import time
from dataclasses import replace

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
CAPTIONS = (
    'A brick building behind a street.',
    'The entrance of a building with a glass door.',
    'An interior hallway with lockers.',
    'The interior of a lobby with red couches.',
    'An interior hallway with a lift.',
    'A building and a street with trees.',
    'A wide street with cars.',
    'The interior of a shop behind its window.',
)
SEEN = [
    Memory(f'm{i}', 'r', T + 60 * i * NS, T + (60 * i + 50) * NS, caption, Pose(10.0 * i, 0.0))
    for i, caption in enumerate(CAPTIONS)
]


def ask(text: str) -> Answer:
    question = Question(text, T + 600 * NS)
    return OfflinePlanner().answer(question, ListedRecall(SEEN), Run(time.monotonic() + 30.0))


@pytest.mark.parametrize(
    ('text', 'seconds'),
    [
        ('When did you enter the building?', 120),
        ('When did you go into the building?', 120),
        ('When did you leave the building?', 290),
        ('When did I get out of the building?', 290),
    ],
)
def test_a_building_is_entered_and_left_where_its_interior_is_seen(text: str, seconds: int) -> None:
    answer = ask(text)
    assert (answer.kind, answer.time_ns) == (Kind.TIME, T + seconds * NS)


def test_in_a_building_one_is_as_long_as_its_interior_is_seen() -> None:
    answer = ask('How long were you in the building for?')
    assert (answer.kind, answer.duration_s) == (Kind.DURATION, 170.0)


def test_a_thing_in_a_building_is_no_stay_inside() -> None:
    assert ask('Did you see red couches in the building?').evidence[0].memory.id == 'm3'


SIGNS = [
    Memory(
        f's{i}',
        'r',
        T + 10 * i * NS,
        T + 10 * i * NS,
        f'Signs and labels that can be read: "{sign}".',
        Pose(10.0 * i, 0.0),
        scene_text=(sign,),
        captioner='scene_text',
    )
    for i, sign in enumerate(('ROOM 133', 'KITCHEN', 'STAIRS', 'CAFETERIA', 'ROOM 117'))
]


def read(text: str) -> Answer:
    question = Question(text, T + 600 * NS)
    return OfflinePlanner().answer(question, ListedRecall(SIGNS), Run(time.monotonic() + 30.0))


def test_how_many_times_a_sign_was_seen_is_a_number_and_no_text_of_it() -> None:
    assert 'seen once' in read('How many times did you see the cafeteria sign?').text


def test_which_room_was_seen_before_a_sign_is_what_can_be_read_there() -> None:
    assert read('Which room did you see just before the kitchen?').text.endswith('"ROOM 133".')


@pytest.mark.parametrize(
    'text',
    [
        "What's the distance between the kitchen and the stairs?",
        'What is the distance from the kitchen to the stairs?',
    ],
)
def test_how_far_things_are_apart_is_asked_in_more_words(text: str) -> None:
    answer = read(text)
    assert '10.0 m in a straight line' in answer.text
    assert 'understood' not in answer.text


@pytest.mark.parametrize(
    'text',
    ['Wheres the cafeteria?', 'Were is the cafeteria?', "Where's the cafeteria?", 'whre is the cafeteria'],
)
def test_a_question_may_be_written_in_haste(text: str) -> None:
    answer = read(text)
    assert answer.pose is not None
    assert answer.pose.x == 30.0
    assert answer.confidence > 0.5


def test_to_come_across_a_thing_is_to_see_it() -> None:
    assert read('Have you come across room 117?').binary is True


def test_what_was_not_told_of_no_sight_is_no_sign_that_was_not_read() -> None:
    noted = Memory('n', 'r', T, T, 'The key is in the drawer.', Pose(0.0, 0.0), source='person')
    question = Question('Where is the ladder?', T + 600 * NS)
    answer = OfflinePlanner().answer(question, ListedRecall([noted]), Run(time.monotonic() + 30.0))
    assert answer.text == 'I cannot tell: of that I remember no sights, and nothing else names the ladder.'


def test_what_no_reader_of_signs_can_see_is_not_denied_between_signs_either() -> None:
    answer = read('Which doors did you pass between the kitchen and the cafeteria?')
    assert (answer.kind, answer.confidence) == (Kind.NOT_SEEN, 0.2)


def test_how_many_signs_were_read_is_a_number() -> None:
    assert read('How many signs did you read?').text.startswith('There one can read 5 texts: ')


def test_between_neighbours_is_what_they_show() -> None:
    both = [replace(SIGNS[0], scene_text=('KITCHEN', 'ROOM 126'), caption='"KITCHEN", "ROOM 126".'), SIGNS[2]]
    question = Question('Which rooms lie between the kitchen and the stairs?', T + 600 * NS)
    answer = OfflinePlanner().answer(question, ListedRecall(both), Run(time.monotonic() + 30.0))
    assert 'ROOM 126' in answer.text
    assert answer.confidence < 0.5


def test_of_a_time_of_which_nothing_was_read_nobody_is_sure_what_was_seen() -> None:
    dark = replace(SIGNS[3], scene_text=(), caption='No readable text.')
    question = Question('What did you see after the stairs?', T + 600 * NS)
    answer = OfflinePlanner().answer(question, ListedRecall([*SIGNS[:3], dark]), Run(time.monotonic() + 30.0))
    assert (answer.text, answer.confidence) == ('Perhaps no readable text.', 0.4)


def test_a_note_is_no_sight_of_the_robot() -> None:
    note = Memory(
        'n', 'r', T + 99 * NS, T + 99 * NS, 'The cart is in ward 5.', Pose(0.0, 0.0), source='person'
    )
    question = Question('When did you last see ward 5?', T + 600 * NS)
    answer = OfflinePlanner().answer(question, ListedRecall([note]), Run(time.monotonic() + 30.0))
    assert answer.confidence < 0.5


def test_two_wards_have_a_fridge_each() -> None:
    done = [
        deed(T + i * NS, T + i * NS, pose=Pose(float(i), 0.0), outcome='succeeded', **about).memory('r')
        for i, about in enumerate(
            (
                {'kind': 'open', 'object': 'medicine fridge', 'place': 'ward 3'},
                {'kind': 'place', 'object': 'pills', 'receptacle': 'medicine fridge', 'place': 'ward 5'},
            )
        )
    ]
    for text, told in (
        ('Where is the medicine fridge?', ', one of 2: at'),
        ('Where are the pills?', 'seen: at'),
    ):
        question = Question(text, T + 600 * NS)
        answer = OfflinePlanner().answer(question, ListedRecall(done), Run(time.monotonic() + 30.0))
        assert told in answer.text


def test_how_long_something_was_done_there_is_not_how_long_it_was_seen() -> None:
    assert ask('How long did you drive through the building?').confidence < 0.5


def test_what_is_read_at_one_of_several_places_is_not_all() -> None:
    exits = [replace(SIGNS[i], caption='"EXIT".', scene_text=('EXIT', f'DOOR {i}')) for i in (0, 4)]
    away = [replace(one, start_ns=one.start_ns + i * 900 * NS) for i, one in enumerate(exits)]
    away = [replace(one, end_ns=one.start_ns) for one in away]
    for memories, sure in ((away, False), (away[:1], True)):
        question = Question('What is written near the exit?', T + 2_000 * NS)
        answer = OfflinePlanner().answer(question, ListedRecall(memories), Run(time.monotonic() + 30.0))
        assert (answer.confidence > 0.5) is sure


def test_the_nearest_is_known_to_who_knows_where_it_is() -> None:
    exits = [replace(SIGNS[i], caption='"EXIT".', scene_text=('EXIT',)) for i in (0, 4)]
    recall = ListedRecall(exits)
    for here, sure in ((None, False), (Pose(39.0, 0.0), True)):
        question = Question('Where is the nearest exit?', T + 600 * NS, here=here)
        answer = OfflinePlanner().answer(question, recall, Run(time.monotonic() + 30.0))
        assert (answer.confidence > 0.5) is sure
    assert answer.pose is not None
    assert answer.pose.x == 40.0


def test_without_a_name_how_many_are_those_that_were_read() -> None:
    text = read('How many signs did you pass between the kitchen and the room 117?').text
    assert text == 'There one can read 2 texts: "CAFETERIA", "STAIRS".'


def test_a_clock_that_strikes_twice_a_day_tells_no_moment() -> None:
    late = [replace(SIGNS[0], start_ns=T, end_ns=T + 40_000 * NS)]
    question = Question("Where were you on 2023-11-14 at 11 o'clock?", T + 40_000 * NS)
    answer = OfflinePlanner().answer(question, ListedRecall(late), Run(time.monotonic() + 30.0))
    assert answer.confidence < 0.5
