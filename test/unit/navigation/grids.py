"""Small grids, drawn with characters."""

import math
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from remembr_ros.geometry import Pose
from remembr_ros.navigation.grid import Grid

AT_ZERO = Pose(0.0, 0.0)
CHARACTERS = {'.': 0, '#': 100, '?': -1, 'i': 99, 'o': 50}


def drawn(*rows: str, resolution: float = 1.0, origin: Pose = AT_ZERO, occupied_from: int = 65) -> Grid:
    """Return the grid of rows of characters, the one at the top first: y points up."""
    data = [CHARACTERS[character] for row in reversed(rows) for character in row]
    return Grid.from_data(
        data,
        width=len(rows[0]),
        height=len(rows),
        resolution=resolution,
        origin=origin,
        occupied_from=occupied_from,
    )


def points_of(places: Sequence[tuple[float, float]]) -> np.ndarray:
    """Return places [m] as points, shape (n, 2)."""
    return np.array(places, dtype=np.float64).reshape(-1, 2)


POSES = st.builds(Pose, st.floats(-50, 50), st.floats(-50, 50), st.just(0.0), st.floats(-math.pi, math.pi))


@st.composite
def grids(draw: st.DrawFn) -> Grid:
    """Return a grid of up to 12 x 12 cells, anywhere, turned by any angle."""
    height, width = draw(st.integers(1, 12)), draw(st.integers(1, 12))
    values = draw(
        st.lists(st.sampled_from([0, 0, 50, 100, -1]), min_size=height * width, max_size=height * width)
    )
    return Grid.from_data(
        np.array(values, dtype=np.int8),
        width=width,
        height=height,
        resolution=draw(st.sampled_from([0.05, 0.25, 1.0])),
        origin=draw(POSES),
    )


def all_cells(grid: Grid) -> np.ndarray:
    """Return row and column of every cell."""
    return np.argwhere(np.ones(grid.cells.shape, dtype=bool))
