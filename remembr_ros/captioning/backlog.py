"""A bounded queue of segments for a captioner that is slower than the camera."""

from collections import deque
from dataclasses import replace
from itertools import pairwise

from remembr_ros.captioning.frame_choice import evenly
from remembr_ros.captioning.placer import PlacedSegment
from remembr_ros.captioning.segmenter import Segment
from remembr_ros.geometry import distance, mean_pose
from remembr_ros.timestamps import NS

POLICIES = ('keep', 'merge', 'drop')
"""What happens to a segment too many.

keep: the oldest is remembered without a caption, to be captioned later from its keyframes
merge: two neighbours become one where that costs least; if none can, the oldest is kept as above
drop: the oldest is forgotten: the robot's present counts more than its past
"""

MOST_SPAN_NS = 30 * NS  # no segment is merged to a longer one: a caption should have a time and a place
MOST_APART_M = 5.0  # nor one from farther away [m]
MOST_GAP_NS = 2 * NS


class Backlog:
    """A bounded queue of segments. Not safe to share between threads.

    Each segment that was put in is taken out, waiting, kept, merged into another or dropped.

    :param size: how many may wait, at least 1
    :param policy: one of POLICIES
    :param max_bytes: that their frames may take; one segment may wait, however large
    """

    def __init__(self, size: int, policy: str = 'keep', max_bytes: int = 2**62) -> None:
        self._size = size
        self._policy = policy
        self._max_bytes = max_bytes
        self._waiting: deque[PlacedSegment] = deque()
        self.kept = 0  # how many segments were given back to be kept without a caption
        self.merged = 0  # how many became part of their neighbour
        self.dropped = 0  # how many were forgotten

    @property
    def overflows(self) -> int:
        """How often there was one too many."""
        return self.kept + self.merged + self.dropped

    def __len__(self) -> int:
        return len(self._waiting)

    def put(self, placed: PlacedSegment) -> list[PlacedSegment]:
        """Queue a segment; return those that shall be kept without a caption, because there are too many."""
        self._waiting.append(placed)
        kept: list[PlacedSegment] = []
        while self._is_too_much():
            if self._policy == 'merge' and self._merge():
                continue
            oldest = self._waiting.popleft()
            if self._policy == 'drop':
                self.dropped += oldest.merged
            else:
                self.kept += oldest.merged
                kept.append(oldest)
        return kept

    def take(self, most: int = 1) -> list[PlacedSegment]:
        """Return the oldest segments and leave the others."""
        return [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]

    def clear(self) -> list[PlacedSegment]:
        """Return everything that waits."""
        return self.take(len(self._waiting))

    def _is_too_much(self) -> bool:
        if len(self._waiting) < 2:
            return False
        frames = (frame for placed in self._waiting for frame in placed.segment.frames)
        return (
            len(self._waiting) > self._size or sum(frame.image.nbytes for frame in frames) > self._max_bytes
        )

    def _merge(self) -> bool:
        """Make one segment of two neighbours; tell whether any could be."""
        pairs = [(_span_ns(a, b), index) for index, (a, b) in enumerate(pairwise(self._waiting)) if fit(a, b)]
        if not pairs:
            return False
        _, index = min(pairs)
        self._waiting[index] = joined(self._waiting[index], self._waiting[index + 1])
        del self._waiting[index + 1]
        self.merged += 1
        return True


def fit(a: PlacedSegment, b: PlacedSegment) -> bool:
    """Tell whether two segments may become one: b follows a, at the same place and not too long after it."""
    if not 0 <= b.segment.start_ns - a.segment.end_ns <= MOST_GAP_NS or _span_ns(a, b) > MOST_SPAN_NS:
        return False
    if a.pose is None or b.pose is None:
        return a.pose is None and b.pose is None
    return a.frame_id == b.frame_id and distance(a.pose.position, b.pose.position) <= MOST_APART_M


def joined(a: PlacedSegment, b: PlacedSegment) -> PlacedSegment:
    """Return two segments as one, with as many frames as the one that has more, evenly spread over both."""
    first, last = a.segment, b.segment
    frames = evenly([*first.frames, *last.frames], max(len(first.frames), len(last.frames)))
    poses = [placed.pose for placed in (a, b) for _ in range(placed.merged) if placed.pose is not None]
    return replace(
        a,
        segment=Segment(first.start_ns, last.end_ns, tuple(frames)),
        pose=mean_pose(poses) if poses else None,
        travelled=a.travelled + b.travelled,
        merged=a.merged + b.merged,
    )


def _span_ns(a: PlacedSegment, b: PlacedSegment) -> int:
    return b.segment.end_ns - a.segment.start_ns
