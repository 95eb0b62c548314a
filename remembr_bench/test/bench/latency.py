"""How long calls take."""

import time
from collections.abc import Callable, Iterable
from typing import TypeVar

import numpy as np

T = TypeVar('T')


def timed(call: Callable[[T], object], arguments: Iterable[T]) -> tuple[float, float]:
    """Return p50 and p95 of a call over its arguments [ms]."""
    times = []
    for argument in arguments:
        began = time.perf_counter()
        call(argument)
        times.append(1e3 * (time.perf_counter() - began))
    return float(np.percentile(times, 50)), float(np.percentile(times, 95))
