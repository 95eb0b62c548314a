"""The whole application behind its door, over a memory in which somebody has put what browsers might obey."""

import json
from collections.abc import Iterator
from datetime import timezone
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest

from remembr_ros.agent.build import AgentConfig, build_agent
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from remembr_ros.memory.opening import open_store
from remembr_ros.navigation.grid import Grid
from remembr_ros.timestamps import NS
from remembr_ros.web.app import build_app
from remembr_ros.web.door.access import Access, Right
from remembr_ros.web.door.door import Crowd, Door
from remembr_ros.web.door.serving import WebServer
from remembr_ros.web.local import LocalBackend
from test.unit.web.door.small_site import TOKENS, Site, read_until

START = 1_700_000_000 * NS
SCRIPT = '</script><script>alert(1)</script><img src=x onerror=alert(2)>'
LINES = 'a\r\nSet-Cookie: a=b\n\nevent: hello\ndata: {"version": 0}\n\n'
TURNED = '\u202egnp.exe\u2066\u2028\u0085'
LONG = 'x' * 60_000
HOSTILE = {SCRIPT: SCRIPT, LINES: '"\\\'; --', TURNED: '\u202egnp.exe\u2066'}
"""Texts, and names that the store takes, which have no line ends."""

LOOKED_AT = [
    '/api/info',
    '/api/recall?limit=200',
    f'/api/recall?text={quote(SCRIPT)}',
    f'/api/recall?robot={quote(SCRIPT)}',
    f'/api/recall?camera={quote(SCRIPT)}',
    '/api/recall?position=0,0&radius=5',
    f'/api/memories/{memory_id(SCRIPT, "captioner", START, SCRIPT)}',
    f'/api/memories/{memory_id(SCRIPT, "captioner", START, SCRIPT)}/forgetting',
    '/api/cells?cell=1',
    '/api/track',
    '/api/activity',
    '/api/day?day=2023-11-14',
    '/api/map',
    '/api/state',
    '/api/situation',
    '/api/exchanges',
    '/api/openapi.json',
]
MISTAKEN = [
    f'/api/memories/{quote(SCRIPT)}',
    f'/api/pictures/{quote(SCRIPT)}',
    f'/api/recall?limit={quote(SCRIPT)}',
    f'/api/recall?{quote(SCRIPT)}=1',
    f'/api/recall?position={quote(SCRIPT)}',
    f'/api/recall?after={quote(SCRIPT)}',
    f'/api/day?day={quote(SCRIPT)}',
    f'/api/{quote(SCRIPT)}',
    f'/page/{quote(SCRIPT)}',
]


def hostile_memories() -> list[Observation]:
    jpeg = encode_jpeg(np.zeros((24, 32, 3), np.uint8))
    memories = [
        Memory(
            id=memory_id(name, 'captioner', START + index * NS, name),
            robot=name,
            start_ns=START + index * NS,
            end_ns=START + index * NS,
            caption=f'{text} {LONG if index == 0 else "a door"}',
            pose=Pose(float(index), 0.0),
            frame_id=name,
            map_id=name,
            scene_text=(text, f'sign {text}'),
            captioner=name,
            camera=name,
        )
        for index, (text, name) in enumerate(HOSTILE.items())
    ]
    return [Observation(memory, (jpeg,)) for memory in memories]


@pytest.fixture(scope='module')
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder: Path = tmp_path_factory.mktemp('hostile')
    with open_store(f'{folder / "m.db"}', HashingEmbedder()) as store:
        store.add(hostile_memories())
        backend = LocalBackend(
            f'{SCRIPT}.db',
            store,
            build_agent(store, AgentConfig(), keyframes=store),
            writable=True,
            grid=Grid(np.zeros((4, 4), np.int8), 0.5, Pose(0.0, 0.0)),
            now=lambda: START + 60 * NS,
            zone=timezone.utc,
        )
        access = Access({token: right for right, token in TOKENS.items()})
        app = build_app(backend, access, zone='UTC')
        # The addresses of one machine are several clients here, and none of them is slow.
        server = WebServer(Door(port=0, crowd=Crowd(requests_per_minute=60_000)), access)
        server.start(app)
        site = Site(server, app)
        while site.ask('GET', '/api/info', right=Right.LOOK).json['reading']:
            pass
        yield site
        server.stop()


