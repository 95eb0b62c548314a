"""Scripts of a person and of a robot who talk: what a language model that plays them would choose."""

import json
import re
from collections.abc import Callable
from typing import Any

from remembr_ros.agent.chat.client import ToolCall
from test.scripted.server import ScriptedReply

Script = Callable[[dict[str, Any]], ScriptedReply]


def choose(number: int, words: str = '') -> ScriptedReply:
    return ScriptedReply(
        tool_calls=(ToolCall('c', 'choose', json.dumps({'option': number, 'words': words})),),
        prompt_tokens=100,
        completion_tokens=10,
    )


def options_of(body: dict[str, Any]) -> dict[str, int]:
    """Return the options that the last message offers, by their texts."""
    offered = body['messages'][-1]['content'].rpartition('Options:\n')[2]
    return {text: int(number) for number, text in re.findall(r'^(\d+)\. (.*)$', offered, re.MULTILINE)}


def person(*wishes: str) -> Script:
    """Says each wish in turn, and leaves."""

    def reply(body: dict[str, Any]) -> ScriptedReply:
        said = sum(message['role'] == 'assistant' for message in body['messages'])
        return choose(1, wishes[said]) if said < len(wishes) else choose(2)

    return reply


def robot(*choices: tuple[str, str]) -> Script:
    """Chooses the first option whose text has these words, with the words that go with it, in turn; at the
    end, and where there is no such option, it says what is left to say."""

    def reply(body: dict[str, Any]) -> ScriptedReply:
        done = sum(message['role'] == 'assistant' for message in body['messages'])
        text, words = choices[min(done, len(choices) - 1)]
        offered = options_of(body)
        number = next((offered[one] for one in offered if re.search(text, one)), 0)
        return choose(number, words) if number else choose(1, f'I cannot: {text}.')

    return reply
