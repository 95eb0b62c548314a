"""HTTP requests that always end: at a deadline, when cancelled, or when the reply is too long.

An HTTP client's own timeouts are per read, so that a server that sends a byte a second holds a request for
ever; and what reads in one thread is not stopped from another. So a request has a thread and a connection of
its own, and whoever waits for it shuts the connection down. The server sees that and stops generating. No
connection is kept for the next request, which also spares a robot that roams between networks the wait for
one that is dead.
"""

import socket
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import ContextVar
from typing import Any, TypeVar

from remembr_ros.errors import Cancelled, ReplyInvalid
from remembr_ros.printable import shown_url

MAX_BODY = 4 * 2**20  # bytes read of a reply; a chat reply has some thousand
POLL_S = 0.02  # [s] how soon a cancelled request ends

_Found = TypeVar('_Found')


class TimeOver(Exception):
    """Raised when a request has reached its deadline."""


class Bounds:
    """What the requests of one call keep to.

    :param deadline: on time.monotonic's clock [s]
    :param cancel: ends them when set
    """

    def __init__(self, deadline: float, cancel: threading.Event | None = None) -> None:
        self.sent = False
        """Whether the last request has left."""
        self._deadline = deadline
        self._cancel = cancel or threading.Event()
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._ended = False

    @property
    def remaining_s(self) -> float:
        return self._deadline - time.monotonic()

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

    def run(self, request: Callable[[], _Found]) -> _Found:
        """Wait for a request by a client of :func:`bounded_client`.

        :raises Cancelled, TimeOver: see :meth:`check`; the request ends then, or when it has a connection
        """
        self.sent = False
        self.check()
        done: Future[_Found] = Future()

        def work() -> None:
            _CURRENT.set(self)
            try:
                done.set_result(request())
            except Exception as error:  # noqa: BLE001  handed on to whoever waits
                done.set_exception(error)

        # Daemon: one that looks up a name cannot be stopped, and must not keep the process alive.
        threading.Thread(target=work, name='chat', daemon=True).start()
        try:
            while not done.done():
                self.check()
                wait((done,), min(POLL_S, max(0.0, self.remaining_s)))
            return done.result()
        finally:
            if not done.done():
                with self._lock:
                    self._ended = True
                    if self._socket is not None:
                        _shut_down(self._socket)

    def follow(self, event: str, about: Mapping[str, Any]) -> None:
        """Take note of the connection; the HTTP client's trace callback."""
        if event.endswith(('connect_tcp.complete', 'start_tls.complete')):
            with self._lock:
                self._socket = about['return_value'].get_extra_info('socket')
                if self._ended:  # not by an exception: the client would lose the connection open
                    _shut_down(self._socket)
        if event.endswith('send_request_body.complete'):
            self.sent = True


_CURRENT: ContextVar[Bounds] = ContextVar('bounds')  # those of the request of a thread


def bounded_client(base: type[Any], login: tuple[str, str] | None = None) -> Any:
    """Return an HTTP client for requests that :meth:`Bounds.run` waits for.

    It follows no redirects: what a question says is for the server that was named, and for no other.

    :param base: the class of httpx's clients that the openai package uses
    :param login: user and password that the server wants, if any
    """

    class BoundedClient(base):  # type: ignore[misc]
        def send(self, request: Any, **options: Any) -> Any:
            request.extensions['trace'] = _CURRENT.get().follow
            # Compressed, 4 MB may be 4 GB. And a connection per request: see above.
            request.headers['Accept-Encoding'] = 'identity'
            request.headers['Connection'] = 'close'
            response = super().send(request, **{**options, 'stream': True})
            try:
                body = _read(response)
            finally:
                response.close()
            status, headers = response.status_code, response.headers
            return type(response)(status, headers=headers, content=body, request=request)

    return BoundedClient(auth=login, follow_redirects=False, event_hooks={'response': [_stay]})


def _stay(response: Any) -> None:
    """Refuse a redirect; before the client looks at where it leads, which may be no URL.

    :raises ReplyInvalid: it is one
    """
    if response.has_redirect_location:
        target = shown_url(response.headers['Location'])[:200]
        raise ReplyInvalid(f'it redirects ({response.status_code}) to {target}, which is not followed')


def _read(response: Any) -> bytes:
    if response.headers.get('Content-Encoding', 'identity').lower() not in ('identity', ''):
        raise ReplyInvalid('it is compressed, which was not asked for')
    body = bytearray()
    for chunk in response.iter_raw():
        body += chunk
        if len(body) > MAX_BODY:
            raise ReplyInvalid(f'it is longer than {MAX_BODY // 2**20} MB')
    return bytes(body)


def _shut_down(connection: socket.socket) -> None:
    with suppress(OSError):  # it is closed already
        # Not the method of an SSL socket, which takes the encryption away from under the thread that reads.
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
