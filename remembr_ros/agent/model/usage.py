"""What calls of a language model take."""

import threading
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Usage:
    """What was used. No calls: no language model was asked.

    :param calls: that a model began to answer
    :param seconds: that it took, for a question with all that is done besides [s]
    :param estimated: a server did not count all of the tokens; those are a quarter of the characters
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    estimated: bool = False

    def __add__(self, other: 'Usage') -> 'Usage':
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.seconds + other.seconds,
            self.estimated or other.estimated,
        )


class Ledger:
    """Adds up what is used, whoever uses it and whatever becomes of that; safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._usage = Usage()

    @property
    def usage(self) -> Usage:
        """All that was charged so far."""
        return self._usage

    def charge(self, usage: Usage) -> None:
        """Add what was used."""
        with self._lock:
            self._usage += usage
