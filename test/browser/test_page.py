"""Every view of the page, on what the robot of the demo remembers, driven and read by axe-core."""

import os
import re
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from test.browser.served import PATIENCE_S, SIZES, Served, eventually, results, settled

PICTURE = Path(__file__).resolve().parents[2] / 'docs' / 'page.png'
ALIKE = 0.9  # correlation of the picture in docs with what the page shows now; fonts differ between machines
VIEWS = {
    'map': '',
    'search': '?view=search&q=lift',
    'place': '?view=search&near=6,11&radius=3',
    'day': '?view=day',
    'ask': '?view=ask',
    'state': '?view=state',
}


def test_the_first_view_has_the_map_the_timeline_and_the_newest_memories(building_page: Served, look) -> None:
    page = settled(look(building_page.address))
    assert page.locator('#count').inner_text() == '38 memories'
    results(page).first.wait_for()
    assert 'RECEPTION' in results(page).first.inner_text()
    # The map is drawn: walls, way and dots are no single colour.
    colours = page.evaluate(
        """() => { const c = document.querySelector('#map canvas');
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        const seen = new Set();
        for (let i = 0; i < d.length; i += 40) seen.add(`${d[i] >> 4},${d[i + 1] >> 4},${d[i + 2] >> 4}`);
        return seen.size; }"""
    )
    assert colours > 5


def test_what_is_typed_is_searched_and_stands_in_the_address(building_page: Served, look) -> None:
    page = settled(look(building_page.address))
    page.get_by_role('searchbox', name='Search what was seen').press_sequentially('lift', delay=10)
    page.wait_for_url('**q=lift*')
    page.get_by_text('Best match first').wait_for()
    first = results(page).first
    assert 'LIFT' in first.inner_text()
    first.locator('img').wait_for()
    eventually(page, 'document.querySelector("#search-results img").naturalWidth > 0')
    # The same address shows the same, in another window.
    again = settled(look(page.url))
    again.get_by_text('Best match first').wait_for()
    assert results(again).first.inner_text() == first.inner_text()


def test_a_memory_opens_turns_and_can_be_shared(building_page: Served, look) -> None:
    page = settled(look(f'{building_page.address}/?view=search&q=lift'))
    results(page).first.click()
    page.wait_for_url('**memory=*')
    title = page.locator('#memory h2')
    title.wait_for()
    assert '09:01:42' in title.inner_text()
    eventually(page, 'document.querySelector("#memory .large img").naturalWidth > 0')
    shared = page.url
    page.get_by_role('button', name='Earlier').click()
    eventually(page, '!document.querySelector("#memory h2").textContent.includes("09:01:42")')
    page.go_back()
    eventually(page, 'document.querySelector("#memory h2").textContent.includes("09:01:42")')
    page.get_by_role('button', name='Back to the list').click()
    results(page).first.wait_for()
    other = settled(look(shared))
    other.locator('#memory h2').wait_for()
    assert '09:01:42' in other.locator('#memory h2').inner_text()


def test_what_was_seen_at_a_place_is_listed_nearest_first(building_page: Served, look) -> None:
    page = settled(look(f'{building_page.address}/{VIEWS["place"]}'))
    results(page).first.wait_for()
    assert 'LIFT' in results(page).first.inner_text()
    page.get_by_role('button', name=re.compile('Remove filter')).first.click()
    eventually(page, '!location.search.includes("near")')


def test_a_question_is_answered_with_evidence_that_opens(building_page: Served, look) -> None:
    page = settled(look(f'{building_page.address}/?view=ask'))
    field = page.get_by_role('textbox', name='Question')
    field.fill('Where is the lift?')
    field.press('Enter')
    evidence = page.get_by_role('list', name='Evidence').last.get_by_role('link')
    evidence.first.wait_for()
    assert 'LIFT' in page.get_by_role('list', name='Questions and answers').inner_text()
    evidence.first.click()
    page.locator('#memory h2').wait_for()
    # Whoever looks, too, sees what was asked.
    other = settled(look(f'{building_page.address}/?view=ask'))
    other.get_by_text('Where is the lift?').first.wait_for()


def test_the_day_is_narrowed_down_in_two_clicks(building_page: Served, look) -> None:
    page = settled(look(building_page.address))
    page.locator('#timeline').get_by_role('button', name='Last hour').click()
    page.wait_for_url('**after=*')


def test_the_state_of_the_parts_is_told(building_page: Served, look) -> None:
    page = settled(look(f'{building_page.address}/?view=state'))
    parts = page.get_by_role('list', name='Parts')
    parts.get_by_role('listitem').first.wait_for()
    assert 'offline' in parts.inner_text().lower()


