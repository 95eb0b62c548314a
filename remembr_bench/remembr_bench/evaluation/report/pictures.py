"""Pictures of runs, PNG: how much is right over the length of the history, and over depth and length."""

from collections.abc import Mapping
from io import BytesIO
from typing import Any

import numpy as np

from remembr_bench.evaluation.datasets.sample import FIFTHS
from remembr_bench.evaluation.report.figures import shown


def pictures_of(results: Mapping[str, Any]) -> dict[str, bytes]:
    """Return the pictures that the figures of a run make, by the names of their files."""
    found = {}
    scored = any(of_bin['scored'] for of_bin in results.get('over_history', {}).values())
    if scored and 'by_category' not in results:
        found['history.png'] = history_picture({results['planner']: results})
    main = next((name for name in ('named', 'accuracy') if name in results.get('overall', {})), None)
    if main is not None and 'by_cell' in results:
        found['heat_map.png'] = heat_map(results['by_cell'], main)
    return found


def history_picture(runs: Mapping[str, Mapping[str, Any]]) -> bytes:
    """Return correctness over how far questions look back, after figure 4 of the ReMEmbR paper: bars by run.

    :param runs: what results.json holds of each, by its title
    """
    figure, axes = _figure(8.0, 3.6)
    bins = list(next(iter(runs.values()))['over_history'])
    width = 0.8 / len(runs)
    for number, (title, results) in enumerate(runs.items()):
        of_bins = [results['over_history'][name] for name in bins]
        values = np.array([found['correct'] or 0.0 for found in of_bins])
        ends = np.array(
            [found['interval'] or (value, value) for found, value in zip(of_bins, values, strict=True)]
        )
        at = np.arange(len(bins)) + (number - (len(runs) - 1) / 2.0) * width
        off = np.clip(np.stack([values - ends[:, 0], ends[:, 1] - values]), 0.0, None)
        # A title is text: no mathematics in dollars, no half characters, none that its begin hides.
        label = title[:60].replace('$', r'\$').encode('utf-8', 'replace').decode()
        axes.bar(at, values, width, yerr=off, capsize=3, label=f' {label}')
        for x, found in zip(at, of_bins, strict=True):
            axes.annotate(f'n={found["scored"]}', (x, 0.02), ha='center', fontsize=7)
    axes.set(
        xlabel='history [min]', ylabel='correct', ylim=(0.0, 1.05), xticks=range(len(bins)), xticklabels=bins
    )
    axes.legend(fontsize=8)
    return _png(figure)


def heat_map(cells: Mapping[str, Mapping[str, Mapping[str, Any]]], main: str) -> bytes:
    """Return how much is right by depth of the oldest clue and length of the trajectory.

    :param cells: figures by length and depth
    :param main: the one that is shown
    """
    table = [[cell.get(fifth, {}).get(main) for cell in cells.values()] for fifth in FIFTHS]
    figure, axes = _figure(1.8 + 1.0 * len(cells), 3.6)
    drawn = axes.imshow(np.array(table, float), cmap='RdYlGn', vmin=0.0, vmax=1.0, aspect='auto')
    for row, column in np.ndindex(len(table), len(cells)):
        axes.annotate(shown(table[row][column]), (column, row), ha='center', va='center', fontsize=8)
    axes.set(xlabel='length [tokens]', ylabel='depth', xticks=range(len(cells)), xticklabels=[*cells])
    axes.set(yticks=range(len(FIFTHS)), yticklabels=FIFTHS)
    figure.colorbar(drawn, label='right')
    return _png(figure)


def _figure(width_in: float, height_in: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure((width_in, height_in), layout='constrained')
    return figure, figure.subplots()


def _png(figure: Any) -> bytes:
    figure.savefig(file := BytesIO(), format='png', dpi=120, metadata={'Software': None})
    return file.getvalue()
