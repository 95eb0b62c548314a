"""Places with names on the page: drawn, taken from the map, asked about, and taken away."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import timezone
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.agent.build import AgentConfig, build_agent
from remembr_ros.embedding.embedders import HashingEmbedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.places.place import place
from remembr_ros.memory.places.places import known_places
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS
from remembr_ros.web.app import build_app
from remembr_ros.web.door.access import Access, Right
from remembr_ros.web.door.door import Door
from remembr_ros.web.door.serving import WebServer
from remembr_ros.web.local import LocalBackend
from test.browser.served import SIZES, eventually, results, settled
from test.object_scene import T0
from test.unit.places.plans import grid_of, home

LOOK, ACT = 'L' * 20, 'A' * 20
VIEW = {'desktop': (5.7, 4.2, 6.0), 'phone': (5.7, 4.2, 4.9)}  # x and y of the middle, and log2 of px/m
KITCHEN = [(0.2, 5.2), (3.0, 5.2), (3.0, 8.3), (0.2, 8.3)]
SEEN = (
    [('A sofa in front of a shelf.', Pose(1.5 + 0.4 * i, 1.2), ()) for i in range(5)]
    + [(f'A white counter, drawer {i}.', Pose(1.4 + 0.1 * i, 5.9 + 0.2 * i), ()) for i in range(8)]
    + [('A bed under a window.', Pose(7.0 + 0.3 * i, 6.0), ('ROOM 117',)) for i in range(3)]
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    with open_store(str(tmp_path / 'm.db'), HashingEmbedder()) as store:
        for i, (caption, pose, texts) in enumerate(SEEN):
            start = T0 + 10 * i * NS
            seen = (memory_id('robbie', 'captioner', start), 'robbie', start, start + 9 * NS)
            store.add([Observation(Memory(*seen, caption, pose, scene_text=texts))])
        yield store


@contextmanager
def serving(store: MemoryStore, access: Access, *, mapped: bool = True) -> Iterator[str]:
    backend = LocalBackend(
        'home.db',
        store,
        build_agent(store, AgentConfig(), keyframes=store),
        writable=True,
        grid=grid_of(home())[0] if mapped else None,
        now=lambda: T0 + 400 * NS,
        zone=timezone.utc,
    )
    server = WebServer(Door(port=0), access)
    server.start(build_app(backend, access))
    yield server.url.rstrip('/')
    server.stop()


@pytest.fixture
def serve(store: MemoryStore) -> Iterator[Callable[..., str]]:
    with ExitStack() as ends:
        yield lambda access=None, **about: ends.enter_context(serving(store, access or Access({}), **about))


@pytest.fixture
def address(serve: Callable[..., str]) -> str:
    return serve()


def open_map(look: Callable[..., Any], address: str, size: str = 'desktop', **options: Any) -> Any:
    x, y, zoom = VIEW[size]
    page = settled(look(f'{address}/?x={x}&y={y}&zoom={zoom}', size, **options))
    page.wait_for_timeout(700)  # cells, track and grid
    return page


def spot(page: Any, x: float, y: float, size: str = 'desktop') -> dict[str, float]:
    """Return where on the map's canvas a place is."""
    at_x, at_y, zoom = VIEW[size]
    box = page.locator('#map canvas').bounding_box()
    scale = 2**zoom
    return {'x': box['width'] / 2 + (x - at_x) * scale, 'y': box['height'] / 2 - (y - at_y) * scale}


def click(page: Any, x: float, y: float, size: str = 'desktop', **how: Any) -> None:
    page.locator('#map canvas').click(position=spot(page, x, y, size), **how)


def choose(page: Any, item: str, x: float, y: float, size: str = 'desktop') -> None:
    """Choose in the menu of a place."""
    click(page, x, y, size, button='right')
    page.get_by_role('menuitem', name=item).click()


def draw(page: Any, corners: list[tuple[float, float]], size: str = 'desktop') -> Any:
    """Draw a place and return the dialog that asks for its name."""
    choose(page, 'Draw a place here', *corners[0], size)
    for corner in corners:
        click(page, *corner, size)
        page.wait_for_timeout(320)  # two in the time of a double click are one
    note(page).get_by_role('button', name='Done').click()
    return page.get_by_role('dialog')


def note(page: Any) -> Any:
    return page.locator('.map-note')


def named(store: MemoryStore) -> list[str]:
    return [one.name for one in known_places(store).all]


