"""The figures of a run as JSON: of questions; of tasks, and of questions about trajectories, in homes."""

import math
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import asdict
from itertools import pairwise
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
    'll_sr_all': 'LL-SR, all',
}
FIGURES = {**TASK_FIGURES, 'accuracy': 'right', 'llm_match': 'LLM-Match'} | {
    name: name.replace('_', ' ')
    for name in ('mark', 'exact', 'relaxed', 'score', 'named', 'f1', 'success', 'l2_m')
}
"""Titles of what tasks, and answers about episodes, are measured by."""
HISTORY_MIN = tuple(
    (f'{low}-{high}' if high < math.inf else f'{low}+', low, high)
    for low, high in pairwise((0, 1, 2, 5, 10, 20, 40, math.inf))
)
"""Names and ends of the bins in which correctness is told over how far questions look back [min]."""
TASKS_CAUTION = (
    'These homes are simpler than those of Habitat: figures compare planners with each other, not with '
    'papers.'
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
    tasks = _by_groups(records, excluded := list(excluded)) if any(r.category for r in records) else {}
    groups = by_group(records)
    correct = {name: fraction(group) for name, group in groups.items()}
    answered = [record for record in records if record.outcome is Outcome.ANSWERED]
    outcomes = Counter(record.outcome for record in records)
    ranks = [record.rank for record in retrieved(records)]
    absent = [Kind.NOT_SEEN] if of_kind(records, Kind.NOT_SEEN) else []
    bins = {
        name: [r for r in records if low <= r.history_sec / 60.0 < high] for name, low, high in HISTORY_MIN
    }
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
        'over_history': {
            name: {'scored': found.n, 'correct': found.value, 'interval': found.interval}
            for name, found in ((name, fraction(group)) for name, group in bins.items())
        },
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


def _by_groups(records: Records, excluded: Iterable[Excluded]) -> dict[str, Any]:
    """Return what tasks, and questions about episodes, have beside the rest: figures by category and group.

    Intervals, 95 %, resample homes or episodes. LL-SR and LL-SPL are over what HL reached.
    """
    names = [name for name in FIGURES if any(_figure(record, name) is not None for record in records)]
    keys = dict.fromkeys(key for record in records for key in record.groups)
    found: dict[str, Any] = {'overall': _figures(records, names)}
    for key in ('category', *keys):
        groups = grouped(records, key)
        found[f'by_{key}'] = {name: _figures(group, names) for name, group in groups.items()}
    if 'wording' in keys:
        found['by_wording_and_category'] = _crossed(records, 'category', 'wording', names)
    if {'length', 'depth'} <= {*keys}:
        found['by_cell'] = _crossed(records, 'length', 'depth', names)
        lengths = grouped(records, 'length').items()
        found['cost'] = {'by_length': {length: _length_cost(group) for length, group in lengths}}
    if 'hl_sr' in names:
        homes: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for row in excluded:
            homes[row.question, row.reason].append(row.id)
        why = [{'template': text, 'why': reason, 'homes': ids} for (text, reason), ids in homes.items()]
        found |= {'caution': TASKS_CAUTION, 'unfilled': why}
    elif 'accuracy' in names:
        found['caution'] = NEEDLES_CAUTION
    return found


def grouped(records: Records, key: str) -> dict[str, Records]:
    """Return the records by their category or a group, without those that have none."""
    groups: defaultdict[str, list[QuestionRecord]] = defaultdict(list)
    for record in records:
        if name := record.category if key == 'category' else record.groups.get(key):
            groups[name].append(record)
    if key == 'category':
        return dict(groups)
    return {name: groups[name] for name in sorted(groups, key=lambda name: (len(name), name))}


def _crossed(records: Records, key: str, other: str, names: Iterable[str]) -> dict[str, dict[str, Any]]:
    groups = ((name, grouped(group, other)) for name, group in grouped(records, key).items())
    return {name: {of: _figures(cell, names) for of, cell in cells.items()} for name, cells in groups}


def _figures(records: Records, names: Iterable[str]) -> dict[str, Any]:
    figures: dict[str, Any] = {'n': len(records)}
    for name in names:
        # Trajectories of one home are told from each other by their length.
        values = (
            (record.sequence.removesuffix(f'-{record.groups.get("length")}'), value)
            for record in records
            if (value := _figure(record, name)) is not None
        )
        figures[name], figures[f'{name}_interval'] = home_mean(values)
    return figures


def _figure(record: QuestionRecord, name: str) -> float | None:
    if name == 'accuracy' and 'tokens' in record.figures:
        return float(bool(record.correct))
    return record.figures.get(name)


def _length_cost(records: Records) -> dict[str, Any]:
    cost = cost_figures(records)
    tokens = [record.figures['tokens'] for record in records if 'tokens' in record.figures]
    return {
        'latency_p50_sec': cost['latency_p50_sec'],
        'prompt_tokens': cost['per_question']['prompt_tokens'],
        'all_captions_tokens': fmean(tokens) if tokens else None,
    }
