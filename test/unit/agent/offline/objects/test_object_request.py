"""What a question asks of objects."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.offline.objects.object_request import Asked, ObjectRequest, parse_object_request
from remembr_ros.agent.offline.request import parse_request
from remembr_ros.timestamps import parse_time

NOW = parse_time('2026-03-03T09:00:00Z')


def parsed(text: str) -> ObjectRequest | None:
    return parse_object_request(parse_request(text, NOW))


@pytest.mark.parametrize(
    ('text', 'relation', 'anchor'),
    [
        ('What is on the table?', 'on', 'table'),
        ("What's on the table right now?", 'on', 'table'),
        ('Can you tell me what is on top of the red box?', 'on', 'red box'),
        ('Which things are lying on the counter?', 'on', 'counter'),
        ('What else is in the fridge?', 'in', 'fridge'),
        ('What do you see inside the drawer?', 'in', 'drawer'),
        ('List everything in the fridge.', 'in', 'fridge'),
        ('what objects are there underneath the bed', 'under', 'bed'),
        ('What is under the table?', 'under', 'table'),
        ('What is next to the TV?', 'next to', 'TV'),
        ('What stands beside the blue vase?', 'next to', 'blue vase'),
        ('What is near the laptop?', 'next to', 'laptop'),
    ],
)
def test_what_lies_somewhere(text: str, relation: str, anchor: str) -> None:
    assert parsed(text) == ObjectRequest(Asked.RELATED, '', relation, anchor)


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('Where is the red cup?', ObjectRequest(Asked.WHERE, 'red cup')),
        ('Take me to the nearest chair', ObjectRequest(Asked.WHERE, 'nearest chair')),
        ('Where is the cup on the table?', ObjectRequest(Asked.WHERE, 'cup', 'on', 'table')),
        ('When did you last see the laptop?', ObjectRequest(Asked.WHEN, 'laptop')),
        ('How many chairs are there?', ObjectRequest(Asked.HOW_MANY, 'chairs')),
        ('How many cups are on the table?', ObjectRequest(Asked.HOW_MANY, 'cups', 'on', 'table')),
        ('Is there a cup on the table?', ObjectRequest(Asked.IS, 'cup', 'on', 'table')),
        ('Is the red cup still on the table?', ObjectRequest(Asked.IS, 'red cup', 'on', 'table')),
        ('Do you see a bowl next to the fridge?', ObjectRequest(Asked.IS, 'bowl', 'next to', 'fridge')),
        ('Where was the cup before?', ObjectRequest(Asked.BEFORE, 'cup')),
        ('Where was the red cup before it was moved?', ObjectRequest(Asked.BEFORE, 'red cup')),
        ('Where did the vase use to be?', ObjectRequest(Asked.BEFORE, 'vase')),
        ('Where was the vase originally?', ObjectRequest(Asked.BEFORE, 'vase')),
        ('What was the previous place of the vase?', ObjectRequest(Asked.BEFORE, 'vase')),
        ('Is the cup still there?', ObjectRequest(Asked.STILL, 'cup')),
        ('Is the cup still in the same place?', ObjectRequest(Asked.STILL, 'cup')),
        ('Is the candle still where it was?', ObjectRequest(Asked.STILL, 'candle')),
        ('Is the cup gone?', ObjectRequest(Asked.STILL, 'cup', changes=('missing',))),
        ('Has the cup been taken away?', ObjectRequest(Asked.STILL, 'cup', changes=('missing',))),
        ('Did somebody take the cup?', ObjectRequest(Asked.STILL, 'cup', changes=('missing',))),
        ('Has the cup been moved?', ObjectRequest(Asked.MOVED, 'cup', changes=('moved',))),
        ('Did anyone move the cup?', ObjectRequest(Asked.MOVED, 'cup', changes=('moved',))),
        ('What colour is the cup?', ObjectRequest(Asked.COLOUR, 'cup')),
        ('Which cup is on the table?', ObjectRequest(Asked.RELATED, 'cup', 'on', 'table')),
        ('Anything on the sofa?', ObjectRequest(Asked.IS, '', 'on', 'sofa')),
        ('How many things are on the table?', ObjectRequest(Asked.HOW_MANY, '', 'on', 'table')),
        ('What happened to the vase?', ObjectRequest(Asked.HISTORY, 'vase')),
        ('When was the vase moved?', ObjectRequest(Asked.WHEN, 'vase', changes=('moved',))),
        ('When did the vase disappear?', ObjectRequest(Asked.WHEN, 'vase', changes=('missing',))),
        ('Where was the vase moved to?', ObjectRequest(Asked.WHERE, 'vase')),
        ('What objects do you know?', ObjectRequest(Asked.HOW_MANY)),
        ('How many things are missing?', ObjectRequest(Asked.CHANGES, changes=('missing',))),
        ('What has been taken away since 10:00?', ObjectRequest(Asked.CHANGES, changes=('missing',))),
        ("What's the color of the vase?", ObjectRequest(Asked.COLOUR, 'vase')),
        ('What changed since yesterday?', ObjectRequest(Asked.CHANGES)),
        ('What has changed since 10:00?', ObjectRequest(Asked.CHANGES)),
        ('What changed since the last visit?', ObjectRequest(Asked.CHANGES, since_visit=True)),
        ('Has anything changed since you were last here?', ObjectRequest(Asked.CHANGES, since_visit=True)),
        ('What is different from last time?', ObjectRequest(Asked.CHANGES, since_visit=True)),
        ('Which things are missing?', ObjectRequest(Asked.CHANGES, changes=('missing',))),
        ('What is missing since yesterday?', ObjectRequest(Asked.CHANGES, changes=('missing',))),
        ('What was moved since 10:00?', ObjectRequest(Asked.CHANGES, changes=('moved',))),
        ('Is anything new here?', ObjectRequest(Asked.CHANGES, changes=('appeared',))),
    ],
)
def test_each_kind_of_question(text: str, expected: ObjectRequest) -> None:
    found = parsed(text)
    assert found is not None
    thing = ' '.join(word for word in found.thing.split() if word not in ('the', 'a'))
    expected_thing = expected.thing.removeprefix('nearest ')
    assert (found.asked, thing, found.relation, found.anchor) == (
        expected.asked,
        expected_thing,
        expected.relation,
        expected.anchor,
    )
    assert (found.changes, found.since_visit) == (expected.changes, expected.since_visit)


@pytest.mark.parametrize(
    'text',
    [
        'What did you do today?',
        'What is written on the door?',
        'Did you see a red cup?',
        'Where did you leave the parcel?',
        'How often did you pass the lift?',
        'What happened before you saw the lift?',
        'Who was in the kitchen?',
    ],
)
def test_what_is_about_something_else_is_left_to_others(text: str) -> None:
    assert parsed(text) is None


@given(st.text(max_size=200))
def test_any_text_can_be_read(text: str) -> None:
    parsed(text)


@given(
    st.lists(
        st.sampled_from('what is the was on in all things there still before cup moved since'.split()),
        max_size=60,
    )
)
def test_long_questions_of_its_own_words_take_no_time(said: list[str]) -> None:
    parsed(' '.join(said))


@pytest.mark.parametrize(
    'text',
    [
        'What do you see?',
        'What do you see right now?',
        'What do you currently see?',
        'What can you see at the moment?',
        'Can you tell me what you see now?',
        'What objects can you see?',
        'What are you looking at?',
        'What is in front of you now?',
        "What's in view?",
    ],
)
def test_what_is_in_view(text: str) -> None:
    assert parsed(text) == ObjectRequest(Asked.IN_VIEW)


@pytest.mark.parametrize(
    'text',
    [
        'What did you see yesterday?',
        'What did you see?',
        'What was in front of you?',
        'What have you seen?',
        'What can you see here?',
        'What do you see on the table?',
        'What do you see in front of the fridge?',
        'Which signs do you see?',
    ],
)
def test_what_was_or_is_somewhere_is_not_what_is_in_view(text: str) -> None:
    request = parsed(text)
    assert request is None or request.asked is not Asked.IN_VIEW
