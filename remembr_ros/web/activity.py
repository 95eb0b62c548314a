"""What robots did over time (stored, drove, stood), computed from an Outline."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone, tzinfo

import numpy as np
from numpy.typing import NDArray

from remembr_ros.errors import InvalidRequest
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.motion.track import STANDS_M_PER_S
from remembr_ros.timestamps import MAX_NS, NS
from remembr_ros.web.overview import admitted
from remembr_ros.web.ways import Indices, steps_of, ways_of

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
    inside = admitted(outline, scope)
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
    where, begins, until_ns = ways_of(outline, inside)
    start_ns, end_ns = outline.start_ns[where], outline.end_ns[where]
    middle_s = (start_ns - start_ns.min(initial=MAX_NS)) / NS + (end_ns - start_ns) / (2 * NS)
    took_s = np.diff(middle_s, prepend=0.0)
    timed = (took_s > 0.0) & ~begins  # two cameras see at the same time
    speed = np.divide(steps_of(outline, where, begins), took_s, out=np.zeros(len(where)), where=timed)
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
    of = np.repeat(np.arange(len(parts)), parts)
    number = np.arange(len(of)) - (np.cumsum(parts) - parts - first)[of]
    share = np.minimum(ended_s[of], (number + 1) * bin_s) - np.maximum(begun_s[of], number * bin_s)
    both = np.bincount(number + size * drives[of], weights=share, minlength=2 * size)
    return np.asarray(both, np.float64).reshape(2, size)
