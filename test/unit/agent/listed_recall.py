"""A recall over a list of memories: fast, and the same every time."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from remembr_ros.geometry import Point, distance
from remembr_ros.memory.matching.terms import content_stems
from remembr_ros.memory.model.recall import ANYTHING, Hit, Scope
from remembr_ros.memory.model.record import Memory


@dataclass
class ListedRecall:
    """Implements remembr_ros.memory.model.recall.Recall, and keeps what it was asked.

    :param before: called before each search, such as to hang
    """

    memories: Sequence[Memory]
    before: Callable[[], object] = lambda: None
    asked: list[str] = field(default_factory=list)

    def by_text(self, text: str, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        asked = content_stems(text)

        def score(memory: Memory) -> float:
            seen = content_stems(f'{memory.caption} {" ".join(memory.scene_text)}')
            return len(asked & seen) / max(len(asked), 1)

        return self._best(f'text {text}', score, scope, limit)

    def by_position(self, position: Point, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        def score(memory: Memory) -> float:
            assert memory.pose is not None
            return 1.0 / (1.0 + distance(memory.pose.position, position))

        placed = [memory for memory in self.memories if memory.pose is not None]
        return self._best('position', score, scope, limit, placed)

    def by_time(self, time_ns: int, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._best('time', lambda memory: -abs(memory.start_ns - time_ns), scope, limit)

    def newest(self, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._best('newest', lambda memory: memory.end_ns, scope, limit)

    def count(self, scope: Scope = ANYTHING) -> int:
        return sum(scope.admits(memory) for memory in self.memories)

    def _best(
        self,
        asked: str,
        score: Callable[[Memory], float],
        scope: Scope,
        limit: int,
        memories: Sequence[Memory] | None = None,
    ) -> list[Hit]:
        self.before()
        self.asked.append(asked)
        inside = [m for m in (self.memories if memories is None else memories) if scope.admits(m)]
        return [Hit(m, score(m)) for m in sorted(inside, key=score, reverse=True)[:limit]]
