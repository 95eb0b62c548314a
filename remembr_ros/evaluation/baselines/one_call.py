"""One retrieval with the raw question, then rules: what more recalling and rewording is worth."""

from collections.abc import Sequence
from dataclasses import replace

from remembr_ros.agent.model.answer import Answer, Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.planner import Progress, Run
from remembr_ros.errors import InvalidRequest
from remembr_ros.geometry import Point, distance
from remembr_ros.memory.model.recall import ANYTHING, Hit, Recall, Scope
from remembr_ros.memory.model.record import Memory
from remembr_ros.timestamps import NS

MAX_MEMORIES = 1_000


class OneCallPlanner:
    """Decides by the offline planner's rules, on a memory that holds no more than what one retrieval found.

    What fits is decided by the scores of the raw question, whose other words lower them. With a language
    model the same is LoopPlanner(rounds=1, calls_per_round=1).

    :param memories: retrieved, 1 to MAX_MEMORIES
    :raises InvalidRequest: so many make no sense
    """

    def __init__(self, memories: int = 15) -> None:
        if not 1 <= memories <= MAX_MEMORIES:
            raise InvalidRequest(f'memories is {memories}; it lies between 1 and {MAX_MEMORIES}')
        self._memories = memories
        self._rules = OfflinePlanner()

    @property
    def name(self) -> str:
        return 'one_call'

    def answer(self, question: Question, recall: Recall, run: Run) -> Answer:
        run.check()
        run.on_progress(Progress('recalling', question.text))
        scope = Scope(map_id=question.map_id or None)
        found = _Found(recall.by_text(question.text, scope, self._memories))
        return replace(self._rules.answer(question, found, run), planner=self.name)


class _Found:
    """A recall that has nothing but these hits; by text it returns them all, whatever the text."""

    def __init__(self, hits: Sequence[Hit]) -> None:
        self._hits = hits

    def by_text(self, text: str, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._inside(scope)[:limit]

    def by_position(self, position: Point, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        hits = [
            replace(hit, distance_m=distance(hit.memory.pose.position, position))
            for hit in self._inside(scope)
            if hit.memory.pose is not None
        ]
        return sorted(hits, key=lambda hit: hit.distance_m or 0.0)[:limit]

    def by_time(self, time_ns: int, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        hits = [replace(hit, offset_s=_offset_s(hit.memory, time_ns)) for hit in self._inside(scope)]
        return sorted(hits, key=lambda hit: abs(hit.offset_s or 0.0))[:limit]

    def newest(self, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return sorted(self._inside(scope), key=lambda hit: -hit.memory.end_ns)[:limit]

    def count(self, scope: Scope = ANYTHING) -> int:
        return len(self._inside(scope))

    def _inside(self, scope: Scope) -> list[Hit]:
        return [hit for hit in self._hits if scope.admits(hit.memory)]


def _offset_s(memory: Memory, time_ns: int) -> float:
    nearest = min(max(time_ns, memory.start_ns), memory.end_ns)
    return (nearest - time_ns) / NS
