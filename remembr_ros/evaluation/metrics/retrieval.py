"""How well memories that hold the answer are found: rank, recall@k and mean reciprocal rank."""

import statistics
from collections.abc import Iterable, Sequence

CUTOFFS = (1, 5, 10, 15)  # numbers of memories among which an answer is looked for


def rank(found: Sequence[str], relevant: frozenset[str]) -> int | None:
    """Return the place, from 1, of the first relevant id; None if there is none."""
    return next((i for i, memory_id in enumerate(found, 1) if memory_id in relevant), None)


def found_at(k: int, ranks: Iterable[int | None]) -> int:
    """Return of how many questions the answer is among the first k found."""
    return sum(r is not None and r <= k for r in ranks)


def retrieval_json(ranks: Sequence[int | None]) -> dict[str, float | None]:
    """Return recall@k and the mean of one over the rank, of zero where it is None; None over nothing."""
    n = len(ranks)
    return {
        **{f'recall@{k}': found_at(k, ranks) / n if n else None for k in CUTOFFS},
        'mrr': statistics.fmean(0.0 if r is None else 1.0 / r for r in ranks) if n else None,
    }
