"""Runs calls in parallel, bounded by the question's deadline."""

import contextvars
import logging
import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from remembr_ros.agent.planner import Run
from remembr_ros.errors import RemembrError, StoreUnavailable

logger = logging.getLogger(__name__)

_T = TypeVar('_T')

POLL_S = 0.05  # How soon a cancelled question stops waiting

_waited_for: contextvars.ContextVar[bool] = contextvars.ContextVar('waited_for', default=False)
"""True in a thread that is waited for already."""


def in_parallel(jobs: Sequence[Callable[[], _T]], run: Run) -> list[_T | RemembrError]:
    """Return what each job returns or raises, in the order of the jobs.

    A job that hangs is left to itself: its thread keeps neither the question nor the process. What a job does
    in parallel itself is done one by one.

    :raises Cancelled, BudgetExceeded: the question ended before the last job
    """
    run.check()
    if _waited_for.get():
        return [_outcome(job) for job in jobs]
    done: queue.SimpleQueue[tuple[int, _T | RemembrError]] = queue.SimpleQueue()

    def work(number: int, job: Callable[[], _T]) -> None:
        _waited_for.set(True)
        done.put((number, _outcome(job)))

    for number, job in enumerate(jobs):
        # The context: a deadline that the caller set for its recall holds in the thread, too.
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(work, number, job), name='recall', daemon=True).start()
    outcomes: dict[int, _T | RemembrError] = {}
    while len(outcomes) < len(jobs):
        try:
            number, outcome = done.get(timeout=min(POLL_S, max(run.remaining_s, 0.001)))
            outcomes[number] = outcome
        except queue.Empty:
            run.check()
    return [outcomes[number] for number in range(len(jobs))]


def _outcome(job: Callable[[], _T]) -> _T | RemembrError:
    try:
        return job()
    except RemembrError as error:
        return error
    except Exception as error:
        logger.exception('a recall failed')
        return StoreUnavailable(f'the recall failed: {error!r}')
