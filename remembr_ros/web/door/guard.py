"""The guard before the application: who asks, from where, and how much. Pure ASGI, without buffering."""

import asyncio
import ipaddress
import logging
import re
import socket
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from urllib.parse import parse_qsl

from fastapi import HTTPException
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect, cookie_parser
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from remembr_ros.web.door.access import Access, Allowance, Right, cookie_name, refusal
from remembr_ros.web.door.door import Door, client_of

MAX_BODY = 2**20  # [bytes]
MAX_SPEECH = 10 * 2**20  # [bytes] of what a browser records
MAX_TARGET = 2**14  # [bytes] of path and query
MAX_HEADERS = 2**15  # [bytes] of all of them
MAX_FIELDS = 200  # of a query

_POLICY = {  # each word is explained in docs/security.md
    b'content-security-policy': b"default-src 'self'; base-uri 'none'; form-action 'self'; "
    b"frame-ancestors 'none'; object-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    b'cross-origin-opener-policy': b'same-origin',
    b'cross-origin-resource-policy': b'same-origin',
    b'permissions-policy': b'microphone=(self), camera=(), geolocation=(), display-capture=()',
    b'referrer-policy': b'no-referrer',
    b'x-content-type-options': b'nosniff',
}
_BEARER = re.compile(r'bearer +(\S+) *', re.IGNORECASE)
_HOST = re.compile(r'(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(?P<port>[0-9]{1,5}))?')
_ORIGIN = re.compile(rf'(?P<scheme>https?)://{_HOST.pattern}')
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
        self._names = own_names(door.host, door.names)
        self._requests = Allowance(door.crowd.requests_per_minute)
        self.streams: Counter[str] = Counter()
        """How many answers go on, by client."""
        self._turns: dict[str, asyncio.Semaphore] = {}
        self._under_way: Counter[str] = Counter()
        self.refused = 0
        """How many requests were refused since the start."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope['type'] == 'lifespan':
            await self._app(scope, receive, send)
        if scope['type'] != 'http':
            return
        client = client_of(scope['client'][0] if scope.get('client') else '')
        passage = _Passage(self, client, scope, receive, send)
        try:
            self._check(scope, client)
            async with self._turn(scope, client):
                await self._app(scope, passage.receive, passage.send)
        except HTTPException as error:
            await passage.refuse(error)
        except asyncio.CancelledError:  # by the server, which is being stopped, and waits for this to end
            await passage.refuse(refusal(503, 'the server is being stopped', 1.0))
        except Exception as error:
            # Of who went away, or was kept from the rest, the application misses it.
            if not passage.refused and not isinstance(error, ClientDisconnect):
                logger.exception('%s %s failed', scope['method'], scope['path'].encode())
            await passage.refuse(_failed())
        finally:
            passage.leave()

    @asynccontextmanager
    async def _turn(self, scope: Scope, client: str) -> AsyncIterator[None]:
        """Have a look answered when few others of the same client and right are being answered."""
        path, crowd = scope['path'], self.crowd
        if scope['method'] != 'GET' or not path.startswith('/api/') or path == '/api/events':
            yield
            return
        who = f'{scope.get("state", {}).get("who", "")} {client}'
        if self._under_way[who] >= crowd.computed_per_client + crowd.waiting_per_client:
            raise refusal(429, 'too many requests wait for an answer: wait for some of them', 2.0)
        self._under_way[who] += 1
        try:
            async with self._turns.setdefault(who, asyncio.Semaphore(crowd.computed_per_client)):
                yield
        finally:
            self._under_way -= Counter([who])  # who has none left is not kept
            if who not in self._under_way:
                del self._turns[who]

    def _check(self, scope: Scope, client: str) -> None:
        headers = Headers(scope=scope)
        path, is_safe = scope['path'], scope['method'] in ('GET', 'HEAD', 'OPTIONS')
        check_form(scope)
        check_origin(scope['method'], path, headers, self._names)
        if (wait_s := self._requests.take(client)) > 0.0:
            raise refusal(429, 'too many requests: wait a moment', wait_s)
        right, by_cookie = self._right(scope, headers, client)
        if right is not None:
            holder = f'{right.name.lower()} token from {client}' if self._access.wants_tokens else 'local'
            scope.setdefault('state', {}).update(right=right, who=holder)
        elif path not in ('/', '/favicon.ico', '/api/login', '/api/logout') and not path.startswith('/page/'):
            raise refusal(401, 'a token is needed: log in, or send it as Authorization: Bearer TOKEN')
        if by_cookie and not is_safe and 'origin' not in headers and 'sec-fetch-site' not in headers:
            raise refusal(403, 'this comes from no page: send a token instead of the cookie')

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
            raise refusal(401, 'this token is wrong')
        return right, False


class _Passage:
    """One request, and its answer, on their way."""

    def __init__(self, guard: Guard, client: str, scope: Scope, receive: Receive, send: Send) -> None:
        self._guard, self._client = guard, client
        self._scope, self._receive, self._send = scope, receive, send
        self._most_bytes = MAX_SPEECH if scope['path'] == '/api/speech' else MAX_BODY
        self._read = 0
        self._is_stream = self._started = False
        self.refused = False

    def leave(self) -> None:
        """Make room for others."""
        if self._is_stream:
            self._guard.streams -= Counter([self._client])  # who has none left is not kept

    async def receive(self) -> Message:
        """Read on, as long as it is not too much."""
        if not self.refused:
            message = await self._receive()
            self._read += len(message.get('body', b''))
            if self._read <= self._most_bytes:
                return message
            await self.refuse(refusal(413, f'at most {self._most_bytes // 2**20} MiB are read of a request'))
        return {'type': 'http.disconnect'}

    async def send(self, message: Message) -> None:
        """Answer, unless it was refused meanwhile."""
        if self.refused:
            return
        if message['type'] == 'http.response.start':
            headers = [(name.lower(), value) for name, value in message.get('headers', ())]
            if any(_LINE_ENDS.search(part) for header in headers for part in header):
                logger.error('an answer to %s has a line end in a header', self._scope['path'].encode())
                await self.refuse(_failed())
                return
            kind = dict(headers).get(b'content-type', b'')
            if kind.startswith(b'text/event-stream') and not self._becomes_stream():
                await self.refuse(refusal(429, 'too many pages are open: close some', 10.0))
                return
            self._started = True
            message = {**message, 'headers': with_policy(headers, self._scope['path'])}
        await self._send(message)

    async def refuse(self, error: HTTPException) -> None:
        """Answer so, unless an answer has begun; whatever the application still says is dropped."""
        if self.refused:
            return
        self.refused = True
        self._guard.refused += 1
        if not self._started:
            response = JSONResponse({'error': error.detail}, error.status_code, error.headers)
            response.raw_headers = with_policy(response.raw_headers, self._scope['path'])
            await response(self._scope, self._receive, self._send)

    def _becomes_stream(self) -> bool:
        crowd, streams = self._guard.crowd, self._guard.streams
        if streams[self._client] >= crowd.streams_per_client or streams.total() >= crowd.streams:
            return False
        self._is_stream = True
        streams[self._client] += 1
        return True


def _failed() -> HTTPException:
    return refusal(500, "this went wrong; the server's log says how")


def with_policy(headers: Iterable[tuple[bytes, bytes]], path: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer with what a browser is told to refuse, which nothing overrides.

    :param headers: names in lower case
    :param path: that was asked for; what the API says is not kept by anybody unless it says so itself
    """
    kept = [header for header in headers if header[0] not in _POLICY]
    if path.startswith(('/api', '/mcp')) and b'cache-control' not in dict(kept):
        kept.append((b'cache-control', b'no-store'))
    return [*kept, *_POLICY.items()]


