"""How a scripted chat server sends a reply: whole and at once, or badly."""

import gzip
import select
import socket
import threading
import time
from collections.abc import Iterator
from email.utils import formatdate
from http import HTTPStatus

from remembr_ros.agent.scripted.reply import ScriptedReply, body_of

MEGABYTE = 10**6

POLL_S = 0.01
"""How soon it is seen that a client has hung up [s]."""


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
