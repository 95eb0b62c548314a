"""What a model without tool calling writes: JSON somewhere in its text."""

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any

from remembr_ros.agent.chat import ToolCall

MAX_REPLY = 20_000
"""Characters of a reply that are read, and kept in a conversation."""

MAX_BRACES = 100
"""Places in a reply where an object may begin."""

MAX_CALLS = 20
"""Calls read from one reply."""


def json_objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects in a text, each before those inside it, and pass over everything else."""
    text = text[:MAX_REPLY]
    # Models think aloud, in braces too, before and after what counts.
    for brace in islice(re.finditer('{', text), MAX_BRACES):
        try:
            data, _ = json.JSONDecoder().raw_decode(text, brace.start())
        except (ValueError, RecursionError):
            continue
        yield data


def calls_in_text(content: str) -> tuple[ToolCall, ...]:
    """Return the calls that a model without tool calling wrote as JSON; none if it wrote anything else."""
    for data in json_objects(content):
        calls = data.get('calls', [data])
        found = []
        for index, call in enumerate(calls[:MAX_CALLS] if isinstance(calls, list) else []):
            name = call.get('tool', call.get('name')) if isinstance(call, dict) else None
            if isinstance(name, str):
                arguments = call.get('arguments', {})
                text = arguments if isinstance(arguments, str) else json.dumps(arguments)
                found.append(ToolCall(f'text_{index}', name, text))
        if found:
            return tuple(found)
    return ()
