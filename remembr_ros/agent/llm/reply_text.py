"""Replies of models without tool calling: finds the JSON in the text."""

import json
import re
from typing import Any

from remembr_ros.agent.chat.client import ToolCall
from remembr_ros.agent.chat.loose_json import objects_in
from remembr_ros.agent.llm.tools import ANSWER, TOOL_NAMES, is_kind, tool_name

MAX_REPLY = 20_000  # Characters of a reply that are read, and kept in a conversation
MAX_CALLS = 20  # Calls read from one reply
_NAMES = ('tool', 'name', 'tool_name', 'function', 'action')
_ARGUMENTS = ('arguments', 'parameters', 'args', 'input', 'action_input')
_LISTS = ('calls', 'tool_calls')
_TAG = r'(?:think|thinking|thought|reasoning)'
_THOUGHT_BEGIN = re.compile(rf'<{_TAG}>', re.IGNORECASE)
_THOUGHT_END = re.compile(rf'</{_TAG}>', re.IGNORECASE)
_THOUGHT = re.compile(rf'<{_TAG}>.*?</{_TAG}>', re.IGNORECASE | re.DOTALL)
_FUNCTION = re.compile(r'<function=([\w.]{1,64})>\s*')  # Before the arguments, as Llama's template has it


def calls_in_text(content: str) -> tuple[ToolCall, ...]:
    """Return the calls that a model without tool calling wrote as JSON; none if it wrote anything else.

    They may stand in prose, in fences, in tags such as <tool_call>, one by one or in a list, with commas too
    many or brackets too few; an answer needs no name. What the model thought before (<think>) does not count.
    """
    text = without_thoughts(content[:MAX_REPLY])
    tagged = {found.end(): found[1] for found in _FUNCTION.finditer(text)}
    calls: list[ToolCall] = []
    whole: list[dict[str, Any]] = []
    read_until = 0
    for data, begin, end in objects_in(text):
        if begin < read_until:
            continue  # it is inside one that was read
        named = {'tool': tagged[begin], 'arguments': data} if begin in tagged else data
        found = _calls(named, len(calls))
        if found:
            read_until = end
            # Some say the same again, in other words around it.
            if data not in whole:
                whole.append(data)
                calls += found
    return tuple(calls[:MAX_CALLS])


def without_thoughts(text: str) -> str:
    """Return what a model said after it thought; a thought that does not end takes the rest.

    Templates may begin the thought in the prompt, so that the reply has its end only.
    """
    text = _THOUGHT.sub('', text)
    ends = [match.end() for match in _THOUGHT_END.finditer(text)]
    if ends:
        text = text[ends[-1] :]
    begins = _THOUGHT_BEGIN.search(text)
    return text[: begins.start()] if begins else text


def _calls(data: dict[str, Any], known: int) -> list[ToolCall]:
    listed = next((data[name] for name in _LISTS if name in data), None)
    found: list[ToolCall] = []
    for call in listed[:MAX_CALLS] if isinstance(listed, list) else [listed or data]:
        named = _call(call) if isinstance(call, dict) else None
        if named is not None:
            name, arguments = named
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            found.append(ToolCall(f'text_{known + len(found)}', name, text))
    return found


def _call(call: dict[str, Any]) -> tuple[str, Any] | None:
    """Return the name of the tool and its arguments; None: this is no call."""
    key = next((name for name in _NAMES if name in call), None)
    if key is None:
        return _unnamed(call)
    name = call[key]
    if isinstance(name, dict):  # OpenAI's own form: {"function": {"name": ..., "arguments": ...}}
        return _call(name)
    if not isinstance(name, str):
        return None
    given = next((call[field] for field in _ARGUMENTS if field in call), None)
    # Some put the arguments beside the name.
    return name, given if given is not None else {n: value for n, value in call.items() if n != key}


def _unnamed(call: dict[str, Any]) -> tuple[str, Any] | None:
    """Return what {"answer": {...}} calls, and an answer that stands for itself."""
    if len(call) == 1:
        ((name, arguments),) = call.items()
        if tool_name(name) in TOOL_NAMES and isinstance(arguments, dict):
            return name, arguments
    return (ANSWER, call) if is_kind(call.get('kind')) else None
