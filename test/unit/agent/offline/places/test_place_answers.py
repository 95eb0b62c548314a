import time

import pytest

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.offline.places.place_answers import without_room
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.places.place import place
from remembr_ros.memory.places.places import Places
from remembr_ros.timestamps import NS
from test.unit.agent.listed_recall import ListedRecall

T = 1_700_000_000 * NS
NOW = T + 600 * NS


def room(name: str, x: float, **about) -> Memory:
    """A room of 10 m by 10 m."""
    return place(name, outline=[(x, 0), (x + 10, 0), (x + 10, 10), (x, 10)], now_ns=NOW - 1, **about).memory


ROOMS = [
    room('kitchen', 0, other_names=['galley']),
    room('hall', 10),
    room('room 315', 20),
    room('living room', 30),
    room('cellar', 0, map_id='below'),
]
WAY = [5] * 20 + [15] * 4 + [25] * 6 + [15] * 2 + [5] * 3  # a memory each 10 s
SAID = {
    3: 'A red cup on the counter.',
    22: 'A printer beside a door.',
    26: 'A printer on a desk.',
    33: 'A dog.',
}
DRIVE = [
    Memory(
        f'm{i:02}', 'r', T + 10 * i * NS, T + (10 * i + 9) * NS, SAID.get(i, 'A white wall.'),
        Pose(x, 5.0 + i / 100), captioner='vlm',
    )
    for i, x in enumerate(WAY)
]  # fmt: skip


def ask(text: str, memories=(*DRIVE, *ROOMS), **about) -> Answer:
    agent = Agent(ListedRecall(list(memories)), [OfflinePlanner()])
    return agent.ask(Question(text, NOW, **about))


@pytest.mark.parametrize(
    ('question', 'kind', 'told'),
    [
        ('Which room were you in longest?', 'text', 'That was the kitchen (2 times, 3 minutes 49 seconds in'),
        ('In which room did you spend the least time?', 'text', 'That was room 315 (once, 1 minute in all)'),
        ('Where did you spend most of the time?', 'text', 'That was the kitchen ('),
        ('Which room did you visit most often?', 'text', 'That was the kitchen ('),
        ('Which room did you not visit?', 'text', 'I was not in the cellar and the living room.'),
        ("Which rooms haven't you been in?", 'text', 'I was not in the cellar and the living room.'),
        ('What rooms have you never entered?', 'text', 'I was not in the cellar and the living room.'),
        ('Which rooms did you visit?', 'text', 'I was in the kitchen, the hall and room 315.'),
        ('How many rooms did you go through?', 'text', 'I was in 3 places: the kitchen,'),
        ('Which room did you visit first?', 'text', 'That was the kitchen, from 2023-11-14 22:13:20 to'),
        ('Which rooms do you know?', 'text', '5 places have names: the cellar, the hall,'),
        ('How many rooms are there?', 'text', '5 places have names'),
        ('How long were you in the hall?', 'duration', 'I was in the hall 2 times, in all: 1 minute.'),
        ('How much time did you spend in the galley?', 'duration', 'I was in the kitchen 2 times, in'),
        ('How often did you visit room 315?', 'text', 'I was in room 315 once.'),
        ('How many times were you in the hall?', 'text', 'I was in the hall 2 times.'),
        ('How often were you in the living room?', 'text', 'I was not in the living room.'),
        ('When were you last in the hall?', 'time', 'I was in the hall from 2023-11-14 22:18:20 to'),
        ('When did you first enter the hall?', 'time', 'I was in the hall from 2023-11-14 22:16:40 to'),
        ('Did you visit the living room?', 'binary', 'No: I was not in the living room.'),
        ('Have you been in Room 315?', 'binary', 'Yes: I was in room 315 once, last from'),
        ('Were you in the kitchen?', 'binary', 'Yes: I was in the kitchen 2 times, last from'),
        ('How far is the kitchen from room 315?', 'text', 'From the middle of the kitchen to that of room'),
        ('How long did it take from the kitchen to room 315?', 'duration', 'Going from the kitchen to'),
        ('Which rooms did you pass between the kitchen and room 315?', 'text', 'Going from the kitchen'),
        ('What did you see between the kitchen and room 315?', 'text', 'On the way from the kitchen to'),
        ('Where is the living room?', 'position', 'The living room is: at (35.0, 5.0) in map.'),
        ('Go to the kitchen.', 'position', 'The kitchen is: at (5.0, 5.0) in map.'),
        ('Can you take me to room 315 please?', 'position', 'Room 315 is: at (25.0, 5.0) in map.'),
        ('What is in room 315?', 'text', 'In room 315: A white wall. A printer on a desk.'),
        ('What is in the living room?', 'not_seen', 'I remember nothing of the living room.'),
        ('Is there a cup in the kitchen?', 'binary', 'Yes: A red cup on the counter.'),
        ('Is there a dog in room 315?', 'binary', 'No: none of 6 memories shows a dog.'),
        ('In which room is the dog?', 'position', 'In the kitchen: The dog was'),
        ('Which room was the cup in?', 'position', 'In the kitchen: The cup was'),
    ],
)  # fmt: skip
def test_questions_about_rooms(question: str, kind: str, told: str):
    answer = ask(question)
    assert (answer.kind.value, answer.text[: len(told)]) == (kind, told), answer.text
    if kind != 'not_seen' and not told.startswith('No:'):
        assert answer.evidence


