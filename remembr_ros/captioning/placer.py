"""Places segments: each waits until the poses up to its end are known."""

from collections import deque
from dataclasses import dataclass
from itertools import pairwise

from remembr_ros.captioning.pose_buffer import MAX_LATE_S, PoseBuffer
from remembr_ros.captioning.segmenter import Segment, Segmenter
from remembr_ros.errors import StalePose
from remembr_ros.geometry import Lost, Pose, StampedPose, can_be_driven, distance, mean_pose
from remembr_ros.images import Frame
from remembr_ros.timestamps import NS

WAIT_FOR_POSES_NS = 2 * NS  # localisation comes late, but not by more


@dataclass(frozen=True, slots=True)
class PlacedSegment:
    """A segment and where the robot was when its frames were taken.

    :param segment: what was seen
    :param pose: mean position and circular mean of yaw over the frames with a pose; None: there are none
    :param frame_id: the frame of the pose
    :param travelled: path length through the poses of the frames [m]
    :param merged: how many segments it is made of
    :param why: why there is no pose, see StalePose.why; empty: there is one
    """

    segment: Segment
    pose: Pose | None
    frame_id: str = 'map'
    travelled: float = 0.0
    merged: int = 1
    why: str = ''


def place(segment: Segment, poses: PoseBuffer) -> PlacedSegment:
    """Return the segment with the pose at image time.

    Poses are soon forgotten: do this when a segment ends, not when its caption is ready.
    """
    found = [_pose_at(frame.stamp_ns, poses) for frame in segment.frames]
    at_frames = [pose for pose in found if isinstance(pose, StampedPose)]
    if not at_frames:
        return PlacedSegment(segment, None, why=next(why for why in found if isinstance(why, str)))
    path = at_frames
    if segment.end_ns > segment.frames[-1].stamp_ns:
        # The way after the last sampled frame belongs to this segment too.
        at_end = _pose_at(segment.end_ns, poses)
        path = [*at_frames, at_end] if isinstance(at_end, StampedPose) else at_frames
    jumps = [i for i, (a, b) in enumerate(pairwise(at_frames), 1) if not can_be_driven(a, b)]
    return PlacedSegment(
        segment,
        # Nothing was half-way of a jump: what came after it is known better.
        mean_pose(stamped.pose for stamped in at_frames[max(jumps, default=0) :]),
        at_frames[-1].frame_id,
        sum(distance(a.pose.position, b.pose.position) for a, b in pairwise(path) if can_be_driven(a, b)),
    )


class Placer:
    """Cuts a stream of frames into segments and places each at image time.

    Poses may come later than the images that they belong to, as localisation does. They are soon forgotten,
    so that a segment is placed before it is captioned, not when its caption is ready.

    :param poses: of its own; nobody else adds to it
    :param wait_ns: so much time may pass until the poses of a segment are there; 0: none will come
    """

    def __init__(self, segmenter: Segmenter, poses: PoseBuffer, wait_ns: int = WAIT_FOR_POSES_NS) -> None:
        self.poses = poses
        self._wait_ns = wait_ns
        self._segmenter = segmenter
        self._waiting: deque[Segment] = deque()
        self._last_frame_ns: int | None = None

    def __len__(self) -> int:
        """Return how many segments have not ended, or wait for their place."""
        return len(self._waiting) + self._segmenter.is_open

    def add(self, event: Frame | StampedPose | Lost) -> list[PlacedSegment]:
        """Take what comes next; return the segments whose place is known now, or will not be."""
        if isinstance(event, Frame):
            self._last_frame_ns = event.stamp_ns
            self._keep(self._segmenter.add(event))
            return self._place_due(event.stamp_ns)
        placed = self._place_before_a_jump_to(event.stamp_ns)
        if isinstance(event, Lost):
            self.poses.lose(event.stamp_ns)
        else:
            self.poses.add(event)
        return placed + self._place_due(event.stamp_ns)

    def flush(self) -> list[PlacedSegment]:
        """End the open segment; return everything with the place that is known by now."""
        self._keep(self._segmenter.flush())
        return self._place_all()

    def _place_before_a_jump_to(self, stamp_ns: int) -> list[PlacedSegment]:
        newest_ns = self.poses.newest_ns
        if newest_ns is None or stamp_ns >= newest_ns - MAX_LATE_S * NS:
            return []
        # Time starts over, and the buffer is about to forget what these need.
        last_ns = self._last_frame_ns
        if last_ns is not None and last_ns > stamp_ns + MAX_LATE_S * NS:
            self._keep(self._segmenter.flush())
        return self._place_all()

    def _place_due(self, now_ns: int) -> list[PlacedSegment]:
        placed = []
        newest_ns = self.poses.newest_ns
        while self._waiting and self._is_due(self._waiting[0], now_ns, newest_ns):
            placed.append(place(self._waiting.popleft(), self.poses))
        return placed

    def _keep(self, segment: Segment | None) -> None:
        if segment is not None:
            self._waiting.append(segment)

    def _place_all(self) -> list[PlacedSegment]:
        placed = [place(segment, self.poses) for segment in self._waiting]
        self._waiting.clear()
        return placed

    def _is_due(self, segment: Segment, now_ns: int, newest_pose_ns: int | None) -> bool:
        known = newest_pose_ns is not None and newest_pose_ns >= segment.end_ns
        late = now_ns > segment.end_ns + self._wait_ns
        return known or late or now_ns < segment.start_ns - self._wait_ns  # or the clock has started again


def _pose_at(stamp_ns: int, poses: PoseBuffer) -> StampedPose | str:
    """Return the pose at a time, or why there is none."""
    try:
        return poses.at(stamp_ns)
    except StalePose as error:
        return error.why
