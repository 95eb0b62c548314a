"""The web server: bound early, guarded, in a thread that ends within seconds."""

import asyncio
import logging
import os
import socket
import ssl
import threading
from collections import Counter
from functools import partial
from typing import Any, NoReturn

import h11
import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from remembr_ros.errors import InvalidRequest, NodeUnavailable
from remembr_ros.web.door.access import Access
from remembr_ros.web.door.door import Crowd, Door, client_of, is_loopback
from remembr_ros.web.door.guard import Guard

MAX_HEAD = 2**15  # [bytes] of a request's first line and headers
GRACE_S = 1  # [s] for answers under way when the server is stopped
STOP_S = 5.0  # [s] for all of it
START_S = 60.0  # [s] for what the application does before it serves

logger = logging.getLogger(__name__)


class WebServer:
    """Serves one application behind the guard; start, then stop, once each.

    :param door: where; the address is taken at once, so that an error is told before anything is started
    :param access: who may come in
    :raises InvalidRequest: address, certificate or key cannot be used
    """

    def __init__(self, door: Door, access: Access) -> None:
        if not access.wants_tokens and door.token_file is not None:
            raise InvalidRequest('a file of tokens is given, and not used')
        self._door = door
        self._access = access
        self._tls = _tls(door)
        self._socket = _bound(door)
        self._guard: Guard | None = None
        self._server: _Uvicorn | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port that it serves at."""
        return int(self._socket.getsockname()[1])

    @property
    def url(self) -> str:
        """Where a person finds it."""
        host = self._door.host
        if host in ('0.0.0.0', '::'):
            host = socket.gethostname()
        return f'http{"s" if self._tls else ""}://{f"[{host}]" if ":" in host else host}:{self.port}/'

    @property
    def refused(self) -> int:
        """How many requests and connections were refused since the start."""
        return self._socket.refused + (0 if self._guard is None else self._guard.refused)

    def start(self, app: ASGIApp) -> None:
        """Serve in a thread, and return once requests are answered.

        :raises NodeUnavailable: the application cannot be started; the log says why
        """
        self._guard = Guard(app, self._access, self._door)
        config = uvicorn.Config(
            self._guard,
            http=partial(BoundedProtocol, self._door.crowd),  # type: ignore[arg-type]  # makes one
            ws='none',
            loop='asyncio',
            lifespan='on',
            log_config=None,
            access_log=False,
            proxy_headers=False,  # anybody can send those
            server_header=False,
            timeout_keep_alive=self._door.crowd.idle_s,
            timeout_graceful_shutdown=GRACE_S,
            h11_max_incomplete_event_size=MAX_HEAD,
        )
        logging.getLogger('uvicorn.error').setLevel(logging.ERROR)  # it warns of each request that is no HTTP
        config.load()
        config.ssl = self._tls
        self._server = _Uvicorn(config)
        self._thread = threading.Thread(target=self._serve, name='web server', daemon=True)
        self._thread.start()
        if not self._server.is_ready.wait(START_S) or not self._server.started:
            self.stop()
            raise NodeUnavailable('the page cannot be served; the log says why')

    def stop(self) -> None:
        """End all connections, and what was started; also if nothing was."""
        if self._server is not None and self._thread is not None:
            self._server.should_exit = True
            self._thread.join(STOP_S)
            if self._thread.is_alive():
                logger.error('the web server does not end')
        self._socket.close()

    def _serve(self) -> None:
        assert self._server is not None
        try:
            self._server.run([self._socket])
        except SystemExit:  # as uvicorn says that the application did not start; it has logged why
            pass
        except Exception:
            logger.exception('the web server ended')
        finally:
            self._server.is_ready.set()


class _Uvicorn(uvicorn.Server):
    """Says when it serves."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_ready.set()


