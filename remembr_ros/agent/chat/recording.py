"""A call of a language model as JSON, for the trace."""

import hashlib
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from remembr_ros.agent.chat.client import Message, Reply
from remembr_ros.agent.model.usage import Usage
from remembr_ros.errors import RemembrError


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
