"""A `remembr web` process, and how to wait for what its page shows."""

import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

SIZES = {'desktop': {'width': 1280, 'height': 800}, 'phone': {'width': 390, 'height': 844}}
ADDRESS = re.compile(r'https?://\S+:\d+')
PATIENCE_S = 30.0  # [s] for what a busy machine shows late
START_S = 60.0  # [s] a process on a busy machine; it tells its address as soon as it listens


@contextmanager
def launched(path: str) -> Iterator[Any]:
    """Start a browser. Until it ends its driver keeps a loop running in this thread: no other can run."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=['--no-sandbox', '--disable-gpu'])
        yield browser
        browser.close()


class Served:
    """A `remembr web` process and where it is."""

    def __init__(self, memory: Path, *options: str) -> None:
        command = [
            sys.executable,
            '-m',
            'remembr_ros.cli.main',
            'web',
            '--memory',
            str(memory),
            '--port',
            '0',
        ]
        environment = {name: value for name, value in os.environ.items() if not name.startswith('OPENAI')}
        self.process = subprocess.Popen(
            [*command, *options],
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
            env=environment,
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


def settled(page: Any) -> Any:
    """Return the page once it shows what it was asked for."""
    page.get_by_text(re.compile(r'\d+ memor')).first.wait_for()
    page.wait_for_load_state('load')
    eventually(page, 'document.querySelectorAll("#map canvas, #timeline canvas").length === 2')
    return page


def eventually(page: Any, condition: str) -> None:
    """Wait until something is so on the page, whose policy lets nothing be evaluated inside it."""
    until = time.monotonic() + PATIENCE_S
    while not page.evaluate(condition):
        assert time.monotonic() < until, f'not within {PATIENCE_S:g} s: {condition}'
        page.wait_for_timeout(50)


def results(page: Any) -> Any:
    return page.get_by_role('list', name='Results').get_by_role('link')
