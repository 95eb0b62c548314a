"""What compares, groups or leaves out: asked of a month of deeds, whose log says what is true."""

import time
from dataclasses import replace

import pytest

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Memory
from test.unit.agent.compared_month import QUESTIONS
from test.unit.agent.deeds_month import LOG
from test.unit.agent.listed_recall import ListedRecall
from test.unit.agent.offline.deeds.test_deed_answers import DONE, MINUTE, T, ask, put

RIGHT = 0.8  # of the questions, at least


def test_nearly_all_are_right_and_nothing_wrong_is_sure():
    recall, planner = ListedRecall([one.memory for one in LOG]), OfflinePlanner()
    answers = [planner.answer(one.question, recall, Run(time.monotonic() + 30.0)) for one in QUESTIONS]
    asked = list(zip(QUESTIONS, answers, strict=True))
    wrong = [(one.text, answer.confidence, answer.text) for one, answer in asked if one.faults(answer)]
    assert len(wrong) <= (1.0 - RIGHT) * len(QUESTIONS), wrong
    assert not [one for one in wrong if one[1] >= 0.5]


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        (
            'Did you have to drive more on the 29th than on the 28th?',
            'Yes: the 29th, 649.3 m; the 28th, 496.9',
        ),
        (
            'Did you water the fern more often yesterday or today?',
            'both alike, yesterday, once; today, once.',
        ),
        ('Does a tea demo usually take longer than a dance demo?', 'Yes: a tea demo, 2 minutes 43 seconds'),
        ('Who asked for the time more often: Viktor or Ines?', 'Viktor, 9 times; Ines, 2 times.'),
        ('How often did Viktor want to know the time?', '9 times: '),
        ('How many times did the tea demo fail?', 'Once: 2026-09-24 10:10 Failed to demo the tea demo'),
        ('Which of the demos has never failed?', 'Dance demo.'),
        ('On how many days did no pick fail?', '10 days: 2026-09-01, 2026-09-12,'),
        ("Is there any day on which you didn't water a single plant?", 'Yes: 2026-09-20, 2026-09-25.'),
        ('Was there ever a day when you charged fewer than three times?', 'No: none of 30; the least is'),
        ('When did the most things go wrong?', 'That was 2026-09-18 (6 times)'),
        ('Which plant do you water more than all the others?', 'That was basil (19 times)'),
        ('Have you sung for anyone besides Ines?', 'No: nothing but that which you name (once).'),
        ("What weren't you able to pick up on September 16?", '2026-09-16 07:03 Failed to pick the mug'),
        (
            'Did you unpack the microscope before or after you sharpened the bread knife?',
            'sharpened the bread knife first, 2026-09-12 10:30:00 UTC; unpack the microscope, 2026-09-20',
        ),
        ('Did you drive farther on the 29th than on the 20th?', 'Yes: the 29th, 649.3 m; the 20th, 41'),
        ('More plates than bowls put on the workbench?', 'Yes: plates, 19 times; bowls, 15 times.'),
        ('Did you pick up plates at least twice as many times as novels?', 'No: plates, 126 times; novels,'),
        (
            'Have you given the tea demo as often as the cube demo?',
            'No: the tea demo, 24 times; the cube demo',
        ),
        ("What's the second most watered plant?", 'That was fern (16 times)'),
        ("Which days weren't any plants watered?", '2026-09-20, 2026-09-25.'),
        ('Which foods came out of the fridge at least 14 times?', 'Tofu: 15 times; juice: 14 times; mustard'),
        ('Per demo, how many times have you given it?', 'Cube demo: 21 times; dance demo: 20 times; tea'),
        ('Leaving out the kitchen table, where did you put the most things?', 'That was coffee table (171 '),
        ('Was September 13 busier than September 14?', ('Yes: September 13, ', 'No: September 13, ')),
        ('Did putting down the mug take longer than picking up the mug?', 'No: putting down the mug, 12 sec'),
        ("You didn't dance on September 20, did you?", 'No'),
        ('Ever seen a cat?', 'Yes: '),
        ('How many picks failed for each reason?', 'The grasp slipped: 13 times; '),
        ('On which weekday did you give the most demos?', 'That was Wednesday (13 times)'),
        ('Did you hand anything to anyone except Paula?', 'No: nothing but that which you name (once).'),
        (
            'Which task took the longest?',
            'That was 2026-09-28 07:20 Charged (hallway) (49 minutes 2 seconds)',
        ),
        (
            'How many different rooms did you visit?',
            '6: greenhouse, hallway, kitchen, lounge, showroom, workshop',
        ),
        ('Apart from the kitchen, where were you on Monday?', 'Lounge: '),
        ('How long did you charge today?', 'In total, of 3 times: 1 hour 31 minutes'),
        ('Did you hand Paula the parcel before or after you sang for Ines?', 'hand Paula the parcel first,'),
    ],
)
def test_each_way_to_compare_and_to_deny_is_understood(text, told):
    recall, question = ListedRecall([one.memory for one in LOG]), replace(QUESTIONS[0].question, text=text)
    answer = OfflinePlanner().answer(question, recall, Run(time.monotonic() + 30.0))
    assert answer.text.startswith(told)
    assert answer.confidence >= 0.5


