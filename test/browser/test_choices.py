"""What a person chooses among on the page, and what it says of what it is not sure of."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timezone
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.agent.build import AgentConfig, build_agent
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS
from remembr_ros.web.app import build_app
from remembr_ros.web.door.access import Access
from remembr_ros.web.door.door import Door
from remembr_ros.web.door.serving import WebServer
from remembr_ros.web.local import LocalBackend
from test.browser.served import eventually, results, settled
from test.patience import holds_within, patiently

T0 = 1_700_000_000 * NS  # 22:13 of a Tuesday


def memory(i: int, caption: str, x: float = 0.0, robot: str = 'anna', source: str = 'captioner') -> Memory:
    start = T0 + 10 * i * NS
    return Memory(
        memory_id(robot, source, start), robot, start, start + 3 * NS, caption, Pose(x, 0.0), source=source
    )


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with open_store(str(tmp_path / 'm.db'), HashingEmbedder()) as store:
        yield store


@pytest.fixture
def address(store: MemoryStore) -> Iterator[str]:
    backend = LocalBackend(
        'm.db',
        store,
        build_agent(store, AgentConfig(), keyframes=store),
        writable=True,
        grid=None,
        now=lambda: T0 + 10_000 * NS,
        zone=timezone.utc,
    )
    door, access = Door(port=0), Access({})
    server = WebServer(door, access)
    server.start(build_app(backend, access))
    yield server.url.rstrip('/')
    server.stop()


def told(page: Any, path: str, **changed: Any) -> None:
    """Have the server say something else of memories, by their caption and in this order, or by name."""

    def answer(route: Any) -> None:
        found = route.fetch().json()
        names = list(changed)
        for hit in found.get('memories', []):
            hit.update(changed[hit['caption']])
        found.get('memories', []).sort(key=lambda hit: names.index(hit['caption']))
        found.update({name: value for name, value in changed.items() if name in found})
        route.fulfill(status=200, content_type='application/json', body=json.dumps(found))

    page.route(path, answer)


SURE = {'sureness': 'surely', 'sentence': 'A red mug.'}
LIKELY = {'sureness': 'likely'}
WEAK = {'sureness': 'perhaps', 'sentence': 'A blue mug.'}


@pytest.fixture
def search(store: MemoryStore, address: str, look: Callable[..., Any]) -> Callable[[str], Any]:
    """Search mugs of which one is surely, one likely and one perhaps what is asked, and a note hardly."""
    store.add([Observation(memory(0, 'A red mug.'))])
    store.add([Observation(memory(1, 'A green mug.', 20.0))])
    store.add([Observation(memory(2, 'A blue mug.', 40.0))])
    store.add([Observation(memory(3, 'Mugs go left.', 60.0, source='person'))])

    def search(query: str) -> Any:
        page = settled(look(address))
        note = {'sureness': 'hardly', 'sentence': 'Mugs go left.'}
        told(
            page,
            '**/api/recall?*',
            **{'A red mug.': SURE, 'A green mug.': LIKELY, 'A blue mug.': WEAK, 'Mugs go left.': note},
        )
        page.goto(f'{address}/?view=search&{query}')
        settled(page)
        results(page).first.wait_for()
        return page

    return search


def captions(page: Any) -> list[str]:
    return results(page).locator('.card-text').all_inner_texts()


def test_what_is_less_than_likely_is_not_shown_as_found(search: Callable[[str], Any]) -> None:
    page = search('q=mug')
    words = results(page).locator('.sureness').all_inner_texts()
    assert words == ['Surely a match', 'Likely a match', 'Hardly a match', 'Perhaps a match']
    assert results(page).locator('mark').all_inner_texts() == ['A red mug.', 'A green mug.']


def test_nothing_is_lit_where_nothing_is_likely(search: Callable[[str], Any]) -> None:
    page = search('q=mug')
    canvas = 'document.querySelector("#timeline canvas")'

    def drawn() -> str:
        """Return the timeline of the page when it comes, with what it tells and what the results light."""
        # Its frame is drawn before that is there: of a page that is slow it would be another picture.
        with page.expect_response('**/api/activity?*'):
            page.goto(page.url)
        settled(page)
        results(page).first.wait_for()
        eventually(page, '!document.querySelector("#search-results").hasAttribute("aria-busy")')
        pixels = f'getContext("2d").getImageData(0, 0, {canvas}.width, {canvas}.height).data'
        eventually(page, f'{canvas}.{pixels}.some(Boolean)')
        page.evaluate('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))')
        return str(page.evaluate(f'{canvas}.toDataURL()'))

    with_lit = drawn()
    page.unroute('**/api/recall?*')
    weak = {name: {'sureness': 'perhaps'} for name in ('A red mug.', 'A green mug.', 'A blue mug.')}
    told(page, '**/api/recall?*', **weak, **{'Mugs go left.': {'sureness': 'hardly'}})
    without = drawn()
    assert with_lit != without
    page.get_by_role('searchbox').fill('')
    page.wait_for_url(lambda url: 'q=' not in url)
    page.locator('.search-status').get_by_text('Newest first').wait_for()
    eventually(page, f'{canvas}.toDataURL() === {json.dumps(without)}')


def test_notes_come_before_what_hardly_fits_and_the_newest_may_come_first(
    search: Callable[[str], Any],
) -> None:
    page = search('q=mug')
    assert captions(page) == ['A red mug.', 'A green mug.', 'Mugs go left.', 'A blue mug.']
    page.get_by_label('Order').select_option('Newest first')
    page.wait_for_url('**order=newest*')
    eventually(page, 'document.querySelector(".card-text").textContent === "A green mug."')
    assert captions(page) == ['A green mug.', 'A red mug.', 'Mugs go left.', 'A blue mug.']
    again = search('q=mug&order=newest')
    assert captions(again) == ['A green mug.', 'A red mug.', 'Mugs go left.', 'A blue mug.']


def test_one_of_several_alike_is_listed(store: MemoryStore, address: str, look: Callable[..., Any]) -> None:
    for i in range(4):
        store.add([Observation(memory(2 * i, 'A long corridor.', i / 2))])
        store.add([Observation(memory(2 * i + 1, f'Door {i}.', i / 2))])
    store.add([Observation(memory(20, 'A long corridor.', 50.0))])
    page = settled(look(address))
    fold = page.get_by_text('and 3 more like this')
    fold.wait_for()
    assert captions(page).count('A long corridor.') == 2  # the other one is far away
    fold.click()
    assert captions(page).count('A long corridor.') == 5
    fold.click()
    assert captions(page).count('A long corridor.') == 2


def test_the_list_follows_the_map(store: MemoryStore, address: str, look: Callable[..., Any]) -> None:
    for i in range(5):
        store.add([Observation(memory(i, f'Door {i}.', 20.0 * i))])
    page = settled(look(address))
    results(page).nth(4).wait_for()
    page.goto(f'{address}/?x=40&y=0&zoom=6')
    page.get_by_text('in this part of the map, 1 memory').wait_for()
    assert captions(page) == ['Door 2.']
    page.locator('#map canvas').focus()
    for _ in range(3):
        page.keyboard.press('-')
    eventually(page, 'document.querySelectorAll("#search-results .card").length === 3')
    page.goto(f'{address}/?x=-500&y=0&zoom=6')
    page.get_by_role('button', name='Show everything').last.click()
    results(page).nth(4).wait_for()
    assert 'zoom' not in page.url


def test_the_list_is_of_the_map_that_is_chosen(
    store: MemoryStore, address: str, look: Callable[..., Any]
) -> None:
    for i, floor in enumerate(('ground', 'first')):
        store.add([Observation(replace(memory(i, f'Door of the {floor} floor.'), map_id=floor))])
    page = settled(look(address))
    results(page).nth(1).wait_for()  # nobody has chosen a map
    for floor in ('ground', 'first'):
        page.get_by_label('Which map').select_option(floor)
        eventually(page, 'document.querySelectorAll("#search-results .card").length === 1')
        results(page).get_by_text(f'Door of the {floor} floor.').wait_for()


ANSWER = {
    'question': 'q',
    'text': 'So it is.',
    'binary': None,
    'position': None,
    'yaw': 0.0,
    'time': '2023-11-14T22:13:20Z',
    'minutes_ago': 1.0,
    'duration_minutes': None,
    'evidence': [],
    'every_place': False,
    'planner': 'offline',
    'llm_calls': 0,
    'prompt_tokens': 0,
    'completion_tokens': 0,
    'latency_sec': 0.1,
}


@pytest.mark.parametrize(
    ('answer', 'headline'),
    [
        ({'kind': 'binary', 'binary': True, 'confidence': 0.5}, 'Yes'),
        ({'kind': 'binary', 'binary': True, 'confidence': 0.49}, 'Perhaps yes'),
        ({'kind': 'binary', 'binary': False, 'confidence': 0.0}, 'Perhaps not'),
        ({'kind': 'not_seen', 'confidence': 0.3}, 'Perhaps not seen'),
        ({'kind': 'position', 'position': [1.0, 2.0, 0.0], 'confidence': 0.9}, '(1.0, 2.0)'),
        ({'kind': 'position', 'position': [1.0, 2.0, 0.0], 'confidence': 0.2}, 'Perhaps here: (1.0, 2.0)'),
        ({'kind': 'duration', 'duration_minutes': 1.0, 'confidence': 0.2}, 'Perhaps 60 s'),
        ({'kind': 'text', 'position': [1.0, 2.0, 0.0], 'confidence': 0.9}, None),
    ],
)
def test_an_answer_that_may_be_wrong_says_perhaps(
    address: str, look: Callable[..., Any], answer: dict[str, Any], headline: str | None
) -> None:
    page = settled(look(address))
    exchange = {
        'id': 'e',
        'question': 'q',
        'asker': 'local',
        'at': '2023-11-14T22:13:20Z',
        'stage': 'answered',
        'detail': '',
        'memories_found': 0,
        'answer': {**ANSWER, **answer},
        'error': '',
        'own': True,
    }
    told(page, '**/api/exchanges', exchanges=[exchange])
    page.goto(f'{address}/?view=ask')
    page.get_by_text('So it is.').wait_for()
    assert page.locator('.headline').all_inner_texts() == ([] if headline is None else [headline])


def test_an_answer_about_several_places_says_how_many(
    store: MemoryStore, address: str, look: Callable[..., Any]
) -> None:
    for i in range(3):
        store.add([Observation(memory(i, 'A red mug.', 20.0 * i))])
    page = settled(look(f'{address}/?view=ask'))
    for question, headline in (('Where are all the red mugs?', '3 places'), ('Where is a red mug?', '(')):
        page.get_by_role('textbox', name='Question').fill(question)
        page.keyboard.press('Enter')
        answer = page.locator('.exchange').filter(has_text=question)
        answer.locator('.headline').filter(has_text=headline).wait_for()


def test_without_a_robot_it_is_said_how_one_can_go_there(
    store: MemoryStore, address: str, look: Callable[..., Any]
) -> None:
    store.add([Observation(memory(0, 'A red mug.'))])
    page = settled(look(f'{address}/?memory={store.all()[0].id}'))
    how = 'ros2 launch remembr_ros bringup.launch.py web:=true'
    page.locator('#memory').get_by_text(how).wait_for()
    page.locator('#map canvas').focus()
    page.keyboard.press('m')
    item = page.get_by_role('menuitem').filter(has_text=how)
    assert item.get_attribute('aria-disabled') == 'true'
    page.keyboard.press('ArrowUp')  # to the last, and on to the one before
    page.keyboard.press('ArrowUp')
    page.keyboard.press('Enter')
    assert page.get_by_role('button', name='Go there').count() == 0
    assert page.get_by_role('menuitem', name='Go here').count() == 0


def test_the_days_of_the_window_are_told_and_lead_to_map_and_timeline(
    store: MemoryStore, address: str, look: Callable[..., Any]
) -> None:
    for i in range(60):
        store.add([Observation(memory(i, 'A corridor.', max(0.0, i - 30.0)))])
    page = settled(look(f'{address}/?view=day'))
    episodes = page.locator('.episode')
    page.get_by_role('heading', name=re.compile('Tuesday,? 14 November 2023')).wait_for()
    assert 'Stood at (0.0, 0.0)' in episodes.first.inner_text()
    assert 'A corridor.' in episodes.first.inner_text()
    assert 'Drove' in episodes.nth(1).inner_text()
    number = episodes.count()
    map_ = 'document.querySelector("#map canvas").toDataURL()'
    before = page.evaluate(map_)
    episodes.first.click()
    page.wait_for_url('**after=2023-11-14T22:13:20Z*')
    eventually(page, 'document.querySelector(".episode[aria-current]") !== null')
    assert episodes.count() == number  # the day stays, what was chosen of it is marked
    eventually(page, f'{map_} !== {json.dumps(before)}')
    again = settled(look(page.url))
    again.locator('.episode[aria-current]').wait_for()
    empty = '?view=day&after=2020-01-01T00:00:00Z&before=2020-01-01T10:00:00Z'
    look(f'{address}/{empty}', forgiven='404').get_by_text('there are memories of 2023-11-14').wait_for()


def test_several_robots_each_have_a_colour(
    store: MemoryStore, address: str, look: Callable[..., Any]
) -> None:
    for i, robot in enumerate(('anna', 'bert', 'cleo')):
        store.add([Observation(memory(i, f'Seen by {robot}.', 10.0 * i, robot))])
    page = settled(look(address, forgiven='Canvas2D'))  # which is read again and again here
    legend = page.get_by_role('list', name='Colours of robots').get_by_role('listitem')
    legend.nth(2).wait_for()
    colours = legend.evaluate_all(
        'all => all.map((one) => getComputedStyle(one, "::before").backgroundColor)'
    )
    assert len(set(colours)) == 3
    drawn = f"""(() => {{ const c = document.querySelector('#map canvas');
        const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        const seen = new Set();
        for (let i = 0; i < d.length; i += 4) seen.add(`rgb(${{d[i]}}, ${{d[i + 1]}}, ${{d[i + 2]}})`);
        return {json.dumps(colours)}.every((each) => seen.has(each)); }})()"""
    eventually(page, drawn)
    for robot in ('anna', 'cleo'):
        page.get_by_label('Robot', exact=True).select_option(robot)
    eventually(page, 'location.search.includes("robot=anna&robot=cleo")')
    eventually(page, 'document.querySelectorAll("#search-results .card").length === 2')
    assert captions(page) == ['Seen by cleo.', 'Seen by anna.']
    assert legend.all_inner_texts() == ['anna', 'cleo']
    page.get_by_role('button', name='Remove filter: anna').click()
    eventually(page, 'document.querySelectorAll("#search-results .card").length === 1')
    assert legend.count() == 0


@pytest.fixture
def old_tour(store: MemoryStore, address: str, look: Callable[..., Any]) -> Any:
    """Show a tour of ten minutes, and a note eight months later."""
    for i in range(60):
        store.add([Observation(memory(i, 'A corridor.', float(i)))])
    store.add([Observation(memory(2_108_160, 'A note.', source='person'))])
    page = settled(look(address))
    page.locator('#count').get_by_text('61 memories').wait_for()
    whole = lambda told: gap_of(told) and any('1 stored' in said for said in told)  # noqa: E731
    assert holds_within(patiently(10), lambda: whole(told_along(page))), 'nothing is left out, or no bars'
    return page


def told_at(page: Any, share: float) -> str:
    """Return what the timeline tells when one points at this share of its width."""
    box = page.locator('#timeline canvas').bounding_box()
    page.mouse.move(box['x'] + share * box['width'], box['y'] + 30)
    said: str = page.locator('#timeline output').text_content()
    return said


def told_along(page: Any) -> list[str]:
    """Return what the timeline tells at 200 places, of which a mouse would reach but a few a second."""
    said: list[str] = page.evaluate(
        """() => {
        const canvas = document.querySelector('#timeline canvas');
        const { left, top, width } = canvas.getBoundingClientRect();
        return Array.from({ length: 200 }, (_, i) => {
            const at = { clientX: left + (i / 200) * width, clientY: top + 30 };
            canvas.dispatchEvent(new PointerEvent('pointermove', at));
            return document.querySelector('#timeline output').textContent; }); }"""
    )
    return said


def gap_of(told: list[str]) -> list[str]:
    return [said for said in told if 'without' in said]


def test_the_timeline_leaves_out_months_without_a_memory(old_tour: Any) -> None:
    told = told_along(old_tour)
    gap = gap_of(told)
    assert 5 < len(gap) < 20
    assert gap[0] == (
        '8 months without a memory, from Tue, 14 Nov 2023, 22:23:13 to Mon, 15 Jul 2024, 22:13:20'
    )
    assert told[100].startswith('Tue, 14 Nov 2023, 22:19')
    assert any(said.startswith('Mon, 15 Jul 2024') and '1 stored' in said for said in told)


def test_the_window_of_time_goes_over_what_is_left_out(old_tour: Any) -> None:
    page = old_tour
    canvas = page.locator('#timeline canvas')

    def chosen() -> str:
        return str(canvas.get_attribute('aria-valuetext'))

    canvas.press('Home')
    page.wait_for_url('**after=2023-11-14T22:13:20Z*')
    for _ in range(11):
        canvas.press('ArrowRight')
    assert chosen().startswith('Mon, 15 Jul 2024')
    assert 'after=2024-07-15T22:1' in page.url
    canvas.press('ArrowLeft')
    canvas.press('ArrowLeft')
    assert chosen().startswith('Tue, 14 Nov 2023, 22:2')
    page.goto(f'{page.url.split("?")[0]}?after=2023-11-14T22:20:00Z&before=2024-07-15T22:14:00Z')
    settled(page)
    eventually(page, 'document.querySelectorAll("#search-results .card").length > 1')
    assert holds_within(patiently(10), lambda: told_at(page, 0.5).startswith('Tue, 14 Nov 2023, 22:2'))


def test_folded_and_real_time_belong_together(old_tour: Any) -> None:
    off = old_tour.evaluate(
        """async () => {
        const { foldedTime } = await import('/page/timeline_folds.js');
        const day = 86400;
        const { fold, unfold, unfolded } = foldedTime({ first: 0, last: 400 * day,
            gaps: [[day, 200 * day], [201 * day, 399 * day]] });
        const times = Array.from({ length: 4000 }, (_, i) => (i - 100) * day / 8);
        const off = Math.max(...times.map((t) => Math.abs(unfold(fold(t)) - t)));
        const falls = times.some((t, i) => i && fold(t) <= fold(times[i - 1]));
        const [a, b, c] = unfolded(fold(0), fold(400 * day));
        const shown = a[1] > day && b[0] < 200 * day && b[1] > 201 * day && c[0] < 399 * day;
        return [off < 0.001, falls, shown, fold(400 * day) - fold(0) < 5 * day]; }"""
    )
    assert off == [True, False, True, True]
