"""A chat client that tells what another one was asked and what it replied."""

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from remembr_ros.agent.chat import ChatClient, Message, Reply, Tool, ToolCall
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
        self, messages: Sequence[Message], tools: Sequence[Tool], *, must_call: str | None, timeout_s: float
    ) -> Reply:
        call: dict[str, Any] = {
            'messages': [_message(m) for m in self._new(messages)],
            'must_call': must_call,
        }
        began = self._clock()
        try:
            reply = self._chat.complete(messages, tools, must_call=must_call, timeout_s=timeout_s)
        except RemembrError as error:
            call['error'] = f'{type(error).__name__}: {error}'
            self._tell(call, began)
            raise
        call['reply'] = {'content': reply.content, 'tool_calls': _tool_calls(reply.tool_calls)}
        call['prompt_tokens'] = reply.prompt_tokens
        call['completion_tokens'] = reply.completion_tokens
        self._tell(call, began)
        return reply

    def _tell(self, call: dict[str, Any], began: float) -> None:
        # The model's name may be known only after the first call.
        self._on_call({'model': self.model, **call, 'seconds': round(self._clock() - began, 3)})

    def _new(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        messages = tuple(messages)
        with self._lock:
            known = len(self._last)
            continues = known < len(messages) and messages[:known] == self._last
            self._last = messages
        return messages[known:] if continues else messages


def _message(message: Message) -> dict[str, Any]:
    """Return a message without what it lacks; of an image, its text, size and SHA-256."""
    written: dict[str, Any] = {'role': message.role, 'content': message.content}
    if message.tool_calls:
        written['tool_calls'] = _tool_calls(message.tool_calls)
    if message.tool_call_id:
        written['tool_call_id'] = message.tool_call_id
    if message.images:
        written['images'] = [
            {'text': image.text, 'bytes': len(image.jpeg), 'sha256': hashlib.sha256(image.jpeg).hexdigest()}
            for image in message.images
        ]
    return written


def _tool_calls(calls: Sequence[ToolCall]) -> list[dict[str, str]]:
    return [{'id': call.id, 'name': call.name, 'arguments': call.arguments} for call in calls]
