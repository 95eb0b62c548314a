"""The events with which the trace of a question begins and ends, as JSON-ready."""

from typing import Any

from remembr_ros.agent.model.answer import Answer, Cost, Question
from remembr_ros.errors import RemembrError
from remembr_ros.geometry import Pose
from remembr_ros.timestamps import format_iso


def asked(question: Question) -> dict[str, Any]:
    """Return the event `asked`."""
    return {
        'question': question.text,
        'now': format_iso(question.now_ns),
        'here': _pose(question.here),
        'frame_id': question.frame_id,
        'map_id': question.map_id,
        'asker': question.asker,
    }


def answered(answer: Answer) -> dict[str, Any]:
    """Return the event `answered`."""
    return {
        'kind': answer.kind.value,
        'text': answer.text,
        'binary': answer.binary,
        'pose': _pose(answer.pose),
        'time': format_iso(answer.time_ns) if answer.time_ns is not None else None,
        'duration_sec': answer.duration_s,
        'evidence': [hit.memory.id for hit in answer.evidence],
        'planner': answer.planner,
        **_cost(answer.cost),
    }


def failed(error: RemembrError, cost: Cost, latency_s: float) -> dict[str, Any]:
    """Return the event `failed`."""
    return {'error': error.kind, 'message': str(error), **_cost(cost), 'latency_sec': latency_s}


def _cost(cost: Cost) -> dict[str, Any]:
    return {
        'llm_calls': cost.llm_calls,
        'prompt_tokens': cost.prompt_tokens,
        'completion_tokens': cost.completion_tokens,
        'tokens_estimated': cost.estimated,
        'latency_sec': round(cost.latency_s, 4),
    }


def _pose(pose: Pose | None) -> list[float] | None:
    """Return x, y, z [m] and yaw [rad]."""
    return [*pose.position, pose.yaw] if pose is not None else None
