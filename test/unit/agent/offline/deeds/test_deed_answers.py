import time

import pytest

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Run
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.places.place import place
from remembr_ros.timestamps import NS
from test.unit.agent.listed_recall import ListedRecall

T = 1_700_000_000 * NS
MINUTE = 60 * NS
SEEN = [
    Memory('a', 'r', T + 30 * MINUTE, T + 31 * MINUTE, 'A cup on a desk.', Pose(9.0, 0.0)),
    Memory('b', 'r', T, T + MINUTE, 'A plate on a shelf.', Pose(5.0, 0.0)),
]


def put(minute: int, x: float | None, **about) -> Memory:
    pose = None if x is None else Pose(x, 1.0)
    about = {'kind': 'place', 'outcome': 'succeeded'} | about
    return deed(T + minute * MINUTE, T + (minute + 1) * MINUTE, pose=pose, **about).memory('r')


DONE = [
    put(1, 1.0, object='cup', receptacle='sink'),
    put(5, 2.0, object='cup', receptacle='shelf', place='kitchen'),
    put(6, 3.0, object='cup', receptacle='table', outcome='failed', reason='it is full'),
    put(7, 4.0, kind='pick', object='cup', receptacle='shelf'),
    put(8, None, object='red keys', place='hall'),
]


def ask(text: str, memories=(*SEEN, *DONE)) -> Answer:
    question = Question(text, T + 60 * MINUTE)
    return OfflinePlanner().answer(question, ListedRecall(list(memories)), Run(time.monotonic() + 30.0))


@pytest.mark.parametrize('verb', ['did you put', 'have you left', 'did the robot place'])
def test_where_a_thing_was_put_last(verb):
    answer = ask(f'Where {verb} the cup?')
    assert (answer.kind, answer.pose.position) == (Kind.POSITION, (2.0, 1.0, 0.0))
    assert answer.text.startswith('Put the cup on the shelf (kitchen): at (2.0, 1.0) in map; 54 minutes')
    assert [hit.memory.id for hit in answer.evidence] == [DONE[1].id]


def test_without_a_pose_the_place_is_told():
    answer = ask('Where did you put the keys?')
    assert (answer.kind, answer.text) == (Kind.TEXT, 'Put the red keys (hall)')


def test_what_was_never_put_is_looked_for_among_all_that_was_seen():
    answer = ask('Where did you put the plate?')
    assert answer.evidence[0].memory.id == 'b'
    assert ask('Where did you put the cup?', SEEN).evidence[0].memory.id == 'a'


def test_in_the_time_that_is_asked_about():
    answer = ask('Where did you put the cup before 22:15?')
    assert answer.pose.position == (1.0, 1.0, 0.0)


SIGHTS = [Memory(f's{i}', 'r', T + i * NS, T + i * NS, 'A white wall.', Pose(0.0, 0.0)) for i in range(40)]


def test_a_day_of_more_sights_than_deeds_is_told_with_both():
    told = ask('What did you do on 2023-11-14?', (*SIGHTS, *DONE)).text
    assert 'stood' in told
    assert 'Put the cup on the shelf (kitchen)' in told
    assert ask('What did you do on 2023-11-14?', DONE).text.startswith(
        '2023-11-14 22:14 Put the cup on the sink'
    )


def test_a_memory_without_deeds_is_asked_as_before():
    assert 'deed' not in ask('How often did you put the cup on the table?', SEEN).text
    assert ask('What went wrong today?', SEEN).kind is Kind.NOT_SEEN


def test_what_was_asked_before_is_no_deed():
    asked = deed(T, T, kind='ask', text='Asked whether it picked up a knife.').memory('r', 'conversation')
    answer = ask('Have you ever picked up a knife?', (*SEEN, *DONE, asked))
    assert (answer.kind, answer.binary) == (Kind.BINARY, False)


def test_how_the_robot_moved_is_told_by_its_poses_whatever_the_words_mean_of_deeds():
    for text in ('How many times did you turn left?', 'When did you set off?', 'How often did you stop?'):
        assert 'cup' not in ask(text, (*SIGHTS, *DONE)).text, text


def test_a_wish_to_be_taken_somewhere_is_one_whatever_was_done_there():
    drove = put(2, 7.0, kind='go', receptacle='shelf')
    wishes = 'Take me to the shelf.', 'Go to the shelf', 'Where is the shelf?', 'Where can I find a shelf?'
    for text in wishes:
        answer = ask(text, (*SEEN, *DONE, drove))
        assert answer.kind is Kind.POSITION, text


def at(minute: int, text: str, memories=(*SIGHTS, *DONE)) -> Answer:
    question = Question(text, T + minute * MINUTE)
    return OfflinePlanner().answer(question, ListedRecall(list(memories)), Run(time.monotonic() + 30.0))