@pytest.mark.parametrize('size', SIZES)
def test_a_room_is_drawn_corner_by_corner_and_named(
    address: str, store: MemoryStore, look: Callable[..., Any], size: str
) -> None:
    page = open_map(look, address, size)
    before = page.evaluate('document.querySelector("#map canvas").toDataURL()')
    choose(page, 'Draw a place here', *KITCHEN[0], size)
    assert note(page).inner_text().startswith('Choose the corners, one after the other')
    assert note(page).get_by_role('button').count() == 1
    for i, corner in enumerate(KITCHEN):
        assert note(page).get_by_role('button', name='Done').count() == (i > 2)
        click(page, *corner, size)
        page.wait_for_timeout(320)
    assert page.evaluate('document.documentElement.scrollWidth') <= SIZES[size]['width']
    note(page).get_by_role('button', name='Done').click()
    dialog = page.get_by_role('dialog')
    dialog.get_by_label('Name, such as').fill('kitchen')
    dialog.get_by_label('also called').fill('galley, , cook house')
    dialog.get_by_role('button', name='Save').click()
    page.locator('#toast', has_text='The robot knows the kitchen now.').wait_for()

    (made,) = page.request.get(f'{address}/api/places').json()['places']
    assert (made['name'], made['other_names']) == ('kitchen', ['galley', 'cook house'])
    assert made['outline'] == [pytest.approx(corner, abs=0.05) for corner in KITCHEN]
    eventually(page, f'document.querySelector("#map canvas").toDataURL() !== {before!r}')
    page.wait_for_timeout(300)


@pytest.fixture
def kitchen(store: MemoryStore) -> None:
    store.name_places([place('kitchen', outline=KITCHEN, now_ns=T0)])


@pytest.mark.parametrize('size', SIZES)
@pytest.mark.usefixtures('kitchen')
def test_what_is_in_a_place_is_found_told_and_answered(
    address: str, look: Callable[..., Any], size: str
) -> None:
    page = open_map(look, address, size)
    click(page, 2.6, 8.0, size, button='right')
    page.get_by_role('menuitem', name='What is in the kitchen?').click()
    page.get_by_role('button', name='Remove filter: in the kitchen').wait_for()
    eventually(page, 'document.querySelectorAll("#search-results .card").length === 8')
    assert results(page).filter(has_text=') in the kitchen').count() == 8
    assert results(page).filter(has_text='away').count() == 0  # nobody asked how far they are from its middle
    results(page).first.click()
    page.locator('#memory dl.facts', has_text='in the kitchen').wait_for()
    page.goto(f'{address}/?view=search&place=kitchen')
    page.get_by_role('button', name='Remove filter: in the kitchen').click()
    results(page).filter(has_text='A sofa').first.wait_for()

    page.goto(f'{address}/?view=day')
    page.locator('.episode', has_text='in the kitchen').first.wait_for()

    page.goto(f'{address}/?view=ask')
    page.get_by_role('textbox', name='Question').fill('What is in the kitchen?')
    page.keyboard.press('Enter')
    page.locator('.exchange .answer', has_text='kitchen').first.wait_for()
    page.get_by_role('textbox', name='Question').fill('Which room were you in longest?')
    page.keyboard.press('Enter')
    page.locator('.exchange .answer', has_text='That was the kitchen').wait_for()


@pytest.mark.usefixtures('kitchen')
def test_a_name_is_taken_away_once_a_person_said_yes(
    address: str, store: MemoryStore, look: Callable[..., Any]
) -> None:
    page = open_map(look, address)
    other = open_map(look, address)  # of somebody else, who sees it go, too
    before = other.evaluate('document.querySelector("#map canvas").toDataURL()')
    choose(page, 'Remove the name kitchen', 2.6, 8.0)
    page.get_by_role('dialog').get_by_role('button', name='Keep it').click()
    assert named(store) == ['kitchen']
    choose(page, 'Remove the name kitchen', 2.6, 8.0)
    page.get_by_role('dialog').get_by_role('button', name='Remove').click()
    eventually(other, f'document.querySelector("#map canvas").toDataURL() !== {before!r}')
    assert named(store) == []
    assert len(store.all()) == len(SEEN)


@pytest.mark.parametrize('size', SIZES)
def test_a_room_that_the_map_shows_is_named_with_its_guess(
    address: str, store: MemoryStore, look: Callable[..., Any], size: str
) -> None:
    page = open_map(look, address, size, forgiven='400')
    choose(page, 'Show the rooms of this map', 10.2, 2.0, size)
    note(page).get_by_text('Choose a room').wait_for()
    page.wait_for_timeout(300)
    click(page, 8.0, 5.6, size)
    dialog = page.get_by_role('dialog')
    dialog.get_by_text('A guess: "ROOM 117" was read there 3 times.').wait_for()
    assert dialog.get_by_label('Name, such as').input_value() == 'ROOM 117'
    dialog.get_by_role('button', name='Save').click()
    page.locator('#announce', has_text='The robot knows ROOM 117').wait_for(state='attached')
    # The others stay on the map; of one nothing tells a name, and so there is none to accept.
    click(page, 2.0, 3.0, size)
    assert dialog.get_by_label('Name, such as').input_value() == ''
    assert dialog.get_by_text('A guess').count() == 0
    dialog.get_by_label('Name, such as').fill('room 117')
    dialog.get_by_role('button', name='Save').click()
    dialog.get_by_role('alert').get_by_text("there is a place called 'room 117' already").wait_for()
    assert dialog.get_by_label('Name, such as').input_value() == 'room 117'
    dialog.get_by_label('Name, such as').fill('living room')
    dialog.get_by_role('button', name='Save').click()
    page.locator('#announce', has_text='The robot knows the living room').wait_for(state='attached')
    page.wait_for_timeout(300)
    note(page).get_by_role('button', name='Close').click()
    assert note(page).is_hidden()
    assert sorted(named(store)) == ['ROOM 117', 'living room']


