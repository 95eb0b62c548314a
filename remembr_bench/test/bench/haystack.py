"""Retrieval at scale: the memories that hold the answers among ever more that do not.

python -m test.bench.haystack NAVQA streetview.gml [FACTOR ...]

The others are made of the captions of a street-view graph (GML). Nothing narrows a recall down: neither a
window nor a map.
"""

import html
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from typing import Any

from remembr_bench.evaluation.datasets.sample import Sample
from remembr_bench.evaluation.metrics.scores import CUTOFFS, rank, retrieval_json
from remembr_bench.evaluation.records.config import RunConfig
from remembr_bench.evaluation.report.figures import figure_table, quantile
from remembr_bench.evaluation.run.loading import load
from remembr_bench.evaluation.run.runner import RETRIEVED
from remembr_ros.embedding.embedders import OFFLINE, get_embedder
from remembr_ros.geometry import Pose
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Memory, Observation, memory_id
from remembr_ros.memory.opening import open_store
from remembr_ros.memory.store import MemoryStore
from remembr_ros.timestamps import NS

FACTORS = (1, 10, 100)  # distractors per memory that holds an answer
VIEWS = 3  # street views in one memory: a robot that drives sees as much in 3 s
SEGMENT_NS = 3 * NS
BATCH = 128


def main(folder: str, graph: str, *factors: str) -> None:
    quoted = re.findall(r'\bcaption "([^"]+)"', Path(graph).read_text())
    captions = [html.unescape(caption).strip() for caption in quoted]
    embedder = get_embedder(OFFLINE)
    drives = load(RunConfig(data='navqa', folder=folder), Path(), embedder)
    samples = [sample for drive in drives for sample in drive.samples if sample.relevant]
    relevant = {memory_id for sample in samples for memory_id in sample.relevant}
    needles = [memory for drive in drives for memory in drive.memories if memory.id in relevant]
    others = distractors(captions, max(memory.end_ns for memory in needles) + 1)
    memories = chain(needles, others)
    sizes: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as place, open_store(f'{place}/memory.db', embedder) as store:
        store.expect_bulk()
        for factor in sorted(map(int, factors)) or FACTORS:
            size = len(needles) * (1 + factor)
            while batch := list(islice(memories, min(BATCH, size - store.count()))):
                store.add([Observation(memory) for memory in batch])
            sizes[f'{factor}x'] = measured(samples, store)
    columns = {'memories': 'memories', **{f'recall@{k}': f'recall@{k}' for k in CUTOFFS}, 'mrr': 'MRR'}
    columns |= {'latency_p50_sec': 'p50 [s]', 'latency_p95_sec': 'p95 [s]'}
    print(figure_table('distractors', sizes, columns, form='.3f').text())


def distractors(captions: list[str], start_ns: int) -> Iterator[Memory]:
    """Yield memories of a drive that never happened, no two alike: three views, ever further apart."""
    number = 0
    while True:
        first, step = number % len(captions), number // len(captions) + 1
        begins = start_ns + number * SEGMENT_NS
        yield Memory(
            id=memory_id('haystack', 'captioner', begins),
            robot='haystack',
            start_ns=begins,
            end_ns=begins + SEGMENT_NS - 1,
            caption='\n\n'.join(captions[(first + n * step) % len(captions)] for n in range(VIEWS)),
            pose=Pose(3.0 * number, 0.0),
            map_id='haystack',
        )
        number += 1


def measured(samples: list[Sample], store: MemoryStore) -> dict[str, Any]:
    """Return how well and how fast the answers are found."""
    ranks, latencies = [], []
    for sample in samples:
        began = time.perf_counter()
        hits = store.find(Query(sample.question.text, limit=RETRIEVED))
        latencies.append(time.perf_counter() - began)
        ranks.append(rank([hit.memory.id for hit in hits], sample.relevant))
    times = {'latency_p50_sec': quantile(latencies, 0.5), 'latency_p95_sec': quantile(latencies, 0.95)}
    return {'memories': store.count(), **retrieval_json(ranks), **times}


if __name__ == '__main__':
    main(*sys.argv[1:])
