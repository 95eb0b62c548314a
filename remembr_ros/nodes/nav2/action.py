"""Nav2's two actions that drive: a drive on its way through them, and how it is cancelled."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from action_msgs.msg import GoalStatusArray
from action_msgs.srv import CancelGoal
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import qos_profile_action_status_default
from rclpy.subscription import Subscription
from rclpy.task import Future

from remembr_ros.errors import InvalidRequest, NavigationFailed, Preempted
from remembr_ros.geometry import StampedPose
from remembr_ros.navigation.verdict import verdict
from remembr_ros.nodes.base.conversions import duration_from_msg, stamped_pose_to_msg, time_from_msg
from remembr_ros.nodes.base.services import first_of

PROGRESS_S = 0.5  # Nav2 tells where it is a hundred times a second; it is handed on after this time [s]


@dataclass(frozen=True)
class Nav2Progress:
    """How far a drive is.

    :param distance_m: along the way to the present place [m]; NaN: Nav2 does not tell
    :param remaining_s: estimated time to get there [s]; 0: Nav2 does not tell
    :param recoveries: how often Nav2 had to free the robot
    :param places: still to get to, the present one included
    """

    distance_m: float
    remaining_s: float
    recoveries: int
    places: int


@dataclass(eq=False)
class Nav2Drive:
    """One drive, through its places in this order.

    :param on_taken: called when Nav2 has accepted it
    :param on_progress: called now and then on the way
    """

    goals: tuple[StampedPose, ...]
    on_taken: Callable[[], None] = lambda: None
    on_progress: Callable[[Nav2Progress], None] = lambda progress: None
    stopped: Future = field(default_factory=Future)  # completes with the error that it is to end with
    server: 'Nav2Action | None' = None  # where it was sent
    handle: Any = None  # rclpy's ClientGoalHandle, or what stands for it
    result: Future | None = None
    cancelled: bool = False
    heard_at: float = 0.0
    told_at: float = -math.inf
    missing_since: float | None = None

    def raise_if_stopped(self) -> None:
        """Raise the error that it is to end with, if it is."""
        if self.stopped.done():
            raise self.stopped.result()

    def heard(self, message: Any) -> None:
        """Take Nav2's feedback."""
        now = self.heard_at = time.monotonic()
        if now - self.told_at >= PROGRESS_S and not self.stopped.done():
            self.told_at = now
            self.on_progress(_progress(message.feedback, len(self.goals)))


class Nav2Action:
    """One action of Nav2's, and what its server tells all clients about its goals.

    :param kind: the type of the action
    :param name: its full name
    """

    def __init__(self, node: Node, kind: type[Any], name: str) -> None:
        self._node = node
        self._kind = kind
        self._goals: dict[bytes, int] = {}
        self.name = name
        self.client = ActionClient(node, kind, name)
        self._status: Subscription | None = node.create_subscription(
            GoalStatusArray, f'{name}/_action/status', self._on_status, qos_profile_action_status_default
        )

    def destroy(self) -> None:
        """Give the client back; may be called again."""
        if self._status is not None:
            self._node.destroy_subscription(self._status)
            self._status = None
            self.client.destroy()

    def close(self) -> None:
        """See to it that what was sent last is on its way, and send no more."""

    def send(self, drive: Nav2Drive) -> Future:
        """Send a drive's goal; what completes has the handle of the goal."""
        sent: Future = self.client.send_goal_async(self.goal(drive.goals), drive.heard)
        return sent

    def is_ready(self) -> bool:
        """Return whether there is a server that takes goals."""
        return bool(self.client.server_is_ready())

    def goal(self, goals: Sequence[StampedPose]) -> Any:
        """Return Nav2's goal for one place, or for several."""
        poses = [stamped_pose_to_msg(goal) for goal in goals]
        goal = self._kind.Goal()
        if hasattr(goal, 'poses'):
            goal.poses = poses
        else:
            goal.pose = poses[0]
        return goal

    def verdict(self, drive: Nav2Drive) -> NavigationFailed | None:
        """Return why a drive that Nav2 has ended is not at its goal; None: it is."""
        assert drive.result is not None
        assert drive.handle is not None
        response = drive.result.result()
        # Humble has no error code, and its missed waypoints are numbers.
        missed = getattr(response.result, 'missed_waypoints', ())
        return verdict(
            response.status,
            error_code=getattr(response.result, 'error_code', 0),
            error_msg=getattr(response.result, 'error_msg', ''),
            missed=[
                int(getattr(place, 'index', getattr(place, 'waypoint_index', place))) for place in missed
            ],
            places=len(drive.goals),
            superseded=self._has_newer(bytes(drive.handle.goal_id.uuid)),
        )

    def _has_newer(self, goal_id: bytes) -> bool:
        own = self._goals.get(goal_id)
        return own is not None and any(stamp > own for stamp in self._goals.values())

    def _on_status(self, msg: GoalStatusArray) -> None:
        self._goals = {
            bytes(status.goal_info.goal_id.uuid): time_from_msg(status.goal_info.stamp)
            for status in msg.status_list
        }


MakeAction = Callable[[type[Any], str], Nav2Action]
"""Makes an action of its type and full name."""


def nav2_actions(make: MakeAction, namespace: str) -> tuple[Nav2Action, Nav2Action]:
    """Return the action for one place, NavigateToPose, and the one for several, FollowWaypoints.

    :param namespace: where Nav2's actions are, such as '/' or '/robot1'
    :raises InvalidRequest: nav2_msgs is not installed
    """
    try:
        from nav2_msgs.action import FollowWaypoints, NavigateToPose
    except ImportError as error:
        raise InvalidRequest(
            'driving by Nav2 needs nav2_msgs (apt install ros-$ROS_DISTRO-nav2-msgs); or set navigation to '
            'goal_pose'
        ) from error
    root = namespace.rstrip('/')
    return make(NavigateToPose, f'{root}/navigate_to_pose'), make(FollowWaypoints, f'{root}/follow_waypoints')


def _progress(feedback: Any, places: int) -> Nav2Progress:
    if hasattr(feedback, 'current_waypoint'):
        return Nav2Progress(math.nan, 0.0, 0, places - min(feedback.current_waypoint, places - 1))
    return Nav2Progress(
        float(feedback.distance_remaining),
        duration_from_msg(feedback.estimated_time_remaining),
        max(0, feedback.number_of_recoveries),
        places,
    )


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
            fault = 'did not confirm a cancel'
            if in_time:
                response = asked.result()
                # What is over needs no cancelling, and a goal that a newer one has replaced may be beyond it.
                # A server in Python refuses with an empty list alone.
                if response.goals_canceling or response.return_code in _OVER or preempted:
                    return
                fault = 'refused to cancel a goal'
            self._node.get_logger().error(f'{name} {fault}: the robot may still be driving; stop it in Nav2')

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