@pytest.mark.parametrize(
    'text',
    [
        'What have you just done?',
        'What did you just do?',
        'What are you doing?',
        'What are you doing right now?',
    ],
)
def test_what_was_just_done(text):
    asked = deed(T + 9 * MINUTE, T + 9 * MINUTE, kind='ask', text='Asked something.').memory(
        'r', 'conversation'
    )
    answer = at(10, text, (*SIGHTS, *DONE, asked))
    assert [hit.memory.id for hit in answer.evidence] == [one.id for one in DONE]
    assert answer.text.startswith('Just done: 2023-11-14 22:14 Put the cup on the sink; ')
    assert 'Failed to put the cup on the table: it is full' in answer.text
    more = [put(9, None, object=f'spoon {i}') for i in range(9)]
    assert {hit.memory.id for hit in at(10, text, [*DONE, *more]).evidence} <= {one.id for one in more}


def test_nothing_was_just_done():
    answer = at(60, 'What did you just do?')
    assert answer.text == (
        'No deed in the last 10 minutes; before that: 2023-11-14 22:21 Put the red keys (hall).'
    )
    assert [hit.memory.id for hit in answer.evidence] == [DONE[-1].id]


@pytest.mark.parametrize(
    'text', ['What did you do?', 'What have you done today?', 'What were you doing at 22:15?']
)
def test_what_was_done_is_more_than_what_was_just_done(text):
    assert 'ust done' not in at(10, text, DONE).text
    assert 'No deed' not in at(60, text, DONE).text


def test_nothing_is_denied_of_a_time_of_which_nothing_is_remembered():
    text = 'Did you put the cup onto the shelf'
    assert ask(f'{text} today?').binary
    answer = ask(f'{text} on 1 March 2020?')
    assert not answer.binary
    assert answer.confidence < 0.5


def test_what_was_never_done_is_understood_of_rooms_and_of_things_alone():
    assert ask('Which shelf did you never touch?').confidence < 0.5


def test_what_was_done_most_often_is_counted_by_what_it_was_done_to():
    more = [put(10, 1.0, object='plate', receptacle='sink')]
    assert ask('What did you put most often?', (*SEEN, *DONE, *more)).text.startswith(
        'That was cup (3 times)'
    )
    assert ask('Which place did you go to least often?').confidence < 0.5  # it never went


def test_where_a_thing_was_taken_to_is_where_it_was_put():
    assert ask('Where did the cup go?').pose.position == (2.0, 1.0, 0.0)
    assert ask('Where did the plate end up?').evidence[0].memory.id == 'b'  # nobody put it
    answer = ask('Where did you take the cup to?')
    assert answer.pose.position == (2.0, 1.0, 0.0)


@pytest.mark.parametrize(
    'text', ['Did you put the cup or the vase in the sink?', 'What did you not manage to lift?']
)
def test_what_is_not_understood_is_not_denied(text):
    assert ask(text).confidence < 0.5


def test_what_only_failed_was_not_done():
    slipped = put(9, None, kind='pick', object='plate', outcome='failed', reason='it slipped')
    done = (*DONE, slipped)
    assert ask('Did you pick up the plate?', done).binary is False
    assert 'it slipped' in ask('Did you pick up the plate in the end?', done).text
    assert ask('Did you try to pick up the plate?', done).binary is True
    assert ask('Did you fail to pick up the plate?', done).binary is True
    assert ask('Did you put the cup on the table?', DONE).binary is False


CARRIED = [
    put(0, 1.0, kind='go', place='kitchen'),
    put(1, 1.0, kind='pick', object='lunch trays', receptacle='counter', place='kitchen'),
    put(2, 5.0, kind='go', place='ward'),
    put(10, 5.0, kind='place', object='lunch trays', receptacle='rack', place='ward'),
]


@pytest.mark.parametrize(
    'text', ['How long did you carry the lunch?', 'How long was the lunch in your hands?']
)
def test_a_thing_is_carried_from_where_it_is_picked_until_it_is_put(text):
    assert ask(text, CARRIED).text.endswith(': 10 minutes.')


def test_what_is_carried_counts_once_and_comes_from_where_it_was_picked():
    assert ask('How many times did you bring the lunch somewhere?', CARRIED).text.startswith('once')
    assert 'Picked' in ask('Where did you carry the lunch from?', CARRIED).text
    assert ask('What did you carry on 2023-11-14?', CARRIED).text == (
        '2023-11-14 22:23 Put the lunch trays on the rack (ward).'
    )


def test_deeds_name_a_place_by_its_first_name():
    ward = place('ward', center=(5.0, 1.0), radius=1.0, other_names=['W1'], now_ns=T).memory
    answer = ask('When did you bring the lunch to W1?', (*CARRIED, ward))
    assert answer.text.startswith('Put the lunch trays on the rack (ward)')
    assert answer.confidence > 0.5


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        ('What did you take to the ward?', 'Put the lunch trays'),
        ('What did you bring to the ward?', 'Put the lunch trays'),
        ('What did you carry from the kitchen?', 'Picked the lunch trays'),
        ('Did you carry anything to the ward?', 'Yes: 2023-11-14 22:23 Put the lunch trays'),
        ('Did you carry anything to the kitchen?', 'No, '),
    ],
)
def test_what_was_carried_somewhere_is_what_was_put_there(text, told):
    answer = ask(text, CARRIED)
    assert told in answer.text.split(';')[0]
    assert answer.confidence > 0.5


