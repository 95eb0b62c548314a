import pytest

from remembr_ros.agent.model.confidence import logistic
from test.bench.planner_calibration import THERE, Case, fit, left_out, report


def case(score: float, covered: float, there: bool, group: str = 'a') -> Case:
    return Case(group, (score, covered), there)


CASES = [case(0.1 * i, 0.0, False, 'ab'[i % 2]) for i in range(6)]
CASES += [case(0.1 * i, 1.0, True, 'ab'[i % 2]) for i in range(4, 10)]


def test_what_is_there_is_told_from_what_is_not() -> None:
    by = fit(CASES)
    assert min(by[1:]) > 0.0
    assert all((logistic(by, one.features) >= 0.5) is one.there for one in CASES)


def test_the_outcomes_weigh_as_often_as_they_are_taken_to_be() -> None:
    # Nothing tells them apart, and there are many more of one.
    even = [case(0.5, 0.5, True), *[case(0.5, 0.5, False)] * 9]
    assert logistic(fit(even), (0.5, 0.5)) == pytest.approx(THERE, abs=0.01)
    assert logistic(fit(even, 0.5), (0.5, 0.5)) == pytest.approx(0.5, abs=0.01)


def test_each_group_is_left_out() -> None:
    told = dict(left_out(CASES))
    by = fit([one for one in CASES if one.group == 'b'])
    assert told[CASES[0]] == logistic(by, CASES[0].features)


def test_the_report_tells_both_outcomes_and_how_often_what_is_likely_is_there() -> None:
    seen, _, reliable = report(CASES).partition('\n\n')
    assert [line.split('|')[1].strip() for line in seen.splitlines()[-3:]] == ['a', 'b', 'all']
    assert seen.splitlines()[-1].split('|')[2:4] == [' 6 ', ' 6 ']
    assert sum(int(line.split('|')[2]) for line in reliable.splitlines()[2:]) == len(CASES)