class BoundedSocket(socket.socket):
    """Listens, and closes the connections of who has too many at once, even those still without TLS."""

    def __init__(self, family: int, crowd: Crowd) -> None:
        super().__init__(family, socket.SOCK_STREAM)
        self._crowd = crowd
        self._open: Counter[str] = Counter()
        self.refused = 0
        """How many connections were closed since the start."""

    def accept(self) -> tuple[socket.socket, Any]:
        """Return the next connection.

        :raises ConnectionAbortedError: it was one too many; asyncio comes back for the next
        """
        connection, address = super().accept()
        client = client_of(str(address[0]))
        most, most_of_client = self._crowd.connections, self._crowd.connections_per_client
        if self._open.total() >= most or self._open[client] >= most_of_client:
            self.refused += 1
            connection.close()
            raise ConnectionAbortedError
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, self._crowd.unread_s * 1000)
        return _Counted(connection, client, self._open), address


class _Counted(socket.socket):
    """Is counted until it is closed."""

    def __init__(self, connection: socket.socket, client: str, counts: Counter[str]) -> None:
        super().__init__(fileno=connection.detach())
        self._client = client
        self._counts = counts
        counts[client] += 1

    def close(self) -> None:
        if self.fileno() >= 0:
            self._counts[self._client] -= 1
            if not self._counts[self._client]:
                del self._counts[self._client]  # it grows with nobody who has gone
        super().close()


class BoundedProtocol(H11Protocol):
    """uvicorn's HTTP/1.1, with deadlines for the head and the body of a request."""

    def __init__(self, crowd: Crowd, **of_uvicorn: Any) -> None:
        super().__init__(**of_uvicorn)
        self._deadlines_s = {h11.IDLE: crowd.head_s, h11.SEND_BODY: crowd.body_s}
        self._awaited: Any = None
        """The state of the peer that has to end until the deadline."""
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Have the first request come soon."""
        super().connection_made(transport)
        self._watch(self.conn.their_state)

    def data_received(self, data: bytes) -> None:
        """Have the rest come soon."""
        super().data_received(data)
        self._watch(self.conn.their_state)

    def connection_lost(self, exc: Exception | None) -> None:
        """Await nothing more."""
        self._watch(None)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """End an answer that goes on, such as events: its reader comes back, or does not."""
        super().shutdown()
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Say that a request is no HTTP; after an answer has begun, only end it."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            super().send_400_response(msg)
        self.transport.close()

    def _watch(self, state: Any) -> None:
        """Have the connection end unless the peer gets out of a state in time."""
        if state == self._awaited:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._awaited, self._deadline = state, None
        if state in self._deadlines_s:
            self._deadline = self.loop.call_later(self._deadlines_s[state], self.transport.abort)


def _bound(door: Door) -> BoundedSocket:
    """Return a socket at the door's address that does not listen yet."""
    try:
        found = socket.getaddrinfo(door.host, door.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise InvalidRequest(f'{door.host} is no address and no name that has one: {error}') from error
    family, _, _, _, address = min(found, key=lambda address_found: address_found[0] != socket.AF_INET)
    if door.token_file is None and not is_loopback(str(address[0])):
        raise InvalidRequest(
            f'{door.host} is {address[0]}, which can be reached by others: give a file of tokens'
        )
    bound = BoundedSocket(family, door.crowd)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise InvalidRequest(
            f'cannot serve at {door.host}, port {door.port}: {os.strerror(error.errno or 0)}; '
            'choose another address or port (0 takes a free port)'
        ) from error
    return bound


def _tls(door: Door) -> ssl.SSLContext | None:
    if door.certificate is None:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    files = f'{door.certificate}, {door.key or "with its key"}'

    def no_password() -> NoReturn:
        raise InvalidRequest(
            f'{door.key or door.certificate} is encrypted, and nobody is there to type its password: '
            'openssl pkey -in KEY -out PLAIN_KEY, readable by its owner only'
        )

    try:
        context.load_cert_chain(door.certificate, door.key, no_password)
    except ssl.SSLError as error:
        if error.reason == 'KEY_VALUES_MISMATCH':
            raise InvalidRequest(f'{files}: the key does not belong to the certificate') from error
        raise InvalidRequest(f'{files}: a certificate and a key in PEM are expected') from error
    except OSError as error:
        raise InvalidRequest(f'{files}: one of them cannot be read: {error}') from error
    return context
