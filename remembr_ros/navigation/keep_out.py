"""Areas that no goal may lie in."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.navigation.grid import Points

_EDGE_M = 1e-6  # a point this near to an edge is on it


@dataclass(frozen=True)
class KeepOut:
    """A polygon; its edges belong to it. Where it overlaps itself an even number of times is outside.

    :param corners: x and y in the map frame [m], three or more, in either direction
    """

    corners: tuple[tuple[float, float], ...]

    @classmethod
    def parse(cls, text: str) -> 'KeepOut':
        """Return the polygon of a text such as '0 0, 4 0, 4 2.5' [m].

        :raises InvalidRequest: it is not three or more pairs of finite numbers
        """
        remedy = "give three or more corners as 'x y, x y, x y' in metres"
        try:
            corners = [tuple(float(number) for number in part.split()) for part in text.split(',')]
        except ValueError as error:
            raise InvalidRequest(f'the keep-out polygon {text!r}: {error}; {remedy}') from None
        if len(corners) < 3 or any(len(corner) != 2 for corner in corners):
            raise InvalidRequest(f'{text!r} is no keep-out polygon; {remedy}')
        if not all(math.isfinite(number) for corner in corners for number in corner):
            raise InvalidRequest(f'the keep-out polygon {text!r} is not finite; {remedy}')
        return cls(tuple((x, y) for x, y in corners))

    def contains(self, points: Points) -> NDArray[np.bool_]:
        """Return which points, shape (n, 2), lie inside or on an edge."""
        known = np.asarray(np.isfinite(points).all(axis=1))
        points = np.where(known[:, None], points, 0.0)
        x, y = points[:, :1], points[:, 1:]
        a = np.array(self.corners)
        b = np.roll(a, -1, axis=0)
        (ax, ay), (bx, by) = a.T, b.T
        crosses = (ay > y) != (by > y)
        # Only edges that cross the point's height count, and of these the height is part of the way: 0 to 1.
        part = np.where(crosses, y - ay, 0.0) / np.where(crosses, by - ay, 1.0)
        left_of = x < ax + part * (bx - ax)
        inside = (crosses & left_of).sum(axis=1) % 2 == 1
        return np.asarray(known & (inside | (_away_from_edges(points, a, b) <= _EDGE_M)))


def _away_from_edges(points: Points, a: Points, b: Points) -> Points:
    """Return each point's distance to the nearest edge from a to b [m]."""
    along = b - a
    length2 = np.maximum((along**2).sum(axis=1), 1e-300)
    offset = points[:, None, :] - a[None, :, :]
    part = np.clip((offset * along).sum(axis=2) / length2, 0.0, 1.0)
    return np.asarray(np.linalg.norm(offset - part[..., None] * along, axis=2).min(axis=1))
