import logging

import pytest

from remembr_ros.memory.problem import PERIOD_S, Problem


def test_a_problem_is_told_at_once_logged_now_and_then_and_its_end_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    now = 0.0
    problem = Problem(logging.getLogger('test'), 'stored without', 'kept again', lambda: now)
    with caplog.at_level(logging.INFO):
        assert problem.text == ''
        problem.report('')
        for _ in range(5):
            problem.report('full')
        assert problem.text == 'full'
        now = PERIOD_S
        problem.report('broken')
        problem.report('')
        problem.report('')
    assert problem.text == ''
    assert [r.getMessage() for r in caplog.records] == [
        'stored without: full',
        'stored without: broken',
        'kept again',
    ]
