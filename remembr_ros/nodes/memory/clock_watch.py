"""Whether the node's clock can be deleted by: simulated time jumps, and starts anywhere."""

from rclpy.clock import JumpThreshold, ROSClock, TimeJump
from rclpy.duration import Duration

from remembr_ros.memory.retention import CONFIRMED_NS
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.timestamps import NS, format_duration

AHEAD_S = 60.0  # [s] a longer step of /clock is a jump; a recording at 100 times its speed makes seconds
BACK_S = 1.0  # [s] a step back by more than this is a jump


class ClockWatch:
    """Watches a node's clock for jumps, while the node is active."""

    def __init__(self, node: ManagedNode) -> None:
        self._now_ns = node.now_ns
        clock = node.get_clock()
        simulated = isinstance(clock, ROSClock) and clock.ros_time_is_active
        self._since_ns = node.now_ns() if simulated else None
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
