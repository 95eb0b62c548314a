import asyncio
import itertools
import time
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.web.door.access import FAILURES_PER_MINUTE, Access, Right
from remembr_ros.web.door.door import Crowd
from remembr_ros.web.door.guard import MAX_BODY, MAX_HEADERS, MAX_SPEECH, MAX_TARGET, Guard
from test.unit.web.door.small_site import TOKENS, WAIT_S, Site, read_to_end, served

EVIL = 'http://evil.example'


def test_on_this_machine_everybody_may_everything(open_site: Site) -> None:
    assert open_site.ask('GET', '/api/info').json == {'who': 'local', 'right': 'ACT'}


@pytest.mark.parametrize('right', Right)
def test_each_token_allows_its_right_and_those_before(closed_site: Site, right: Right) -> None:
    assert closed_site.ask('GET', '/api/info', right=right).json['right'] == right.name
    asked = closed_site.ask('POST', '/api/ask', right=right, body=b'?')
    driven = closed_site.ask('POST', '/api/go', right=right)
    assert asked.status == (200 if right >= Right.ASK else 403)
    assert driven.status == (200 if right >= Right.ACT else 403)
    closed_site.app.state.acts.clear()


@pytest.mark.parametrize(
    'given',
    [
        {},
        {'authorization': ''},
        {'authorization': 'Bearer'},
        {'authorization': f'Basic {TOKENS[Right.ACT]}'},
        {'authorization': TOKENS[Right.ACT]},
        {'cookie': f'token={TOKENS[Right.ACT]}'},
        {'x_forwarded_for': '127.0.0.1'},
    ],
)
def test_without_a_token_only_the_page_itself_is_to_be_had(closed_site: Site, given: dict[str, str]) -> None:
    for method, path in (
        ('GET', '/api/info'),
        ('POST', '/api/go'),
        ('GET', '/api/pictures/a.jpg'),
        ('GET', '/mcp'),
    ):
        answer = closed_site.ask(method, path, **given)
        assert answer.status == 401
        assert answer.headers['www-authenticate'] == 'Bearer'
        assert 'Authorization: Bearer TOKEN' in answer.json['error']
    assert closed_site.ask('GET', '/', **given).status == 200
    assert closed_site.app.state.acts == []


@pytest.mark.parametrize(
    'path', ['/page/../api/info', '/page/%2e%2e/api/info', '//api/info', '/API/info', '/page']
)
def test_no_way_of_writing_an_address_gets_past_the_token(closed_site: Site, path: str) -> None:
    assert closed_site.ask('GET', path).status in (400, 401)


