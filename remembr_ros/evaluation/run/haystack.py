"""Retrieval at scale: the memories that hold the answers among ever more that do not."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from remembr_ros.evaluation.datasets.sample import Sample
from remembr_ros.evaluation.datasets.sample import Sequence as Drive
from remembr_ros.evaluation.metrics.scores import CUTOFFS, rank, retrieval_json
from remembr_ros.evaluation.report.figures import figure_table, quantile
from remembr_ros.evaluation.run.runner import RETRIEVED
from remembr_ros.memory.exchange.street_view import distractors
from remembr_ros.memory.model.recall import Query
from remembr_ros.memory.model.record import Observation
from remembr_ros.memory.store import MemoryStore

BATCH = 128

OnProgress = Callable[[int, int], None]
"""Called with how many memories are stored and how many will be."""


def measure(
    drives: Sequence[Drive],
    captions: list[str],
    factors: Sequence[int],
    store: MemoryStore,
    on_progress: OnProgress = lambda done, total: None,
) -> Iterator[dict[str, Any]]:
    """Yield how well and how fast the answers are found at each size, smallest first; the store grows.

    Nothing narrows a recall down: neither a window nor a map.

    :param captions: what distractors are made of
    :param factors: distractors per memory that holds an answer
    :param store: empty
    :return: the factor, memories in the store, fractions from 0 to 1, and the seconds of one recall by text
    """
    store.expect_bulk()
    samples = answerable(drives)
    relevant = {memory_id for sample in samples for memory_id in sample.relevant}
    needles = [memory for drive in drives for memory in drive.memories if memory.id in relevant]
    total = len(needles) * (1 + max(factors, default=0))
    last_ns = max((memory.end_ns for memory in needles), default=0)
    memories = chain(needles, distractors(captions, total - len(needles), last_ns + 1, 'haystack'))
    stored = 0
    for factor in sorted(factors):
        size = len(needles) * (1 + factor)
        while batch := [Observation(memory) for memory in islice(memories, min(BATCH, size - stored))]:
            store.add(batch)
            stored += len(batch)
            on_progress(stored, total)
        yield _measured(factor, samples, store)


def answerable(drives: Sequence[Drive]) -> list[Sample]:
    """Return the questions whose answer a memory is known to hold."""
    return [sample for drive in drives for sample in drive.samples if sample.relevant]


def haystack_table(sizes: Sequence[Mapping[str, Any]]) -> str:
    """Return the table for a person."""
    columns = {'memories': 'memories', **{f'recall@{k}': f'recall@{k}' for k in CUTOFFS}, 'mrr': 'MRR'}
    columns |= {'latency_p50_sec': 'p50 [s]', 'latency_p95_sec': 'p95 [s]'}
    return figure_table(
        'distractors', {f'{size["factor"]}x': size for size in sizes}, columns, form='.3f'
    ).text()


def _measured(factor: int, samples: Sequence[Sample], store: MemoryStore) -> dict[str, Any]:
    ranks, latencies = [], []
    for sample in samples:
        began = time.perf_counter()
        hits = store.find(Query(sample.question.text, limit=RETRIEVED))
        latencies.append(time.perf_counter() - began)
        ranks.append(rank([hit.memory.id for hit in hits], sample.relevant))
    return {
        'factor': factor,
        'memories': store.count(),
        **retrieval_json(ranks),
        'latency_p50_sec': quantile(latencies, 0.5),
        'latency_p95_sec': quantile(latencies, 0.95),
    }
