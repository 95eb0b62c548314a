import logging
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http.client import HTTPSConnection
from pathlib import Path
from urllib.request import urlopen

import pytest
from fastapi import FastAPI

from remembr_ros.errors import InvalidRequest, NodeUnavailable
from remembr_ros.web.door.access import Access, Right
from remembr_ros.web.door.door import Door
from remembr_ros.web.door.serving import WebServer
from test.patience import patiently
from test.unit.web.door.small_site import TOKENS, WAIT_S, read_to_end, read_until, served, small_site

STOPPED_S = 2.0
"""A node that is cleaned up does not wait longer."""


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as tried:
            tried.bind(('::1', 0))
    except OSError:
        return False
    return True


def test_a_free_port_is_taken_and_told() -> None:
    with served() as site:
        assert site.port > 0
        assert site.server.url == f'http://127.0.0.1:{site.port}/'
        with urlopen(site.server.url, timeout=WAIT_S) as answer:
            assert answer.status == 200


def test_a_taken_port_is_told_before_anything_is_started() -> None:
    with served() as site, pytest.raises(InvalidRequest, match=r'(?i)address already in use; choose another'):
        WebServer(Door(port=site.port), Access())


def test_a_port_is_free_again_once_the_server_is_stopped() -> None:
    with served() as site:
        port = site.port
        site.ask('GET', '/')
    server = WebServer(Door(port=port), Access())
    server.stop()


def test_an_address_of_another_machine_is_told(tmp_path: Path) -> None:
    door = Door('192.0.2.1', token_file=tmp_path / 'tokens')
    with pytest.raises(InvalidRequest, match=r'192\.0\.2\.1.*choose another address'):
        WebServer(door, Access({'a' * 16: Right.ACT}))
    door = Door('no-such-name.invalid', token_file=tmp_path / 'tokens')
    with pytest.raises(InvalidRequest, match='no address and no name'):
        WebServer(door, Access({'a' * 16: Right.ACT}))


def test_tokens_that_were_not_read_are_not_forgotten(tmp_path: Path) -> None:
    with pytest.raises(InvalidRequest, match='not used'):
        WebServer(Door('0.0.0.0', 0, tmp_path / 'tokens'), Access())


def test_all_addresses_are_served_with_tokens(tmp_path: Path) -> None:
    with served(tmp_path / 'tokens', host='0.0.0.0') as site:
        assert site.server.url == f'http://{socket.gethostname()}:{site.port}/'
        assert site.ask('GET', '/api/info').status == 401
        assert site.ask('GET', '/api/info', right=Right.LOOK).status == 200


@pytest.mark.skipif(not has_ipv6(), reason='this machine has no IPv6')
def test_ipv6_is_spoken(tmp_path: Path) -> None:
    with served(host='::1') as site:
        assert site.server.url == f'http://[::1]:{site.port}/'
        with urlopen(site.server.url, timeout=WAIT_S) as answer:
            assert answer.status == 200
    with served(tmp_path / 'tokens', host='::') as site:
        assert site.ask('GET', '/api/info', right=Right.LOOK).json['who'] == 'look token from 127.0.0.1'


def test_stop_ends_streams_and_what_hangs() -> None:
    with served() as site:
        stream, hanging = site.connect(), site.connect()
        stream.sendall(b'GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n')
        hanging.sendall(b'GET /api/hanging HTTP/1.1\r\nHost: localhost\r\n\r\n')
        read_until(stream, b'event: hello')
        assert site.app.state.streams == 1
        begun = time.monotonic()
        site.server.stop()
        assert time.monotonic() - begun < patiently(STOPPED_S)
        assert site.app.state.streams == 0
        read_to_end(stream)
        read_to_end(hanging)
        for connection in (stream, hanging):
            connection.close()
        site.server.stop()


def test_no_log_has_a_token_or_a_line_for_each_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG), served(tmp_path / 'tokens') as site:
        for right in Right:
            site.ask('GET', '/api/info', right=right)
            site.log_in(right)
            site.ask('GET', f'/api/info?token={TOKENS[right]}')
        site.ask('GET', '/api/info', authorization='Bearer somebodys-wrong-token')
    assert 'wrong-token' not in caplog.text
    assert not any(token in caplog.text for token in TOKENS.values())
    assert '/api/info' not in caplog.text


