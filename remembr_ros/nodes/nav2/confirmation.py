"""Goals that a person confirms before the robot drives."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from geometry_msgs.msg import PoseArray
from rclpy.task import Future

from remembr_msgs.srv import Confirm
from remembr_ros.errors import NotConfirmed, Preempted
from remembr_ros.geometry import StampedPose
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import pose_to_msg, time_from_msg, time_to_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.services import first_of
from remembr_ros.nodes.base.worker_pool import settle
from remembr_ros.nodes.nav2.action import Nav2Drive


class Confirmation:
    """Shows goals on topic proposed_goals and takes yes or no by service ~/confirm.

    A yes names the goals that it is for by the stamp of what was shown: no two are shown with the same.

    :param timeout_s: after this time nobody is going to confirm [s]
    """

    def __init__(self, node: ManagedNode, timeout_s: float) -> None:
        self._node = node
        self._timeout_s = timeout_s
        self._waiting: Future | None = None
        self._shown_ns = 0
        self._proposals = node.advertise(PoseArray, 'proposed_goals', qos.MARKERS)
        node.offer(Confirm, '~/confirm', self._on_confirm)

    async def wait(self, drive: Nav2Drive, on_shown: Callable[[str], None]) -> None:
        """Return when a person has confirmed the goals of a drive, or raise what it was stopped with.

        :param on_shown: told how a person says yes
        :raises NotConfirmed: a person refused, or nobody said anything in time
        :raises Preempted: newer goals wait for confirmation
        """
        if self._waiting is not None:
            settle(self._node, self._waiting, Preempted('a newer question waits for confirmation'))
        waiting = self._waiting = Future()
        self._shown_ns = max(self._node.now_ns(), self._shown_ns + 1)
        self._publish([replace(goal, stamp_ns=self._shown_ns) for goal in drive.goals])
        stamp = time_to_msg(self._shown_ns)
        on_shown(self._command(f'{{sec: {stamp.sec}, nanosec: {stamp.nanosec}}}'))
        try:
            await first_of(self._node, self._timeout_s, waiting, drive.stopped)
        finally:
            if self._waiting is waiting:
                self._waiting = None
                self._publish([])
        drive.raise_if_stopped()
        if not waiting.done():
            stamp_of = f'<header.stamp of {self._proposals.topic_name}>'
            raise NotConfirmed(
                f'nobody said yes within {self._timeout_s:g} s; ask again, then: {self._command(stamp_of)}'
            )
        if (error := waiting.result()) is not None:
            raise error

    def _command(self, goals: str) -> str:
        name = self._node.resolve_service_name('~/confirm')
        return f'ros2 service call {name} remembr_msgs/srv/Confirm "{{yes: true, goals: {goals}}}"'

    def _publish(self, goals: Sequence[StampedPose]) -> None:
        msg = PoseArray(poses=[pose_to_msg(goal.pose) for goal in goals])
        if goals:
            msg.header.frame_id, msg.header.stamp = goals[0].frame_id, time_to_msg(goals[0].stamp_ns)
        self._proposals.publish(msg)

    def _on_confirm(self, request: Confirm.Request, response: Confirm.Response) -> Confirm.Response:
        waiting = self._waiting
        if waiting is None or waiting.done():
            response.message = 'no goal waits for confirmation'
            return response
        meant_ns = time_from_msg(request.goals)
        if meant_ns != self._shown_ns and (request.yes or meant_ns):
            response.message = 'other goals wait: look at proposed_goals, and say yes to its header.stamp'
            return response
        response.success = True
        error = None if request.yes else NotConfirmed('a person refused the goal')
        settle(self._node, waiting, error)
        confirmed = 'confirmed; whether it drives is told with the drive'
        response.message = 'the robot does not drive' if error else confirmed
        return response
