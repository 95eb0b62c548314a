"""What a data set consists of: questions with their windows and what is true."""

from collections.abc import Mapping
from collections.abc import Sequence as Several
from dataclasses import dataclass, field, replace
from typing import Protocol

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.planner import Planner, Run
from remembr_ros.geometry import Point
from remembr_ros.memory.model.recall import Hit, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.recall_protocol import Recall

CORRECT_WITHIN_M = 15.0
CORRECT_WITHIN_MIN = 2.0
"""The paper's, both inclusive."""

LENGTHS = ('SHORT', 'MEDIUM', 'LONG')
"""How long the history is that a question looks back on, as the paper groups them."""


FIFTHS = ('0.0-0.2', '0.2-0.4', '0.4-0.6', '0.6-0.8', '0.8-1.0')


def fifth(share: float) -> str:
    """Return the fifth in which a share of a whole lies, 0 to 1."""
    return FIFTHS[min(int(share * len(FIFTHS)), len(FIFTHS) - 1)]


@dataclass(frozen=True, slots=True)
class Truth:
    """The right answer; which fields count depends on the kind.

    :param kind: NOT_SEEN: it was not there
    :param positions: POSITION: where the robot was when it saw the thing, in the map frame [m]; several are
        equally right
    :param times_ns: TIME: when it saw it, nanoseconds since the Unix epoch; several are equally right
    :param duration_min: DURATION: how long [min]
    :param binary: BINARY: yes or no
    :param text: TEXT: a reference answer
    :param within_m: POSITION: a place this near to one of the positions is right [m]
    :param within_min: TIME, DURATION: an answer this near is right [min]
    """

    kind: Kind
    positions: tuple[Point, ...] = ()
    times_ns: tuple[int, ...] = ()
    duration_min: float | None = None
    binary: bool | None = None
    text: str = ''
    within_m: float = CORRECT_WITHIN_M
    within_min: float = CORRECT_WITHIN_MIN


@dataclass(frozen=True, slots=True)
class Sample:
    """A question with what may be known and what is true.

    :param id: unique in its data set
    :param length: one of LENGTHS
    :param question: with now and here as at the end of the window
    :param scope: admits exactly the memories inside the question's window
    :param window_ns: start of the first and end of the last of them
    :param memories: how many they are
    :param relevant: ids of the memories that show the answer
    :param category: by which figures are told; groups: more of these, by what they are called
    """

    id: str
    length: str
    question: Question
    scope: Scope
    window_ns: tuple[int, int]
    memories: int
    relevant: frozenset[str]
    truth: Truth
    category: str = ''
    groups: Mapping[str, str] = field(default_factory=dict)


class Marks(Protocol):
    """Gives marks to answers in words; remembr_bench.evaluation.metrics.judge.Judge is one."""

    def mark(
        self, question: str, reference: str, answer: str, also_right: Several[str] = ()
    ) -> tuple[int | None, str]:
        """Return a mark from 1 to 5, None: there is none; and why."""


class Trial(Protocol):
    """A place in which tasks are tried."""

    def planner(self, name: str, sample_id: str, seed: int) -> Planner | None:
        """Return the planner of a name that only a trial has; None: it is any other one."""
        return None

    def score(
        self, sample_id: str, answer: Answer | None, judge: Marks | None = None
    ) -> tuple[bool | None, dict[str, float], str]:
        """Return whether a task is fulfilled, None: nobody can tell; figures; and why it was not judged."""

    def close(self) -> None:
        """Let go of what it holds."""
        return


@dataclass(frozen=True, slots=True)
class DecidedPlanner:
    """A planner of a trial, whose answer is decided before it is asked."""

    name: str
    decided: Answer

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        run.check()
        return self.decided


def answer_at(planner: str, memories: Several[Memory]) -> Answer:
    """Return an answer that wants the robot at the places of memories, in their order."""
    first = memories[0]
    answer = Answer(
        Kind.POSITION,
        'I chose these.',
        planner,
        pose=first.pose,
        frame_id=first.frame_id,
        map_id=first.map_id,
        evidence=tuple(Hit(memory, 1.0) for memory in memories),
        confidence=1.0,
    )
    return replace(answer, every_place=True, in_order=True) if len(memories) > 1 else answer


@dataclass(frozen=True, slots=True)
class Excluded:
    """A row of the data set that cannot be used, and why."""

    id: str
    question: str
    reason: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """One drive: its memories and the questions about it.

    :param name: unique in its data set
    :param memories: in the order of time
    :param images: keyframes by memory id, JPEG, where there are any
    :param trial: gives its tasks and judges what is chosen; None: the samples are questions
    """

    name: str
    memories: tuple[Memory, ...]
    samples: tuple[Sample, ...]
    excluded: tuple[Excluded, ...]
    images: Mapping[str, tuple[bytes, ...]] = field(default_factory=dict)
    trial: Trial | None = None
