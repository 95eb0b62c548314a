"""The building's floor as an occupancy grid, in the files of nav2_map_server."""

import math
from pathlib import Path

import cv2
import numpy as np

from remembr_ros.simulation.building import Building, Solid

RESOLUTION_M = 0.05
MARGIN_M = 1.0  # around the outermost walls
LIDAR_M = 0.3  # What stands at this height is in the way
FREE, OCCUPIED, UNKNOWN = 254, 0, 205  # As map_saver writes them


def write_floor_map(folder: Path, building: Building) -> Path:
    """Write map.yaml and map.pgm as a robot that saw every room would have saved them.

    :param folder: is there
    :return: map.yaml
    """
    solids = [solid for thing in building.things for solid in thing.solids]
    there = [*building.walls, *(solid for solid in solids if solid.low[2] <= LIDAR_M <= solid.high[2])]
    low = [min(wall.low[axis] for wall in building.walls) - MARGIN_M for axis in (0, 1)]
    high = [max(wall.high[axis] for wall in building.walls) + MARGIN_M for axis in (0, 1)]
    width, height = (math.ceil((high[axis] - low[axis]) / RESOLUTION_M) for axis in (0, 1))
    cells = np.full((height, width), UNKNOWN, np.uint8)
    margin = round(MARGIN_M / RESOLUTION_M)
    cells[margin:-margin, margin:-margin] = FREE
    for solid in there:
        rows, columns = (_cells(solid, axis, low[axis]) for axis in (1, 0))
        cells[rows, columns] = OCCUPIED
    # The picture's first row is the farthest north.
    if not cv2.imwrite(str(folder / 'map.pgm'), cells[::-1]):
        raise OSError(f'cannot write {folder / "map.pgm"}')
    file = folder / 'map.yaml'
    file.write_text(
        f'image: map.pgm\nmode: trinary\nresolution: {RESOLUTION_M}\n'
        f'origin: [{low[0]:.3f}, {low[1]:.3f}, 0.0]\n'
        'negate: 0\noccupied_thresh: 0.65\nfree_thresh: 0.25\n'
    )
    return file


def _cells(solid: Solid, axis: int, origin: float) -> slice:
    """Return which rows or columns a solid covers, at least one."""
    first = math.floor((solid.low[axis] - origin) / RESOLUTION_M)
    return slice(first, max(first + 1, math.ceil((solid.high[axis] - origin) / RESOLUTION_M)))
