"""How many tokens a conversation takes, and what is left out when they become too many."""

import json
from collections.abc import Sequence
from dataclasses import replace

from remembr_ros.agent.chat.client import Message, Tool

BYTES_PER_TOKEN = 4
"""Of English text, and of nothing much less: Chinese has three bytes and about a token per character."""

PER_MESSAGE = 6  # Tokens around each message
PER_PICTURE = 1_000  # Of a picture of 1280 pixels; models differ by a factor of two
LEFT_OUT = '(left out, there was too much; what was shown can still be cited)'


def estimate(messages: Sequence[Message]) -> int:
    """Return about how many tokens a conversation takes."""
    tokens = 0
    for message in messages:
        calls = sum(_size(call.name) + _size(call.arguments) + 40 for call in message.tool_calls)
        tokens += PER_MESSAGE + (_size(message.content) + calls) // BYTES_PER_TOKEN
        tokens += PER_PICTURE * len(message.images)
    return tokens


def estimate_tools(tools: Sequence[Tool]) -> int:
    """Return about how many tokens the descriptions of tools take."""
    described = (f'{tool.name}{tool.description}{json.dumps(dict(tool.parameters))}' for tool in tools)
    return sum(PER_MESSAGE + _size(text) // BYTES_PER_TOKEN for text in described)


def fit(messages: Sequence[Message], most: int, keep: int) -> list[Message] | None:
    """Return the conversation within so many tokens, the oldest results left out; None: it does not fit.

    :param keep: messages at the beginning that stay whole
    """
    fitted = list(messages)
    if estimate(fitted) <= most:
        return fitted
    for index in range(keep, len(fitted)):
        message = fitted[index]
        content = '' if message.role == 'assistant' else LEFT_OUT
        if len(message.content) > len(content):
            fitted[index] = replace(message, content=content)
        if estimate(fitted) <= most:
            return fitted
    return None


def _size(text: str) -> int:
    return len(text.encode('utf-8', 'replace'))
