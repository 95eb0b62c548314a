"""How well memories that hold the answer are found: rank, recall@k and mean reciprocal rank."""

from collections.abc import Iterable, Sequence

from remembr_ros.evaluation.metrics.scores import Mean, mean

CUTOFFS = (1, 5, 10, 15)
"""Numbers of memories among which an answer is looked for."""


def rank(found: Sequence[str], relevant: frozenset[str]) -> int | None:
    """Return the place, from 1, of the first relevant id; None if there is none."""
    return next((i for i, memory_id in enumerate(found, 1) if memory_id in relevant), None)


def found_at(k: int, ranks: Iterable[int | None]) -> int:
    """Return of how many questions the answer is among the first k found."""
    return sum(r is not None and r <= k for r in ranks)


def recall_at(k: int, ranks: Iterable[int | None]) -> Mean:
    """Return the fraction of questions whose answer is among the first k found."""
    return mean(float(r is not None and r <= k) for r in ranks)


def mean_reciprocal_rank(ranks: Iterable[int | None]) -> Mean:
    """Return the mean of one over the rank, of zero where nothing relevant was found."""
    return mean(0.0 if r is None else 1.0 / r for r in ranks)


def retrieval_json(ranks: Sequence[int | None]) -> dict[str, float | None]:
    """Return the figures as fractions from 0 to 1; None over nothing."""
    return {
        **{f'recall@{k}': recall_at(k, ranks).value for k in CUTOFFS},
        'mrr': mean_reciprocal_rank(ranks).value,
    }
