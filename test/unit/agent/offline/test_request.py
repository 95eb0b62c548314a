import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.grounding import Choice
from remembr_ros.agent.model.matching import has_number
from remembr_ros.agent.offline.relation import Relation, RelationKind
from remembr_ros.agent.offline.request import MOST_SEARCHED, parse_request, searched
from remembr_ros.timestamps import MAX_NS, parse_time

NOW_NS = parse_time('2023-11-14T22:13:20Z')

QUESTIONS = """
Where is room 103?                                       | position | 103               |
Where's the lift                                         | position | lift              |
Robot, where is the exit?                                | position | exit              |
WHERE IS THE CAFETERIA?                                  | position | CAFETERIA         |
where is Lab 3                                           | position | Lab 3             |
Where is Dr. Ellis?                                      | position | Dr Ellis          |
Where are the stairs in this house?                      | position | stairs            |
Is there room 126 in this building?                      | binary   | 126               |
Where is "FIRE EXIT"?                                    | position | FIRE EXIT         |
Where is the WAY OUT?                                    | position | WAY OUT           |
Where is the front desk?                                 | position | front desk        |
Where is the First Aid kit?                              | position | First Aid kit     |
Where is the first-aid box?                              | position | first-aid box     |
Take me to the last-minute desk                          | position | last-minute desk  |
Where was the check-in desk that you saw last?           | position | check-in desk     | latest
Where did you see the sign 'Meeting Point'?              | position | Meeting Point     |
Where did you see the magazine called Computer?          | position | magazine Computer |
Where can I find coffee?                                 | position | coffee            |
Where was the last door you saw?                         | position | door              | latest
Where is the furthest exit?                              | position | exit              | farthest
Where did you first see a printer?                       | position | printer           | earliest
Visit all the places where you saw a printer             | position | printer           | every
Go to each of the exits                                  | position | exits             | every
Where did you see all printers?                          | position | printers          | every
Where is the all-gender toilet?                          | position | all-gender toilet |
Please visit the lift                                    | position | lift              |
Where were you at 09:01?                                 | position |                   |
Where were you five minutes ago?                         | position |                   |
Take me to the nearest exit, please                      | position | exit              | nearest
hey robot, could you bring me to the lift                | position | lift              |
Hey robot, could you please bring me to the lift?        | position | lift              |
Can you drive me to the closest exit?                    | position | exit              | nearest
Go to the water fountain.                                | position | water fountain    |
Guide me to the CAFETERIA                                | position | CAFETERIA         |
Lead me back to where you saw the bicycle                | position | bicycle           |
navigate to room 12B                                     | position | 12B               |
I want to go to the lift                                 | position | lift              |
I'd like to go to room B12                               | position | B12               |
I need a printer                                         | position | printer           |
I am looking for the lift                                | position | lift              |
I'm looking for the lift                                 | position | lift              |
I would like to sit down                                 | position | sit               |
Show me the way to the exit                              | position | exit              |
Show me the printer                                      | position | printer           |
How do I get to room 210?                                | position | 210               |
How far is the lift?                                     | position | lift              |
What is the location of the lift?                        | position | lift              |
Which room is next to the lift?                          | text     |                   |
In which room did you see the sofa?                      | position | sofa              |
find me the nearest toilet                               | position | toilet            | nearest
Locate the red sofa                                      | position | red sofa          |
Do you know where the toilet is?                         | position | toilet            |
Can you tell me where the toilet is?                     | position | toilet            |
I want to know where the toilet is                       | position | toilet            |
When did you last see the LIFT sign?                     | time     | LIFT              | latest
When did you first see a printer?                        | time     | printer           | earliest
When was the last time you saw a person?                 | time     | person            | latest
Please tell me when you saw the cat                      | time     | cat               |
How long ago did you see the cafeteria?                  | time     | cafeteria         |
How long ago was it that you saw the fire extinguisher?  | time     | fire extinguisher |
How many minutes ago did you pass room 103?              | time     | 103               |
How long has it been since you saw the lift?             | time     | lift              |
How long since you saw the lift?                         | time     | lift              |
How much time has passed since you saw the lift?         | time     | lift              |
At what time did you pass the lift?                      | time     | lift              |
Could you tell me what time you saw the exit?            | time     | exit              |
How long were you in the kitchen?                        | duration | kitchen           |
For how long did you see the red car?                    | duration | red car           |
How long did you stay near the printer?                  | duration | printer           |
How long did you look at the reception?                  | duration | reception         |
How much time did you spend in the lab?                  | duration | lab               |
How many minutes were you in the lab?                    | duration | lab               |
Did you see a fire extinguisher?                         | binary   | fire extinguisher |
Is the printer still there?                              | binary   | printer           |
Did you see a printer anywhere yet?                      | binary   | printer           |
Did you see a printer in the last half hour?             | binary   | printer           |
Did you see a printer in the last 30 s?                  | binary   | printer           |
Is there a printer?                                      | binary   | printer           |
Have you seen any chairs?                                | binary   | chairs            |
Do you remember seeing a bicycle?                        | binary   | bicycle           |
Can you see a door?                                      | binary   | door              |
Did you see a person in the last 10 minutes?             | binary   | person            |
What can be read near the printer?                       | text     | printer           |
What does the sign next to the lift say?                 | text     | lift              |
What is written on the door of room 105?                 | text     | door 105          |
What did you see 2 minutes ago?                          | text     |                   |
What did you see near room 103?                          | text     | 103               |
What is in front of the sofa?                            | text     |                   |
What did you see while you were in the kitchen?           | text     | kitchen           |
Describe the kitchen.                                    | text     | kitchen           |
I want to know what you saw in the kitchen               | text     | kitchen           |
Which was the first sign you saw?                        | text     |                   | earliest
I am hungry, can you take me somewhere to get food?      | position | food              |
I'm thirsty. Where can I find water?                     | position | water             |
How long did we stay in the lobby?                       | duration | lobby             |
How long have you been outside?                          | duration | outside           | latest
Where is the trash can?                                  | position | trash can         |
Did you see the back of a stop sign?                     | binary   | stop sign         |
Can you take me to the second floor?                     | position | second floor      |
Where did you see over 5 tables?                         | position | tables            |
Which direction did you turn?                            | text     | turn              |
How many times did you pass the exit?                    | text     | exit              |
What was the last time you saw a dog?                    | time     | dog               | latest
"""
ROWS = [[cell.strip() for cell in line.split('|')] for line in QUESTIONS.strip().splitlines()]


