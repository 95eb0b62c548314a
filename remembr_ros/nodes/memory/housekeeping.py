"""Keeps the memory within its limits while the node runs, as long as the clock can be trusted."""

import time
from collections.abc import Callable
from dataclasses import replace

from rclpy.clock import JumpThreshold, ROSClock, TimeJump
from rclpy.duration import Duration
from rclpy.impl.rcutils_logger import RcutilsLogger
from visualization_msgs.msg import Marker, MarkerArray

from remembr_ros.errors import RemembrError
from remembr_ros.memory.motion.pose_graph import Moves, PoseGraph
from remembr_ros.memory.retention import CONFIRMED_NS, RetentionPolicy
from remembr_ros.memory.store import MemoryStore
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.worker_pool import Chore
from remembr_ros.nodes.memory.objects import ObjectServices
from remembr_ros.timestamps import NS, format_duration, format_iso

AHEAD_S = 60.0  # [s] a longer step of /clock is a jump; a recording at 100 times its speed makes seconds
BACK_S = 1.0  # [s] a step back by more than this is a jump


class ClockWatch:
    """Watches a node's clock for jumps, while the node is active."""

    def __init__(self, node: ManagedNode) -> None:
        self._now_ns = node.now_ns
        clock = node.get_clock()
        self._since_ns = node.now_ns() if isinstance(clock, ROSClock) and clock.ros_time_is_active else None
        threshold = JumpThreshold(
            min_forward=Duration(seconds=AHEAD_S), min_backward=Duration(seconds=-BACK_S)
        )
        handle = clock.create_jump_callback(threshold, post_callback=self._on_jump)
        node.while_active.callback(handle.unregister)

    def doubt(self) -> str:
        """Return why nothing shall be deleted for its age now; empty: the clock is believed."""
        since_ns = self._since_ns
        if since_ns is None:
            return ''
        gone_ns = self._now_ns() - since_ns
        if gone_ns >= CONFIRMED_NS:
            return ''
        return (
            f'the clock has gone on for {format_duration(max(0, gone_ns) / NS)} since it started or jumped; '
            f'nothing is deleted for its age until that is {format_duration(CONFIRMED_NS / NS)}'
        )

    def _on_jump(self, _: TimeJump) -> None:
        self._since_ns = self._now_ns()


RETAIN_FIRST_S = 60.0
RETAIN_PERIOD_S = 600.0
COLLECT_FIRST_S = 300.0
COLLECT_PERIOD_S = 3600.0


class Housekeeping:
    """Applies a retention policy, and deletes keyframes that no memory names; each on a thread of its own.

    :param policy: None: memories are kept for ever; may be replaced by :meth:`adjust`
    :param now_ns: the node's time, simulated or not, in nanoseconds since the epoch: memories have it, too
    :param on_deleted: called when memories were deleted, or moved
    :param clock: tells whether memories may be deleted for their age now
    :param deletes: False: nothing is deleted at all
    """

    def __init__(
        self,
        store: MemoryStore,
        policy: RetentionPolicy | None,
        now_ns: Callable[[], int],
        on_deleted: Callable[[], None],
        log: RcutilsLogger,
        *,
        clock: ClockWatch,
        deletes: bool = True,
    ) -> None:
        self._store = store
        self._policy = policy
        self._clock = clock
        self._now_ns = now_ns
        self._on_deleted = on_deleted
        self._log = log
        self.last = 'never'
        """When memories were last looked through, by the wall clock, and how many were deleted."""
        self.problem = ''
        """Why less is deleted than the policy asks for; empty: all that has to go is gone."""
        self._chores: list[Chore] = []
        if deletes:
            self._chores = [
                Chore('collecting', self.collect, log, period_s=COLLECT_PERIOD_S, first_s=COLLECT_FIRST_S),
                Chore('retention', self.retain, log, period_s=RETAIN_PERIOD_S, first_s=RETAIN_FIRST_S),
            ]
        self.adjust(policy)

    def adjust(self, policy: RetentionPolicy | None) -> None:
        """Go by this policy from the next time on."""
        self._policy = policy
        if policy is None or not self._chores:
            self.last, self.problem = 'off', ''
        elif self.last == 'off':
            self.last = 'never'

    def close(self, timeout_s: float) -> None:
        """End; what is being deleted may go on meanwhile, at most so long for each."""
        for chore in self._chores:
            chore.close(timeout_s)

    def retain(self) -> None:
        """Delete what is too old or too much."""
        policy = self._policy
        if policy is None:
            return
        doubt = self._clock.doubt() if policy.max_age_s is not None else ''
        if doubt:
            policy = replace(policy, max_age_s=None)
        try:
            gone = self._store.retain(policy, self._now_ns())
        except RemembrError as error:
            self._report(f'retention: {error}')
            return
        self._report(gone.problem)
        deleted = len(gone.ids)
        self.last = f'{format_iso(time.time_ns())}: {deleted} deleted' + (f'; {doubt}' if doubt else '')
        if deleted:
            self._log.info(
                f'retention: {deleted} memories deleted, {gone.too_old} for their age, '
                f'{deleted - gone.too_old} for want of room'
            )
            self._on_deleted()

    def collect(self) -> None:
        """Delete the keyframes that no memory names."""
        try:
            deleted = self._store.collect_keyframes()
        except RemembrError as error:
            self._log.warning(f'keyframes that no memory names are not deleted: {error}')
            return
        if deleted:
            self._log.info(f'{deleted} keyframes deleted that no memory names')

    def follow(self, node: ManagedNode, objects: ObjectServices) -> None:
        """Move the memories of the map without a name, which is being made, as its pose graph does."""
        graph, due = PoseGraph(), list[Moves]()

        def hear(msg: MarkerArray) -> None:
            spheres = [one for one in msg.markers if one.type == Marker.SPHERE]
            places = {one.id: complex(one.pose.position.x, one.pose.position.y) for one in spheres}
            due.extend(graph.take(places, self._now_ns()) if places else [])

        def move() -> None:
            while due:
                with objects.changing():  # who follows them reads them again
                    self._log.info(f'{self._store.move_map("", due[0])} memories moved with the map')
                del due[0]
                self._on_deleted()

        node.topics.subscribe(MarkerArray, 'pose_graph', hear, qos.MAP_UPDATES)
        self._chores.append(Chore('pose-graph', move, self._log, period_s=2.0))

    def _report(self, problem: str) -> None:
        if problem and problem != self.problem:
            self._log.warning(problem)
        self.problem = problem
