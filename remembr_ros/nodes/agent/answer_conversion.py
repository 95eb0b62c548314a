"""Conversion between answers and messages."""

import math

from remembr_msgs.msg import Answer as AnswerMsg
from remembr_ros.agent.model.answer import Answer, Kind, Usage
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import StampedPose
from remembr_ros.nodes.base.conversions import (
    duration_from_msg,
    duration_to_msg,
    pose_from_msg,
    stamped_pose_to_msg,
    time_from_msg,
    time_to_msg,
)
from remembr_ros.nodes.base.memory_conversion import hit_from_msg, hit_to_msg

KINDS = {kind: int(getattr(AnswerMsg, kind.name)) for kind in Kind}


def answer_to_msg(answer: Answer, *, question: str = '', asker: str = '') -> AnswerMsg:
    """Return an answer as a message.

    :param question: what was asked
    :param asker: who asked; may be empty
    """
    msg = AnswerMsg(
        kind=KINDS[answer.kind],
        text=answer.text,
        binary=bool(answer.binary),
        map_id=answer.map_id,
        evidence=[hit_to_msg(hit) for hit in answer.evidence],
        planner=answer.planner,
        confidence=answer.confidence,
        llm_calls=answer.cost.calls,
        prompt_tokens=answer.cost.prompt_tokens,
        completion_tokens=answer.cost.completion_tokens,
        latency=float(answer.cost.seconds),
        question=question,
        asker=asker,
    )
    if answer.pose is not None:
        stamp_ns = answer.evidence[0].memory.start_ns if answer.evidence else 0
        msg.pose = stamped_pose_to_msg(StampedPose(stamp_ns, answer.pose, answer.frame_id))
    if answer.time_ns is not None:
        msg.time = time_to_msg(answer.time_ns)
    if answer.duration_s is not None:
        msg.duration = duration_to_msg(answer.duration_s)
    return msg


def answer_from_msg(msg: AnswerMsg) -> Answer:
    """Return the answer that a message holds; whether it is about every place is not in it.

    :raises InvalidRequest: the message makes no sense
    """
    kind = next((kind for kind, number in KINDS.items() if number == msg.kind), None)
    if kind is None:
        raise InvalidRequest(f'an answer of kind {msg.kind}; is the agent node of another version?')
    if not (math.isfinite(msg.confidence) and math.isfinite(msg.latency)):
        raise InvalidRequest(f'an answer of confidence {msg.confidence}, after {msg.latency} s: no numbers')
    return Answer(
        kind,
        msg.text,
        msg.planner,
        binary=msg.binary if kind is Kind.BINARY else None,
        pose=pose_from_msg(msg.pose.pose) if msg.pose.header.frame_id else None,
        frame_id=msg.pose.header.frame_id,
        map_id=msg.map_id,
        time_ns=time_from_msg(msg.time) if kind is Kind.TIME else None,
        duration_s=duration_from_msg(msg.duration) if kind is Kind.DURATION else None,
        evidence=tuple(hit_from_msg(memory) for memory in msg.evidence),
        confidence=msg.confidence,
        cost=Usage(msg.llm_calls, msg.prompt_tokens, msg.completion_tokens, msg.latency),
    )
