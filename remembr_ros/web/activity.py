"""What robots did over time (stored, drove, stood), and the ways they took, computed from an Outline."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.motion.track import GAP_NS, STANDS_M_PER_S
from remembr_ros.timestamps import MAX_NS, NS
from remembr_ros.web.overview import Box, checked_box, name_mask, scope_mask

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
    rows, begins, _ = ways_of(outline, scope_mask(outline, scope))
    if box is not None:
        rows, begins = _within(outline, rows, begins, checked_box(box))
    rows, begins = _thinned(outline, rows, begins, points)
    x, y, time_ns = outline.x[rows].round(3), outline.y[rows].round(3), outline.start_ns[rows]
    found = []
    for first, last in _runs(begins):
        robot, map_id = (outline.names[column[rows[first]]] for column in (outline.robot, outline.map_id))
        found.append(Trail(robot, map_id, x[first:last], y[first:last], time_ns[first:last]))
    return found


def ways_of(outline: Outline, inside: NDArray[np.bool_]) -> tuple[Indices, NDArray[np.bool_], Indices]:
    """Return the robots' own placed memories that are inside, robot by robot in the order of time; where a
    way begins; and until when the robot's memories before each of them last [ns], its start if less."""
    own = np.isfinite(outline.x) & np.isfinite(outline.y) & name_mask(outline, outline.source, ('captioner',))
    order = np.flatnonzero(own)
    order = order[np.argsort(outline.robot[order], kind='stable')]
    at = np.flatnonzero(inside[order])
    rows = order[at]
    robot, start_ns, end_ns = outline.robot[rows], outline.start_ns[rows], outline.end_ns[rows]
    changes = np.diff(robot.astype(np.int64), prepend=-1) != 0
    until_ns = start_ns.copy()
    for first, last in _runs(changes):
        np.maximum.accumulate(end_ns[first : last - 1], out=until_ns[first + 1 : last])
    begins = changes | (np.diff(at, prepend=-2) != 1)
    begins |= np.diff(outline.map_id[rows].astype(np.int64), prepend=-1) != 0
    begins |= start_ns - until_ns > GAP_NS
    return rows, begins, until_ns