@pytest.mark.parametrize(('text', 'kind', 'target', 'choice'), ROWS, ids=[row[0] for row in ROWS])
def test_a_question_is_understood(text: str, kind: str, target: str, choice: str) -> None:
    request = parse_request(text, NOW_NS)
    assert (request.kind, request.target) == (Kind(kind), target)
    assert request.choice is (Choice(choice) if choice else Choice.CITED_FIRST)


@pytest.mark.parametrize(
    ('text', 'numbered', 'names', 'identifiers'),
    [
        ('Where is room 103?', {('103', 'room')}, set(), set()),
        ('Where is 103?', {('103', '')}, set(), set()),
        ('Where is lab 3?', {('3', 'lab')}, {'lab'}, set()),
        ('Did you see an 18-wheeler?', set(), set(), set()),
        ('Where is B-204?', {('204', 'b')}, set(), set()),
        ('Where are room B12 and lab 3?', {('b12', 'room'), ('3', 'lab')}, {'lab'}, set()),
        ('Where is Dr. Ellis?', set(), {'ellis'}, set()),
        ("Where is Professor Ellis's office?", set(), {'ellis'}, set()),
        ('Where is the lift?', set(), set(), set()),
        ('Where is the magazine called Computer?', set(), {'computer'}, set()),
        ('Where is "Fire exit"?', set(), {'fire'}, {'fire', 'exit'}),
        ('Where is “ROOM 7”?', {('7', 'room')}, set(), {'room'}),
    ],
)
def test_numbers_names_and_quotations_are_told_apart(
    text: str, numbered: set[tuple[str, str]], names: set[str], identifiers: set[str]
) -> None:
    request = parse_request(text, NOW_NS)
    assert (request.numbered, request.identifiers) == (numbered, identifiers)
    assert names <= request.names


def test_a_question_about_here_reading_and_whatever_is_known_as_such() -> None:
    assert parse_request('Is there a printer here?', NOW_NS).here
    assert parse_request('Where are you now?', NOW_NS).here
    assert not parse_request('Where is the printer?', NOW_NS).here
    assert parse_request('What can be read here?', NOW_NS).reading
    assert not parse_request('What did you see?', NOW_NS).reading
    assert parse_request('What did you see?', NOW_NS).whatever
    assert parse_request('Did you see anything?', NOW_NS).whatever
    assert not parse_request('Where is it?', NOW_NS).whatever


