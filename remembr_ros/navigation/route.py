"""In which order to visit several places."""

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

# So many places are ordered exactly, by trying every order; more by the nearest neighbour, improved by 2-opt.
EXACT_UP_TO = 8

Place = tuple[float, float]


def shortest_order(places: Sequence[Place], start: Place | None = None) -> list[int]:
    """Return the indices of the places in the order of a short way through all of them, by straight lines.

    The way ends at the last one. Up to EXACT_UP_TO places it is the shortest there is.

    :param start: where the way begins; None: at whichever place is best
    """
    if len(places) < 2:
        return list(range(len(places)))
    points = np.array(places, dtype=np.float64)
    between = np.hypot(*(points[:, None] - points[None, :]).transpose(2, 0, 1))
    first = np.zeros(len(places)) if start is None else np.hypot(*(points - start).T)
    if len(places) <= EXACT_UP_TO:
        return _exact(between, first)
    starts = range(len(places)) if start is None and len(places) <= 50 else [int(np.argmin(first))]
    tours = [_two_opt(_nearest_neighbour(between, at), between, first) for at in starts]
    return min(tours, key=lambda tour: _length(tour, between, first))


def _length(tour: Sequence[int], between: NDArray[np.float64], first: NDArray[np.float64]) -> float:
    return float(first[tour[0]] + sum(between[a, b] for a, b in itertools.pairwise(tour)))


def _exact(between: NDArray[np.float64], first: NDArray[np.float64]) -> list[int]:
    orders = np.array(list(itertools.permutations(range(len(first)))))[:, ::-1]
    lengths = first[orders[:, 0]] + between[orders[:, :-1], orders[:, 1:]].sum(axis=1)
    shortest: list[int] = orders[np.argmin(lengths)].tolist()
    return shortest


def _nearest_neighbour(between: NDArray[np.float64], at: int) -> list[int]:
    order, left = [at], set(range(len(between))) - {at}
    while left:
        order.append(min(left, key=lambda i: (between[order[-1], i], i)))
        left.remove(order[-1])
    return order


def _two_opt(order: list[int], between: NDArray[np.float64], first: NDArray[np.float64]) -> list[int]:
    """Turn parts of the way round as long as that makes it shorter."""
    improved = True
    while improved:
        improved = False
        for i, j in itertools.combinations(range(len(order)), 2):
            a, b = order[i], order[j]
            into_a, into_b = (first[a], first[b]) if i == 0 else (between[order[i - 1], [a, b]])
            gain = into_a - into_b
            if j + 1 < len(order):
                gain += between[b, order[j + 1]] - between[a, order[j + 1]]
            if gain > 1e-9:
                order[i : j + 1] = order[i : j + 1][::-1]
                improved = True
    return order
