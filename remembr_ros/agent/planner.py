"""The interface of a planner, its budget, and its progress reports."""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from remembr_ros.agent.model.answer import Answer, Ledger, Question
from remembr_ros.errors import BudgetExceeded, Cancelled
from remembr_ros.memory.recall_protocol import Recall

logger = logging.getLogger(__name__)

TOKEN_BUDGET = 32_000  # Prompt tokens per question; three rounds of fifteen long captions take some 25,000


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


Record = Callable[[str, Mapping[str, Any]], None]
"""Takes down an event of a question's trace: its name, and what JSON can say of it."""


class Recorder(Protocol):
    """Takes down what happens to questions."""

    def begin(self) -> Record:
        """Return what takes down the events of one question."""


def record_nothing(_event: str, _about: Mapping[str, Any]) -> None:
    """Keep no trace."""


@dataclass(frozen=True, slots=True)
class Run:
    """One question on its way: how long it may take, whether it is still wanted, whom to tell.

    :param deadline: on time.monotonic's clock [s]
    :param cancel: set when the answer is not wanted any more
    :param on_progress: what it raises is logged, and no concern of the question
    :param record: takes down what happens, for the trace
    :param ledger: what its calls of a language model have taken so far, whichever planner made them
    """

    deadline: float
    cancel: threading.Event = field(default_factory=threading.Event)
    on_progress: OnProgress = ignore_progress
    record: Record = record_nothing
    ledger: Ledger = field(default_factory=Ledger)

    def __post_init__(self) -> None:
        tell = self.on_progress

        def tell_safely(progress: Progress) -> None:
            try:
                tell(progress)
            except Exception:
                logger.exception('the progress of a question could not be told')

        object.__setattr__(self, 'on_progress', tell_safely)

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
