import pytest

from remembr_bench.evaluation.metrics.scores import bootstrap_interval


def test_the_bootstrap_is_the_same_each_time_and_holds_the_mean():
    groups = [[0.0], [1.0], [1.0], [0.0, 1.0], [1.0]]
    low, high = bootstrap_interval(groups)
    assert bootstrap_interval(groups) == (low, high)
    assert low < 4 / 6 < high
    assert bootstrap_interval([[2.0], [2.0]]) == (2.0, 2.0)
    assert bootstrap_interval([]) is None
    assert bootstrap_interval([[]]) is None


def test_the_bootstrap_does_not_depend_on_the_order_of_questions():
    groups = [[1.0]] * 17 + [[0.0]] * 9 + [[1.0, 0.0]]
    assert bootstrap_interval(groups) == bootstrap_interval(groups[::-1])


def test_the_bootstrap_takes_seeds_of_a_question_together():
    """A question asked ten times says no more than when it is asked once."""
    once = [[float(i % 2)] for i in range(20)]
    assert bootstrap_interval([group * 10 for group in once]) == pytest.approx(bootstrap_interval(once))
