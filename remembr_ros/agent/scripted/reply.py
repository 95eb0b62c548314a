"""What a scripted chat server replies, and the rules by which it may choose."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from remembr_ros.agent.chat.client import ToolCall
from remembr_ros.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """What the server sends: a chat message, unless a body is given.

    :param content: of the message
    :param tool_calls: of the message
    :param prompt_tokens: reported with the message
    :param completion_tokens: reported with the message
    :param status: HTTP status; one that is no success is sent with the content as its error message
    :param headers: sent besides, such as {'Retry-After': '2'}, or a Content-Type other than JSON
    :param body: sent in place of a message: bytes as they are, anything else but None as JSON
    :param hang_s: how long to wait before it is sent [s]
    :param refuse: fields such as tools or response_format; a request that has one gets a 400 in place of this
    :param retry_after_s: sent as Retry-After [s]; None: not sent
    :param retry_after_date: it is sent as an HTTP date
    :param drip_s: how long to wait before each byte of the status line, the headers and the body [s]
    :param cut_after: the connection is closed after so many bytes of the body; None: after the last one
    :param linger_s: how long the connection stays open after the last byte [s]
    :param pad_mb: so many megabytes of white space are sent before the body, which JSON allows [MB]
    :param gzip: the body is compressed, padding and all
    """

    content: str = ''
    tool_calls: tuple[ToolCall, ...] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: object = None
    hang_s: float = 0.0
    refuse: tuple[str, ...] = ()
    retry_after_s: float | None = None
    retry_after_date: bool = False
    drip_s: float = 0.0
    cut_after: int | None = None
    linger_s: float = 0.0
    pad_mb: float = 0.0
    gzip: bool = False

    def refusal(self, body: Mapping[str, Any]) -> 'ScriptedReply | None':
        """Return what is sent in place of this to a request that has a field which this refuses."""
        for name in self.refuse:
            if name in body:
                return ScriptedReply(f'{name} is not supported by this model', status=400)
        return None


def completion(message: object, finish_reason: str = 'stop', **more: object) -> dict[str, Any]:
    """Return the body of a chat reply with any message.

    :param more: further fields, such as usage
    """
    choice = {'index': 0, 'finish_reason': finish_reason, 'message': message}
    return {
        'id': 'scripted',
        'object': 'chat.completion',
        'created': 0,
        'model': 'm',
        'choices': [choice],
        **more,
    }


def body_of(reply: ScriptedReply) -> bytes:
    """Return what is sent for a reply."""
    if isinstance(reply.body, bytes):
        return reply.body
    if reply.body is not None:
        return json.dumps(reply.body).encode()
    if not 200 <= reply.status < 300:
        return json.dumps({'error': {'message': reply.content or f'status {reply.status}'}}).encode()
    message: dict[str, Any] = {'role': 'assistant', 'content': reply.content or None}
    if reply.tool_calls:
        message['tool_calls'] = [
            {'id': call.id, 'type': 'function', 'function': {'name': call.name, 'arguments': call.arguments}}
            for call in reply.tool_calls
        ]
    tokens = (reply.prompt_tokens, reply.completion_tokens)
    usage = dict(
        zip(('prompt_tokens', 'completion_tokens', 'total_tokens'), (*tokens, sum(tokens)), strict=True)
    )
    return json.dumps(completion(message, 'tool_calls' if reply.tool_calls else 'stop', usage=usage)).encode()


class _Part(BaseModel):
    model_config = ConfigDict(extra='forbid')


class _Call(_Part):
    name: str
    arguments: dict[str, Any] | str = {}


class _RuleReply(_Part):
    content: str = ''
    tool_calls: list[_Call] = []
    prompt_tokens: int = 0
    completion_tokens: int = 0
    status: int = 200
    headers: dict[str, str] = {}
    body: Any = None
    hang_s: float = Field(0.0, ge=0.0)
    refuse: tuple[str, ...] = ()
    retry_after_s: float | None = None
    retry_after_date: bool = False
    drip_s: float = Field(0.0, ge=0.0)
    cut_after: int | None = Field(None, ge=0)
    pad_mb: float = Field(0.0, ge=0.0, le=10_000.0)
    gzip: bool = False


class _Rule(_Part):
    when: str
    turn: int | None = None
    reply: _RuleReply


def load_rules(path: Path) -> Callable[[dict[str, Any]], ScriptedReply]:
    """Return the script in a file of rules; a body that is a text is sent as it is.

    :raises InvalidRequest: the file is no list of rules
    """
    try:
        rules = TypeAdapter(list[_Rule]).validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        raise InvalidRequest(f'{path} is no script: {error}') from error

    def reply(body: dict[str, Any]) -> ScriptedReply:
        messages = [message for message in body.get('messages', []) if isinstance(message, dict)]
        asked = next((message for message in reversed(messages) if message.get('role') == 'user'), {})
        text = json.dumps(asked.get('content', ''), ensure_ascii=False).lower()
        turn = sum(message.get('role') == 'assistant' for message in messages)
        for rule in rules:
            if rule.turn in (None, turn) and (rule.when == 'any' or rule.when.lower() in text):
                return _scripted(rule.reply)
        return ScriptedReply(f'no rule of {path.name} fits', status=404)

    return reply


def _scripted(reply: _RuleReply) -> ScriptedReply:
    calls = tuple(
        ToolCall(
            f'call_{index}',
            call.name,
            call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments),
        )
        for index, call in enumerate(reply.tool_calls)
    )
    fields = reply.model_dump(exclude={'tool_calls', 'body'})
    body = reply.body.encode() if isinstance(reply.body, str) else reply.body
    return ScriptedReply(**fields, tool_calls=calls, body=body)
