"""What a planner may see of the memory during one question."""

from dataclasses import dataclass, replace

from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, Survey, survey_of
from remembr_ros.memory.objects.query import FoundObjects, ObjectQuery
from remembr_ros.memory.recall import Recall
from remembr_ros.memory.search import StoreSearch

ALL = 1_000  # more memories than the longest sequence has


@dataclass(frozen=True, slots=True)
class TunedRecall:
    """A store's recall with a part of it switched off.

    :param hybrid: see StoreSearch.find
    """

    store: StoreSearch
    hybrid: bool = True

    def find(self, query: Query) -> list[Hit]:
        return self.store.find(query, hybrid=self.hybrid)

    def count(self, scope: Scope = ANYTHING) -> int:
        return self.store.count(scope)

    @property
    def embedder_name(self) -> str:
        return self.store.embedder_name

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        return self.store.survey(scope)

    def find_objects(self, query: ObjectQuery) -> FoundObjects:
        return self.store.find_objects(query)


@dataclass(frozen=True, slots=True)
class WindowedRecall:
    """Clips every scope to a window, so that a question cannot see what it should not know.

    :param recall: sees everything
    :param window: its time bounds and map id count
    """

    recall: Recall
    window: Scope

    def find(self, query: Query) -> list[Hit]:
        inside = query.scope.meet(self.window)
        return [] if inside is None else self.recall.find(replace(query, scope=inside))

    def count(self, scope: Scope = ANYTHING) -> int:
        inside = scope.meet(self.window)
        return 0 if inside is None else self.recall.count(inside)

    @property
    def embedder_name(self) -> str:
        return self.recall.embedder_name

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        inside = scope.meet(self.window)
        return Survey(0) if inside is None else self.recall.survey(inside)

    def find_objects(self, query: ObjectQuery) -> FoundObjects:
        inside = query.scope.meet(self.window)
        return FoundObjects() if inside is None else self.recall.find_objects(replace(query, scope=inside))


@dataclass(frozen=True, slots=True)
class OracleRecall:
    """Shows the memories that hold the answer, and no others.

    :param recall: sees the whole window
    :param relevant: ids of those memories
    """

    recall: Recall
    relevant: frozenset[str]

    def find(self, query: Query) -> list[Hit]:
        hits = self.recall.find(replace(query, limit=ALL))
        return query.cut([hit for hit in hits if hit.memory.id in self.relevant])

    def count(self, scope: Scope = ANYTHING) -> int:
        return len(self.find(Query(scope=scope, limit=ALL)))

    @property
    def embedder_name(self) -> str:
        return self.recall.embedder_name

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        return survey_of(hit.memory for hit in self.find(Query(scope=scope, limit=ALL)))

    def find_objects(self, query: ObjectQuery) -> FoundObjects:
        return FoundObjects()
