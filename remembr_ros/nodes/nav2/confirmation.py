"""Goals that a person confirms before the robot drives."""

import time
from collections.abc import Sequence

from geometry_msgs.msg import PoseArray
from rclpy.task import Future
from std_srvs.srv import SetBool

from remembr_ros.errors import NotConfirmed, Preempted
from remembr_ros.geometry import StampedPose
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.conversions import pose_to_msg, time_to_msg
from remembr_ros.nodes.base.futures import first_of
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.worker_pool import settle

LOOK_S = 1.0  # no yes counts so soon after one goal took the place of another: it has to be seen [s]


class Confirmation:
    """Shows goals on topic proposed_goals and takes yes or no by service ~/confirm.

    :param timeout_s: after this time nobody is going to confirm [s]
    """

    def __init__(self, node: ManagedNode, timeout_s: float) -> None:
        self._node = node
        self._timeout_s = timeout_s
        self._waiting: Future | None = None
        self._replaced_at = -LOOK_S
        self._proposals = node.create_publisher(PoseArray, 'proposed_goals', qos.MARKERS)
        self._service = node.create_service(SetBool, '~/confirm', self._on_confirm)
        node.while_configured.callback(node.destroy_publisher, self._proposals)
        node.while_configured.callback(node.destroy_service, self._service)

    async def wait(self, goals: Sequence[StampedPose], stopped: Future) -> None:
        """Return when a person has confirmed these goals.

        :param stopped: completes with the error to end with, when nobody wants the goals any more
        :raises NotConfirmed: a person refused, or nobody said anything in time
        :raises Preempted: newer goals wait for confirmation
        """
        if self._waiting is not None:
            newer = Preempted('a newer question waits for confirmation')
            settle(self._node, self._waiting, newer)
            self._replaced_at = time.monotonic()
        waiting = self._waiting = Future()
        self._publish(goals)
        try:
            await first_of(self._node, self._timeout_s, waiting, stopped)
        finally:
            if self._waiting is waiting:
                self._waiting = None
                self._publish([])
        if stopped.done():
            raise stopped.result()
        if not waiting.done():
            name = self._service.service_name
            raise NotConfirmed(f'nobody called {name} within {self._timeout_s:g} s; ask again')
        if (error := waiting.result()) is not None:
            raise error

    def _publish(self, goals: Sequence[StampedPose]) -> None:
        msg = PoseArray(poses=[pose_to_msg(goal.pose) for goal in goals])
        if goals:
            msg.header.frame_id, msg.header.stamp = goals[0].frame_id, time_to_msg(goals[0].stamp_ns)
        self._proposals.publish(msg)

    def _on_confirm(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        waiting = self._waiting
        response.success = waiting is not None and not waiting.done()
        if waiting is None or waiting.done():
            response.message = 'no goal waits for confirmation'
            return response
        if request.data and time.monotonic() - self._replaced_at < LOOK_S:
            response.success = False
            response.message = 'a newer goal has just taken its place: look at it, and confirm again'
            return response
        error = None if request.data else NotConfirmed('a person refused the goal')
        settle(self._node, waiting, error)
        response.message = 'the robot does not drive' if error else 'the robot drives'
        return response
