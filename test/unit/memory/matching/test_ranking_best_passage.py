import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.memory.matching.ranking import best_passage
from remembr_ros.memory.matching.sentences import passages
from remembr_ros.memory.model.record import Memory


def memory(caption: str, *texts: str) -> Memory:
    return Memory('', '', 0, 0, caption, scene_text=texts)


SEEN = memory(
    'In the video, you see a corridor. A red mug stands on the table. The door on the left is open.',
    'ROOM 117',
    'ROOM 118',
)


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('Where did you see a red mug?', 'A red mug stands on the table.'),
        ('tables', 'A red mug stands on the table.'),
        ('is a door open', 'The door on the left is open.'),
        ('Where is room 118?', 'ROOM 118'),
        ('corridor', 'a corridor.'),
        ('swimming pool', None),
        ('?!', None),
    ],
)
def test_the_sentence_or_sign_with_most_of_the_words_is_told(text: str, expected: str | None) -> None:
    assert best_passage(text, SEEN) == expected


def test_of_the_same_words_the_shortest_is_told() -> None:
    seen = memory('A lift and a chair and a table and a lamp stand there.', 'LIFT')
    assert best_passage('lift', seen) == 'LIFT'


@given(text=st.text(max_size=60), caption=st.text(max_size=200), sign=st.text(max_size=20))
def test_what_is_told_is_of_the_memory(text: str, caption: str, sign: str) -> None:
    seen = memory(caption, sign)
    assert best_passage(text, seen) in {None, *(part.text for part in passages(seen))}


def test_a_caption_without_a_space_takes_no_time_to_speak_of() -> None:
    seen = memory('x' * 60_000)
    assert best_passage('x', seen) is None
