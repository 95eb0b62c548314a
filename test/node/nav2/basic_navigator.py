"""BasicNavigator where nav2_simple_commander is not installed: its names, its waits without an end."""

import threading
from enum import Enum
from typing import Any

import rclpy
from action_msgs.msg import GoalStatus
from lifecycle_msgs.srv import GetState
from nav2_msgs.action import FollowWaypoints, NavigateToPose
from rclpy.action import ActionClient
from rclpy.node import Node


class TaskResult(Enum):
    SUCCEEDED = GoalStatus.STATUS_SUCCEEDED
    CANCELED = GoalStatus.STATUS_CANCELED
    FAILED = GoalStatus.STATUS_ABORTED


class BasicNavigator(Node):
    def __init__(self, node_name: str = 'basic_navigator', namespace: str = '') -> None:
        super().__init__(node_name=node_name, namespace=namespace)
        self.goal_handle: Any = None
        self.result_future: Any = None
        self.feedback: Any = None
        self.status: Any = None
        self.nav_to_pose_client = ActionClient(self, NavigateToPose, 'navigate_to_pose')
        self.follow_waypoints_client = ActionClient(self, FollowWaypoints, 'follow_waypoints')

    def goToPose(self, pose: Any, behavior_tree: str = '') -> bool:  # noqa: N802
        return self._go(self.nav_to_pose_client, NavigateToPose.Goal(pose=pose, behavior_tree=behavior_tree))

    def followWaypoints(self, poses: list[Any]) -> bool:  # noqa: N802
        return self._go(self.follow_waypoints_client, FollowWaypoints.Goal(poses=poses))

    def isTaskComplete(self) -> bool:  # noqa: N802
        if not self.result_future:
            return True
        rclpy.spin_until_future_complete(self, self.result_future, timeout_sec=0.10)
        if not self.result_future.result():
            return False
        self.status = self.result_future.result().status
        return True

    def getResult(self) -> Any:  # noqa: N802
        return TaskResult(self.status)

    def getFeedback(self) -> Any:  # noqa: N802
        return self.feedback

    def waitUntilNav2Active(self, navigator: str = 'bt_navigator', localizer: str = 'amcl') -> None:  # noqa: N802
        assert localizer == 'robot_localization', 'with another one it would set the initial pose'
        client = self.create_client(GetState, f'{navigator}/get_state')
        while not client.wait_for_service(timeout_sec=0.2):
            self.info(f'{navigator}/get_state service not available, waiting...')
        state = ''
        while state != 'active':
            self.info(f'Getting {navigator} state...')
            future = client.call_async(GetState.Request())
            rclpy.spin_until_future_complete(self, future)
            state = future.result().current_state.label

    def info(self, msg: str) -> None:
        self.get_logger().info(msg)

    def _go(self, client: ActionClient, goal: Any) -> bool:
        while not client.wait_for_server(timeout_sec=0.2):
            self.info('action server not available, waiting...')
        sent = client.send_goal_async(goal, self._feedbackCallback)
        rclpy.spin_until_future_complete(self, sent)
        self.goal_handle = sent.result()
        if not self.goal_handle.accepted:
            return False
        self.result_future = self.goal_handle.get_result_async()
        return True

    def _feedbackCallback(self, message: Any) -> None:  # noqa: N802
        self.feedback = message.feedback


def shut_down(*agents: Any) -> None:
    """Shut agent nodes down, and see the threads end that BasicNavigator has in them."""
    for agent in agents:
        if not agent.finalized:
            agent.trigger_shutdown()
    for thread in threading.enumerate():
        if thread.name == 'simple_commander':
            thread.join(5.0)
            assert not thread.is_alive()
