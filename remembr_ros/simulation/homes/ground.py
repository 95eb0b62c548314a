"""The map that a robot has of a home: what it could run into, seen from above."""

import numpy as np

from remembr_ros.geometry import Pose
from remembr_ros.navigation.grid import Grid
from remembr_ros.simulation.homes.home import Home, Visit

CELL_M = 0.05
ROBOT_HEIGHT_M = 1.3
_LOW_M = 0.02  # what is not higher is floor


def ground(home: Home, visit: Visit, closed: str = '') -> Grid:
    """Return the map during a visit: occupied where anything stands in the way, free elsewhere.

    :param closed: the name of a room that is occupied as a whole; empty: none is
    """
    columns, rows = (int(np.ceil(side / CELL_M)) for side in home.size)
    cells = np.zeros((rows, columns), np.int8)
    boxes = [(solid.low, solid.high) for _, solid in home.solids(visit)]
    boxes += [((*room.low, 0.0), (*room.high, 1.0)) for room in home.rooms if room.name == closed]
    for low, high in boxes:
        if high[2] > _LOW_M and low[2] < ROBOT_HEIGHT_M:
            (x0, x1), (y0, y1) = (
                (max(int(np.floor(low[i] / CELL_M)), 0), int(np.ceil(high[i] / CELL_M))) for i in range(2)
            )
            cells[y0:y1, x0:x1] = 100
    return Grid(cells, CELL_M, Pose(0.0, 0.0))
