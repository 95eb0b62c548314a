"""OpenAI's chat format: messages and tools on the wire, with native tool calls or in plain JSON."""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from remembr_ros.agent.chat.client import Call, Message, Reply, Tool, ToolCall
from remembr_ros.agent.model.answer import Usage
from remembr_ros.chat_capabilities import Capabilities, as_taken
from remembr_ros.chat_reply import plain, said_in, sendable
from remembr_ros.errors import ReplyInvalid

MAX_TOKENS = 1_000  # A reply is some tool calls or a short answer; a model that thinks takes more
MAX_CALLS = 50  # Tool calls kept of one reply
CHARACTERS_PER_TOKEN = 4  # Of English, about; for servers that do not count


def request_fields(call: Call, can: Capabilities, sampling: Mapping[str, Any]) -> dict[str, Any]:
    """Return a request's fields, but for the model.

    :param sampling: temperature, seed and max_tokens, as far as they are wished
    """
    tools, must_call = call.tools, call.must_call
    fields: dict[str, Any] = dict(sampling)
    wired = [wire_message(message) for message in call.messages]
    forced = next((tool for tool in tools if tool.name == must_call), None)
    if forced and can.json_schema:
        # Not by tool_choice, which some servers ignore without a word: a schema holds for the smallest model.
        wired = [*_in_words(call.messages), {'role': 'user', 'content': _forced_in_words(forced)}]
        schema = {'name': forced.name, 'schema': dict(forced.parameters)}
        fields['response_format'] = {'type': 'json_schema', 'json_schema': schema}
    elif tools and can.tools:
        fields['tools'] = [_wire_tool(tool) for tool in tools]
        if can.tool_choice:
            named = {'type': 'function', 'function': {'name': must_call}}
            fields['tool_choice'] = named if must_call else 'auto'
        elif must_call:
            wired.append({'role': 'user', 'content': f'Now call the tool {must_call}, and no other.'})
        if can.parallel_calls:
            fields['parallel_tool_calls'] = True
    elif tools:
        wired = list(_in_words(call.messages))
        wired.append({'role': 'user', 'content': _tools_in_words(tools, must_call)})
        names = [tool.name for tool in tools if must_call in (None, tool.name)]
        if can.json_schema:
            schema = {'name': 'calls', 'schema': _calls_schema(names)}
            fields['response_format'] = {'type': 'json_schema', 'json_schema': schema}
        elif can.json_object:
            fields['response_format'] = {'type': 'json_object'}
    if not can.system_role:
        wired = [{**message, 'role': 'user'} if message['role'] == 'system' else message for message in wired]
    # Templates of small models insist on turns; only tool results may follow each other.
    return as_taken({**fields, 'messages': _merged(wired)}, can)


def reply_of(response: Any, sent: int, must_call: str | None = None) -> Reply:
    """Return what a response says; servers leave out or mistype any part of one.

    :param sent: characters of the request, by which tokens are estimated if the server counts none
    :param must_call: the tool whose arguments were asked for
    :raises ReplyInvalid: it is no chat reply
    """
    said = said_in(response)
    alone = getattr(said.message, 'function_call', None)  # as it was before there could be several
    try:
        called = said.message.tool_calls or ([SimpleNamespace(id='', function=alone)] if alone else [])
        calls = tuple(
            ToolCall(
                sendable(call.id or f'call_{index}'),
                sendable(call.function.name),
                sendable(_argument_text(call.function.arguments)),
            )
            for index, call in enumerate(called[:MAX_CALLS])
        )
    except (AttributeError, TypeError, KeyError) as error:
        raise ReplyInvalid('its tool calls are none') from error
    prompt, completion = _counts(response)
    letters = len(said.text) + sum(len(call.name) + len(call.arguments) for call in calls)
    usage = Usage(
        1,
        tokens_of(sent) if prompt is None else prompt,
        tokens_of(letters) if completion is None else completion,
        estimated=prompt is None or completion is None,
    )
    if not (calls or said.text or said.cut_off):  # a server may take a call for a part of the thoughts
        thought = getattr(said.message, 'reasoning_content', None) or getattr(said.message, 'reasoning', None)
        return Reply(sendable(thought) if isinstance(thought, str) else '', (), usage)
    if must_call and not calls and _is_object(plain(said.text)):
        return Reply('', (ToolCall('call_0', must_call, plain(said.text)),), usage, cut_off=said.cut_off)
    return Reply(said.text, calls, usage, cut_off=said.cut_off)


def counted_in(response: Any) -> Usage:
    """Return what a response of any kind says that it took."""
    prompt, completion = _counts(response)
    return Usage(1, prompt or 0, completion or 0)


