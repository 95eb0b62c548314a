"""A real browser, real `remembr web` processes, and memories to look at."""

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.cli.main import main
from remembr_ros.timestamps import NS
from test.browser.served import SIZES, Served, launched, served

KITCHEN = Path(__file__).resolve().parents[3] / 'shared' / 'data' / 'bags' / 'redkitchen_6hz'
BROWSERS = ('chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome')


@pytest.fixture(scope='module')
def chromium() -> Iterator[Any]:
    """A browser without a window, that ends before other tests want an event loop of their own."""
    pytest.importorskip('playwright.sync_api', reason='pip install playwright: a browser is driven')
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip('no browser: as root, apt-get install chromium-headless-shell')
    with launched(path) as browser:
        yield browser


@pytest.fixture
def look(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Open an address in a window of its own; what the page complains of, or asks elsewhere, is a failure."""
    complaints: list[str] = []
    with ExitStack() as ends:

        def look(address: str, size: str = 'desktop', *, forgiven: str = '', **options: Any) -> Any:
            context = chromium.new_context(viewport=SIZES[size], reduced_motion='reduce', **options)
            ends.callback(context.close)
            page = context.new_page()
            # What a test answers in place of the server may be under way when it ends.
            ends.callback(page.unroute_all, behavior='ignoreErrors')
            home = re.match(r'https?://[^/]+', address)
            assert home

            def complain(text: str) -> None:
                if not (forgiven and re.search(forgiven, text)):
                    complaints.append(text)

            page.on(
                'console', lambda said: complain(said.text) if said.type in ('error', 'warning') else None
            )
            page.on('pageerror', lambda error: complain(str(error)))
            page.on(
                'request',
                lambda asked: (
                    complain(f'asked {asked.url}') if not asked.url.startswith((home[0], 'blob:')) else None
                ),
            )
            page.goto(address)
            return page

        yield look
    assert complaints == []


@pytest.fixture(scope='session')
def building(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the demo's robot remembers, and the map of its building."""
    pytest.importorskip('remembr_bench', reason='needs the worlds of remembr_bench')
    from remembr_bench.simulation.floor_plan import generate_building, write_floor_map
    from remembr_bench.simulation.tour_bag import record_building

    folder = tmp_path_factory.mktemp('building')
    truth = record_building(folder / 'tour', rate_hz=1.0)
    write_floor_map(folder, generate_building())
    # What a good captioner would say: reading the signs takes longer than all tests of the page.
    told = [
        {
            'id': i,
            'position': [*segment.pose.position],
            'caption': segment.caption,
            'start_time': segment.start_ns / NS,
            'end_time': segment.end_ns / NS,
            'time': segment.start_ns / NS,
        }
        for i, segment in enumerate(truth.segments)
    ]
    (folder / 'captions.json').write_text(json.dumps(told))
    captions = ['--captions', str(folder / 'captions.json')]
    bag = str(folder / 'tour' / 'bag')
    assert main(['ingest', bag, '--memory', str(folder / 'memory.db'), *captions]) == 0
    return folder


@pytest.fixture(scope='session')
def building_page(building: Path) -> Iterator[Served]:
    """The page on it."""
    with served(building / 'memory.db', '--map', str(building / 'map.yaml')) as server:
        yield server


@pytest.fixture(scope='session')
def kitchen_page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page on a walk around a kitchen table: no map, and places that are not z-up."""
    if not KITCHEN.is_dir():
        pytest.skip(f'no recording of a kitchen at {KITCHEN}')
    memory = tmp_path_factory.mktemp('kitchen') / 'kitchen.db'
    assert main(['ingest', str(KITCHEN), '--memory', str(memory)]) == 0
    with served(memory) as server:
        yield server
