import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from remembr_ros.web.door.guard import check_origin, own_names

NAMES = own_names('10.0.0.3', ['Robot.Example.'])
OWN = socket.gethostname().partition('.')[0]


def is_let_in(method: str = 'GET', path: str = '/api/info', **headers: str) -> bool:
    given = {'host': 'robot.example', **{name.replace('_', '-'): value for name, value in headers.items()}}
    try:
        check_origin(method, path, Headers(given), NAMES)
    except HTTPException as refusal:
        return refusal.status_code != 403
    return True


@pytest.mark.parametrize(
    'host',
    [
        'localhost',
        'localhost:8765',
        'LOCALHOST',
        'robot.example',
        'robot.example.',
        'robot.example:443',
        '127.0.0.1:8765',
        '192.168.7.7',
        '[::1]',
        '[2001:db8::7]:80',
        OWN,
        f'{OWN}.local:8765',
    ],
)
def test_names_of_this_machine_and_addresses_are_let_in(host: str) -> None:
    assert is_let_in(host=host)


@pytest.mark.parametrize(
    'host',
    [
        '',
        'evil.example',
        'localhost.evil.example',
        'evil.example.localhost',
        'robot.example.evil.example',
        'evil.example@robot.example',
        'robot.example@evil.example',
        'robot.example/evil',
        'robot.example evil.example',
        'robot.example, evil.example',
        'robot.example:port',
        '127.0.0.1.evil.example',
        '0x7f.1',
        '[evil]',
        '::1',
        'r\u00f6bot.example',
    ],
)
def test_every_other_name_is_refused(host: str) -> None:
    assert not is_let_in(host=host)


@given(st.text(st.characters(max_codepoint=255)))
def test_no_name_but_ours_is_let_in_whatever_it_is(host: str) -> None:
    assert not is_let_in(host=f'{host}x.example')


def test_two_hosts_or_none_are_refused() -> None:
    for hosts in ([], [b'robot.example'] * 2):
        with pytest.raises(HTTPException):
            check_origin('GET', '/', Headers(raw=[(b'host', host) for host in hosts]), NAMES)


@pytest.mark.parametrize('method', ['GET', 'POST', 'DELETE', 'OPTIONS'])
@pytest.mark.parametrize(
    ('origin', 'host', 'is_own'),
    [
        ('http://robot.example', 'robot.example', True),
        ('https://robot.example', 'robot.example', True),
        ('https://Robot.example', 'robot.example:443', True),
        ('http://robot.example:80', 'robot.example', True),
        ('http://127.0.0.1:8765', '127.0.0.1:8765', True),
        ('http://[::1]:8765', '[::1]:8765', True),
        ('http://127.0.0.1:3000', '127.0.0.1:8765', False),
        ('http://localhost:8765', '127.0.0.1:8765', False),
        ('https://evil.example', 'robot.example', False),
        ('https://evil.example/robot.example', 'robot.example', False),
        ('https://robot.example@evil.example', 'robot.example', False),
        ('null', 'robot.example', False),
        ('', 'robot.example', False),
        ('file://', 'robot.example', False),
        ('chrome-extension://robot.example', 'robot.example', False),
    ],
)
def test_another_page_is_refused(method: str, origin: str, host: str, is_own: bool) -> None:
    assert is_let_in(method, origin=origin, host=host) == is_own


@pytest.mark.parametrize('site', ['same-site', 'cross-site', 'something new'])
def test_what_a_browser_says_is_of_another_page_is_refused(site: str) -> None:
    assert not is_let_in(sec_fetch_site=site, sec_fetch_mode='no-cors', sec_fetch_dest='image')
    assert not is_let_in(
        'POST', '/', sec_fetch_site=site, sec_fetch_mode='navigate', sec_fetch_dest='document'
    )
    for own in ('same-origin', 'none'):
        assert is_let_in('POST', sec_fetch_site=own, sec_fetch_mode='cors')


def test_a_link_on_another_page_leads_to_the_page_and_not_to_its_api() -> None:
    link = {'sec_fetch_site': 'cross-site', 'sec_fetch_mode': 'navigate', 'sec_fetch_dest': 'document'}
    assert is_let_in(path='/', **link)
    assert not is_let_in(path='/api/pictures/a.jpg', **link)
    assert not is_let_in(path='/mcp', **link)
    assert not is_let_in(path='/', **{**link, 'sec_fetch_dest': 'iframe'})