def steps_of(outline: Outline, rows: Indices, begins: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return how far each place is from the one before on the same way [m]; 0 at the first."""
    steps = np.zeros(len(rows))
    steps[1:] = np.hypot(np.diff(outline.x[rows]), np.diff(outline.y[rows]))
    steps[begins] = 0.0
    return steps


def _runs(begins: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Return where runs begin and end, the end exclusive."""
    firsts = np.flatnonzero(begins)
    return list(zip(firsts.tolist(), [*firsts[1:].tolist(), len(begins)], strict=False))


def _within(
    outline: Outline, rows: Indices, begins: NDArray[np.bool_], box: Box
) -> tuple[Indices, NDArray[np.bool_]]:
    """Return the points of lines that may cross the box, and the lone ones inside it."""
    kept, crosses = np.ones(len(rows), bool), ~begins[1:]
    for values, low, high in ((outline.x, box[0], box[2]), (outline.y, box[1], box[3])):
        ends = values[rows]
        kept &= (ends >= low) & (ends <= high)
        crosses &= (np.maximum(ends[1:], ends[:-1]) >= low) & (np.minimum(ends[1:], ends[:-1]) <= high)
    kept[1:] |= crosses
    kept[:-1] |= crosses
    broken = begins.copy()
    broken[1:] |= ~crosses
    return rows[kept], broken[kept]


def _thinned(
    outline: Outline, rows: Indices, begins: NDArray[np.bool_], points: int
) -> tuple[Indices, NDArray[np.bool_]]:
    """Leave out points until there are no more than asked for: of each stretch of the same length that one is
    kept which lies farthest off the straight line past it; and the ends of each way."""
    if len(rows) <= points:
        return rows, begins
    steps = steps_of(outline, rows, begins)
    firsts = np.flatnonzero(begins)
    if len(firsts) > points // 3:
        lengths = np.add.reduceat(steps, firsts)
        chosen = np.zeros(len(firsts), bool)
        chosen[np.argsort(-lengths, kind='stable')[: points // 3]] = True
        kept = np.repeat(chosen, np.diff(firsts, append=len(rows)))
        rows, begins, steps = rows[kept], begins[kept], steps[kept]
        if len(rows) <= points:
            return rows, begins
    way = np.cumsum(begins)
    path = np.cumsum(steps)
    shares = points - 3 * int(way[-1])
    stretch = np.floor(path * (shares / path[-1])) if path[-1] > 0.0 else np.zeros(len(path))
    opens = begins | (np.diff(stretch, prepend=-1.0) != 0.0)
    starts = np.flatnonzero(opens)
    ends = np.append(starts[1:], len(rows)) - 1
    past = np.minimum(ends + 1, len(rows) - 1)
    enter = np.where(begins[starts], starts, starts - 1)
    leave = np.where(begins[past], ends, past)
    x, y, run = outline.x[rows], outline.y[rows], np.cumsum(opens) - 1
    detour = np.zeros(len(rows))
    for end in (enter, leave):
        detour += np.hypot(x - x[end][run], y - y[end][run])
    farthest = np.flatnonzero(detour == np.maximum.reduceat(detour, starts)[run])
    kept = begins | np.append(begins[1:], True)
    kept[farthest[np.flatnonzero(np.diff(run[farthest], prepend=-1))]] = True
    return rows[kept], begins[kept]


_DAY_S = 86_400
_LEAST_GAP_NS = 3600 * NS
_MOST_GAPS = 8  # a timeline of more would be gaps above all
ROUND_S = (1, 5, 15, 60, 300, 900, 3600, 10_800, 21_600, _DAY_S, 7 * _DAY_S, 30 * _DAY_S)
"""How long a bin of the timeline may be [s]; of longer times so many days as it takes."""


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """What happened in each bin of time; columns of shape (bins,).

    :param start_ns: of the first bin
    :param bin_s: how long each is
    :param stored: memories that began in it; those that began before the first bin are counted there
    :param driving_s: how long robots drove, all of them together; so is standing_s
    """

    start_ns: int
    bin_s: int
    stored: NDArray[np.int64]
    driving_s: NDArray[np.float64]
    standing_s: NDArray[np.float64]

    def bins_of(self, times_ns: Sequence[int]) -> NDArray[np.int64]:
        """Return how many of these times lie in each bin."""
        bins = [(time_ns - self.start_ns) // (self.bin_s * NS) for time_ns in times_ns]
        inside = [number for number in bins if 0 <= number < len(self.stored)]
        return np.bincount(np.asarray(inside, np.int64), minlength=len(self.stored))


def activity(outline: Outline, scope: Scope, bins: int, zone: tzinfo = timezone.utc) -> Activity:
    """Return what was stored, and how long robots drove and stood, over the window of the scope.

    Where the window is open it is that of the memories. A robot's time counts once, however many cameras it
    has; it drove while it got on faster than poses waver (remembr_ros.memory.motion.track).

    :param bins: at most so many; their length is one of ROUND_S
    :param zone: in whose days, as they are when the window begins, a bin of hours or days begins
    :raises InvalidRequest: the number makes no sense
    """
    if bins < 1:
        raise InvalidRequest(f'{bins} bins make no timeline; ask for one or more')
    inside = scope_mask(outline, scope)
    starts, ends = outline.start_ns[inside], outline.end_ns[inside]
    known = (int(starts.min()), int(ends.max())) if len(starts) else (scope.before_ns, scope.after_ns)
    first_ns = scope.after_ns if scope.after_ns is not None else known[0]
    last_ns = scope.before_ns if scope.before_ns is not None else known[1]
    first_ns, last_ns = first_ns or 0, max(first_ns or 0, min(last_ns or 0, MAX_NS))
    zone_ns = _offset_ns(zone, first_ns)
    bin_s = _bin_length(first_ns + zone_ns, last_ns + zone_ns, bins)
    length_ns = bin_s * NS
    start_ns = (first_ns + zone_ns) // length_ns * length_ns - zone_ns
    size = (last_ns - start_ns) // length_ns + 1
    stored = np.bincount(np.clip((starts - start_ns) // length_ns, 0, size - 1), minlength=size)
    begun_ns, ended_ns, drives = _motion(outline, inside)
    seconds = _seconds((begun_ns - start_ns) / NS, (ended_ns - start_ns) / NS, drives, bin_s=bin_s, size=size)
    return Activity(start_ns, bin_s, stored, driving_s=seconds[1], standing_s=seconds[0])


def gaps(outline: Outline) -> list[tuple[int, int]]:
    """Return from when to when nothing was remembered for so long that it hides the rest [ns], in order: the
    longest times between memories, each longer than all that is left without them."""
    ends_ns = np.maximum.accumulate(outline.end_ns)
    empty_ns = outline.start_ns[1:] - ends_ns[:-1]
    longest = np.argsort(-empty_ns)[:_MOST_GAPS]
    left_ns = ends_ns[-1:] - outline.start_ns[:1] - np.cumsum(empty_ns[longest])
    hiding = np.flatnonzero(empty_ns[longest] > np.maximum(left_ns, _LEAST_GAP_NS))
    after = np.sort(longest[: hiding.max(initial=-1) + 1])
    return list(zip(ends_ns[after].tolist(), outline.start_ns[after + 1].tolist(), strict=True))


def _motion(outline: Outline, inside: NDArray[np.bool_]) -> tuple[Indices, Indices, NDArray[np.bool_]]:
    """Return from when to when robots were seen [ns], and whether they drove: within each memory, and between
    two on the same way."""
    rows, begins, until_ns = ways_of(outline, inside)
    start_ns, end_ns = outline.start_ns[rows], outline.end_ns[rows]
    middle_s = (start_ns - start_ns.min(initial=MAX_NS)) / NS + (end_ns - start_ns) / (2 * NS)
    took_s = np.diff(middle_s, prepend=0.0)
    timed = (took_s > 0.0) & ~begins  # two cameras see at the same time
    speed = np.divide(steps_of(outline, rows, begins), took_s, out=np.zeros(len(rows)), where=timed)
    # Of a memory: the mean of the speeds on its two sides, as far as it has these.
    next_speed, next_timed = (np.append(column, 0)[1:] for column in (speed, timed))
    own = (speed + next_speed) / np.maximum(timed + next_timed, 1)
    begun_ns = np.concatenate([np.maximum(start_ns, until_ns), until_ns[~begins]])
    ended_ns = np.concatenate([end_ns, start_ns[~begins]])
    drives = np.concatenate([own, speed[~begins]]) >= STANDS_M_PER_S
    lasts = ended_ns > begun_ns
    return begun_ns[lasts], ended_ns[lasts], drives[lasts]


def _offset_ns(zone: tzinfo, time_ns: int) -> int:
    offset = datetime.fromtimestamp(time_ns // NS, zone).utcoffset() or timedelta()
    return int(offset.total_seconds()) * NS


def _bin_length(first_ns: int, last_ns: int, bins: int) -> int:
    """Return the shortest round length of which so many bins hold both times [s]."""

    def needed(length_s: int) -> int:
        return last_ns // (length_s * NS) - first_ns // (length_s * NS) + 1

    for length_s in ROUND_S:
        if needed(length_s) <= bins:
            return length_s
    days = -(-(last_ns - first_ns) // (_DAY_S * NS * bins))
    while needed(days * _DAY_S) > bins:
        days += 1 + days // 8
    return days * _DAY_S


def _seconds(
    begun_s: NDArray[np.float64],
    ended_s: NDArray[np.float64],
    drives: NDArray[np.bool_],
    *,
    bin_s: int,
    size: int,
) -> NDArray[np.float64]:
    """Return how much of these times lies in each bin [s], shape (2, bins): stood, then driven.

    :param begun_s: since the start of the first bin; so is ended_s
    """
    begun_s, ended_s = (np.clip(times, 0.0, float(size * bin_s)) for times in (begun_s, ended_s))
    first = np.minimum(begun_s / bin_s, size - 1).astype(np.int64)
    parts = np.minimum(ended_s / bin_s, size - 1).astype(np.int64) - first + 1
    row = np.repeat(np.arange(len(parts)), parts)
    number = np.arange(len(row)) - (np.cumsum(parts) - parts - first)[row]
    share = np.minimum(ended_s[row], (number + 1) * bin_s) - np.maximum(begun_s[row], number * bin_s)
    both = np.bincount(number + size * drives[row], weights=share, minlength=2 * size)
    return np.asarray(both, np.float64).reshape(2, size)
