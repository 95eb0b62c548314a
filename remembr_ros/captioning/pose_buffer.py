"""A buffer of the robot's recent poses, interpolated to the time of an image."""

import bisect
import threading

from remembr_ros.errors import StalePose
from remembr_ros.geometry import StampedPose, can_be_driven, interpolate, is_place
from remembr_ros.timestamps import NS

NO_POSE = 'no pose has come'
LOST = 'localisation was too uncertain'
BEFORE_POSES = 'before the first pose'
PAUSE = 'in a pause of the poses'
"""Why it is not known where the robot was, see StalePose.why."""

MAX_LATE_S = 1.0  # a pose older than the newest by more: time jumped back, a bag starts over [s]


class PoseBuffer:
    """Keeps poses of one frame and interpolates between them. Safe to use from several threads.

    It forgets everything when time jumps back or the poses' frame_id changes. Poses where no robot can
    be, see is_place, are ignored. Of two poses with the same stamp the later one counts.

    :param history_s: poses this much older than the newest are forgotten, except the last of them [s]
    :param max_age_s: outside of the known time a pose is used if it is no further off than this [s]
    :param max_interpolation_s: longest time between two poses to interpolate over [s]
    :param hold_s: how long a pose stays valid while no newer one comes, if longer than max_age_s [s]: for
        sources like AMCL that publish only while the robot moves
    """

    def __init__(
        self,
        history_s: float = 30.0,
        max_age_s: float = 0.5,
        max_interpolation_s: float = 2.0,
        hold_s: float = 0.0,
    ) -> None:
        self._history_ns = _nanoseconds(history_s)
        self._max_age_ns = _nanoseconds(max_age_s)
        self._max_interpolation_ns = _nanoseconds(max_interpolation_s)
        self._hold_ns = max(_nanoseconds(hold_s), self._max_age_ns)
        self._lock = threading.Lock()
        self._stamps: list[int] = []
        self._poses: list[StampedPose | None] = []  # None: lost from then on

    @property
    def newest_ns(self) -> int | None:
        """Stamp until which it is known where the robot was, or that it was lost; None: no pose came yet."""
        with self._lock:
            return self._stamps[-1] if self._stamps else None

    def add(self, pose: StampedPose) -> None:
        """Take a pose; they may come out of order by up to MAX_LATE_S."""
        if not is_place(pose.pose):
            return
        with self._lock:
            last = next((known for known in reversed(self._poses) if known is not None), pose)
            self._insert(pose.stamp_ns, pose, afresh=pose.frame_id != last.frame_id)

    def lose(self, stamp_ns: int) -> None:
        """Take note that from this time on, until the next pose, it is not known where the robot is."""
        with self._lock:
            self._insert(stamp_ns, None)

    def _insert(self, stamp_ns: int, pose: StampedPose | None, *, afresh: bool = False) -> None:
        if self._stamps and (afresh or stamp_ns < self._stamps[-1] - MAX_LATE_S * NS):
            self._stamps.clear()
            self._poses.clear()
        index = bisect.bisect_left(self._stamps, stamp_ns)
        if index < len(self._stamps) and self._stamps[index] == stamp_ns:
            self._poses[index] = pose
            return
        self._stamps.insert(index, stamp_ns)
        self._poses.insert(index, pose)
        # The last pose before the horizon stays: a pose that is held reaches into the history.
        old = bisect.bisect_left(self._stamps, self._stamps[-1] - self._history_ns) - 1
        if old > 0:
            del self._stamps[:old], self._poses[:old]

    def between(self, start_ns: int, end_ns: int) -> list[StampedPose]:
        """Return the poses after one time and before another, in their order."""
        with self._lock:
            first, last = (
                bisect.bisect_right(self._stamps, start_ns),
                bisect.bisect_left(self._stamps, end_ns),
            )
            return [pose for pose in self._poses[first:last] if pose is not None]

    def at(self, stamp_ns: int) -> StampedPose:
        """Return where the robot was, stamped with the asked time.

        Between two poses no more than max_interpolation_s apart it is interpolated, the short way round for
        yaw. Elsewhere it is the nearest pose within max_age_s, or the last one before within hold_s.

        :raises StalePose: no pose is near enough, or the robot did not know where it was
        """
        with self._lock:
            if not any(self._poses):
                raise StalePose(
                    'no pose is known; is the pose source publishing, and is its topic right?',
                    LOST if self._poses else NO_POSE,
                )
            index = bisect.bisect_left(self._stamps, stamp_ns)
            before = self._poses[index - 1] if index > 0 else None
            after = self._poses[index] if index < len(self._poses) else None
            exact = index < len(self._stamps) and self._stamps[index] == stamp_ns
        if exact and after is not None:
            return after
        if before is not None and after is not None:
            hole_ns = after.stamp_ns - before.stamp_ns
            if hole_ns <= self._max_interpolation_ns and can_be_driven(before, after):
                fraction = (stamp_ns - before.stamp_ns) / hole_ns
                return StampedPose(stamp_ns, interpolate(before.pose, after.pose, fraction), before.frame_id)
        known = [pose for pose in (before, after) if pose is not None]
        if exact or not known:
            raise StalePose(f'{LOST} then: it is not known where the robot was', LOST)
        nearest = min(known, key=lambda pose: abs(pose.stamp_ns - stamp_ns))
        age_ns = abs(nearest.stamp_ns - stamp_ns)
        if age_ns <= self._max_age_ns:
            return StampedPose(stamp_ns, nearest.pose, nearest.frame_id)
        if before is not None and stamp_ns - before.stamp_ns <= self._hold_ns:
            return StampedPose(stamp_ns, before.pose, before.frame_id)
        side = 'before' if nearest is before else 'after'
        raise StalePose(
            f'the nearest pose is {age_ns / NS:.2f} s {side} the asked time; at most '
            f'{self._max_age_ns / NS:.2f} s are allowed: check the pose source and its clock, '
            'or allow older poses',
            PAUSE if before is not None else BEFORE_POSES,
        )


def _nanoseconds(seconds: float) -> int:
    return round(min(seconds, 1e9) * NS)  # beyond 30 years: for ever, infinity included
