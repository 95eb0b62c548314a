"""A real browser, real `remembr web` processes, and memories to look at."""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from remembr_ros.cli.main import main

KITCHEN = Path(__file__).resolve().parents[3] / 'shared' / 'data' / 'bags' / 'redkitchen_6hz'
BROWSERS = ('chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome')
SIZES = {'desktop': {'width': 1280, 'height': 800}, 'phone': {'width': 390, 'height': 844}}
ADDRESS = re.compile(r'https?://\S+:\d+')
START_S = 60.0  # [s] a process on a busy machine; it tells its address as soon as it listens


@pytest.fixture(scope='session')
def chromium() -> Iterator[Any]:
    """A browser without a window."""
    playwright = pytest.importorskip('playwright.sync_api', reason='pip install playwright: a browser is driven')
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip('no browser: as root, apt-get install chromium-headless-shell')
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=['--no-sandbox', '--disable-gpu'])
        yield browser
        browser.close()


@pytest.fixture
def look(chromium: Any) -> Iterator[Callable[..., Any]]:
    """Open an address in a window of its own; whatever the page complains of, or asks elsewhere, fails the test."""
    complaints: list[str] = []
    with ExitStack() as ends:

        def look(address: str, size: str = 'desktop', *, forgiven: str = '', **options: Any) -> Any:
            context = chromium.new_context(viewport=SIZES[size], reduced_motion='reduce', **options)
            ends.callback(context.close)
            page = context.new_page()
            home = re.match(r'https?://[^/]+', address)
            assert home

            def complain(text: str) -> None:
                if not (forgiven and re.search(forgiven, text)):
                    complaints.append(text)

            page.on('console', lambda said: complain(said.text) if said.type in ('error', 'warning') else None)
            page.on('pageerror', lambda error: complain(str(error)))
            page.on(
                'request',
                lambda asked: complain(f'asked {asked.url}')
                if not asked.url.startswith((home[0], 'blob:'))
                else None,
            )
            page.goto(address)
            return page

        yield look
    assert complaints == []


class Served:
    """A `remembr web` process and where it is."""

    def __init__(self, memory: Path, *options: str) -> None:
        command = [sys.executable, '-m', 'remembr_ros.cli.main', 'web', '--memory', str(memory), '--port', '0']
        environment = {name: value for name, value in os.environ.items() if not name.startswith('OPENAI')}
        self.process = subprocess.Popen(
            [*command, *options], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=environment
        )
        self.said: list[str] = []
        self._told = threading.Event()
        self.address = ''
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        if not self._told.wait(START_S) or not self.address:
            self.close()
            raise AssertionError(f'no address: {"".join(self.said)}')

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.said.append(line)
            if not self.address and (found := ADDRESS.search(line)):
                self.address = found[0]
                self._told.set()
        self._told.set()

    def close(self) -> int:
        """End it as a person does, and return its exit code."""
        self.process.terminate()
        try:
            return self.process.wait(20.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self._reader.join(10.0)
            if self.process.stderr is not None:
                self.process.stderr.close()


@contextmanager
def served(memory: Path, *options: str) -> Iterator[Served]:
    server = Served(memory, *options)
    try:
        yield server
    finally:
        assert server.close() in (0, 130, -2, -15), ''.join(server.said)
    assert 'Traceback' not in ''.join(server.said)


@pytest.fixture(scope='session')
def building(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the demo's robot remembers, and the map of its building; to be copied before it is changed."""
    pytest.importorskip('pyvista', reason='rendering needs pyvista')
    pytest.importorskip('rapidocr', reason='the captioner scene_text needs rapidocr')
    from remembr_ros.simulation.floor_map import write_floor_map
    from remembr_ros.simulation.floor_plan import generate_building
    from remembr_ros.simulation.recording import record_building

    folder = tmp_path_factory.mktemp('building')
    record_building(folder / 'tour')
    write_floor_map(folder, generate_building())
    assert main(['ingest', str(folder / 'tour' / 'bag'), '--memory', str(folder / 'memory.db')]) == 0
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
