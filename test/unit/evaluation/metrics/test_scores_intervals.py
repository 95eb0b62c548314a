import pytest

from remembr_ros.evaluation.metrics.scores import bootstrap_interval, wilson_interval


def test_wilson_as_published():
    # Newcombe 1998, table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    for k, n, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        assert wilson_interval(k, n) == pytest.approx((low, high), abs=5e-5)


def test_wilson_holds_the_fraction_and_stays_between_0_and_1():
    for n in (1, 3, 7, 90):
        for k in range(n + 1):
            low, high = wilson_interval(k, n)
            assert 0.0 <= low <= k / n <= high <= 1.0
    assert wilson_interval(0, 0) is None


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
