"""The action go_to of the agent node: a drive that a person wants, between its messages and an answer."""

from remembr_msgs.action import Ask as AskAction
from remembr_msgs.action import GoTo
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import StampedPose, is_place
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory
from remembr_ros.nodes.agent.ask_request import AskOutcome, Inquiry
from remembr_ros.nodes.agent.recall_client import RecallClient
from remembr_ros.nodes.base.bounds import check_texts
from remembr_ros.nodes.base.conversions import frame_name, pose_from_msg, stamped_pose_to_msg

CONFIDENCE = 1.0  # that a place is the one meant which a person has pointed at


def drive_target(request: GoTo.Goal, recall: RecallClient) -> Answer:
    """Return where to drive as an answer: what holds for the goal of one holds for this, too.

    :raises InvalidRequest: there is no such memory, or nothing is named
    :raises StoreUnavailable: the memory node does not answer
    """
    check_texts(request)
    frame_id = request.pose.header.frame_id
    if request.memory_id:
        memory = next(iter(recall.get([request.memory_id])), None)
        if memory is None:
            raise InvalidRequest(
                f'there is no memory {request.memory_id}; it may have been forgotten meanwhile'
            )
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


def described(request: GoTo.Goal) -> str:
    """Return where a request is about to drive to, for the log."""
    at = request.pose.pose.position
    return f'memory {request.memory_id}' if request.memory_id else f'x {at.x:.2f} m, y {at.y:.2f} m'


def drive_feedback(feedback: AskAction.Feedback, goal: StampedPose) -> GoTo.Feedback:
    """Return the feedback of a question's drive as that of this action."""
    return GoTo.Feedback(
        stage=feedback.stage,
        detail=feedback.detail,
        goal=stamped_pose_to_msg(goal),
        distance_remaining=feedback.distance_remaining,
        estimated_time_remaining=feedback.estimated_time_remaining,
    )


def drive_result(inquiry: Inquiry, outcome: AskOutcome) -> GoTo.Result:
    """Return what became of a drive; its goal, if the robot was sent there."""
    result = GoTo.Result(error_code=outcome.error_code, error_msg=outcome.error_msg)
    if inquiry.sent:
        result.goal = stamped_pose_to_msg(inquiry.goals[0])
    return result
