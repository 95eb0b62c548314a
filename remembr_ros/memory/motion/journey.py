"""A robot's path within the time of a question, and what is reported of it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.motion.motion import Motion, Stretch, stretches, turns
from remembr_ros.memory.motion.track import Track, tracks
from remembr_ros.memory.recall_protocol import Recall, every
from remembr_ros.timestamps import NS

MOST_EDGE_NS = 960 * NS  # A robot that turns for longer drives in circles
AROUND_RAD = math.radians(120.0)  # Who turns by more turns around
_AXES = ('+x', '+x +y', '+y', '-x +y', '-x', '-x -y', '-y', '+x -y')


@dataclass(frozen=True, slots=True)
class Journey:
    """How the robots moved in some time, with what was before and after it.

    :param after_ns: from then on; None: no limit
    :param before_ns: until then
    """

    stretches: Sequence[Stretch]
    tracks: Sequence[Track]
    after_ns: int | None = None
    before_ns: int | None = None

    def inside(self, moves: Sequence[Stretch]) -> list[Stretch]:
        """Return those whose middle lies in the time."""
        return [move for move in moves if self._admits((move.start_ns + move.end_ns) // 2)]

    def at(self, time_ns: int) -> Stretch | None:
        """Return what a robot did at a moment; None: nobody knows."""
        return next(
            (stretch for stretch in self.stretches if stretch.start_ns <= time_ns <= stretch.end_ns), None
        )

    def seen_at(self, time_ns: int) -> tuple[Track, int] | None:
        """Return the track of a moment, and which of its memories is the nearest."""
        for track in self.tracks:
            if track.memories[0].start_ns <= time_ns <= track.memories[-1].end_ns:
                return track, min(range(len(track.middles)), key=lambda i: _off(track.memories[i], time_ns))
        return None

    @property
    def driven_m(self) -> float:
        """The path length within the time [m]."""
        return sum(
            max(track.driven_until(self._end_ns(track)) - track.driven_until(self._start_ns(track)), 0.0)
            for track in self.tracks
        )

    @property
    def seconds(self) -> float:
        """How much of the time is remembered [s]."""
        return sum(max(self._end_ns(track) - self._start_ns(track), 0) for track in self.tracks) / NS

    @property
    def moving_speed(self) -> float:
        """The mean speed within the time, stops left out [m/s]."""
        stood_ns = sum(
            max(
                min(stretch.end_ns, self.before_ns or stretch.end_ns)
                - max(stretch.start_ns, self.after_ns or 0),
                0,
            )
            for stretch in self.stretches
            if stretch.motion is Motion.STANDING
        )
        seconds = self.seconds - stood_ns / NS
        return self.driven_m / seconds if seconds > 0.0 else 0.0

    def speeds(self, track: Track) -> list[float]:
        """Return the speeds of a track within the time [m/s]."""
        return [track.speed(i) for i, middle_ns in enumerate(track.middles) if self._admits(middle_ns)]

    @property
    def memories(self) -> list[Memory]:
        """Those of the time, in its order."""
        every = [memory for track in self.tracks for memory in track.memories]
        return [memory for memory in every if self._admits((memory.start_ns + memory.end_ns) // 2)]

    def _start_ns(self, track: Track) -> int:
        return max(track.memories[0].start_ns, self.after_ns or 0)

    def _end_ns(self, track: Track) -> int:
        last_ns = track.memories[-1].end_ns
        return last_ns if self.before_ns is None else min(last_ns, self.before_ns)

    def _admits(self, time_ns: int) -> bool:
        late = self.after_ns is None or time_ns >= self.after_ns
        return late and (self.before_ns is None or time_ns <= self.before_ns)


def journey(memories: Sequence[Memory], after_ns: int | None = None, before_ns: int | None = None) -> Journey:
    """Return the journey of these memories, of which those around the time tell of its edges."""
    return Journey(stretches(memories), tracks(memories), after_ns, before_ns)


def around(recall: Recall, scope: Scope, edge_ns: int) -> tuple[list[Memory], bool]:
    """Return the memories of a scope and of the time around it, and whether these are all.

    It is so long that the turns in the scope are the same wherever that ends.

    :param edge_ns: read at least before and after it; of a turn that takes longer more is, up to a limit
    :raises StoreUnavailable: there is no store
    """
    known: list[tuple[int, int, float]] | None = None
    while True:
        wide = replace(
            scope,
            after_ns=None if scope.after_ns is None else max(scope.after_ns - edge_ns, 0),
            before_ns=None if scope.before_ns is None else scope.before_ns + edge_ns,
        )
        memories, whole = every(recall, wide)
        way = journey(memories, scope.after_ns, scope.before_ns)
        found = [(turn.start_ns, turn.end_ns, turn.turned_rad) for turn in way.inside(turns(way.stretches))]
        if found == known or edge_ns >= MOST_EDGE_NS or wide == scope:
            return memories, whole
        known, edge_ns = found, 4 * edge_ns


def turned(turn: Stretch) -> str:
    """Return a turn in words, such as 'left by about 90 degrees'."""
    side = 'left' if turn.motion is Motion.LEFT else 'right'
    return f'{side} by about {abs(math.degrees(turn.turned_rad)):.0f} degrees'


def said_of(move: Stretch) -> str:
    """Return what a robot did for a while, where, how fast."""
    if move.motion is Motion.STANDING:
        facing = f' facing yaw {math.degrees(move.start.yaw):.0f}' if move.start else ''
        return f'stood {move.seconds:.0f} s at {_at(move.start)}{facing}'
    if move.motion is Motion.DRIVING:
        way = f'from {_at(move.start)} to {_at(move.end)}'
        return f'drove {move.driven_m:.1f} m at {move.speed:.2f} m/s {way}'
    return f'turned {turned(move)} at {_at(move.start)}'


def _at(pose: Pose | None) -> str:
    return f'({pose.x:.1f}, {pose.y:.1f})' if pose else '(place unknown)'


def heading(pose: Pose, frame_id: str) -> str:
    """Return a heading in words; what north is on a map, nobody said."""
    degrees = math.degrees(pose.yaw)
    axis = _AXES[round(degrees / 45.0) % 8]
    return f'{axis} (yaw {degrees:.0f} degrees in {frame_id})'


def _off(memory: Memory, time_ns: int) -> int:
    return max(memory.start_ns - time_ns, time_ns - memory.end_ns, 0)
