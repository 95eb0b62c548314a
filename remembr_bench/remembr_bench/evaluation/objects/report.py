"""The figures of all homes: a dictionary for programs, and a table for people."""

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from remembr_bench.evaluation.metrics.scores import RESAMPLES
from remembr_bench.evaluation.objects.measure import Tally
from remembr_bench.evaluation.objects.run import PROMISED
from remembr_bench.evaluation.report.figures import ReportTable, figure_table

COLUMNS = (
    *('f1', 'precision', 'recall', 'duplicates', 'identity_switches', 'centre_error_m', 'iou'),
    *('moved_known', 'missing_known', 'falsely_changed', 'answers_right'),
)


def results(homes: Sequence[int], tallies: Mapping[str, Sequence[Tally]]) -> dict[str, Any]:
    """Return what results.json holds: `by_noise`, and `overall` at the level that is promised.

    :param tallies: by level of noise, the counts of each home
    """
    by_noise = {level: _figures(of_homes) for level, of_homes in tallies.items()}
    noise = PROMISED if PROMISED in by_noise else next(iter(by_noise))
    return {'homes': list(homes), 'noise': noise, 'overall': by_noise[noise], 'by_noise': by_noise}


def _figures(homes: Sequence[Tally]) -> dict[str, Any]:
    """Return the figures at one level of noise, counts over all homes together."""
    names = ('found', 'lost', 'ghosts', 'duplicates', 'switches', 'seen')
    found, lost, ghosts, duplicates, switches, seen = (sum(getattr(h, name) for h in homes) for name in names)
    still, wrong = (sum(home.still[i] for home in homes) for i in range(2))
    twice = [2 * home.found for home in homes]
    all_of = [2 * home.found + home.lost + home.ghosts + home.duplicates for home in homes]
    delays = [[delay for of_kind in home.changed.values() for delay in of_kind] for home in homes]
    known = [sum(delay is not None for delay in of_home) for of_home in delays]
    figures: dict[str, Any] = {
        'n': found + lost,
        'f1': _share(sum(twice), sum(all_of)),
        'f1_interval': _interval(twice, all_of),
        'precision': _share(found, found + ghosts + duplicates),
        'recall': _share(found, found + lost),
        'duplicates': duplicates,
        'ghosts': ghosts,
        'identity_switches': switches,
        'sights': seen,
        'centre_error_m': statistics.median([off for home in homes for off in home.centre_m] or [0.0]),
        'iou': statistics.fmean([iou for home in homes for iou in home.iou] or [0.0]),
        'changes_known': _share(sum(known), sum(map(len, delays))),
        'changes_known_interval': _interval(known, list(map(len, delays))),
        'still': still,
        'falsely_changed': _share(wrong, still),
    }
    right = [[one[3] for one in home.asked] for home in homes]
    figures['questions'] = sum(map(len, right))
    figures['answers_right'] = _share(sum(map(sum, right)), figures['questions'])
    figures['answers_right_interval'] = _interval(list(map(sum, right)), list(map(len, right)))
    kinds = dict.fromkeys(one[0] for home in homes for one in home.asked)
    figures['answers_right_by_kind'] = {
        kind: statistics.fmean(one[3] for home in homes for one in home.asked if one[0] == kind)
        for kind in kinds
    }
    for kind in ('moved', 'missing'):
        of_kind = [delay for home in homes for delay in home.changed[kind]]
        after_s = [delay for delay in of_kind if delay is not None]
        figures[kind], figures[f'{kind}_known'] = len(of_kind), _share(len(after_s), len(of_kind))
        figures[f'{kind}_known_after_s'] = statistics.median(after_s) if after_s else None
    return figures


def _share(some: float, of: float) -> float | None:
    return some / of if of else None


def _interval(some: Sequence[int], of: Sequence[int]) -> list[float] | None:
    """Return the 95 % percentile interval of a share, resampling whole homes."""
    drawn = np.random.default_rng(0).integers(0, len(of), (RESAMPLES // 10, len(of)))
    parts, wholes = (np.array(each)[drawn].sum(axis=1) for each in (some, of))
    shares = parts[wholes > 0] / wholes[wholes > 0]
    return np.quantile(shares, [0.025, 0.975]).tolist() if len(shares) else None


def object_table(figures: Mapping[str, Mapping[str, Any]]) -> ReportTable:
    """Return the figures as a table: a row for each level of noise."""
    return figure_table('noise', figures, dict(zip(COLUMNS, COLUMNS, strict=True)), form='.3f')
