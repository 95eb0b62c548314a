"""Access rights: tokens, the logins that stand for them, and limits on attempts."""

import hashlib
import hmac
import logging
import math
import os
import re
import secrets
import stat
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from enum import IntEnum
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.types import Scope

from remembr_ros.errors import InvalidRequest
from remembr_ros.web.door.door import client_of

SHORTEST_TOKEN = 16  # [characters]
LONGEST_TOKEN = 512  # [characters]
MAX_TOKEN_FILE = 2**16  # [bytes]
FAILURES_PER_MINUTE = 10  # of a client
ALL_FAILURES_PER_MINUTE = 100  # of all clients; then who failed of late waits
MOST_SESSIONS = 1000
MOST_KEYS = 4096  # who is remembered at a time
SESSION_S = 7 * 86400.0  # [s] a page need not be logged in anew

_TOKEN_LINE = re.compile(rf'(look|ask|act)\s+([A-Za-z0-9._~+/=-]{{{SHORTEST_TOKEN},{LONGEST_TOKEN}}})')

logger = logging.getLogger(__name__)


class Right(IntEnum):
    """What somebody may; each includes those before it."""

    LOOK = 1
    ASK = 2
    ACT = 3


def refusal(status: int, sentence: str, wait_s: float = 0.0) -> HTTPException:
    """Return what is raised where a request is not let in.

    :param sentence: says what to do
    :param wait_s: [s] until it may be tried again
    """
    headers = {'WWW-Authenticate': 'Bearer'} if status == 401 else {}
    if wait_s > 0.0:
        headers['Retry-After'] = f'{math.ceil(wait_s)}'
    return HTTPException(status, sentence, headers)


