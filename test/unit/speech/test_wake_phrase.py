import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.speech.wake_phrase import WAKE_PHRASES, edit_distance, strip_wake_phrase

QUESTIONS = st.sampled_from(
    [
        'where is the printer?',
        'When did you see the exit?',
        "what's on the sign?",
        'have you seen 3 cups?',
        'wo ist der Aufzug?',
        'où est la sortie ?',
    ]
)


@pytest.mark.parametrize(
    ('heard', 'question'),
    [
        ('Hey robot, where is the printer?', 'where is the printer?'),
        ('Robot: where am I?', 'where am I?'),
        ('ROBOT WHERE IS IT', 'WHERE IS IT'),
        ('Um, okay robot... go on', 'go on'),
        ('Hey robat, where is it?', 'where is it?'),
        ('Row bot, where is it?', 'where is it?'),
        ('Heyrobot where is it?', 'where is it?'),
        ('Hay robot, "where" is it?', '"where" is it?'),
        ('robot I see', 'I see'),
    ],
)
def test_what_follows_the_phrase_is_the_question(heard, question):
    assert strip_wake_phrase(heard) == question


@pytest.mark.parametrize(
    'heard',
    [
        *('', ' ', '...', 'Robot.', 'Hey, robot!', 'Where is the robot?', 'A robot came by.'),
        *('Hey Rob, where is it?', 'Where is the printer?', 'The robot is here', 'hey', 'um', 'Hey there'),
    ],
)
def test_what_is_not_meant_for_the_robot_is_no_question(heard):
    assert strip_wake_phrase(heard) is None


def test_without_phrases_everything_is_a_question():
    assert strip_wake_phrase('  Where is it? ', ()) == 'Where is it?'
    assert strip_wake_phrase('  ', ()) is None


def test_other_phrases_can_be_chosen():
    assert strip_wake_phrase('Computer, where is it?', ['computer']) == 'where is it?'
    assert strip_wake_phrase('Robot, where is it?', ['computer']) is None
    assert strip_wake_phrase('Bo, where is it?', ['bo']) == 'where is it?'
    assert strip_wake_phrase('Go, where is it?', ['bo']) is None, 'two letters leave no room for an error'


@pytest.mark.parametrize('phrase', ['', ' ', '!?'])
def test_a_phrase_without_letters_is_refused(phrase):
    with pytest.raises(InvalidRequest, match='letters'):
        strip_wake_phrase('Robot, where is it?', [phrase])


@given(
    QUESTIONS, st.sampled_from(WAKE_PHRASES), st.sampled_from([' ', ', ', '... ', ': ', ' - ']), st.booleans()
)
def test_case_and_punctuation_do_not_matter(question, phrase, between, shouted):
    text = (phrase.upper() if shouted else phrase.title()) + between + question
    assert strip_wake_phrase(text) == question


@given(QUESTIONS, st.integers(0, 4), st.sampled_from(string.ascii_lowercase))
def test_one_letter_heard_wrong_is_tolerated(question, position, letter):
    phrase = 'robot'[:position] + letter + 'robot'[position + 1 :]
    assert strip_wake_phrase(f'Hey {phrase}, {question}') == question
    assert strip_wake_phrase(f'{phrase}, {question}') == question


@given(st.text(max_size=60))
def test_a_question_is_the_end_of_what_was_said(text):
    question = strip_wake_phrase(text)
    if question is not None:
        assert question
        assert text.rstrip().endswith(question)


@given(st.lists(st.sampled_from(['where', 'did', 'you', 'see', 'a', 'mug', 'robot', 'hey']), min_size=1))
def test_the_phrase_counts_at_the_beginning_only(words):
    assume('robot' not in words[:3])
    assert strip_wake_phrase(' '.join(words)) is None


@given(st.text('abc', max_size=6), st.text('abc', max_size=6))
def test_edit_distance_is_a_distance(a, b):
    assert edit_distance(a, b, 10) == edit_distance(b, a, 10)
    assert (edit_distance(a, b, 10) == 0) == (a == b)
    assert abs(len(a) - len(b)) <= edit_distance(a, b, 10) <= max(len(a), len(b))
    assert edit_distance(a, b, 2) == min(edit_distance(a, b, 10), 3)
