"""Action servers with Nav2's names, which do as they are told; also as a process of its own, that can die."""

import os
import signal
import sys
import threading

import rclpy
from geometry_msgs.msg import PoseStamped
from nav2_msgs.action import NavigateToPose
from nav2_msgs.msg import BehaviorTreeLog, BehaviorTreeStatusChange
from nav_msgs.msg import Path
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.executors import MultiThreadedExecutor
from rclpy.node import Node

from remembr_ros.nodes.base.lifecycle import fast_dds_profiles


class Navigator(Node):
    """Serves navigate_to_pose; a goal's behavior_tree says how it ends: succeed, abort, cancel or die;
    refuse: it does not begin.

    It tells its plan, and what failed in its behaviour tree, as Nav2 does.
    """

    def __init__(self, **kwargs) -> None:
        super().__init__('bt_navigator', **kwargs)
        self.ends = threading.Event()
        self._plans = self.create_publisher(Path, 'plan', 10)
        self._log = self.create_publisher(BehaviorTreeLog, 'behavior_tree_log', 10)
        self.server = ActionServer(
            self,
            NavigateToPose,
            'navigate_to_pose',
            self._drive,
            callback_group=ReentrantCallbackGroup(),
            goal_callback=lambda goal: GoalResponse['REJECT' if goal.behavior_tree == 'refuse' else 'ACCEPT'],
            cancel_callback=lambda _: CancelResponse.ACCEPT,
        )

    def _drive(self, handle):
        how = handle.request.behavior_tree
        path = Path(poses=[PoseStamped(), handle.request.pose])
        path.header.frame_id = 'map'
        self._plans.publish(path)
        feedback = NavigateToPose.Feedback(distance_remaining=1.5, number_of_recoveries=2)
        handle.publish_feedback(feedback)
        if how == 'die':
            os.kill(os.getpid(), signal.SIGKILL)
        self.ends.wait(0.15)  # a drive takes a while
        while how == 'cancel' and not handle.is_cancel_requested and not self.ends.wait(0.01):
            pass
        result = NavigateToPose.Result()
        if how == 'cancel':
            handle.canceled()
        elif how == 'abort':
            self._fail('GoalUpdated', 'IDLE')
            self._fail('FollowPath', 'RUNNING')
            self._fail('NavigateRecovery', 'RUNNING')
            result.error_code, result.error_msg = 105, 'failed to make progress'
            handle.abort()
        else:
            handle.succeed()
        return result

    def _fail(self, name: str, before: str) -> None:
        change = BehaviorTreeStatusChange(node_name=name, previous_status=before, current_status='FAILURE')
        change.timestamp.sec = 1  # of another clock
        log = BehaviorTreeLog(event_log=[change])
        log.timestamp = self.get_clock().now().to_msg()
        self._log.publish(log)


def main() -> None:
    rclpy.init(args=sys.argv)
    executor = MultiThreadedExecutor(4)
    with fast_dds_profiles():  # else a response may be dropped, for which the client waits for ever
        executor.add_node(Navigator())
    executor.spin()


if __name__ == '__main__':
    main()
