"""What a planner did for one question: its recalls, and its talk with a language model."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from remembr_ros.agent.chat.pacing import PacedChat
from remembr_ros.agent.model.answer import Usage
from remembr_ros.agent.planner import Record
from remembr_ros.agent.trace import without_repetitions
from remembr_ros.memory.model.recall import ANYTHING, Hit, Query, Scope, Survey
from remembr_ros.memory.model.record import PLACE
from remembr_ros.memory.objects.query import FoundObjects, ObjectQuery
from remembr_ros.memory.recall import Recall

MAX_HITS = 50  # of one recall that are written down


@dataclass
class QuestionTrace:
    """Grows while a question is answered.

    :ivar recalls: JSON-ready
    :ivar chat: see :func:`remembr_ros.agent.chat.bounded_call.chat_event`; its seconds are the model's own
    :ivar pace: what made the calls wait for their turn
    """

    recalls: list[dict[str, Any]] = field(default_factory=list)
    chat: list[dict[str, Any]] = field(default_factory=list)
    pace: PacedChat | None = None
    _waited_before_s: float = 0.0

    def begin(self) -> Record:
        """Return what takes down the talk with the language model."""
        return without_repetitions(self._record)

    def _record(self, event: str, about: Mapping[str, Any]) -> None:
        if event == 'chat':
            waited_s, self._waited_before_s = self.waited_s - self._waited_before_s, self.waited_s
            self.chat.append({**about, 'seconds': round(max(about['seconds'] - waited_s, 0.0), 3)})

    @property
    def waited_s(self) -> float:
        """How long the calls have waited for their turn, which is not the planner's time [s]."""
        return self.pace.waited_s if self.pace is not None else 0.0

    @property
    def spent(self) -> Usage:
        """What the calls of the language model took."""
        prompt, completion = (
            sum(call.get(name, 0) for call in self.chat) for name in ('prompt_tokens', 'completion_tokens')
        )
        return Usage(len(self.chat), prompt, completion)


@dataclass(frozen=True, slots=True)
class TracedRecall:
    """Writes down what is recalled."""

    recall: Recall
    trace: QuestionTrace

    def find(self, query: Query) -> list[Hit]:
        if query.scope.source == PLACE:  # what has names is asked before each question, and no evidence
            return self.recall.find(query)
        began = time.perf_counter()
        hits = self.recall.find(query)
        asked = (('text', query.text), ('position', query.place), ('time', query.time_ns))
        by, what = next((one for one in asked if one[1] is not None), ('newest', None))
        self.trace.recalls.append(
            {
                'by': by,
                'asked': what,
                'scope': {name: value for name, value in asdict(query.scope).items() if value is not None},
                'limit': query.limit,
                'hits': [[hit.memory.id, round(hit.score, 4)] for hit in hits[:MAX_HITS]],
                'seconds': round(time.perf_counter() - began, 4),
            }
        )
        return hits

    def count(self, scope: Scope = ANYTHING) -> int:
        return self.recall.count(scope)

    @property
    def embedder_name(self) -> str:
        return self.recall.embedder_name

    def survey(self, scope: Scope = ANYTHING) -> Survey:
        return self.recall.survey(scope)

    def find_objects(self, query: ObjectQuery) -> FoundObjects:
        return self.recall.find_objects(query)