class Access:
    """Compares tokens, and knows who has logged in. Any thread may use it.

    :param tokens: what each allows; empty: everybody may everything, for nobody but this machine comes in
    :param clock: [s], monotonic
    """

    def __init__(
        self, tokens: Mapping[str, Right] | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rights = {_digest(token): right for token, right in (tokens or {}).items()}
        self._clock = clock
        self._lock = threading.Lock()
        self._failures = Allowance(FAILURES_PER_MINUTE, clock)
        self._all_failures = Allowance(ALL_FAILURES_PER_MINUTE, clock)
        self._sessions: OrderedDict[bytes, tuple[Right, float]] = OrderedDict()
        """What each may, and until when; the oldest first."""

    @classmethod
    def by(cls, token_file: Path | None) -> 'Access':
        """Return the access by the tokens of a file; without one everybody who comes may everything.

        :raises InvalidRequest: see read_tokens
        """
        return cls() if token_file is None else cls(read_tokens(token_file))

    @property
    def wants_tokens(self) -> bool:
        """Whether who comes has to have a token."""
        return bool(self._rights)

    def of_token(self, token: str, client: str) -> Right | None:
        """Return what a token allows, comparing it with every one in constant time; None: it is wrong.

        :raises HTTPException: this client has tried too many, or all clients have, and this one took part
        """
        with self._lock:
            wait_s = self._failures.wait_s(client)
            if client in self._failures:
                wait_s = max(wait_s, self._all_failures.wait_s(''))
            if wait_s > 0.0:
                raise refusal(429, 'too many wrong tokens: wait a while', wait_s)
            digest = _digest(token)
            found = [right for known, right in self._rights.items() if hmac.compare_digest(known, digest)]
            if found:
                return found[0]
            self._failures.take(client)
            self._all_failures.take('')
        logger.warning('a wrong token from %s', client)
        return None

    def log_in(self, right: Right) -> str:
        """Return the id of a new session, for a cookie."""
        session = secrets.token_urlsafe(32)
        with self._lock:
            self._sessions[_digest(session)] = (right, self._clock() + SESSION_S)
            if len(self._sessions) > MOST_SESSIONS:
                self._sessions.popitem(last=False)
        return session

    def of_session(self, session: str) -> Right | None:
        """Return what a session allows; None: there is none, or it is over."""
        with self._lock:
            right, until = self._sessions.get(_digest(session), (None, 0.0))
            return right if self._clock() < until else None

    def log_out(self, session: str) -> None:
        """End a session, if there is one."""
        with self._lock:
            self._sessions.pop(_digest(session), None)


def needs(right: Right) -> Callable[[Request], None]:
    """Return the dependency of a route that wants a right; the guard has put it into the request's state."""

    def check(request: Request) -> None:
        if getattr(request.state, 'right', 0) < right:
            raise HTTPException(403, f'this needs a token with the right to {right.name.lower()}')

    return check


class Login(BaseModel):
    """A token, shown once."""

    model_config = ConfigDict(extra='forbid')
    token: str = Field(min_length=1, max_length=LONGEST_TOKEN)


def login_routes(access: Access) -> APIRouter:
    """Return POST /api/login and POST /api/logout."""
    router = APIRouter(prefix='/api', tags=['access'])

    @router.post('/login', status_code=204)
    async def login(request: Request, body: Login) -> Response:
        """Show a token; the answer sets a cookie that stands for it, out of reach of scripts."""
        if not access.wants_tokens:
            return Response(status_code=204)
        right = access.of_token(body.token, client_of(request.client.host if request.client else ''))
        if right is None:
            raise refusal(401, 'this token is wrong')
        return _with_cookie(request, access.log_in(right), int(SESSION_S))

    @router.post('/logout', status_code=204)
    async def logout(request: Request) -> Response:
        """Forget the cookie."""
        access.log_out(request.cookies.get(cookie_name(request.scope), ''))
        return _with_cookie(request, '', 0)

    return router


def cookie_name(scope: Scope) -> str:
    """Return the name of the cookie: cookies know no ports, and a machine may serve several memories."""
    _, port = scope.get('server') or ('', None)
    return f'remembr-{port}' if port else 'remembr'


def _with_cookie(request: Request, session: str, max_age_s: int) -> Response:
    # Behind a proxy that speaks TLS the scheme here is http, and that of the page is the Origin's.
    secure = request.url.scheme == 'https' or request.headers.get('origin', '').startswith('https://')
    response = Response(status_code=204, headers={'Cache-Control': 'no-store'})
    name = cookie_name(request.scope)
    response.set_cookie(name, session, max_age_s, path='/', secure=secure, httponly=True, samesite='strict')
    return response


def read_tokens(path: Path) -> dict[str, Right]:
    """Return the tokens of a file: lines of a right and a token, such as 'look oP3_...'; # starts a comment.

    A file that others may read is warned of, and taken: the secrets of containers are such files, and there
    nobody else is. One that others may write is refused, for it says whatever they want.

    :raises InvalidRequest: it cannot be read, or what is in it makes no sense
    """
    try:
        with path.open('rb') as file:
            mode = os.fstat(file.fileno()).st_mode
            data = file.read(MAX_TOKEN_FILE + 1)
    except OSError as error:
        raise InvalidRequest(f'the file of tokens cannot be read: {error}') from error
    if mode & stat.S_IWOTH:
        raise InvalidRequest(
            f'{path} can be written by everybody, who may then do everything: chmod 600 {path}'
        )
    if mode & (stat.S_IRGRP | stat.S_IROTH):
        logger.warning('%s can be read by others of this machine, who can use its tokens: chmod 600 it', path)
    if len(data) > MAX_TOKEN_FILE:
        raise InvalidRequest(f'{path} has more than {MAX_TOKEN_FILE} bytes: it is no file of tokens')
    tokens: dict[str, Right] = {}
    for number, line in enumerate(data.decode('utf-8', 'replace').splitlines(), 1):
        if not (entry := line.partition('#')[0].strip()):
            continue
        found = _TOKEN_LINE.fullmatch(entry)
        if found is None or found[2] in tokens:
            raise InvalidRequest(
                f"{path}, line {number}: 'look', 'ask' or 'act' and a token that no other line has are "
                f'needed, of {SHORTEST_TOKEN} to {LONGEST_TOKEN} letters, digits or any of ._~+/=-'
            )
        tokens[found[2]] = Right[found[1].upper()]
    if not tokens:
        raise InvalidRequest(
            f'{path} has no token in it: remembr web --new-tokens FILE writes a file of them'
        )
    return tokens


def new_tokens(path: Path) -> None:
    """Write a file with a new token for each right, which nobody but its owner can read.

    :raises InvalidRequest: it is there already, or cannot be written
    """
    lines = ['# Who may what on the page; keep it to yourself.']
    lines += [f'{right.name.lower()} {secrets.token_urlsafe(24)}' for right in Right]
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(handle, 'w', encoding='ascii') as file:
            file.write('\n'.join(lines) + '\n')
    except FileExistsError as error:
        raise InvalidRequest(f'{path} is there already, and stays as it is: name another file') from error
    except OSError as error:
        raise InvalidRequest(f'the tokens cannot be written: {error}') from error


def _digest(secret: str) -> bytes:
    return hashlib.sha256(secret.encode('utf-8', 'surrogatepass')).digest()


class Allowance:
    """So much a minute for each, and as much at once after a pause (a token bucket).

    :param clock: [s], monotonic
    """

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = float(per_minute)
        self._per_s = per_minute / 60.0
        self._clock = clock
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """What each has left, and when that was; by when they took last."""

    def wait_s(self, client: str) -> float:
        """Return for how long nothing is left; 0: something is."""
        return max(0.0, (1.0 - self._left_now(client)) / self._per_s)

    def take(self, client: str) -> float:
        """Take one, if one is left; return for how long none is, 0: it was taken."""
        wait_s = self.wait_s(client)
        if wait_s == 0.0:
            self._left[client] = (self._left_now(client) - 1.0, self._clock())
            self._left.move_to_end(client)
            if len(self._left) > MOST_KEYS:
                self._left.popitem(last=False)
        return wait_s

    def __contains__(self, client: str) -> bool:
        """Tell whether somebody has taken some of late."""
        return self._left_now(client) < self._most

    def _left_now(self, client: str) -> float:
        left, at = self._left.get(client, (self._most, 0.0))
        return min(self._most, left + (self._clock() - at) * self._per_s)
