"""What a scripted chat server replies, by which rules, and how it is sent: whole and at once, or badly."""

import gzip
import json
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from http import HTTPStatus
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, TypeAdapter, ValidationError

from remembr_ros.agent.chat.client import Message, ToolCall
from remembr_ros.agent.chat.wire import wire_message
from remembr_ros.errors import InvalidRequest

MEGABYTE = 10**6
POLL_S = 0.01  # How soon it is seen that a client has hung up [s]


class _RuleCall(BaseModel):
    model_config = ConfigDict(extra='forbid')

    name: str
    arguments: dict[str, Any] | str = {}


def _as_text(arguments: dict[str, Any] | str) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def _as_calls(given: Any) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(f'call_{index}', call.name, _as_text(call.arguments))
        for index, call in enumerate(TypeAdapter(list[_RuleCall]).validate_python(given))
    )


def _as_sent(body: object) -> object:
    return body.encode() if isinstance(body, str) else body


_Seconds = Annotated[float, Field(ge=0.0)]


@dataclass(frozen=True, slots=True)
class ScriptedReply:
    """What the server sends: a chat message, unless a body is given. In a rule, calls need no ids.

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

    __pydantic_config__ = ConfigDict(extra='forbid')

    content: str = ''
    tool_calls: Annotated[tuple[ToolCall, ...], BeforeValidator(_as_calls)] = ()
    prompt_tokens: int = 0
    completion_tokens: int = 0
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: Annotated[object, BeforeValidator(_as_sent)] = None
    hang_s: _Seconds = 0.0
    refuse: tuple[str, ...] = ()
    retry_after_s: float | None = None
    retry_after_date: bool = False
    drip_s: _Seconds = 0.0
    cut_after: Annotated[int, Field(ge=0)] | None = None
    linger_s: _Seconds = 0.0
    pad_mb: Annotated[float, Field(ge=0.0, le=10_000.0)] = 0.0
    gzip: bool = False


def completion(message: object, finish_reason: str = 'stop', **more: object) -> dict[str, Any]:
    """Return the body of a chat reply with any message.

    :param more: further fields, such as usage
    """
    choices = [{'index': 0, 'finish_reason': finish_reason, 'message': message}]
    head = {'id': 'scripted', 'object': 'chat.completion', 'created': 0, 'model': 'm'}
    return {**head, 'choices': choices, **more}


def body_of(reply: ScriptedReply) -> bytes:
    """Return what is sent for a reply."""
    if isinstance(reply.body, bytes):
        return reply.body
    if reply.body is not None:
        return json.dumps(reply.body).encode()
    if not 200 <= reply.status < 300:
        return json.dumps({'error': {'message': reply.content or f'status {reply.status}'}}).encode()
    message = wire_message(Message('assistant', reply.content, reply.tool_calls))
    message['content'] = reply.content or None
    prompt, completed = reply.prompt_tokens, reply.completion_tokens
    usage = {'prompt_tokens': prompt, 'completion_tokens': completed, 'total_tokens': prompt + completed}
    return json.dumps(completion(message, 'tool_calls' if reply.tool_calls else 'stop', usage=usage)).encode()


@dataclass(frozen=True, slots=True)
class _Rule:
    __pydantic_config__ = ConfigDict(extra='forbid')

    when: str
    reply: ScriptedReply
    turn: int | None = None


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
                return rule.reply
        return ScriptedReply(f'no rule of {path.name} fits', status=404)

    return reply


def send(reply: ScriptedReply, connection: socket.socket, closed: threading.Event) -> bool:
    """Send a reply over HTTP/1.1; the connection is to be closed afterwards.

    :param closed: ends it early when set
    :return: False: the client hung up before it had the reply
    """
    if not _wait(reply.hang_s, connection, closed):
        return closed.is_set()
    try:
        for part in _parts(reply):
            pieces = (part[i : i + 1] for i in range(len(part))) if reply.drip_s else [part]
            for piece in pieces:
                # Before, not after: who has the last byte may go.
                if closed.is_set() or not _wait(reply.drip_s, connection, closed):
                    return closed.is_set()
                connection.sendall(piece)
        return _wait(reply.linger_s, connection, closed) or closed.is_set()
    except OSError:
        return False


def _parts(reply: ScriptedReply) -> Iterator[bytes]:
    """Yield the reply in parts, so that one of any size takes no memory."""
    data = body_of(reply)
    padding = round(reply.pad_mb * MEGABYTE)
    if reply.gzip:
        data, padding = gzip.compress(b' ' * padding + data), 0
    headers = {'Content-Type': 'application/json', 'Content-Length': str(len(data) + padding)}
    if reply.gzip:
        headers['Content-Encoding'] = 'gzip'
    if reply.retry_after_s is not None:
        date = formatdate(time.time() + reply.retry_after_s, usegmt=True)
        headers['Retry-After'] = date if reply.retry_after_date else f'{reply.retry_after_s:g}'
    headers |= {**reply.headers, 'Connection': 'close'}
    phrase = HTTPStatus(reply.status).phrase if reply.status in set(HTTPStatus) else 'Unknown'
    head = [f'HTTP/1.1 {reply.status} {phrase}', *(f'{name}: {value}' for name, value in headers.items())]
    yield '\r\n'.join([*head, '', '']).encode('latin-1', 'replace')
    left = len(data) + padding if reply.cut_after is None else reply.cut_after
    while padding > 0 and left > 0:
        part = b' ' * min(padding, left, MEGABYTE)
        padding, left = padding - len(part), left - len(part)
        yield part
    yield data[:left]


def _wait(seconds: float, connection: socket.socket, closed: threading.Event) -> bool:
    """Wait; return whether the client still wants the reply and the server is still running."""
    until = time.monotonic() + seconds
    while True:
        left = until - time.monotonic()
        if left <= 0.0:
            return not closed.is_set()
        if closed.wait(min(left, POLL_S)):
            return False
        readable, _, _ = select.select([connection], [], [], 0.0)
        if readable and not _peek(connection):
            return False


def _peek(connection: socket.socket) -> bytes:
    try:
        return connection.recv(1, socket.MSG_PEEK)
    except OSError:
        return b''
