"""Objects on the page: found, looked at, and corrected by a person."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timezone
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from remembr_ros.agent.build import AgentConfig, build_agent
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from remembr_ros.memory.objects.known import KnownObject
from remembr_ros.memory.objects.wording import sentence
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS
from remembr_ros.web.app import build_app
from remembr_ros.web.door.access import Access
from remembr_ros.web.door.door import Door
from remembr_ros.web.door.serving import WebServer
from remembr_ros.web.local import LocalBackend
from test.browser.served import SIZES, eventually, results, settled
from test.object_room import HOUR_NS, ROOM, VISITS, thing
from test.object_scene import T0

BACK_NS = VISITS[1][0]
MUG = thing(
    'cup',
    (1.3, -1.0, 0.0),
    (0.08, 0.08, 0.1),
    id='moved-cup',
    colour='blue',
    moves=((VISITS[0][1], BACK_NS, (-1.6, 1.2, 0.0), (0.0, 0.0, 0.0)),),
)
VASE = thing(
    'vase',
    (-1.2, -0.8, 0.0),
    (0.2, 0.2, 0.4),
    colour='white',
    intervals=VISITS[:1],
    absences=((BACK_NS, BACK_NS + 30 * NS),),
)
COLOURS = {'red': (40, 40, 200), 'blue': (200, 90, 40), 'green': (60, 150, 60), 'brown': (40, 80, 130)}


def observation(known: KnownObject) -> Observation:
    """Return an object with its sentence and a picture of its colour."""
    crop = np.full((90, 120, 3), COLOURS.get(known.facts.colour, (225, 225, 225)), np.uint8)
    crop[30:60, 45:75] = (len(known.id) * 20 % 255, 230, 230)
    memory = replace(known.memory, caption=sentence(known, 'table' if known.name == 'cup' else ''))
    return Observation(memory, (encode_jpeg(crop),))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with open_store(str(tmp_path / 'm.db'), HashingEmbedder()) as store:
        for i in range(4):
            start = T0 + 900 * i * NS
            seen = (memory_id('robbie', 'captioner', start), 'robbie', start, start + 5 * NS)
            store.add([Observation(Memory(*seen, 'A kitchen with a window.', Pose(i - 1.5, 2.0)))])
        store.add([observation(one) for one in (*ROOM, MUG, VASE)])
        yield store


@pytest.fixture
def address(store: MemoryStore) -> Iterator[str]:
    backend = LocalBackend(
        'kitchen.db',
        store,
        build_agent(store, AgentConfig(), keyframes=store),
        writable=True,
        grid=None,
        now=lambda: T0 + 5 * HOUR_NS,
        zone=timezone.utc,
    )
    door, access = Door(port=0), Access({})
    server = WebServer(door, access)
    server.start(build_app(backend, access))
    yield server.url.rstrip('/')
    server.stop()


def button(page: Any, name: str) -> Any:
    return page.locator('#memory').get_by_role('button', name=name)


def test_an_object_is_found_looked_at_and_called_what_a_person_says(address: str, look) -> None:
    page = settled(look(f'{address}/?view=search&q=blue+cup'))
    first = results(page).first
    first.get_by_text('A blue cup').wait_for()
    assert 'Object' in first.inner_text()
    first.locator('img').wait_for()
    first.click()
    page.locator('#memory h2', has_text='cup').wait_for()
    eventually(page, 'document.querySelector("#memory .large img").naturalWidth > 0')
    history = page.get_by_role('list', name='History').get_by_role('listitem')
    assert 'Seen 15 Nov' in history.first.inner_text()
    assert history.filter(has_text='Moved from (-0.3, 0.2) to (1.3, -1.0)').count() == 1
    assert 'blue' in page.locator('#memory dl.facts').inner_text()

    button(page, 'Rename').click()
    page.get_by_role('dialog').get_by_role('textbox').fill("Anna's mug")
    page.get_by_role('dialog').get_by_role('button', name='Rename').click()
    page.locator('#memory h2', has_text="Anna's mug").wait_for()
    page.locator('#memory dl.facts', has_text='Recognised as').wait_for()
    # Nothing else of the page has to be loaded anew, and its old name finds it as well.
    page.get_by_role('button', name='Back to the list').click()
    results(page).filter(has_text="Anna's mug").wait_for()
    for name in ("Anna's mug", 'blue cup'):
        page.goto(f'{address}/?view=search&q={name}')
        results(page).filter(has_text="Anna's mug").wait_for()


def test_a_person_says_what_is_gone_what_is_one_and_what_is_none(address: str, look) -> None:
    page = settled(look(f'{address}/?memory=moved-cup'))
    button(page, 'Not there any more').click()
    page.locator('#memory dl.facts', has_text='gone since').wait_for()
    button(page, 'It is there').click()
    page.locator('#memory dl.facts', has_text='seen last').wait_for()

    button(page, 'Another thing since then').click()
    eventually(page, '!document.querySelector("#memory").innerText.includes("Moved from")')
    button(page, 'Same as').click()
    dialog = page.get_by_role('dialog')
    dialog.get_by_role('radio').nth(1).wait_for()
    assert dialog.get_by_role('radio').count() == 2
    dialog.get_by_role('radio').first.check()
    dialog.get_by_role('button', name='They are one').click()
    page.locator('#toast', has_text='remembers').wait_for()

    page.goto(f'{address}/?memory=vase')
    page.locator('#memory dl.facts', has_text='gone since').wait_for()
    assert button(page, 'It is there').count() == 0
    button(page, 'No such thing').click()
    page.get_by_role('dialog').get_by_role('button', name='Delete').click()
    page.wait_for_url(lambda url: 'memory=' not in url)
    page.goto(f'{address}/?view=search&q=vase')
    results(page).first.wait_for()
    assert results(page).filter(has_text='vase').count() == 0


def test_how_an_object_lies_to_others_is_said_and_leads_to_them(address: str, look) -> None:
    page = settled(look(f'{address}/?memory=cup'))
    page.locator('#memory dl.facts', has_text='on the table').wait_for()
    page.locator('#memory dl.facts').get_by_role('link', name='table').click()
    page.locator('#memory h2', has_text='table').wait_for()


def test_the_map_shows_what_changed_since_a_time(address: str, look) -> None:
    page = settled(look(address))
    asked: list[str] = []
    page.on('request', lambda request: asked.append(request.url) if '/api/objects?' in request.url else None)
    page.get_by_label('Changed since').fill('2023-11-14T23:30')
    page.wait_for_url('**changed=2023-11-14T23:30:00Z*')
    eventually(page, 'document.querySelector("#map canvas") !== null')
    page.wait_for_timeout(500)
    assert any('changed_since=2023-11-14T23' in url for url in asked)
    # A click on what is in the middle opens it.
    page.goto(f'{address}/?x=1.3&y=-1&zoom=7')
    settled(page)
    page.wait_for_timeout(800)
    page.locator('#map canvas').click()
    page.locator('#memory h2', has_text='cup').wait_for()
    page.get_by_role('button', name='Show all objects').wait_for(state='hidden')


@pytest.mark.parametrize('size', SIZES)
def test_no_object_is_wider_than_the_screen_and_every_button_can_be_reached(
    address: str, look, size: str
) -> None:
    page = settled(look(f'{address}/?memory=moved-cup', size))
    button(page, 'Rename').wait_for()
    for name in ('Rename', 'Not there any more', 'Same as', 'No such thing', 'Another thing since then'):
        button(page, name).scroll_into_view_if_needed()
        box = button(page, name).bounding_box()
        assert box['x'] >= 0
        assert box['x'] + box['width'] <= SIZES[size]['width']
        assert box['y'] + box['height'] <= SIZES[size]['height']
        button(page, name).click(trial=True)
    assert page.evaluate('document.documentElement.scrollWidth') <= SIZES[size]['width']
    assert page.evaluate('document.querySelector("#opened").scrollWidth') <= SIZES[size]['width']
