"""What happens while pages are open: memories come and go, the server goes and comes back, a day passes."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timezone
from pathlib import Path
from typing import Any

import httpx2
import numpy as np
import pytest

from remembr_ros.agent.build import AgentConfig, build_agent
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS
from remembr_ros.web.app import build_app
from remembr_ros.web.door.access import Access
from remembr_ros.web.door.door import Door
from remembr_ros.web.door.serving import WebServer
from remembr_ros.web.live import Event, Live
from remembr_ros.web.local import LocalBackend
from test.browser.served import SIZES, eventually, results, settled
from test.patience import holds_within, patiently

T0 = 1_700_000_000 * NS
NOW = T0 + 10**6 * NS
SCRIPT = '</script><script>document.title="obeyed"</script><img src=x onerror=\'document.title="obeyed"\'>'
LONG = 'x' * 60_000
TURNED = '\u202eexe.gnp\u2066 \u200b'
BATCH, BATCHES = 1_000, 10  # a simulated day
FULL = 2  # batches after which no more is drawn: a way has at most 2,000 points
GROWTH = 1.1  # of the page's heap from then on


def memory(i: int, caption: str = '', **more: Any) -> Memory:
    start = T0 + 8 * i * NS
    pose = Pose(float(i % 100), float(37 * i % 101))  # all over the floor from the beginning
    identity = memory_id('anna', 'captioner', start)
    return Memory(identity, 'anna', start, start + 3 * NS, caption or f'thing {i}', pose, **more)


@dataclass
class Open:
    """A store and the page on it, in this process."""

    store: MemoryStore
    door: Door
    server: WebServer
    live: Live

    @property
    def address(self) -> str:
        return self.server.url.rstrip('/')

    @classmethod
    def on(cls, store: MemoryStore, port: int = 0) -> 'Open':
        agent = build_agent(store, AgentConfig(), keyframes=store)
        backend = LocalBackend(
            'm.db', store, agent, writable=True, grid=None, now=lambda: NOW, zone=timezone.utc
        )
        door, access = Door(port=port), Access({})
        server = WebServer(door, access)
        app = build_app(backend, access)
        server.start(app)
        return cls(store, door, server, app.state.site.live)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with open_store(str(tmp_path / 'm.db'), HashingEmbedder()) as store:
        for i in range(3):
            image = encode_jpeg(np.full((60, 80, 3), 60 * i, np.uint8))
            store.add([Observation(memory(i), (image,))])
        yield store


@pytest.fixture
def site(store: MemoryStore) -> Iterator[Open]:
    site = Open.on(store)
    yield site
    site.server.stop()


def test_what_is_forgotten_in_one_browser_is_gone_in_the_other_and_on_the_disk(site: Open, look) -> None:
    first, second = (settled(look(site.address)) for _ in range(2))
    doomed = site.store.all()[1]
    (name,) = doomed.keyframes
    file = site.store.keyframes.folder / name[:2] / name
    assert file.exists()

    def late(route: Any) -> Any:
        if route.request.method != 'DELETE':
            return route.continue_()
        answer = route.fetch()
        first.locator('#count').get_by_text('2 memories').wait_for()
        return route.fulfill(response=answer)

    first.route('**/api/memories/*', late)
    first.get_by_text('thing 1').click()
    first.get_by_role('button', name='Forget').click()
    dialog = first.get_by_role('dialog')
    assert '1 picture' in dialog.inner_text()
    dialog.get_by_role('button', name='Forget').click()
    for page in (first, second):
        eventually(page, 'document.querySelector("#count").textContent.startsWith("2 ")')
    eventually(second, '!document.querySelector("#search-results").textContent.includes("thing 1")')
    assert not file.exists()
    assert httpx2.get(f'{site.address}/api/pictures/{name}').status_code == 404
    assert httpx2.get(f'{site.address}/api/memories/{doomed.id}').status_code == 404


def test_an_answer_goes_from_every_page_with_what_it_rests_on(site: Open, look) -> None:
    mine, other = settled(look(f'{site.address}/?view=ask')), settled(look(f'{site.address}/?view=ask'))
    mine.get_by_role('textbox', name='Question').fill('Where is thing 1?')
    mine.keyboard.press('Enter')
    for page in (mine, other):
        page.get_by_role('list', name='Evidence').first.wait_for()
    site.store.forget([one.id for one in site.store.all()])  # by somebody else
    for page in (mine, other):
        page.get_by_text('forgotten meanwhile').wait_for()
        assert page.get_by_role('list', name='Evidence').count() == 0


def test_a_page_that_was_loaded_in_the_background_catches_up(site: Open, look) -> None:
    page = look(site.address)
    page.add_init_script("Object.defineProperty(document, 'hidden', { configurable: true, get: () => true })")
    settled(page.reload() and page)
    site.store.add([Observation(memory(100, 'Seen meanwhile.'))])
    page.evaluate("delete document.hidden, document.dispatchEvent(new Event('visibilitychange'))")
    results(page).get_by_text('Seen meanwhile.').wait_for()


def test_a_window_that_is_made_wide_shows_the_list(site: Open, look) -> None:
    page = settled(look(site.address, 'phone'))
    page.set_viewport_size(SIZES['desktop'])
    results(page).get_by_text('thing 1').wait_for()


def test_a_note_can_be_left_off(site: Open, look) -> None:
    page = settled(look(f'{site.address}/?memory={site.store.all()[0].id}'))
    page.get_by_role('button', name='Add a note here').click()
    page.get_by_role('button', name='Cancel').click()
    page.get_by_role('dialog').wait_for(state='detached')


def test_days_are_those_of_the_zone_when_clocks_are_changed(site: Open, look) -> None:
    page = settled(look(site.address))
    days = page.evaluate("""async () => {
        const { fromWall, setClock, written } = await import('/page/times.js');
        setClock('2026-10-28T00:00:00Z', 'Europe/Berlin');
        const day = (i) => fromWall(Date.UTC(2026, 9, 24 + i) / 1000);
        const form = { day: 'numeric', hour: '2-digit', hourCycle: 'h23' };
        return [0, 1, 2, 3].map((i) => written(day(i), form));
    }""")
    assert [re.findall(r'\d+', day) for day in days] == [[f'{day}', '00'] for day in (24, 25, 26, 27)]


def test_a_memory_that_was_deleted_meanwhile_is_said(site: Open, look) -> None:
    doomed = site.store.all()[1]
    site.store.forget([doomed.id])
    page = look(f'{site.address}/?memory={doomed.id}', forgiven='404')
    page.get_by_role('alert').get_by_text('forgotten').first.wait_for()


def test_what_is_stored_appears(site: Open, look) -> None:
    page = settled(look(site.address))
    site.store.add([Observation(memory(100, 'A brand new thing.'))])
    results(page).get_by_text('A brand new thing.').wait_for()


def test_what_is_stored_while_the_page_loads_appears(site: Open, look) -> None:
    page = look(site.address)

    def late(route: Any) -> None:
        site.store.add([Observation(memory(100, 'Seen meanwhile.'))])
        known = lambda: httpx2.get(f'{site.address}/api/info').json()['memories'] == 4  # noqa: E731
        assert holds_within(patiently(10), known)
        route.continue_()

    page.route('**/api/events', late)
    settled(page.reload() and page)
    eventually(page, 'document.querySelector("#timeline canvas").ariaValueMax === "1700000803"')


@pytest.fixture
def only_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the server tell no state by itself."""
    monkeypatch.setattr('remembr_ros.web.app.WATCH_S', 3600.0)


