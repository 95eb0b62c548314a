"""The figures of a run as JSON."""

import statistics
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from remembr_ros.agent.model.answer import Kind
from remembr_ros.evaluation.datasets.sample import LENGTHS, Excluded
from remembr_ros.evaluation.metrics.scores import Outcome, retrieval_json
from remembr_ros.evaluation.report.figures import (
    Records,
    by_group,
    cost_figures,
    error_figures,
    fraction,
    retrieved,
)
from remembr_ros.evaluation.report.run_tables import kinds_of, of_kind
from remembr_ros.evaluation.report.task_figures import task_results


def results_json(
    records: Records,
    excluded: Iterable[Excluded],
    *,
    planner: str,
    data: str,
    embedder: str,
) -> dict[str, Any]:
    """Return the figures of a run: fractions from 0 to 1, errors in metres or minutes, None over nothing.

    A figure is the mean over seeds of the mean over questions; std is over seeds, interval over questions.

    :param excluded: rows that were not asked
    """
    tasks = task_results(records, excluded := list(excluded)) if any(r.category for r in records) else {}
    groups = by_group(records)
    correct = {name: fraction(group) for name, group in groups.items()}
    answered = [record for record in records if record.outcome is Outcome.ANSWERED]
    outcomes = Counter(record.outcome for record in records)
    ranks = [record.rank for record in retrieved(records)]
    return {
        'planner': planner,
        'data': data,
        'embedder': embedder,
        'questions': len({(record.sequence, record.id) for record in records}),
        'seeds': sorted({record.seed for record in records}),
        'overall': {
            **{name: found.value for name, found in correct.items()},
            'scored': correct['ALL'].n,
            'scored_by_length': {length: correct[length].n for length in LENGTHS},
            'of_answered': {name: fraction(group).value for name, group in by_group(answered).items()},
            'std': {name: _over_seeds(group) for name, group in groups.items()},
            'interval': {name: found.interval for name, found in correct.items()},
            **tasks.pop('overall', {}),
        },
        **{name: found for name, found in tasks.items() if name != 'cost'},
        'by_kind': {kind.value: _kind_json(kind, of_kind(records, kind)) for kind in kinds_of(records)},
        'outcomes': {outcome.value: outcomes[outcome] for outcome in Outcome},
        'retrieval': retrieval_json(ranks),
        'retrievable': len(ranks),
        'cost': {**cost_figures(records), **tasks.get('cost', {})},
        'excluded': [asdict(row) for row in excluded],
    }


def _over_seeds(records: Records) -> float | None:
    """Return the standard deviation of the correctness over seeds; None over a single one."""
    seeds = sorted({record.seed for record in records})
    means = [fraction([r for r in records if r.seed == seed]).value for seed in seeds]
    values = [mean for mean in means if mean is not None]
    return statistics.stdev(values) if len(values) > 1 else None


def _kind_json(kind: Kind, records: Records) -> dict[str, Any]:
    correct, said = fraction(records), (Outcome.ANSWERED, Outcome.UNSCORED)
    figures = {
        'n': len(records),
        'scored': correct.n,
        'correct': correct.value,
        'interval': correct.interval,
        'answered': sum(r.outcome in said and r.answer is not None for r in records),
        **error_figures(records),
    }
    if records and kind is Kind.TEXT:
        # What is not answered is not the reference.
        figures['exact'] = statistics.fmean(bool(record.exact) for record in records)
        figures['token_f1'] = statistics.fmean(record.token_f1 or 0.0 for record in records)
    return figures
