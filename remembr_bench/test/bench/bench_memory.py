"""What the embedded memory costs, at sizes from an afternoon to a year of driving.

Vectors: of real captions and their sentences, perturbed; 7 per memory. The time to embed a question is left
out. Baseline of a search by text is a pass of numpy over all vectors, of the others one over all memories.
Starts, and what is resident after them, are those of new processes.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from remembr_ros.memory.embedded.database import memory_of
from remembr_ros.memory.embedded.engine import EmbeddedEngine, open_embedded
from remembr_ros.memory.embedded.vector_table import SCALE
from remembr_ros.memory.keyframes.folder import KeyframeFolder
from remembr_ros.memory.matching import ranking
from remembr_ros.memory.matching.ranking import paragraphs_among
from remembr_ros.memory.matching.terms import told_apart
from remembr_ros.memory.model.engine import VERSION, Stamp
from remembr_ros.memory.model.recall import ANYTHING, Query, Scope
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS
from test.bench.figure import Figure
from test.bench.latency import timed
from test.bench.load import (
    EVERY_NS,
    PASSAGES,
    QUESTIONS,
    ROBOTS,
    SIDE_M,
    START_NS,
    GivenQueries,
    Material,
    entries,
    material,
)
from test.bench.neighbours import recall_of
from test.bench.processes import resident_mb

SIZES = ((10_000, 1024), (100_000, 1024), (300_000, 384))
"""Memories, and numbers per vector. Others: REMEMBR_BENCH_SIZES=1000x384,10000x384"""

TARGETS = {
    'text': 15.0, 'filtered': 3.0, 'position': 3.0, 'time': 3.0, 'insert': 10.0, 'change': 20.0,
    'resident': 2500.0,
}  # fmt: skip
"""At 100,000 memories of 1024 numbers [ms, MB]."""

STARTS = {(100_000, 1024): 2.0, (300_000, 384): 5.0}
"""Longest starts [s]."""

CALLS = 60
Targets = Mapping[str, float]
CHECKED = 24
"""Searches whose results are compared with exact ones."""


def run() -> list[Figure]:
    """Fill a memory of each size, and search it."""
    sizes = os.environ.get('REMEMBR_BENCH_SIZES')
    chosen = [tuple(map(int, size.split('x'))) for size in sizes.split(',')] if sizes else SIZES
    of = material()
    figures = []
    for count, dimension in chosen:
        figures += measure(of.projected(dimension), count, dimension)
    return figures


def measure(of: Material, count: int, dimension: int) -> list[Figure]:
    """Return the figures of one size."""
    name = f'{count // 1000} k x {dimension}'
    target = TARGETS if (count, dimension) == (100_000, 1024) else {}
    with tempfile.TemporaryDirectory(prefix='remembr-bench-') as folder:
        path = f'{folder}/memory.db'
        with closing(_opened(path, dimension)) as engine:
            seconds = _fill(engine, of, count, name)
            figures = [Figure(f'{name}: insert in batches', count / seconds, None, 'memories/s')]
            figures += _changes(name, engine, of, target)
        np.save(f'{path}.questions.npy', of.queries)
        (start, resident), cache = _started(path), Path(f'{path}.memories.cache')
        kept = cache.rename(f'{cache}.kept')
        without, _ = _started(path)
        kept.rename(cache)
        most, large = STARTS.get((count, dimension)), target.get('resident')
        figures.append(Figure(f'{name}: start (baseline: without its cache)', start, without, 's', most=most))
        figures.append(Figure(f'{name}: resident, a new process', resident, None, 'MB', most=large))
        with _asked(path, of) as (engine, store):
            engine.wait()
            deque(engine.select(), maxlen=0)  # who is asked for the first time reads its JSON, in 25 us
            for question in QUESTIONS:
                store.find(Query(question))
            figures += _searches(name, engine, store, of, count=count, target=target)
            size = engine.summary().bytes or 0
        raw = 4 * dimension * of.vectors.shape[1] * count
        figures.append(Figure(f'{name}: disk (baseline: the vectors)', size / 1e6, raw / 1e6, 'MB'))
    return figures


def main(path: str) -> int:
    """Print how long this process takes to open a memory [s], and its size [MB] after the QUESTIONS."""
    queries = np.load(f'{path}.questions.npy')
    of = Material([], np.empty((0, PASSAGES, queries.shape[1]), np.float32), queries)
    began = time.perf_counter()
    with _asked(path, of, read_only=True) as (_, store):
        seconds = time.perf_counter() - began
        for question in QUESTIONS:
            store.find(Query(question))
        print(json.dumps([seconds, resident_mb()]))
    return 0


def _started(path: str) -> tuple[float, float]:
    command = [sys.executable, '-m', 'test.bench.bench_memory', path]
    seconds, resident = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    return seconds, resident


def _changes(name: str, engine: EmbeddedEngine, of: Material, target: Targets) -> list[Figure]:
    """Return what changes take; the memory has as many as before when they are done."""
    more, many = list(entries(of, CALLS, seed=1)), list(entries(of, 1_000, seed=2))
    old = [replace(entry.memory, merged=2) for entry in entries(of, CALLS)]
    figures = _latency(f'{name}: insert one', engine.put, [[e] for e in more], target.get('insert'))
    figures += _latency(f'{name}: insert 1,000', engine.put, [many], None)[:1]
    most = target.get('change')
    figures += _latency(f'{name}: update an old one', engine.update, [[m] for m in old], most)
    figures += _latency(f'{name}: delete one', engine.delete, [[e.memory.id] for e in more], most)
    engine.delete([entry.memory.id for entry in many])
    return figures


def _searches(
    name: str, engine: EmbeddedEngine, store: MemoryStore, of: Material, *, count: int, target: Targets
) -> list[Figure]:
    rng = np.random.default_rng(5)

    def windows() -> list[Scope]:
        starts = START_NS + rng.integers(0, count, CALLS) * EVERY_NS
        return [Scope(after_ns=int(s), before_ns=int(s) + 3600 * NS, robots=ROBOTS[:2]) for s in starts]

    def places() -> list[tuple[float, float, float]]:
        return [(float(x), float(y), 0.0) for x, y in rng.uniform(0.0, SIDE_M, (CALLS, 2))]

    vectors = _AllVectors(engine, of)
    scan = vectors.scan_ms()
    columns = _columns_ms(count)
    questions = [QUESTIONS[i % len(QUESTIONS)] for i in range(CALLS)]
    figures = _latency(f'{name}: text', store.find, [Query(q) for q in questions], target.get('text'), scan)
    # By all that counts in every memory. Of dozens that say the same it matters little which come first.
    hits = [store.find(Query(q)) for q in QUESTIONS]
    best = [vectors.best(q) for q in QUESTIONS]
    recall = recall_of([[h.memory.id for h in found] for found in hits], best)
    figures.append(Figure(f'{name}: text, recall@5 of the whole score', recall, 1.0, ''))
    scores = [
        sum(h.score for h in found) / sum(exact.values()) for found, exact in zip(hits, best, strict=True)
    ]
    least = 0.98 if target else None
    figures.append(
        Figure(f'{name}: text, score of the five over the best five', float(np.mean(scores)), 1.0, '', least)
    )
    queries = vectors.queries(CHECKED)
    alone = f'{name}: text, vectors alone'
    figures += _latency(alone, lambda q: engine.like(q, ANYTHING, 5), queries, None, scan)
    found = [list(engine.like(query, ANYTHING, 5))[:5] for query in queries]
    recall = recall_of(found, map(vectors.nearest, queries))
    figures.append(Figure(f'{alone}, recall@5', recall, 1.0, '', least))
    text = QUESTIONS[0]
    figures += _latency(
        f'{name}: text in an hour of two robots',
        lambda s: store.find(Query(text, scope=s)),
        windows(),
        target.get('text'),
        scan,
    )
    figures += _latency(
        f'{name}: text within 3 m',
        lambda place: store.find(Query(text, scope=Scope(near=place, radius_m=3.0))),
        places(),
        None,
        scan,
    )
    centre = (50.0, 50.0, 0.0)
    nearest = [Query(place=place) for place in places()]
    figures += _latency(f'{name}: position', store.find, nearest, target.get('position'), columns)
    times = [int(t) for t in START_NS + rng.integers(0, count * EVERY_NS, CALLS)]
    at = [Query(time_ns=t) for t in times]
    figures += _latency(f'{name}: time', store.find, at, target.get('time'), columns)
    around = [Query(time_ns=t, around=True) for t in times]
    figures += _latency(f'{name}: consecutive around a time', store.find, around, None, columns)
    figures += _latency(
        f'{name}: position in an hour of two robots, 30 m',
        lambda s: store.find(Query(place=centre, scope=replace(s, near=centre, radius_m=30.0))),
        windows(),
        target.get('filtered'),
        columns,
    )
    return figures


def _latency(
    name: str,
    call: Callable[..., object],
    arguments: list[object],
    most: float | None,
    baseline: float | None = None,
) -> list[Figure]:
    p50, p95 = timed(call, arguments)
    return [
        Figure(f'{name}, p50', p50, baseline, 'ms', most=most),
        Figure(f'{name}, p95', p95, baseline, 'ms'),
    ]


def _opened(path: str, dimension: int) -> EmbeddedEngine:
    return open_embedded(path, 'memories', lambda: Stamp(VERSION, 'bench', dimension))


@contextmanager
def _asked(path: str, of: Material, read_only: bool = False) -> Iterator[tuple[EmbeddedEngine, MemoryStore]]:
    engine = open_embedded(path, 'memories', None, read_only)
    store = MemoryStore(
        lambda: engine, path, 'memories', embedder=GivenQueries(of),
        keyframes=KeyframeFolder(Path(f'{path}.keyframes')), undone=Path(f'{path}.undone'),
    )  # fmt: skip
    with closing(engine), closing(store):
        yield engine, store


def _fill(engine: EmbeddedEngine, of: Material, count: int, name: str) -> float:
    """Store memories; return how long that took without making them up [s]."""
    seconds, batch = 0.0, []
    with tqdm(total=count, desc=name, unit=' memories', file=sys.stderr) as bar:
        for entry in entries(of, count):
            batch.append(entry)
            if len(batch) == 256 or entry.memory.start_ns == START_NS + (count - 1) * EVERY_NS:
                began = time.perf_counter()
                engine.put(batch)
                seconds += time.perf_counter() - began
                bar.update(len(batch))
                batch = []
    began = time.perf_counter()
    engine.wait()
    return seconds + time.perf_counter() - began


class _AllVectors:
    """Searches exactly, by comparing everything."""

    def __init__(self, engine: EmbeddedEngine, of: Material) -> None:
        self._engine = engine
        self._of = of
        database = engine._database
        with database.snapshot():
            stored = list(database.all())
            rows, _ = database.vectors(np.array([row.number for row in stored], np.int64))
        self._memories = [memory_of(row.record) for row in stored]
        self._rows = rows.reshape(-1, *of.vectors.shape[1:])

    def queries(self, count: int) -> list[NDArray[np.float32]]:
        """Return vectors like those of the questions, and some like those that are stored."""
        rng = np.random.default_rng(11)
        near = self._of.vectors[rng.integers(len(self._of.captions), size=count), 3]
        near = near + rng.normal(size=near.shape).astype(np.float32) * 0.5 / near.shape[1] ** 0.5
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        return [*self._of.queries, *near][:count]

    def scan_ms(self) -> float:
        """Return how long it takes to compare as many vectors as are stored, in memory [ms]."""
        part = np.asarray(self._rows[: 20_000 // self._rows.shape[1]], np.float32) / SCALE
        part = part.reshape(-1, part.shape[2])
        p50, _ = timed(lambda q: np.argpartition(part @ q, -5), [self._of.queries[0]] * 7)
        return p50 * self._rows.shape[0] * self._rows.shape[1] / len(part)

    def cosines(self, query: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the cosine of each passage: shape (memories, passages)."""
        found = np.empty(self._rows.shape[:2], np.float32)
        for start in range(0, len(found), 4_000):
            found[start : start + 4_000] = self._rows[start : start + 4_000].astype(np.float32) @ (
                query / SCALE
            )
        return found

    def nearest(self, query: NDArray[np.float32]) -> set[str]:
        """Return the five memories with the best paragraphs."""
        counts = (paragraphs_among(memory, self._rows.shape[1]) for memory in self._memories)
        best = [row[:count].max() for row, count in zip(self.cosines(query), counts, strict=True)]
        return {self._memories[i].id for i in np.argsort(np.negative(best), kind='stable')[:5]}

    def best(self, question: str) -> dict[str, float]:
        """Return the five memories with the best scores of a recall by text, and these."""
        single = told_apart(question)
        vectors = [self._of.queries[QUESTIONS.index(question)], *GivenQueries(self._of).embed(single)]
        cosines = np.stack([self.cosines(vector) for vector in vectors], axis=2)
        shares = self._engine.word_shares(question, self._memories)
        worth = self._engine.rarities(single, self._memories)
        scores = [
            ranking.score(ranking.meaning(row, paragraphs_among(memory, len(row)), worth), shared)
            for memory, row, shared in zip(self._memories, cosines, shares, strict=True)
        ]
        order = sorted(range(len(scores)), key=lambda i: (-scores[i], -self._memories[i].start_ns))
        return {self._memories[i].id: scores[i] for i in order[:5]}


def _columns_ms(count: int) -> float:
    """Return how long one pass over the positions of all memories takes [ms]."""
    places = np.random.default_rng(0).uniform(size=(count, 3))
    p50, _ = timed(lambda p: np.argpartition(((places - p) ** 2).sum(axis=1), 5), list(places[:9]))
    return p50


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
