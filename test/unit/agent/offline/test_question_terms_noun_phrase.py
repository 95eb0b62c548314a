import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.offline.question_terms import is_plural, noun_phrase
from remembr_ros.agent.offline.request import parse_request


@pytest.mark.parametrize(
    ('question', 'phrase'),
    [
        ('Did you see a person with a dog?', 'a person with a dog'),
        ('Where is the red car near the bridge?', 'the red car'),  # what it is near is told apart
        ('Where did you see two red chairs?', 'two red chairs'),
        ('Did you see any bicyclists?', 'bicyclists'),
        ('Take me to the nearest exit, please', 'the nearest exit'),
        ('Have you seen people with umbrellas today?', 'people with umbrellas'),
        ('Where is "MEETING POINT"?', '"MEETING POINT"'),
        ('When did you last see room 101?', 'room 101'),
        ('i am looking for the keys', 'the keys'),
        ('Did you see a person holding a door for you to enter the building?', 'a person holding a door'),
        ('Where can I throw something away?', 'a place to throw something away'),
        ('When did you cross the brick street?', 'what fits "cross the brick street"'),
    ],
)
def test_a_thing_is_called_what_the_asker_calls_it(question: str, phrase: str) -> None:
    assert parse_request(question, 0).thing == phrase


@pytest.mark.parametrize('phrase', ['two red chairs', 'people with dogs', 'the stairs in the hall', 'bikes'])
def test_several_are_meant(phrase: str) -> None:
    assert is_plural(phrase)


@pytest.mark.parametrize('phrase', ['a bus with seats', 'the glass', 'a man in jeans', '', 'room 101'])
def test_one_is_meant(phrase: str) -> None:
    assert not is_plural(phrase)


@given(st.text(max_size=200), st.text(max_size=50))
def test_any_text_has_a_phrase(asked: str, thing: str) -> None:
    is_plural(noun_phrase(asked, thing))
