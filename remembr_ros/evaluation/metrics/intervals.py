"""95 % intervals of fractions and of means over questions."""

import math
from collections.abc import Sequence

import numpy as np

Z = 1.959963984540054  # of the standard normal distribution: 95 % lie within
RESAMPLES = 10_000


def wilson_interval(successes: float, n: int) -> tuple[float, float] | None:
    """Return the 95 % score interval of a fraction (Wilson 1927), good for small n and near 0 and 1.

    :param successes: out of n; not whole where each question counts by its mean over seeds
    :return: None over nothing
    """
    if n == 0:
        return None
    p, z2 = successes / n, Z * Z
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z / (1 + z2 / n) * math.sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    # Rounding must not take the fraction itself out of its interval.
    return min(max(centre - half, 0.0), p), max(min(centre + half, 1.0), p)


def bootstrap_interval(groups: Sequence[Sequence[float]], *, seed: int = 0) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of the mean over all values, resampling whole groups.

    :param groups: values that belong together, such as the seeds of one question
    :param seed: of the resampling: the same values give the same interval, in whatever order
    :return: None over nothing
    """
    # In an order of their own: questions that run at once end in any.
    groups = sorted(sorted(group) for group in groups if group)
    if not groups:
        return None
    sums = np.array([math.fsum(group) for group in groups])
    sizes = np.array([len(group) for group in groups])
    drawn = np.random.default_rng(seed).integers(0, len(groups), (RESAMPLES, len(groups)))
    low, high = np.quantile(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), [0.025, 0.975])
    return float(low), float(high)
