"""A chat client that tells what another one was asked and what it replied."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from remembr_ros.agent.chat.client import ChatClient, Message, Reply, Tool
from remembr_ros.agent.chat.messages_json import chat_event
from remembr_ros.errors import RemembrError


class RecordingChat:
    """Hands every call to a listener, as it ends.

    Wrap it in a PacedChat rather than the other way round: then its seconds are the model's own.

    :param chat: does the work
    :param on_call: called with a dict that can be written as JSON: model; messages (those that are new since
        the last call, if they continue its conversation, else all), must_call; reply (content and
        tool_calls), prompt_tokens and completion_tokens, or error; seconds. Called in the thread of the call.
    """

    def __init__(
        self,
        chat: ChatClient,
        on_call: Callable[[dict[str, Any]], None],
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._chat = chat
        self._on_call = on_call
        self._clock = clock
        self._lock = threading.Lock()
        self._last: tuple[Message, ...] = ()

    @property
    def model(self) -> str:
        return self._chat.model

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool],
        *,
        must_call: str | None,
        timeout_s: float,
        cancel: threading.Event | None = None,
    ) -> Reply:
        new = self._new(messages)
        began = self._clock()
        outcome: Reply | RemembrError | None = None
        try:
            outcome = self._chat.complete(
                messages, tools, must_call=must_call, timeout_s=timeout_s, cancel=cancel
            )
        except RemembrError as error:
            outcome = error
            raise
        finally:
            if outcome is not None:
                # The model's name may be known only after the first call.
                self._on_call(chat_event(self.model, new, must_call, outcome, self._clock() - began))
        return outcome

    def _new(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        messages = tuple(messages)
        with self._lock:
            known = len(self._last)
            continues = known < len(messages) and messages[:known] == self._last
            self._last = messages
        return messages[known:] if continues else messages
