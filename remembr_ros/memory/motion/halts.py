"""When a robot stood, from the path that its memories lack.

A memory has the mean pose of some seconds and the length of the path through them. A stop may be shorter than
these seconds, or lie in two memories.
"""

import math
from collections.abc import Iterator, Sequence

from remembr_ros.memory.motion.track import Track
from remembr_ros.timestamps import NS

STANDS_M_PER_S = 0.1  # Poses that are 1 cm off make a robot that stands this fast at most
BRAKES_M_PER_S2 = 0.5  # As robots among people do; the time that braking takes is not stood
SLOW = 0.55  # Share of the usual speed below which a memory may hold a stop; corners are driven faster
SHORTEST_STOP_S = 0.5  # [s]
ONE_STOP_M = 1.0  # Between two stops the robot drives farther than this


def halts(track: Track) -> Iterator[tuple[int, int]]:
    """Yield the times in which the robot stood: those for which there is no path, less what braking took."""
    speeds = [track.speed(i) for i in range(len(track.memories))]
    stood = [
        speed < STANDS_M_PER_S or memory.merged > 1
        for speed, memory in zip(speeds, track.memories, strict=True)
    ]
    moving = sorted(speed for speed in speeds if speed >= STANDS_M_PER_S)
    usual = moving[3 * len(moving) // 4] if moving else 0.0  # m/s
    slow = [still or speed < SLOW * usual for still, speed in zip(stood, speeds, strict=True)]
    for run in _runs(track, slow):
        still = [i for i in run if stood[i]]
        if not still and len(run) > 2:
            continue  # It drove slowly
        first, last = (max(run[0], still[0] - 1), min(run[-1], still[-1] + 1)) if still else (run[0], run[-1])
        # Of a stop shorter than a memory a neighbour may have the rest.
        ends = [
            (one, other)
            for one, other in ((first, last), (first - 1, last), (first, last + 1), (first - 1, last + 1))
            if one >= 0
            and other < len(stood)
            and ((one, other) == (first, last) or all(stood[one + 1 : other]))
        ]
        alone, *with_neighbours = (_halt(track, one, other, usual) for one, other in ends)
        found = alone if _lasts(alone) else max([alone, *with_neighbours], key=lambda halt: halt[1] - halt[0])
        if _lasts(found):
            yield found


def _lasts(halt: tuple[int, int]) -> bool:
    return halt[1] - halt[0] >= SHORTEST_STOP_S * NS


def _runs(track: Track, wanted: Sequence[bool]) -> list[list[int]]:
    """Return the memories that are wanted, those one after the other and at one place together."""
    found: list[list[int]] = []
    for i, one in enumerate(wanted):
        if not one:
            continue
        if found and found[-1][-1] == i - 1 and track.between_m[i - 1] <= ONE_STOP_M:
            found[-1].append(i)
        else:
            found.append([i])
    return found


def _halt(track: Track, first: int, last: int, usual: float) -> tuple[int, int]:
    """Return when the robot stood, of some memories in which it came, stood and went; it may end early."""
    starts, ends = first == 0, last == len(track.memories) - 1
    into_m, out_m = track.driven_m[first], track.driven_m[last]
    if first == last:
        into_m, out_m = (0.0, out_m) if starts else (into_m, 0.0) if ends else (into_m / 2, out_m / 2)
    start_ns = track.memories[first].start_ns + round(_braking_s(into_m, usual) * NS)
    end_ns = track.memories[last].end_ns - round(_braking_s(out_m, usual) * NS)
    return start_ns, end_ns


def _braking_s(metres: float, speed: float) -> float:
    """Return how long the last metres before a stop take, or the first after it [s]."""
    slope_m = speed**2 / (2.0 * BRAKES_M_PER_S2)
    if metres <= slope_m or speed <= 0.0:
        return math.sqrt(2.0 * metres / BRAKES_M_PER_S2)
    return speed / BRAKES_M_PER_S2 + (metres - slope_m) / speed