def test_it_works_by_keyboard(building_page: Served, look) -> None:
    page = settled(look(building_page.address))
    page.locator('#map canvas').focus()
    for key in ('+', 'ArrowLeft', 'ArrowUp', '-', '0', 'Enter'):
        page.keyboard.press(key)
    page.wait_for_url('**near=*')
    page.get_by_role('button', name=re.compile('Remove filter')).first.press('Enter')
    results(page).nth(1).wait_for()
    field = page.get_by_role('searchbox', name='Search what was seen')
    field.press_sequentially('lift')
    # What is typed on the way there is answered, too, and each answer has other results.
    eventually(page, 'location.search.includes("q=lift")')
    results(page).first.locator('mark').filter(has_text='LIFT').wait_for()
    while not page.evaluate('document.activeElement.matches("#search-results a")'):
        page.keyboard.press('Tab')
    page.keyboard.press('Enter')
    page.wait_for_url('**memory=*')


@pytest.mark.parametrize('size', SIZES)
@pytest.mark.parametrize('scheme', ['light', 'dark'])
def test_axe_finds_nothing_serious(building_page: Served, look, size: str, scheme: str) -> None:
    axe = pytest.importorskip('axe_playwright_python.sync_playwright', reason='axe-core reads the page')
    page = settled(look(building_page.address, size, color_scheme=scheme))
    serious = {}
    for name, query in VIEWS.items():
        page.goto(f'{building_page.address}/{query}')
        settled(page)
        if name == 'day':
            page.locator('.episode').first.wait_for()
        if name in ('search', 'place') or (name == 'map' and size == 'desktop'):
            results(page).first.wait_for()
        serious[name] = problems(axe, page)
        if name == 'search':
            results(page).first.click()
            page.locator('#memory h2').wait_for()
            serious['memory'] = problems(axe, page)
    assert {name: found for name, found in serious.items() if found} == {}


def problems(axe: Any, page: Any) -> list[str]:
    found = axe.Axe().run(page).response['violations']
    return [
        f'{each["id"]}: {each["nodes"][0]["html"][:200]}'
        for each in found
        if each['impact'] in ('serious', 'critical')
    ]


def test_on_a_phone_each_view_has_the_screen(building_page: Served, look) -> None:
    page = settled(look(building_page.address, 'phone'))
    for name in ('Search', 'Day', 'Ask', 'State', 'Map'):
        page.get_by_role('tab', name=name).click()
        assert page.get_by_role('tab', name=name).get_attribute('aria-selected') == 'true'
        # Nothing is wider than the screen.
        assert page.evaluate('document.documentElement.scrollWidth') <= SIZES['phone']['width']


def test_the_picture_in_the_docs_is_of_this_page(building_page: Served, look, tmp_path: Path) -> None:
    page = settled(look(f'{building_page.address}/?view=search&q=lift'))
    results(page).first.wait_for()
    eventually(
        page,
        '[...document.querySelectorAll("#search-results img")].slice(0, 5).every((i) => i.naturalWidth > 0)',
    )
    shot = tmp_path / 'page.png'
    until, alike = time.monotonic() + PATIENCE_S, 0.0
    while alike < ALIKE and time.monotonic() < until:  # the map comes when it comes
        page.wait_for_timeout(500)
        page.screenshot(path=shot)
        if os.environ.get('REMEMBR_WRITE_PICTURES'):
            PICTURE.write_bytes(shot.read_bytes())
            continue
        there, now = (
            cv2.resize(cv2.imread(str(path), cv2.IMREAD_GRAYSCALE), (160, 100), interpolation=cv2.INTER_AREA)
            for path in (PICTURE, shot)
        )
        alike = float(np.corrcoef(there.ravel(), now.ravel())[0, 1])
    assert alike >= ALIKE or os.environ.get('REMEMBR_WRITE_PICTURES'), (
        f'{PICTURE.name} shows another page ({alike:.2f} alike): look at the page, and write it anew with '
        'REMEMBR_WRITE_PICTURES=1'
    )


@pytest.mark.parametrize('size', SIZES)
def test_the_kitchen_is_looked_at_without_a_map(kitchen_page: Served, look, size: str) -> None:
    page = settled(look(f'{kitchen_page.address}/?view=search&q=magazine', size))
    results(page).first.wait_for()
    results(page).first.click()
    page.locator('#memory h2').wait_for()
    eventually(page, 'document.querySelector("#memory .large img").naturalWidth > 0')
