import threading
from collections.abc import Callable
from typing import Any

import pytest

from remembr_ros.errors import BudgetExceeded, InvalidRequest
from remembr_ros.web.jobs import Job, Jobs
from test.unit.web.fake_backend import eventually


def made(told: list[Job]) -> Jobs[Job]:
    def full() -> BudgetExceeded:
        return BudgetExceeded('too many')

    return Jobs(told.append, full, at_a_time=1, most_waiting=1, most_kept=2)


def test_jobs_are_done_in_turn_and_the_last_ones_kept() -> None:
    told: list[Job] = []
    jobs, go_on = made(told), threading.Event()

    def wait(tell: Callable[..., object], cancel: threading.Event) -> dict[str, Any]:
        tell(stage='thinking')
        assert go_on.wait(20.0)
        return {'stage': 'answered'}

    first, second = (jobs._start(Job(asker, 0, 'waiting'), wait) for asker in 'ab')
    with pytest.raises(BudgetExceeded):
        jobs._start(Job('c', 0, 'waiting'), wait)
    go_on.set()
    eventually(lambda: all(job.is_over for job in jobs.all()))
    stages = [(job.asker, job.stage) for job in told]
    for asker in 'ab':
        assert [stage for who, stage in stages if who == asker] == ['waiting', 'thinking', 'answered']
    jobs._start(Job('d', 0, 'waiting'), wait)
    assert [job.asker for job in jobs.all()] == ['b', 'd']
    assert jobs.get(first.id) is None
    with pytest.raises(InvalidRequest, match='over'):
        jobs.cancel(second.id)


def test_closing_ends_what_is_done_and_what_waits() -> None:
    told: list[Job] = []
    jobs = made(told)

    def wait(tell: Callable[..., object], cancel: threading.Event) -> dict[str, Any]:
        assert cancel.wait(20.0)
        return {'stage': 'answered'}

    for asker in 'ab':
        jobs._start(Job(asker, 0, 'waiting'), wait)
    jobs.close()
    assert [(job.stage, job.error) for job in jobs.all()] == [('cancelled', 'the server was stopped')] * 2
    eventually(lambda: not jobs._running)
    assert not any(job.stage == 'answered' for job in told)
