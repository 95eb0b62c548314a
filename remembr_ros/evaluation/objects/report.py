"""The figures of all homes: a dictionary for programs, a table for people, and a picture."""

import statistics
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from remembr_ros.evaluation.metrics.scores import RESAMPLES
from remembr_ros.evaluation.objects.measure import Tally
from remembr_ros.evaluation.objects.rules import Belief
from remembr_ros.evaluation.objects.run import PROMISED, RULES
from remembr_ros.simulation.homes.recording import HomeTruth

Tallies = Mapping[tuple[str, str], Sequence[Tally]]
"""By level of noise and rule, the counts of each home."""

OURS = next(iter(RULES))
_COLOURS = ('#1f6fb2', '#d1495b', '#e08e1b', '#8e5ea2')


def results(homes: Sequence[int], tallies: Tallies) -> dict[str, Any]:
    """Return what results.json holds: `overall` at the level that is promised, `by_noise`, and `by_rule`."""
    levels = list(dict.fromkeys(level for level, _ in tallies))
    figures = {key: _figures(of_homes) for key, of_homes in tallies.items()}
    at = PROMISED if PROMISED in levels else levels[0]
    rules = list(dict.fromkeys(rule for _, rule in tallies))
    return {
        'homes': list(homes),
        'rule': rules[0],
        'noise': at,
        'overall': figures[at, rules[0]],
        'by_noise': {level: figures[level, rules[0]] for level in levels},
        'by_rule': {rule: {level: figures[level, rule] for level in levels} for rule in rules},
    }


def _figures(homes: Sequence[Tally]) -> dict[str, Any]:
    """Return the figures of one rule at one level of noise, counts over all homes together."""
    found, lost, ghosts, duplicates = (
        sum(getattr(home, name) for home in homes) for name in ('found', 'lost', 'ghosts', 'duplicates')
    )
    told = found + ghosts + duplicates
    centres = [off for home in homes for off in home.centre_m]
    switches, seen = sum(home.switches for home in homes), sum(home.seen for home in homes)
    changed: dict[str, Any] = {}
    for kind in ('moved', 'missing'):
        delays = [delay for home in homes for delay in home.changed[kind]]
        known = [delay for delay in delays if delay is not None]
        changed[f'{kind}_n'] = len(delays)
        changed[f'{kind}_known'] = len(known) / len(delays) if delays else None
        changed[f'{kind}_after_s'] = statistics.median(known) if known else None
    both = [delay for home in homes for delays in home.changed.values() for delay in delays]
    still, wrong = (sum(home.still[i] for home in homes) for i in range(2))
    return {
        'n': found + lost,
        'f1': _f1(homes),
        'f1_interval': _interval(homes, _f1),
        'precision': found / told if told else None,
        'recall': found / (found + lost) if found + lost else None,
        'duplicates': duplicates,
        'ghosts': ghosts,
        'identity_switches': switches,
        'switches_per_100_sights': 100.0 * switches / seen if seen else None,
        'centre_error_m': statistics.median(centres) if centres else None,
        'iou': statistics.fmean(iou for home in homes for iou in home.iou) if centres else None,
        **changed,
        'changes_known': sum(delay is not None for delay in both) / len(both) if both else None,
        'changes_known_interval': _interval(homes, _known),
        'still_n': still,
        'falsely_changed': wrong / still if still else None,
    }


def _f1(homes: Sequence[Tally]) -> float:
    found = sum(home.found for home in homes)
    wrong = sum(home.lost + home.ghosts + home.duplicates for home in homes)
    return 2.0 * found / max(2 * found + wrong, 1)


def _known(homes: Sequence[Tally]) -> float:
    delays = [delay for home in homes for of_kind in home.changed.values() for delay in of_kind]
    return sum(delay is not None for delay in delays) / max(len(delays), 1)


