"""The figures of a run as JSON; tabulation has them as tables."""

import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from remembr_ros.agent.model.answer import Kind
from remembr_ros.evaluation.datasets.sample import LENGTHS, Excluded
from remembr_ros.evaluation.metrics import scores as metrics
from remembr_ros.evaluation.metrics.scores import Mean, Outcome
from remembr_ros.evaluation.report.tabulation import CUTOFFS, Records, fraction, kinds_of, quantile, retrieved


def results_json(
    records: Records,
    excluded: Iterable[Excluded],
    doubtful: Iterable[Excluded] = (),
    *,
    planner: str,
    data: str,
    embedder: str,
) -> dict[str, Any]:
    """Return the figures of a run: fractions from 0 to 1, errors in metres or minutes, None over nothing.

    A figure is the mean over seeds of the mean over questions; std is over seeds, interval over questions.

    :param excluded: rows that were not asked
    :param doubtful: rows that were asked, although their label is an error of the data set
    """
    groups = _by_length(records)
    correct = {name: metrics.correctness(r.score for r in group) for name, group in groups.items()}
    outcomes = Counter(record.outcome for record in records)
    ranks = [record.rank for record in retrieved(records)]
    return {
        'planner': planner,
        'data': data,
        'embedder': embedder,
        'questions': len({(record.sequence, record.id) for record in records}),
        'seeds': sorted({record.seed for record in records}),
        'overall': {
            **{name: fraction.value for name, fraction in correct.items()},
            'scored': correct['ALL'].n,
            'scored_by_length': {length: correct[length].n for length in LENGTHS},
            'of_answered': {
                name: metrics.correctness_answered(r.score for r in group).value
                for name, group in groups.items()
            },
            'std': {name: _over_seeds(group) for name, group in groups.items()},
            'interval': {name: _interval(group) for name, group in groups.items()},
        },
        'by_kind': {
            kind.value: _kind_json([r for r in records if r.truth.kind is kind]) for kind in kinds_of(records)
        },
        'outcomes': {outcome.value: outcomes[outcome] for outcome in Outcome},
        'retrieval': {
            **{f'recall@{k}': metrics.recall_at(k, ranks).value for k in CUTOFFS},
            'mrr': metrics.mean_reciprocal_rank(ranks).value,
        },
        'retrievable': len(ranks),
        'cost': _cost_json(records),
        'excluded': [asdict(row) for row in excluded],
        'doubtful': [asdict(row) for row in doubtful],
    }


def _by_length(records: Records) -> dict[str, Records]:
    of_length = {length: [r for r in records if r.length == length] for length in LENGTHS}
    return {**of_length, 'ALL': records}


def _over_seeds(records: Records) -> float | None:
    """Return the standard deviation of the correctness over seeds; None over a single one."""
    seeds = sorted({record.seed for record in records})
    means = [metrics.correctness(r.score for r in records if r.seed == seed).value for seed in seeds]
    values = [mean for mean in means if mean is not None]
    return statistics.stdev(values) if len(values) > 1 else None


def _interval(records: Records) -> list[float] | None:
    found = fraction(records).interval
    return list(found) if found is not None else None


def _kind_json(records: Records) -> dict[str, Any]:
    correct, error = (of(r.score for r in records) for of in (metrics.correctness, metrics.errors))
    figures = {
        'n': len(records),
        'scored': correct.n,
        'correct': correct.value,
        'interval': _interval(records),
        'answered': sum(
            r.outcome in (Outcome.ANSWERED, Outcome.UNSCORED) and bool(r.answer) for r in records
        ),
        'error_mean': error.value,
        'error_std': error.std,
        'error_n': error.n,
    }
    if any(record.truth.kind is Kind.TEXT for record in records):
        figures |= {'exact': _exact(records).value, 'token_f1': _f1(records).value}
    return figures


def _exact(records: Records) -> Mean:
    """Return the fraction of answers that are the reference; what is not answered is not."""
    return metrics.mean(float(bool(record.exact)) for record in records if record.truth.kind is Kind.TEXT)


def _f1(records: Records) -> Mean:
    return metrics.mean(record.token_f1 or 0.0 for record in records if record.truth.kind is Kind.TEXT)


def _cost_json(records: Records) -> dict[str, Any]:
    latencies = sorted(record.latency_sec for record in records if record.latency_sec is not None)
    totals = {
        name: sum(getattr(record, name) for record in records)
        for name in ('llm_calls', 'prompt_tokens', 'completion_tokens')
    }
    return {
        **totals,
        'latency_p50_sec': _or_none(latencies, 0.5),
        'latency_p95_sec': _or_none(latencies, 0.95),
        'per_question': {name: total / len(records) if records else None for name, total in totals.items()},
    }


def _or_none(ordered: list[float], share: float) -> float | None:
    return quantile(ordered, share) if ordered else None