@pytest.mark.usefixtures('only_told')
def test_what_is_stored_appears_though_the_state_is_asked_for_meanwhile(site: Open, look) -> None:
    page = settled(look(site.address))
    asked: list[Any] = []

    def held(route: Any) -> None:
        asked.append(route)
        if len(asked) == 1:  # for the note
            site.live.tell(Event('state'))
        elif len(asked) == 2:  # for the state, which is not answered
            asked[0].continue_()
        else:
            route.continue_()

    page.route('**/api/info', held)
    assert httpx2.post(f'{site.address}/api/notes', json={'text': 'Seen meanwhile.'}).is_success
    eventually(page, f'document.querySelector("#timeline canvas").ariaValueMax === "{NOW // NS}"')


def test_the_page_comes_back_with_the_server_and_catches_up(store: MemoryStore, look) -> None:
    site = Open.on(store)
    page = settled(look(site.address, forgiven='Failed to load resource|ERR_|EventSource|fetch'))
    port = site.server.port
    site.server.stop()
    page.get_by_text('Connection lost').wait_for()
    store.add([Observation(memory(100, 'Seen meanwhile.'))])
    again = Open.on(store, port)
    try:
        page.get_by_text('Connection lost').wait_for(state='hidden')
        results(page).get_by_text('Seen meanwhile.').wait_for()
    finally:
        again.server.stop()


def test_what_a_camera_or_a_person_wrote_is_text(site: Open, look) -> None:
    texts = {'scene_text': (SCRIPT, TURNED), 'captioner': '<b>captioner</b>', 'camera': '<i>camera</i>'}
    for i, caption in enumerate((SCRIPT, LONG, f'{TURNED} {SCRIPT}')):
        site.store.add([Observation(memory(200 + i, caption, map_id='<u>map</u>', **texts))])
    page = look(site.address)
    eventually(page, 'document.querySelector("#count").textContent.startsWith("6 ")')
    results(page).get_by_text('<script>').first.wait_for()
    for made in site.store.all()[-3:]:
        page.goto(f'{site.address}/?memory={made.id}')
        page.locator('#memory h2').wait_for()
        page.get_by_text('<script>').first.wait_for()
        assert page.evaluate('document.documentElement.scrollWidth <= innerWidth')
    page.goto(f'{site.address}/?view=ask')
    page.get_by_role('textbox', name='Question').fill(f'Where is {SCRIPT}?')
    page.keyboard.press('Enter')
    page.get_by_role('list', name='Questions and answers').get_by_text('<script>').first.wait_for()
    assert page.title() != 'obeyed'
    assert page.locator('img[src="x"]').count() == 0


def test_a_page_that_is_open_for_a_day_does_not_grow(site: Open, look: Callable[..., Any]) -> None:
    page = settled(look(site.address))
    devtools = page.context.new_cdp_session(page)
    vector = HashingEmbedder().embed(['thing'])

    def heap() -> int:
        devtools.send('HeapProfiler.collectGarbage')
        return int(devtools.send('Runtime.getHeapUsage')['usedSize'])

    sizes, nodes = [], []
    for batch in range(BATCHES):
        first = 1_000 + batch * BATCH
        with page.expect_request_finished(lambda asked: '/api/track' in asked.url):
            site.store.put([Entry(memory(i), vector) for i in range(first, first + BATCH)])
        count = f'{3 + (batch + 1) * BATCH:,} '
        eventually(page, f'document.querySelector("#count").textContent.startsWith("{count}")')
        page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
        sizes.append(heap())
        nodes.append(page.evaluate('document.querySelectorAll("*").length'))
    # An answer that is just being read holds up to 1 MB for a moment; what leaks is there in each of them.
    assert min(sizes[-3:]) < GROWTH * sizes[FULL], sizes
    assert nodes[-1] < GROWTH * nodes[FULL], nodes
