"""Where and when memories are, as columns for drawing maps and timelines of very many."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.geometry import Point

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

    def without(self, source: str) -> 'Outline':
        """Return it without the memories of a source."""
        if source not in self.names:
            return self
        left = self.source != self.names.index(source)
        columns = {field.name: getattr(self, field.name) for field in fields(self) if field.name != 'names'}
        return Outline(**{name: column[left] for name, column in columns.items()}, names=self.names)


UNPLACED: Point = (np.nan, np.nan, np.nan)


def make_outline(
    ids: NDArray[np.bytes_],
    start_ns: NDArray[np.int64],
    end_ns: NDArray[np.int64],
    points: NDArray[np.float64],
    names: Sequence[tuple[NDArray[Any], Sequence[str]]],
) -> Outline:
    """Return the outline of memories in any order.

    :param points: shape (memories, 3); NaN: unplaced
    :param names: for robot, map and source: each memory's index among texts, and these texts
    """
    order = np.lexsort((ids, start_ns))
    texts: list[str] = []
    indices = []
    for index, labels in names:
        indices.append((index[order] + len(texts)).astype(np.uint16))
        texts += labels
    robot, map_id, source = indices
    x, y, z = (np.ascontiguousarray(points[order, axis]) for axis in range(3))
    return Outline(ids[order], start_ns[order], end_ns[order], x, y, z, robot, map_id, source, tuple(texts))


def outline_of(rows: Iterable[tuple[str, int, int, Point | None, str, str, str]]) -> Outline:
    """Return the outline of memories given as id, start, end, place, robot, map and source."""
    columns = list(zip(*rows, strict=True)) or [()] * 7
    points = [UNPLACED if point is None else point for point in columns[3]]
    names = [np.unique(np.array(column, object), return_inverse=True) for column in columns[4:]]
    return make_outline(
        np.array([memory_id.encode() for memory_id in columns[0]], f'S{MAX_ID}'),
        np.array(columns[1], np.int64),
        np.array(columns[2], np.int64),
        np.array(points, np.float64).reshape(-1, 3),
        [(inverse.reshape(-1), texts.tolist()) for texts, inverse in names],
    )
