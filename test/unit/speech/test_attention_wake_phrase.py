import string

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from remembr_ros.errors import InvalidRequest
from remembr_ros.speech.attention import WAKE_PHRASES, after_wake_phrase, half_errors


def question_in(text, phrases=WAKE_PHRASES):
    """Return the question after the wake phrase; None: there is no wake phrase, or no question."""
    return after_wake_phrase(text, phrases) or None


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
        ('row bot where is it?', 'where is it?'),
        ('Row-bot, where is it?', 'where is it?'),
        ('hey robots where is it?', 'where is it?'),
        ('Hey, robots, where is it?', 'where is it?'),
        ("Hey robot's, where is it?", 'where is it?'),
        ('hay rowboat where is it?', 'where is it?'),
        ('Rowboat, where is it?', 'where is it?'),
        ('Hey, row boat, where is it?', 'where is it?'),
        ('Robo, where is it?', 'where is it?'),
        ('Ropot, where is it?', 'where is it?'),
        ('Hey Röbot, where is it?', 'where is it?'),
        ("Hey robot, what's up?", "what's up?"),
        ('Hey robot, robot 2 is where?', 'robot 2 is where?'),
        ('  hello   robot   where is it?  ', 'where is it?'),
        ('…robot, 3 cups?', '3 cups?'),
    ],
)
def test_what_follows_the_phrase_is_the_question(heard, question):
    assert question_in(heard) == question


@pytest.mark.parametrize(
    'heard',
    [
        *('', ' ', '...', 'Robot.', 'Hey, robot!', 'Where is the robot?', 'A robot came by.'),
        *('Hey Rob, where is it?', 'Where is the printer?', 'The robot is here', 'hey', 'um', 'Hey there'),
        *('the robot is slow', 'I think the robot is slow', 'My robot is slow', 'Is the robot slow?'),
        *('Robert, where is it?', 'Hey Robert, where is it?', 'Roberta, where is it?', 'Rob, where is it?'),
        *('Rabbit, where is it?', 'Hey rabbit, where is it?', 'Report, where is it?', 'Riot in the street'),
        *('Remote control, where is it?', 'Robin, where is it?', 'Bobby, where is it?', 'Hey Bob, a cup'),
        *('Rob, at the door there is a cup', 'Robotics is hard', 'Roller boat trips', 'About what?'),
        *('Hey, the robot is slow', 'so hey well robot where is it?', 'Hey you, robot, where is it?'),
    ],
)
def test_what_is_not_meant_for_the_robot_is_no_question(heard):
    assert question_in(heard) is None


def test_without_phrases_everything_is_a_question():
    assert question_in('  Where is it? ', ()) == 'Where is it?'
    assert question_in('  ', ()) is None


def test_other_phrases_can_be_chosen():
    assert question_in('Computer, where is it?', ['computer']) == 'where is it?'
    assert question_in('Robot, where is it?', ['computer']) is None
    assert question_in('Bo, where is it?', ['bo']) == 'where is it?'
    assert question_in('Go, where is it?', ['bo']) is None, 'two letters leave no room for an error'


@pytest.mark.parametrize('phrase', ['', ' ', '!?'])
def test_a_phrase_without_letters_is_refused(phrase):
    with pytest.raises(InvalidRequest, match='letters'):
        question_in('Robot, where is it?', [phrase])


@given(
    QUESTIONS, st.sampled_from(WAKE_PHRASES), st.sampled_from([' ', ', ', '... ', ': ', ' - ']), st.booleans()
)
def test_case_and_punctuation_do_not_matter(question, phrase, between, shouted):
    text = (phrase.upper() if shouted else phrase.title()) + between + question
    assert question_in(text) == question


@given(QUESTIONS, st.integers(0, 4), st.sampled_from(string.ascii_lowercase))
def test_one_letter_heard_wrong_is_tolerated(question, position, letter):
    phrase = 'robot'[:position] + letter + 'robot'[position + 1 :]
    assert question_in(f'Hey {phrase}, {question}') == question
    assert question_in(f'{phrase}, {question}') == question


@given(st.text(max_size=60))
def test_a_question_is_the_end_of_what_was_said(text):
    question = question_in(text)
    if question is not None:
        assert question
        assert text.rstrip().endswith(question)


@given(st.lists(st.sampled_from(['where', 'did', 'you', 'see', 'a', 'mug', 'robot', 'hey']), min_size=1))
def test_the_phrase_counts_at_the_beginning_only(words):
    # 'hey robot' may follow two fillers
    assume('robot' not in words[:3] and words[:4] != ['hey', 'hey', 'hey', 'robot'])
    assert question_in(' '.join(words)) is None


@given(QUESTIONS, st.integers(0, 4), st.sampled_from('aeiou'), st.integers(0, 4), st.sampled_from('aeiou'))
def test_two_vowels_heard_wrong_are_tolerated(question, first, one, second, other):
    phrase = list('robot')
    for at, vowel in ((first, one), (second, other)):
        phrase[at] = vowel if phrase[at] in 'aeiou' else phrase[at] + vowel
    # 'reb ott' is two words too many to tell from others; here it is one word.
    assert question_in(f'Hey {"".join(phrase)}, {question}') == question


OTHERS = [
    'where',
    'the',
    'a',
    'my',
    'is',
    'mug',
    'Robert',
    'rabbit',
    'report',
    'boat',
    'slow',
    'you',
    'people',
    'Rob',
]


@given(st.lists(st.sampled_from(OTHERS), min_size=1, max_size=3), QUESTIONS)
def test_after_other_words_the_phrase_does_not_count(before, question):
    assume('row boat' not in ' '.join(before))
    assert after_wake_phrase(f'{" ".join(before)}, hey robot, {question}') is None


@given(st.text('robthe y', max_size=24))
def test_what_wakes_sounds_like_the_phrase(text):
    if after_wake_phrase(text) is None:
        return
    # All that may precede the question: two fillers and the phrase's words with one more.
    heard = [''.join(text.split()[i:j]) for i in range(3) for j in range(i + 1, i + 5)]
    assert any(half_errors(phrase, one, 2) <= 2 for phrase in ('robot', 'heyrobot') for one in heard)


def test_the_phrase_alone_is_told_from_silence():
    assert after_wake_phrase('Hey robot!') == ''
    assert after_wake_phrase('Robot...') == ''
    assert after_wake_phrase('Hello there') is None
    assert after_wake_phrase('...', ()) is None


@pytest.mark.parametrize(
    ('a', 'b', 'half'),
    [
        ('robot', 'robot', 0),
        ('robot', 'rowboat', 2),
        ('robot', 'robert', 3),
        ('robot', 'robots', 2),
        ('', 'ab', 3),
    ],
)
def test_vowels_count_half(a, b, half):
    assert half_errors(a, b, 10) == half


@given(st.text('abc', max_size=6), st.text('abc', max_size=6))
def test_errors_are_a_distance(a, b):
    assert half_errors(a, b, 20) == half_errors(b, a, 20)
    assert (half_errors(a, b, 20) == 0) == (a == b)
    assert abs(len(a) - len(b)) <= half_errors(a, b, 20) <= 2 * max(len(a), len(b))
    assert half_errors(a, b, 2) == min(half_errors(a, b, 20), 3)
