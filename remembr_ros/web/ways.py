"""The paths that robots took, from the positions in an Outline."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.motion.track import GAP_NS
from remembr_ros.web.overview import Box, admitted, checked_box, named

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Trail:
    """A stretch of a robot's way on one map, in the order of time; columns of shape (points,).

    :param x: in the map frame [m], to the millimetre; so is y
    :param time_ns: when the robot came there
    """

    robot: str
    map_id: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    time_ns: NDArray[np.int64]


def tracks(outline: Outline, scope: Scope, points: int, box: Box | None = None) -> list[Trail]:
    """Return the ways of the robots, by the memories that they made themselves, robot by robot.

    A way is broken where the robot was on another map or out of the scope, where it leaves the box, and where
    no place is known for so long that a track ends there, too (remembr_ros.memory.motion.track).

    :param points: of all ways together at most; the ones that matter least to their shape are left out, and
        beyond a third as many ways the shortest
    :param box: None: everywhere; with the one point before and after it, where the line crosses its edge
    :raises InvalidRequest: the number or the box makes no sense
    """
    if points < 3:
        raise InvalidRequest(f'{points} points make no way; ask for 3 or more')
    where, begins, _ = ways_of(outline, admitted(outline, scope))
    if box is not None:
        where, begins = _within(outline, where, begins, checked_box(box))
    where, begins = _thinned(outline, where, begins, points)
    x, y, time_ns = outline.x[where].round(3), outline.y[where].round(3), outline.start_ns[where]
    found = []
    for first, last in _runs(begins):
        robot, map_id = (outline.names[column[where[first]]] for column in (outline.robot, outline.map_id))
        found.append(Trail(robot, map_id, x[first:last], y[first:last], time_ns[first:last]))
    return found


def ways_of(outline: Outline, inside: NDArray[np.bool_]) -> tuple[Indices, NDArray[np.bool_], Indices]:
    """Return the robots' own placed memories that are inside, robot by robot in the order of time; where a
    way begins; and until when the robot's memories before each of them last [ns], its start if less."""
    own = np.isfinite(outline.x) & np.isfinite(outline.y) & named(outline, outline.source, ('captioner',))
    order = np.flatnonzero(own)
    order = order[np.argsort(outline.robot[order], kind='stable')]
    at = np.flatnonzero(inside[order])
    where = order[at]
    robot, start_ns, end_ns = outline.robot[where], outline.start_ns[where], outline.end_ns[where]
    changes = np.diff(robot.astype(np.int64), prepend=-1) != 0
    until_ns = start_ns.copy()
    for first, last in _runs(changes):
        np.maximum.accumulate(end_ns[first : last - 1], out=until_ns[first + 1 : last])
    begins = changes | (np.diff(at, prepend=-2) != 1)
    begins |= np.diff(outline.map_id[where].astype(np.int64), prepend=-1) != 0
    begins |= start_ns - until_ns > GAP_NS
    return where, begins, until_ns


def steps_of(outline: Outline, where: Indices, begins: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how far each place is from the one before on the same way [m]; 0 at the first."""
    steps = np.zeros(len(where))
    steps[1:] = np.hypot(np.diff(outline.x[where]), np.diff(outline.y[where]))
    steps[begins] = 0.0
    return steps


def _runs(begins: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return where runs begin and end, the end exclusive."""
    firsts = np.flatnonzero(begins)
    return list(zip(firsts.tolist(), [*firsts[1:].tolist(), len(begins)], strict=False))


def _within(
    outline: Outline, where: Indices, begins: NDArray[np.bool_], box: Box
) -> tuple[Indices, NDArray[np.bool_]]:
    """Return the points of lines that may cross the box, and the lone ones inside it."""
    kept, crosses = np.ones(len(where), bool), ~begins[1:]
    for values, low, high in ((outline.x, box[0], box[2]), (outline.y, box[1], box[3])):
        of = values[where]
        kept &= (of >= low) & (of <= high)
        crosses &= (np.maximum(of[1:], of[:-1]) >= low) & (np.minimum(of[1:], of[:-1]) <= high)
    kept[1:] |= crosses
    kept[:-1] |= crosses
    broken = begins.copy()
    broken[1:] |= ~crosses
    return where[kept], broken[kept]


def _thinned(
    outline: Outline, where: Indices, begins: NDArray[np.bool_], points: int
) -> tuple[Indices, NDArray[np.bool_]]:
    """Leave out points until there are no more than asked for: of each stretch of the same length that one is
    kept which lies farthest off the straight line past it; and the ends of each way."""
    if len(where) <= points:
        return where, begins
    steps = steps_of(outline, where, begins)
    firsts = np.flatnonzero(begins)
    if len(firsts) > points // 3:
        lengths = np.add.reduceat(steps, firsts)
        chosen = np.zeros(len(firsts), bool)
        chosen[np.argsort(-lengths, kind='stable')[: points // 3]] = True
        kept = np.repeat(chosen, np.diff(firsts, append=len(where)))
        where, begins, steps = where[kept], begins[kept], steps[kept]
        if len(where) <= points:
            return where, begins
    way = np.cumsum(begins)
    path = np.cumsum(steps)
    shares = points - 3 * int(way[-1])
    stretch = np.floor(path * (shares / path[-1])) if path[-1] > 0.0 else np.zeros(len(path))
    opens = begins | (np.diff(stretch, prepend=-1.0) != 0.0)
    starts = np.flatnonzero(opens)
    ends = np.append(starts[1:], len(where)) - 1
    past = np.minimum(ends + 1, len(where) - 1)
    enter = np.where(begins[starts], starts, starts - 1)
    leave = np.where(begins[past], ends, past)
    x, y, of = outline.x[where], outline.y[where], np.cumsum(opens) - 1
    detour = np.zeros(len(where))
    for end in (enter, leave):
        detour += np.hypot(x - x[end][of], y - y[end][of])
    farthest = np.flatnonzero(detour == np.maximum.reduceat(detour, starts)[of])
    kept = begins | np.append(begins[1:], True)
    kept[farthest[np.flatnonzero(np.diff(of[farthest], prepend=-1))]] = True
    return where[kept], begins[kept]
