"""What the page costs: its server over memories of three sizes, as a process, asked as a browser asks it.

The memories: of three robots that drive from place to place through a square of 100 m, with the captions of
bench_memory; the newest have a picture. The first view is that of a real browser, where there is one.
Baselines: of what is drawn from the outline, one pass of numpy over its places; of memory, the store alone,
which gives back what it frees as the server does.
Sizes: REMEMBR_BENCH_WEB_SIZES=1000,10000 python -m test.bench web
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import quote

import cv2
import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from remembr_ros.embedding.embedder import Embedder
from remembr_ros.embedding.embedders import get_embedder
from remembr_ros.errors import EmbedderUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.images import encode_jpeg
from remembr_ros.memory.embedded.engine import open_embedded
from remembr_ros.memory.keyframes.folder import KeyframeFolder
from remembr_ros.memory.model.engine import VERSION, Entry, Stamp
from remembr_ros.memory.model.recall import ANYTHING
from remembr_ros.memory.model.record import Memory, Observation
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.web.activity import activity, tracks
from remembr_ros.web.following import Following
from remembr_ros.web.overview import Box, before_and_after, clusters
from test.bench.figure import Figure
from test.bench.latency import timed
from test.bench.load import EVERY_NS, QUESTIONS, ROBOTS, SIDE_M, START_NS, Material, entries, material
from test.bench.web_server import Events, WebProcess, browser, first_view, store_resident_mb

SIZES = (1_000, 10_000, 100_000)
PICTURED = 60
METRES_BETWEEN = 4.5
"""What a robot drives from one of its memories to the next: 0.5 m/s."""

CALLS = 40
VIEWS = 200
OPENINGS = 5
PAGES = 20
NOTES = 10

FIRST_VIEW_S, FIRST_VIEW_MB = 1.0, 1.0
VIEW_MS, SEARCH_MS = 100.0, 150.0
OWN_MB, PAGE_MB = 200.0, 5.0
"""What the issue asks for at 100,000 memories."""


def run() -> list[Figure]:
    """Fill a memory of each size, and look at it."""
    sizes = os.environ.get('REMEMBR_BENCH_WEB_SIZES')
    of, figures = material(), []
    try:
        embedder = get_embedder('all-MiniLM-L6-v2')
    except EmbedderUnavailable:
        embedder = get_embedder('hashing-384')
    for count in map(int, sizes.split(',')) if sizes else SIZES:
        with tempfile.TemporaryDirectory(prefix='remembr-bench-') as folder:
            figures += measure(of, embedder, count, Path(folder) / 'memory.db')
    return figures


def measure(of: Material, embedder: Embedder, count: int, path: Path) -> list[Figure]:
    """Return the figures of one size."""
    name = f'web, {count // 1000} k'
    fill(of, embedder, count, path)
    with open_store(str(path), embedder) as store:
        figures = _in_process(name, store)
    alone_mb = store_resident_mb(path, QUESTIONS)
    embedding_ms, _ = timed(embedder.embed_query, QUESTIONS * 4)
    with WebProcess(path) as server:
        return [
            *figures,
            Figure(f'{name}: from the start until it has read all', server.started_s, None, 's'),
            *_requests(name, server, embedding_ms),
            *_opened(name, server),
            *_memory(name, server, alone_mb),
            _told(name, server),
        ]


def fill(of: Material, embedder: Embedder, count: int, path: Path) -> None:
    """Make a memory of so many entries, with pictures of the newest."""
    folder = KeyframeFolder(Path(f'{path}.keyframes'))
    engine = open_embedded(str(path), 'memories', lambda: Stamp(VERSION, embedder.name, embedder.dimension))
    driving = _driving(of, count)
    with tqdm(total=count, desc=path.name, unit=' memories', file=sys.stderr) as bar:
        while batch := list(islice(driving, 256)):
            pictured = [
                replace(entry, memory=replace(entry.memory, keyframes=folder.put([_picture(number)])))
                if (number := (entry.memory.start_ns - START_NS) // EVERY_NS) >= count - PICTURED
                else entry
                for entry in batch
            ]
            engine.put(pictured)
            bar.update(len(batch))
    engine.wait()
    engine.close()


def _driving(of: Material, count: int) -> Iterator[Entry]:
    """Yield the entries of the load at the places of robots that drive."""
    each = count // len(ROBOTS) + 1
    ways = np.stack([_way(each, seed) for seed in range(len(ROBOTS))], axis=1).reshape(-1, 2)
    for entry, (x, y) in zip(entries(of, count), ways.tolist(), strict=False):
        yield replace(entry, memory=replace(entry.memory, pose=Pose(x, y)))


def _way(count: int, seed: int) -> NDArray[np.float64]:
    """Return places along straight lines from one random place to the next, shape (count, 2)."""
    stops = np.random.default_rng(seed).uniform(0.0, SIDE_M, (count // 3 + 3, 2))
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(stops, axis=0).T))])
    at = np.arange(count) * METRES_BETWEEN
    return np.stack([np.interp(at, along, stops[:, axis]) for axis in (0, 1)], axis=1)


def _picture(number: int) -> bytes:
    """Return a JPEG that takes about what a camera's takes."""
    rough = np.random.default_rng(number).integers(0, 256, (24, 32, 3), np.uint8)
    return encode_jpeg(cv2.resize(rough, (640, 480), interpolation=cv2.INTER_CUBIC))  # type: ignore[arg-type]


