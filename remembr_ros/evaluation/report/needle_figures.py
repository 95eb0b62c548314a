"""The figures of questions about long trajectories: as JSON, as tables, and as a picture."""

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from statistics import fmean
from typing import Any

from remembr_ros.evaluation.metrics.scores import bootstrap_interval
from remembr_ros.evaluation.records.record import QuestionRecord
from remembr_ros.evaluation.report.tabulation import (
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
COST = (
    ('latency_p50_sec', 'p50 [s]', '.3f'),
    ('prompt_tokens', 'prompt', ',.0f'),
    ('all_captions_tokens', 'all captions', ',.0f'),
)
LENGTH = 'length of the trajectory [tokens of captions]'


def needle_results(records: Records) -> dict[str, Any]:
    """Return what results.json holds of these: fractions from 0 to 1.

    The interval, 95 %, resamples whole homes. Depth is that of the oldest clue, of what has none it is none.
    """
    homes, lengths = _grouped(records, 'home').values(), _grouped(records, 'length')
    interval = bootstrap_interval([[float(bool(one.correct)) for one in some] for some in homes])
    return {
        'caution': CAUTION,
        'overall': {**_right(records), 'accuracy_interval': interval},
        **{f'by_{key}': _by(records, key) for key in ('category', 'depth', 'length', 'clues')},
        'by_cell': {length: _by(some, 'depth') for length, some in lengths.items()},
        'cost': {'by_length': {length: _cost(some) for length, some in lengths.items()}},
    }


def _grouped(records: Records, key: str) -> dict[str, Records]:
    """Return the records by their home, length, category, clues or depth; without those that have none."""
    groups: defaultdict[str, list[QuestionRecord]] = defaultdict(list)
    for one in records:
        home, _, length = one.sequence.rpartition('-')
        clues = {0.0: 'none', 1.0: 'single'}.get(one.figures['clues'], 'several')
        keys = {'home': home, 'length': length, 'category': one.category, 'clues': clues}
        if 'depth' in one.figures:
            keys['depth'] = FIFTHS[min(int(one.figures['depth'] * len(FIFTHS)), len(FIFTHS) - 1)]
        if key in keys:
            groups[keys[key]].append(one)
    return {name: groups[name] for name in sorted(groups, key=lambda name: (len(name), name))}


def _by(records: Records, key: str) -> dict[str, dict[str, Any]]:
    return {name: _right(some) for name, some in _grouped(records, key).items()}


def _right(records: Records) -> dict[str, Any]:
    return {'n': len(records), 'accuracy': fmean(bool(one.correct) for one in records)}


def _cost(records: Records) -> dict[str, Any]:
    return {
        'latency_p50_sec': quantile(latencies(records), 0.5),
        'prompt_tokens': fmean(one.prompt_tokens for one in records),
        'all_captions_tokens': fmean(one.figures['tokens'] for one in records),
    }


def needle_tables(told: Mapping[str, Any]) -> list[ReportTable]:
    """Return the figures by category and clues; and by length and depth, with what a question costs."""
    clues = {f'clues: {name}': of for name, of in told['by_clues'].items()}
    groups = {**told['by_category'], **clues, 'all': told['overall']}
    rows = [(name, _cell(of)) for name, of in groups.items()]
    lengths = [
        (
            length,
            *(_cell(cells.get(fifth)) for fifth in FIFTHS),
            *(number_text(told['cost']['by_length'][length][figure], form) for figure, _, form in COST),
        )
        for length, cells in told['by_cell'].items()
    ]
    note = f'95 % of all: {interval_text(told["overall"]["accuracy_interval"])}. {told["caution"]}'
    header = ('', *FIFTHS, *(title for _, title, _ in COST))
    return [
        ReportTable('Questions', ('', 'right'), tuple(rows), note),
        ReportTable('By length [tokens] and depth; cost', header, tuple(lengths)),
    ]


def _cell(of: Mapping[str, Any] | None) -> str:
    return f'{number_text(of["accuracy"])} ({of["n"]})' if of else number_text(None)


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
    heat.imshow(values, cmap='RdYlGn', vmin=0.0, vmax=1.0, alpha=0.6, aspect='auto')
    for y, row in enumerate(found):
        for x, of in enumerate(row):
            heat.text(x, y, _cell(of).replace(' ', '\n'), ha='center', va='center', fontsize=8)
    heat.set_xticks(range(len(lengths)), lengths)
    heat.set_yticks(range(len(FIFTHS)), FIFTHS)
    heat.set(title='right, and of how many', xlabel=LENGTH, ylabel='depth of the oldest clue')
    costs = told['cost']['by_length'].values()
    at = [of['all_captions_tokens'] for of in costs]
    cost.plot(at, at, 'o--', label='all captions in one prompt [tokens]')
    cost.plot(at, [of['prompt_tokens'] or None for of in costs], 'o-', label='prompts [tokens]')
    cost.plot(at, [1000.0 * (of['latency_p50_sec'] or 0.0) or None for of in costs], 's-', label='p50 [ms]')
    cost.set(title='cost of a question', xscale='log', yscale='log', xlabel=LENGTH)
    cost.legend()
    figure.savefig(path)
