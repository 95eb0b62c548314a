"""The record of one question, a line of answers.jsonl, and its trace."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from remembr_bench.evaluation.datasets.sample import Sample
from remembr_bench.evaluation.metrics.scores import Outcome
from remembr_bench.evaluation.pacing import PacedChat
from remembr_ros.agent.model.answer import Answer, Kind, Usage
from remembr_ros.agent.planner import Record
from remembr_ros.agent.trace import without_repetitions
from remembr_ros.geometry import Point
from remembr_ros.memory.model.recall import Hit, Query
from remembr_ros.timestamps import NS


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True, extra='forbid')


class TruthRecord(_Record):
    """What is right; see remembr_bench.evaluation.datasets.sample.Truth. Times are minutes before now."""

    kind: Kind
    positions: tuple[Point, ...] = ()
    minutes_ago: tuple[float, ...] = ()
    duration_minutes: float | None = None
    binary: bool | None = None
    text: str = ''


class AnswerRecord(_Record):
    """What the planner answered; which fields count depends on the kind."""

    kind: Kind
    text: str
    planner: str
    binary: bool | None = None
    position: Point | None = None
    minutes_ago: float | None = None
    duration_minutes: float | None = None
    evidence: tuple[str, ...] = ()  # ids of memories, the deciding one first
    confidence: float = 0.0  # of the planner, 0 to 1


class QuestionRecord(_Record):
    """What became of one question."""

    sequence: str  # name of the sequence, such as 'navqa-0'
    id: str  # unique in the sequence
    seed: int  # of the language model; a run asks each question once per seed
    question: str
    length: str  # SHORT, MEDIUM or LONG
    history_sec: float  # how far the question's window looks back [s]
    window_ns: tuple[int, int]  # start of the first and end of the last memory that the planner may see
    memories: int  # how many that are
    now_ns: int  # the asker's now
    here: Point | None  # where the robot is then, in the map frame [m]
    truth: TruthRecord
    answer: AnswerRecord | None  # None: the planner failed, or only retrieval was measured
    outcome: Outcome
    correct: bool | None
    error: float | None  # [m] for a position, [min] for a time or a duration; None: there is none
    # kind text: whether the answer is the reference, apart from case, punctuation and articles
    exact: bool | None = None
    token_f1: float | None = None  # kind text: words shared with the reference, 0 to 1
    verdict: str = ''  # kind text: what the judge said; empty: there is no judge
    # ids of the memories that hold the answer; none: it is nowhere, or not known where
    relevant: tuple[str, ...] = ()
    # place of the answer window among the memories found with the raw question; None: not there
    rank: int | None = None
    hits: tuple[str, ...] = ()  # ids of those memories, best first
    failure: str = ''  # why there is no answer or no score
    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    latency_sec: float | None = None
    category: str = ''  # by which figures are told
    groups: dict[str, str] = Field(default_factory=dict)  # more of these, by what they are called
    figures: dict[str, float] = Field(default_factory=dict)  # of a task: see remembr_bench.evaluation.tasks

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells it from the others of a run."""
        return (self.sequence, self.id, self.seed)


def truth_record(sample: Sample) -> TruthRecord:
    """Return a sample's truth as it is kept."""
    truth, now_ns = sample.truth, sample.question.now_ns
    return TruthRecord(
        kind=truth.kind,
        positions=truth.positions,
        minutes_ago=tuple((now_ns - time_ns) / (60 * NS) for time_ns in truth.times_ns),
        duration_minutes=truth.duration_min,
        binary=truth.binary,
        text=truth.text,
    )


def answer_record(answer: Answer, now_ns: int) -> AnswerRecord:
    """Return an answer as it is kept.

    :param now_ns: the asker's now
    """
    return AnswerRecord(
        kind=answer.kind,
        text=answer.text,
        planner=answer.planner,
        binary=answer.binary,
        position=answer.pose.position if answer.pose else None,
        minutes_ago=(now_ns - answer.time_ns) / (60 * NS) if answer.time_ns is not None else None,
        duration_minutes=answer.duration_s / 60.0 if answer.duration_s is not None else None,
        evidence=tuple(hit.memory.id for hit in answer.evidence),
        confidence=answer.confidence,
    )


MAX_HITS = 50  # of one recall that are written down


@dataclass
class QuestionTrace:
    """Grows while a question is answered.

    :ivar recalls: JSON-ready
    :ivar chat: see :func:`remembr_ros.agent.chat.bounded_call.chat_event`; its seconds are the model's own
    :ivar pace: what made the calls wait for their turn
    """

    recalls: list[dict[str, Any]] = field(default_factory=list)
    chat: list[dict[str, Any]] = field(default_factory=list)
    pace: PacedChat | None = None
    _waited_before_s: float = 0.0

    def begin(self) -> Record:
        """Return what takes down the talk with the language model."""
        return without_repetitions(self._record)

    def recalled(self, query: Query, hits: Sequence[Hit], seconds: float) -> None:
        """Take down what was recalled."""
        asked = {'text': query.text, 'position': query.place, 'time': query.time_ns, 'newest': None}
        by = next((name for name, value in asked.items() if value is not None), 'newest')
        self.recalls.append(
            {
                'by': by,
                'asked': asked[by],
                'scope': {name: value for name, value in asdict(query.scope).items() if value is not None},
                'limit': query.limit,
                'hits': [[hit.memory.id, round(hit.score, 4)] for hit in hits[:MAX_HITS]],
                'seconds': round(seconds, 4),
            }
        )

    def _record(self, event: str, about: Mapping[str, Any]) -> None:
        if event == 'chat':
            waited_s, self._waited_before_s = self.waited_s - self._waited_before_s, self.waited_s
            self.chat.append({**about, 'seconds': round(max(about['seconds'] - waited_s, 0.0), 3)})

    @property
    def waited_s(self) -> float:
        """How long the calls have waited for their turn, which is not the planner's time [s]."""
        return self.pace.waited_s if self.pace is not None else 0.0

    @property
    def spent(self) -> Usage:
        """What the calls of the language model took."""
        prompt, completion = (
            sum(call.get(name, 0) for call in self.chat) for name in ('prompt_tokens', 'completion_tokens')
        )
        return Usage(len(self.chat), prompt, completion)