def _interval(homes: Sequence[Tally], figure: Callable[[Sequence[Tally]], float]) -> list[float]:
    """Return the 95 % percentile interval of a figure, resampling whole homes."""
    drawn = np.random.default_rng(0).integers(0, len(homes), (RESAMPLES // 10, len(homes)))
    values = [figure([homes[i] for i in rows]) for rows in drawn]
    return [float(edge) for edge in np.quantile(values, [0.025, 0.975])]


def table(told: Mapping[str, Any]) -> str:
    """Return the figures as lines in Markdown: a row for each level of noise and rule."""
    rows = [
        '| noise | rule | F1 | precision | recall | duplicates | switches '
        '| centre [m] | IoU | moved | missing | falsely |'
    ]
    rows.append('|' + '---|' * 12)
    for level in told['by_noise']:
        for rule, by_level in told['by_rule'].items():
            of = by_level[level]
            low, high = of['f1_interval']
            cells = (
                level, rule, f'{of["f1"]:.3f} ({low:.3f} to {high:.3f})', _short(of['precision']),
                _short(of['recall']), str(of['duplicates']), str(of['identity_switches']),
                _short(of['centre_error_m']), _short(of['iou']), _short(of['moved_known']),
                _short(of['missing_known']), _short(of['falsely_changed']),
            )  # fmt: skip
            rows.append(f'| {" | ".join(cells)} |')
    return '\n'.join(rows)


def _short(value: float | None) -> str:
    return '-' if value is None else f'{value:.3f}'


def draw(path: Path, told: Mapping[str, Any], truth: HomeTruth, beliefs: Sequence[Belief]) -> None:
    """Draw F1 by noise and rule, and one home from above: what is there, and what is believed in the end.

    :param truth: of the home, as beliefs
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(13.0, 6.2), dpi=110, facecolor='white')
    FigureCanvasAgg(figure)
    bars, plan = figure.subplots(1, 2, gridspec_kw={'width_ratios': (6, 7)})
    levels, rules = list(told['by_noise']), list(told['by_rule'])
    for i, (rule, colour) in enumerate(zip(rules, _COLOURS, strict=False)):
        at = np.arange(len(levels)) + (i - len(rules) / 2 + 0.5) * 0.2
        of = [told['by_rule'][rule][level] for level in levels]
        f1 = np.array([one['f1'] for one in of])
        ends = np.abs(np.array([one['f1_interval'] for one in of]).T - f1)
        bars.bar(at, f1, 0.2, yerr=ends, color=colour, label=rule, error_kw={'lw': 0.8})
    bars.set_xticks(range(len(levels)), [level.replace(' ', '\n', 1) for level in levels], fontsize=8)
    bars.set_ylim(0.0, 1.02)
    bars.set_ylabel('F1 of the objects after the last visit')
    bars.legend(loc='upper right', fontsize=8)
    _draw_plan(plan, truth, beliefs)
    plan.set_title(f'home {truth.seed}, noise {told["noise"]}', fontsize=9)
    figure.tight_layout()
    figure.savefig(path)


def _draw_plan(axes: Any, truth: HomeTruth, beliefs: Sequence[Belief]) -> None:
    from matplotlib.patches import Rectangle

    for item in truth.items:
        stay = item.stays[-1]
        if stay is not None:
            (x, y, _), (wide, deep, _) = stay.position, item.size
            box = Rectangle((x - wide / 2, y - deep / 2), wide, deep, fc='#e4e0d6', ec='#6b6459', lw=0.8)
            axes.add_patch(box)
    for belief in beliefs:
        (x, y, _), (wide, deep, _) = belief.low, belief.high - belief.low
        colour = _COLOURS[1] if belief.missing else _COLOURS[2] if belief.moves else _COLOURS[0]
        style = ':' if belief.missing else '-'
        axes.add_patch(Rectangle((x, y), wide, deep, fill=False, ec=colour, lw=1.2, ls=style))
        axes.annotate(belief.label, (x, y + deep), fontsize=5.5, color=colour)
    axes.autoscale_view()
    axes.set_aspect('equal')
    axes.set_xlabel(
        'grey: what is there; blue: known, orange: known to have moved, red: missing [m]', fontsize=8
    )
