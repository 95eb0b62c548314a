"""Map cells of very many memories, and the neighbours of one, from an Outline."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.outline import MAX_ID, Outline
from remembr_ros.memory.model.recall import Scope

MOST_CELLS = 4000  # of one request: a screen shows fewer dots apart
_CELLS_A_SIDE = 2**20

Box = tuple[float, float, float, float]
"""Least x and y, greatest x and y [m] in the map frame."""


@dataclass(frozen=True, slots=True, eq=False)
class Clusters:
    """Memories by cell; columns of shape (cells,).

    :param cell_m: side of a cell; cells of one side lie the same whatever is asked
    :param total: how many memories all of them have
    :param x: mean place [m]; so is y
    :param newest_ns: end of the one that ended last
    :param ids: of the memory where a cell has one, else empty
    :param robots: of which all memories of a cell are; None: of several
    """

    cell_m: float
    total: int
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    count: NDArray[np.int64]
    newest_ns: NDArray[np.int64]
    ids: tuple[str, ...]
    robots: tuple[str | None, ...]


def scope_mask(outline: Outline, scope: Scope) -> NDArray[np.bool_]:
    """Return which memories are in a scope, as Scope.admits tells; shape (memories,)."""
    found = np.ones(len(outline), bool)
    if scope.after_ns is not None:
        found &= outline.end_ns >= scope.after_ns
    if scope.before_ns is not None:
        found &= outline.start_ns <= scope.before_ns
    if scope.robots:
        found &= name_mask(outline, outline.robot, scope.robots)
    if scope.map_id is not None:
        found &= name_mask(outline, outline.map_id, (scope.map_id,))
    if scope.source is not None:
        found &= name_mask(outline, outline.source, (scope.source,))
    if scope.near is not None and scope.radius_m is not None:
        x, y, z = scope.near
        away = np.hypot(np.hypot(outline.x - x, outline.y - y), outline.z - z)
        found &= away <= scope.radius_m  # false of NaN
    if scope.area is not None:
        found &= scope.area.covers(np.column_stack((outline.x, outline.y, outline.z)))
    return found


def name_mask(outline: Outline, column: NDArray[np.uint16], names: Sequence[str]) -> NDArray[np.bool_]:
    wanted = [number for number, name in enumerate(outline.names) if name in names]
    return np.isin(column, np.asarray(wanted, np.uint16))


def clusters(
    outline: Outline, scope: Scope, box: Box | None, cell_m: float, most: int = MOST_CELLS, *, but: str = ''
) -> Clusters:
    """Return the placed memories of a scope by cell.

    The box grows to whole cells, so that a cell has the same memories wherever one looks from.

    :param box: None: everywhere
    :param cell_m: side of a cell; doubled until there are no more of them than the most
    :param most: 4 or more, for so many meet at the origin, however large they are
    :param but: the source of memories that do not count
    :raises InvalidRequest: box or cell make no sense
    """
    if not (math.isfinite(cell_m) and cell_m > 0.0):
        raise InvalidRequest(f'{cell_m} is not the side of a cell; give metres above 0')
    low_x, low_y, high_x, high_y = checked_box(box)
    counted = scope_mask(outline, scope) & ~name_mask(outline, outline.source, (but,))
    rows = np.flatnonzero(counted & np.isfinite(outline.x) & np.isfinite(outline.y))
    x, y = outline.x[rows], outline.y[rows]
    while True:
        column, row = np.floor(x / cell_m), np.floor(y / cell_m)
        inside = (column >= np.floor(low_x / cell_m)) & (column <= np.floor(high_x / cell_m))
        inside &= (row >= np.floor(low_y / cell_m)) & (row <= np.floor(high_y / cell_m))
        column, row = column[inside], row[inside]
        if not len(column):
            break
        column, row = column - column.min(), row - row.min()
        if max(column.max(), row.max()) < _CELLS_A_SIDE:
            keys = column.astype(np.int64) * _CELLS_A_SIDE + row.astype(np.int64)
            if 1 + np.count_nonzero(np.diff(np.sort(keys))) <= most:
                break
        cell_m *= 2.0
    rows = rows[inside]
    if not len(rows):
        none, nothing = np.empty(0), np.empty(0, np.int64)
        return Clusters(cell_m, 0, none, none, nothing, nothing, (), ())
    rows = rows[order := np.argsort(keys, kind='stable')]
    firsts = np.flatnonzero(np.diff(keys[order], prepend=-1))
    count = np.diff(firsts, append=len(rows))
    ids = outline.ids[rows[firsts]].tolist()
    robot = outline.robot[rows].astype(np.int32)
    alone = np.minimum.reduceat(robot, firsts) == np.maximum.reduceat(robot, firsts)
    return Clusters(
        cell_m,
        len(rows),
        np.add.reduceat(outline.x[rows], firsts) / count,
        np.add.reduceat(outline.y[rows], firsts) / count,
        count,
        np.maximum.reduceat(outline.end_ns[rows], firsts),
        tuple(name.decode() if own else '' for name, own in zip(ids, (count == 1).tolist(), strict=True)),
        tuple(None if n < 0 else outline.names[n] for n in np.where(alone, robot[firsts], -1).tolist()),
    )


def newest_in(outline: Outline, scope: Scope, box: Box) -> list[str]:
    """Return the ids of the memories of a scope that were made in a box, those that ended last first."""
    x0, y0, x1, y1 = checked_box(box)
    inside = scope_mask(outline, scope) & (outline.x >= x0) & (outline.x <= x1)  # false of NaN
    rows = np.flatnonzero(inside & (outline.y >= y0) & (outline.y <= y1))
    ordered = rows[np.argsort(-outline.end_ns[rows], kind='stable')]
    return [name.decode() for name in outline.ids[ordered].tolist()]


def before_and_after(outline: Outline, memory_id: str) -> tuple[str | None, str | None]:
    """Return which memory of the same robot comes before and which after one; None where there is none.

    :param memory_id: one that is not there has neither
    """
    name = memory_id.encode(errors='replace')
    if len(name) > MAX_ID or b'\0' in name or not (at := np.flatnonzero(outline.ids == name)).size:
        return None, None
    same = np.flatnonzero(outline.robot == outline.robot[at[0]])
    place = int(np.searchsorted(same, at[0]))
    before, after = same[max(place - 1, 0) : place], same[place + 1 : place + 2]
    ids = [outline.ids[row[0]].decode() if len(row) else None for row in (before, after)]
    return ids[0], ids[1]


def checked_box(box: Sequence[float] | None) -> Box:
    """Return a box that makes sense; of None, everywhere.

    :raises InvalidRequest: it makes none
    """
    if box is None:
        return -math.inf, -math.inf, math.inf, math.inf
    if len(box) != 4 or not all(map(math.isfinite, box)) or box[0] > box[2] or box[1] > box[3]:
        raise InvalidRequest(f'{tuple(box)} is no part of a map; give x0,y0,x1,y1 in metres, least first')
    return box[0], box[1], box[2], box[3]
