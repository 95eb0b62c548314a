"""What it costs that what a robot did is remembered beside what it saw: a day with deeds, and without.

The day of one robot that goes its round: 5,000 captions, and 5,000 deeds of all kinds. The baseline of each
figure is the same memory without the deeds, from the same run; a third memory has as many captions more in
their place, which tells what is due to the deeds and what to the size. The time to embed a question is
left out.
"""

import os
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import timezone
from multiprocessing import get_context
from typing import Any

import numpy as np
from numpy.typing import NDArray

from remembr_ros.agent.agent import Agent
from remembr_ros.agent.model.answer import Question
from remembr_ros.agent.offline.planner import OfflinePlanner
from remembr_ros.agent.overview.recalled_day import recall_day, scope_of_day
from remembr_ros.embedding.embedder import Embedder, RememberedEmbedder
from remembr_ros.embedding.embedders import OFFLINE, get_embedder
from remembr_ros.errors import EmbedderUnavailable
from remembr_ros.geometry import Pose
from remembr_ros.memory.deeds.deed import deed
from remembr_ros.memory.model.engine import Entry
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from remembr_ros.memory.objects.query import ObjectQuery
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS, parse_time
from test.bench.figure import Figure
from test.bench.latency import timed
from test.bench.load import QUESTIONS, entries, material

CAPTIONS = DEEDS = int(os.environ.get('REMEMBR_BENCH_DEEDS', '5000'))
"""Fewer: REMEMBR_BENCH_DEEDS=500"""

START_NS = parse_time('2026-11-23T00:00:00Z')
DAY_NS = 86_400 * NS
BATCH = 100  # as the verb event stores them
STATIONS = 40
STATION_M = 5.0
AT_ONE = 25  # captions of a stay and of the drive behind it
REPEATS = 5
OPENED = 5
"""Times, of which the middle one counts."""

MOST = 1.3
LINEAR = 2.0
"""Of what looks at all memories, of which there are twice as many; it takes a fifth of a millisecond."""
MEMORIES = ('without', 'with', 'more')
PLACED = tuple(f'Where did you put the {thing}?' for thing in ('red cup', 'blue box', 'green plate'))
THINGS = tuple(
    f'{colour} {thing}' for colour in ('red', 'blue', 'green') for thing in ('cup', 'box', 'plate')
)


def run() -> list[Figure]:
    """Measure the three memories, one after the other of each kind of call."""
    embedder = _KnownQuestions(_embedder())
    with tempfile.TemporaryDirectory(prefix='remembr-bench-') as folder:
        paths = {name: f'{folder}/{name}.db' for name in MEMORIES}
        seen, more = list(_captions(0)), list(_captions(1))
        for name, entered in (('without', seen), ('with', seen), ('more', [*seen, *more])):
            with open_store(paths[name], embedder) as store:
                for first in range(0, len(entered), 1_000):
                    store.put(entered[first : first + 1_000])
        figures = _storing(paths['with'], embedder)
        figures += _opening(paths)
        stores = {name: open_store(path, embedder, create=False) for name, path in paths.items()}
        try:
            figures += _calls(stores)
        finally:
            for store in stores.values():
                store.close()
    return figures


def _storing(path: str, embedder: '_KnownQuestions') -> list[Figure]:
    """Store the deeds; the baseline is what it takes to embed their sentences."""
    done, alone = list(_deeds()), RememberedEmbedder(embedder.embedder)
    stored_s = embedded_s = 0.0
    with open_store(path, embedder) as store:
        for first in range(0, DEEDS, BATCH):  # in turn, whatever else this machine does
            batch = done[first : first + BATCH]
            began = time.perf_counter()
            store.add([Observation(memory) for memory in batch])
            stored = time.perf_counter()
            alone.embed([memory.caption for memory in batch])
            stored_s += stored - began
            embedded_s += time.perf_counter() - stored
        assert store.count() == CAPTIONS + DEEDS
    return [
        Figure(f'{DEEDS} deeds: storing (baseline: embedding their sentences)', stored_s, embedded_s, 's')
    ]


def _opening(paths: dict[str, str]) -> list[Figure]:
    """Open each memory, in processes of their own, in turn."""
    taken: dict[str, list[float]] = {name: [] for name in paths}
    for _ in range(OPENED):
        for name, path in paths.items():
            with ProcessPoolExecutor(1, get_context('spawn')) as pool:
                taken[name].append(pool.submit(_opened, path).result())
    return _figures('opening, and the newest memory', {name: _middle(times) for name, times in taken.items()})


def _opened(path: str) -> float:
    import faiss  # noqa: F401
    import pymilvus  # noqa: F401

    began = time.perf_counter()
    with open_store(path, create=False) as store:
        assert store.find(Query(limit=1))
        return 1e3 * (time.perf_counter() - began)


