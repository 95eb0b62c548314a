"""What a planner may see of the memory during one question."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from remembr_ros.geometry import Point
from remembr_ros.memory.model.recall import ANYTHING, Hit, Recall, Scope
from remembr_ros.memory.search import StoreSearch

ALL = 1_000
"""More memories than the longest sequence has."""


@dataclass(frozen=True, slots=True)
class TunedRecall:
    """A store's recall with parts of it switched off.

    :param diverse: see StoreSearch.by_text
    :param hybrid: see StoreSearch.by_text
    """

    store: StoreSearch
    diverse: bool = True
    hybrid: bool = True

    def by_text(self, text: str, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self.store.by_text(text, scope, limit, diverse=self.diverse, hybrid=self.hybrid)

    def by_position(self, position: Point, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self.store.by_position(position, scope, limit)

    def by_time(self, time_ns: int, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self.store.by_time(time_ns, scope, limit)

    def newest(self, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self.store.newest(scope, limit)

    def count(self, scope: Scope = ANYTHING) -> int:
        return self.store.count(scope)


class WindowedRecall:
    """Clips every scope to a window, so that a question cannot see what it should not know.

    :param recall: sees everything
    :param window: its time bounds and map id count
    """

    def __init__(self, recall: Recall, window: Scope) -> None:
        self._recall = recall
        self._window = window

    def by_text(self, text: str, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._found(scope, lambda clipped: self._recall.by_text(text, clipped, limit))

    def by_position(self, position: Point, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._found(scope, lambda clipped: self._recall.by_position(position, clipped, limit))

    def by_time(self, time_ns: int, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._found(scope, lambda clipped: self._recall.by_time(time_ns, clipped, limit))

    def newest(self, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._found(scope, lambda clipped: self._recall.newest(clipped, limit))

    def count(self, scope: Scope = ANYTHING) -> int:
        clipped = self._clip(scope)
        return self._recall.count(clipped) if clipped is not None else 0

    def _found(self, scope: Scope, find: Callable[[Scope], list[Hit]]) -> list[Hit]:
        clipped = self._clip(scope)
        return find(clipped) if clipped is not None else []

    def _clip(self, scope: Scope) -> Scope | None:
        """Return the part of the scope inside the window; None if nothing is."""
        window = self._window
        if window.map_id is not None and scope.map_id not in (None, window.map_id):
            return None
        after_ns = max((t for t in (scope.after_ns, window.after_ns) if t is not None), default=None)
        before_ns = min((t for t in (scope.before_ns, window.before_ns) if t is not None), default=None)
        # An empty window that was asked for is the caller's mistake, for the recall to tell.
        if _is_empty(after_ns, before_ns) and not _is_empty(scope.after_ns, scope.before_ns):
            return None
        return replace(scope, after_ns=after_ns, before_ns=before_ns, map_id=window.map_id or scope.map_id)


class OracleRecall:
    """Shows the memories that hold the answer, and no others.

    :param recall: sees the whole window
    :param relevant: ids of those memories
    """

    def __init__(self, recall: Recall, relevant: frozenset[str]) -> None:
        self._recall = recall
        self._relevant = relevant

    def by_text(self, text: str, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._only(self._recall.by_text(text, scope, ALL), limit)

    def by_position(self, position: Point, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._only(self._recall.by_position(position, scope, ALL), limit)

    def by_time(self, time_ns: int, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._only(self._recall.by_time(time_ns, scope, ALL), limit)

    def newest(self, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._only(self._recall.newest(scope, ALL), limit)

    def count(self, scope: Scope = ANYTHING) -> int:
        return len(self.newest(scope, ALL))

    def _only(self, hits: list[Hit], limit: int) -> list[Hit]:
        return [hit for hit in hits if hit.memory.id in self._relevant][:limit]


def _is_empty(after_ns: int | None, before_ns: int | None) -> bool:
    return after_ns is not None and before_ns is not None and after_ns > before_ns
