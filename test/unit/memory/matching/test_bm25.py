import math
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.memory.matching.bm25 import (
    K1,
    B,
    WordIndex,
    asked_terms,
    rarities_among,
    shares_among,
    term_of,
)
from remembr_ros.memory.matching.terms import words

WORDS = ['the', 'red', 'sofa', 'sofas', 'room', '417B', 'lift', 'lifted', 'a', 'Where']
TEXTS = st.lists(st.sampled_from(WORDS), max_size=8).map(' '.join)
STEPS = st.lists(st.tuples(st.integers(0, 6), st.none() | TEXTS), max_size=30)


def scores_of(index: WordIndex, query: str) -> np.ndarray:
    return index._scored(query)[0]


def naive(texts: dict[int, str], query: str) -> dict[int, float]:
    """Return the score of each slot, by the formula."""
    documents = {slot: [term_of(word) for word in words(text)] for slot, text in texts.items()}
    average = sum(map(len, documents.values())) / max(len(documents), 1)
    scores = dict.fromkeys(documents, 0.0)
    for term in asked_terms(query):
        holding = sum(term in document for document in documents.values())
        idf = math.log(1.0 + (len(documents) - holding + 0.5) / (holding + 0.5))
        for slot, document in documents.items():
            if count := document.count(term):
                norm = K1 * (1.0 - B + B * len(document) / average)
                scores[slot] += idf * count * (K1 + 1.0) / (count + norm)
    return scores


@given(STEPS, TEXTS)
def test_scores_are_those_of_the_formula_whatever_was_removed(
    steps: list[tuple[int, str | None]], query: str
) -> None:
    index, texts = WordIndex(), dict[int, str]()
    for slot, text in steps:
        if text is None:
            index.remove(slot)
            texts.pop(slot, None)
        else:
            index.add(slot, text)
            texts[slot] = text
    scores = scores_of(index, query)
    assert len(index._row_of) == len(texts)
    assert len(scores) > max(texts, default=-1)
    expected = naive(texts, query)
    assert scores == pytest.approx([expected.get(slot, 0.0) for slot in range(len(scores))], rel=1e-5)
    shares = index.shares(query)
    assert ((shares >= 0.0) & (shares <= 1.0)).all()


def test_a_full_text_search_looks_for_each_telling_word_once() -> None:
    assert asked_terms('Where are the signs of this sign?') == ['where', 'sign']
    assert asked_terms('to be') == ['to', 'be']


def test_a_word_is_met_in_its_other_forms() -> None:
    texts = ['Anna painted a wall', 'a painting', 'a pain', 'ROOM 417B']
    assert (shares_among('What does Anna paint?', texts) > 0).tolist() == [True, True, False, False]
    assert (shares_among('417b', texts) > 0).tolist() == [False, False, False, True]
    assert rarities_among(['paints'], texts) == rarities_among(['painting'], texts) < 1


def test_words_are_found_by_the_same_terms_in_every_thread() -> None:
    of_one = term_of.__wrapped__  # behind the cache
    asked = [f'{start}{end}' for start in 'abcdefgh' for end in ('utation', 'utational', 'uting', 'uter') * 9]
    alone = [of_one(word) for word in asked]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as threads:
            together = list(threads.map(lambda _: [of_one(word) for word in asked], range(8)))
    finally:
        sys.setswitchinterval(interval)
    assert together == [alone] * 8


def test_what_was_removed_is_swept_out() -> None:
    index = WordIndex()
    for i in range(5_000):
        index.add(i % 10, f'room {i}')
    assert len(index._row_of) == 10
    assert len(index._slots) < 1_100
    assert len(index._numbers) < 1_200
    assert np.flatnonzero(scores_of(index, '4997')).tolist() == [7]
    assert not scores_of(index, '17').any()


def test_a_rare_word_tells_more_than_a_frequent_one() -> None:
    index = WordIndex()
    for i in range(50):
        index.add(i, 'A door with a sign')
    index.add(50, 'A wall, Dedalus')
    assert int(scores_of(index, 'the door with Dedalus').argmax()) == 50


def test_a_text_of_mean_length_with_every_word_has_all_of_it() -> None:
    index = WordIndex()
    index.add(0, 'A door with a sign')
    index.add(1, 'A lift with a lamp')
    assert index.shares('where did you see a door and a sign').tolist() == pytest.approx([1.0, 0.0])
    half, nothing = index.shares('a door and a fountain')
    assert 0.5 > half > nothing == 0.0


def test_words_that_are_nowhere_and_texts_without_words_score_nothing() -> None:
    index = WordIndex()
    assert scores_of(index, 'sofa').shape == (0,)
    index.add(2, '...')
    assert scores_of(index, 'sofa').tolist() == [0.0, 0.0, 0.0]
    assert index.shares('').tolist() == [0.0, 0.0, 0.0]
    index.remove(7)
    index.remove(2)
    assert not index.shares('sofa').any()


@given(st.text(alphabet="abcdeghinorstxyé'3", min_size=1, max_size=9))
def test_what_a_word_is_found_by_does_not_depend_on_its_length_or_letters(word: str) -> None:
    index = WordIndex()
    index.add(0, word)
    assert words(word) == [] or index.shares(word)[0] == pytest.approx(1.0)


@given(st.lists(TEXTS, max_size=6), TEXTS)
def test_shares_among_a_few_texts_are_those_of_an_index_of_them(texts: list[str], query: str) -> None:
    index = WordIndex()
    for slot, text in enumerate(texts):
        index.add(slot, text)
    assert shares_among(query, texts) == pytest.approx(index.shares(query), abs=1e-5)
