"""Deadlines in tests, on machines that do other things besides."""

import os


def patiently(seconds: float) -> float:
    """Return how long what is done in so many seconds may take where the cores have other things to do."""
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    return seconds * 1.5 * max(1.0, load)
