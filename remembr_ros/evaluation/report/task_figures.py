"""The figures of tasks, and of questions about trajectories, in simulated homes: as JSON, and as tables."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from statistics import fmean
from typing import Any

from remembr_ros.evaluation.datasets.sample import Excluded
from remembr_ros.evaluation.metrics.scores import bootstrap_interval
from remembr_ros.evaluation.records.record import QuestionRecord
from remembr_ros.evaluation.report.figures import (
    NOTHING,
    Records,
    ReportTable,
    cost_figures,
    figure_table,
    shown,
)

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


def task_results(records: Records, excluded: Iterable[Excluded]) -> dict[str, Any]:
    """Return what results.json holds of these beside the rest: fractions from 0 to 1, None over nothing.

    The intervals, 95 %, resample whole homes. LL figures are over what HL reached.
    """
    if any('clues' in record.figures for record in records):
        return _needle_results(records)
    categories = dict.fromkeys(record.category for record in records)
    homes: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for row in excluded:
        homes[row.question, row.reason].append(row.id)
    return {
        'caution': TASKS_CAUTION,
        'overall': _figures(records),
        'by_category': {name: _figures([r for r in records if r.category == name]) for name in categories},
        'unfilled': [
            {'template': template, 'why': reason, 'homes': names}
            for (template, reason), names in homes.items()
        ],
    }


def task_tables(results: Mapping[str, Any]) -> list[ReportTable]:
    """Return the tables of what :func:`task_results` returns."""
    if 'by_cell' in results:
        return _needle_tables(results)
    groups = {**results['by_category'], 'all': results['overall']}
    columns = {'n': 'n', **TASK_FIGURES, 'hl_sr_interval': '95 % of HL-SR'}
    found = [figure_table('Tasks', groups, columns, results['caution'])]
    if results['unfilled']:
        rows = [(row['template'], row['why'], str(len(row['homes']))) for row in results['unfilled']]
        found.append(ReportTable('Not filled', ('', 'because', 'homes'), tuple(rows)))
    return found


def _figures(records: Records) -> dict[str, Any]:
    figures: dict[str, Any] = {'n': len(records)}
    for name in TASK_FIGURES:
        by_home: defaultdict[str, list[float]] = defaultdict(list)
        for record in records:
            if name in record.figures:
                by_home[record.sequence].append(record.figures[name])
        values = [value for home in by_home.values() for value in home]
        figures[name] = fmean(values) if values else None
        figures[f'{name}_interval'] = bootstrap_interval(list(by_home.values()))
    return figures


def _needle_results(records: Records) -> dict[str, Any]:
    """Depth is that of the oldest clue; what has no clue has none."""
    homes, lengths = _grouped(records, 'home').values(), _grouped(records, 'length')
    interval = bootstrap_interval([[float(bool(record.correct)) for record in home] for home in homes])
    return {
        'caution': NEEDLES_CAUTION,
        'overall': {**_accuracy(records), 'accuracy_interval': interval},
        **{f'by_{key}': _by(records, key) for key in ('category', 'depth', 'length', 'clues')},
        'by_cell': {length: _by(group, 'depth') for length, group in lengths.items()},
        'cost': {'by_length': {length: _needle_cost(group) for length, group in lengths.items()}},
    }


def _grouped(records: Records, key: str) -> dict[str, Records]:
    """Return the records by their home, length, category, clues or depth; without those that have none."""
    groups: defaultdict[str, list[QuestionRecord]] = defaultdict(list)
    for record in records:
        home, _, length = record.sequence.rpartition('-')
        clues = {0.0: 'none', 1.0: 'single'}.get(record.figures['clues'], 'several')
        keys = {'home': home, 'length': length, 'category': record.category, 'clues': clues}
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


def _needle_tables(results: Mapping[str, Any]) -> list[ReportTable]:
    """Return the figures by category and clues; and by length and depth, with what a question costs."""
    clues = {f'clues: {name}': group for name, group in results['by_clues'].items()}
    groups = {**results['by_category'], **clues, 'all': results['overall']}
    rows = [(name, _cell(group)) for name, group in groups.items()]
    note = f'95 % of all: {shown(results["overall"]["accuracy_interval"])}. {results["caution"]}'
    lengths = []
    for length, cells in results['by_cell'].items():
        latency, prompt, captions = results['cost']['by_length'][length].values()
        cost = (shown(latency, '.3f'), shown(prompt, ',.0f'), shown(captions, ',.0f'))
        lengths.append((length, *(_cell(cells.get(fifth)) for fifth in FIFTHS), *cost))
    header = ('', *FIFTHS, 'p50 [s]', 'prompt', 'all captions')
    return [
        ReportTable('Questions', ('', 'right'), tuple(rows), note),
        ReportTable('By length [tokens] and depth; cost', header, tuple(lengths)),
    ]


def _cell(group: Mapping[str, Any] | None) -> str:
    return f'{shown(group["accuracy"])} ({group["n"]})' if group else NOTHING
