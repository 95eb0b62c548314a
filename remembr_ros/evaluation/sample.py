"""What a data set consists of: questions with their windows and what is true."""

from dataclasses import dataclass

from remembr_ros.agent.answer import Kind, Question
from remembr_ros.geometry import Point
from remembr_ros.memory.recall import Scope
from remembr_ros.memory.record import Memory

LENGTHS = ('SHORT', 'MEDIUM', 'LONG')
"""How long the history is that a question looks back on, as the paper groups them."""


@dataclass(frozen=True, slots=True)
class Truth:
    """The right answer; which fields count depends on the kind.

    :param kind: never NOT_SEEN
    :param positions: POSITION: where the robot was when it saw the thing, in the map frame [m]; several are
        equally right
    :param times_ns: TIME: when it saw it, nanoseconds since the Unix epoch; several are equally right
    :param duration_min: DURATION: how long [min]
    :param binary: BINARY: yes or no
    :param text: TEXT: a reference answer
    """

    kind: Kind
    positions: tuple[Point, ...] = ()
    times_ns: tuple[int, ...] = ()
    duration_min: float | None = None
    binary: bool | None = None
    text: str = ''


@dataclass(frozen=True, slots=True)
class Sample:
    """A question with what may be known and what is true.

    :param id: unique in its data set
    :param length: one of LENGTHS
    :param question: with now and here as at the end of the window
    :param scope: admits exactly the memories inside the question's window
    :param memories: how many memories that are
    :param relevant: ids of the memories that show the answer
    """

    id: str
    length: str
    question: Question
    scope: Scope
    memories: int
    relevant: frozenset[str]
    truth: Truth


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
    """

    name: str
    memories: tuple[Memory, ...]
    samples: tuple[Sample, ...]
    excluded: tuple[Excluded, ...]
