"""One retrieval with the raw question, then rules: what more recalling and rewording is worth."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, Survey, survey_of
from remembr_ros.memory.objects.query import FoundObjects, ObjectQuery
from remembr_ros.memory.recall_protocol import Recall


class OneCallPlanner:
    """Decides by the offline planner's rules, on a memory that holds no more than what one retrieval found.

    What fits is decided by the scores of the raw question, whose other words lower them. With a language
    model the same is LoopPlanner(rounds=1, calls_per_round=1).

    :param memories: retrieved
    """

    name = 'one_call'

    def __init__(self, memories: int = 15) -> None:
        self._memories = memories
        self._rules = OfflinePlanner()

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        run.check()
        run.on_progress(Progress('recalling', question.text))
        scope = Scope(map_id=question.map_id or None)
        hits = recall.find(Query(question.text, scope=scope, limit=self._memories))
        found = _Found(hits, recall.embedder_name)
        return replace(self._rules.answer(question, found, run), planner=self.name)


@dataclass(frozen=True, slots=True)
class _Found:
    """A recall that has nothing but these hits; by text it returns them all, whatever the text."""

    hits: Sequence[Hit]
    embedder_name: str

    def find(self, query: Query) -> list[Hit]:
        hits = [
            hit.measured(query.place, query.time_ns) for hit in self.hits if query.scope.admits(hit.memory)
        ]
        if query.place is not None:
            hits = [hit for hit in hits if hit.memory.pose is not None]
            hits.sort(key=lambda hit: hit.distance_m or 0.0)
        elif query.around:
            hits.sort(key=lambda hit: (hit.memory.start_ns, hit.memory.id))
        elif query.time_ns is not None:
            hits.sort(key=lambda hit: abs(hit.offset_s or 0.0))
        elif query.text is None:
            hits.sort(key=lambda hit: -hit.memory.end_ns)
        return query.cut(hits)

    def count(self, scope: Scope = ANYTHING) -> int:
        return sum(scope.admits(hit.memory) for hit in self.hits)

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        return survey_of(hit.memory for hit in self.hits if scope.admits(hit.memory))

    def find_objects(self, query: ObjectQuery) -> FoundObjects:
        return FoundObjects()
