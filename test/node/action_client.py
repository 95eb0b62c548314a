"""An action client for threads beside the executor's."""

import threading
from typing import Any

import rclpy.action


class ActionClient(rclpy.action.ActionClient):
    """Takes no response before it knows of the request, and goes between two looks of the executor.

    rclpy's sends first and writes down the request afterwards: a response that an executor in another thread
    takes in between is thrown away ("Ignoring unexpected goal response"), and its future never completes. And
    it is destroyed before it leaves its node: that executor may wait for it meanwhile ("action client pointer
    is invalid").
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

    def destroy(self) -> None:
        gone = threading.Event()

        def go() -> None:
            super(ActionClient, self).destroy()
            gone.set()

        self._node.executor.create_task(go)
        assert gone.wait(10.0)
