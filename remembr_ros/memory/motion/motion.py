"""How a robot moved, from the poses of its memories: stops, turns, and the legs between them.

A memory has the mean pose of some seconds. A corner may lie within one or two of these: it shows as the yaw
of their neighbours; see remembr_ros.memory.motion.track for stops.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import groupby, islice, takewhile

from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.motion.track import ONE_STOP_M, Track, halts, tracks
from remembr_ros.timestamps import NS

TURN_RAD = math.radians(15.0)  # A smaller change of heading is no turn but a wiggle
SHARP_RAD = math.radians(8.0)  # Of which one memory to the next has this much at least: a road may wind
STILL_RAD = math.radians(3.0)  # Less between two memories is the noise of their yaw
VALLEY = 0.6  # Share of the changes around it below which a change of heading divides two turns


class Motion(str, Enum):
    """What a robot does for a while."""

    STANDING = 'standing'
    DRIVING = 'driving'
    LEFT = 'turning left'
    RIGHT = 'turning right'


@dataclass(frozen=True, slots=True)
class Stretch:
    """A time in which a robot did one thing.

    :param start: where it was at the beginning, in the map frame
    :param driven_m: length of the path
    :param turned_rad: from the heading before to the one after, counter-clockwise positive
    :param memories: that show it, in the order of time
    """

    motion: Motion
    start_ns: int
    end_ns: int
    start: Pose | None
    end: Pose | None
    driven_m: float
    turned_rad: float
    memories: tuple[Memory, ...]

    @property
    def seconds(self) -> float:
        return (self.end_ns - self.start_ns) / NS

    @property
    def speed(self) -> float:
        """Mean speed [m/s]."""
        return self.driven_m / self.seconds if self.end_ns > self.start_ns else 0.0


@dataclass(frozen=True, slots=True)
class _Part:
    """A stop or a turn within a track: when, and by how much the heading changed [rad]."""

    motion: Motion
    start_ns: int
    end_ns: int
    turned_rad: float = 0.0


@dataclass(frozen=True, slots=True)
class _Change:
    """A change of heading [rad] between two times."""

    start_ns: int
    end_ns: int
    rad: float


def stretches(memories: Iterable[Memory]) -> list[Stretch]:
    """Return how the robots moved, in the order of time.

    A stretch of one robot follows the one before without a gap, unless there are no memories for a while.

    :param memories: in any order, of any robots and maps
    """
    found = [stretch for track in tracks(memories) for stretch in _stretches(track)]
    return sorted(found, key=lambda stretch: (stretch.start_ns, stretch.end_ns))


def stops(moves: Sequence[Stretch]) -> list[Stretch]:
    """Return the stops; a robot that turns where it stands has not gone on."""
    found: list[list[Stretch]] = []
    for way in _ways(moves):
        driven_m = math.inf
        for stretch in way:
            if stretch.motion is not Motion.STANDING:
                driven_m += stretch.driven_m
            elif driven_m <= ONE_STOP_M:
                found[-1].append(stretch)
                driven_m = 0.0
            else:
                found.append([stretch])
                driven_m = 0.0
    return _joined(Motion.STANDING, found)


def legs(moves: Sequence[Stretch]) -> list[Stretch]:
    """Return what was driven from stop to stop, turns included."""
    found: list[list[Stretch]] = []
    for way in _ways(moves):
        for standing, stretches_there in groupby(way, lambda stretch: stretch.motion is Motion.STANDING):
            found += [] if standing else [list(stretches_there)]
    return _joined(Motion.DRIVING, found)


def turns(moves: Sequence[Stretch], motion: Motion | None = None) -> list[Stretch]:
    """Return the turns; only those to the left or to the right, where it is said."""
    wanted = (Motion.LEFT, Motion.RIGHT) if motion is None else (motion,)
    return [stretch for stretch in moves if stretch.motion in wanted]


def _ways(moves: Sequence[Stretch]) -> list[list[Stretch]]:
    """Return stretches of one robot on one map that follow each other."""
    found: list[list[Stretch]] = []
    last: dict[tuple[str, str], list[Stretch]] = {}
    for stretch in moves:
        robot = stretch.memories[0].robot, stretch.memories[0].map_id
        if robot not in last or last[robot][-1].end_ns != stretch.start_ns:
            last[robot] = []
            found.append(last[robot])
        last[robot].append(stretch)
    return found


def _joined(motion: Motion, found: Sequence[Sequence[Stretch]]) -> list[Stretch]:
    """Return each group as one stretch, in the order of time."""
    joined = (
        Stretch(
            motion,
            group[0].start_ns,
            group[-1].end_ns,
            group[0].start,
            group[-1].end,
            sum(stretch.driven_m for stretch in group),
            sum(stretch.turned_rad for stretch in group),
            tuple({memory.id: memory for stretch in group for memory in stretch.memories}.values()),
        )
        for group in found
    )
    return sorted(joined, key=lambda stretch: (stretch.start_ns, stretch.end_ns))


def _stretches(track: Track) -> Iterator[Stretch]:
    at_ns, last_ns = track.memories[0].start_ns, track.memories[-1].end_ns
    stood = [_Part(Motion.STANDING, *halt) for halt in halts(track)]
    turned = list(_turns(track, stood))
    standing = [part for halt in stood for part in _but_for(halt, turned)]
    parts = sorted((*standing, *turned), key=lambda part: (part.start_ns, part.end_ns))
    parts.append(_Part(Motion.DRIVING, last_ns, last_ns))
    for part, after in zip(parts, [*parts[1:], parts[-1]], strict=True):
        start_ns = max(part.start_ns, at_ns)
        end_ns = part.end_ns
        if part.motion is not Motion.STANDING:  # Where a turn reaches into a stop, it had ended
            end_ns = max(min(end_ns, after.start_ns), start_ns)
        if start_ns > at_ns or last_ns == track.memories[0].start_ns:
            yield _stretch(track, _Part(Motion.DRIVING, at_ns, start_ns))
        if end_ns > start_ns:
            yield _stretch(track, _Part(part.motion, start_ns, end_ns, part.turned_rad))
        at_ns = max(at_ns, end_ns)


def _but_for(halt: _Part, turned: Sequence[_Part]) -> Iterator[_Part]:
    """Yield what is left of a stop where the robot turned in it."""
    start_ns = halt.start_ns
    first = bisect_left(turned, halt.start_ns, key=lambda turn: turn.start_ns)
    for turn in takewhile(lambda turn: turn.end_ns <= halt.end_ns, islice(turned, first, None)):
        yield _Part(Motion.STANDING, start_ns, turn.start_ns)
        start_ns = turn.end_ns
    yield _Part(Motion.STANDING, start_ns, halt.end_ns)


def _stretch(track: Track, part: _Part) -> Stretch:
    start, end = track.pose_at(part.start_ns), track.pose_at(part.end_ns)
    if part.motion is Motion.STANDING:
        start = end = track.pose_at((part.start_ns + part.end_ns) // 2)
    driven_m = track.driven_until(part.end_ns) - track.driven_until(part.start_ns)
    first, last = bisect_left(track.starts, part.start_ns) - 1, bisect_right(track.starts, part.end_ns)
    near = track.memories[max(first, 0) : last + 1]
    shown = [memory for memory in near if _shows(memory, part)]
    if not shown:
        twice_ns = part.start_ns + part.end_ns
        shown = [min(near, key=lambda memory: abs(memory.start_ns + memory.end_ns - twice_ns))]
    return Stretch(
        part.motion, part.start_ns, part.end_ns, start, end, driven_m, part.turned_rad, tuple(shown)
    )


def _shows(memory: Memory, part: _Part) -> bool:
    """Tell whether half of a memory, or of the part, is of the other."""
    common_ns = min(memory.end_ns, part.end_ns) - max(memory.start_ns, part.start_ns)
    lengths = memory.end_ns - memory.start_ns, part.end_ns - part.start_ns
    return common_ns > 0 and 2 * common_ns >= min(lengths)


def _turns(track: Track, stood: Sequence[_Part]) -> Iterator[_Part]:
    """Yield the turns: changes of heading to one side, without a stop or a straight between."""
    runs: list[list[_Change]] = []
    for change in _changes(track, stood):
        before = runs[-1][-1] if runs else None
        if before and before.end_ns == change.start_ns and before.rad * change.rad > 0.0:
            runs[-1].append(change)
        else:
            runs.append([change])
    for run in runs:
        turned = sum(change.rad for change in run)
        if abs(turned) >= TURN_RAD and max(abs(change.rad) for change in run) >= SHARP_RAD:
            yield _Part(Motion.LEFT if turned > 0.0 else Motion.RIGHT, *_span(run), turned)


def _changes(track: Track, stood: Sequence[_Part]) -> Iterator[_Change]:
    """Yield the changes of heading from memory to memory, each in the time that it may be of.

    Those that touch each other may be of one turn.
    """
    changes = [track.turned(i) for i in range(len(track.memories) - 1)]
    size = [0.0, *map(abs, changes), 0.0]  # of that before, from one on
    ends = [halt.end_ns for halt in stood]
    for i, change in enumerate(changes):
        start_ns, end_ns = track.middles[i], track.middles[i + 1]
        sides = [changes[i - 2] * change, changes[i + 1] * change] if 2 <= i < len(changes) - 1 else [0.0]
        if min(sides) > 0.0 and min(size[i : i + 2]) < VALLEY * min(size[i - 1], size[i + 2]):
            start_ns += 1  # A straight memory between two turns takes a little of both
        among = range(bisect_right(ends, start_ns), len(stood))
        standing = [stood[k] for k in takewhile(lambda k: stood[k].start_ns < end_ns, among)]  # noqa: B023
        free = [(start_ns, end_ns)]
        if standing:
            free = [(start_ns, standing[0].start_ns), (standing[-1].end_ns, end_ns)]
            free = [(a, b) for a, b in free if a < b] or [(start_ns, end_ns)]
        shares = [1.0]
        if len(free) > 1:  # Of the turn before the stop, or of that after
            before = (size[i] + STILL_RAD) / (size[i] + size[i + 2] + 2 * STILL_RAD)
            shares = [before, 1.0 - before]
        for (a, b), share in zip(free, shares, strict=True):
            if abs(change * share) >= STILL_RAD:
                yield _Change(a, b, change * share)


def _span(changes: Sequence[_Change]) -> tuple[int, int]:
    """Return from when to when the robot turned, as if evenly.

    What turns evenly for a time w, averaged over memories of a length m, changes with the variance
    (w^2 + m^2) / 12 around its middle.
    """
    whole = sum(abs(change.rad) for change in changes)
    at = [((change.start_ns + change.end_ns) / 2, abs(change.rad) / whole) for change in changes]
    middle_ns = sum(time_ns * weight for time_ns, weight in at)
    variance = sum((time_ns - middle_ns) ** 2 * weight for time_ns, weight in at)
    length_ns = min(change.end_ns - change.start_ns for change in changes)
    half_ns = max(math.sqrt(max(12.0 * variance - length_ns**2, 0.0)), length_ns / 2) / 2
    start_ns, end_ns = changes[0].start_ns, changes[-1].end_ns
    return max(start_ns, round(middle_ns - half_ns)), min(end_ns, round(middle_ns + half_ns))
