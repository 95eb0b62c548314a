"""Recall limited to the scope and the time of a question."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TypeVar

from remembr_ros.agent.in_parallel import in_parallel
from remembr_ros.agent.model.same_place import USUAL, SamePlace
from remembr_ros.agent.planner import Run
from remembr_ros.errors import RemembrError
from remembr_ros.geometry import Point
from remembr_ros.memory.deeds.deed import TALK
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, Survey
from remembr_ros.memory.model.record import AGENT, Memory
from remembr_ros.memory.objects.query import FoundObjects, ObjectQuery
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.memory.search import MAX_LIMIT

_T = TypeVar('_T')
OVERFETCH = 4  # Times as many memories are recalled where some are left out afterwards


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


@dataclass(frozen=True, slots=True)
class NarrowedRecall:
    """Leaves out what a question is not about, and waits no longer than it allows.

    :param recall: sees everything; may hang
    :param run: of the question
    :param scope: of the question
    """

    recall: Recall
    run: Run
    narrowing: Narrowing = EVERYTHING
    scope: Scope = ANYTHING
    _found: dict[str, list[Hit]] = field(default_factory=dict, repr=False, compare=False)

    def find(self, query: Query) -> list[Hit]:
        asked = repr(query)  # of what a question recalls a seventh to a third is recalled again, at 7 ms each
        if asked not in self._found:
            self._found[asked] = self._find(query)
        return list(self._found[asked])

    def _find(self, query: Query) -> list[Hit]:
        inside = self._inside(query.scope)
        if inside is None:
            return []
        limit = query.limit
        if self.narrowing != EVERYTHING:
            limit = OVERFETCH * limit + len(self.narrowing.without)
        while True:
            more = replace(query, scope=inside, limit=limit)
            hits = self._wait(lambda more=more: self.recall.find(more))  # type: ignore[misc]
            # What was asked and answered before is no evidence, unless what the robot did is asked for.
            fitting = [hit for hit in hits if inside.source == AGENT or hit.memory.captioner != TALK]
            kept = [hit for hit in fitting if self.narrowing.admits(hit.memory)]
            if len(fitting) == len(hits) or len(kept) >= query.limit or limit >= MAX_LIMIT:
                return query.cut(kept)
            limit = min(OVERFETCH * limit, MAX_LIMIT)

    def count(self, scope: Scope = ANYTHING) -> int:
        """Return how many memories there are in the scope and the times; left out places count."""
        inside = self._inside(scope)
        return 0 if inside is None else self._wait(lambda: self.recall.count(inside))

    @property
    def embedder_name(self) -> str:
        return self.recall.embedder_name

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        """Return what there is in the scope and the times; left out places count."""
        inside = self._inside(scope)
        return Survey(0) if inside is None else self._wait(lambda: self.recall.survey(inside))

    def find_objects(self, query: ObjectQuery) -> FoundObjects:
        """Return the objects in the scope and the times that are not left out; left out places count."""
        inside = self._inside(query.scope)
        if inside is None:
            return FoundObjects()
        found = self._wait(lambda: self.recall.find_objects(replace(query, scope=inside)))
        left = tuple(one for one in found.objects if one.known.id not in self.narrowing.without)
        return replace(found, objects=left, total=found.total - len(found.objects) + len(left))

    def _inside(self, scope: Scope) -> Scope | None:
        met = scope.meet(self.scope)
        return met and met.within(self.narrowing.after_ns, self.narrowing.before_ns)

    def _wait(self, call: Callable[[], _T]) -> _T:
        (outcome,) = in_parallel([call], self.run)
        if isinstance(outcome, RemembrError):
            raise outcome
        return outcome