def tokens_of(characters: int) -> int:
    """Return about how many tokens so many characters are."""
    return -(-characters // CHARACTERS_PER_TOKEN)


def characters_of(fields: Mapping[str, Any]) -> int:
    """Return how many characters of a request a model reads; images are not counted."""
    count = sum(len(json.dumps(tool, ensure_ascii=False)) for tool in fields.get('tools', ()))
    for message in fields['messages']:
        content = message.get('content') or ''
        parts = content if isinstance(content, list) else [{'text': content}]
        count += sum(len(part.get('text', '')) for part in parts)
        count += sum(len(call['function']['arguments']) for call in message.get('tool_calls', ()))
    return count


def wire_message(message: Message) -> dict[str, Any]:
    """Return a message as it is sent, by either side."""
    wire: dict[str, Any] = {'role': message.role, 'content': message.content}
    if message.images:
        wire['content'] = [{'type': 'text', 'text': message.content}]
        for image in message.images:
            url = f'data:image/jpeg;base64,{base64.b64encode(image.jpeg).decode("ascii")}'
            wire['content'] += [
                {'type': 'text', 'text': image.text},
                {'type': 'image_url', 'image_url': {'url': url}},
            ]
    if message.tool_calls:
        wire['tool_calls'] = [
            {'id': call.id, 'type': 'function', 'function': {'name': call.name, 'arguments': call.arguments}}
            for call in message.tool_calls
        ]
    if message.tool_call_id:
        wire['tool_call_id'] = message.tool_call_id
    return wire


def _wire_tool(tool: Tool) -> dict[str, Any]:
    function = {'name': tool.name, 'description': tool.description, 'parameters': dict(tool.parameters)}
    return {'type': 'function', 'function': function}


def _in_words(messages: Sequence[Message]) -> Iterator[dict[str, Any]]:
    """Yield a conversation as a model without tools has it: calls are JSON, results are the user's."""
    names = {call.id: call.name for message in messages for call in message.tool_calls}
    for message in messages:
        if message.tool_calls:
            calls = [{'tool': call.name, 'arguments': _loaded(call.arguments)} for call in message.tool_calls]
            text = json.dumps({'calls': calls}, ensure_ascii=False)
            yield {'role': 'assistant', 'content': f'{message.content}\n{text}'.strip()}
        elif message.role == 'tool':
            name = names.get(message.tool_call_id, 'the tool')
            yield {'role': 'user', 'content': f'Result of {name}:\n{message.content}'}
        else:
            yield wire_message(message)


def _tools_in_words(tools: Sequence[Tool], must_call: str | None) -> str:
    """Return what tells a model without tool calling what it may call; see prompts/system.md."""
    lines = [json.dumps(_wire_tool(tool)['function']) for tool in tools if must_call in (None, tool.name)]
    text = 'Reply with one JSON object {"calls": [{"tool": NAME, "arguments": {...}}]}. The tools:\n'
    return text + '\n'.join(lines)


def _forced_in_words(tool: Tool) -> str:
    """Return what asks for the arguments of a tool."""
    schema = json.dumps(dict(tool.parameters), ensure_ascii=False)
    return f'Now {tool.name}, with what was found: reply with one JSON object, of this schema: {schema}'


def _is_object(text: str) -> bool:
    """Tell whether a text is a JSON object, and no call of a tool."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(found, dict) and not {'tool', 'name', 'calls', 'tool_calls'} & found.keys()


def _calls_schema(names: Sequence[str]) -> dict[str, Any]:
    call = {
        'type': 'object',
        'properties': {'tool': {'type': 'string', 'enum': list(names)}, 'arguments': {'type': 'object'}},
        'required': ['tool', 'arguments'],
    }
    calls = {'type': 'array', 'items': call, 'minItems': 1}
    return {'type': 'object', 'properties': {'calls': calls}, 'required': ['calls']}


def _merged(wired: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages with each run of the user's as one."""
    merged: list[dict[str, Any]] = []
    for message in wired:
        last = merged[-1] if merged else {}
        if message['role'] == 'user' and last.get('role') == 'user':
            merged[-1] = {**last, 'content': _joined(last['content'], message['content'])}
        else:
            merged.append(message)
    return merged


def _joined(first: Any, second: Any) -> Any:
    if isinstance(first, str) and isinstance(second, str):
        return f'{first}\n\n{second}'
    parts = [[{'type': 'text', 'text': part}] if isinstance(part, str) else part for part in (first, second)]
    return [*parts[0], *parts[1]]


def _loaded(arguments: str) -> Any:
    try:
        return json.loads(arguments or '{}')
    except (ValueError, RecursionError):
        return arguments


def _argument_text(arguments: Any) -> str:
    # Some servers send the object instead of its text.
    return json.dumps(arguments) if isinstance(arguments, dict | list) else str(arguments or '')


def _counts(response: Any) -> tuple[int | None, int | None]:
    usage = getattr(response, 'usage', None)
    return _count(getattr(usage, 'prompt_tokens', None)), _count(getattr(usage, 'completion_tokens', None))


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None
