import logging
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_ros.agent.model.confidence import (
    cited_confidence,
    in_a_word,
    is_calibrated,
    lacking,
    logistic,
    shown_confidence,
)
from remembr_ros.embedding.embedders import OFFLINE
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory


def _said(score: float, embedder: str) -> str:
    return in_a_word(shown_confidence(Hit(Memory('m', 'robot', 0, 1, 'A bench.'), score), 1.0, embedder))


def test_an_embedder_has_several_names() -> None:
    assert is_calibrated(f'sentence-transformers/{OFFLINE}')
    assert _said(0.8, OFFLINE) == _said(0.8, f'sentence-transformers/{OFFLINE}') == 'surely'


def test_an_embedder_that_nobody_measured_is_never_sure_and_says_so_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    assert not is_calibrated('a/new-one')
    with caplog.at_level(logging.WARNING):
        assert {_said(score, 'a/new-one') for score in (0.2, 0.9, 1.0)} <= {'hardly', 'perhaps', 'likely'}
    assert caplog.text.count("'a/new-one' are not calibrated") == 1


def test_cited_memories_that_say_what_was_asked_are_surer(make_memory: Callable[..., Memory]) -> None:
    bench, corridor = make_memory(0, 'A wooden bench by a tree.'), make_memory(1, 'A corridor.')

    def sure(*hits: Hit) -> float:
        return cited_confidence('Where did you see a bench?', hits, OFFLINE)

    assert sure() == 0.0
    assert sure(Hit(corridor, 0.3)) < 0.5 < sure(Hit(bench, 0.7))
    assert sure(Hit(corridor, 0.3), Hit(bench, 0.7)) == sure(Hit(bench, 0.7))


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2), st.floats(0.0, 1.0))
def test_a_probability_is_one(weights: list[float], feature: float) -> None:
    assert 0.0 < logistic(weights, [feature]) < 1.0


@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.sampled_from([OFFLINE, 'new']))
def test_more_words_and_a_higher_score_make_a_thing_likelier(
    score: float, one: float, other: float, embedder: str
) -> None:
    short = Memory('m', 'robot', 0, 1, 'A bench.')
    low, high = sorted((one, other))

    def sure(scored: float, covered: float) -> float:
        return shown_confidence(Hit(short, scored), covered, embedder)

    assert sure(score, low) <= sure(score, high)
    assert sure(low, score) <= sure(high, score)


def test_a_short_text_without_the_word_says_more_than_a_long_one() -> None:
    short, long = (Memory('m', 'robot', 0, 1, 'A bench. ' * times) for times in (1, 100))
    assert lacking(short, 0.0) == 1.0 > lacking(long, 0.0) > lacking(long, 1.0) == 0.0
    assert shown_confidence(Hit(short, 0.5), 0.0, OFFLINE) < shown_confidence(Hit(long, 0.5), 0.0, OFFLINE)
