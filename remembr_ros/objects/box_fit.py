"""Fits one box to the boxes of many sightings."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
"""Shape (3,) [m] in the map."""

SeenBox = tuple[Vector, float]
"""Least coordinates, greatest ones, negative, and by what they were shifted, shape (9,); standard deviation
of the middle [m]."""

INNER = 0.15  # share of the edges at each end that is left out
STRAY = 0.04  # the same for large things, which are hardly ever seen whole
PART, PART_OFF_M = 0.4, 0.15  # of its diagonal from above: what is so small, and not outside, is a part of it
POSE_STD_M = 0.02  # of what many sightings come to: localisation errs alike in all of them


def bounds(boxes: Sequence[SeenBox], left_out: float) -> tuple[Vector, Vector]:
    """Return least and greatest coordinates of the box that reaches as far as these, shape (3,) each [m].

    :param left_out: share of the outermost edges at each end that does not count
    """
    rows = np.array([edges for edges, _ in boxes])
    edge = np.quantile(rows[:, :6], left_out, axis=0)
    # Where it is, is the mean of where it was seen, of how far off each whole frame was, too.
    shift = rows[:, 6:].sum(axis=0) / len(rows)
    return edge[:3] - shift, -edge[3:] - shift


def std_of(boxes: Sequence[SeenBox], measured: bool) -> float:
    """Return the standard deviation of the middle of a box that is made of these [m].

    :param measured: by depth; how far off a place without depth is does not become less with more looks
    """
    stds = np.array([std_m for _, std_m in boxes])
    return POSE_STD_M + (float(np.sum(stds**-2.0)) ** -0.5 if measured else float(stds.min()))


def overlap(boxes_seen: Sequence[SeenBox], others: Sequence[SeenBox]) -> bool:
    """Tell whether the middle ones of these boxes overlap."""
    middle, other = (np.median([edges[:6] for edges, _ in boxes], axis=0) for boxes in (boxes_seen, others))
    return bool(np.all((middle[:3] <= -other[3:]) & (other[:3] <= -middle[3:])))


def near(boxes: Sequence[SeenBox], low: Vector, high: Vector) -> list[SeenBox]:
    """Return those of these boxes that overlap a box; all of them, where none does.

    What is seen beside a thing is its neighbour, of which a part was taken for it.
    """
    return [seen for seen in boxes if np.all((seen[0][:3] <= high) & (-seen[0][3:6] >= low))] or [*boxes]


def is_part(box: tuple[Vector, Vector], whole: tuple[Vector, Vector]) -> bool:
    """Tell whether a box shows a part of another one, as through a door; of each least and greatest [m]."""
    (low, high), (least, greatest) = box, whole
    inside = np.all((low >= least - PART_OFF_M) & (high <= greatest + PART_OFF_M))
    return bool(inside and np.linalg.norm((high - low)[:2]) < PART * np.linalg.norm((greatest - least)[:2]))
