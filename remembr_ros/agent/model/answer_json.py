"""Answers as JSON, the same for the command line and the page's API."""

from typing_extensions import TypedDict

from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.memory.model.codec import HitJson, hit_json, position_json
from remembr_ros.timestamps import NS, format_iso


class AnswerJson(TypedDict):
    """An answer: what it says and rests on, the deciding memory first, and what it took.

    kind is text, binary, position, time, duration or not_seen. Times are ISO 8601 in UTC, position in metres
    and yaw in radians in the map frame. every_place: it is about the places of all evidence, not just the
    first one. confidence, from 0 to 1, says how likely the evidence shows what was asked.
    """

    question: str
    kind: str
    text: str
    binary: bool | None
    position: list[float] | None
    yaw: float | None
    time: str | None
    minutes_ago: float | None
    duration_minutes: float | None
    evidence: list[HitJson]
    every_place: bool
    confidence: float
    planner: str
    llm_calls: int
    prompt_tokens: int
    completion_tokens: int
    latency_sec: float


def answer_json(question: Question, answer: Answer) -> AnswerJson:
    """Return an answer as `remembr ask --json` prints it."""
    time_ns = answer.time_ns
    if time_ns is None and answer.evidence:
        time_ns = answer.evidence[0].memory.end_ns
    return {
        'question': question.text,
        'kind': answer.kind.value,
        'text': answer.text,
        'binary': answer.binary,
        'position': position_json(answer.pose),
        'yaw': answer.pose.yaw if answer.pose else None,
        'time': format_iso(time_ns) if time_ns is not None else None,
        'minutes_ago': (question.now_ns - time_ns) / (60 * NS) if time_ns is not None else None,
        'duration_minutes': answer.duration_s / 60.0 if answer.duration_s is not None else None,
        'evidence': [hit_json(hit) for hit in answer.evidence],
        'every_place': answer.every_place,
        'confidence': answer.confidence,
        'planner': answer.planner,
        'llm_calls': answer.cost.calls,
        'prompt_tokens': answer.cost.prompt_tokens,
        'completion_tokens': answer.cost.completion_tokens,
        'latency_sec': answer.cost.seconds,
    }