def _calls(stores: dict[str, MemoryStore]) -> list[Figure]:
    rng = np.random.default_rng(5)
    places = [(float(x), float(y), 0.0) for x, y in rng.uniform(0.0, STATIONS * STATION_M, (100, 2))]
    times = [int(ns) for ns in START_NS + rng.integers(0, DAY_NS, 100)]
    nothing = [ObjectQuery(called=thing) for thing in THINGS]
    now_ns = START_NS + DAY_NS
    asked = [Question(text, now_ns, Pose(5.0, 0.0), asker='bench') for text in (*QUESTIONS, *PLACED)]
    calls: dict[str, tuple[Callable[[MemoryStore], Callable[[Any], object]], Sequence[Any], float | None]] = {
        'recall by text': (lambda s: s.find, [Query(text) for text in QUESTIONS], MOST),
        'recall by place': (lambda s: s.find, [Query(place=place) for place in places], LINEAR),
        'recall by time': (lambda s: s.find, [Query(time_ns=ns) for ns in times], LINEAR),
        'find_objects, none known': (lambda s: s.find_objects, nothing, MOST),
        'offline question': (lambda s: Agent(s, [OfflinePlanner()]).ask, asked, MOST),
        'the day, as the verb tells it': (lambda s: lambda _: _day(s), [None], None),
    }
    figures = []
    for name, (call, arguments, most) in calls.items():
        taken: dict[str, list[float]] = {each: [] for each in stores}
        for turn in range(REPEATS + 1):
            for each, store in stores.items():
                median, _ = timed(call(store), arguments)
                if turn:
                    taken[each].append(median)
        figures += _figures(name, {each: _middle(some) for each, some in taken.items()}, most)
    return figures


def _day(store: MemoryStore) -> object:
    scope = scope_of_day('2026-11-23', START_NS + DAY_NS, timezone.utc)
    day = recall_day(store, scope, timezone.utc)
    assert day.whole
    return day.lines(timezone.utc)


def _figures(name: str, ms: dict[str, float], most: float | None = MOST) -> list[Figure]:
    bound = None if most is None else most * ms['without']
    return [
        Figure(
            f'{name}: with {DEEDS} deeds (baseline: without)', ms['with'], ms['without'], 'ms', most=bound
        ),
        Figure(f'{name}: with {CAPTIONS} more captions instead', ms['more'], ms['without'], 'ms'),
    ]


def _middle(times: Sequence[float]) -> float:
    return sorted(times)[len(times) // 2]


def _captions(seed: int) -> Iterator[Entry]:
    """Yield what the robot saw on its round, over a day; by another seed, at times between."""
    every_ns = DAY_NS // CAPTIONS
    for number, entry in enumerate(entries(material(), CAPTIONS, seed)):
        start_ns = START_NS + number * every_ns + seed * every_ns // 2
        station, part = divmod(number, AT_ONE)
        x = (station + max(part - 15, 0) / (AT_ONE - 15)) % STATIONS * STATION_M
        memory = replace(
            entry.memory,
            id=memory_id('bench', str(seed), start_ns),
            robot='bench',
            start_ns=start_ns,
            end_ns=start_ns + 3 * NS,
            pose=Pose(x, 0.0),
            map_id='',
            travelled=STATION_M / 10 if part > 15 else 0.0,
        )
        yield Entry(memory, entry.vectors)


def _deeds() -> Iterator[Memory]:
    """Yield what it did meanwhile: drives, picks and places, questions, things that failed."""
    every_ns = DAY_NS // DEEDS
    for number in range(DEEDS):
        begin_ns = START_NS + number * every_ns
        station = number * CAPTIONS // DEEDS // AT_ONE % STATIONS
        thing = THINGS[number // 5 % len(THINGS)]
        about = (
            {'kind': 'go', 'receptacle': f'station {station}', 'goal': (station * STATION_M, 0.0, 0.0)},
            {'kind': 'pick', 'object': thing, 'receptacle': f'table {station}'},
            {'kind': 'place', 'object': thing, 'receptacle': f'shelf {station}', 'place': 'hall'},
            {'kind': 'fail', 'text': f'drawer {station} is stuck', 'reason': 'the motor is too hot'},
            {'kind': 'answer', 'text': f'Ann asked "Is station {station} clear?"; answered: yes'},
        )[number % 5]
        outcome = 'failed' if number % 17 == 0 else 'succeeded'
        told = {'outcome': outcome, 'pose': Pose(station * STATION_M, 0.0), **about}
        yield deed(begin_ns, begin_ns + 10 * NS, **told).memory('bench')


class _KnownQuestions:
    """Embeds each text once, so that what is timed is the memory."""

    def __init__(self, embedder: Embedder) -> None:
        self.embedder = embedder
        self._texts = RememberedEmbedder(embedder)
        self.name, self.dimension = embedder.name, embedder.dimension
        self._questions: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._texts.embed(texts)

    def embed_query(self, text: str) -> NDArray[np.float32]:
        if text not in self._questions:
            self._questions[text] = self.embedder.embed_query(text)
        return self._questions[text]


def _embedder() -> Embedder:
    try:
        return get_embedder(OFFLINE)
    except EmbedderUnavailable:
        return get_embedder('hashing-384')
