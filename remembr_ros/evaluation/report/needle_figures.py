"""The figures of questions about long trajectories: as JSON, as tables, and as a picture."""

from collections.abc import Callable, Mapping
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


def needle_results(records: Records) -> dict[str, Any]:
    """Return what results.json holds of these: fractions from 0 to 1, None over nothing.

    The interval, 95 %, resamples whole homes. Depth is that of the oldest clue, of what has none it is none.
    """
    deep = [one for one in records if 'depth' in one.figures]
    by_length = _grouped(records, _length)
    return {
        'caution': CAUTION,
        'overall': _figures(records),
        'by_category': _told(_grouped(records, lambda one: one.category)),
        'by_depth': _told(_grouped(deep, _fifth)),
        'by_length': _told(by_length),
        'by_clues': _told(_grouped(records, _clues)),
        'by_category_and_clues': {
            name: _told(_grouped(some, _clues))
            for name, some in _grouped(records, lambda one: one.category).items()
        },
        'by_cell': {name: _told(_grouped(some, _fifth)) for name, some in _grouped(deep, _length).items()},
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
    return 'none' if one.figures['clues'] == 0 else 'single' if one.figures['clues'] == 1 else 'several'


def _grouped(records: Records, key: Callable[[QuestionRecord], str]) -> dict[str, Records]:
    names = sorted({key(one) for one in records}, key=lambda name: (len(name), name))
    return {name: [one for one in records if key(one) == name] for name in names}


def _told(groups: Mapping[str, Records]) -> dict[str, dict[str, Any]]:
    return {name: _figures(some) for name, some in groups.items()}


def _figures(records: Records) -> dict[str, Any]:
    homes = _grouped(records, lambda one: one.sequence.rpartition('-')[0]).values()
    right = [[float(bool(one.correct)) for one in some] for some in homes]
    values = [value for some in right for value in some]
    return {
        'n': len(values),
        'accuracy': fmean(values) if values else None,
        'accuracy_interval': bootstrap_interval(right),
    }


def needle_tables(told: Mapping[str, Any]) -> list[ReportTable]:
    """Return the figures by category, by length and depth, and what a question costs."""
    kinds = ('none', 'single', 'several')
    parts = {**told['by_category_and_clues'], 'all': told['by_clues']}
    rows = [
        (
            name,
            *_cells(of),
            *_cells(*(parts[name].get(kind) for kind in kinds)),
            interval_text(of['accuracy_interval']),
        )
        for name, of in {**told['by_category'], 'all': told['overall']}.items()
    ]
    header = ('', 'right', *(f'{kind} clue{"" if kind == "single" else "s"}' for kind in kinds), '95 %')
    cells = [(name, *_cells(*map(of.get, FIFTHS))) for name, of in told['by_cell'].items()]
    cost = [
        (
            name,
            f'{1000 * (of["latency_p50_sec"] or 0.0):.1f}',
            *(f'{of[key]:.0f}' for key in ('prompt_tokens', 'all_captions_tokens')),
        )
        for name, of in told['cost']['by_length'].items()
    ]
    return [
        ReportTable('Questions', header, tuple(rows), told['caution']),
        ReportTable('By length [tokens] and depth', ('', *FIFTHS), tuple(cells)),
        ReportTable(
            'Cost of a question', ('', 'p50 [ms]', 'prompt [tokens]', 'all captions [tokens]'), tuple(cost)
        ),
    ]


def _cells(*figures: Mapping[str, Any] | None) -> list[str]:
    return [f'{number_text(of["accuracy"])} ({of["n"]})' if of else number_text(None) for of in figures]


def draw(path: Path, told: Mapping[str, Any]) -> None:
    """Draw how much is right over depth and length, and what a question costs beside all captions."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 4.2), dpi=110, facecolor='white')
    FigureCanvasAgg(figure)
    heat, cost = figure.subplots(1, 2)
    lengths = list(told['by_length'])
    found = [[told['by_cell'].get(name, {}).get(fifth) for name in lengths] for fifth in FIFTHS]
    values = [[of['accuracy'] if of else float('nan') for of in row] for row in found]
    heat.imshow(values, cmap='RdYlGn', vmin=0.0, vmax=1.0, aspect='auto')
    for y, row in enumerate(found):
        for x, of in enumerate(row):
            heat.text(
                x, y, f'{of["accuracy"]:.2f}\n{of["n"]}' if of else '-', ha='center', va='center', fontsize=8
            )
    heat.set_xticks(range(len(lengths)), [f'{int(name):,}' for name in lengths], fontsize=8)
    heat.set_yticks(range(len(FIFTHS)), FIFTHS, fontsize=8)
    heat.set_xlabel('length of the trajectory [tokens of captions]')
    heat.set_ylabel('depth of the oldest clue')
    heat.set_title('right, and of how many', fontsize=9)
    costs = told['cost']['by_length'].values()
    at = [of['all_captions_tokens'] for of in costs]
    cost.plot(at, at, '--', color='#888888', label='all captions in one prompt [tokens]')
    cost.plot(at, [of['prompt_tokens'] or float('nan') for of in costs], 'o-', label='prompts [tokens]')
    cost.plot(at, [1000.0 * (of['latency_p50_sec'] or float('nan')) for of in costs], 's-', label='p50 [ms]')
    cost.set(xscale='log', yscale='log', xlabel='length of the trajectory [tokens of captions]')
    cost.set_title('cost of a question', fontsize=9)
    cost.legend(frameon=False, fontsize=8)
    figure.tight_layout()
    figure.savefig(path)
