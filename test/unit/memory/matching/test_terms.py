import pytest

from remembr_ros.memory.matching.terms import (
    MOST_IDENTIFIERS,
    content_stems,
    essence,
    identifiers,
    stem,
    told_apart,
    words,
)


@pytest.mark.parametrize(
    ('plural', 'singular'),
    [
        ('signs', 'sign'),
        ('boxes', 'box'),
        ('batteries', 'battery'),
        ('benches', 'bench'),
        ('glass', 'glass'),
        ('bus', 'bus'),
    ],
)
def test_plural_meets_singular(plural: str, singular: str) -> None:
    assert stem(plural) == stem(singular)


def test_words_are_lower_case_letters_and_digits() -> None:
    assert words("The robot's ROOM-417B, café!") == ['the', 'robot', 'room', '417b', 'café']


def test_stop_words_count_only_where_there_is_nothing_else() -> None:
    assert content_stems('Where is the red sofa?') == {'red', 'sofa'}
    assert content_stems('where is it') == {'where', 'is', 'it'}


@pytest.mark.parametrize(
    ('question', 'rest'),
    [
        ('Where did you see a red fire hydrant?', 'red fire hydrant'),
        ("Can you direct me to Anna's office?", "direct Anna's office"),
        ('Where is it?', 'Where is it?'),
        ('', ''),
    ],
)
def test_the_essence_of_a_question_is_what_it_is_about(question: str, rest: str) -> None:
    assert essence(question) == rest


@pytest.mark.parametrize(
    ('question', 'met', 'not_met'),
    [
        ('where is room 117', ['ROOM 117.', '117'], ['room 118', 'room 1170', 'R117']),
        ('go to B-204', ['b204', 'B-204', 'B 204', 'Room B.204!'], ['204', 'b-2041', 'AB-204']),
        ('Find the Dedalus poster', ['A DEDALUS poster', "dedalus's"], ['a daedal poster', 'Dedaluses']),
        (
            "Where is Anna's office?",
            ['This is Anna\u2019s office', "anna's", 'Anna'],
            ['Annabel', 'an office'],
        ),
    ],
)
def test_numbers_and_names_have_to_be_met_literally(
    question: str, met: list[str], not_met: list[str]
) -> None:
    (one,) = identifiers(question)
    assert all(one.pattern.search(text) for text in met)
    assert not any(one.pattern.search(text) for text in not_met)
    assert one.has_digit == any(c.isdigit() for c in question)


def test_words_are_told_apart_where_there_are_several() -> None:
    assert told_apart('Where did you see the red sofa near a red lamp?') == ['red', 'sofa', 'lamp']
    assert told_apart('Where is the lift?') == told_apart('') == []


@pytest.mark.parametrize(
    'question', ['Where is a sofa', 'Did I see you?', 'Sofa', '', '???', 'When did The end']
)
def test_other_words_may_be_said_otherwise(question: str) -> None:
    assert identifiers(question) == ()


def test_of_very_many_identifiers_the_first_count() -> None:
    found = identifiers(' '.join(f'B{number}' for number in range(10_000)))
    assert [one.word for one in found] == [f'b{number}' for number in range(MOST_IDENTIFIERS)]
