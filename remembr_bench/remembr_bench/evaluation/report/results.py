"""The figures of a run as JSON: of questions; of tasks, and of questions about trajectories, in homes."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from statistics import fmean
from typing import Any

from remembr_bench.evaluation.datasets.sample import LENGTHS, Excluded
from remembr_bench.evaluation.metrics.scores import Outcome, home_mean, retrieval_json
from remembr_bench.evaluation.records.record import QuestionRecord
from remembr_bench.evaluation.report.figures import (
    UNITS,
    Records,
    by_group,
    cost_figures,
    error_figures,
    fraction,
    of_kind,
    retrieved,
)
from remembr_ros.agent.model.answer import Kind

TASK_FIGURES = {
    'hl_sr': 'HL-SR',
    'hl_spl': 'HL-SPL',
    'dtg_sr': 'DTG-SR',
    'sc_sr': 'SC-SR',
    'll_sr': 'LL-SR',
    'll_spl': 'LL-SPL',
}
FIFTHS = ('0.0-0.2', '0.2-0.4', '0.4-0.6', '0.6-0.8', '0.8-1.0')
TASKS_CAUTION = (
    'These homes are simpler than those of Habitat, and the words of the instructions are others: figures '
    'compare planners with each other, not with papers.'
)
NEEDLES_CAUTION = (
    'These homes, trajectories and questions are not those of infinity-THOR: figures compare planners with '
    'each other, not with papers.'
)


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
    tasks = _task_results(records, excluded := list(excluded)) if any(r.category for r in records) else {}
    groups = by_group(records)
    correct = {name: fraction(group) for name, group in groups.items()}
    answered = [record for record in records if record.outcome is Outcome.ANSWERED]
    outcomes = Counter(record.outcome for record in records)
    ranks = [record.rank for record in retrieved(records)]
    absent = [Kind.NOT_SEEN] if of_kind(records, Kind.NOT_SEEN) else []
    kinds = (*UNITS, Kind.BINARY, Kind.TEXT, *absent)
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
        'by_kind': {kind.value: _of_kind(kind, of_kind(records, kind)) for kind in kinds},
        'outcomes': {outcome.value: outcomes[outcome] for outcome in Outcome},
        'retrieval': retrieval_json(ranks),
        'retrievable': len(ranks),
        'cost': {**cost_figures(records), **tasks.get('cost', {})},
        'excluded': [asdict(row) for row in excluded],
    }


def _of_kind(kind: Kind, records: Records) -> dict[str, Any]:
    correct, said = fraction(records), (Outcome.ANSWERED, Outcome.UNSCORED)
    figures = {
        'n': len(records),
        'scored': correct.n,
        'correct': correct.value,
        'interval': correct.interval,
        'answered': sum(record.outcome in said and record.answer is not None for record in records),
        **error_figures(records),
    }
    if records and kind is Kind.TEXT:
        # What is not answered is not the reference.
        figures['exact'] = fmean(bool(record.exact) for record in records)
        figures['token_f1'] = fmean(record.token_f1 or 0.0 for record in records)
    return figures


def _over_seeds(records: Records) -> float | None:
    """Return the standard deviation of the correctness over seeds; None over a single one."""
    seeds = sorted({record.seed for record in records})
    means = [fraction([r for r in records if r.seed == seed]).value for seed in seeds]
    values = [mean for mean in means if mean is not None]
    return statistics.stdev(values) if len(values) > 1 else None


def _task_results(records: Records, excluded: Iterable[Excluded]) -> dict[str, Any]:
    """Return what tasks have beside the rest; intervals, 95 %, resample homes. LL figures are over what HL
    reached."""
    if any('clues' in record.figures for record in records):
        return _needle_results(records)
    homes: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for row in excluded:
        homes[row.question, row.reason].append(row.id)
    categories = dict.fromkeys(record.category for record in records)
    return {
        'caution': TASKS_CAUTION,
        'overall': _of_tasks(records),
        'by_category': {name: _of_tasks([r for r in records if r.category == name]) for name in categories},
        'unfilled': [
            {'template': template, 'why': reason, 'homes': names}
            for (template, reason), names in homes.items()
        ],
    }


def _of_tasks(records: Records) -> dict[str, Any]:
    figures: dict[str, Any] = {'n': len(records)}
    for name in TASK_FIGURES:
        values = ((record.sequence, record.figures[name]) for record in records if name in record.figures)
        figures[name], figures[f'{name}_interval'] = home_mean(values)
    return figures


def _needle_results(records: Records) -> dict[str, Any]:
    """Depth is that of the oldest clue; what has no clue has none."""
    lengths = _grouped(records, 'length')
    homes = ((record.sequence.rpartition('-')[0], float(bool(record.correct))) for record in records)
    return {
        'caution': NEEDLES_CAUTION,
        'overall': {**_accuracy(records), 'accuracy_interval': home_mean(homes)[1]},
        **{f'by_{key}': _by(records, key) for key in ('category', 'depth', 'length', 'clues')},
        'by_cell': {length: _by(group, 'depth') for length, group in lengths.items()},
        'cost': {'by_length': {length: _needle_cost(group) for length, group in lengths.items()}},
    }


def _grouped(records: Records, key: str) -> dict[str, Records]:
    """Return the records by their length, category, clues or depth; without those that have none."""
    groups: defaultdict[str, list[QuestionRecord]] = defaultdict(list)
    for record in records:
        length = record.sequence.rpartition('-')[2]
        clues = {0.0: 'none', 1.0: 'single'}.get(record.figures['clues'], 'several')
        keys = {'length': length, 'category': record.category, 'clues': clues}
        if 'depth' in record.figures:
            keys['depth'] = FIFTHS[min(int(record.figures['depth'] * len(FIFTHS)), len(FIFTHS) - 1)]
        if key in keys:
            groups[keys[key]].append(record)
    return {name: groups[name] for name in sorted(groups, key=lambda name: (len(name), name))}


def _by(records: Records, key: str) -> dict[str, dict[str, Any]]:
    return {name: _accuracy(group) for name, group in _grouped(records, key).items()}


def _accuracy(records: Records) -> dict[str, Any]:
    return {'n': len(records), 'accuracy': fmean(bool(record.correct) for record in records)}


def _needle_cost(records: Records) -> dict[str, Any]:
    cost = cost_figures(records)
    return {
        'latency_p50_sec': cost['latency_p50_sec'],
        'prompt_tokens': cost['per_question']['prompt_tokens'],
        'all_captions_tokens': fmean(record.figures['tokens'] for record in records),
    }
