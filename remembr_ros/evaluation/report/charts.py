"""The charts of a report, as SVG that the page's style sheet colours."""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from html import escape
from itertools import pairwise

from remembr_ros.evaluation.datasets.sample import CORRECT_WITHIN_M, CORRECT_WITHIN_MIN
from remembr_ros.evaluation.metrics.scores import wilson_interval
from remembr_ros.evaluation.report.tabulation import Fraction, Records, fraction, scored
from remembr_ros.evaluation.report.track_map import round_step

HISTORY_EDGES_MIN = (0, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480)
"""Bins of history length [min]: the same for every run, so that runs can be laid side by side."""

LEAST_ERROR_M = 0.1  # what a logarithmic axis shows of an error of nothing

_HEIGHT, _WIDE, _NARROW = 220.0, 600.0, 330.0  # of the plots inside their axes, in pixels
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 56.0, 26.0, 52.0  # margins


def history_bins(records: Records) -> list[tuple[float, float, Fraction]]:
    """Return the correctness by length of history, as figure 4 of the paper, without empty bins.

    :return: from (inclusive) and to (exclusive) how far the questions look back [min]; how many are correct,
        with Wilson's interval, as a bin holds few questions
    """
    bins = []
    for low, high in pairwise((*HISTORY_EDGES_MIN, math.inf)):
        inside = [r for r in records if low <= r.history_sec / 60.0 < high]
        groups = scored(inside)
        if groups:
            sure = sum(map(statistics.fmean, groups))
            found = replace(fraction(inside), interval=wilson_interval(sure, len(groups)))
            longest = max(r.history_sec / 60.0 for r in inside)
            bins.append((low, high if math.isfinite(high) else longest, found))
    return bins


def correctness_chart(records: Records) -> str:
    """Return overall correctness over length of history: value, 95 % interval and count of each bin.

    :return: empty: nothing is scored
    """
    bins = history_bins(records)
    if not bins:
        return ''
    step = _WIDE / len(bins)
    places = [step * (i + 0.5) for i in range(len(bins))]
    ticks = [(x, f'{low:g} to', f'{high:.4g}') for x, (low, high, _) in zip(places, bins, strict=True)]
    parts = [_axes(_WIDE, 'history of the question [min]', ticks), _text(-34, _y(0.5), 'correct', 'up')]
    for x, (_, _, found) in zip(places, bins, strict=True):
        value, (low, high) = found.value or 0.0, found.interval or (0.0, 1.0)
        left, wide = x - 0.36 * step, 0.72 * step
        parts += [
            f'<path class="bar" d="M{left:.1f},{_HEIGHT}V{_y(value):.1f}h{wide:.1f}V{_HEIGHT}z"/>',
            f'<path class="first" d="M{left:.1f},{_y(value):.1f}h{wide:.1f}"/>',
            f'<path class="ink" d="M{x:.1f},{_y(low):.1f}m-4,0h8m-4,0V{_y(high):.1f}m-4,0h8"/>',
            _text(x, -8, f'n={found.n}'),
        ]
    overall = fraction(records).value or 0.0
    parts.append(f'<path class="limit" d="M0,{_y(overall):.1f}H{_WIDE}" stroke-dasharray="6 3"/>')
    parts.append(_text(_WIDE + 4, _y(overall) + 4, f'all {overall:.2f}', 'limit after'))
    return _svg('Overall correctness over the length of history', [(_WIDE, parts)])


