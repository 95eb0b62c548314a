"""The trace of one question: recalls, and the dialogue with a language model."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from remembr_ros.agent.chat.pacing import PacedChat
from remembr_ros.agent.model.answer import Usage
from remembr_ros.agent.planner import Record
from remembr_ros.agent.trace import without_repetitions
from remembr_ros.memory.model.recall import Hit, Query

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

    def recalled(self, query: Query, hits: Sequence[Hit], seconds: float) -> None:
        """Take down what was recalled."""
        asked = {'text': query.text, 'position': query.place, 'time': query.time_ns, 'newest': None}
        by = next((name for name, value in asked.items() if value is not None), 'newest')
        self.recalls.append(
            {
                'by': by,
                'asked': asked[by],
                'scope': {name: value for name, value in asdict(query.scope).items() if value is not None},
                'limit': query.limit,
                'hits': [[hit.memory.id, round(hit.score, 4)] for hit in hits[:MAX_HITS]],
                'seconds': round(seconds, 4),
            }
        )

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
