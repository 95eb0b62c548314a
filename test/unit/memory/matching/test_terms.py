import pytest

from remembr_ros.memory.matching.terms import content_stems, stem, told_apart, words


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


def test_words_are_told_apart_where_there_are_several() -> None:
    assert told_apart('Where did you see the red sofa near a red lamp?') == ['red', 'sofa', 'lamp']
    assert told_apart('Where is the lift?') == told_apart('') == []