@pytest.mark.parametrize(
    'text',
    [
        'Which of the wards did you visit most often last week?',  # there are none
        'Which tools did you take out of the tool cabinet and never put back?',
    ],
)
def test_what_was_not_understood_is_not_sure(text):
    recall, question = ListedRecall([one.memory for one in LOG]), replace(QUESTIONS[0].question, text=text)
    assert OfflinePlanner().answer(question, recall, Run(time.monotonic() + 30.0)).confidence < 0.5


def test_once_is_not_as_often_as_never():
    assert ask('Did you put the keys as often as the cup?', DONE[1:]).text.startswith(
        'No: the keys, once; the cup, 2'
    )
    never = [*DONE[:1], put(9, 1.0, object='plate', outcome='failed')]
    assert ask('Did you pick the cup as often as you put the cup?', never).binary is not True


@pytest.mark.parametrize(
    'text',
    [
        'Did you put the cup more often on Monday than on Friday?',
        'On which weekdays did you not put the cup?',
        'Which room is nearest to the kitchen?',
        'How many picks failed for each reason?',
        'Is there anything here besides the cup?',
        'Which of the cups is nearest to the door?',
    ],
)
def test_an_empty_memory_denies_nothing(text):
    answer = ask(text, [])
    assert (answer.binary, answer.kind, answer.evidence) == (None, Kind.NOT_SEEN, ())


def test_what_went_well_went_not_wrong():
    assert ask('What went wrong?', DONE[:2]).text.casefold().startswith('nothing went wrong')
    assert ask('How many stops did you make?', DONE).confidence < 0.5
    assert ask('Are there more cups than plates?', DONE).confidence < 0.5


def test_what_a_ward_got_was_put_there():
    insulin = [
        put(minute, 1.0, object='insulin', receptacle='fridge', place=place)
        for minute, place in ((3, 'ward 3'), (9, 'ward 5'))
    ]
    picked = put(1, 1.0, kind='pick', object='insulin', place='pharmacy')
    assert ask('Which ward got insulin first?', [picked, *insulin]).text.startswith('That was ward 3 (')


SIGNS = ['ROOM 13', 'ROOM 133', 'ROOM 133', 'LAB 7', 'ROOM 12', 'EXIT', 'EXIT', 'EXIT']
READ = [
    Memory(
        f's{i}',
        'r',
        T + i * MINUTE,
        T + i * MINUTE,
        f'A sign: {text}.',
        Pose(20.0 * i, 0.0),
        scene_text=(text,),
    )
    for i, text in enumerate(SIGNS)
]


@pytest.mark.parametrize(
    ('text', 'told', 'id_'),
    [
        ('Which rooms did you pass?', 'Rooms 12 and 133.', 's4'),  # of room 133 a digit was out of view
        ('Which room has the highest number?', 'Room 133, of 2', 's1'),
        ('Which room has the lowest number?', 'Room 12, of 2', 's4'),
        ('Which sign did you see most often?', '"EXIT", in 3 of 8 memories.', 's7'),
        ('What did you see first, the exit or the lab?', 'the lab first,', 's3'),
    ],
)
def test_signs_are_compared(text, told, id_):
    answer = ask(text, READ)
    assert answer.text.startswith(told)
    assert answer.evidence[0].memory.id == id_
    assert answer.confidence >= 0.5


@pytest.mark.parametrize(
    'text',
    [
        'Did you see the harp more often than the exit?',
        'Is the lab heavier than the exit?',
        'Which is nearer, the exit or the lab?',  # from where?
        'Which room is nearest to the exit?',
        'Did you take longer at the exit than at the harp?',
    ],
)
def test_what_nobody_can_compare_is_not_compared(text):
    answer = ask(text, READ)
    assert (answer.binary, answer.confidence < 0.5) == (None, True), answer.text


def test_what_never_took_place_took_no_time():
    answer = ask('How often did you put the cup for more than two hours on 2 November 2023?')
    assert answer.confidence < 0.5 or '0 times' in answer.text or 'never' in answer.text


def test_between_maps_there_is_no_distance():
    upstairs = Memory(
        'u', 'r', T, T, 'A sign: LAB 9.', Pose(1.0, 0.0), map_id='floor-2', scene_text=('LAB 9',)
    )
    answer = ask('Is lab 9 nearer to the exit than lab 7?', [*READ, upstairs])
    assert (answer.binary, answer.confidence < 0.5) == (None, True), answer.text


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        ('Which failed more often, driving or docking?', 'driving, 2 times; docking, once.'),
        ('How many metres did you drive each day?', '2023-11-14: 12.0 m.'),
        ('Which drives took longer than ten minutes?', 'None of 3; '),
        ('How long was your longest drive?', '2023-11-14 22:1'),
        ('What was your longest drive?', '2023-11-14 22:1'),
    ],
)
def test_a_verb_that_may_only_help_is_a_kind_where_nothing_else_is_said(text, told):
    drives = [
        deed(
            T + i * MINUTE,
            T + (i + 1) * MINUTE,
            kind='go',
            place='hall',
            outcome=outcome,
            pose=Pose(4.0 * i, 0.0),
            travelled=4.0,
        )
        for i, outcome in enumerate(('succeeded', 'failed', 'failed'))
    ]
    docked = deed(T + 9 * MINUTE, T + 10 * MINUTE, kind='dock', outcome='failed', pose=Pose(8.0, 0.0))
    answer = ask(text, [one.memory('r') for one in (*drives, docked)])
    assert answer.text.startswith(told)
    assert answer.confidence >= 0.5
