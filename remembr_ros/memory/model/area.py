"""A part of a map that a scope can be narrowed to."""

import math
from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from remembr_ros.geometry import Point

LOW_M, HIGH_M = 1.5, 2.5  # so far below and above its floor it reaches: maps drift, and may have storeys


def reaches(height: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which heights above a floor [m] belong to it."""
    return np.asarray((height >= -LOW_M) & (height <= HIGH_M))


@dataclass(frozen=True, slots=True)
class Area:
    """What of a map counts as a place.

    :param shape: [m]
    :param floor: its height [m]
    """

    shape: BaseGeometry
    floor: float

    def covers(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Return which points, shape (n, 3) [m], lie in it; those on its border do."""
        inside = shapely.intersects_xy(self.shape, points[:, 0], points[:, 1])
        return np.asarray(inside & reaches(points[:, 2] - self.floor))

    @property
    def sphere(self) -> tuple[Point, float]:
        """A center and a radius [m] around all of it."""
        x0, y0, x1, y1 = self.shape.bounds
        radius = math.hypot((x1 - x0) / 2.0, (y1 - y0) / 2.0, HIGH_M)
        return ((x0 + x1) / 2.0, (y0 + y1) / 2.0, self.floor), radius * (1.0 + 1e-9)
