"""The action go_to of the agent node: a drive that a person wants, and somebody has to say yes to."""

import time
from collections.abc import Callable

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.action import GoTo
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import is_place
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.agent.ask_endpoints import InquiryAction
from remembr_ros.nodes.agent.ask_request import AskOutcome, Inquiries, Inquiry
from remembr_ros.nodes.agent.parameters import AgentParameters
from remembr_ros.nodes.agent.recall_client import RecallClient
from remembr_ros.nodes.base.bounds import check_texts
from remembr_ros.nodes.base.conversions import frame_name, pose_from_msg, stamped_pose_to_msg
from remembr_ros.nodes.base.managed_node import ManagedNode
from remembr_ros.nodes.base.worker_pool import WorkerPool

CONFIDENCE = 1.0  # that a place is the one meant which a person has pointed at


class GoToAction:
    """Takes drives, while the node is configured, each of which waits for a person's yes.

    :param parameters: those of now: 'timeout' may change at any time [s]
    """

    def __init__(
        self,
        node: ManagedNode,
        parameters: Callable[[], AgentParameters],
        inquiries: Inquiries,
        recall: RecallClient,
    ) -> None:
        self._parameters = parameters
        self._recall = recall
        # Not that of the questions: whoever wants a drive does not wait until a language model has replied.
        pool = WorkerPool(node, 1, 'go_to')
        node.while_configured.callback(pool.close)
        InquiryAction(
            node,
            GoTo,
            'go_to',
            inquiries=inquiries,
            pool=pool,
            inquiry=self._inquiry,
            result=_result,
        )

    def _inquiry(self, request: GoTo.Goal, publish: Callable[[GoTo.Feedback], None]) -> Inquiry:
        inquiry = Inquiry(
            f'drive to {_described(request)}',
            navigate=True,
            deadline=time.monotonic() + self._parameters().timeout,
            asker=request.asker,
            target=lambda: self._target(request),
        )

        def tell(feedback: AskAction.Feedback) -> None:
            if inquiry.goals:
                publish(
                    GoTo.Feedback(
                        stage=feedback.stage,
                        detail=feedback.detail,
                        goal=stamped_pose_to_msg(inquiry.goals[0]),
                        distance_remaining=feedback.distance_remaining,
                        estimated_time_remaining=feedback.estimated_time_remaining,
                    )
                )

        inquiry.on_feedback = tell
        return inquiry

    def _target(self, request: GoTo.Goal) -> Answer:
        """Return where to drive as an answer: what holds for the goal of one holds for this, too.

        :raises InvalidRequest: there is no such memory, or nothing is named
        :raises StoreUnavailable: the memory node does not answer
        """
        frame_id = request.pose.header.frame_id
        check_texts(request)
        if request.memory_id:
            found = self._recall.get([request.memory_id])
            if not found:
                raise InvalidRequest(
                    f'there is no memory {request.memory_id}; it may have been forgotten meanwhile'
                )
            memory = found[0]
        elif frame_id:
            pose = pose_from_msg(request.pose.pose)
            if not is_place(pose):
                raise InvalidRequest(f'the pose {pose} is no place')
            # As a person's note is: where it cannot be reached, the robot stands beside it and faces it.
            frame_id = frame_name(frame_id)
            memory = Memory('', '', 0, 0, 'a place', pose, frame_id, request.map_id, source='person')
        else:
            raise InvalidRequest('give a memory_id, or a pose with the frame_id of the map')
        return Answer(
            Kind.POSITION,
            '',
            '',
            pose=memory.pose,
            frame_id=memory.frame_id,
            map_id=memory.map_id,
            evidence=(Hit(memory, CONFIDENCE),),
            confidence=CONFIDENCE,
        )


def _described(request: GoTo.Goal) -> str:
    if request.memory_id:
        return f'memory {request.memory_id}'
    at = request.pose.pose.position
    return f'x {at.x:.2f} m, y {at.y:.2f} m'


def _result(inquiry: Inquiry, outcome: AskOutcome) -> GoTo.Result:
    result = GoTo.Result(error_code=outcome.error_code, error_msg=outcome.error_msg)
    if inquiry.sent:
        result.goal = stamped_pose_to_msg(inquiry.goals[0])
    return result
