"""What a data set consists of: questions with their windows and what is true."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from remembr_ros.agent.model.answer import Answer, Kind, Question
from remembr_ros.agent.planner import Planner, Run
from remembr_ros.geometry import Point
from remembr_ros.memory.model.recall import Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.memory.recall_protocol import Recall

CORRECT_WITHIN_M = 15.0
CORRECT_WITHIN_MIN = 2.0
"""The paper's, both inclusive."""

LENGTHS = ('SHORT', 'MEDIUM', 'LONG')
"""How long the history is that a question looks back on, as the paper groups them."""


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
    :param category: of a task, by which figures are told
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


class Trial(Protocol):
    """A place in which tasks are tried."""

    def planner(self, name: str, sample_id: str, seed: int) -> Planner | None:
        """Return the planner of a name that only a trial has; None: it is any other one."""

    def score(self, sample_id: str, answer: Answer | None) -> tuple[bool, dict[str, float], str]:
        """Return whether a task is fulfilled, figures, and why nothing could be judged; empty: it was."""

    def close(self) -> None:
        """Let go of what it holds."""


@dataclass(frozen=True, slots=True)
class DecidedPlanner:
    """A planner of a trial, whose answer is decided before it is asked."""

    name: str
    decided: Answer

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        run.check()
        return self.decided


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