@pytest.mark.parametrize('path', LOOKED_AT)
def test_whatever_is_stored_leaves_as_json_that_no_browser_takes_for_a_page(site: Site, path: str) -> None:
    answer = site.ask('GET', path, right=Right.ACT)
    assert answer.status == 200, answer.body
    assert answer.headers['content-type'].partition(';')[0] == 'application/json'
    assert answer.headers['x-content-type-options'] == 'nosniff'
    assert answer.headers['cache-control'] == 'no-store'
    assert 'set-cookie' not in answer.headers
    assert isinstance(answer.json, dict)


def test_a_text_leaves_as_it_was_stored(site: Site) -> None:
    found = site.ask('GET', '/api/recall?limit=200', right=Right.LOOK).json['memories']
    by_robot = {one['robot']: one for one in found}
    for text, name in HOSTILE.items():
        one = by_robot[name]
        assert one['caption'].startswith(text)
        assert (one['camera'], one['captioner'], one['map']) == (name, name, name)
        assert one['scene_text'] == [text, f'sign {text}']


@pytest.mark.parametrize('path', MISTAKEN)
@pytest.mark.parametrize('accept', ['*/*', 'text/html'])
def test_a_mistake_is_told_as_json_too(site: Site, path: str, accept: str) -> None:
    answer = site.ask('GET', path, right=Right.ACT, accept=accept)
    assert answer.status in (200, 400, 404), answer.body
    assert answer.headers['content-type'].partition(';')[0] == 'application/json'
    assert answer.headers['x-content-type-options'] == 'nosniff'
    assert b'Traceback' not in answer.body


@pytest.mark.parametrize(
    'path', ['/', '/page/main.js', '/api/info', '/api/events', '/mcp', '/mcp/', '/api/map.png']
)
def test_another_host_or_page_gets_nothing(site: Site, path: str) -> None:
    for method in ('GET', 'POST', 'DELETE', 'OPTIONS'):
        for given in (
            {'host': 'evil.example'},
            {'origin': 'http://evil.example'},
            {'origin': 'null'},
            {'sec_fetch_site': 'cross-site'},
            {'sec_fetch_site': 'same-site'},
        ):
            answer = site.ask(method, path, right=Right.ACT, **given)
            assert answer.status == 403, (method, given)
            assert not [name for name in answer.headers if name.startswith('access-control')]


@pytest.mark.parametrize('text', HOSTILE)
def test_a_hostile_question_and_note_come_back_as_data(site: Site, text: str) -> None:
    with site.connect('127.0.0.9') as listening:
        listening.sendall(
            b'GET /api/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer %s\r\n\r\n'
            % TOKENS[Right.LOOK].encode()
        )
        read_until(listening, b'event: hello')
        body = json.dumps({'question': f'where is {text}?'}).encode()
        asked = site.ask('POST', '/api/ask', right=Right.ASK, body=body, content_type='application/json')
        assert asked.headers['content-type'] == 'application/json'
        assert asked.json['question'] == f'where is {text}?'
        told = read_until(listening, b'event: exchange')
        body = json.dumps({'text': text, 'position': [1, 2, 0]}).encode()
        noted = site.ask('POST', '/api/notes', right=Right.ACT, body=body, content_type='application/json')
        assert noted.status == 201
        told += read_until(listening, b'event: memories')
    # In a stream of events a text is one line of JSON; a line of its own would be another event.
    assert b'\nevent: hello' not in told
    assert b'\nSet-Cookie' not in told


@pytest.mark.parametrize(
    'name',
    [
        '../m.db',
        '..%2fm.db',
        '%2e%2e%2fm.db',
        '%2e%2e/m.db',
        '..%5cm.db',
        '%252e%252e%252fm.db',
        '/etc/passwd',
        '%2fetc%2fpasswd',
        'm.db',
        '.',
        '%00',
        'a%0d%0aSet-Cookie:%20a=b.jpg',
        'a.jpg%0d%0a',
        'x' * 300,
    ],
)
@pytest.mark.parametrize('folder', ['/api/pictures/', '/page/', '/api/memories/'])
def test_no_name_leads_to_another_file(site: Site, folder: str, name: str) -> None:
    for query in ('', '?width=256'):
        answer = site.ask('GET', f'{folder}{name}{query}', right=Right.ACT)
        assert answer.status in (400, 404), answer.body[:200]
        assert list(answer.json) == ['error']
        assert 'set-cookie' not in answer.headers
        assert b'root:' not in answer.body


