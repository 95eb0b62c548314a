"""Connections that end: bounded in number before a byte is read, and in how slowly a request may drip in."""

import asyncio
import socket
import sys
from collections import Counter
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from remembr_ros.web.door.door import Crowd, client_of
from remembr_ros.web.door.policy import with_policy
from remembr_ros.web.door.refusal import Refusal

LINGER_S = 1.0  # [s] that a request is still read which is answered, so that its sender sees the answer


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
        self._crowd = crowd
        self._awaited: str | None = None
        """What of a request is awaited until the deadline."""
        self._deadline: asyncio.TimerHandle | None = None
        self._is_refused = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Have the first request come soon."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Have the rest come soon."""
        if not self._is_refused:
            super().data_received(data)
            self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Await nothing more."""
        self._await(None, 0.0)
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Wait for the next request, and not for the rest of one that is answered."""
        if self.conn.their_state is h11.SEND_BODY:
            self._await('end', LINGER_S)
        super().on_response_complete()

    def shutdown(self) -> None:
        """End an answer that goes on, such as events: its reader comes back, or does not."""
        super().shutdown()
        if self.cycle is not None and self.cycle.response_started and not self.cycle.response_complete:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Say that a request is no HTTP, or too long, in the form of every error here."""
        error = sys.exc_info()[1]
        status = getattr(error, 'error_status_hint', 400)
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE) or self._is_refused:
            self.transport.close()
            return
        refusal = Refusal(
            status, 'this is no HTTP request' if status == 400 else 'the head of this request is too long'
        )
        headers = [*with_policy(refusal.headers, '/api'), (b'connection', b'close')]
        for event in (h11.Response(status_code=status, headers=headers), h11.Data(data=refusal.body)):
            self.transport.write(self.conn.send(event) or b'')
        self.transport.write(self.conn.send(h11.EndOfMessage()) or b'')
        self._is_refused = True
        if self.cycle is not None:  # its body was at fault: whoever works on it is told
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        self._await('end', LINGER_S)

    def _watch(self) -> None:
        if self._is_refused or (self._awaited == 'end' and self.conn.their_state is h11.SEND_BODY):
            return
        if self.conn.their_state is h11.IDLE:
            self._await('head', self._crowd.head_s)
        elif self.conn.their_state is h11.SEND_BODY:
            self._await('body', self._crowd.body_s)
        else:
            self._await(None, 0.0)

    def _await(self, what: str | None, deadline_s: float) -> None:
        if what == self._awaited:
            return
        if self._deadline is not None:
            self._deadline.cancel()
        self._awaited = what
        self._deadline = None if what is None else self.loop.call_later(deadline_s, self.transport.abort)
