"""What a planner did for one question: its recalls, and its talk with a language model."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from remembr_ros.agent.chat.pacing import PacedChat
from remembr_ros.geometry import Point
from remembr_ros.memory.model.recall import ANYTHING, Hit, Recall, Scope

MAX_HITS = 50
"""Of one recall that are written down."""


@dataclass
class Trace:
    """Grows while a question is answered.

    :ivar recalls: JSON-ready
    :ivar chat: JSON-ready, see RecordingChat
    :ivar pace: what made the calls wait for their turn
    """

    recalls: list[dict[str, Any]] = field(default_factory=list)
    chat: list[dict[str, Any]] = field(default_factory=list)
    pace: PacedChat | None = None

    @property
    def waited_s(self) -> float:
        """How long the calls have waited for their turn, which is not the planner's time [s]."""
        return self.pace.waited_s if self.pace is not None else 0.0

    @property
    def spent(self) -> tuple[int, int, int]:
        """Calls of the language model, prompt tokens and completion tokens."""
        prompt, completion = (
            sum(call.get(name, 0) for call in self.chat) for name in ('prompt_tokens', 'completion_tokens')
        )
        return len(self.chat), prompt, completion


class TracedRecall:
    """Writes down what is recalled."""

    def __init__(self, recall: Recall, trace: Trace) -> None:
        self._recall = recall
        self._trace = trace

    def by_text(self, text: str, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._noted('text', text, scope, limit, lambda: self._recall.by_text(text, scope, limit))

    def by_position(self, position: Point, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._noted(
            'position', position, scope, limit, lambda: self._recall.by_position(position, scope, limit)
        )

    def by_time(self, time_ns: int, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._noted('time', time_ns, scope, limit, lambda: self._recall.by_time(time_ns, scope, limit))

    def newest(self, scope: Scope = ANYTHING, limit: int = 5) -> list[Hit]:
        return self._noted('newest', None, scope, limit, lambda: self._recall.newest(scope, limit))

    def count(self, scope: Scope = ANYTHING) -> int:
        return self._recall.count(scope)

    def _noted(
        self, by: str, asked: Any, scope: Scope, limit: int, find: Callable[[], list[Hit]]
    ) -> list[Hit]:
        began = time.perf_counter()
        hits = find()
        self._trace.recalls.append(
            {
                'by': by,
                'asked': asked,
                'scope': {name: value for name, value in asdict(scope).items() if value is not None},
                'limit': limit,
                'hits': [[hit.memory.id, round(hit.score, 4)] for hit in hits[:MAX_HITS]],
                'seconds': round(time.perf_counter() - began, 4),
            }
        )
        return hits
