"""What a planner may see of the memory during one question."""

import time
from dataclasses import dataclass, replace
from typing import cast

from remembr_ros.evaluation.records.trace import QuestionTrace
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, Survey, survey_of
from remembr_ros.memory.model.record import PLACE
from remembr_ros.memory.objects.query import FoundObjects, ObjectQuery
from remembr_ros.memory.recall_protocol import Recall
from remembr_ros.memory.search import StoreSearch

ALL = 1_000  # more memories than the longest sequence has


@dataclass(frozen=True, slots=True)
class WindowedRecall:
    """Clips every scope to a window, so that a question cannot see what it should not know.

    :param recall: sees everything
    :param window: its time bounds and map id count
    :param relevant: ids of the only memories that are shown, without objects; None: all
    :param hybrid: recall counts words beside meaning; without, the recall has to be a store
    :param trace: takes down what is recalled
    """

    recall: Recall
    window: Scope
    relevant: frozenset[str] | None = None
    hybrid: bool = True
    trace: QuestionTrace | None = None

    def find(self, query: Query) -> list[Hit]:
        began = time.perf_counter()
        hits = self._find(query)
        # What has names is asked before each question, and no evidence.
        if self.trace is not None and query.scope.source != PLACE:
            self.trace.recalled(query, hits, time.perf_counter() - began)
        return hits

    def count(self, scope: Scope = ANYTHING) -> int:
        if self.relevant is not None:
            return len(self._find(Query(scope=scope, limit=ALL)))
        inside = scope.meet(self.window)
        return 0 if inside is None else self.recall.count(inside)

    @property
    def embedder_name(self) -> str:
        return self.recall.embedder_name

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        if self.relevant is not None:
            return survey_of(hit.memory for hit in self._find(Query(scope=scope, limit=ALL)))
        inside = scope.meet(self.window)
        return Survey(0) if inside is None else self.recall.survey(inside)

    def find_objects(self, query: ObjectQuery) -> FoundObjects:
        inside = query.scope.meet(self.window)
        if inside is None or self.relevant is not None:
            return FoundObjects()
        return self.recall.find_objects(replace(query, scope=inside))

    def _find(self, query: Query) -> list[Hit]:
        inside = query.scope.meet(self.window)
        if inside is None:
            return []
        clipped = replace(query, scope=inside)
        if self.relevant is not None:
            hits = self._recalled(replace(clipped, limit=ALL))
            return query.cut([hit for hit in hits if hit.memory.id in self.relevant])
        return self._recalled(clipped)

    def _recalled(self, query: Query) -> list[Hit]:
        if self.hybrid:
            return self.recall.find(query)
        return cast(StoreSearch, self.recall).find(query, hybrid=False)