def check_form(scope: Scope) -> None:
    """Return if a request is as long, and its address as plain, as those of a page are.

    :raises HTTPException: it is not
    """
    path, query = scope['path'], scope['query_string']
    if len(scope.get('raw_path') or path.encode()) + len(query) > MAX_TARGET:
        raise refusal(414, f'an address has at most {MAX_TARGET} bytes')
    if sum(len(name) + len(value) for name, value in scope['headers']) > MAX_HEADERS:
        raise refusal(431, f'the headers of a request have at most {MAX_HEADERS} bytes')
    # No name of ours has any of these; what a file system makes of them is never found out.
    if not path.startswith('/') or '\\' in path or any(ord(letter) < 32 for letter in path):
        raise refusal(400, 'there is no such address')
    if any(part in ('.', '..') for part in path.split('/')):
        raise refusal(400, 'an address has no . or .. in it')
    try:
        names = {name.lower() for name, _ in parse_qsl(query.decode('latin-1'), max_num_fields=MAX_FIELDS)}
    except ValueError as error:
        raise refusal(400, f'a query has at most {MAX_FIELDS} fields') from error
    if names & {'token', 'access_token'}:
        raise refusal(400, 'a token in a URL stays in logs and histories: send Authorization: Bearer TOKEN')


def own_names(host: str, names: Iterable[str] = ()) -> frozenset[str]:
    """Return the names that this machine may be called by, besides its addresses.

    :param host: where it serves
    :param names: further ones
    """
    own = socket.gethostname().partition('.')[0]
    called = ('localhost', own, f'{own}.local', socket.gethostname(), host, *names)
    return frozenset(name.casefold().rstrip('.') for name in called)


def check_origin(method: str, path: str, headers: Headers, names: frozenset[str]) -> None:
    """Return if a request may come from the page, or from no page at all.

    A name that an attacker owns can be pointed at this machine after his page was loaded (DNS rebinding):
    then Host is that name. A page of his can send requests here (CSRF): then Origin is his, or
    Sec-Fetch-Site says so.

    :raises HTTPException: it comes by another name, or from another page
    """
    hosts = headers.getlist('host')
    host = _HOST.fullmatch(hosts[0]) if len(hosts) == 1 else None
    if host is None or not _is_own(host['name'].casefold().rstrip('.'), names):
        raise refusal(403, 'this server is not called so: use its address, or start it with --name NAME')
    is_link = (  # to the page, on another one; the page then asks by itself
        method in ('GET', 'HEAD')
        and headers.get('sec-fetch-mode') == 'navigate'
        and headers.get('sec-fetch-dest') == 'document'
        and not path.startswith(('/api', '/mcp'))
    )
    is_cross = headers.get('sec-fetch-site', 'none') not in ('same-origin', 'none') and not is_link
    if is_cross or ('origin' in headers and not _is_same(headers['origin'], host)):
        raise refusal(403, 'this comes from another page than that of this server')


def _is_own(name: str, names: frozenset[str]) -> bool:
    if name in names:
        return True
    try:
        ipaddress.ip_address(name.strip('[]'))
    except ValueError:
        return False
    return True  # nobody can point an address elsewhere


def _is_same(origin: str, host: re.Match[str]) -> bool:
    page = _ORIGIN.fullmatch(origin)
    if page is None:  # 'null', too: a sandboxed frame, or a file
        return False
    # Behind a proxy that speaks TLS the scheme here is another one than the page's.
    default = {'http': 80, 'https': 443}[page['scheme']]
    theirs, here = ((url['name'].casefold(), int(url['port'] or default)) for url in (page, host))
    return theirs == here
