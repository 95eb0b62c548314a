"""Ways on a grid, beside what is known of such grids."""

import math
from itertools import pairwise

import numpy as np
import pytest

from remembr_bench.simulation.ways import Ways
from remembr_ros.geometry import Pose
from remembr_ros.navigation.grid import Grid


def walled(*, door: bool = True) -> Grid:
    """Return a room of 4 m by 4 m with a wall across its middle, which has a door of 1 m at its end."""
    cells = np.zeros((80, 80), np.int8)
    cells[:, 39:41] = 100
    if door:
        cells[:20, 39:41] = 0
    return Grid(cells, 0.05, Pose(0.0, 0.0))


def test_the_way_leads_through_the_door_and_turns_only_where_it_has_to() -> None:
    ways = Ways(walled(), 0.2)
    way = ways.way((1.0, 3.0), (3.0, 3.0))
    assert way[0] == (1.0, 3.0)
    assert way[-1] == (3.0, 3.0)
    assert 3 <= len(way) <= 8
    length = sum(math.dist(a, b) for a, b in pairwise(way))
    by_the_corners = 2 * math.dist((1.0, 3.0), (1.8, 0.75)) + 0.4
    assert length == pytest.approx(by_the_corners, abs=0.3)
    metres = ways.metres((1.0, 3.0), np.array([(3.0, 3.0)]))
    assert length - 0.1 <= metres[0] <= 1.09 * length  # from cell to cell is at most 8 % longer


def test_where_no_way_leads_there_is_none() -> None:
    ways = Ways(walled(door=False), 0.2)
    assert ways.way((1.0, 3.0), (3.0, 3.0)) == []
    assert ways.metres((1.0, 3.0), np.array([(3.0, 3.0), (1.0, 1.0)])).tolist() == [
        math.inf,
        pytest.approx(2.0, abs=0.06),
    ]


def test_who_stands_in_an_obstacle_starts_beside_it() -> None:
    assert Ways(walled(), 0.2).way((1.95, 3.0), (1.0, 3.0))[-1] == (1.0, 3.0)


def test_a_wide_robot_fits_through_no_narrow_door() -> None:
    assert Ways(walled(), 1.1).way((1.0, 3.0), (3.0, 3.0)) == []
