"""A chat client whose server stops answering."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from remembr_ros.agent.chat.client import Message, Reply, ScriptedChat, Tool
from remembr_ros.agent.model.usage import Ledger
from remembr_ros.errors import Cancelled, ChatUnavailable


@dataclass
class HangingChat(ScriptedChat):
    """Replies by script; when that is over there is no answer, and the call ends as a client's does."""

    model: str = 'hanging'
    hangs: threading.Event = field(default_factory=threading.Event)

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        *,
        must_call: str | None,
        timeout_s: float,
        ledger: Ledger,
        cancel: threading.Event | None = None,
    ) -> Reply:
        if self.replies:
            return super().complete(
                messages, tools, must_call=must_call, timeout_s=timeout_s, ledger=ledger, cancel=cancel
            )
        self.hangs.set()
        if (cancel or threading.Event()).wait(timeout_s):
            raise Cancelled('the question was cancelled')
        raise ChatUnavailable(f'{self.model} did not answer within {timeout_s:.1f} s')