def _in_process(name: str, store: MemoryStore) -> list[Figure]:
    outline = store.outline()
    x, y = outline.x, outline.y
    places = np.random.default_rng(3).uniform(0.0, SIDE_M, (CALLS, 2)).tolist()
    one_pass, _ = timed(lambda place: np.hypot(x - place[0], y - place[1]).argmin(), places)
    views = list(islice(panned(), CALLS))
    ids = [outline.ids[number].decode() for number in range(0, len(outline), max(1, len(outline) // CALLS))]
    figures = [
        _p95(f'{name}: outline of the store', lambda _: store.outline(), range(5)),
        _p95(f'{name}: cells of a view', lambda v: clusters(outline, ANYTHING, v[0], v[1]), views, one_pass),
        _p95(f'{name}: track of a view', lambda v: tracks(outline, ANYTHING, 2000, v[0]), views, one_pass),
        _p95(f'{name}: track of all', lambda _: tracks(outline, ANYTHING, 2000), range(10), one_pass),
        _p95(f'{name}: activity of all', lambda _: activity(outline, ANYTHING, 200), range(10), one_pass),
        _p95(f'{name}: before and after', lambda one: before_and_after(outline, one), ids, one_pass),
    ]
    backend: Any = SimpleNamespace(outline=store.outline, recall=store)
    following = Following(backend, lambda news: None)
    following.look()
    return [
        *figures,
        _p95(f'{name}: following, nothing new', lambda _: following.look(), range(10)),
        _p95(
            f'{name}: following, one more memory',
            lambda _: following.look(),
            _stored(store, NOTES, int(outline.end_ns.max())),
        ),
    ]


def _stored(store: MemoryStore, count: int, last_ns: int) -> Iterator[None]:
    """Yield whenever one more memory was stored."""
    for number in range(count):
        start_ns = last_ns + (number + 1) * EVERY_NS
        memory = Memory(f'more{number}', 'anna', start_ns, start_ns, 'A lift.', Pose(1.0, 2.0))
        store.add([Observation(memory, (_picture(10**6 + number),))])
        yield


def _p95(name: str, call: Any, arguments: Any, baseline: float | None = None) -> Figure:
    return Figure(f'{name}, p95', timed(call, arguments)[1], baseline, 'ms')


def panned() -> Iterator[tuple[Box, float]]:
    """Yield boxes as of somebody who pans and zooms, and the cells that the page asks for."""
    rng = np.random.default_rng(4)
    x = y = width = SIDE_M / 2.0
    while True:
        width = float(np.clip(width * 2.0 ** rng.uniform(-1.0, 1.0), 3.0, 2.0 * SIDE_M))
        x, y = (float(np.clip(at + rng.normal(0.0, width / 3.0), 0.0, SIDE_M)) for at in (x, y))
        yield (x - width, y - width / 2, x + width, y + width / 2), 2.0 ** round(np.log2(width / 10.0))


def _requests(name: str, server: WebProcess, embedding_ms: float) -> list[Figure]:
    views = [(','.join(map(str, box)), cell) for box, cell in islice(panned(), VIEWS)]
    with closing(server.client()) as client:
        client.get('/api/cells?cell=1')
        texts = [quote(question) for question in QUESTIONS]
        for text in texts:
            client.get(f'/api/recall?text={text}&limit=101')
        searched = timed(lambda text: client.get(f'/api/recall?text={text}&limit=101'), texts * 4)[1]
        paths = {
            'GET cells while panning and zooming': [
                f'/api/cells?box={box}&cell={cell}' for box, cell in views
            ],
            'GET track while panning and zooming': [f'/api/track?box={box}&points=2000' for box, _ in views],
            'GET activity': ['/api/activity?bins=200'] * CALLS,
            'GET recall, seen of a place': [
                f'/api/recall?position={x},{y}&radius=1&seen=1&limit=101'
                for x, y in np.random.default_rng(5).uniform(0.0, SIDE_M, (CALLS, 2))
            ],
            'GET recall, the newest': ['/api/recall?limit=101'] * CALLS,
        }
        found = [
            Figure(f'{name}: {what}, p95', timed(client.get, of)[1], None, 'ms', most=VIEW_MS)
            for what, of in paths.items()
        ]
    beside = searched - embedding_ms
    title = f'{name}: GET recall by text, p95, beside the embedding (baseline)'
    return [*found, Figure(title, beside, embedding_ms, 'ms', most=SEARCH_MS)]


def _opened(name: str, server: WebProcess) -> list[Figure]:
    with browser() as chromium:
        if chromium is None:
            print('no browser and playwright: the first view is left out', file=sys.stderr)
            return []
        openings = [first_view(chromium, server.url) for _ in range(OPENINGS)]
    took_s, came_mb = (float(np.median(column)) for column in zip(*openings, strict=True))
    return [
        Figure(f'{name}: first view in a browser', took_s, None, 's', most=FIRST_VIEW_S),
        Figure(f'{name}: first view, compressed', came_mb, None, 'MB', most=FIRST_VIEW_MB),
    ]


def _memory(name: str, server: WebProcess, alone_mb: float) -> list[Figure]:
    own_mb = server.resident_mb() - alone_mb
    with ExitStack() as pages:
        for _ in range(PAGES):
            pages.enter_context(closing(Events(server.port)))
            client = pages.enter_context(closing(server.client()))
            for path in ('/', '/api/info', '/api/cells?cell=4', '/api/track?points=2000', '/api/activity'):
                client.get(path)
            client.get('/api/recall?limit=101')
        page_mb = (server.resident_mb() - alone_mb - own_mb) / PAGES
    return [
        Figure(f'{name}: the server beside the store (baseline)', own_mb, alone_mb, 'MB', most=OWN_MB),
        Figure(f'{name}: the server for each open page', page_mb, None, 'MB', most=PAGE_MB),
    ]


def _told(name: str, server: WebProcess) -> Figure:
    stored, heard = [], []
    with closing(server.client()) as client, closing(Events(server.port)) as page:
        for number in range(NOTES):
            began = time.perf_counter()
            client.json('/api/notes', {'text': f'The lift is out of order, {number}.', 'position': [1, 2, 0]})
            stored.append(time.perf_counter() - began)
            page.memories.acquire(timeout=30.0)
            heard.append(time.perf_counter() - began)
    title = f'{name}: a note until an open page hears of it, p50 (baseline: until it is stored)'
    return Figure(title, 1e3 * float(np.median(heard)), 1e3 * float(np.median(stored)), 'ms')
