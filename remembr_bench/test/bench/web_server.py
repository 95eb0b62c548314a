"""`remembr web` as a process of its own, and what asks it as a browser would."""

import http.client
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from test.bench.processes import usage

PATIENCE_S = 120.0
BROWSERS = ('/usr/bin/chromium-headless-shell', '/usr/bin/chromium')
QUIET_S = 1.0
"""A page without a request for so long has all that it shows first [s]."""

_STORE_ALONE = """
import sys
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.opening import open_store
from remembr_ros.web.app import give_back_freed
give_back_freed()
with open_store(sys.argv[1], read_only=True, create=False) as store:
    for question in sys.argv[2:]:
        store.find(Query(question, limit=21))
    store.find(Query(limit=50))
    print('ready', flush=True)
    sys.stdin.read()
"""


class Client:
    """One connection that is kept, as a browser has it; times and counts what comes."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection('127.0.0.1', port, timeout=PATIENCE_S)
        self.bytes = 0
        """Of all bodies, as they were sent."""

    def get(self, path: str) -> bytes:
        """Return a body as it was sent.

        :raises OSError: another status than 200
        """
        self._connection.request('GET', path, headers={'Accept-Encoding': 'gzip'})
        response = self._connection.getresponse()
        body = response.read()
        self.bytes += len(body)
        if response.status != 200:
            raise OSError(f'{path}: {response.status} {body[:200]!r}')
        return body

    def json(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """Return what an answer says; with a body it is posted."""
        data = None if body is None else json.dumps(body)
        headers = {'Content-Type': 'application/json'}
        self._connection.request('GET' if body is None else 'POST', path, data, headers)
        response = self._connection.getresponse()
        return json.loads(response.read())

    def close(self) -> None:
        self._connection.close()


class Events:
    """An open page: a stream of events, read by a thread."""

    def __init__(self, port: int) -> None:
        self._connection = http.client.HTTPConnection('127.0.0.1', port, timeout=PATIENCE_S)
        self._connection.request('GET', '/api/events')
        self._response = self._connection.getresponse()
        self.count = 0
        self.memories = threading.Semaphore(0)
        """Released whenever memories have come."""
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        try:
            while line := self._response.readline():
                if line.startswith(b'event:'):
                    self.count += 1
                    if b'memories' in line:
                        self.memories.release()
        except (OSError, ValueError, AttributeError):  # closed meanwhile
            return

    def close(self) -> None:
        if self._connection.sock is not None:
            self._connection.sock.shutdown(2)
        self._thread.join(10.0)
        self._connection.close()


class WebProcess:
    """The page's server over an embedded memory. Use as a context manager."""

    def __init__(self, memory: Path, *options: str) -> None:
        command = [sys.executable, '-m', 'remembr_ros.cli.main', 'web', '--memory', str(memory)]
        self._process = subprocess.Popen(
            [*command, '--port', '0', '--json', *options], stdout=subprocess.PIPE, text=True
        )

    def __enter__(self) -> 'WebProcess':
        began = time.perf_counter()
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise OSError(f'remembr web ended with {self._process.wait()}')
        self.url: str = json.loads(line)['url'].rstrip('/')
        self.port = int(self.url.rpartition(':')[2])
        with closing(self.client()) as client:
            while client.json('/api/info')['reading']:
                if time.perf_counter() - began > PATIENCE_S:
                    raise OSError('remembr web still reads the memory')
                time.sleep(0.01)
        self.started_s = time.perf_counter() - began
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.terminate()
        try:
            self._process.wait(20.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def client(self) -> Client:
        return Client(self.port)

    def resident_mb(self) -> float:
        """Return what it takes, with its children [MB]."""
        return usage(self._process.pid)[0]


def store_resident_mb(memory: Path, questions: tuple[str, ...]) -> float:
    """Return what a process takes that has the memory open, and has recalled these [MB]."""
    with subprocess.Popen(
        [sys.executable, '-c', _STORE_ALONE, str(memory), *questions],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        if not process.stdout.readline():
            raise OSError('the memory cannot be opened')
        return usage(process.pid)[0]


@contextmanager
def browser() -> Iterator[Any]:
    """Have a browser; None where there is none."""
    path = next((path for path in BROWSERS if Path(path).exists()), None)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        yield None
        return
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=['--no-sandbox'])
        yield chromium
        chromium.close()


def first_view(chromium: Any, url: str) -> tuple[float, float]:
    """Return how long a browser without a cache takes until it has all that it shows first [s], and how much
    comes, compressed [MB]."""
    context = chromium.new_context(viewport={'width': 1280, 'height': 800})
    page = context.new_page()
    session = context.new_cdp_session(page)
    taken: list[tuple[float, float]] = []

    def loaded(event: Any) -> None:
        taken.append((time.perf_counter(), event['encodedDataLength']))

    session.on('Network.loadingFinished', loaded)
    session.send('Network.enable')
    began = time.perf_counter()
    page.goto(url, wait_until='load')
    while not taken or time.perf_counter() - taken[-1][0] < QUIET_S:
        page.wait_for_timeout(50)
    context.close()
    return taken[-1][0] - began, sum(size for _, size in taken) / 1e6
