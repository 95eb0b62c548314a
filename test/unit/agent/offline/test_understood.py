from dataclasses import replace

import pytest

from remembr_ros.agent.model.answer import Kind
from remembr_ros.agent.model.grounding import Claim
from remembr_ros.agent.offline.request import searched
from remembr_ros.agent.offline.understood import Accounted, best, found, said
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory

UNSEEN = Claim(Kind.NOT_SEEN, 'I have not seen that: none of 9 memories shows it.', confidence=0.99)


def memory(caption: str) -> Memory:
    return Memory(id='m', robot='r', start_ns=0, end_ns=1, caption=caption, source='captioner')


def told(text: str, claim: Claim, by: str = 'sights') -> Accounted:
    return found(claim, by, text, searched(text))


@pytest.mark.parametrize(
    ('text', 'left'),
    [
        ('Where is the fire extinguisher?', ()),
        ('Have you seen a red fire extinguisher?', ()),
        ('Is there anything I can pour my soda into?', ('can', 'pour')),
        ('Where can I find something to drink from?', ('drink',)),
        ('What colour are the cupboards?', ('colour',)),
        ('How big is the dining table?', ('big',)),
        ('Are all chairs empty?', ('empty',)),
        ('Can I use the lift?', ('Can', 'use')),
        ('When did you pass room B12?', ()),
        ('Did porter see the microwave?', ('porter',)),
    ],
)
def test_what_was_not_seen_is_a_thing_that_was_asked_for(text: str, left: tuple[str, ...]) -> None:
    assert told(text, UNSEEN).left == left


@pytest.mark.parametrize(
    ('text', 'caption', 'left'),
    [
        ('Where is the red cup?', 'A red mug stands on a table.', ()),
        ('Is there a car parked next to a fence?', 'A parked car.', ('next', 'fence')),
        ('Did you see the Gates building?', 'A sign on the gate of a building.', ('Gates',)),
        ('Did you see the Gates building?', 'The Gates building is open.', ()),
        ('Did the cat see a dog?', 'A dog sleeps.', ('cat',)),
        ('Is there a cup without a handle?', 'A cup with a handle.', ('without',)),
        ('May I use the lift?', 'A person uses a lift.', ('May',)),
        ('Was the sidewalk closed?', 'A sidewalk. A "ROAD CLOSED" sign.', ('closed',)),
        ('Was the sidewalk closed?', 'The sidewalk is closed.', ()),
        ('Did you see people with umbrellas?', 'White umbrellas. People walk by.', ('with',)),
        ('Did you see people with umbrellas?', 'People walk with umbrellas.', ()),
        ('Is my bike there?', 'A bike.', ('my',)),
        ('Is my bike there?', 'my bike is in the cellar', ()),
        ('Was the cup there all the time?', 'A cup.', ('time',)),
        ('Did you cross the bridge?', 'Tracks cross below a bridge.', ('cross',)),
        ('Did you cross the bridge?', 'You cross a bridge.', ()),
        ('Where did you see people eating?', 'People sit in a cafe, in a seating area.', ('eating',)),
        ('What did the pedestrians wear?', 'Pedestrians walk on a road with signs of wear.', ('wear',)),
        ('Did the bus stop for you?', 'People wait at a bus stop.', ('stop',)),
        ('Was anyone but a child in the hall?', 'A child in a hall.', ('but',)),
    ],
)
def test_what_was_seen_has_all_that_was_asked_for(text: str, caption: str, left: tuple[str, ...]) -> None:
    claim = Claim(Kind.BINARY, 'Yes', [Hit(memory(caption), 0.9)], binary=True, confidence=0.9)
    one = told(text, claim)
    assert one.left == left
    assert (said(one).confidence < 0.5) is bool(left)


def test_what_is_not_a_thing_is_not_denied() -> None:
    unseen = replace(UNSEEN, about='after cafeteria')
    assert told('What comes after the cafeteria?', unseen).left == ('comes',)


@pytest.mark.parametrize(
    ('text', 'left'),
    [
        ('How many flowers did you bring?', ('many',)),
        ('How many times did you bring the flowers?', ()),
        ('Where did you bring the medicine?', ('medicine',)),
        ('What did you put on the medicine fridge?', ()),
        ('Did you bring the flowers to the wrong fridge?', ('wrong',)),
        ('Did you bring the flowers more often than the fridge?', ('than',)),
        ('Who asked you for the flowers?', ('Who',)),
        ('How often did you go up?', ('up',)),
        ('What were you told about the flowers?', ('told',)),
    ],
)
def test_of_deeds_it_is_told_to_what_they_were_done(text: str, left: tuple[str, ...]) -> None:
    facts = {'kind': 'place', 'object': 'flowers', 'receptacle': 'medicine fridge'}
    one = replace(memory('Put the flowers on the medicine fridge.'), facts=facts)
    assert told(text, Claim(Kind.TEXT, 'once', [Hit(one, 1.0)], confidence=0.9), 'deeds').left == left


