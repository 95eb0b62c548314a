"""The way of one robot on one map through its memories: where it was at each time, how far it had driven."""

import math
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
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
    for (robot, *_), some in of_one.items():
        main = max((memory.camera for memory in some), key=lambda camera: cameras[robot, camera])
        ordered = sorted((m for m in some if m.camera == main), key=lambda m: (m.start_ns, m.end_ns, m.id))
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
