"""A chat client that replies from a list, without a server."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from remembr_ros.agent.chat.client import Call, Message, Reply
from remembr_ros.agent.chat.model_size import parameters_in
from remembr_ros.agent.planner import Cancelled


@dataclass
class ScriptedChat:
    """A chat client that replies from a list and records what it was asked.

    :param replies: in turn: a reply, an exception to raise, or a function from the messages to a reply
    """

    replies: list[Reply | Exception | Callable[[Sequence[Message]], Reply]]
    model: str = 'scripted'
    asked: list[tuple[tuple[Message, ...], str | None]] = field(default_factory=list)
    offered: list[set[str]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def parameters_b(self, timeout_s: float) -> float:
        return parameters_in(self.model)

    def complete(self, call: Call) -> Reply:
        if call.cancel is not None and call.cancel.is_set():
            raise Cancelled('the question was cancelled')
        with self._lock:
            self.asked.append((tuple(call.messages), call.must_call))
            self.offered.append({tool.name for tool in call.tools})
            if not self.replies:
                raise AssertionError('the script is over')
            reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        reply = reply if isinstance(reply, Reply) else reply(call.messages)
        call.ledger.charge(reply.usage)
        return reply
