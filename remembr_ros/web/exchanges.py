"""Recent questions and answers: those asked here, and those that the robot heard."""

import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from remembr_ros.agent.model.answer import Answer
from remembr_ros.agent.planner import Progress
from remembr_ros.errors import BudgetExceeded, RemembrError
from remembr_ros.memory.model.outline import Outline
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.web.backend import Backend
from remembr_ros.web.jobs import Job, Jobs

MOST_KEPT = 100  # exchanges
MOST_UNDER_WAY = 4  # questions that are being answered at a time
MOST_WAITING = 8  # questions that wait for that; one more would be answered too late
FORGOTTEN = 'what this answer rested on was forgotten meanwhile'


class TooManyQuestions(BudgetExceeded):
    """Raised when so many questions wait already that one more would be answered too late."""


@dataclass(frozen=True, eq=False)
class Exchange(Job):
    """A question and what became of it: waiting, recalling, thinking or answering; then answered, failed or
    cancelled.

    :param memories_found: so far
    :param own: it was asked here, and not of the robot itself
    """

    question: str = ''
    memories_found: int = 0
    answer: Answer | None = None
    own: bool = True

    @property
    def cited(self) -> set[str]:
        """The ids of the memories that the answer rests on."""
        return {hit.memory.id for hit in self.answer.evidence} if self.answer else set()


class Exchanges(Jobs[Exchange]):
    """Has questions answered, a few at a time, and keeps the last ones. Safe to share between threads.

    :param changed: told every change; called from any thread, at once returning
    """

    def __init__(self, backend: Backend, changed: Callable[[Exchange], None]) -> None:
        super().__init__(
            changed,
            lambda: TooManyQuestions(f'{MOST_WAITING} questions wait already; ask again in a while'),
            at_a_time=MOST_UNDER_WAY,
            most_waiting=MOST_WAITING,
            most_kept=MOST_KEPT,
        )
        self._backend = backend

    def begin(self, question: str, *, asker: str, conversation: str, scope: Scope = ANYTHING) -> Exchange:
        """Have a question answered in a thread of its own, as soon as it is its turn.

        :param asker: who asks, for a person
        :param conversation: what follow-up questions refer to was asked under the same one
        :param scope: which memories count: a window, robots and a map
        :raises TooManyQuestions: others wait already
        """

        def answered(tell: Callable[..., object], cancel: threading.Event) -> dict[str, Any]:
            def on_progress(now: Progress) -> None:
                tell(stage=now.stage, detail=now.detail, memories_found=now.memories_found)

            answer = self._backend.ask(
                question, asker=conversation, scope=scope, on_progress=on_progress, cancel=cancel
            )
            if self._gone(answer):  # while a language model thought
                return {'stage': 'failed', 'detail': FORGOTTEN}
            return {'stage': 'answered', 'detail': '', 'answer': answer}

        return self._start(Exchange(asker, self._backend.now_ns(), 'waiting', question=question), answered)

    def heard(self, question: str, asker: str, answer: Answer) -> None:
        """Keep what somebody else asked the robot."""
        exchange = Exchange(
            asker, self._backend.now_ns(), 'answered', question=question, answer=answer, own=False
        )
        self._keep(replace(exchange, memories_found=len(answer.evidence)))
        # What it rests on may have been forgotten meanwhile; whoever tells of answers does not wait for that.
        threading.Thread(target=lambda: self.forget(self._gone(answer)), name='exchange', daemon=True).start()

    def forget(self, ids: Collection[str]) -> None:
        """Drop the answers that rest on these memories, which are forgotten: they may quote them."""
        with self._lock:
            found = [
                replace(exchange, stage='failed', detail=FORGOTTEN, answer=None)
                for exchange in self._kept.values()
                if not exchange.cited.isdisjoint(ids)
            ]
            self._kept.update((exchange.id, exchange) for exchange in found)
        for exchange in found:
            self._changed(exchange)

    def drop_gone(self, outline: Outline) -> None:
        """Drop the answers that rest on memories which are not there any more, or of which nobody can tell.

        :param outline: of the memories, which may have been read before the newest ones were stored
        """
        cited = set[str]().union(*(exchange.cited for exchange in self.all()))
        known = outline.ids[np.isin(outline.ids, [memory_id.encode() for memory_id in cited])]
        missing = cited.difference(known.astype(str).tolist())
        with suppress(RemembrError):
            missing.difference_update(memory.id for memory in self._backend.get(sorted(missing)))
        self.forget(missing)

    def _gone(self, answer: Answer) -> set[str]:
        """Return which of the memories that an answer rests on are gone; none where nobody can tell."""
        cited = {hit.memory.id for hit in answer.evidence}
        try:
            return cited.difference(memory.id for memory in self._backend.get(sorted(cited)))
        except RemembrError:
            return set()
