"""A chat client whose server stops answering."""

import threading
from dataclasses import dataclass, field

from remembr_ros.agent.chat.client import Call, Reply
from remembr_ros.errors import Cancelled, ChatUnavailable
from test.scripted.chat import ScriptedChat


@dataclass
class HangingChat(ScriptedChat):
    """Replies by script; when that is over there is no answer, and the call ends as a client's does."""

    model: str = 'hanging'
    hangs: threading.Event = field(default_factory=threading.Event)

    def complete(self, call: Call) -> Reply:
        if self.replies:
            return super().complete(call)
        self.hangs.set()
        if (call.cancel or threading.Event()).wait(call.timeout_s):
            raise Cancelled('the question was cancelled')
        raise ChatUnavailable(f'{self.model} did not answer within {call.timeout_s:.1f} s')
