"""The tree of coordinate frames that TF publishes: where one frame is in another, at a time.

A frame has one parent. A transform is the pose of the child in the parent: p_parent = R p_child + t. Static
transforms hold at any time; the others are kept for some seconds and interpolated between their samples.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from remembr_ros.errors import StalePose
from remembr_ros.geometry import MAX_COORDINATE, Transform, compose, inverse
from remembr_ros.timestamps import NS, format_iso

MAX_LATE_NS = NS
"""A transform that is older than the newest of its frame by more than this means that time jumped back."""

IDENTITY: Transform = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))


@dataclass(slots=True)
class _Edge:
    """The transforms of one frame in its parent, in order of their stamps."""

    parent: str
    static: bool
    stamps: list[int] = field(default_factory=list)
    transforms: list[Transform] = field(default_factory=list)

    def insert(self, stamp_ns: int, transform: Transform, history_ns: int) -> None:
        if self.static or (self.stamps and stamp_ns < self.stamps[-1] - MAX_LATE_NS):
            # A static transform is replaced; a jump back means that the clock was set, or started again.
            self.stamps, self.transforms = [stamp_ns], [transform]
            return
        at = bisect_left(self.stamps, stamp_ns)
        if at < len(self.stamps) and self.stamps[at] == stamp_ns:
            self.transforms[at] = transform
        else:
            self.stamps.insert(at, stamp_ns)
            self.transforms.insert(at, transform)
        expired = bisect_left(self.stamps, self.stamps[-1] - history_ns)
        del self.stamps[:expired], self.transforms[:expired]

    def at(self, stamp_ns: int, tolerance_ns: int) -> Transform | None:
        """Return the transform at a time; None if the samples do not reach there."""
        if self.static:
            return self.transforms[0]
        first, last = self.stamps[0], self.stamps[-1]
        if not first - tolerance_ns <= stamp_ns <= last + tolerance_ns:
            return None
        stamp_ns = min(max(stamp_ns, first), last)
        at = bisect_left(self.stamps, stamp_ns)
        if self.stamps[at] == stamp_ns:
            return self.transforms[at]
        before, after = self.stamps[at - 1], self.stamps[at]
        fraction = (stamp_ns - before) / (after - before)
        return interpolated(self.transforms[at - 1], self.transforms[at], fraction)


class TransformTree:
    """Collects transforms and answers where one frame is in another.

    Frame names may have the leading slash of ROS 1; it is dropped.

    :param history_ns: how far back a transform that is not static is kept, per frame [ns]
    """

    def __init__(self, history_ns: int = 10 * NS) -> None:
        self._history_ns = history_ns
        self._edges: dict[str, _Edge] = {}

    def add(  # noqa: PLR0917 (the order is that of geometry_msgs)
        self,
        parent: str,
        child: str,
        stamp_ns: int,
        translation: Sequence[float],
        rotation_xyzw: Sequence[float],
        static: bool = False,
    ) -> bool:
        """Add the pose of a child frame in its parent.

        A child that comes with another parent moves there, and what was known of it is dropped.

        :param stamp_ns: nanoseconds since the Unix epoch
        :param translation: x, y, z [m]
        :param rotation_xyzw: quaternion, of any length but zero
        :return: False if it makes no sense (no place, no rotation, a frame in itself) and was left out
        """
        parent, child = _name(parent), _name(child)
        x, y, z, w = (float(value) for value in rotation_xyzw)
        position = (float(translation[0]), float(translation[1]), float(translation[2]))
        norm = math.sqrt(x * x + y * y + z * z + w * w)
        if not parent or not child or parent == child:
            return False
        # A NaN compares false.
        if not (all(abs(value) <= MAX_COORDINATE for value in position) and 1e-9 <= norm < math.inf):
            return False
        edge = self._edges.get(child)
        if edge is None or edge.parent != parent or edge.static != static:
            # The transform that would make the child its own ancestor goes: the newer publisher is believed.
            above = self._ancestry(parent)
            if child in above:
                del self._edges[above[above.index(child) - 1]]
            edge = self._edges[child] = _Edge(parent, static)
        edge.insert(stamp_ns, (position, (x / norm, y / norm, z / norm, w / norm)), self._history_ns)
        return True

    @property
    def frames(self) -> list[str]:
        """Every frame, in alphabetical order."""
        return sorted({*self._edges, *(edge.parent for edge in self._edges.values())})

    def start_over(self, parent: str, child: str, stamp_ns: int) -> None:
        """Drop the transforms between two frames that are from before time jumped back to the stamp."""
        for frame in self.links(parent, child):
            edge = self._edges[frame]
            if not edge.static and edge.stamps[-1] > stamp_ns + MAX_LATE_NS:
                del self._edges[frame]

    def root(self, frame: str) -> str:
        """Return the frame that the frame hangs on at last; itself if it has no parent."""
        return self._ancestry(_name(frame))[-1]

    def connected(self, parent: str, child: str) -> bool:
        """Return whether transforms lead from one frame to the other, at whatever time."""
        return self._path(_name(parent), _name(child)) is not None

    def links(self, parent: str, child: str) -> list[str]:
        """Return the frames whose transforms lead from one frame to the other."""
        up, down = self._path(_name(parent), _name(child)) or ([], [])
        return [*up, *down]

    def moves(self, parent: str, child: str) -> bool:
        """Return whether a transform between the two frames is not static."""
        return bool(self._moving(parent, child))

    def lookup(self, parent: str, child: str, stamp_ns: int, tolerance_ns: int = 0) -> Transform:
        """Return the pose of the child frame in the parent frame at a time.

        The frames may be anywhere in the tree: the parent need not be above the child.

        :param tolerance_ns: so far before the first and after the last sample that one stands in [ns]
        :return: translation (x, y, z) [m] and rotation (x, y, z, w), of length 1
        :raises StalePose: the frames are not connected, or not known at that time
        """
        parent, child = _name(parent), _name(child)
        path = self._path(parent, child)
        if path is None:
            raise StalePose(
                f'no transforms connect {parent!r} with {child!r}; known frames: '
                f'{", ".join(self.frames) or "none"}. Check the frame names and that /tf_static is there',
                f'no transforms from {parent!r} to {child!r}: check the frame names and /tf_static',
            )
        from_parent, from_child = (self._compose(frames, stamp_ns, tolerance_ns) for frames in path)
        return compose(inverse(from_parent), from_child)

    def latest_common(self, parent: str, child: str) -> int | None:
        """Return the newest time at which lookup knows the pose [ns].

        :return: None if the frames are not connected, if the transforms between them have no time in common,
            or if all of them are static
        """
        moving = self._moving(parent, child)
        if not moving:
            return None
        newest = min(edge.stamps[-1] for edge in moving)
        return newest if newest >= max(edge.stamps[0] for edge in moving) else None

    def samples(self, parent: str, child: str, after_ns: int | None = None) -> list[int]:
        """Return the times at which a transform between the frames was sampled and lookup knows them [ns].

        :param after_ns: only later ones
        :return: in order
        """
        newest = self.latest_common(parent, child)
        if newest is None:
            return []
        moving = self._moving(parent, child)
        oldest = max(edge.stamps[0] for edge in moving)
        first = oldest if after_ns is None else max(oldest, after_ns + 1)
        inside = (e.stamps[bisect_left(e.stamps, first) : bisect_right(e.stamps, newest)] for e in moving)
        return sorted(set().union(*inside))

    def _ancestry(self, frame: str) -> list[str]:
        """Return the frame, its parent and so on."""
        frames = [frame]
        while (edge := self._edges.get(frames[-1])) is not None:
            frames.append(edge.parent)
        return frames

    def _path(self, parent: str, child: str) -> tuple[list[str], list[str]] | None:
        """Return the frames below the nearest common ancestor: up from the parent, up from the child."""
        to_parent, to_child = self._ancestry(parent), self._ancestry(child)
        above = set(to_parent)
        for count, frame in enumerate(to_child):
            if frame in above:
                return to_parent[: to_parent.index(frame)], to_child[:count]
        return None

    def _moving(self, parent: str, child: str) -> list[_Edge]:
        return [self._edges[frame] for frame in self.links(parent, child) if not self._edges[frame].static]

    def _compose(self, frames: list[str], stamp_ns: int, tolerance_ns: int) -> Transform:
        """Return the first of the frames in the parent of the last."""
        total = IDENTITY
        for frame in frames:
            edge = self._edges[frame]
            transform = edge.at(stamp_ns, tolerance_ns)
            if transform is None:
                raise StalePose(
                    f'the transform {edge.parent} -> {frame} is known from {format_iso(edge.stamps[0])} to '
                    f'{format_iso(edge.stamps[-1])}, not at {format_iso(stamp_ns)}',
                    f'the transform {edge.parent} -> {frame} is of other times: check the clocks',
                )
            total = compose(transform, total)
        return total


def _name(frame: str) -> str:
    return frame.strip().lstrip('/')


def interpolated(a: Transform, b: Transform, fraction: float) -> Transform:
    """Return the pose between a (fraction 0) and b (1): linear in position, spherical in rotation."""
    position = tuple(p + (q - p) * fraction for p, q in zip(a[0], b[0], strict=True))
    dot = sum(p * q for p, q in zip(a[1], b[1], strict=True))
    sign = 1.0 if dot >= 0.0 else -1.0  # q and -q are the same rotation: take the short way
    angle = math.acos(min(abs(dot), 1.0))
    if angle < 1e-6:
        first, second = 1.0 - fraction, fraction
    else:
        first = math.sin((1.0 - fraction) * angle) / math.sin(angle)
        second = math.sin(fraction * angle) / math.sin(angle)
    x, y, z, w = (first * p + sign * second * q for p, q in zip(a[1], b[1], strict=True))
    norm = math.sqrt(x * x + y * y + z * z + w * w)
    return (position[0], position[1], position[2]), (x / norm, y / norm, z / norm, w / norm)
