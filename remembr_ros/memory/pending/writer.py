"""Writes to a server that may be away: observations wait in a spool."""

import logging
import threading
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from remembr_ros.errors import InvalidRequest, RemembrError, StoreUnavailable
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.model.storable import storable
from remembr_ros.memory.pending.spool import Spool

logger = logging.getLogger(__name__)

BATCH = 32  # observations that are drained at once
RETRY_S = 2.0  # [s] between attempts while the server is away
CLOSE_S = 5.0  # [s] for what is on its way to the server when this is closed


@dataclass(frozen=True, slots=True)
class SpoolState:
    """What waits for the server.

    :param spooled: observations
    :param bytes: that they take
    :param oldest_ns: when the first of them ended; None: there is none
    :param away: the last attempt to store has failed
    :param problem: why; empty if it has not
    """

    spooled: int
    bytes: int
    oldest_ns: int | None
    away: bool
    problem: str


class SpoolingWriter:
    """Stores observations at once or, while the server is away, later and in order. For many threads.

    :param store_now: stores observations durably; storing one again changes nothing; raises StoreUnavailable
        while the server is away, InvalidRequest for what can never be stored
    :param spool: closed with this
    :param is_forgotten: tells whether one was forgotten since it was heard: it does not wait
    :param retry_s: between attempts while the server is away [s]
    """

    def __init__(
        self,
        store_now: Callable[[Sequence[Observation]], list[Memory | None]],
        spool: Spool,
        is_forgotten: Callable[[Observation], bool] = lambda observation: False,
        retry_s: float = RETRY_S,
    ) -> None:
        self._store_now = store_now
        self._spool = spool
        self._is_forgotten = is_forgotten
        self._retry_s = retry_s
        self._adding = threading.Lock()
        self._draining = threading.Lock()
        self._wake = threading.Condition()
        self._problem = ''
        self._closing = False
        self._thread = threading.Thread(target=self._drain, name='spool', daemon=True)
        self._thread.start()

    def add(self, observations: Sequence[Observation]) -> list[Memory | None]:
        """Store observations, now or later; they survive whatever happens once this returns.

        :return: the memories; those that wait are without the names of their keyframes; None: forgotten
        :raises InvalidRequest: a memory makes no sense; nothing is stored
        :raises StoreUnavailable: the server is away, and the spool is full or does not work
        """
        # Before anything is acknowledged: what makes no sense would stay in the spool for ever.
        observations = [replace(o, memory=storable(o.memory)) for o in observations]
        with self._adding:
            if not self._spool.count:  # what is being drained counts until it is stored
                try:
                    stored = self._store_now(observations)
                except StoreUnavailable as error:
                    self._note(str(error))
                else:
                    self._note('')
                    return stored
            waiting = [replace(o, heard_ns=o.heard_ns or time.time_ns()) for o in observations]
            waiting = [observation for observation in waiting if not self._is_forgotten(observation)]
            self._spool.append(waiting)
        with self._wake:
            self._wake.notify_all()
        ids = {observation.memory.id for observation in waiting}
        return [o.memory if o.memory.id in ids else None for o in observations]

    def queued(self) -> list[Observation]:
        """Return what waits, without images."""
        return self._spool.queued()

    def forget(self, ids: Collection[str]) -> None:
        """Remove waiting memories; see :meth:`Spool.forget`."""
        with self._adding, self._draining:  # nothing is on its way meanwhile
            self._spool.forget(ids)

    def state(self) -> SpoolState:
        """Return what waits."""
        spool = self._spool
        problem = self._problem
        return SpoolState(spool.count, spool.size, spool.oldest_ns, bool(problem), problem)

    def close(self) -> None:
        """Stop; what waits is stored after the next start."""
        with self._wake:
            self._closing = True
            self._wake.notify_all()
        self._thread.join(CLOSE_S)

    def _drain(self) -> None:
        try:
            while self._due():
                self._drain_once()
        finally:
            self._spool.close()

    def _due(self) -> bool:
        """Wait until something waits; return False to end."""
        with self._wake:
            self._wake.wait_for(lambda: self._closing or self._spool.count)
            return not self._closing

    def _drain_once(self) -> None:
        try:
            with self._draining:
                self._store_first()
        except Exception as error:
            if not isinstance(error, RemembrError) and not self._problem:
                logger.exception('cannot store what waits in %s', self._spool.path)
            self._note(str(error) or type(error).__name__)
            with self._wake:
                self._wake.wait_for(lambda: self._closing, self._retry_s)
        else:
            self._note('')

    def _store_first(self) -> None:
        """Store the observations that came first, and drop them."""
        first = self._spool.peek(BATCH)
        if not first:  # forgotten meanwhile
            return
        try:
            self._store_now(first)
        except InvalidRequest:  # one of them: the others must not wait for it
            for observation in first:
                self._store_what_can_be(observation)
        self._spool.drop(len(first))

    def _store_what_can_be(self, observation: Observation) -> None:
        """Store an observation that was acknowledged; without its keyframes if those are damaged."""
        memory_id = observation.memory.id
        try:
            try:
                self._store_now([observation])
            except InvalidRequest as error:
                if not observation.images:
                    raise
                self._store_now([replace(observation, images=())])
                logger.error('memory %s is stored without keyframes: %s', memory_id, error)
        except InvalidRequest as error:
            logger.error('memory %s can never be stored: %s', memory_id, error)

    def _note(self, problem: str) -> None:
        """Log when the server goes and comes."""
        if problem and not self._problem:
            logger.warning('memories wait in %s: %s', self._spool.path, problem)
        elif self._problem and not problem:
            logger.info('memories are stored again')
        self._problem = problem
