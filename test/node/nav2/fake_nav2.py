"""Nav2's two action servers and its navigator's state as far as a client can see them; also a program."""

import sys
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import rclpy
from builtin_interfaces.msg import Duration
from lifecycle_msgs.msg import State
from lifecycle_msgs.srv import GetState
from nav2_msgs.action import FollowWaypoints, NavigateToPose
from nav2_msgs.msg import MissedWaypoint
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.node import Node
from rclpy.task import Future

from remembr_ros.nodes.base.worker_pool import settle

TICK_S = 0.02


@dataclass(eq=False)
class Run:
    """A goal that was accepted."""

    goal: Any
    name: str
    ended: Future = field(default_factory=Future)
    end: str = ''
    ticks: int = 0

    @property
    def request(self) -> Any:
        return self.goal.request


class FakeNav2(Node):
    """Does what it is told to with each goal, and keeps them.

    As in Nav2 a newer goal takes the place of an older one of the same action, which is aborted without a
    reason; and waypoints that are cancelled cancel whatever drives.

    :param behaviour: arrive, abort, drive (until something ends it), silent (drive, and tell nothing),
        reject, or mute (say neither yes nor no until :meth:`answer`)
    """

    def __init__(self, behaviour: str = 'drive') -> None:
        super().__init__('fake_nav2')
        self.behaviour = behaviour
        self.missed: list[int] = []
        self.heeds_cancel = True
        self.answered = Future()
        self.asked = 0
        self.runs: list[Run] = []
        self.events: list[str] = []
        group = ReentrantCallbackGroup()
        self._servers = [
            ActionServer(
                self,
                kind,
                name,
                partial(self._execute, name),
                goal_callback=self._on_goal,
                cancel_callback=self._on_cancel,
                callback_group=group,
            )
            for kind, name in ((NavigateToPose, 'navigate_to_pose'), (FollowWaypoints, 'follow_waypoints'))
        ]
        self.create_timer(TICK_S, self._tick)
        self.state = 'active'
        self.create_service(GetState, 'bt_navigator/get_state', self._on_get_state, callback_group=group)

    def go_away(self) -> None:
        """Take the servers out of service, as when Nav2 is shut down."""
        for server in self._servers:
            server.destroy()

    def answer(self) -> None:
        """Say yes to whoever still waits for it."""
        settle(self, self.answered)

    def finish(self, run: Run, end: str) -> None:
        """End a goal: arrive, abort or cancel."""
        run.end = run.end or end
        settle(self, run.ended)

    async def _on_goal(self, _: Any) -> GoalResponse:
        self.asked += 1
        if self.behaviour == 'mute':
            await self.answered
        return GoalResponse.REJECT if self.behaviour == 'reject' else GoalResponse.ACCEPT

    def _on_get_state(self, _: Any, response: GetState.Response) -> GetState.Response:
        response.current_state = State(label=self.state)
        return response

    def _on_cancel(self, _: Any) -> CancelResponse:
        self.events.append('cancel')
        return CancelResponse.ACCEPT if self.heeds_cancel else CancelResponse.REJECT

    async def _execute(self, name: str, goal: Any) -> Any:
        run = Run(goal, name)
        for older in self.runs:
            if older.name == name:
                self.finish(older, 'abort without a reason')
        self.runs.append(run)
        self.events.append(f'accept {name}')
        await run.ended
        result = (NavigateToPose if name == 'navigate_to_pose' else FollowWaypoints).Result()
        if name == 'follow_waypoints':
            result.missed_waypoints = [MissedWaypoint(index=index) for index in self.missed]
        if run.end == 'arrive':
            goal.succeed()
        elif run.end == 'cancel':
            goal.canceled()
        else:
            if run.end == 'abort':
                result.error_code, result.error_msg = 104, 'no valid path'
            goal.abort()
        self.events.append(run.end)
        return result

    def _tick(self) -> None:
        for run in [run for run in self.runs if not run.ended.done()]:
            run.ticks += 1
            if run.goal.is_cancel_requested:
                self.finish(run, 'cancel')
                if run.name == 'follow_waypoints':
                    for other in self.runs:
                        self.finish(other, 'cancel' if other.goal.is_cancel_requested else 'abort')
            elif self.behaviour in ('arrive', 'abort') and run.ticks > 5:
                self.finish(run, self.behaviour)
            elif self.behaviour != 'silent':
                run.goal.publish_feedback(_feedback(run))


def _feedback(run: Run) -> Any:
    if run.name == 'follow_waypoints':
        last = len(run.request.poses) - 1
        return FollowWaypoints.Feedback(current_waypoint=min(run.ticks // 20, last))
    return NavigateToPose.Feedback(
        distance_remaining=max(0.0, 10.0 - run.ticks * TICK_S),
        estimated_time_remaining=Duration(sec=7, nanosec=500_000_000),
        number_of_recoveries=2,
    )


if __name__ == '__main__':
    rclpy.init()
    rclpy.spin(FakeNav2(*sys.argv[1:]))
