"""The embedded memory beside eMEM (pip install emem), with one vector per memory, as eMEM has it.

Both are given the vectors, and asked for five memories by vector, by place and by time.
"""

import sys
import tempfile
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from remembr_ros.memory.embedded.engine import open_embedded
from remembr_ros.memory.model.engine import VERSION, Entry, Stamp
from remembr_ros.memory.model.recall import ANYTHING
from remembr_ros.timestamps import NS
from test.bench.figure import Figure
from test.bench.latency import timed
from test.bench.load import EVERY_NS, SIDE_M, START_NS, entries, material
from test.bench.neighbours import recall_of

COUNT = 10_000
DIMENSION = 1024
CALLS = 100


def run() -> list[Figure]:
    """Measure both; nothing where eMEM is not installed."""
    try:
        from emem import MemoryStore, SpatioTemporalMemoryConfig
    except ImportError:
        print('eMEM is not installed (pip install emem): left out', file=sys.stderr)
        return []
    of = material().projected(DIMENSION)
    memories = [Entry(e.memory, e.vectors[3:4]) for e in entries(of, COUNT)]
    more = [Entry(e.memory, e.vectors[3:4]) for e in entries(of, CALLS, seed=1)]
    rng = np.random.default_rng(5)
    near = [entry.vectors[0] for entry in memories[:: COUNT // CALLS]]
    queries = [_unit(v + rng.normal(size=DIMENSION).astype(np.float32) * 0.5 / DIMENSION**0.5) for v in near]
    places = rng.uniform(0.0, SIDE_M, (CALLS, 3)) * [1, 1, 0]
    times = [int(t) for t in START_NS + rng.integers(0, COUNT * EVERY_NS, CALLS)]
    exact = np.concatenate([entry.vectors for entry in memories])
    ids = [entry.memory.id for entry in memories]
    with tempfile.TemporaryDirectory(prefix='remembr-bench-') as folder:
        engine = open_embedded(f'{folder}/memory.db', 'memories', lambda: Stamp(VERSION, 'bench', DIMENSION))
        for start in range(0, COUNT, 250):
            engine.put(memories[start : start + 250])
        engine.wait()
        config = SpatioTemporalMemoryConfig(
            db_path=f'{folder}/emem.db',
            hnsw_path=f'{folder}/emem.bin',
            embedding_dim=DIMENSION,
            hnsw_max_elements=2 * COUNT,
        )
        other = MemoryStore(config)
        for start in range(0, COUNT, 250):
            other.add_observations_batch([_observation(e) for e in memories[start : start + 250]])

        def ours(query: NDArray[np.float32]) -> list[str]:
            return list(engine.like(query, ANYTHING, 5))[:5]

        def theirs(query: NDArray[np.float32]) -> list[str]:
            return [node.id for node in other.semantic_search_by_vector(query, 5)]

        pairs: list[tuple[str, Callable[..., object], Callable[..., object], list[object]]] = [
            ('by vector', ours, theirs, queries),
            (
                'by place, within 5 m',
                lambda p: engine.nearest_in_place(tuple(p), ANYTHING, 5),
                lambda p: other.spatial_query(p, 5.0, n_results=5),
                list(places),
            ),
            (
                'by time',
                lambda t: engine.nearest_in_time(t, ANYTHING, 5),
                lambda t: other.temporal_query(
                    time_range=((t - 60 * NS) / NS, (t + 60 * NS) / NS), n_results=5
                ),
                times,
            ),
        ]
        figures = []
        name = f'eMEM as baseline, {COUNT // 1000} k x {DIMENSION}'
        for what, mine, its, arguments in pairs:
            figures.append(
                Figure(f'{name}: {what}, p50', timed(mine, arguments)[0], timed(its, arguments)[0], 'ms')
            )
        right = [set(np.array(ids)[np.argsort(-(exact @ query))[:5]]) for query in queries]
        recalls = [recall_of(map(search, queries), right) for search in (ours, theirs)]
        figures.append(Figure(f'{name}: by vector, recall@5', *recalls, ''))
        mine = timed(lambda e: engine.put([e]), more)[0]
        its = timed(lambda e: other.add_observation(_observation(e)), more)[0]
        figures.append(Figure(f'{name}: insert one, p50', mine, its, 'ms'))
        engine.close()
        other.close()
    return figures


def _observation(entry: Entry) -> object:
    from emem import ObservationNode

    memory = entry.memory
    assert memory.pose is not None
    return ObservationNode(
        text=memory.caption,
        coordinates=np.array(memory.pose.position),
        timestamp=memory.start_ns / NS,
        id=memory.id,
        embedding=entry.vectors[0],
    )


def _unit(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    unit: NDArray[np.float32] = vector / np.linalg.norm(vector)
    return unit
