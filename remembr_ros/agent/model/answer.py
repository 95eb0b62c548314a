"""Questions, answers, and what they cost in calls of a language model; answers as JSON."""

import threading
from dataclasses import dataclass, field
from datetime import timezone, tzinfo
from enum import Enum

from typing_extensions import TypedDict

from remembr_ros.agent.model.same_place import USUAL, SamePlace
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.codec import HitJson, hit_json, position_json
from remembr_ros.memory.model.recall import ANYTHING, Hit, Scope
from remembr_ros.memory.places.places import NOWHERE, Places
from remembr_ros.timestamps import NS, format_iso


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used. No calls: no language model was asked.

    :param calls: that a model began to answer
    :param seconds: that it took, for a question with all that is done besides [s]
    :param estimated: a server did not count all of the tokens; those are a quarter of the characters
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    estimated: bool = False

    def __add__(self, other: 'Usage') -> 'Usage':
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.seconds + other.seconds,
            self.estimated or other.estimated,
        )


class Ledger:
    """Adds up what is used, whoever uses it and whatever becomes of that; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """All that was charged so far."""
        return self._usage

    def charge(self, usage: Usage) -> None:
        """Add what was used."""
        with self._lock:
            self._usage += usage


class Kind(str, Enum):
    """What an answer consists of."""

    TEXT = 'text'
    BINARY = 'binary'
    POSITION = 'position'
    TIME = 'time'
    DURATION = 'duration'
    NOT_SEEN = 'not_seen'


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked, and the situation it is asked in.

    :param text: in a person's words
    :param now_ns: the asker's now (robot time, which may be simulated), nanoseconds since the Unix epoch
    :param here: where the robot is now, in the map frame; None if unknown
    :param frame_id: the frame of here
    :param map_id: the map that the robot is on
    :param asker: who asks, so that follow-up questions have a context; empty: there are none
    :param zone: the asker's time zone: what 'yesterday' and '3 pm' are
    :param prior: what the same asker asked before, where this question refers to it
    :param same_place: which memories were made at one place
    :param scope: which memories count, whatever the text says
    :param places: those with names
    """

    text: str
    now_ns: int
    here: Pose | None = None
    frame_id: str = 'map'
    map_id: str = ''
    asker: str = ''
    zone: tzinfo = timezone.utc
    prior: 'Turn | None' = None
    same_place: SamePlace = USUAL
    scope: Scope = ANYTHING
    places: Places = NOWHERE


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer by reference: pose, time and duration come from the evidence.

    :param kind: which of the fields below count
    :param text: a sentence to show or to speak
    :param planner: what answered: 'offline' or the language model's name
    :param binary: kind BINARY: yes or no; None otherwise
    :param pose: where the evidence was seen from, in the map frame: set for POSITION, else where known
    :param frame_id: the frame of pose
    :param map_id: the map of pose
    :param time_ns: kind TIME: when, nanoseconds since the Unix epoch
    :param duration_s: kind DURATION: how long [s]
    :param evidence: what the answer rests on, the deciding memory first; empty for NOT_SEEN
    :param every_place: kind POSITION: it is about the places of all evidence, not just of the first
    :param in_order: the same, and they are to be visited in the order of the evidence
    :param confidence: how likely the evidence shows what was asked, 0 to 1; of 'no' and NOT_SEEN: how likely
        nothing shows it; 0: nobody knows
    :param cost: what it took
    """

    kind: Kind
    text: str
    planner: str
    binary: bool | None = None
    pose: Pose | None = None
    frame_id: str = 'map'
    map_id: str = ''
    time_ns: int | None = None
    duration_s: float | None = None
    evidence: tuple[Hit, ...] = ()
    every_place: bool = False
    in_order: bool = False
    confidence: float = 0.0
    cost: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class Turn:
    """A question that was answered."""

    question: str
    answer: Answer


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