def test_a_picture_is_a_jpeg_and_kept_by_who_may_see_it_only(site: Site) -> None:
    name = site.ask('GET', '/api/recall', right=Right.LOOK).json['memories'][-1]['keyframes'][0]
    answer = site.ask('GET', f'/api/pictures/{name}', right=Right.LOOK)
    assert (answer.status, answer.headers['content-type']) == (200, 'image/jpeg')
    assert answer.headers['cache-control'].startswith('private')
    assert answer.headers['cross-origin-resource-policy'] == 'same-origin'
    assert site.ask('GET', f'/api/pictures/{name}').status == 401
    assert site.ask('GET', f'/api/pictures/{name}', right=Right.LOOK, host='evil.example').status == 403


def test_every_route_but_the_page_and_the_login_wants_a_token(site: Site) -> None:
    paths = site.ask('GET', '/api/openapi.json', right=Right.LOOK).json['paths']
    assert len(paths) > 20
    for path, methods in paths.items():
        for method in methods:
            answer = site.ask(method.upper(), path.replace('{', '').replace('}', ''))
            assert answer.status == (401 if path not in ('/api/login', '/api/logout') else answer.status), (
                path
            )
    assert site.ask('POST', '/mcp', body=b'{}').status == 401
    assert site.ask('GET', '/mcp/').status == 401


def test_who_may_look_changes_nothing_and_who_may_ask_does_not_act(site: Site) -> None:
    paths = site.ask('GET', '/api/openapi.json', right=Right.LOOK).json['paths']
    asking = {('post', '/api/ask'), ('post', '/api/speech'), ('delete', '/api/exchanges/{exchange_id}')}
    entering = {('post', '/api/login'), ('post', '/api/logout')}
    changing = {(method, path) for path, methods in paths.items() for method in methods if method != 'get'}
    assert changing > asking | entering
    for method, path in changing - entering:
        where = path.replace('{', '').replace('}', '')
        assert site.ask(method.upper(), where, right=Right.LOOK).status == 403, path
        may = (method, path) in asking
        assert (site.ask(method.upper(), where, right=Right.ASK).status != 403) == may, path


def test_forgetting_is_logged_with_who_asked(site: Site, caplog: pytest.LogCaptureFixture) -> None:
    body = json.dumps({'text': 'soon gone'}).encode()
    noted = site.ask('POST', '/api/notes', right=Right.ACT, body=body, content_type='application/json').json
    gone = site.ask('DELETE', f'/api/memories/{noted["id"]}', right=Right.ACT)
    assert gone.headers['clear-site-data'] == '"cache"'
    assert any('act token from 127.0.0.1' in line and noted['id'] in line for line in caplog.messages)
    assert site.ask('GET', f'/api/memories/{noted["id"]}', right=Right.LOOK).status == 404


@pytest.mark.parametrize('path', ['/api/ask', '/api/notes', '/api/go', '/api/confirm', '/api/login'])
@pytest.mark.parametrize(
    'body', [b'', b'{', b'null', b'[]', b'{"a": 1}', b'\xff\xfe', b'[' * 100_000, b'{"question": NaN}']
)
def test_a_body_that_makes_no_sense_is_refused(site: Site, path: str, body: bytes) -> None:
    answer = site.ask('POST', path, right=Right.ACT, body=body, content_type='application/json')
    assert answer.status == 400, answer.body
    assert list(answer.json) == ['error']


def test_the_page_has_nothing_that_its_policy_would_refuse(site: Site) -> None:
    page = site.ask('GET', '/')
    assert page.headers['content-type'] == 'text/html; charset=utf-8'
    text = page.body.decode()
    assert ' on' not in ''.join(part.partition('>')[0] for part in text.split('<')[1:]).replace(' one', '')
    assert ' style=' not in text
    assert '<style' not in text
    assert 'http' not in text.replace('http-equiv', '')
    assert all('src=' in part.partition('>')[0] for part in text.split('<script')[1:])
