"""Slow and malformed requests; the bounds on what was understood are in test_guard.py."""

import socket
import time
from collections.abc import Iterator
from contextlib import suppress

import pytest

from remembr_ros.web.door.door import Crowd
from test.patience import patiently
from test.unit.web.door.small_site import WAIT_S, Site, read_to_end, read_until, served

HEAD = b'GET /api/info HTTP/1.1\r\nHost: localhost\r\n'


HASTE_S = patiently(0.3)


@pytest.fixture(scope='module')
def hasty_site() -> Iterator[Site]:
    with served(crowd=Crowd(head_s=HASTE_S, body_s=HASTE_S, idle_s=1, unread_s=1)) as site:
        yield site


@pytest.mark.parametrize(
    'begun',
    [
        b'',
        b'GET',
        HEAD,
        b'POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nsome',
        b'POST /api/ask HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
        b'GET /api/events HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nsome',
    ],
)
def test_a_request_that_does_not_come_is_not_waited_for(hasty_site: Site, begun: bytes) -> None:
    with hasty_site.connect() as connection:
        connection.sendall(begun)
        assert b'"bytes"' not in read_to_end(connection)
    assert hasty_site.ask('GET', '/api/info', source='127.0.0.2').status == 200


def test_a_head_that_drips_in_is_not_waited_for(hasty_site: Site) -> None:
    with hasty_site.connect() as connection:
        connection.sendall(HEAD)
        connection.settimeout(0.02)
        drips = 0
        while True:
            try:
                if not connection.recv(1):
                    break
            except TimeoutError:
                drips += 1
                connection.sendall(b'x-%d: drip\r\n' % drips)
            except ConnectionResetError:
                break
        assert 0 < drips < 1000


def test_a_body_that_drips_in_after_the_answer_is_not_waited_for(hasty_site: Site) -> None:
    with hasty_site.connect() as connection:
        connection.sendall(b'POST /nowhere HTTP/1.1\r\nHost: evil.example\r\nContent-Length: 100000\r\n\r\n')
        assert b' 403 ' in connection.recv(65536)
        connection.settimeout(0.02)
        while True:
            try:
                if not connection.recv(65536):
                    break
            except TimeoutError:
                connection.sendall(b'x')
            except (ConnectionResetError, BrokenPipeError):
                break


def test_many_requests_in_turn_come_by_one_connection(hasty_site: Site) -> None:
    """In pieces as they may come: no deadline of one is left to the next."""
    ask = b'POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n'
    ways = ([ask, b'some'], [ask[:10], ask[10:] + b'so', b'me'], [ask + b'some'], [ask + b'so', b'me'])
    with hasty_site.connect() as connection:
        until = time.monotonic() + 2 * HASTE_S
        while time.monotonic() < until:
            for pieces in ways:
                for piece in pieces:
                    connection.sendall(piece)
                read_until(connection, b'{"bytes":4}')
        connection.sendall(ask + b'some' + ask + b'some' + HEAD + b'Connection: close\r\n\r\n')
        answers = read_to_end(connection)
        assert answers.count(b'{"bytes":4}') == 2
        assert b'"who"' in answers


def test_who_says_nothing_more_is_let_go(hasty_site: Site) -> None:
    with hasty_site.connect() as connection:
        connection.sendall(HEAD + b'\r\n')
        assert b'"who"' in read_to_end(connection)


def test_who_does_not_read_what_was_asked_for_is_let_go(hasty_site: Site) -> None:
    with hasty_site.connect() as connection:
        connection.sendall(b'GET /api/events?flood=1 HTTP/1.1\r\nHost: localhost\r\n\r\n')
        read_until(connection, b'event: hello')
        until = time.monotonic() + WAIT_S
        while hasty_site.app.state.streams:
            assert time.monotonic() < until
            time.sleep(0.01)


@pytest.mark.parametrize(
    'request_',
    [
        b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03 TLS\r\n\r\n',
        b'GET /api/info\r\n\r\n',
        b'GET /api/info HTTP/1.1\r\n\r\n',
        b'GET /api/info HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n',
        b'GET /api/info HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n',
        b'GET /api/info HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n',
        b'GET /api/info HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip, chunked\r\n\r\n',
        b'GET /api/info HTTP/1.1\r\nHost: localhost\r\nbad name: x\r\n\r\n',
        b'GET /api/ info HTTP/1.1\r\nHost: localhost\r\n\r\n',
        b'POST /api/ask HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nno number\r\n',
    ],
)
def test_what_is_no_http_is_refused_and_its_connection_closed(open_site: Site, request_: bytes) -> None:
    with open_site.connect() as connection:
        connection.sendall(request_)
        answer = read_to_end(connection)
    assert answer.startswith((b'HTTP/1.1 400', b'HTTP/1.1 501'))
    assert open_site.ask('GET', '/api/info').status == 200


@pytest.mark.parametrize(
    'what', [b'GET /api/recall?text=%s', b'GET / HTTP/1.1\r\nHost: localhost\r\nX-Name: %s']
)
def test_ten_megabytes_of_head_are_refused(open_site: Site, what: bytes) -> None:
    with open_site.connect() as connection:
        with suppress(ConnectionError):
            connection.sendall(what % (b'x' * 10_000_000))
        answer = b''
        with suppress(ConnectionError):
            answer = read_to_end(connection)
    assert answer == b'' or answer.startswith(b'HTTP/1.1 4')
    assert open_site.ask('GET', '/api/info').status == 200


def test_a_websocket_is_not_spoken(open_site: Site) -> None:
    answer = open_site.ask(
        'GET',
        '/api/info',
        connection='Upgrade',
        upgrade='websocket',
        sec_websocket_version='13',
        sec_websocket_key='dGhlIHNhbXBsZSBub25jZQ==',
    )
    assert answer.status == 200


def test_connections_are_bounded_of_each_and_in_all() -> None:
    opened: list[socket.socket] = []

    def held(site: Site, source: str) -> list[bool]:
        """Return which of five connections that are opened and stay are served."""
        connections = [site.connect(source) for _ in range(5)]
        opened.extend(connections)
        answers = []
        for connection in connections:
            try:
                connection.sendall(b'GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
                answers.append(b' 200 ' in connection.recv(65536))
            except ConnectionError:
                answers.append(False)
        return answers

    with served(crowd=Crowd(connections=6, connections_per_client=4)) as site:
        assert held(site, '127.0.0.3') == [True] * 4 + [False]
        assert held(site, '127.0.0.4') == [True] * 2 + [False] * 3
        assert held(site, '127.0.0.5') == [False] * 5
        assert site.server.refused == 9
        for connection in opened:
            connection.close()
        answered = False
        while not answered:  # they are closed here, and soon there
            with suppress(ConnectionError):
                answered = site.ask('GET', '/api/info', source='127.0.0.5').status == 200


def test_nonsense_after_the_answer_has_begun_ends_it(
    open_site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    with open_site.connect() as connection:
        connection.sendall(
            b'GET /api/events HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'
        )
        read_until(connection, b'event: hello')
        connection.sendall(b'no number\r\n')
        assert b'HTTP/1.1' not in read_to_end(connection)
    assert caplog.text == ''
