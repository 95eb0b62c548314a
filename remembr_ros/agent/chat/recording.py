"""A chat client that tells what another one was asked and what it replied, as JSON."""

import hashlib
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from remembr_ros.agent.chat.client import Call, ChatClient, Message, Reply
from remembr_ros.agent.model.usage import Ledger, Usage
from remembr_ros.errors import RemembrError


@dataclass
class RecordingChat:
    """Hands every call to a listener, as it ends.

    Wrap it in a PacedChat rather than the other way round: then its seconds are the model's own.

    :param chat: does the work
    :param on_call: called with a :func:`chat_event` in the thread of the call; of messages that continue the
        conversation of the last call, the new ones
    """

    chat: ChatClient
    on_call: Callable[[dict[str, Any]], None]
    clock: Callable[[], float] = time.monotonic
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False)
    _last: tuple[Message, ...] = field(default=(), init=False)

    @property
    def model(self) -> str:
        return self.chat.model

    def complete(self, call: Call) -> Reply:
        new = self._new(call.messages)
        began, own = self.clock(), Ledger()
        outcome: Reply | RemembrError | None = None
        try:
            outcome = self.chat.complete(replace(call, ledger=own))
        except RemembrError as error:
            outcome = error
            raise
        finally:
            call.ledger.charge(own.usage)
            if outcome is not None:
                usage = replace(own.usage, seconds=self.clock() - began)
                # The model's name may be known only after the first call.
                self.on_call(chat_event(self.model, new, call.must_call, outcome, usage))
        return outcome

    def _new(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        messages = tuple(messages)
        with self._lock:
            known = len(self._last)
            continues = known < len(messages) and messages[:known] == self._last
            self._last = messages
        return messages[known:] if continues else messages


def chat_event(
    model: str,
    messages: Sequence[Message],
    must_call: str | None,
    outcome: Reply | RemembrError,
    usage: Usage,
) -> dict[str, Any]:
    """Return one call of a model as JSON-ready.

    :param model: said where the reply does not say it
    :param usage: of the call, with what it lost on the way
    :return: model; messages, must_call; reply (content and tool_calls), prompt_tokens and completion_tokens,
        or error; seconds
    """
    event: dict[str, Any] = {
        'model': model,
        'messages': [_message_json(message) for message in messages],
        'must_call': must_call,
    }
    if isinstance(outcome, Reply):
        event['model'] = outcome.model or model
        event['reply'] = {'content': outcome.content, 'tool_calls': [*map(asdict, outcome.tool_calls)]}
        event['prompt_tokens'] = usage.prompt_tokens
        event['completion_tokens'] = usage.completion_tokens
        if usage.estimated:
            event['estimated'] = True
    else:
        event['error'] = f'{type(outcome).__name__}: {outcome}'
    return {**event, 'seconds': round(usage.seconds, 3)}


def _message_json(message: Message) -> dict[str, Any]:
    """Return a message without what it lacks; of an image, its text, size and SHA-256."""
    images = [
        {'text': image.text, 'bytes': len(image.jpeg), 'sha256': hashlib.sha256(image.jpeg).hexdigest()}
        for image in message.images
    ]
    written = {**asdict(message), 'tool_calls': [*map(asdict, message.tool_calls)], 'images': images}
    return {name: value for name, value in written.items() if value or name in ('role', 'content')}
