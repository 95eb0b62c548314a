import asyncio
import http.client
import json
import math
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from remembr_ros.forms.events import NoteForm
from remembr_ros.geometry import Pose, StampedPose
from remembr_ros.timestamps import NS
from remembr_ros.web import app as app_module
from remembr_ros.web.api.event_stream import _told, sse
from remembr_ros.web.backend import Situation
from remembr_ros.web.door.serving import WebServer
from remembr_ros.web.jobs import Drive
from remembr_ros.web.live import MOST_WAITING, Event
from remembr_ros.web.site import Site
from test.unit.web.fake_backend import PATIENCE_S, FakeBackend, eventually

Told = tuple[str, str, dict[str, Any]]


@pytest.fixture
def page(server: WebServer, site: Site) -> Iterator[Iterator[Told]]:
    """Yield the events that an open page hears: kind, id, data."""
    eventually(lambda: not site.following.contents.reading)
    connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=PATIENCE_S)
    connection.request('GET', '/api/events')
    response = connection.getresponse()
    assert response.headers['content-type'].startswith('text/event-stream')

    def events() -> Iterator[Told]:
        fields: dict[str, str] = {}
        for line in response:
            name, _, value = line.decode().rstrip('\n').partition(': ')
            if name:
                fields[name] = value
            elif 'event' in fields:
                yield fields['event'], fields['id'], json.loads(fields['data'])
                fields = {}

    yield events()
    connection.close()


def until(page: Iterator[Told], kind: str) -> Told:
    return next(event for event in page if event[0] == kind)


def test_a_page_is_greeted_and_hears_what_happens(
    page: Iterator[Told], backend: FakeBackend, site: Site
) -> None:
    kind, version, data = next(page)
    assert (kind, data) == ('hello', {'version': site.following.contents.version})
    assert version == str(data['version'])
    backend.note(NoteForm(text='A note.', position=(1.0, 2.0)))
    _, later, news = until(page, 'memories')
    assert int(later) > int(version)
    assert (news['total'], news['anew'], str(news['version'])) == (15, False, later)
    (new,) = news['new']
    assert new == {
        'id': 'n14',
        't': round(backend.memories[-1].start_ns / NS, 3),
        'x': 1.0,
        'y': 2.0,
        'robot': 'a',
    }
    site.exchanges.begin('Where?', asker='somebody', conversation='')
    stages = [until(page, 'exchange')[2]['stage']]
    while stages[-1] != 'answered':
        stages.append(until(page, 'exchange')[2]['stage'])
    backend.now = Situation(goals=(StampedPose(0, Pose(3.0, 4.0)),))
    while not (situation := until(page, 'situation')[2])['goals']:
        pass
    assert situation['goals'][0]['position'] == [3.0, 4.0, 0.0]


def test_who_reads_slowly_is_told_everything_anew(site: Site) -> None:
    asked = site.exchanges.begin('Where?', asker='somebody', conversation='')

    async def heard() -> list[str]:
        stream = site.live.open()
        for number in range(MOST_WAITING + 1):
            site.live.tell(Event('exchange', None, f'{number}'))
        told = _told(site, stream)
        return [await asyncio.wait_for(anext(told), PATIENCE_S) for _ in range(6)]

    hello, *found = asyncio.run(heard())
    assert 'event: hello' in hello
    assert [one.splitlines()[1] for one in found] == [
        f'event: {kind}' for kind in ('memories', 'situation', 'map', 'state', 'exchange')
    ]
    assert '"anew": true' in found[0]
    assert asked.id in found[4]


def test_what_a_drive_brings_along_is_told_however_short_it_was(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A goal that waits, and is gone, between two looks: pages were told of it when the drive changed."""
    monkeypatch.setattr(app_module, 'WATCH_S', 0.01)

    async def heard() -> list[Event | None]:
        events = site.live.open(lambda event: event.kind == 'situation').events()
        watching = asyncio.ensure_future(app_module._watch(site))
        first = await asyncio.wait_for(anext(events), PATIENCE_S)
        site.drives._keep(Drive('somebody', 0, 'stopped'))
        second = await asyncio.wait_for(anext(events), PATIENCE_S)
        watching.cancel()
        return [first, second]

    assert all(event and event.kind == 'situation' for event in asyncio.run(heard()))


def test_what_cannot_be_told_is_left_out(
    page: Iterator[Told], backend: FakeBackend, site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    until(page, 'hello')
    backend.now = Situation(goals=(StampedPose(0, Pose(math.nan, 0.0)),))
    site.live.tell(Event('situation'))
    eventually(lambda: 'situation cannot be told' in caplog.text)
    site.live.tell(Event('map'))
    until(page, 'map')


def test_a_server_ends_at_once_whatever_is_open(page: Iterator[Told], server: WebServer, site: Site) -> None:
    assert next(page)[0] == 'hello'
    ending = threading.Thread(target=server.stop)
    ending.start()
    for _ in page:  # until the server closes the connection
        pass
    ending.join(PATIENCE_S)
    assert not ending.is_alive()
    assert not len(site.live)


def test_a_page_that_goes_is_forgotten(server: WebServer, site: Site) -> None:
    connection = http.client.HTTPConnection('127.0.0.1', server.port, timeout=PATIENCE_S)
    connection.request('GET', '/api/events')
    response = connection.getresponse()
    assert response.readline().startswith(b'id: ')
    assert len(site.live) == 1
    response.close()
    connection.close()
    eventually(lambda: not len(site.live))


def test_no_text_breaks_an_event() -> None:
    told = sse('exchange', {'text': 'a\n\ndata: {}\r\n\u2028event: x'}, 7)
    assert told.splitlines()[:2] == ['id: 7', 'event: exchange']
    assert told.endswith('\n\n')
    assert '\n\n' not in told[:-2]
    assert '\r' not in told
    (data,) = [line for line in told.split('\n') if line.startswith('data: ')]
    assert json.loads(data.removeprefix('data: ')) == {'text': 'a\n\ndata: {}\r\n\u2028event: x'}