def error_chart(
    position: Sequence[float], minutes: Mapping[str, Sequence[float]], asked: Mapping[str, int]
) -> str:
    """Return the cumulative distributions of the errors, as shares of all that was asked.

    :param position: errors of positions [m]
    :param minutes: errors of times and durations [min] by kind
    :param asked: how many answers were wanted of each kind, with an error or without
    """
    most_m = 1.1 * max([CORRECT_WITHIN_M * 4, *position])
    most_min = 1.02 * max([CORRECT_WITHIN_MIN * 4, *(one for errors in minutes.values() for one in errors)])
    decades = math.log10(most_m / LEAST_ERROR_M)

    def log_x(error: float) -> float:
        return _NARROW * math.log10(max(error, LEAST_ERROR_M) / LEAST_ERROR_M) / decades

    def linear_x(error: float) -> float:
        return _NARROW * error / most_min

    powers = [LEAST_ERROR_M * 10**i for i in range(math.floor(decades) + 1)]
    step = round_step(most_min / 5)
    steps = [step * i for i in range(math.floor(most_min / step) + 1)]
    left = _axes(_NARROW, 'error of positions [m]', [(log_x(v), f'{v:g}') for v in powers])
    right = _axes(_NARROW, 'error of times and durations [min]', [(linear_x(v), f'{v:g}') for v in steps])
    of_position = _distributions({'position': position}, asked, log_x, CORRECT_WITHIN_M, 'm')
    of_time = _distributions(minutes, asked, linear_x, CORRECT_WITHIN_MIN, 'min')
    plots = [left, _text(-34, _y(0.5), 'share of what was asked', 'up'), *of_position], [right, *of_time]
    return _svg('Cumulative distributions of the errors', [(_NARROW, plot) for plot in plots])


def _distributions(
    errors_of: Mapping[str, Sequence[float]],
    asked: Mapping[str, int],
    to_x: Callable[[float], float],
    limit: float,
    unit: str,
) -> list[str]:
    """Return what counts as correct, and each kind's staircase and line in the legend at the lower right."""
    x = f'{to_x(limit):.1f}'
    parts = [f'<path class="limit" d="M{x},0V{_HEIGHT}" stroke-dasharray="2 3"/>']
    parts.append(_text(to_x(limit), -8, f'{limit:g} {unit}', 'limit'))
    there = [kind for kind in errors_of if asked.get(kind)]
    for kind, style, row in zip(there, ('first', 'second'), range(len(there), 0, -1), strict=False):
        ordered = sorted(errors_of[kind])
        stairs = (f'H{to_x(error):.1f}V{_y(i / asked[kind]):.1f}' for i, error in enumerate(ordered, 1))
        y = _HEIGHT + 5 - 15 * row
        parts += [
            f'<path class="{style}" d="M0,{_HEIGHT}{"".join(stairs)}H{_NARROW}M{_NARROW - 30},{y - 4}h26"/>',
            _text(_NARROW - 34, y, f'{kind} ({len(ordered)} of {asked[kind]} have one)', 'before'),
        ]
    return parts


def _y(share: float) -> float:
    return _HEIGHT * (1.0 - share)


def _axes(width: float, title: str, ticks: Iterable[tuple[float | str, ...]]) -> str:
    """Return the axes: shares upwards, and to the right ticks of a place [px] and lines of text."""
    shares = (0.0, 0.25, 0.5, 0.75, 1.0)
    parts = [f'<path class="rule" d="{"".join(f"M0,{_y(share)}H{width}" for share in shares)}"/>']
    parts += [_text(-6, _y(share) + 3.5, f'{share:.2f}', 'before') for share in shares]
    for x, *lines in ticks:
        parts.append(f'<path class="ink" d="M{x:.1f},{_HEIGHT}v4"/>')
        parts += [_text(float(x), _HEIGHT + 16 + 11 * i, str(line)) for i, line in enumerate(lines)]
    parts.append(f'<path class="ink" d="M0,0V{_HEIGHT}H{width}"/>')
    return ''.join([*parts, _text(width / 2, _HEIGHT + 45, title)])


def _text(x: float, y: float, text: str, style: str = '') -> str:
    turned = f' transform="rotate(-90 {x:.1f} {y:.1f})"' if style == 'up' else ''
    return f'<text class="{style}" x="{x:.1f}" y="{y:.1f}"{turned}>{escape(text)}</text>'


def _svg(label: str, plots: Sequence[tuple[float, Sequence[str]]]) -> str:
    """Return plots of some widths [px] beside each other as an element of an HTML page."""
    x, drawn = 0.0, []
    for width, parts in plots:
        drawn.append(f'<g transform="translate({x + _LEFT} {_TOP})">{"".join(parts)}</g>')
        x += _LEFT + width + _RIGHT
    size = f'0 0 {x:.0f} {_TOP + _HEIGHT + _BOTTOM:.0f}'
    return f'<svg class="chart" role="img" aria-label="{label}" viewBox="{size}">{"".join(drawn)}</svg>'