def test_an_application_that_does_not_start_is_told(caplog: pytest.LogCaptureFixture) -> None:
    @asynccontextmanager
    async def failing(app: FastAPI) -> AsyncIterator[None]:
        raise RuntimeError('no memory here')
        yield

    server = WebServer(Door(port=0), Access())
    with pytest.raises(NodeUnavailable, match='the log says why'):
        server.start(FastAPI(lifespan=failing))
    assert 'no memory here' in caplog.text


def test_what_the_application_starts_it_ends() -> None:
    happened = []

    @asynccontextmanager
    async def noted(app: FastAPI) -> AsyncIterator[None]:
        happened.append('started')
        yield
        happened.append('ended')

    server = WebServer(Door(port=0), Access())
    before = threading.active_count()
    server.start(FastAPI(lifespan=noted))
    assert happened == ['started']
    server.stop()
    assert happened == ['started', 'ended']
    assert threading.active_count() == before


@pytest.fixture(scope='module')
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with certificates and keys a and b, and a's key with a password."""
    if shutil.which('openssl') is None:
        pytest.skip('openssl, which makes the certificates, is not installed')
    folder: Path = tmp_path_factory.mktemp('certificates')

    def openssl(*words: str) -> None:
        subprocess.run(['openssl', *words], cwd=folder, check=True, capture_output=True, timeout=60)

    for name in 'ab':
        openssl(
            *('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'),
            *('-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'),
            *('-keyout', f'{name}.key', '-out', f'{name}.pem'),
        )
    openssl('pkey', '-in', 'a.key', '-aes256', '-passout', 'pass:secret', '-out', 'locked.key')
    (folder / 'both.pem').write_text((folder / 'a.pem').read_text() + (folder / 'a.key').read_text())
    (folder / 'none.pem').write_text('this is no certificate')
    return folder


@pytest.mark.parametrize(('certificate', 'key'), [('a.pem', 'a.key'), ('both.pem', None)])
def test_tls_is_spoken_with_the_users_certificate(
    certificates: Path, certificate: str, key: str | None
) -> None:
    door = Door(
        port=0, certificate=certificates / certificate, key=None if key is None else certificates / key
    )
    access = Access({'a' * 16: Right.ACT})
    server = WebServer(door, access)
    server.start(small_site(access))
    try:
        assert server.url.startswith('https://127.0.0.1:')
        context = ssl.create_default_context(cafile=certificates / 'a.pem')
        with urlopen(f'https://localhost:{server.port}/', timeout=WAIT_S, context=context) as answer:
            assert answer.status == 200
        context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_2
        connection = HTTPSConnection('localhost', server.port, timeout=WAIT_S, context=context)
        body = b'{"token": "%s"}' % (b'a' * 16)
        connection.request('POST', '/api/login', body, {'content-type': 'application/json'})
        assert '; secure' in str(connection.getresponse().getheader('set-cookie')).lower()
        connection.close()
    finally:
        server.stop()


def test_old_tls_and_none_are_not_spoken(certificates: Path, caplog: pytest.LogCaptureFixture) -> None:
    server = WebServer(Door(port=0, certificate=certificates / 'both.pem'), Access())
    server.start(small_site(Access()))
    try:
        context = ssl.create_default_context(cafile=certificates / 'a.pem')
        context.set_ciphers('ALL:@SECLEVEL=0')
        with pytest.warns(DeprecationWarning, match='TLSv1_1'):
            context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_1
        with (
            socket.create_connection(('127.0.0.1', server.port), WAIT_S) as plain,
            pytest.raises(ssl.SSLError),
        ):
            context.wrap_socket(plain, server_hostname='localhost')
        with socket.create_connection(('127.0.0.1', server.port), WAIT_S) as plain:
            plain.sendall(b'GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
            assert b'HTTP' not in read_to_end(plain)
    finally:
        server.stop()
    assert caplog.text == ''


@pytest.mark.parametrize(
    ('certificate', 'key', 'message'),
    [
        ('missing.pem', 'a.key', 'cannot be read'),
        ('a.pem', 'missing.key', 'cannot be read'),
        ('a.pem', 'b.key', 'does not belong to'),
        ('a.pem', None, 'in PEM'),
        ('none.pem', 'a.key', 'in PEM'),
        ('a.pem', 'none.pem', 'in PEM'),
        ('a.pem', 'locked.key', 'is encrypted'),
    ],
)
def test_a_certificate_that_cannot_be_used_is_told(
    certificates: Path, certificate: str, key: str | None, message: str
) -> None:
    door = Door(
        port=0, certificate=certificates / certificate, key=None if key is None else certificates / key
    )
    with pytest.raises(InvalidRequest, match=message):
        WebServer(door, Access())
