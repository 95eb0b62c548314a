"""How recall and storing fare beside each other: a writer, a deleter and eight readers on one memory."""

import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from remembr_ros.errors import RemembrError
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from test.bench.figure import Figure

SECONDS = float(os.environ.get('REMEMBR_BENCH_SECONDS', '120'))
READERS = 8
BEGIN = 500
"""Memories that are there before."""

NS = 10**9
THINGS = ('door', 'lift', 'plant', 'sofa', 'sink', 'stairs', 'desk', 'window', 'bin', 'printer')


class Timings:
    """How long each call took [ms], and how many failed."""

    def __init__(self) -> None:
        self.taken: list[float] = []
        self.errors = 0

    def measure(self, act: Callable[[], object]) -> None:
        begin = time.perf_counter()
        try:
            act()
        except (RemembrError, OSError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            self.errors += 1
            print(f'{type(error).__name__}: {error}', file=sys.stderr)
        self.taken.append(1e3 * (time.perf_counter() - begin))

    def percentile(self, share: float) -> float:
        return float(np.percentile(self.taken, share)) if self.taken else float('nan')


def observation(number: int) -> Observation:
    caption = ' '.join(
        f'There is a {THINGS[(number * (1 + i) + i) % 10]} of room {number + i}.' for i in range(5)
    )
    start_ns = number * 3 * NS
    return Observation(Memory(f'm{number}', 'r', start_ns, start_ns + NS, caption, Pose(number % 97, 0.0)))


def run() -> list[Figure]:
    """Measure recall alone and storing alone, then all at once."""
    with (
        tempfile.TemporaryDirectory() as folder,
        open_store(str(Path(folder) / 'memory.db'), 'hashing') as store,
    ):
        store.add([observation(i) for i in range(BEGIN)])
        recall_alone, _, _ = _work(store, SECONDS / 12, BEGIN, writers=0, readers=1)
        _, insert_alone, _ = _work(store, SECONDS / 12, BEGIN, writers=1, readers=0)
        first = BEGIN + len(insert_alone.taken)
        recall, insert, delete = _work(store, SECONDS, first, writers=1, readers=READERS)
    calls = len(recall.taken) + len(insert.taken) + len(delete.taken)
    errors = recall.errors + insert.errors + delete.errors
    title = f'1 writer, 1 deleter, {READERS} readers'
    return [
        *_percentiles(f'recall, {title}', recall, recall_alone),
        *_percentiles(f'insert, {title}', insert, insert_alone),
        Figure(f'{title}: without an error', calls - errors, calls, 'calls', calls),
    ]


def _percentiles(name: str, busy: Timings, alone: Timings) -> list[Figure]:
    return [
        Figure(f'{name}: p{share}', busy.percentile(share), alone.percentile(share), 'ms')
        for share in (50, 95)
    ]


def _work(
    store: MemoryStore, seconds: float, first: int, *, writers: int, readers: int
) -> tuple[Timings, Timings, Timings]:
    end = time.monotonic() + seconds
    recall, insert, delete = Timings(), Timings(), Timings()
    newest = first

    def write() -> None:
        nonlocal newest
        while time.monotonic() < end:
            insert.measure(partial(store.add, [observation(newest)]))
            newest += 1

    def forget() -> None:
        doomed = 0
        pause = threading.Event()
        while not pause.wait(0.5) and time.monotonic() < end:
            delete.measure(partial(store.forget, [f'm{doomed}'], leave_traces=True))
            doomed += 1

    def read(seed: int) -> None:
        chance = np.random.default_rng(seed)
        while time.monotonic() < end:
            number = int(chance.integers(newest))
            recall.measure(partial(store.find, Query(f'a {THINGS[number % 10]} of room {number}')))

    with ThreadPoolExecutor(READERS + 2) as pool:
        working = [pool.submit(read, seed) for seed in range(readers)]
        working += [pool.submit(job) for job in (write, forget)[: 2 * writers]]
        for future in working:
            future.result()
    return recall, insert, delete


if __name__ == '__main__':
    for figure in run():
        print(f'{figure.name}: {figure.value:.1f} against {figure.baseline:.1f} {figure.unit}')
