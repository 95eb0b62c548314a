"""What answers questions: a planner, its budget, and what it reports on the way."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from remembr_ros.agent.answer import Answer, Question
from remembr_ros.errors import BudgetExceeded, Cancelled
from remembr_ros.memory.recall import Recall


@dataclass(frozen=True, slots=True)
class Progress:
    """What a planner is doing.

    :param stage: recalling, thinking or answering
    :param detail: for a person
    :param memories_found: so far
    """

    stage: str
    detail: str
    memories_found: int = 0


OnProgress = Callable[[Progress], None]


def ignore_progress(_: Progress) -> None:
    """Report to nobody."""


@dataclass(frozen=True, slots=True)
class Run:
    """One question on its way: how long it may take, whether it is still wanted, whom to tell.

    :param deadline: on time.monotonic's clock [s]
    :param cancel: set when the answer is not wanted any more
    """

    deadline: float
    cancel: threading.Event = field(default_factory=threading.Event)
    on_progress: OnProgress = ignore_progress

    @property
    def remaining_s(self) -> float:
        return self.deadline - time.monotonic()

    def check(self) -> None:
        """Return if there is time left and the answer is still wanted.

        :raises Cancelled: it is not wanted any more
        :raises BudgetExceeded: the time is over
        """
        if self.cancel.is_set():
            raise Cancelled('the question was cancelled')
        if self.remaining_s <= 0.0:
            raise BudgetExceeded('no answer within the time allowed; ask again with a longer timeout')


class Planner(Protocol):
    """Answers questions from memories."""

    @property
    def name(self) -> str:
        """Shown with every answer."""

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        """Answer a question.

        :raises RemembrError: see remembr_ros.errors; never anything else for whatever a model replies
        """
