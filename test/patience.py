"""Deadlines in tests, on machines that do other things besides."""

import os
import time
from collections.abc import Callable


def patiently(seconds: float) -> float:
    """Return how long what is done in so many seconds may take: as long, where the cores are free for it.

    It grows with the processes that want a core: those of this test run, which are there from the start, and
    what the load average, which needs a minute to notice, knows of others.
    """
    cores = os.cpu_count() or 1
    workers = int(os.environ.get('PYTEST_XDIST_WORKER_COUNT', '1'))
    return seconds * max(1.0, workers / cores, os.getloadavg()[0] / cores)


def holds_within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Wait until a condition holds; return whether it does in time."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True
