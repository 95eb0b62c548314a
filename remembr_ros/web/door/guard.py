"""What stands before the application: who asks, from where, and how much. Pure ASGI: nothing is held back."""

import asyncio
import logging
import re
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import parse_qsl

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, cookie_parser
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembr_ros.web.door.access import Access, Allowance, Right
from remembr_ros.web.door.door import Door, client_of
from remembr_ros.web.door.login import cookie_name
from remembr_ros.web.door.origin import check_origin, is_of_page, own_names
from remembr_ros.web.door.policy import with_policy
from remembr_ros.web.door.refusal import Refusal

MAX_BODY = 2**20  # [bytes]
MAX_SPEECH = 10 * 2**20  # [bytes] of what a browser records
MAX_TARGET = 2**14  # [bytes] of path and query
MAX_HEADERS = 2**15  # [bytes] of all of them
MAX_FIELDS = 200  # of a query

_SAFE = ('GET', 'HEAD', 'OPTIONS')
_BEARER = re.compile(r'bearer +(\S+) *', re.IGNORECASE)
_LINE_ENDS = re.compile(rb'[\r\n\0]')

logger = logging.getLogger(__name__)


class Guard:
    """Lets those requests through to an application that may come in, and puts into their state

    right (Right) what they may, and who (str), for logs. The page's files and the login are everybody's:
    there right may be absent.

    :param door: what it is called, and how much it does at a time
    """

    def __init__(self, app: ASGIApp, access: Access, door: Door | None = None) -> None:
        self._app = app
        self._access = access
        door = door or Door()
        self.crowd = door.crowd
        """How much is done at a time."""
        self._names = own_names(door.host, door.names)
        self._requests = Allowance(door.crowd.requests_per_minute)
        self._clients: dict[str, _Client] = {}
        """Those whose requests are worked on now."""
        self.refused = 0
        """How many requests were refused since the start."""
        self.streams = 0
        """How many answers go on."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope['type'] != 'http':
            if scope['type'] == 'lifespan':
                await self._app(scope, receive, send)
            return
        client = client_of(scope['client'][0] if scope.get('client') else '')
        passage = _Passage(self, self._client(client), scope, receive, send)
        try:
            self._check(scope, client)
            await passage.wait_for_turn()
            await self._app(scope, passage.receive, passage.send)
        except Refusal as refusal:
            await passage.refuse(refusal)
        except asyncio.CancelledError:  # by the server, which is being stopped, and waits for this to end
            await passage.refuse(Refusal(503, 'the server is being stopped', 1.0))
        except Exception as error:
            # Of who went away, or was kept from the rest, the application misses it.
            if not passage.refused and not isinstance(error, ClientDisconnect):
                logger.exception('%s %s failed', scope['method'], scope['path'].encode())
            await passage.refuse(Refusal(500, "this went wrong; the server's log says how"))
        finally:
            passage.leave()
            if not self._clients[client].passages:
                del self._clients[client]

    def _client(self, client: str) -> '_Client':
        if client not in self._clients:
            self._clients[client] = _Client(asyncio.Semaphore(self.crowd.requests_per_client))
        return self._clients[client]

    def _check(self, scope: Scope, client: str) -> None:
        headers = Headers(scope=scope)
        _check_size(scope)
        _check_path(scope['path'])
        _check_query(scope['query_string'].decode('latin-1'))
        check_origin(scope['method'], scope['path'], headers, self._names)
        if (wait_s := self._requests.take(client)) > 0.0:
            raise Refusal(429, 'too many requests: wait a moment', wait_s)
        right, by_cookie = self._right(scope, headers, client)
        if right is not None:
            who = f'{right.name.lower()} token from {client}' if self._access.wants_tokens else 'local'
            scope.setdefault('state', {}).update(right=right, who=who)
        elif not _is_public(scope['path']):
            raise Refusal(401, 'a token is needed: log in, or send it as Authorization: Bearer TOKEN')
        if by_cookie and scope['method'] not in _SAFE and not is_of_page(headers):
            raise Refusal(403, 'this comes from no page: send a token instead of the cookie')
        with suppress(ValueError):
            if int(headers.get('content-length', '0')) > most_body(scope['path']):
                raise too_much(scope['path'])

    def _right(self, scope: Scope, headers: Headers, client: str) -> tuple[Right | None, bool]:
        """Return what a request may, and whether its cookie says so."""
        if not self._access.wants_tokens:
            return Right.ACT, False
        bearer = _BEARER.fullmatch(headers.get('authorization', ''))
        if bearer is None:
            cookies = cookie_parser(headers.get('cookie', ''))
            right = self._access.of_session(cookies.get(cookie_name(scope), ''))
            return right, right is not None
        right = self._access.of_token(bearer[1], client)
        if right is None:
            raise Refusal(401, 'this token is wrong')
        return right, False


@dataclass(slots=True)
class _Client:
    """What somebody has under way."""

    turns: asyncio.Semaphore
    passages: int = 0
    streams: int = 0


class _Passage:
    """One request, and its answer, on their way."""

    def __init__(self, guard: Guard, client: _Client, scope: Scope, receive: Receive, send: Send) -> None:
        self._guard = guard
        self._client = client
        self._path: str = scope['path']
        self._receive = receive
        self._send = send
        self._read = 0
        self._has_turn = False
        self._is_stream = False
        self._started = False
        self.refused = False
        client.passages += 1

    async def wait_for_turn(self) -> None:
        """Wait until not too many of the client's requests are worked on."""
        turns = self._client.turns
        try:
            await (
                asyncio.wait_for(turns.acquire(), self._guard.crowd.turn_s)
                if turns.locked()
                else turns.acquire()
            )
        except asyncio.TimeoutError:
            raise Refusal(429, 'too many requests at a time: wait for some answers', 1.0) from None
        self._has_turn = True

    def leave(self) -> None:
        """Make room for others."""
        self._give_turn()
        self._client.passages -= 1
        self._client.streams -= self._is_stream
        self._guard.streams -= self._is_stream

    async def receive(self) -> Message:
        """Read on, as long as it is not too much."""
        if self.refused:
            return {'type': 'http.disconnect'}
        message = await self._receive()
        self._read += len(message.get('body', b''))
        if self._read > most_body(self._path):
            await self.refuse(too_much(self._path))
            return {'type': 'http.disconnect'}
        return message

    async def send(self, message: Message) -> None:
        """Answer, unless it was refused meanwhile."""
        if self.refused:
            return
        if message['type'] == 'http.response.start':
            headers = [(name.lower(), value) for name, value in message.get('headers', ())]
            if any(_LINE_ENDS.search(part) for header in headers for part in header):
                logger.error('an answer to %s has a line end in a header', self._path.encode())
                await self.refuse(Refusal(500, "this went wrong; the server's log says how"))
                return
            kind = dict(headers).get(b'content-type', b'')
            if kind.startswith(b'text/event-stream') and not self._becomes_stream():
                await self.refuse(Refusal(429, 'too many pages are open: close some', 10.0))
                return
            self._started = True
            message = {**message, 'headers': with_policy(headers, self._path)}
        await self._send(message)

    async def refuse(self, refusal: Refusal) -> None:
        """Answer so, unless an answer has begun; whatever the application still says is dropped."""
        if self.refused:
            return
        self.refused = True
        self._guard.refused += 1
        if not self._started:
            start = {'type': 'http.response.start', 'status': refusal.status}
            await self._send({**start, 'headers': with_policy(refusal.headers, self._path)})
            await self._send({'type': 'http.response.body', 'body': refusal.body})

    def _becomes_stream(self) -> bool:
        crowd = self._guard.crowd
        if self._client.streams >= crowd.streams_per_client or self._guard.streams >= crowd.streams:
            return False
        self._is_stream = True
        self._client.streams += 1
        self._guard.streams += 1
        self._give_turn()
        return True

    def _give_turn(self) -> None:
        if self._has_turn:
            self._has_turn = False
            self._client.turns.release()


