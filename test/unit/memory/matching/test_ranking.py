import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from remembr_ros.memory.matching.ranking import (
    NEAREST,
    best_first,
    meaning,
    nearest_passages,
    newest_first,
    passages,
    score,
    word_shares,
)
from remembr_ros.memory.model.record import Memory


def memory(name: str, start_ns: int = 0) -> Memory:
    return Memory(name, 'r', start_ns, start_ns + 1, '')


def text_memory(name: str, caption: str, *scene_text: str) -> Memory:
    return Memory(name, 'r', 0, 0, caption, scene_text=scene_text)


def column(*cosines: float) -> np.ndarray:
    return np.array(cosines, np.float32)[:, None]


NO_WORDS = np.zeros(0, np.float32)


def test_without_words_meaning_is_that_of_the_best_paragraph() -> None:
    assert meaning(column(0.5, 0.1, 0.2, 0.9), 2, NO_WORDS) == pytest.approx(0.5)
    assert meaning(column(0.5, 0.8, 0.2, 0.7), 2, NO_WORDS) == pytest.approx(0.8)
    assert meaning(column(-0.5, -0.1, -0.2, -0.9), 2, NO_WORDS) == 0.0
    assert meaning(column(), 0, NO_WORDS) == 0.0


def test_every_word_counts_with_the_passage_that_is_nearest_to_it() -> None:
    # of the paragraph and both sentences: to 'red lift', to 'red', to 'lift'
    cosines = np.array([[0.5, 0.2, 0.2], [0.3, 0.9, 0.1], [0.4, 0.0, 0.8]], np.float32)
    assert meaning(cosines, 1, np.array([1.0, 1.0], np.float32)) == pytest.approx((0.5 + 0.85) / 2)
    assert meaning(cosines, 1, np.array([0.0, 1.0], np.float32)) == pytest.approx((0.5 + 0.8) / 2)
    assert meaning(cosines, 1, np.zeros(2, np.float32)) == pytest.approx(0.5)  # every memory has them


COSINES = arrays(
    np.float32, st.tuples(st.integers(1, 6), st.integers(1, 4)), elements=st.floats(-1.0, 1.0, width=32)
)
SHARES = st.none() | st.floats(0.0, 1.0)


@given(COSINES, SHARES, st.data())
def test_a_score_lies_between_zero_and_one(
    cosines: np.ndarray, shared: float | None, data: st.DataObject
) -> None:
    worth = data.draw(arrays(np.float32, cosines.shape[1] - 1, elements=st.floats(0.0, 1.0, width=32)))
    meant = meaning(cosines, data.draw(st.integers(1, len(cosines))), worth)
    assert 0.0 <= meant <= 1.0
    assert 0.0 <= score(meant, shared) <= 1.0


def test_a_score_is_the_mean_of_the_whole_the_words_and_their_share() -> None:
    assert score(1.0, 1.0) == 1.0
    assert score(0.0, 0.0) == 0.0
    assert score(0.5, None) == 0.5
    cosines = np.array([[0.6, 0.4, 0.2]], np.float32)
    meant = meaning(cosines, 1, np.ones(2, np.float32))
    assert score(meant, 0.9) == pytest.approx((0.6 + 0.3 + 0.9) / 3)


def test_word_shares_look_at_caption_and_scene_text() -> None:
    seen = [
        text_memory('a', 'A red sofa.', 'Room 417B'),
        text_memory('b', 'A sofa.'),
        text_memory('c', 'Ivy.'),
    ]
    both, one, none = word_shares('sofas in room 417b', seen)
    assert 1.0 > both > one > none == 0.0
    assert word_shares('sofa', []).shape == (0,)


@pytest.mark.parametrize(
    ('asked', 'right', 'wrong'),
    [
        ('where is room 117', 'A sign reads "ROOM 117".', 'A sign reads "ROOM 118".'),
        ('where is B-204', 'A door, B 204.', 'A door, B-205.'),
        ('take me to the Dedalus poster', 'A poster: DEDALUS.', 'A poster of a man with wings.'),
    ],
)
def test_what_is_met_literally_beats_what_is_nearer_in_meaning(asked: str, right: str, wrong: str) -> None:
    shares = word_shares(asked, [text_memory('right', right), text_memory('wrong', wrong)])
    assert score(0.5, float(shares[0])) > score(0.6, float(shares[1]))


def test_a_rare_name_in_small_letters_beats_what_is_a_little_nearer_in_meaning() -> None:
    memories = [text_memory(f'{i}', 'A poster on a wall.') for i in range(200)]
    shared = word_shares(
        'where is the dedalus poster', [*memories, text_memory('right', 'A dedalus poster on a wall.')]
    )
    assert score(0.5, float(shared[-1])) > score(0.6, float(shared[0]))


def test_of_memories_that_score_alike_the_newest_is_first() -> None:
    scored = [(0.5, memory('b', 1)), (0.5, memory('a', 1)), (0.5, memory('c', 2)), (0.6, memory('d'))]
    for order in (scored, scored[::-1]):
        assert [found.id for _, found in best_first(order)] == ['d', 'c', 'a', 'b']


def test_newest_first_breaks_ties_by_start_and_id() -> None:
    a, b = memory('a', 5), memory('b', 5)
    longer = Memory('c', 'r', 1, 6, '')
    assert [m.id for m in newest_first([longer, b, a])] == ['a', 'b', 'c']


def test_the_sentences_and_signs_nearest_to_the_text_are_told() -> None:
    of = text_memory('m', 'A door. A lift.', 'EXIT')
    assert [p.text for p in passages(of)] == ['A door. A lift.', 'EXIT', 'A door.', 'A lift.']
    assert nearest_passages(of, column(0.9, 0.1, 0.2, 0.8), NO_WORDS) == ('A lift.', 'A door.', 'EXIT')
    # to the text, and to its one word that is no common one
    cosines = np.array([[0.9, 0.0], [0.1, 0.8], [0.2, 0.0], [0.8, 0.0]], np.float32)
    worth = np.ones(1, np.float32)
    assert nearest_passages(of, cosines, worth) == ('EXIT', 'A lift.', 'A door.')
    assert nearest_passages(of, column(0.9), NO_WORDS) == ()  # another version split it
    many = text_memory('m', ' '.join(f'Door {i}.' for i in range(20)))
    assert len(nearest_passages(many, np.zeros((21, 1), np.float32), NO_WORDS)) == NEAREST
