"""A recall that sees a part of the memory: for follow-up questions, and within a question's time."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from remembr_ros.agent.llm.in_parallel import in_parallel
from remembr_ros.agent.model.same_place import USUAL, SamePlace
from remembr_ros.agent.planner import Run
from remembr_ros.errors import RemembrError
from remembr_ros.geometry import Point
from remembr_ros.memory.model.recall import ANYTHING, Hit, Recall, Scope
from remembr_ros.memory.model.record import Memory

_T = TypeVar('_T')

OVERFETCH = 4
"""Times as many memories are recalled where some are left out afterwards."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a follow-up question is about.

    :param after_ns: memories that start after this
    :param before_ns: memories that end before this
    :param elsewhere: memories that were not made at these places, each with its map
    :param same_place: which are
    :param without: ids of memories that are left out
    """

    after_ns: int | None = None
    before_ns: int | None = None
    elsewhere: tuple[tuple[str, Point], ...] = ()
    same_place: SamePlace = USUAL
    without: frozenset[str] = frozenset()

    def admits(self, memory: Memory) -> bool:
        """Tell whether a memory is inside."""
        if self.after_ns is not None and memory.start_ns <= self.after_ns:
            return False
        if self.before_ns is not None and memory.end_ns >= self.before_ns:
            return False
        if memory.id in self.without:
            return False
        places = [place for map_id, place in self.elsewhere if map_id == memory.map_id]
        mapped = memory.frame_id, memory.map_id
        return memory.pose is None or not any(self.same_place.joins(mapped, memory.pose.position, places))


EVERYTHING = Narrowing()


class NarrowedRecall:
    """Leaves out what a follow-up question is not about, and waits no longer than a question allows.

    :param recall: sees everything; may hang
    :param run: of the question
    """

    def __init__(self, recall: Recall, run: Run, narrowing: Narrowing = EVERYTHING) -> None:
        self._recall = recall
        self._run = run
        self._narrowing = narrowing

    def by_text(self, text: str, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._hits(scope, limit, lambda inside, more: self._recall.by_text(text, inside, more))

    def by_position(self, position: Point, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._hits(scope, limit, lambda inside, more: self._recall.by_position(position, inside, more))

    def by_time(self, time_ns: int, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._hits(scope, limit, lambda inside, more: self._recall.by_time(time_ns, inside, more))

    def newest(self, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._hits(scope, limit, self._recall.newest)

    def count(self, scope: Scope = ANYTHING) -> int:
        """Return how many memories there are in the scope and the times; left out places count."""
        inside = self._inside(scope)
        return 0 if inside is None else self._wait(lambda: self._recall.count(inside))

    def _hits(self, scope: Scope, limit: int, find: Callable[[Scope, int], list[Hit]]) -> list[Hit]:
        narrowing = self._narrowing
        if narrowing == EVERYTHING:
            return self._wait(lambda: find(scope, limit))
        inside = self._inside(scope)
        if inside is None:
            return []
        more = OVERFETCH * limit + len(narrowing.without)
        hits = self._wait(lambda: find(inside, more))
        return [hit for hit in hits if narrowing.admits(hit.memory)][:limit]

    def _inside(self, scope: Scope) -> Scope | None:
        """Return the part of a scope within the times; None: there is none."""
        after = max((t for t in (scope.after_ns, self._narrowing.after_ns) if t is not None), default=None)
        before = min((t for t in (scope.before_ns, self._narrowing.before_ns) if t is not None), default=None)
        if (after, before) == (scope.after_ns, scope.before_ns):
            return scope
        if after is not None and before is not None and after > before:
            return None
        return replace(scope, after_ns=after, before_ns=before)

    def _wait(self, call: Callable[[], _T]) -> _T:
        (outcome,) = in_parallel([call], self._run)
        if isinstance(outcome, RemembrError):
            raise outcome
        return outcome
