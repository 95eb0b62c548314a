"""What comes late into a store: it waits in queues meanwhile, and is not stored if it was forgotten."""

import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from typing import Protocol

from remembr_ros.memory.model.engine import Engine
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.pending.forgetting import Forgetting, evidence_of, forgetting_from, quotes_forgotten
from remembr_ros.timestamps import NS

KEPT_NS = 90 * 86_400 * NS
"""So long a robot may be away with what was forgotten meanwhile; see docs/fleet.md."""
AT_HAND = 1000  # forgettings of this process
AT_ONCE_NS = NS  # what is stored within this time has not waited for anything
ANSWERED_NS = 3600 * NS  # so long an answer may take, whose memories are forgotten meanwhile


class Queue(Protocol):
    """Where observations wait on their way into a store."""

    def queued(self) -> Sequence[Observation]:
        """Return those that are not known to be stored."""

    def forget(self, ids: Collection[str]) -> None:
        """Remove those of these ids, if they still wait: no file has them when this returns."""


class Latecomers:
    """The queues before a store, and the forgettings that hold for what is in them. For many threads."""

    def __init__(self) -> None:
        self.queues: list[Queue] = []
        self._forgettings: deque[Forgetting] = deque(maxlen=AT_HAND)

    def queued(self, meant: Callable[[Observation], bool]) -> list[Observation]:
        """Return what waits and meets a condition."""
        return [observation for queue in self.queues for observation in queue.queued() if meant(observation)]

    def now_ns(self) -> int:
        """Return the time, after all that waits was heard: the clock may have been put back since."""
        return max([time.time_ns(), *(waiting.heard_ns for waiting in self.queued(lambda _: True))])

    def forget(self, meant: Callable[[Observation], bool]) -> set[str]:
        """Remove what waits and meets a condition; return the ids."""
        gone = {observation.memory.id for observation in self.queued(meant)}
        for queue in self.queues:
            queue.forget(gone)
        return gone

    def note(self, forgettings: Sequence[Forgetting], engine: Engine | None = None) -> None:
        """From now on these hold in this process and, where an engine is given, for whoever uses that."""
        self._forgettings += forgettings
        if engine is not None and forgettings:
            oldest_ns = max(forgetting.at_ns for forgetting in forgettings) - KEPT_NS
            engine.note([(of.at_ns, of.to_text()) for of in forgettings], oldest_ns)

    def is_forgotten(self, observation: Observation) -> bool:
        """Tell whether somebody of this process has forgotten an observation since it was heard."""
        return any(forgetting.holds(observation) for forgetting in list(self._forgettings))

    def admitted(self, engine: Engine, observations: Sequence[Observation], waited: bool) -> list[bool]:
        """Tell which observations are to be stored: nobody has forgotten them since, or what they quote.

        :param waited: they come from a queue of this store
        """
        held = self._held(engine, observations, waited)
        return [
            not any(forgetting.holds(observation) for forgetting in held)
            and not quotes_forgotten(observation, held, engine.get)
            for observation in observations
        ]

    def _held(self, engine: Engine, observations: Sequence[Observation], waited: bool) -> list[Forgetting]:
        """Return the forgettings that may mean some of these: of this process and, of what has waited or
        rests on others, whoever's."""
        heard = [observation.heard_ns for observation in observations if observation.heard_ns]
        if not heard:
            return []
        quoting = any(evidence_of(observation.memory) for observation in observations)
        if not (waited or quoting or min(heard) < time.time_ns() - AT_ONCE_NS):
            return list(self._forgettings)
        noted = engine.noted(min(heard) - quoting * ANSWERED_NS)
        return [*self._forgettings, *(forgetting_from(*one) for one in noted)]