def test_a_place_that_crosses_itself_is_refused_and_can_be_mended(
    address: str, store: MemoryStore, look: Callable[..., Any]
) -> None:
    page = open_map(look, address, forgiven='400')
    dialog = draw(page, [KITCHEN[0], KITCHEN[2], KITCHEN[1], KITCHEN[3]])
    dialog.get_by_label('Name, such as').fill('kitchen')
    dialog.get_by_role('button', name='Save').click()
    dialog.get_by_role('alert').get_by_text('crosses').wait_for()
    dialog.get_by_role('button', name='Change its corners').click()
    note(page).get_by_text('4 corners').wait_for()
    note(page).get_by_role('button', name='Back').click()
    page.keyboard.press('Backspace')
    note(page).get_by_text('2 corners').wait_for()
    click(page, *KITCHEN[3])
    note(page).get_by_role('button', name='Done').click()
    dialog.get_by_label('Name, such as').fill('kitchen')
    dialog.get_by_role('button', name='Save').click()
    page.locator('#toast', has_text='The robot knows the kitchen').wait_for()
    assert len(known_places(store).all[0].outline) == 3


def test_a_place_is_drawn_with_the_keyboard(
    address: str, store: MemoryStore, look: Callable[..., Any]
) -> None:
    page = open_map(look, address)
    page.locator('#map canvas').focus()
    page.keyboard.press('m')
    page.get_by_role('menuitem', name='Draw a place here').press('Enter')
    for key in (None, 'ArrowRight', 'ArrowRight', 'ArrowUp', 'ArrowLeft'):
        if key:
            page.keyboard.press(key)
        page.keyboard.press('Enter')
    page.keyboard.press('Backspace')
    note(page).get_by_text('4 corners').wait_for()
    note(page).get_by_role('button', name='Done').press('Enter')
    page.get_by_role('dialog').wait_for()
    page.keyboard.type('dock 2')
    page.keyboard.press('Enter')
    page.locator('#toast', has_text='The robot knows dock 2').wait_for()
    x, y, _ = VIEW['desktop']
    corners = [(x, y), (x + 1.25, y), (x + 2.5, y), (x + 2.5, y + 1.25)]  # 80 px a key, 64 to the metre
    assert known_places(store).all[0].outline == tuple(pytest.approx(corner, abs=0.02) for corner in corners)

    page.keyboard.press('m')
    page.get_by_role('menuitem', name='Draw a place here').press('Enter')
    page.keyboard.press('Enter')
    page.keyboard.press('Escape')
    assert note(page).is_hidden()
    # Rooms are gone through one by one.
    page.locator('#map canvas').focus()
    page.keyboard.press('m')
    page.get_by_role('menuitem', name='Show the rooms').press('Enter')
    note(page).get_by_role('button', name='Next room').press('Enter')
    page.locator('#map canvas').focus()
    page.keyboard.press('Enter')
    page.get_by_role('dialog').get_by_label('Name, such as').wait_for()
    page.keyboard.press('Escape')
    note(page).get_by_text('Choose a room').wait_for()
    page.keyboard.press('Escape')
    assert note(page).is_hidden()


@pytest.mark.usefixtures('kitchen')
def test_who_may_only_look_sees_places_and_changes_none(
    serve: Callable[..., str], store: MemoryStore, look: Callable[..., Any]
) -> None:
    store.name_places([place('stove', center=(0.6, 7.5), radius=0.4, now_ns=T0)])
    address = serve(Access({LOOK: Right.LOOK, ACT: Right.ACT}))
    page = open_map(look, address, extra_http_headers={'Authorization': f'Bearer {LOOK}'})
    click(page, 2.6, 8.0, button='right')
    page.get_by_role('menuitem', name='What is in the kitchen?').wait_for()
    for item in ('Draw a place', 'Show the rooms', 'Remove the name'):
        assert page.get_by_role('menuitem', name=item).count() == 0
    page.keyboard.press('Escape')
    click(page, 0.6, 7.5, button='right')  # the smaller one counts
    page.get_by_role('menuitem', name='What is in the stove?').wait_for()


def test_without_a_map_there_are_no_rooms_to_show(
    serve: Callable[..., str], look: Callable[..., Any]
) -> None:
    page = open_map(look, serve(mapped=False))
    click(page, 2.6, 8.0, button='right')
    page.get_by_role('menuitem', name='Draw a place here').wait_for()
    assert page.get_by_role('menuitem', name='Show the rooms').count() == 0
