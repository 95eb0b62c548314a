"""An action whose goals are questions, or drives, on their way through the agent node."""

from collections.abc import Callable
from typing import Any

from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.action.server import ServerGoalHandle
from rclpy.callback_groups import ReentrantCallbackGroup

from remembr_msgs.action import Ask
from remembr_ros.nodes.agent.ask_request import AskOutcome, Inquiries, Inquiry
from remembr_ros.nodes.base import qos
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.worker_pool import WorkerPool


class InquiryAction:
    """Offers an action while the node is configured; a goal can be cancelled at any point.

    :param node: goals are taken while it is active, else rejected
    :param pool: on whose threads they are worked at
    :param inquiry: made of a goal's request, and of what publishes feedback
    :param result: the action's, of what became of one
    """

    def __init__(
        self,
        node: ManagedNode,
        kind: type[Any],
        name: str,
        *,
        inquiries: Inquiries,
        pool: WorkerPool,
        inquiry: Callable[[Any, Callable[[Any], None]], Inquiry],
        result: Callable[[Inquiry, AskOutcome], Any],
    ) -> None:
        self._inquiries = inquiries
        self._pool = pool
        self._inquiry = inquiry
        self._result = result
        self._by_goal: dict[bytes, Inquiry] = {}
        server = ActionServer(
            node,
            kind,
            name,
            self._execute,
            # Reentrant: a goal that awaits its outcome does not keep the next one waiting.
            callback_group=ReentrantCallbackGroup(),
            goal_callback=lambda _: GoalResponse.ACCEPT if node.active else GoalResponse.REJECT,
            cancel_callback=self._on_cancel,
            goal_service_qos_profile=qos.SERVICES,
            result_service_qos_profile=qos.SERVICES,
            cancel_service_qos_profile=qos.SERVICES,
        )
        node.while_configured.callback(server.destroy)

    async def _execute(self, goal: ServerGoalHandle) -> Any:
        key = bytes(goal.goal_id.uuid)
        inquiry = self._inquiry(goal.request, goal.publish_feedback)
        inquiry.follow = True
        self._by_goal[key] = inquiry
        if goal.is_cancel_requested:
            self._inquiries.cancel(inquiry)
        outcome = await self._inquiries.outcome(inquiry, self._pool)
        del self._by_goal[key]
        if outcome.error_code == Ask.Result.NONE:
            goal.succeed()
        elif outcome.error_code == Ask.Result.CANCELLED and goal.is_cancel_requested:
            goal.canceled()
        else:
            goal.abort()
        return self._result(inquiry, outcome)

    def _on_cancel(self, goal: ServerGoalHandle) -> CancelResponse:
        inquiry = self._by_goal.get(bytes(goal.goal_id.uuid))
        if inquiry is not None:
            self._inquiries.cancel(inquiry)
        return CancelResponse.ACCEPT
