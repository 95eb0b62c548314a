"""Questions and answers of late: those that were asked here, and those that the robot heard."""

import logging
import threading
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from typing import Any

from remembr_ros.agent.model.answer import Answer
from remembr_ros.agent.planner import Progress
from remembr_ros.errors import BudgetExceeded, Cancelled, InvalidRequest, RemembrError
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.web.backend import Backend

logger = logging.getLogger(__name__)

MOST_KEPT = 100  # exchanges; the oldest that is over goes first
MOST_UNDER_WAY = 4  # questions that are being answered at a time
MOST_WAITING = 8  # questions that wait for that
FORGOTTEN = 'what this answer rested on was forgotten meanwhile'


class TooManyQuestions(BudgetExceeded):
    """Raised when so many questions wait already that one more would be answered too late."""


@dataclass(frozen=True, eq=False)  # no slots: weakly referenced
class Exchange:
    """A question and what became of it.

    :param asker: who asked, for a person
    :param at_ns: when, by the robot's clock
    :param stage: waiting, recalling, thinking or answering; then answered, failed or cancelled
    :param detail: of the stage, for a person
    :param memories_found: so far
    :param error: why there is no answer, for a person
    :param own: it was asked here, and not of the robot itself
    """

    id: str
    question: str
    asker: str
    at_ns: int
    stage: str = 'waiting'
    detail: str = ''
    memories_found: int = 0
    answer: Answer | None = None
    error: str = ''
    own: bool = True

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.stage in ('answered', 'failed', 'cancelled')


@dataclass(frozen=True, slots=True)
class _UnderWay:
    id: str
    question: str
    conversation: str
    scope: Scope
    cancel: threading.Event


