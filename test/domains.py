"""ROS domains for tests: a new one each time, for a killed process haunts its domain for a while."""

import gc
import os
from collections.abc import Iterator

COUNT = 80
"""Those above 101 collide with the ports that Linux hands out; from 81 on the demo takes them."""


def domains() -> Iterator[str]:
    """Yield domains that no other worker of this test run gets."""
    workers = int(os.environ.get('PYTEST_XDIST_WORKER_COUNT', '1'))
    worker = int(os.environ.get('PYTEST_XDIST_WORKER', 'gw0').removeprefix('gw'))
    first = os.getppid() if workers > 1 else os.getpid()
    # One list more than there are workers: who takes the place of one that crashed gets domains of its own.
    # In those of the crashed one a run stood still; perhaps what that held in shared memory stayed locked.
    lists = workers + 1
    own = [str(1 + (first + i) % COUNT) for i in range(worker % lists, COUNT, lists)]
    while True:
        yield from own
        # Cycles in rclpy keep contexts, and what they offered stays in its domain, until they are collected.
        gc.collect()
