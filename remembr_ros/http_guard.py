"""One HTTP request that ends in time: at its deadline, when it is cancelled, or when the reply is too long.

An HTTP client's own timeouts are per read, so that a server that sends a byte a second holds a request for
ever; and what reads in one thread is not stopped from another. So a request has a connection of its own, and
a thread that shuts it down. The server sees that and stops generating. No connection is kept for the next
request, which also spares a robot that roams between networks the wait for one that is dead.
"""

import socket
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from remembr_ros.errors import Cancelled, ReplyInvalid
from remembr_ros.redaction import shown_url

MAX_BODY = 4 * 2**20
"""Bytes read of a reply; a chat reply has some thousand."""

POLL_S = 0.02
"""How soon a cancelled request ends [s]."""


class TimeOver(Exception):
    """Raised when a request has reached its deadline."""


class Guard:
    """Watches over the requests of one call.

    :param deadline: on time.monotonic's clock [s]
    :param cancel: ends them when set
    """

    def __init__(self, deadline: float, cancel: threading.Event | None = None) -> None:
        self.sent = False
        """Whether the last request has left; set it to False before the next one."""
        self._deadline = deadline
        self._cancel = cancel or threading.Event()
        self._done = threading.Event()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._ended = False

    @property
    def remaining_s(self) -> float:
        return self._deadline - time.monotonic()

    @property
    def _is_over(self) -> bool:
        return self._cancel.is_set() or self.remaining_s <= 0.0

    def check(self) -> None:
        """Return if the call may go on.

        :raises Cancelled: it is not wanted any more
        :raises TimeOver: its time is over
        """
        if self._cancel.is_set():
            raise Cancelled('the question was cancelled')
        if self.remaining_s <= 0.0:
            raise TimeOver

    def pause(self, seconds: float) -> None:
        """Wait, but not longer than the call may take.

        :raises Cancelled, TimeOver: see :meth:`check`
        """
        self._cancel.wait(max(0.0, min(seconds, self.remaining_s)))
        self.check()

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Shut down the connection when the time is over or the call cancelled."""
        token = _CURRENT.set(self)
        threading.Thread(target=self._watch, name='chat-guard', daemon=True).start()
        try:
            yield
        finally:
            self._done.set()
            _CURRENT.reset(token)

    def follow(self, event: str, about: Mapping[str, Any]) -> None:
        """Take note of the connection; the HTTP client's trace callback."""
        if event.endswith(('connect_tcp.complete', 'start_tls.complete')):
            found = about['return_value'].get_extra_info('socket')
            with self._lock:
                self._socket = found
                # While a name was looked up. Not by an exception: the client would lose the connection open.
                if self._ended or self._is_over:
                    _shut_down(found)
        if event.endswith('send_request_body.complete'):
            self.sent = True

    def _watch(self) -> None:
        while not self._done.wait(min(POLL_S, max(0.0, self.remaining_s))):
            if self._is_over:
                with self._lock:
                    self._ended = True
                    if self._socket is not None:
                        _shut_down(self._socket)
                return


_CURRENT: ContextVar[Guard | None] = ContextVar('guard', default=None)


def guarded_client(base: type[Any], login: tuple[str, str] | None = None) -> Any:
    """Return an HTTP client whose requests are watched by the guard of their thread.

    It follows no redirects: what a question says is for the server that was named, and for no other.

    :param base: the class of httpx's clients that the openai package uses
    :param login: user and password that the server wants, if any
    """

    class GuardedClient(base):  # type: ignore[misc]
        def send(self, request: Any, **options: Any) -> Any:
            guard = _CURRENT.get()
            if guard is None:
                return super().send(request, **options)
            guard.check()
            request.extensions['trace'] = guard.follow
            # Compressed, 4 MB may be 4 GB. And a connection per request: see above.
            request.headers['Accept-Encoding'] = 'identity'
            request.headers['Connection'] = 'close'
            response = super().send(request, **{**options, 'stream': True})
            try:
                body = _read(response, guard)
            finally:
                response.close()
            status, headers = response.status_code, response.headers
            return type(response)(status, headers=headers, content=body, request=request)

    return GuardedClient(auth=login, follow_redirects=False, event_hooks={'response': [_stay]})


def _stay(response: Any) -> None:
    """Refuse a redirect; before the client looks at where it leads, which may be no URL.

    :raises ReplyInvalid: it is one
    """
    if response.has_redirect_location:
        where = shown_url(response.headers['Location'])[:200]
        raise ReplyInvalid(f'it redirects ({response.status_code}) to {where}, which is not followed')


def _read(response: Any, guard: Guard) -> bytes:
    if response.headers.get('Content-Encoding', 'identity').lower() not in ('identity', ''):
        raise ReplyInvalid('it is compressed, which was not asked for')
    body = bytearray()
    for chunk in response.iter_raw():
        guard.check()
        body += chunk
        if len(body) > MAX_BODY:
            raise ReplyInvalid(f'it is longer than {MAX_BODY // 2**20} MB')
    return bytes(body)


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        # Not the method of an SSL socket, which takes the encryption away from under the thread that reads.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