class Exchanges:
    """Has questions answered, a few at a time, and keeps the last ones. Safe to share between threads.

    :param changed: told every change; called from any thread, at once returning
    """

    def __init__(self, backend: Backend, changed: Callable[[Exchange], None]) -> None:
        self._backend = backend
        self._changed = changed
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Exchange] = OrderedDict()
        self._open: dict[str, _UnderWay] = {}
        self._waiting: deque[_UnderWay] = deque()
        self._answering = 0

    def all(self) -> list[Exchange]:
        """Return those that are kept, the newest last."""
        with self._lock:
            return list(self._kept.values())

    def get(self, exchange_id: str) -> Exchange | None:
        """Return one of those that are kept."""
        with self._lock:
            return self._kept.get(exchange_id)

    def begin(self, question: str, *, asker: str, conversation: str, scope: Scope = ANYTHING) -> Exchange:
        """Have a question answered in a thread of its own, as soon as it is its turn.

        :param asker: who asks, for a person
        :param conversation: what follow-up questions refer to was asked under the same one
        :param scope: which memories count: a window, robots and a map
        :raises TooManyQuestions: others wait already
        """
        exchange = Exchange(uuid.uuid4().hex, question, asker, self._backend.now_ns())
        under_way = _UnderWay(exchange.id, question, conversation, scope, threading.Event())
        with self._lock:
            if len(self._waiting) >= MOST_WAITING:
                raise TooManyQuestions(f'{MOST_WAITING} questions wait already; ask again in a while')
            self._keep(exchange)
            self._open[exchange.id] = under_way
            self._waiting.append(under_way)
        self._changed(exchange)
        self._next()
        return exchange

    def heard(self, question: str, asker: str, answer: Answer) -> None:
        """Keep what somebody else asked the robot."""
        exchange = Exchange(
            uuid.uuid4().hex,
            question,
            asker,
            self._backend.now_ns(),
            'answered',
            memories_found=len(answer.evidence),
            answer=answer,
            own=False,
        )
        with self._lock:
            self._keep(exchange)
        self._changed(exchange)
        # What it rests on may have been forgotten meanwhile; whoever tells of answers does not wait for that.
        check = threading.Thread(target=lambda: self.forget(self._gone(answer)), name='exchange', daemon=True)
        check.start()

    def cancel(self, exchange_id: str) -> Exchange:
        """End a question that nobody wants answered any more, and return it.

        :raises InvalidRequest: it is over
        :raises KeyError: there is none
        """
        with self._lock:
            exchange = self._kept[exchange_id]
            under_way = self._open.get(exchange_id)
            if under_way is None:
                raise InvalidRequest('this question is over, there is nothing to cancel')
            under_way.cancel.set()
            if under_way in self._waiting:
                self._waiting.remove(under_way)
        # At once: a thread that waits for a database hears of it later.
        return self._end(under_way, stage='cancelled', error='the question was cancelled') or exchange

    def cited(self) -> set[str]:
        """Return the ids of the memories that the kept answers rest on."""
        return {hit.memory.id for one in self.all() if one.answer for hit in one.answer.evidence}

    def forget(self, ids: Collection[str]) -> None:
        """Drop the answers that rest on these memories, which are forgotten: they may quote them."""
        with self._lock:
            found = [
                replace(one, stage='failed', detail='', answer=None, error=FORGOTTEN)
                for one in self._kept.values()
                if one.answer and any(hit.memory.id in ids for hit in one.answer.evidence)
            ]
            self._kept.update((one.id, one) for one in found)
        for exchange in found:
            self._changed(exchange)

    def close(self) -> None:
        """End every question that is under way."""
        for exchange_id in list(self._open):
            try:
                self.cancel(exchange_id)
            except (InvalidRequest, KeyError):
                continue  # it ended meanwhile

    def _keep(self, exchange: Exchange) -> None:
        """Keep a new one in place of the oldest that is over. The lock is held."""
        self._kept[exchange.id] = exchange
        if len(self._kept) > MOST_KEPT:
            del self._kept[next(key for key, one in self._kept.items() if one.is_over)]

    def _next(self) -> None:
        """Begin with the next one that waits, if it is its turn."""
        with self._lock:
            if self._answering >= MOST_UNDER_WAY or not self._waiting:
                return
            under_way = self._waiting.popleft()
            self._answering += 1
        # A daemon: what hangs in a database shall not keep the process from its end.
        threading.Thread(target=self._run, args=[under_way], name='exchange', daemon=True).start()

    def _run(self, under_way: _UnderWay) -> None:
        def tell(progress: Progress) -> None:
            self._change(
                under_way.id,
                stage=progress.stage,
                detail=progress.detail,
                memories_found=progress.memories_found,
            )

        try:
            answer = self._backend.ask(
                under_way.question,
                asker=under_way.conversation,
                scope=under_way.scope,
                on_progress=tell,
                cancel=under_way.cancel,
            )
            if self._gone(answer):  # while a language model thought
                self._end(under_way, stage='failed', error=FORGOTTEN)
            else:
                self._end(under_way, stage='answered', detail='', answer=answer)
        except Cancelled as error:
            self._end(under_way, stage='cancelled', error=str(error))
        except RemembrError as error:
            self._end(under_way, stage='failed', error=str(error))
        except Exception:
            logger.exception('a question failed')
            self._end(under_way, stage='failed', error='the question failed; the log of the server says why')
        finally:
            with self._lock:
                self._answering -= 1
            self._next()

    def _gone(self, answer: Answer) -> set[str]:
        """Return which of the memories that an answer rests on are gone; none where nobody can tell."""
        cited = {hit.memory.id for hit in answer.evidence}
        try:
            return cited.difference(memory.id for memory in self._backend.get(sorted(cited)))
        except RemembrError:
            return set()

    def _end(self, under_way: _UnderWay, **fields: Any) -> Exchange | None:
        with self._lock:
            if self._open.pop(under_way.id, None) is None:
                return None  # it was cancelled meanwhile
        return self._change(under_way.id, over=True, **fields)

    def _change(self, exchange_id: str, *, over: bool = False, **fields: Any) -> Exchange | None:
        with self._lock:
            exchange = self._kept.get(exchange_id)
            if exchange is None or (not over and exchange_id not in self._open):
                return None
            exchange = self._kept[exchange_id] = replace(exchange, **fields)
        self._changed(exchange)
        return exchange