def test_what_an_answer_says_of_its_room():
    assert 'in the kitchen' in ask('In which room is the dog?').text
    assert 'in room 315' in ask('Where did you last see a printer?').text
    assert 'in the hall' in ask('Where did you first see a printer?').text
    assert 'in the' not in ask('Where is the dog?', DRIVE).text


def test_a_thing_within_a_room_is_looked_for_there_alone():
    answer = ask('When did you see a printer in the hall?')
    assert (answer.kind, answer.evidence[0].memory.id) == ('time', 'm22')
    assert ask('What is in the hall?').text == 'In the hall: A white wall. A printer beside a door.'


def test_where_it_is_now():
    assert ask('Which room are you in?', here=Pose(25.0, 5.0)).text == 'I am in room 315.'
    assert ask('What room is this?', here=Pose(25.0, 50.0)).text == 'I am in no place that has a name.'
    assert ask('Which room are you in?').text == 'I was last in the kitchen.'


@pytest.mark.parametrize(
    ('text', 'same'),
    [
        ('Which rooms were you in on Friday?', True),
        ('What room did you visit on Friday?', True),
        ('Which room was the cup in on Friday?', False),
    ],
)
def test_where_the_robot_was_is_no_question_for_a_thing(text: str, same: bool):
    assert (without_room(text, Places(ROOMS)) == text) is same


def test_times_count():
    first = 'between 22:13:20 and 22:15:00 on 2023-11-14'
    assert ask(f'Which rooms did you visit {first}?').text == 'I was in the kitchen.'
    assert ask(f'Which rooms did you not visit {first}?').text.startswith(
        'I was not in the cellar, the hall,'
    )
    never = ask('Which rooms did you visit on 2020-01-01?')
    assert (never.kind, never.text) == ('not_seen', 'I remember nothing of that time.')


@pytest.mark.parametrize('text', ['Have you been in every room?', 'Which rooms did you not visit?'])
def test_who_was_in_a_part_of_a_room_was_in_the_room(text: str):
    rooms = [*ROOMS, place('flat', outline=[(-1, -1), (41, -1), (41, 11), (-1, 11)], now_ns=NOW - 1).memory]
    assert ask(text, (*DRIVE, *rooms)).text == 'I was not in the cellar and the living room.'


def test_maps_count():
    assert ask('Where is the cellar?', map_id='').text.startswith('The cellar is: at (5.0, 5.0) on map below')


def test_without_named_places_nothing_changes():
    answer = ask('Which room were you in longest?', DRIVE)
    assert 'kitchen' not in answer.text


def test_a_long_day_is_fast():
    memories = [
        Memory(f'n{i:05}', 'r', T + 3 * i * NS, T + (3 * i + 2) * NS, '', Pose(i % 40, 5.0))
        for i in range(1000)
    ]
    began = time.monotonic()
    assert ask('Which room were you in longest?', (*memories, *ROOMS)).text.startswith('That was')
    assert time.monotonic() - began < 5.0
