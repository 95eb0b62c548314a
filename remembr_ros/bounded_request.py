"""HTTP requests that end in time: at a deadline, when they are cancelled, or when the reply is too long.

An HTTP client's own timeouts are per read, so that a server that sends a byte a second holds a request for
ever; and what reads in one thread is not stopped from another. So all requests run on one event loop, where
each is cancelled wherever it stands, while the thread that asked waits. The server sees that and stops
generating. No connection is kept for the next request, which also spares a robot that roams between networks
the wait for one that is dead.
"""

import asyncio
import os
import threading
import time
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Future
from contextvars import ContextVar
from functools import cache
from typing import Any, TypeVar

from remembr_ros.errors import Cancelled, ReplyInvalid
from remembr_ros.redaction import shown_url

MAX_BODY = 4 * 2**20
"""Bytes read of a reply; a chat reply has some thousand."""

POLL_S = 0.02
"""How soon a cancelled request ends [s]."""

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
        self.connections: list[asyncio.WriteTransport] = []
        """Made for the request."""
        self._deadline = deadline
        self._cancel = cancel or threading.Event()

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

    def run(self, request: Callable[[], Coroutine[Any, Any, _Found]]) -> _Found:
        """Wait for a request.

        :raises Cancelled, TimeOver: see :meth:`check`; it is cancelled then
        """
        self.sent = False
        self.check()
        future = asyncio.run_coroutine_threadsafe(self._within(request), _loop(os.getpid()))
        try:
            return future.result()
        finally:
            future.cancel()  # if something else ended the wait, such as Ctrl-C

    async def _within(self, request: Callable[[], Coroutine[Any, Any, _Found]]) -> _Found:
        _CURRENT.set(self)
        task = asyncio.ensure_future(request())
        try:
            while not task.done():
                self.check()
                await asyncio.wait((task,), timeout=min(POLL_S, max(0.0, self.remaining_s)))
            return task.result()
        finally:
            if task.cancel():
                await asyncio.wait((task,), timeout=1.0)
                _ = task.done() and not task.cancelled() and task.exception()  # else asyncio logs it
            while self.connections:  # the client forgets one that was made when the request was cancelled
                self.connections.pop().abort()


_CURRENT: ContextVar[Bounds] = ContextVar('bounds')


class _Loop(asyncio.SelectorEventLoop):
    """Knows the connections of each call; and does what blocks, such as looking up a name, in daemon threads.

    One that hangs does not hold up the end of the process.
    """

    async def create_connection(self, *args: Any, **options: Any) -> Any:  # type: ignore[override]
        transport, protocol = await super().create_connection(*args, **options)
        _CURRENT.get().connections.append(transport)
        return transport, protocol

    def run_in_executor(  # type: ignore[override]  # its signature differs between versions of Python
        self, executor: Any, func: Callable[..., Any], *args: Any
    ) -> 'asyncio.Future[Any]':
        future: Future[Any] = Future()

        def work() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(func(*args))
                except Exception as error:  # noqa: BLE001  handed on to whoever awaits
                    future.set_exception(error)

        threading.Thread(target=work, name='chat-blocking', daemon=True).start()
        return asyncio.wrap_future(future, loop=self)


@cache
def _loop(_pid: int) -> _Loop:
    """Return the event loop of this process, which is not that of the one it was forked from."""
    loop = _Loop()
    threading.Thread(target=loop.run_forever, name='requests', daemon=True).start()
    return loop


def bounded_client(base: type[Any], login: tuple[str, str] | None = None) -> Any:
    """Return an HTTP client for requests that :meth:`Bounds.run` waits for.

    It follows no redirects: what a question says is for the server that was named, and for no other.

    :param base: the class of httpx's asynchronous clients that the openai package uses
    :param login: user and password that the server wants, if any
    """

    class BoundedClient(base):  # type: ignore[misc]
        async def send(self, request: Any, **options: Any) -> Any:
            bounds = _CURRENT.get()

            async def follow(event: str, _: Mapping[str, Any]) -> None:
                if event.endswith('send_request_body.complete'):
                    bounds.sent = True

            request.extensions['trace'] = follow
            # Compressed, 4 MB may be 4 GB. And a connection per request: see above.
            request.headers['Accept-Encoding'] = 'identity'
            request.headers['Connection'] = 'close'
            response = await super().send(request, **{**options, 'stream': True})
            try:
                body = await _read(response)
            finally:
                await response.aclose()
            status, headers = response.status_code, response.headers
            return type(response)(status, headers=headers, content=body, request=request)

    return BoundedClient(auth=login, follow_redirects=False, event_hooks={'response': [_stay]})


async def _stay(response: Any) -> None:
    """Refuse a redirect; before the client looks at where it leads, which may be no URL.

    :raises ReplyInvalid: it is one
    """
    if response.has_redirect_location:
        where = shown_url(response.headers['Location'])[:200]
        raise ReplyInvalid(f'it redirects ({response.status_code}) to {where}, which is not followed')


async def _read(response: Any) -> bytes:
    if response.headers.get('Content-Encoding', 'identity').lower() not in ('identity', ''):
        raise ReplyInvalid('it is compressed, which was not asked for')
    body = bytearray()
    async for chunk in response.aiter_raw():
        body += chunk
        if len(body) > MAX_BODY:
            raise ReplyInvalid(f'it is longer than {MAX_BODY // 2**20} MB')
    return bytes(body)
