import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembr_bench.evaluation.metrics import scores


def test_ranks_and_recall():
    assert scores.rank(['a', 'b', 'c'], frozenset(('c', 'b'))) == 2
    assert scores.rank(['a'], frozenset('b')) is None
    assert scores.rank([], frozenset('b')) is None
    ranks = [1, 3, None, 6]
    assert [scores.found_at(k, ranks) for k in (1, 5, 10)] == [1, 2, 3]
    figures = scores.retrieval_json(ranks)
    assert (figures['recall@1'], figures['recall@5']) == (0.25, 0.5)
    assert figures['mrr'] == pytest.approx((1 + 1 / 3 + 1 / 6) / 4)


@given(st.lists(st.none() | st.integers(1, 20), min_size=1))
def test_recall_grows_with_k(ranks):
    values = [scores.found_at(k, ranks) for k in range(1, 21)]
    assert values == sorted(values)
    assert values[0] / len(ranks) <= scores.retrieval_json(ranks)['mrr'] + 1e-12
    assert values[-1] == sum(r is not None for r in ranks)


def test_the_figures_are_those_at_each_cutoff():
    assert scores.retrieval_json([1, 7, None]) == {
        'recall@1': pytest.approx(1 / 3),
        'recall@5': pytest.approx(1 / 3),
        'recall@10': pytest.approx(2 / 3),
        'recall@15': pytest.approx(2 / 3),
        'mrr': pytest.approx((1 + 1 / 7) / 3),
    }
    assert set(scores.retrieval_json([]).values()) == {None}
