"""Deeds on the page: told by a person, found, and in the list of the day."""

from collections.abc import Iterator
from datetime import timezone
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.agent.build import AgentConfig, build_agent
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS
from remembr_ros.web.app import build_app
from remembr_ros.web.door.access import Access
from remembr_ros.web.door.door import Door
from remembr_ros.web.door.serving import WebServer
from remembr_ros.web.local import LocalBackend
from test.browser.served import SIZES, eventually, results, settled
from test.object_room import thing
from test.object_scene import T0


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with open_store(str(tmp_path / 'm.db'), HashingEmbedder()) as store:
        seen = (memory_id('robbie', 'captioner', T0), 'robbie', T0, T0 + 600 * NS)
        cup = thing('cup', (0.2, 0.1, 0.76), (0.08, 0.08, 0.1), intervals=((T0, T0 + NS),))
        kitchen = Memory(*seen, 'A kitchen with a window.', Pose(1.0, 2.0))
        store.add([Observation(kitchen), Observation(cup.memory)])
        for i in range(8):
            about = {'kind': 'open', 'object': f'drawer {i}', 'outcome': 'failed' if i == 1 else 'succeeded'}
            done = deed(T0 + (60 * i + 1) * NS, pose=Pose(1.0, 2.0), **about)
            store.add([Observation(done.memory('robbie'))])
        yield store


@pytest.fixture
def address(store: MemoryStore) -> Iterator[str]:
    backend = LocalBackend(
        'kitchen.db',
        store,
        build_agent(store, AgentConfig(), keyframes=store),
        writable=True,
        grid=None,
        now=lambda: T0 + 590 * NS,
        zone=timezone.utc,
    )
    door, access = Door(port=0), Access({})
    server = WebServer(door, access)
    server.start(build_app(backend, access))
    yield server.url.rstrip('/')
    server.stop()


def write(page: Any) -> Any:
    """Return the dialog of a note about what is in the middle of the map."""
    page.locator('#map canvas').focus()
    page.keyboard.press('m')
    page.get_by_role('menuitem', name='Leave a note here').click()
    return page.get_by_role('dialog')


def test_a_deed_is_told_found_and_of_the_day(address: str, store: MemoryStore, look) -> None:
    page = settled(look(address))
    dialog = write(page)
    assert not dialog.get_by_label('Object').is_visible()
    dialog.get_by_label('The robot did this itself').check()
    dialog.get_by_label('Kind').fill('pick')
    dialog.get_by_label('Object').fill('cup')
    dialog.get_by_label('From, on or in what').fill('table')
    dialog.get_by_label('Outcome').select_option('failed')
    dialog.get_by_role('button', name='Add the note').click()
    page.locator('#toast', has_text='remembers that it did this').wait_for()

    page.goto(f'{address}/?view=search&q=pick+the+cup')
    card = results(page).filter(has_text='Failed to pick the cup from the table')
    card.wait_for()
    assert "Robot's own deed" in card.inner_text()
    card.click()
    facts = page.locator('#memory dl.facts')
    facts.get_by_text('failed').wait_for()
    assert [*map(str.strip, facts.locator('dd').all_inner_texts())][:4] == ['pick', 'cup', 'table', 'failed']
    facts.get_by_role('link', name='cup').click()
    page.locator('#memory h2', has_text='cup').wait_for()

    page.goto(f'{address}/?view=day')
    done = page.get_by_role('list', name='Deeds').get_by_role('link')
    done.first.wait_for()
    page.locator('#day').get_by_text('and 3 more').click()
    told = done.filter(has_text='Failed to pick the cup from the table')
    told.scroll_into_view_if_needed()
    assert told.locator('.error .icon').is_visible()
    assert '22:23:10' in told.locator('time').inner_text()
    assert done.filter(has_text='Opened the drawer 3').locator('.error').count() == 0
    told.press('Enter')
    page.locator('#memory h2').wait_for()
    assert len(store.all()) == 11


def test_a_deed_needs_a_kind_or_words_and_a_note_needs_words(address: str, store: MemoryStore, look) -> None:
    page = settled(look(address))
    dialog = write(page)
    add = dialog.get_by_role('button', name='Add the note')
    dialog.get_by_label('The robot did this itself').check()
    dialog.get_by_label('Object').fill('cup')
    add.click()
    assert dialog.is_visible()
    dialog.get_by_label('What the robot should remember').fill('Wiped the cup.')
    dialog.get_by_label('The robot did this itself').uncheck()
    add.click()
    page.locator('#toast', has_text='The note is stored').wait_for()
    assert [one.source for one in store.all() if 'Wiped' in one.caption] == ['person']


def test_a_deed_that_stands_for_several_says_how_many(address: str, store: MemoryStore, look) -> None:
    times = ((T0, T0 + NS), (T0 + 2 * NS, T0 + 3 * NS))
    done = deed(T0, T0 + 3 * NS, kind='go', place='hall', outcome='succeeded', times=times)
    store.add([Observation(done.memory('robbie'))])
    page = settled(look(f'{address}/?memory={done.memory("robbie").id}'))
    page.locator('#memory dl.facts', has_text='2 times that it did this').wait_for()


@pytest.mark.parametrize('size', SIZES)
def test_no_deed_is_wider_than_the_screen(address: str, look, size: str) -> None:
    page = settled(look(f'{address}/?view=day', size))
    page.get_by_role('list', name='Deeds').first.wait_for()
    eventually(page, f'document.documentElement.scrollWidth <= {SIZES[size]["width"]}')
    assert page.evaluate('document.querySelector("#day").scrollWidth') <= SIZES[size]['width']
