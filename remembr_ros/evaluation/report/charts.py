"""The charts of a report, as SVG that takes its colours from the page."""

import io
import re
from collections.abc import Mapping, Sequence
from typing import Any

from remembr_ros.evaluation.datasets.sample import CORRECT_WITHIN_M, CORRECT_WITHIN_MIN
from remembr_ros.evaluation.report.tabulation import Bin

# Stand-ins for the page's colours: matplotlib wants numbers, light and dark pages want different ones.
_INK, _GRID, _FIRST, _SECOND, _LIMIT, _BACK = (f'#{i:02x}{i:02x}{i:02x}' for i in range(1, 7))
_PAGE = {
    _INK: 'currentColor',
    _GRID: 'var(--rule)',
    _FIRST: 'var(--blue)',
    _SECOND: 'var(--orange)',
    _LIMIT: 'var(--red)',
    _BACK: 'var(--page)',
}

LEAST_ERROR_M = 0.1
"""What a logarithmic axis shows of an error of nothing."""


def correctness_chart(bins: Sequence[Bin], overall: float | None) -> str:
    """Return overall correctness over length of history: value, 95 % interval and count of each bin."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 3.1), layout='constrained')
    axes = figure.add_subplot()
    _prepare(axes, 'history of the question [min]', 'correct')
    for number, found in enumerate(bins):
        value, interval = found.fraction.value or 0.0, found.fraction.interval or (0.0, 1.0)
        axes.bar(number, value, width=0.72, color=_FIRST, alpha=0.28, zorder=2)
        axes.plot([number - 0.36, number + 0.36], [value, value], color=_FIRST, linewidth=2.2, zorder=3)
        axes.errorbar(
            number,
            value,
            yerr=[[value - interval[0]], [interval[1] - value]],
            color=_INK,
            linewidth=1.1,
            capsize=3.5,
            zorder=4,
        )
        axes.text(number, 1.04, f'n={found.fraction.n}', ha='center', fontsize=8.5, color=_INK)
    if overall is not None:
        axes.axhline(overall, color=_LIMIT, linewidth=1.1, linestyle='--', zorder=1.5)
        axes.text(len(bins) - 0.4, overall, f' all {overall:.2f}', va='center', fontsize=8.5, color=_LIMIT)
    axes.set_xticks(range(len(bins)), [f'{b.low_min:g} to {b.high_min:.4g}' for b in bins])
    axes.set_xlim(-0.6, len(bins) - 0.4)
    axes.set_ylim(0.0, 1.13)
    axes.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
    return _svg(figure, 'correctness', 'Overall correctness over the length of history')


def error_chart(
    position: Sequence[float], minutes: Mapping[str, Sequence[float]], asked: Mapping[str, int]
) -> str:
    """Return the cumulative distributions of the errors, as shares of all that was asked.

    :param position: errors of positions [m]
    :param minutes: errors of times and durations [min] by kind
    :param asked: how many answers were wanted of each kind, with an error or without
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.4, 3.1), layout='constrained')
    left, right = figure.subplots(1, 2)
    _prepare(left, 'error of positions [m]', 'share of what was asked')
    _prepare(right, 'error of times and durations [min]', '')
    most_m = max([CORRECT_WITHIN_M * 4, *position])
    left.set_xscale('log')
    left.set_xlim(LEAST_ERROR_M, most_m * 1.1)
    left.xaxis.set_major_formatter(lambda value, _: f'{value:g}')
    _staircase(left, position, asked.get('position', 0), LEAST_ERROR_M, most_m * 1.1, _FIRST, '-', 'position')
    most_min = max([CORRECT_WITHIN_MIN * 4, *(error for errors in minutes.values() for error in errors)])
    right.set_xlim(0.0, most_min * 1.02)
    for (kind, errors), colour, dashes in zip(minutes.items(), (_FIRST, _SECOND), ('-', '--'), strict=False):
        _staircase(right, errors, asked.get(kind, 0), 0.0, most_min * 1.02, colour, dashes, kind)
    for axes, limit, unit in ((left, CORRECT_WITHIN_M, 'm'), (right, CORRECT_WITHIN_MIN, 'min')):
        axes.axvline(limit, color=_LIMIT, linewidth=1.1, linestyle=':', zorder=1.5)
        axes.text(limit, 1.05, f'{limit:g} {unit}', ha='center', fontsize=8.5, color=_LIMIT)
        axes.set_ylim(0.0, 1.03)
        axes.set_yticks([0.0, 0.25, 0.5, 0.75, 1.0])
        if axes.get_legend_handles_labels()[0]:
            axes.legend(
                loc='lower right',
                fontsize=8.5,
                labelcolor=_INK,
                facecolor=_BACK,
                edgecolor='none',
                framealpha=1.0,
            )
    return _svg(figure, 'errors', 'Cumulative distributions of the errors')


def _staircase(  # noqa: PLR0917
    axes: Any,
    errors: Sequence[float],
    asked: int,
    low: float,
    high: float,
    colour: str,
    dashes: str,
    label: str,
) -> None:
    if not asked:
        return
    ordered = sorted(max(error, low) for error in errors)
    xs = [low, *ordered, high]
    ys = [0.0, *((i + 1) / asked for i in range(len(ordered))), len(ordered) / asked]
    name = f'{label} ({len(ordered)} of {asked} have one)'
    axes.step(xs, ys, where='post', color=colour, linestyle=dashes, linewidth=1.8, zorder=3, label=name)


def _prepare(axes: Any, x_label: str, y_label: str) -> None:
    axes.patch.set_visible(False)
    axes.set_xlabel(x_label, color=_INK, fontsize=9.5)
    axes.set_ylabel(y_label, color=_INK, fontsize=9.5)
    axes.tick_params(which='both', colors=_INK, labelsize=8.5, length=3)
    axes.grid(True, axis='y', color=_GRID, linewidth=0.7, zorder=0)
    axes.set_axisbelow(True)
    for side in ('top', 'right'):
        axes.spines[side].set_visible(False)
    for side in ('left', 'bottom'):
        axes.spines[side].set_color(_INK)


def _svg(figure: Any, name: str, label: str) -> str:
    """Return the figure as an element of an HTML page.

    :param name: goes before every id, as several charts share a page
    """
    import matplotlib

    out = io.StringIO()
    nothing = dict.fromkeys(('Creator', 'Date', 'Format', 'Type'))
    with matplotlib.rc_context({'svg.fonttype': 'none', 'svg.hashsalt': name}):
        figure.savefig(out, format='svg', metadata=nothing, transparent=True)
    svg = out.getvalue()
    svg = svg[svg.index('<svg') :]
    svg = re.sub(r'<style[^>]*>.*?</style>', '', svg, flags=re.DOTALL)
    svg = re.sub(
        r'<svg[^>]*?viewBox="([^"]+)"[^>]*>', rf'<svg role="img" aria-label="{label}" viewBox="\1">', svg
    )
    svg = re.sub(r'\bid="', f'id="{name}-', svg)
    svg = re.sub(r'(url\(|href=")#', rf'\1#{name}-', svg)
    svg = svg.replace('xlink:href', 'href')
    svg = re.sub(r'font-family: [^;"]+;? ?', '', svg)  # the page has one
    for stand_in, colour in _PAGE.items():
        svg = svg.replace(stand_in, colour)
    return svg.strip()