@pytest.mark.parametrize(
    ('text', 'relation'),
    [
        (
            'How long between the lift and the printer?',
            Relation(RelationKind.BETWEEN, '', 'the lift', 'the printer'),
        ),
        ('How far is it from the lift to room 7?', Relation(RelationKind.BETWEEN, '', 'the lift', 'room 7')),
        ('How far is the lift from room 7?', Relation(RelationKind.BETWEEN, '', 'is the lift', 'room 7')),
        ('Is the cafeteria near the lift?', Relation(RelationKind.NEAR, 'Is the cafeteria', 'the lift')),
        ('Where is the exit near the lift?', Relation(RelationKind.NEAR, 'Where is the exit', 'the lift')),
        ('What did you see after the lift?', Relation(RelationKind.AFTER, '', 'the lift')),
        ('After the lift, did you see a dog?', Relation(RelationKind.AFTER, 'did you see a dog', 'the lift')),
        (
            'Is there a dog on the way to the lift?',
            Relation(RelationKind.ON_THE_WAY, 'Is there a dog', 'the lift'),
        ),
        (
            'Did you see a mug while you were in the kitchen?',
            Relation(RelationKind.WHILE, 'Did you see a mug', 'you were in the kitchen'),
        ),
        ('How far is it from here to the lift?', None),
        ('How far is the lift from here?', None),
        ('Have you been here before?', None),
        ('Is the printer near here?', None),
        ('Did you see any sign near the lift?', None),
        ('What can be read near the printer?', None),
        ('What does the sign next to the lift say?', None),
        ('Did you see a person between 9:00 and 9:10?', None),
        ('What did you see after 9:00?', None),
        ('What did you see while you were in the kitchen?', None),
        ('Where is "Wash before and after lunch"?', None),
    ],
)
def test_two_things_in_relation_are_told_apart(text: str, relation: Relation | None) -> None:
    assert parse_request(text, NOW_NS).relation == relation


@pytest.mark.parametrize(
    ('text', 'head'),
    [
        ('Where is the red fire extinguisher?', 'extinguisher'),
        ('Did you see a person wearing a pink shoe?', 'person'),
        ('Where is the vending machine?', 'machine'),
        ('Did you see red sofas with people on them?', 'sofa'),
        ('Is there a cafeteria near the lift?', 'cafeteria'),
        ('Where is it?', ''),
    ],
)
def test_the_noun_that_is_asked_about_is_found(text: str, head: str) -> None:
    assert parse_request(text, NOW_NS).head == head


def test_words_of_time_are_no_part_of_the_target() -> None:
    request = parse_request('Did you see a person between 9:00 and 9:10?', NOW_NS)
    assert request.target == 'person'
    assert request.window.after_ns == parse_time('2023-11-14T09:00')
    assert request.window.before_ns == parse_time('2023-11-14T09:10')


FRAGMENTS = st.sampled_from(
    'where|when|how long|ago|did you see|take me to|the|nearest|last|first|room 103|lab 7|"EXIT"|here|'
    'Dr. Ellis|between 9:00 and|5 minutes ago|hey robot,|can you|tell me|i want to'.split('|')
    + list('"\'²Ⅷ١İß?.([\\')
)


@settings(max_examples=500)
@given(st.one_of(st.text(), st.lists(FRAGMENTS, max_size=10).map(' '.join)), st.integers(0, MAX_NS))
def test_any_text_is_a_request(text: str, now_ns: int) -> None:
    request = parse_request(text, now_ns)
    assert isinstance(request.kind, Kind)
    for number, noun in request.numbered:
        has_number(text, number, noun)


@pytest.mark.parametrize(
    'text',
    [
        'What do you do in the morning?',
        'Was a parcel or a box left at the door?',
        'What did you see on 2nd floor yesterday?',
        'What did you read in the Times?',
    ],
)
def test_what_only_looks_like_talk_a_comparison_a_date_or_every_time_is_none(text: str) -> None:
    request = parse_request(text, NOW_NS)
    assert (request.other, request.comparing, request.window.unclear, request.every_time) == (
        False,
        False,
        '',
        False,
    )


def test_of_a_pasted_page_the_beginning_says_what_is_searched_for() -> None:
    words = ' '.join(f'word{number} Name{number}' for number in range(1000))
    asked = searched(f'a red chair {words}')
    assert asked.target.startswith('red chair')
    assert len(asked.target) <= MOST_SEARCHED
    assert len(asked.names) < MOST_SEARCHED / 5
