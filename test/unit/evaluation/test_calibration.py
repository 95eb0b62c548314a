import pytest

from remembr_ros.agent.offline.relevance_model import Likeness, chance
from remembr_ros.evaluation.calibration import Case, fit, report, shares


def case(score: float, covered: float, there: bool, group: str = 'a') -> Case:
    return Case(group, 'question', Likeness(score, covered, named=covered > 0.5), there)


CASES = [case(0.1 * i, 0.0, False, 'ab'[i % 2]) for i in range(6)]
CASES += [case(0.1 * i, 1.0, True, 'ab'[i % 2]) for i in range(4, 10)]


def test_what_is_there_is_told_from_what_is_not() -> None:
    by = fit(CASES)
    assert by.score > 0.0
    assert by.covered > 0.0
    assert shares(CASES, by, 0.5) == (1.0, 0.0)
    assert chance(Likeness(0.9, 1.0, True), by) > 0.9


def test_both_outcomes_weigh_the_same() -> None:
    # Nothing tells them apart, and there are many more of one.
    even = fit([case(0.5, 0.5, True), *[case(0.5, 0.5, False)] * 9])
    assert chance(Likeness(0.5, 0.5, False), even) == pytest.approx(0.5, abs=0.01)


def test_the_report_leaves_each_group_out() -> None:
    lines = report(CASES).splitlines()
    assert [line.split('|')[1].strip() for line in lines[-3:]] == [
        'a, not fitted on',
        'b, not fitted on',
        'all, fitted on',
    ]
    assert lines[-1].split('|')[2:4] == [' 6 ', ' 6 ']