def test_nothing_is_the_nearest_to_something_else() -> None:
    claim = Claim(Kind.TEXT, 'There', [Hit(memory('A sign.'), 0.9)], confidence=0.9)
    assert told('Which sign is the farthest from the sign?', claim).left == ('farthest',)
    assert told('Which sign is the farthest from here?', claim).left == ()
    assert told('Where is the nearest place to the sign?', claim).left == ('nearest',)


def test_how_the_robot_moved_is_neither_what_others_may_nor_what_was_in_view() -> None:
    claim = Claim(Kind.POSITION, 'I stopped', [Hit(memory('A car. A building.'), 0.9)], confidence=0.9)
    assert told('Where did you stop?', claim, 'motion').left == ()
    assert told('Can you tell me where you stopped?', claim, 'motion').left == ()
    assert told('Where can I park my car?', claim, 'motion').left == ('car', 'can')
    assert told('What was the last building before you stopped?', claim, 'motion').left == ('building',)


def test_one_time_is_not_when_it_usually_is() -> None:
    when = Claim(Kind.TIME, 'Docked', [Hit(memory('Docked'), 0.9)], confidence=0.9)
    assert told('What time do you usually dock?', when, 'deeds').left == ('usually',)
    mean = replace(when, kind=Kind.DURATION, text='On average')
    assert told('How long do you usually dock?', mean, 'deeds').left == ()


def test_an_unsure_denial_names_what_was_not_understood() -> None:
    unsure = replace(UNSEEN, text='I have seen the cups.', confidence=0.2)
    text = said(told('Are there more cups than plates?', unsure)).text
    assert text.startswith('I have seen the cups. Left out: ')
    assert '"than"' in text


def test_a_place_knows_who_went_there_and_nothing_of_things() -> None:
    there = Claim(Kind.TEXT, 'In the hall: a cup.', about='hall', confidence=0.9)
    assert told('Did you take me to the hall?', there, 'places').left == ()
    assert told('What did you take to the hall?', there, 'places').left == ('take',)
    never = Claim(Kind.NOT_SEEN, 'Never.', about='hall dock', confidence=0.9)
    assert told('What did you do between the hall and the dock?', never, 'places').left == ('do',)


def test_what_was_seen_tells_neither_names_of_streets_nor_that_the_robot_got_off() -> None:
    claim = Claim(Kind.TEXT, 'There', [Hit(memory('A street, a charger.'), 0.9)], confidence=0.9)
    assert told('Which street names could you read?', claim).left == ('names',)
    assert told('When did you get off the charger?', claim).left == ('off',)


def test_words_that_say_when_or_where_are_taken() -> None:
    text = 'Did you see a cup at 9:00:10 on floor-1?'
    request = searched(text)
    claim = Claim(Kind.BINARY, 'Yes', [Hit(memory('A cup.'), 0.9)], binary=True, confidence=0.9)
    assert not found(claim, 'sights', text, request, ['9', '00', '10', 'floor', '1']).left


def test_what_is_denied_without_being_understood_is_not_denied() -> None:
    claim = said(told('Is there anything I can pour my soda into?', UNSEEN))
    assert claim.kind is Kind.NOT_SEEN
    assert claim.text.startswith('I do not understand "can", "pour"')
    assert claim.confidence < 0.5


def test_what_is_left_is_said_with_what_was_understood() -> None:
    claim = Claim(Kind.BINARY, 'Yes', [Hit(memory('A cup.'), 0.9)], binary=True, confidence=0.9)
    assert said(told('Is there a clean cup?', claim)).note == ' I understood: cup; not: "clean".'


def test_a_deed_of_its_own_can_be_denied_whatever_it_was_done_to() -> None:
    no = Claim(Kind.BINARY, 'No', binary=False, about='touch', confidence=0.9)
    assert not told('Did you touch the green vase?', no, 'deeds').left
    assert told('Did Linda touch the green vase?', no, 'deeds').left == ('Linda',)
    of_nurse = replace(no, about='touch nurse')  # of a nurse station there are deeds
    assert told('Did a nurse touch the green vase?', of_nurse, 'deeds').left == ('nurse',)


def test_the_claim_that_is_about_all_of_it_is_the_best() -> None:
    first, second, third = (Accounted(UNSEEN, 'sights', left) for left in (('a', 'b'), (), ('a',)))
    assert best([first, second, third]) is second
    assert best([first, third]) is third
