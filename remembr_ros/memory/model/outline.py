"""Where and when memories are, as columns: what a map or a timeline of very many is drawn from."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

MAX_ID = 64  # bytes of an id


@dataclass(frozen=True, slots=True, eq=False)
class Outline:
    """Every memory without what was seen, in the order of start and id; columns of shape (memories,).

    :param ids: zero-padded bytes, dtype S64
    :param start_ns: since the Unix epoch, int64
    :param end_ns: the same
    :param x: in the map frame [m], float64; NaN: unplaced; so are y and z
    :param robot: index into names, uint16
    :param map_id: the same
    :param source: the same
    :param names: of robots, maps and sources
    """

    ids: NDArray[np.bytes_]
    start_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    z: NDArray[np.float64]
    robot: NDArray[np.uint16]
    map_id: NDArray[np.uint16]
    source: NDArray[np.uint16]
    names: tuple[str, ...]

    def __len__(self) -> int:
        """Return how many memories there are."""
        return len(self.ids)
