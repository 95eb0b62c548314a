"""What the memory costs on a real Milvus server (2.3.5), which runs beside the benchmark.

The load is that of bench_memory, in vectors of 384 numbers. Sizes count vectors; a million takes its time to
be indexed: REMEMBR_BENCH_VECTORS=100000,1000000 python -m test.bench server
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from remembr_ros.memory.keyframes.folder import KeyframeFolder
from remembr_ros.memory.model.engine import VERSION, Stamp
from remembr_ros.memory.model.recall import ANYTHING, Query
from remembr_ros.memory.server import schema
from remembr_ros.memory.server.connection import Connection
from remembr_ros.memory.server.engine import ServerEngine
from remembr_ros.memory.server.open_server import open_server
from remembr_ros.memory.store import MemoryStore
from test.bench.figure import Figure
from test.bench.latency import timed
from test.bench.load import (
    EVERY_NS,
    PASSAGES,
    QUESTIONS,
    SIDE_M,
    START_NS,
    GivenQueries,
    Material,
    entries,
    material,
)
from test.bench.neighbours import recall_of
from test.milvus_process import MilvusProcess, obstacle, when_ready

DIMENSION = 384
BATCH = 250
CALLS = 60
TARGET_MS = 10.0
TARGET_RECALL = 0.98
IDLE = 0.2
"""Of a core: what an idle server takes."""

INDEXED_S = 3600.0
"""For the server to index what was stored [s]."""


def run() -> list[Figure]:
    """Fill a server with each size, and search it."""
    if why := obstacle():
        print(f'{why}: left out', file=sys.stderr)
        return []
    sizes = [int(size) for size in os.environ.get('REMEMBR_BENCH_VECTORS', '100000').split(',')]
    of = material().projected(DIMENSION)
    figures = []
    for vectors in sizes:
        with tempfile.TemporaryDirectory(prefix='remembr-bench-') as folder:
            server = MilvusProcess(Path(folder) / 'milvus')
            server.start()
            try:
                figures += measure(server, of, vectors // PASSAGES, Path(folder))
            finally:
                server.kill()
    return figures


def measure(server: MilvusProcess, of: Material, count: int, folder: Path) -> list[Figure]:
    """Return the figures of so many memories."""
    name = f'server, {PASSAGES * count // 1000} k vectors x {DIMENSION}'

    def opened() -> ServerEngine:
        return open_server(
            Connection(server.uri, timeout_s=600.0), 'bench', lambda: Stamp(VERSION, 'bench', DIMENSION)
        )

    engine: Any = when_ready(opened)
    kept = np.empty((count, PASSAGES, DIMENSION), np.float16)
    ids = []
    began = time.perf_counter()
    source, at = entries(of, count), 0
    with tqdm(total=count, desc=name, unit=' memories', file=sys.stderr) as bar:
        while batch := list(islice(source, BATCH)):
            engine.put(batch)
            kept[at : at + len(batch)] = [entry.vectors for entry in batch]
            ids += [entry.memory.id for entry in batch]
            at += len(batch)
            bar.update(len(batch))
    figures = [
        Figure(f'{name}: insert in batches', count / (time.perf_counter() - began), None, 'memories/s')
    ]
    began = time.perf_counter()
    _wait_until_indexed(engine, PASSAGES * count)
    _wait_until_idle(server)
    figures.append(Figure(f'{name}: until it is indexed and idle', time.perf_counter() - began, None, 's'))
    engine.close()
    engine = opened()
    store = MemoryStore(
        lambda: engine,
        server.uri,
        'bench',
        embedder=GivenQueries(of),
        keyframes=KeyframeFolder(folder / 'k'),
        undone=folder / 'undone',
    )
    figures += _searches(name, engine, store, kept=kept, ids=ids, queries=list(of.queries))
    more = [[entry] for entry in entries(of, 20, seed=1)]
    figures += _latency(f'{name}: insert one', engine.put, more)
    store.close()
    return figures


def _searches(
    name: str,
    engine: ServerEngine,
    store: MemoryStore,
    *,
    kept: NDArray[np.float16],
    ids: list[str],
    queries: list[NDArray[np.float32]],
) -> list[Figure]:
    rng = np.random.default_rng(5)
    count = len(ids)
    exact = [_best(kept, ids, query) for query in queries]
    scan, _ = timed(lambda query: _best(kept[: 20_000 // PASSAGES], ids, query), queries[:5])
    scan *= count * PASSAGES / 20_000
    questions = [QUESTIONS[i % len(QUESTIONS)] for i in range(CALLS)]
    for question in QUESTIONS:
        store.find(Query(question))
    figures = _latency(f'{name}: text', store.find, list(map(Query, questions)), TARGET_MS, scan)
    found = [list(engine.like(query, ANYTHING, engine.compares))[:5] for query in queries]
    recall = recall_of(found, exact)
    figures.append(Figure(f'{name}: text, recall@5 of the vectors', recall, 1.0, '', TARGET_RECALL))
    places = [(float(x), float(y), 0.0) for x, y in rng.uniform(0.0, SIDE_M, (CALLS, 2))]
    times = [int(t) for t in START_NS + rng.integers(0, count * EVERY_NS, CALLS)]
    figures += _latency(f'{name}: position', store.find, [Query(place=place) for place in places])
    figures += _latency(f'{name}: time', store.find, [Query(time_ns=time_ns) for time_ns in times])
    figures += _latency(f'{name}: survey', store.survey, [ANYTHING] * 10)
    return figures


def _best(kept: NDArray[np.float16], ids: list[str], query: NDArray[np.float32]) -> set[str]:
    """Return the five memories with the best passages, by comparing everything."""
    best = np.empty(len(kept), np.float32)
    for start in range(0, len(kept), 4_000):
        best[start : start + 4_000] = (kept[start : start + 4_000].astype(np.float32) @ query).max(axis=1)
    return {ids[i] for i in np.argsort(-best, kind='stable')[:5]}


def _wait_until_indexed(engine: ServerEngine, rows: int) -> None:
    engine.vacuum()  # writes what is new, for only that is indexed
    deadline = time.monotonic() + INDEXED_S
    with engine._link.client() as client, tqdm(total=rows, desc='indexing', file=sys.stderr) as bar:
        while True:
            state = client.describe_index(schema.passages_of('bench'), 'vector')
            done, total = int(state['indexed_rows']), int(state['total_rows'])
            bar.update(done - bar.n)
            if done >= total >= rows and not int(state.get('pending_index_rows', 0)):
                return
            if time.monotonic() > deadline:
                print(f'{done} of {total} rows are indexed after an hour: measured so', file=sys.stderr)
                return
            time.sleep(1.0)


def _wait_until_idle(server: MilvusProcess) -> None:
    """What was stored at once is merged and indexed anew for a while, which is no part of a robot's day."""
    deadline = time.monotonic() + INDEXED_S
    while time.monotonic() < deadline:
        before = server.cpu_s()
        time.sleep(1.0)
        if server.cpu_s() - before < IDLE:
            return
    print('the server is still at it after an hour: measured so', file=sys.stderr)


def _latency(
    name: str,
    call: Callable[..., object],
    arguments: list[Any],
    most: float | None = None,
    baseline: float | None = None,
) -> list[Figure]:
    p50, p95 = timed(call, arguments)
    return [
        Figure(f'{name}, p50', p50, baseline, 'ms', most=most),
        Figure(f'{name}, p95', p95, baseline, 'ms'),
    ]
