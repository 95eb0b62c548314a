"""Having Nav2 cancel goals, and seeing that it does."""

from collections.abc import Callable

from action_msgs.srv import CancelGoal
from rclpy.node import Node
from rclpy.task import Future

from remembr_ros.errors import Preempted
from remembr_ros.nodes.base.futures import first_of
from remembr_ros.nodes.nav2.action import Nav2Drive

_OVER = (CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID, CancelGoal.Response.ERROR_GOAL_TERMINATED)


class Cancelling:
    """Cancels what Nav2 has accepted; whether it did so is logged, as the robot may still be driving.

    :param server_timeout_s: for the response to a cancel [s]
    :param on_response: called after each response that was awaited, or came too late
    """

    def __init__(self, node: Node, server_timeout_s: float, on_response: Callable[[], None]) -> None:
        self._node = node
        self._server_timeout_s = server_timeout_s
        self._on_response = on_response
        self._awaited = 0

    def __len__(self) -> int:
        """Return how many responses that have to be acted on are awaited."""
        return self._awaited

    def cancel(self, drive: Nav2Drive) -> None:
        """Have a drive cancelled that Nav2 has accepted, once, unless it is over."""
        if drive.handle is None or drive.cancelled or (drive.result is not None and drive.result.done()):
            return
        drive.cancelled = True
        preempted = drive.stopped.done() and isinstance(drive.stopped.result(), Preempted)
        asked = drive.handle.cancel_goal_async()
        name = drive.server.name if drive.server is not None else ''

        def look(in_time: bool) -> None:
            what = 'did not confirm a cancel'
            if in_time:
                response = asked.result()
                # What is over needs no cancelling, and a goal that a newer one has replaced may be beyond it.
                # A server in Python refuses with an empty list alone.
                if response.goals_canceling or response.return_code in _OVER or preempted:
                    return
                what = 'refused to cancel a goal'
            self._node.get_logger().error(f'{name} {what}: the robot may still be driving; stop it in Nav2')

        self._await(asked, look, self._server_timeout_s)

    def cancel_if_accepted(self, drive: Nav2Drive, sent: Future, within_s: float) -> None:
        """Have a drive cancelled that nobody wants any more, should Nav2 still accept it.

        :param sent: completes with Nav2's handle of the goal
        :param within_s: an acceptance that nobody wants may take its time [s]
        """

        def look(in_time: bool) -> None:
            if in_time and sent.exception() is None and sent.result().accepted:
                drive.handle = sent.result()
                self.cancel(drive)

        self._await(sent, look, within_s)

    def _await(self, future: Future, act: Callable[[bool], None], limit_s: float) -> None:
        """Have something done about a response, told whether it came in time."""
        executor = self._node.executor
        if executor is not None:
            self._awaited += 1
            executor.create_task(self._act_on, future, act, limit_s)

    async def _act_on(self, future: Future, act: Callable[[bool], None], limit_s: float) -> None:
        try:
            act(await first_of(self._node, limit_s, future))
        finally:
            self._awaited -= 1
            self._on_response()
