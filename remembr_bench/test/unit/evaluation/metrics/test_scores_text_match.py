import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_bench.evaluation.metrics.scores import exact_match, token_f1


@pytest.mark.parametrize(
    ('answer', 'reference', 'exact', 'f1'),
    [
        ('The red car.', 'a red car', True, 1.0),
        ('red', 'red car', False, 2 / 3),
        ('blue', 'red', False, 0.0),
        ('It was a red, red car', 'red car', False, pytest.approx(2 * 2 / (5 + 2))),
        ('', 'red', False, 0.0),
        ('the', '', True, 1.0),
    ],
)
def test_words_count_without_case_punctuation_and_articles(answer, reference, exact, f1):
    assert exact_match(answer, reference) is exact
    assert token_f1(answer, reference) == f1


@given(st.text(), st.text())
def test_f1_is_symmetric_and_one_for_the_same(a, b):
    assert 0.0 <= token_f1(a, b) == token_f1(b, a) <= 1.0
    assert token_f1(a, a) == 1.0
    assert exact_match(a, a)