def test_a_thousand_wrong_tokens_get_nowhere_and_nobody_else_waits(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with served(tmp_path / 'tokens') as site:
        answers = [
            site.ask('GET', '/api/info', authorization=f'Bearer {number:016}') for number in range(1000)
        ]
        statuses = [answer.status for answer in answers]
        assert statuses[:FAILURES_PER_MINUTE] == [401] * FAILURES_PER_MINUTE
        # While they go on, a few more may have become due.
        assert statuses.count(401) <= FAILURES_PER_MINUTE + 10
        assert set(statuses) == {401, 429}
        assert int(answers[-1].headers['retry-after']) >= 1
        assert site.ask('GET', '/api/info', right=Right.ACT, source='127.0.0.2').status == 200
        assert len([message for message in caplog.messages if 'wrong token' in message]) == statuses.count(
            401
        )


def test_another_host_is_refused(open_site: Site, closed_site: Site) -> None:
    for host in ('evil.example', f'evil.example:{open_site.port}', 'localhost.evil.example', 'robot.example'):
        answer = open_site.ask('GET', '/api/info', host=host)
        assert answer.status == 403
        assert '--name' in answer.json['error']
        assert open_site.ask('GET', '/', host=host).status == 403
    assert open_site.ask('GET', '/api/info', host=f'localhost:{open_site.port}').status == 200
    assert closed_site.ask('GET', '/api/info', right=Right.LOOK, host='robot.example').status == 200


def test_another_origin_is_refused(open_site: Site, closed_site: Site) -> None:
    for origin in (EVIL, 'null', f'http://localhost:{open_site.port + 1}', 'http://127.0.0.1'):
        assert open_site.ask('POST', '/api/go', origin=origin).status == 403
        assert open_site.ask('GET', '/api/info', origin=origin).status == 403
        assert closed_site.ask('POST', '/api/go', right=Right.ACT, origin=origin).status == 403
    assert open_site.ask('POST', '/api/go', sec_fetch_site='cross-site').status == 403
    assert open_site.app.state.acts == []
    assert open_site.ask('POST', '/api/go', origin=f'http://127.0.0.1:{open_site.port}').status == 200
    open_site.app.state.acts.clear()


def test_another_page_is_told_nothing_of_cors(open_site: Site) -> None:
    answer = open_site.ask('OPTIONS', '/api/go', origin=EVIL, access_control_request_method='POST')
    assert answer.status == 403
    assert not [name for name in answer.headers if name.startswith('access-control')]


@pytest.mark.parametrize(
    'path',
    [
        '/api/pictures/../../etc/passwd',
        '/api/pictures/..%2f..%2fetc%2fpasswd',
        '/api/pictures/%2e%2e/%2e%2e/etc/passwd',
        '/api/pictures/%2E%2E%5C%2E%2E%5Cwindows',
        '/api/pictures/a.jpg%00.png',
        '/api/pictures/a%0d%0aset-cookie:x',
        '/api/pictures/./a.jpg',
        '/page/../serving.py',
        '/page/%2e%2e%2fserving.py',
        'http://evil.example/',
        '*',
    ],
)
def test_an_address_that_leads_out_is_refused(open_site: Site, path: str) -> None:
    answer = open_site.ask('GET', path)
    assert answer.status == 400
    assert list(answer.json) == ['error']


@pytest.mark.parametrize('name', ['token', 'access_token', 'Token'])
def test_a_token_in_an_address_is_refused(closed_site: Site, name: str) -> None:
    for right in (None, Right.ACT):
        answer = closed_site.ask('GET', f'/api/info?{name}={TOKENS[Right.ACT]}', right=right)
        assert answer.status == 400
        assert 'histories' in answer.json['error']
        assert TOKENS[Right.ACT] not in answer.body.decode()


def test_an_address_has_an_end(open_site: Site) -> None:
    assert open_site.ask('GET', f'/api/info?text={"x" * (MAX_TARGET - 100)}').status == 200
    assert open_site.ask('GET', f'/api/info?text={"x" * MAX_TARGET}').status == 414
    assert open_site.ask('GET', f'/{"x" * MAX_TARGET}').status == 414
    assert open_site.ask('GET', f'/api/info?{"a=1&" * 1000}').status == 400


def test_headers_have_an_end() -> None:
    scope = {
        'type': 'http',
        'method': 'GET',
        'path': '/',
        'query_string': b'',
        'headers': [(b'host', b'localhost'), (b'x', b'x' * MAX_HEADERS)],
    }
    assert asyncio.run(answered(scope)) == 431


async def answered(scope: dict[str, Any]) -> int:
    """Return the status that a guard alone gives; one read of a server may bring more than its bound."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def nothing(*_: Any) -> Any:
        raise AssertionError

    await Guard(nothing, Access())(scope, nothing, send)
    status: int = sent[0]['status']
    return status


def test_a_body_has_an_end(open_site: Site) -> None:
    most = open_site.ask('POST', '/api/ask', body=b'x' * MAX_BODY)
    assert (most.status, most.json) == (200, {'bytes': MAX_BODY})
    assert open_site.ask('POST', '/api/ask', body=b'x' * (MAX_BODY + 1)).status == 413
    speech = open_site.ask('POST', '/api/speech', body=b'x' * MAX_SPEECH)
    assert speech.json == {'bytes': MAX_SPEECH}


def test_a_body_without_end_is_cut(open_site: Site) -> None:
    with served(crowd=Crowd(body_s=1.0, idle_s=1)) as site, site.connect() as connection:
        connection.sendall(b'POST /api/ask HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n')
        chunks = (b'10000\r\n' + b'x' * 0x10000 + b'\r\n' for _ in itertools.count())
        with pytest.raises((BrokenPipeError, ConnectionResetError)):
            deque(map(connection.sendall, chunks), maxlen=0)
    with open_site.connect() as connection:
        connection.sendall(
            b'POST /api/ask HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'
            + (b'10000\r\n' + b'x' * 0x10000 + b'\r\n') * (MAX_BODY // 0x10000 + 1)
        )
        assert b'413' in read_to_end(connection).split(b'\r\n')[0]


def test_nothing_gets_into_a_header(open_site: Site, caplog: pytest.LogCaptureFixture) -> None:
    answer = open_site.ask('GET', '/api/injected?value=a%0d%0aSet-Cookie:%20remembr=mine')
    assert answer.status == 500
    assert 'set-cookie' not in answer.headers
    assert 'x-name' not in answer.headers
    assert 'line end in a header' in caplog.text
    assert open_site.ask('GET', '/api/injected?value=fine').headers['x-name'] == 'fine'
    echoed = open_site.ask('GET', '/api/info', x_id='a', user_agent='b\tc')
    assert echoed.status == 200


def test_who_goes_away_in_the_middle_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    with served() as site, site.connect() as connection:
        connection.sendall(b'POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nsome')
        assert site.ask('GET', '/api/info').status == 200  # so the server has read that
    assert caplog.text == ''


def test_what_goes_wrong_is_told_in_the_log_only(caplog: pytest.LogCaptureFixture) -> None:
    with served() as site:
        answer = site.ask('GET', '/api/broken')
        assert answer.status == 500
        assert b'secret of the inside' not in answer.body
        assert b'Traceback' not in answer.body
    assert 'secret of the inside' in caplog.text


@pytest.mark.parametrize(
    ('method', 'path'),
    [
        ('GET', '/'),
        ('GET', '/api/info'),
        ('GET', '/api/unknown'),
        ('GET', '/api/broken'),
        ('GET', '/api/pictures/..'),
        ('POST', '/api/login'),
        ('PUT', '/api/info'),
    ],
)
def test_every_answer_carries_the_policy(open_site: Site, method: str, path: str) -> None:
    headers = open_site.ask(method, path).headers
    assert headers['content-security-policy'].startswith("default-src 'self';")
    assert headers['x-content-type-options'] == 'nosniff'
    assert headers['referrer-policy'] == 'no-referrer'
    assert headers['cross-origin-opener-policy'] == 'same-origin'
    assert headers['cross-origin-resource-policy'] == 'same-origin'
    assert headers['permissions-policy'].startswith('microphone=(self)')
    assert 'server' not in headers
    assert (headers.get('cache-control') == 'no-store') == path.startswith('/api')


@pytest.fixture
def crowded_site(tmp_path: Path) -> Iterator[Site]:
    crowd = Crowd(streams_per_client=3, streams=4)
    with served(crowd=crowd) as site:
        yield site


def test_open_streams_are_bounded(crowded_site: Site) -> None:
    def stream(source: str = '127.0.0.1') -> tuple[Any, bytes]:
        connection = crowded_site.connect(source)
        connection.sendall(b'GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
        return connection, connection.recv(65536).split(b'\r\n')[0]

    opened = [stream() for _ in range(4)]
    assert [b'200' in status for _, status in opened] == [True, True, True, False]
    assert b'429' in opened[3][1]
    assert crowded_site.ask('GET', '/api/info').status == 200
    others = [stream('127.0.0.2') for _ in range(2)]
    assert [b'200' in status for _, status in others] == [True, False]
    opened[0][0].close()
    connection, status = stream()
    while b'429' in status:  # the server has not seen yet that one is closed
        connection.close()
        connection, status = stream()
    assert b'200' in status
    for one in (connection, *(each for each, _ in opened + others)):
        one.close()


def test_a_client_has_so_many_requests_a_minute(tmp_path: Path) -> None:
    with served(crowd=Crowd(requests_per_minute=30)) as site:
        statuses = [site.ask('GET', '/api/info').status for _ in range(40)]
        assert statuses[:30] == [200] * 30
        assert 429 in statuses[30:]
        assert site.server.refused == statuses.count(429)
        assert site.ask('GET', '/api/info', source='127.0.0.2').status == 200


def test_a_thousand_open_streams_do_not_stop_another_client(open_site: Site) -> None:
    connections = []
    try:
        for _ in range(1000):
            connection = open_site.connect()
            connection.sendall(b'GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
            connections.append(connection)
        connection = open_site.connect('127.0.0.2')
        connection.settimeout(WAIT_S)
        connection.sendall(b'GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
        assert b' 200 ' in connection.recv(65536).split(b'\r\n')[0]
        connections.append(connection)
        assert open_site.ask('GET', '/api/info', source='127.0.0.2').status == 200
        assert open_site.app.state.streams <= Crowd().streams_per_client + 1
    finally:
        for connection in connections:
            connection.close()


def test_who_keeps_the_server_busy_is_refused_and_others_are_answered(tmp_path: Path) -> None:
    crowd = Crowd(computed_per_client=2, waiting_per_client=3)
    with served(tmp_path / 'tokens', crowd) as site, ExitStack() as stack:
        slow = [stack.enter_context(site.connect()) for _ in range(5)]
        for connection in slow:
            connection.sendall(
                b'GET /api/slow HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n'
                b'Authorization: Bearer %s\r\n\r\n' % TOKENS[Right.LOOK].encode()
            )
        deadline = time.monotonic() + WAIT_S
        while site.server._guard._under_way.total() < 5 or site.app.state.slow < 2:
            assert time.monotonic() < deadline
        refused = site.ask('GET', '/api/info', right=Right.LOOK)
        assert (refused.status, refused.headers['retry-after']) == (429, '2')
        assert 'wait' in refused.json['error']
        for right, source in ((Right.ACT, '127.0.0.1'), (Right.LOOK, '127.0.0.2')):
            assert site.ask('GET', '/api/info', right=right, source=source).status == 200
        assert site.app.state.slow == 2
        site.app.state.go_on.set()
        assert [b' 200 ' in read_to_end(connection) for connection in slow] == [True] * 5
        assert site.ask('GET', '/api/info', right=Right.LOOK).status == 200
