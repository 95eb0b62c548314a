"""A small application with one route of each kind, and real servers of it."""

import asyncio
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any, NamedTuple

from fastapi import Depends, FastAPI, Request
from fastapi.responses import Response, StreamingResponse

from remembr_ros.web.door.access import Access, Right, login_routes, needs
from remembr_ros.web.door.door import Crowd, Door
from remembr_ros.web.door.serving import WebServer
from test.patience import patiently

TOKENS = {right: f'{right.name.lower()}-0123456789abcdef' for right in Right}
WAIT_S = patiently(20.0)


def small_site(access: Access) -> FastAPI:
    """Return an application that notes in app.state.acts what was done."""
    app = FastAPI()
    app.state.acts = []
    app.state.streams = app.state.slow = 0
    app.state.go_on = threading.Event()
    app.include_router(login_routes(access))

    @app.get('/')
    def page() -> Response:
        return Response('<!doctype html><title>page</title>', media_type='text/html')

    @app.get('/api/info', dependencies=[Depends(needs(Right.LOOK))])
    def info(request: Request) -> dict[str, str]:
        return {'who': request.state.who, 'right': request.state.right.name}

    @app.post('/api/ask', dependencies=[Depends(needs(Right.ASK))])
    @app.post('/api/speech', dependencies=[Depends(needs(Right.ASK))])
    async def ask(request: Request) -> dict[str, int]:
        return {'bytes': len(await request.body())}

    @app.post('/api/go', dependencies=[Depends(needs(Right.ACT))])
    def go() -> dict[str, bool]:
        app.state.acts.append('go')
        return {'going': True}

    @app.get('/api/pictures/{name:path}')
    def picture(name: str) -> dict[str, str]:
        return {'name': name}

    @app.get('/api/injected')
    def injected(value: str) -> Response:
        response = Response()
        response.raw_headers.append((b'x-name', value.encode('latin-1')))
        return response

    @app.get('/api/broken')
    def broken() -> None:
        raise RuntimeError('secret of the inside')

    @app.get('/api/hanging')
    async def hanging() -> None:
        await asyncio.Event().wait()

    @app.get('/api/slow')
    def slow() -> None:
        app.state.slow += 1
        app.state.go_on.wait(WAIT_S)

    @app.get('/api/events')
    async def events(flood: bool = False) -> StreamingResponse:
        async def told() -> AsyncIterator[str]:
            app.state.streams += 1
            try:
                yield 'event: hello\ndata: {}\n\n'
                while flood:
                    yield ': much\n' * 10_000
                    await asyncio.sleep(0)
                await asyncio.Event().wait()
            finally:
                app.state.streams -= 1

        return StreamingResponse(told(), media_type='text/event-stream')

    return app


class Answer(NamedTuple):
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Site:
    """A real server of the small application."""

    def __init__(self, server: WebServer, app: FastAPI) -> None:
        self.server = server
        self.app = app
        self.port = server.port

    def ask(
        self,
        method: str,
        path: str,
        *,
        right: Right | None = None,
        body: bytes | None = None,
        source: str = '127.0.0.1',
        **headers: str,
    ) -> Answer:
        """Send a request as a client at an address; headers with _ for -."""
        given = {name.replace('_', '-'): value for name, value in headers.items()}
        if right is not None:
            given['authorization'] = f'Bearer {TOKENS[right]}'
        connection = HTTPConnection('127.0.0.1', self.port, timeout=WAIT_S, source_address=(source, 0))
        try:
            connection.request(method, path, body, given)
            answer = connection.getresponse()
            found = {name.lower(): value for name, value in answer.getheaders()}
            return Answer(answer.status, found, answer.read())
        finally:
            connection.close()

    def log_in(self, right: Right) -> Answer:
        """Return the answer to a login."""
        return self.ask(
            'POST',
            '/api/login',
            body=json.dumps({'token': TOKENS[right]}).encode(),
            content_type='application/json',
            origin=f'http://127.0.0.1:{self.port}',
        )

    def connect(self, source: str = '127.0.0.1') -> socket.socket:
        """Return a connection to send bytes by."""
        return socket.create_connection(('127.0.0.1', self.port), WAIT_S, (source, 0))


def read_to_end(connection: socket.socket) -> bytes:
    """Return what comes until the server closes."""
    found = b''
    try:
        while data := connection.recv(65536):
            found += data
    except ConnectionResetError:
        pass
    return found


def read_until(connection: socket.socket, expected: bytes) -> bytes:
    """Return what comes until something does that is expected."""
    found = b''
    while expected not in found:
        data = connection.recv(65536)
        assert data, f'{expected!r} does not come: {found!r}'
        found += data
    return found


def read_answer(connection: socket.socket) -> Answer:
    """Return one answer, though the server may wait before it closes."""
    answer = HTTPResponse(connection)
    answer.begin()
    return Answer(answer.status, {name.lower(): value for name, value in answer.getheaders()}, answer.read())


@contextmanager
def served(
    token_file: Path | None = None, crowd: Crowd | None = None, names: tuple[str, ...] = (), **door: Any
) -> Iterator[Site]:
    """Serve the small application at a free port, with the tokens above if a file is named."""
    if token_file is not None:
        token_file.touch(0o600)
        token_file.write_text(''.join(f'{right.name.lower()} {token}\n' for right, token in TOKENS.items()))
    there = Door(port=0, token_file=token_file, names=names, crowd=crowd or Crowd(), **door)
    access = Access.by(there.token_file)
    app = small_site(access)
    server = WebServer(there, access)
    server.start(app)
    try:
        yield Site(server, app)
    finally:
        server.stop()
