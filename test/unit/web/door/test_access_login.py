import json
from http.cookies import SimpleCookie
from pathlib import Path

import pytest

from remembr_ros.web.door.access import FAILURES_PER_MINUTE, SESSION_S, Right
from test.unit.web.door.small_site import TOKENS, Answer, Site, served


def cookie_of(answer: Answer) -> str:
    (cookie,) = SimpleCookie(answer.headers['set-cookie']).values()
    return f'{cookie.key}={cookie.value}'


def shown(site: Site, token: str, **headers: str) -> Answer:
    body = json.dumps({'token': token}).encode()
    return site.ask('POST', '/api/login', body=body, content_type='application/json', **headers)


def test_a_token_becomes_a_cookie_that_scripts_and_other_pages_have_nothing_of(closed_site: Site) -> None:
    answer = closed_site.log_in(Right.ASK)
    assert (answer.status, answer.body, answer.headers['cache-control']) == (204, b'', 'no-store')
    (cookie,) = SimpleCookie(answer.headers['set-cookie']).values()
    assert cookie.key == f'remembr-{closed_site.port}'
    assert cookie['httponly']
    assert cookie['samesite'] == 'strict'
    assert cookie['path'] == '/'
    assert cookie['domain'] == ''
    assert int(cookie['max-age']) == SESSION_S
    assert not cookie['secure']
    assert TOKENS[Right.ASK] not in answer.headers['set-cookie']
    assert closed_site.ask('GET', '/api/info', cookie=cookie_of(answer)).json == {
        'who': 'ask token from 127.0.0.1',
        'right': 'ASK',
    }
    assert 'samesite=strict' in answer.headers['set-cookie'].lower()


def test_behind_a_proxy_that_speaks_tls_the_cookie_is_for_tls_only(closed_site: Site) -> None:
    answer = shown(closed_site, TOKENS[Right.LOOK], host='robot.example', origin='https://robot.example')
    assert 'secure' in answer.headers['set-cookie'].lower()


def test_after_the_logout_the_cookie_is_worth_nothing(closed_site: Site) -> None:
    cookie = cookie_of(closed_site.log_in(Right.ACT))
    origin = f'http://127.0.0.1:{closed_site.port}'
    answer = closed_site.ask('POST', '/api/logout', cookie=cookie, origin=origin)
    assert answer.status == 204
    assert 'max-age=0' in answer.headers['set-cookie'].lower()
    assert closed_site.ask('GET', '/api/info', cookie=cookie).status == 401


@pytest.mark.parametrize('cookie', ['', 'remembr=1', 'remembr-{port}=', 'remembr-{port}=guessed', ';=;,"\\x'])
def test_a_cookie_of_nobody_is_none(closed_site: Site, cookie: str) -> None:
    assert closed_site.ask('GET', '/api/info', cookie=cookie.format(port=closed_site.port)).status == 401


def test_a_cookie_alone_does_nothing_that_another_page_could_have_sent(closed_site: Site) -> None:
    cookie = cookie_of(closed_site.log_in(Right.ACT))
    own = f'http://127.0.0.1:{closed_site.port}'
    assert closed_site.ask('POST', '/api/go', cookie=cookie).status == 403
    assert closed_site.ask('POST', '/api/go', cookie=cookie, origin='http://evil.example').status == 403
    assert closed_site.app.state.acts == []
    assert closed_site.ask('POST', '/api/go', cookie=cookie, origin=own).json == {'going': True}
    assert closed_site.ask('POST', '/api/go', cookie=cookie, sec_fetch_site='same-origin').status == 200
    closed_site.app.state.acts.clear()


def test_tokens_are_not_guessed_by_logging_in(tmp_path: Path) -> None:
    with served(tmp_path / 'tokens') as site:
        answers = [shown(site, f'guess {number}').status for number in range(FAILURES_PER_MINUTE + 20)]
        assert answers == [401] * FAILURES_PER_MINUTE + [429] * 20
        refused = shown(site, TOKENS[Right.ACT])
        assert refused.status == 429
        assert int(refused.headers['retry-after']) >= 1
        assert site.ask('GET', '/api/info', right=Right.LOOK, source='127.0.0.2').status == 200


def test_without_tokens_there_is_nothing_to_log_in_to(open_site: Site) -> None:
    answer = shown(open_site, 'whatever')
    assert answer.status == 204
    assert 'set-cookie' not in answer.headers