def test_a_deed_that_went_well_tells_no_reason():
    answer = ask('Why did you put the cup on the sink?', DONE)
    assert answer.confidence < 0.5
    assert ask('Why did you not put the cup on the table?', DONE).confidence > 0.5


def test_a_noun_is_no_deed_that_is_called_like_it():
    picked = put(9, 1.0, kind='pick', object='plate')
    assert 'Picked' not in ask('What is up with the lift?', (*DONE, picked)).text
    assert ask('Did you lift the plate?', (*DONE, picked)).binary is True


def test_what_is_taken_out_is_not_put_in():
    assert ask('Did you take anything out of the sink?', DONE).binary is False
    assert ask('Did you take anything out of the shelf?', DONE).binary is True


def hall(x: float) -> Memory:
    return place('ward', center=(x, 1.0), radius=1.0, now_ns=T).memory


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        ('How many times were you at the ward?', 'once: 2023-11-14 22:16 In ward.'),
        ('Were you in the ward on 2023-11-14?', 'Yes: 2023-11-14 22:16 In ward.'),
        ('How long were you in the ward?', '2023-11-14 22:16 In ward: 8 minutes.'),
    ],
)
def test_where_deeds_were_done_the_robot_was(text, told):
    assert ask(text, (*CARRIED, hall(5.0))).text == told


@pytest.mark.parametrize(
    ('text', 'left'),
    [
        ('Did you put the cup on the sink without being asked?', 'without'),
        ('On whose orders did you put the cup on the sink?', 'whose'),
        ('With which hand did you carry the lunch trays?', 'hand'),
    ],
)
def test_what_no_deed_tells_is_said(text, left):
    answer = ask(text, (*DONE, *CARRIED))
    assert f'not: "{left}"' in answer.text
    assert answer.confidence < 0.5


def test_while_a_deed_lasts_the_robot_need_not_be_where_it_ends():
    assert ask('Where were you at 22:15:30?', CARRIED).confidence < 0.5


@pytest.mark.parametrize(
    ('text', 'told', 'sure'),
    [
        ('Which of your deeds did not succeed?', 'it is full', True),
        ('How long did it take from picking up the lunch to putting it down?', '10 minutes', True),
        ('How many things did you bring to the ward?', '1: lunch trays.', True),
        ('Has anything been moved out of the kitchen?', 'Yes: 2023-11-14 22:14 Picked', True),
        ('When did you get to the ward?', 'Drove to the ward', True),
        ('Where did the lunch end up?', 'Put the lunch trays', True),
        ('When did you sing?', 'I cannot tell', False),
        ('How long were you away from the kitchen?', 'away', False),
        ('On which days did you put something down after 6 pm?', '', False),
        ('When is lunch over?', '', False),
    ],
)
def test_what_a_question_presupposes_is_not_denied_surely(text, told, sure):
    answer = ask(text, (*DONE, *CARRIED))
    assert told in answer.text
    assert (answer.confidence > 0.5) is sure


def test_a_stay_lasts_from_the_arrival_until_the_robot_leaves():
    left, ward = put(15, 9.0, kind='go', place='dock'), hall(5.0)
    assert ask('How long were you in the ward?', (*CARRIED, left, ward)).text.endswith(': 12 minutes.')
    # When it left, nobody knows.
    assert ask('How long were you in the ward?', (*CARRIED[:3], left, ward)).confidence < 0.5


@pytest.mark.parametrize(
    ('text', 'told', 'sure'),
    [
        ('Where did you find the lunch?', 'Picked the lunch trays', True),
        ('Did anyone put the cup on the sink?', '', False),
        ('How long after the lunch did you dock?', '', False),
        ('Where do you keep the lunch that the nurse cooked?', '"cooked"', False),
    ],
)
def test_what_others_did_and_clauses_of_their_own_are_not_sure(text, told, sure):
    answer = ask(text, (*DONE, *CARRIED))
    assert told in answer.text
    assert (answer.confidence > 0.5) is sure


def test_where_a_drive_failed_to_go_the_robot_was_not():
    failed = put(2, 5.0, kind='go', place='ward', outcome='failed', reason='the door is shut')
    assert ask('Have you been to the ward?', (*DONE, failed)).binary is False
    assert ask('Have you been to the ward?', (*DONE, *CARRIED)).binary is True


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        ('How did the tea demo go?', 'it spilt: failed.'),
        ('What was the outcome of the tea demo?', 'it spilt: failed.'),
        ('Did the tea demo work?', 'No: '),
        ('Was the tea demo successful?', 'No, '),
        ('Which deeds failed?', 'it spilt'),
        ('Which of these did you not put anywhere: the cup, the plate or the red keys?', 'Not the plate.'),
    ],
)
def test_how_a_deed_ended_and_which_of_several_was_not_done(text, told):
    spilt = put(2, 1.0, kind='demo', object='tea demo', outcome='failed', reason='it spilt')
    answer = ask(text, (*SEEN, *DONE, spilt))
    assert told in answer.text
    assert answer.confidence > 0.5
