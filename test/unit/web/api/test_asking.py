import http.client
import json
import threading
from dataclasses import replace
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from remembr_ros.agent.agent import MAX_QUESTION
from remembr_ros.errors import BudgetExceeded, InvalidRequest
from remembr_ros.memory.model.recall import ANYTHING, Scope
from remembr_ros.timestamps import NS
from remembr_ros.web.app import build_app
from remembr_ros.web.door.access import Access
from remembr_ros.web.door.serving import WebServer
from remembr_ros.web.exchanges import MOST_UNDER_WAY, MOST_WAITING, Exchange
from remembr_ros.web.live import MOST_WAITING as EVENTS_WAITING
from remembr_ros.web.live import Event
from remembr_ros.web.site import Site
from test.unit.memory.recall_contract import LAST_NS
from test.unit.web.fake_backend import FakeBackend, eventually

STREAM = {'Accept': 'text/event-stream'}


def events(text: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the events of a stream."""
    found = []
    for block in text.strip().split('\n\n'):
        fields = dict(line.split(': ', 1) for line in block.splitlines())
        found.append((fields['event'], json.loads(fields['data'])))
    return found


def test_a_question_waits_for_its_answer(client: TestClient, backend: FakeBackend) -> None:
    found = client.post(
        '/api/ask', json={'question': 'Where is the red mug?', 'conversation': 'tab 1'}
    ).json()
    assert (found['stage'], found['asker'], found['own'], found['error']) == ('answered', 'local', True, '')
    assert found['answer']['text'] == 'Near the wall.'
    assert found['answer']['question'] == 'Where is the red mug?'
    (evidence,) = found['answer']['evidence']
    assert (evidence['id'], evidence['sentence'], evidence['sureness']) == ('d00', 'A red mug.', None)
    assert backend.asked == [('Where is the red mug?', 'page tab 1')]
    assert client.get('/api/exchanges').json() == {'exchanges': [found]}
    assert sum(client.get('/api/activity', params={'before': LAST_NS / NS}).json()['questions']) == 1


def test_what_a_question_does_not_know_is_refused(client: TestClient, backend: FakeBackend) -> None:
    assert client.post('/api/ask', json={'question': 'Where?', 'robots': 'a'}).status_code == 400
    assert backend.asked == []


def test_a_question_is_about_what_is_chosen(client: TestClient, backend: FakeBackend) -> None:
    chosen = {'after': '1', 'before': '1970-01-01T00:00:02Z', 'robot': ['a', 'b'], 'map': ''}
    assert client.post('/api/ask', json={'question': 'Where?', **chosen}).status_code == 200
    assert client.post('/api/ask', json={'question': 'Where?'}).status_code == 200
    assert backend.scopes == [Scope(NS, 2 * NS, robots=('a', 'b'), map_id=''), ANYTHING]
    refused = client.post('/api/ask', json={'question': 'Where?', 'after': '2', 'before': '1'})
    assert refused.status_code == 400
    assert 'time window is empty' in refused.json()['error']
    near = {'near': [1, 2, 0.5], 'radius': 3, 'place': 'hall'}
    assert client.post('/api/ask', json={'question': 'Where?', **near}).status_code == 200
    assert backend.scopes[2:] == [Scope(near=(1.0, 2.0, 0.5), radius_m=3.0, place='hall')]
    refused = client.post('/api/ask', json={'question': 'Where?', 'map_id': ''})
    assert refused.json() == {'error': "/api/ask has no argument 'map_id': it is called map"}


def test_a_question_that_is_streamed_tells_its_progress(client: TestClient, backend: FakeBackend) -> None:
    backend.answers.clear()
    timer = threading.Timer(0.1, backend.answers.set)
    timer.start()
    answer = client.post('/api/ask', json={'question': 'Where?'}, headers=STREAM)
    timer.join()
    assert answer.headers['content-type'].startswith('text/event-stream')
    told = events(answer.text)
    assert {kind for kind, _ in told} == {'exchange'}
    assert [data['stage'] for _, data in told][:1] == ['waiting']
    assert told[-1][1]['answer']['text'] == 'Near the wall.'
    assert len({data['id'] for _, data in told}) == 1


def test_why_there_is_no_answer_is_told_in_the_exchange(client: TestClient, backend: FakeBackend) -> None:
    backend.broken = BudgetExceeded('no answer within the time allowed; ask again')
    answer = client.post('/api/ask', json={'question': 'Where?'})
    assert answer.status_code == 200
    assert (answer.json()['stage'], answer.json()['answer']) == ('failed', None)
    assert answer.json()['error'] == 'no answer within the time allowed; ask again'


def test_whatever_else_happens_an_asker_hears_the_end(
    client: TestClient, backend: FakeBackend, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A forget that changes many answers, at the moment at which the question is answered."""
    begin = site.exchanges.begin

    def beginning(*args: Any, **fields: Any) -> Exchange:
        exchange = begin(*args, **fields)
        eventually(lambda: (one := site.exchanges.get(exchange.id)) is not None and one.is_over)
        for number in range(2 * EVENTS_WAITING):
            site.live.tell(Event('exchange', replace(exchange, id=f'{number}'), f'{number}'))
        return exchange

    monkeypatch.setattr(site.exchanges, 'begin', beginning)
    assert client.post('/api/ask', json={'question': 'Where?'}).json()['stage'] == 'answered'


def test_a_question_can_be_cancelled_once(client: TestClient, backend: FakeBackend, site: Site) -> None:
    backend.answers.clear()
    asked = site.exchanges.begin('Where?', asker='somebody', conversation='')
    gone = client.delete(f'/api/exchanges/{asked.id}')
    assert (gone.status_code, gone.json()['stage']) == (200, 'cancelled')
    assert client.delete(f'/api/exchanges/{asked.id}').status_code == 409
    assert client.delete('/api/exchanges/unknown').status_code == 404


def test_too_many_questions_are_refused(client: TestClient, backend: FakeBackend, site: Site) -> None:
    backend.answers.clear()
    for number in range(MOST_UNDER_WAY + MOST_WAITING):
        site.exchanges.begin(f'{number}', asker='', conversation='')
    answer = client.post('/api/ask', json={'question': 'Where?'})
    assert answer.status_code == 429
    assert answer.headers['retry-after']
    assert not len(site.live)
    assert client.post('/api/ask', json={'question': 'Where?'}, headers=STREAM).status_code == 429
    backend.answers.set()


@pytest.mark.parametrize(
    'body',
    [
        {},
        {'question': ''},
        {'question': ' \n'},
        {'question': 'x' * (MAX_QUESTION + 1)},
        {'question': 'Where?', 'conversation': 'x' * 65},
        {'question': ['Where?']},
        [],
    ],
)
def test_no_question_is_refused(client: TestClient, body: object) -> None:
    answer = client.post('/api/ask', json=body)
    assert answer.status_code == 400
    assert set(answer.json()) == {'error'}
    for content in (b'{', b'', b'\xff', b'{"question": "half a character: \\ud800"}', b'[' * 10_000):
        assert client.post('/api/ask', content=content).status_code == 400


def test_what_others_asked_is_there_too(client: TestClient, backend: FakeBackend) -> None:
    answer = backend.ask(
        'Where?', asker='', scope=ANYTHING, on_progress=lambda _: None, cancel=threading.Event()
    )
    assert backend.listeners
    backend.listeners.on_answer('Where?', 'topic question', answer)
    (found,) = client.get('/api/exchanges').json()['exchanges']
    assert (found['asker'], found['own'], found['answer']['text']) == ('topic question', False, answer.text)


def test_a_server_that_ends_lets_go_of_who_waits(
    app: FastAPI, client: TestClient, backend: FakeBackend
) -> None:
    backend.answers.clear()
    site: Site = app.state.site
    answers: list[int] = []
    asking = threading.Thread(
        target=lambda: answers.append(client.post('/api/ask', json={'question': 'Where?'}).status_code)
    )
    asking.start()
    eventually(lambda: len(backend.asked) == 1)
    site.live.close()
    asking.join(20.0)
    assert answers == [200]


def test_a_question_whose_stream_is_cut_off_goes_on(
    server: WebServer, site: Site, backend: FakeBackend
) -> None:
    backend.answers.clear()
    connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=20.0)
    headers = {**STREAM, 'Content-Type': 'application/json'}
    connection.request('POST', '/api/ask', '{"question": "Where?"}', headers)
    response = connection.getresponse()
    assert response.readline() == b'event: exchange\n'
    response.close()
    connection.close()
    eventually(lambda: not len(site.live))
    backend.answers.set()
    eventually(lambda: site.exchanges.all()[0].stage == 'answered')


def test_speech_is_understood_where_somebody_does(backend: FakeBackend, client: TestClient) -> None:
    assert client.post('/api/speech', content=b'sound').status_code == 404

    def transcribe(data: bytes) -> str:
        if data != b'sound':
            raise InvalidRequest('this is no sound; send webm')
        return 'Where is the lift?'

    app = build_app(backend, Access(), transcribe=transcribe)
    app.state.access = Access()
    with TestClient(_everybody(app)) as listening:
        assert 'listen' in listening.get('/api/info').json()['abilities']
        said = listening.post('/api/speech', content=b'sound', headers={'content-type': 'audio/webm'})
        assert said.json() == {'text': 'Where is the lift?'}
        assert listening.post('/api/speech', content=b'noise').json() == {
            'error': 'this is no sound; send webm'
        }


def _everybody(app: FastAPI) -> Any:
    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        if scope['type'] == 'http':
            scope['state'] = {**scope.get('state', {}), 'right': 3, 'who': 'local'}
        await app(scope, receive, send)

    return guarded
