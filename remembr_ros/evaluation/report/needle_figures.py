"""The figures of questions about long trajectories: as JSON, as tables, and as a picture."""

from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from remembr_ros.evaluation.metrics.scores import bootstrap_interval
from remembr_ros.evaluation.records.record import QuestionRecord
from remembr_ros.evaluation.report.tabulation import (
    NOTHING,
    Records,
    ReportTable,
    interval_text,
    latencies,
    number_text,
    quantile,
)

FIFTHS = ('0.0-0.2', '0.2-0.4', '0.4-0.6', '0.6-0.8', '0.8-1.0')
CAUTION = (
    'These homes, trajectories and questions are not those of infinity-THOR: figures compare planners with '
    'each other, not with papers.'
)
COST = {
    'latency_p50_sec': 'p50 [s]',
    'prompt_tokens': 'prompt [tokens]',
    'all_captions_tokens': 'all captions',
}
LENGTH = 'length of the trajectory [tokens of captions]'


def needle_results(records: Records) -> dict[str, Any]:
    """Return what results.json holds of these: fractions from 0 to 1, None over nothing.

    The interval, 95 %, resamples whole homes. Depth is that of the oldest clue, of what has none it is none.
    """
    deep = [one for one in records if 'depth' in one.figures]
    by_length = _grouped(records, _length)
    homes = _grouped(records, lambda one: one.sequence.rpartition('-')[0]).values()
    right = [[float(bool(one.correct)) for one in some] for some in homes]
    return {
        'caution': CAUTION,
        'overall': {**_right({'': records})[''], 'accuracy_interval': bootstrap_interval(right)},
        'by_category': _right(_grouped(records, lambda one: one.category)),
        'by_depth': _right(_grouped(deep, _fifth)),
        'by_length': _right(by_length),
        'by_clues': _right(_grouped(records, _clues)),
        'by_cell': {name: _right(_grouped(some, _fifth)) for name, some in _grouped(deep, _length).items()},
        'cost': {
            'by_length': {
                length: {
                    'latency_p50_sec': quantile(latencies(some), 0.5),
                    'prompt_tokens': fmean(one.prompt_tokens for one in some),
                    'all_captions_tokens': fmean(one.figures['tokens'] for one in some),
                }
                for length, some in by_length.items()
            }
        },
    }


def _length(one: QuestionRecord) -> str:
    return one.sequence.rpartition('-')[2]


def _fifth(one: QuestionRecord) -> str:
    return FIFTHS[min(int(one.figures['depth'] * len(FIFTHS)), len(FIFTHS) - 1)]


def _clues(one: QuestionRecord) -> str:
    return {0.0: 'none', 1.0: 'single'}.get(one.figures['clues'], 'several')


def _grouped(records: Records, key: Callable[[QuestionRecord], str]) -> dict[str, Records]:
    names = sorted({key(one) for one in records}, key=lambda name: (len(name), name))
    return {name: [one for one in records if key(one) == name] for name in names}


def _right(groups: Mapping[str, Records]) -> dict[str, dict[str, Any]]:
    return {
        name: {'n': len(some), 'accuracy': fmean(bool(one.correct) for one in some) if some else None}
        for name, some in groups.items()
    }


def needle_tables(told: Mapping[str, Any]) -> list[ReportTable]:
    """Return the figures by category, by length and depth, and what a question costs."""
    clues = {f'clues: {name}': of for name, of in told['by_clues'].items()}
    groups = {**told['by_category'], **clues, 'all': told['overall']}
    note = f'95 % of all: {interval_text(told["overall"]["accuracy_interval"])}. {told["caution"]}'
    cells = {name: [of.get(fifth) for fifth in FIFTHS] for name, of in told['by_cell'].items()}
    cost = [
        (name, *(number_text(of[key], ',.3f') for key in COST))
        for name, of in told['cost']['by_length'].items()
    ]
    return [
        ReportTable(
            'Questions', ('', 'right'), tuple((name, _cell(of)) for name, of in groups.items()), note
        ),
        ReportTable(
            'By length [tokens] and depth',
            ('', *FIFTHS),
            tuple((name, *map(_cell, some)) for name, some in cells.items()),
        ),
        ReportTable('Cost of a question', ('', *COST.values()), tuple(cost)),
    ]


def _cell(of: Mapping[str, Any] | None) -> str:
    return f'{number_text(of["accuracy"])} ({of["n"]})' if of else NOTHING


def draw(path: Path, told: Mapping[str, Any]) -> None:
    """Draw how much is right over depth and length, and what a question costs beside all captions."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 4.2), dpi=110, layout='tight')
    FigureCanvasAgg(figure)
    heat, cost = figure.subplots(1, 2)
    lengths = list(told['by_length'])
    found = [[told['by_cell'].get(name, {}).get(fifth) for name in lengths] for fifth in FIFTHS]
    values = [[of['accuracy'] if of else float('nan') for of in row] for row in found]
    heat.imshow(values, cmap='RdYlGn', vmin=0.0, vmax=1.0, aspect='auto')
    for y, row in enumerate(found):
        for x, of in enumerate(row):
            heat.text(x, y, _cell(of).replace(' ', '\n'), ha='center', va='center', fontsize=8)
    heat.set_xticks(range(len(lengths)), lengths)
    heat.set_yticks(range(len(FIFTHS)), FIFTHS)
    heat.set(title='right, and of how many', xlabel=LENGTH, ylabel='depth of the oldest clue')
    costs = told['cost']['by_length'].values()
    at = [of['all_captions_tokens'] for of in costs]
    cost.plot(at, at, '--', label='all captions in one prompt [tokens]')
    cost.plot(at, [of['prompt_tokens'] or None for of in costs], 'o-', label='prompts [tokens]')
    cost.plot(at, [1000.0 * (of['latency_p50_sec'] or 0.0) or None for of in costs], 's-', label='p50 [ms]')
    cost.set(title='cost of a question', xscale='log', yscale='log', xlabel=LENGTH)
    cost.legend()
    figure.savefig(path)
