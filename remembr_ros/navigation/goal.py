"""From an answer to a goal: only a place with evidence, on the robot's current map."""

import math

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.errors import GoalRejected, NoPlace
from remembr_ros.geometry import Pose, wrap_angle


def goal_from_answer(answer: Answer, *, frame_id: str, map_id: str = '') -> Pose:
    """Return where to drive so that the robot stands and faces as it did when it saw what was asked for.

    :param frame_id: the frame that the robot navigates in, such as 'map'
    :param map_id: the map that the robot is on; empty if there is only one
    :raises NoPlace: the answer has none
    :raises GoalRejected: the place has no evidence, or lies in another frame or on another map
    """
    if answer.kind is not Kind.POSITION:
        why = '' if answer.kind is Kind.NOT_SEEN else '; ask where something is'
        raise NoPlace(f'an answer of kind {answer.kind.value} has no place to go to{why}')
    if not answer.evidence:
        raise GoalRejected('the answer rests on no memory')
    if answer.pose is None:
        raise NoPlace('the memory has no place: the pose was not known when it was made')
    if answer.frame_id != frame_id:
        raise GoalRejected(
            f'the place is in the frame {answer.frame_id!r}, but the robot navigates in {frame_id!r}'
        )
    if answer.map_id != map_id:
        raise GoalRejected(
            f'the place is on the map {answer.map_id!r}, but the robot is on {map_id!r}; '
            'its coordinates mean nothing here'
        )
    pose = answer.pose
    if not all(math.isfinite(value) for value in (*pose.position, pose.yaw)):
        raise GoalRejected(f'the pose {pose} is not finite')
    return Pose(pose.x, pose.y, pose.z, wrap_angle(pose.yaw))