def most_body(path: str) -> int:
    """Return how long the body of a request may be [bytes]."""
    return MAX_SPEECH if path == '/api/speech' else MAX_BODY


def too_much(path: str) -> Refusal:
    """Return the refusal of a longer one."""
    return Refusal(413, f'at most {most_body(path) // 2**20} MiB are read of a request')


def _is_public(path: str) -> bool:
    return path in ('/', '/favicon.ico', '/api/login', '/api/logout') or path.startswith('/page/')


def _check_size(scope: Scope) -> None:
    if len(scope.get('raw_path') or scope['path'].encode()) + len(scope['query_string']) > MAX_TARGET:
        raise Refusal(414, f'an address has at most {MAX_TARGET} bytes')
    if sum(len(name) + len(value) for name, value in scope['headers']) > MAX_HEADERS:
        raise Refusal(431, f'the headers of a request have at most {MAX_HEADERS} bytes')


def _check_path(path: str) -> None:
    # No name of ours has any of these; what a file system makes of them is never found out.
    if not path.startswith('/') or '\\' in path or any(ord(one) < 32 for one in path):
        raise Refusal(400, 'there is no such address')
    if any(part in ('.', '..') for part in path.split('/')):
        raise Refusal(400, 'an address has no . or .. in it')


def _check_query(query: str) -> None:
    try:
        names = {name.lower() for name, _ in parse_qsl(query, max_num_fields=MAX_FIELDS)}
    except ValueError as error:
        raise Refusal(400, f'a query has at most {MAX_FIELDS} fields') from error
    if names & {'token', 'access_token'}:
        raise Refusal(400, 'a token in a URL stays in logs and histories: send Authorization: Bearer TOKEN')
