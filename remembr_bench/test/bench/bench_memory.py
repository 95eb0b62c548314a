"""What the embedded memory costs, at sizes from an afternoon to a year of driving.

Vectors: of real captions and their sentences, perturbed; 7 per memory. The time to embed a question is left
out. Baseline of a search by text is a pass of numpy over all vectors, of the others one over all memories.
"""

import os
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from remembr_ros.memory.embedded.engine import EmbeddedEngine, open_embedded
from remembr_ros.memory.embedded.index_files import SCALE, SLOT
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

TARGETS = {'text': 15.0, 'filtered': 3.0, 'position': 3.0, 'time': 3.0, 'insert': 10.0, 'resident': 2500.0}
"""At 100,000 memories of 1024 numbers [ms, MB]."""

STARTS = {(100_000, 1024): 2.0, (300_000, 384): 5.0}
"""Longest starts [s]."""

CALLS = 60
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
    held = (count, dimension) == (100_000, 1024)
    with tempfile.TemporaryDirectory(prefix='remembr-bench-') as folder:
        path = f'{folder}/memory.db'
        engine = _opened(path, dimension)
        seconds = _fill(engine, of, count, name)
        figures = [Figure(f'{name}: insert in batches', count / seconds, None, 'memories/s')]
        more = [[entry] for entry in entries(of, CALLS, seed=1)]
        figures += _latency(f'{name}: insert one', engine.put, more, TARGETS['insert'] if held else None)
        engine.close()

        began = time.perf_counter()
        engine = _opened(path, dimension)
        store = MemoryStore(
            lambda: engine, path, 'memories', embedder=GivenQueries(of),
            keyframes=KeyframeFolder(Path(folder) / 'keyframes'), undone=Path(folder) / 'undone',
        )  # fmt: skip
        start = time.perf_counter() - began
        for question in QUESTIONS:
            store.find(Query(question))
        # Before anything is compared exactly, for which all vectors are read.
        most = TARGETS['resident'] if held else None
        figures.append(Figure(f'{name}: resident, all processes', resident_mb(), None, 'MB', most=most))
        figures += _searches(name, engine, store, of, count=count, held=held)
        began = time.perf_counter()
        for number in sorted(engine.volumes()):
            deque(engine._volumes.read(number), 0)
        rows = time.perf_counter() - began
        most = STARTS.get((count, dimension))
        figures.append(Figure(f'{name}: start (baseline: reading all records)', start, rows, 's', most=most))
        size = engine.summary().bytes or 0
        raw = 4 * dimension * of.vectors.shape[1] * count
        figures.append(Figure(f'{name}: disk (baseline: the vectors)', size / 1e6, raw / 1e6, 'MB'))
        store.close()
        engine.close()
    return figures


def _searches(
    name: str, engine: EmbeddedEngine, store: MemoryStore, of: Material, *, count: int, held: bool
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
    target = {key: most if held else None for key, most in TARGETS.items()}
    figures = _latency(f'{name}: text', store.find, [Query(q) for q in questions], target['text'], scan)
    # By all that counts in every memory. Of dozens that say the same it matters little which come first.
    hits = [store.find(Query(q)) for q in QUESTIONS]
    best = [vectors.best(q) for q in QUESTIONS]
    recall = recall_of([[h.memory.id for h in found] for found in hits], best)
    figures.append(Figure(f'{name}: text, recall@5 of the whole score', recall, 1.0, ''))
    scores = [
        sum(h.score for h in found) / sum(exact.values()) for found, exact in zip(hits, best, strict=True)
    ]
    least = 0.98 if held else None
    figures.append(
        Figure(f'{name}: text, score of the five over the best five', float(np.mean(scores)), 1.0, '', least)
    )
    queries = vectors.queries(CHECKED)
    figures += _latency(
        f'{name}: text, vectors alone', lambda q: engine.like(q, ANYTHING, 5), queries, None, scan
    )
    found = [list(engine.like(query, ANYTHING, 5))[:5] for query in queries]
    recall = recall_of(found, map(vectors.nearest, queries))
    figures.append(Figure(f'{name}: text, vectors alone, recall@5', recall, 1.0, '', least))
    text = QUESTIONS[0]
    figures += _latency(
        f'{name}: text in an hour of two robots',
        lambda s: store.find(Query(text, scope=s)),
        windows(),
        target['text'],
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
    figures += _latency(f'{name}: position', store.find, nearest, target['position'], columns)
    times = [int(t) for t in START_NS + rng.integers(0, count * EVERY_NS, CALLS)]
    at = [Query(time_ns=t) for t in times]
    figures += _latency(f'{name}: time', store.find, at, target['time'], columns)
    around = [Query(time_ns=t, around=True) for t in times]
    figures += _latency(f'{name}: consecutive around a time', store.find, around, None, columns)
    figures += _latency(
        f'{name}: position in an hour of two robots, 30 m',
        lambda s: store.find(Query(place=centre, scope=replace(s, near=centre, radius_m=30.0))),
        windows(),
        target['filtered'],
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
        each, dimension = of.vectors.shape[1:]
        (raw,) = Path(f'{engine._path}.index').rglob('passages.i16')
        runs = np.fromfile(raw.with_name('slots.bin'), SLOT)
        self._memories = engine.get([memory_id.decode() for memory_id in runs['id'].tolist()])
        self._rows = np.memmap(raw, np.int16, 'r').reshape(-1, each, dimension)
        self._caption = {caption: number for number, caption in enumerate(of.captions)}

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
