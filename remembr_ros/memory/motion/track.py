"""The path of one robot on one map through its memories: where it was, how far it drove, where it stood."""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate, pairwise

from remembr_ros.geometry import Pose, distance, interpolate, wrap_angle
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

GAP_NS = 30 * NS  # Of a longer time without memories nobody knows how the robot moved
HEADED_M = 1.0  # From one place to another this far the robot had a heading, if nobody measured one
STAYED_M = 2.0  # Before and after a stay, a memory of several segments at one place has driven less


class Track:
    """Memories in the order of time, without gaps.

    :param memories: placed, one after the other, of one robot, map and camera
    :param poses: of each in the map frame, with the heading of the path where nobody measured one
    :param driven_m: path length within each, shape (memories,)
    :param between_m: path length from the end of each to the start of the next, shape (memories - 1,)
    """

    def __init__(
        self,
        memories: Sequence[Memory],
        poses: Sequence[Pose],
        driven_m: Sequence[float],
        between_m: Sequence[float],
    ) -> None:
        self.memories, self.poses, self.driven_m, self.between_m = memories, poses, driven_m, between_m
        self.starts = [memory.start_ns for memory in memories]
        self.middles = [(memory.start_ns + memory.end_ns) // 2 for memory in memories]
        ways = [metres for pair in zip(driven_m, [*between_m, 0.0], strict=True) for metres in pair]
        self._edges_ns = [edge for memory in memories for edge in (memory.start_ns, memory.end_ns)]
        self._until_m = [0.0, *accumulate(ways)]
        known = [
            (at_ns, pose)
            for memory, pose in zip(memories, poses, strict=True)
            for at_ns in _times_of_pose(memory)
        ]
        self._known_ns, self._known = [at_ns for at_ns, _ in known], [pose for _, pose in known]

    def seconds(self, index: int) -> float:
        """Return how long a memory is [s]; of one picture, how long until the next."""
        memory = self.memories[index]
        if memory.end_ns > memory.start_ns or index + 1 == len(self.memories):
            return (memory.end_ns - memory.start_ns) / NS
        return (self.memories[index + 1].start_ns - memory.start_ns) / NS

    def speed(self, index: int) -> float:
        """Return the mean speed in a memory [m/s]."""
        seconds = self.seconds(index)
        return self.driven_m[index] / seconds if seconds > 0.0 else 0.0

    def turned(self, index: int) -> float:
        """Return by how much the heading of the next memory differs [rad], counter-clockwise positive."""
        return wrap_angle(self.poses[index + 1].yaw - self.poses[index].yaw)

    def driven_until(self, time_ns: int) -> float:
        """Return the path length from the start of the track until a time [m]."""
        i = min(max(bisect_right(self._edges_ns, time_ns) - 1, 0), len(self._edges_ns) - 2)
        share = _share(time_ns, self._edges_ns[i], self._edges_ns[i + 1])
        return self._until_m[i] + share * (self._until_m[i + 1] - self._until_m[i])

    def pose_at(self, time_ns: int) -> Pose:
        """Return where the robot was, between the middles of memories in a straight line."""
        after = bisect_right(self._known_ns, time_ns)
        if after in (0, len(self._known)):
            return self._known[max(after - 1, 0)]
        share = _share(time_ns, self._known_ns[after - 1], self._known_ns[after])
        return interpolate(self._known[after - 1], self._known[after], share)


def tracks(memories: Iterable[Memory]) -> list[Track]:
    """Return the tracks of all robots on all maps, each as long as its memories follow each other.

    What persons and programs told, and what is unplaced, is left out; of several cameras, that of most
    memories counts. Where a clock was set back a track ends.
    """
    of_one: defaultdict[tuple[str, ...], list[Memory]] = defaultdict(list)
    cameras: Counter[tuple[str, str]] = Counter()
    for memory in memories:
        if memory.pose is not None and memory.source == 'captioner':
            of_one[memory.robot, memory.map_id, memory.frame_id].append(memory)
            cameras[memory.robot, memory.camera] += 1
    found: list[Track] = []
    for (robot, *_), seen in of_one.items():
        main = max((memory.camera for memory in seen), key=lambda camera: cameras[robot, camera])
        ordered = sorted((m for m in seen if m.camera == main), key=lambda m: (m.start_ns, m.end_ns, m.id))
        run = ordered[:1]
        for before, after in pairwise(ordered):
            if not 0 <= after.start_ns - before.end_ns <= GAP_NS:
                found.append(_track(run))
                run = []
            run.append(after)
        found.append(_track(run))
    return sorted(found, key=lambda track: (track.memories[0].start_ns, track.memories[0].id))


def _track(memories: Sequence[Memory]) -> Track:
    poses = _headed([memory.pose for memory in memories if memory.pose is not None])
    apart = [distance(a.position, b.position) for a, b in pairwise(poses)]
    driven = [memory.travelled for memory in memories]
    if not any(driven):  # Nobody measured it
        lengths = [max(memory.end_ns - memory.start_ns, 1) for memory in memories]
        shares = [metres / (a + b) for metres, (a, b) in zip(apart, pairwise(lengths), strict=True)]
        around = zip(lengths, [0.0, *shares], [*shares, 0.0], strict=True)
        driven = [length * (before + after) for length, before, after in around]
    # Who stood for long has not driven, however far the noise of poses adds up.
    driven = [
        min(metres, STAYED_M) if memory.merged > 1 else metres
        for metres, memory in zip(driven, memories, strict=True)
    ]
    between = [max(metres - (a + b) / 2, 0.0) for metres, (a, b) in zip(apart, pairwise(driven), strict=True)]
    return Track(memories, poses, driven, between)


def _headed(poses: Sequence[Pose]) -> Sequence[Pose]:
    """Return the poses with the heading of the path, where all are 0: their source knows none."""
    if any(pose.yaw for pose in poses):
        return poses
    headed: list[Pose] = []
    for before, pose, after in zip([poses[0], *poses], poses, [*poses[1:], poses[-1]], strict=False):
        yaw = headed[-1].yaw if headed else 0.0
        if distance(before.position, after.position) >= HEADED_M:
            yaw = math.atan2(after.y - before.y, after.x - before.x)
        headed.append(replace(pose, yaw=yaw))
    return headed


def _times_of_pose(memory: Memory) -> tuple[int, ...]:
    """Return when the robot was at a memory's pose: all the time that it stood, else in the middle."""
    middle_ns = (memory.start_ns + memory.end_ns) // 2
    return (memory.start_ns, memory.end_ns) if memory.merged > 1 else (middle_ns,)


def _share(time_ns: int, start_ns: int, end_ns: int) -> float:
    """Return how much of a span has passed at a time, 0 to 1."""
    return min(max((time_ns - start_ns) / max(end_ns - start_ns, 1), 0.0), 1.0)


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
            (before, after)
            for before, after in ((first, last), (first - 1, last), (first, last + 1), (first - 1, last + 1))
            if before >= 0
            and after < len(stood)
            and ((before, after) == (first, last) or all(stood[before + 1 : after]))
        ]
        alone, *with_neighbours = (_halt(track, before, after, usual) for before, after in ends)
        found = alone if _lasts(alone) else max([alone, *with_neighbours], key=lambda halt: halt[1] - halt[0])
        if _lasts(found):
            yield found


def _lasts(halt: tuple[int, int]) -> bool:
    return halt[1] - halt[0] >= SHORTEST_STOP_S * NS


def _runs(track: Track, wanted: Sequence[bool]) -> list[list[int]]:
    """Return the memories that are wanted, those one after the other and at one place together."""
    found: list[list[int]] = []
    for i, is_wanted in enumerate(wanted):
        if not is_wanted:
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
    return start_ns, track.memories[last].end_ns - round(_braking_s(out_m, usual) * NS)


def _braking_s(metres: float, speed: float) -> float:
    """Return how long the last metres before a stop take, or the first after it [s]."""
    slope_m = speed**2 / (2.0 * BRAKES_M_PER_S2)
    if metres <= slope_m or speed <= 0.0:
        return math.sqrt(2.0 * metres / BRAKES_M_PER_S2)
    return speed / BRAKES_M_PER_S2 + (metres - slope_m) / speed
