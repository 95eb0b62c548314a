"""An action client for threads beside the executor's."""

import threading
from typing import Any

import rclpy.action


class ActionClient(rclpy.action.ActionClient):
    """Takes no response before it knows of the request.

    rclpy's sends first and writes down the request afterwards: a response that an executor in another thread
    takes in between is thrown away ("Ignoring unexpected goal response"), and its future never completes.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._sending = threading.RLock()
        super().__init__(*args, **kwargs)

    def take_data(self) -> Any:
        with self._sending:
            return super().take_data()

    def send_goal_async(self, *args: Any, **kwargs: Any) -> Any:
        with self._sending:
            return super().send_goal_async(*args, **kwargs)

    def _get_result_async(self, goal_handle: Any) -> Any:
        with self._sending:
            return super()._get_result_async(goal_handle)

    def _cancel_goal_async(self, goal_handle: Any) -> Any:
        with self._sending:
            return super()._cancel_goal_async(goal_handle)
