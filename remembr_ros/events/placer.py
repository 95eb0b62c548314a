"""Places deeds: each waits until the poses up to its end are known."""

from dataclasses import replace
from itertools import pairwise

from remembr_ros.captioning.placer import WAIT_FOR_POSES_NS
from remembr_ros.captioning.pose_buffer import PoseBuffer
from remembr_ros.errors import StalePose
from remembr_ros.geometry import Lost, StampedPose, distance
from remembr_ros.memory.deeds.deed import Deed
from remembr_ros.timestamps import NS

HISTORY_S = 3600.0  # [s] so long after its begin a deed that ends knows where that was
EVERY_NS = NS // 5  # of the poses that come faster, so many are kept [ns]


class DeedPlacer:
    """Gives deeds the pose at their end, the place of their begin, and the way between.

    :param poses: of its own, with a history of HISTORY_S; nobody else adds to it
    :param map_id: the map that the poses refer to
    :param wait_ns: so much time may pass until the poses of a deed are there; 0: none will come
    """

    def __init__(self, poses: PoseBuffer, map_id: str = '', wait_ns: int = WAIT_FOR_POSES_NS) -> None:
        self._poses = poses
        self._map_id = map_id
        self._wait_ns = wait_ns
        self._waiting: list[Deed] = []
        self._kept_ns: int | None = None
        self._last: StampedPose | None = None

    @property
    def newest_ns(self) -> int | None:
        """Until when it is known where the robot was."""
        self._catch_up()
        return self._poses.newest_ns

    def add(self, pose: StampedPose | Lost) -> None:
        """Take what is known of where the robot is."""
        if isinstance(pose, Lost):
            self._poses.lose(pose.stamp_ns)
        elif self._kept_ns is None or not 0 <= pose.stamp_ns - self._kept_ns < EVERY_NS:
            self._kept_ns, self._last = pose.stamp_ns, None
            self._poses.add(pose)
        else:
            self._last = pose  # it may be the last one for long

    def put(self, *deeds: Deed) -> None:
        """Take deeds; one that has a pose, or is of another map, keeps what it has."""
        self._waiting += deeds

    def take(self, now_ns: int) -> list[Deed]:
        """Return the deeds whose place is known now, or will not be."""
        newest_ns = self.newest_ns or 0
        found: list[Deed] = []
        waiting: list[Deed] = []
        for deed in self._waiting:
            waits = newest_ns < deed.end_ns <= now_ns < deed.end_ns + self._wait_ns
            (waiting if waits else found).append(deed)
        self._waiting = waiting
        return list(map(self.placed, found))

    def flush(self) -> list[Deed]:
        """Return all that wait, with the place that is known by now."""
        found, self._waiting = self._waiting, []
        return list(map(self.placed, found))

    def placed(self, deed: Deed) -> Deed:
        """Return a deed with the place that is known by now."""
        self._catch_up()
        if deed.pose is not None or deed.map_id not in ('', self._map_id):
            return deed
        began, ended = self._at(deed.begin_ns), self._at(deed.end_ns)
        if ended is None:
            return replace(deed, map_id=self._map_id)
        if began is not None and began.frame_id != ended.frame_id:
            began = None
        way = [began, *self._poses.between(deed.begin_ns, deed.end_ns), ended] if began is not None else []
        metres = [distance(a.pose.position, b.pose.position) for a, b in pairwise(way) if a and b]
        return replace(
            deed,
            pose=ended.pose,
            frame_id=ended.frame_id,
            map_id=self._map_id,
            began=None if began is None else began.pose.position,
            goal=deed.goal if deed.frame_id == ended.frame_id else None,
            travelled=sum(metres),
        )

    def _catch_up(self) -> None:
        if self._last is not None:
            self._poses.add(self._last)
            self._last = None

    def _at(self, stamp_ns: int) -> StampedPose | None:
        try:
            return self._poses.at(stamp_ns)
        except StalePose:
            return None
