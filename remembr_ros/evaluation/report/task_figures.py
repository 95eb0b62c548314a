"""The figures of tasks in simulated places: as JSON, and as tables."""

from collections.abc import Iterable
from statistics import fmean
from typing import Any

from remembr_ros.evaluation.datasets.sample import Excluded
from remembr_ros.evaluation.metrics.scores import bootstrap_interval
from remembr_ros.evaluation.report.needle_figures import needle_results, needle_tables
from remembr_ros.evaluation.report.tabulation import Records, ReportTable, interval_text, number_text

FIGURES = {
    'hl_sr': 'HL-SR',
    'hl_spl': 'HL-SPL',
    'dtg_sr': 'DTG-SR',
    'sc_sr': 'SC-SR',
    'll_sr': 'LL-SR',
    'll_spl': 'LL-SPL',
}
CAUTION = (
    'These homes are simpler than those of Habitat, and the words of the instructions are others: figures '
    'compare planners with each other, not with papers.'
)


def task_results(records: Records, excluded: Iterable[Excluded]) -> dict[str, Any]:
    """Return `overall`, `by_category` and `unfilled`: fractions from 0 to 1, None over nothing.

    The intervals, 95 %, resample whole homes. LL figures are over what HL reached.
    """
    if any('clues' in record.figures for record in records):
        return needle_results(records)
    categories = list(dict.fromkeys(record.category for record in records))
    return {
        'caution': CAUTION,
        'overall': _figures(records),
        'by_category': {
            name: _figures([one for one in records if one.category == name]) for name in categories
        },
        'unfilled': _unfilled(excluded),
    }


def _figures(records: Records) -> dict[str, Any]:
    found: dict[str, Any] = {'n': len(records)}
    for name in FIGURES:
        by_home: dict[str, list[float]] = {}
        for record in records:
            if name in record.figures:
                by_home.setdefault(record.sequence, []).append(record.figures[name])
        values = [value for some in by_home.values() for value in some]
        found[name] = fmean(values) if values else None
        found[f'{name}_interval'] = bootstrap_interval(list(by_home.values()))
    return found


def _unfilled(excluded: Iterable[Excluded]) -> list[dict[str, Any]]:
    """Return in how many homes, and why, each template gave no task."""
    homes: dict[tuple[str, str], list[str]] = {}
    for row in excluded:
        homes.setdefault((row.question, row.reason), []).append(row.id)
    return [
        {'template': template, 'why': reason, 'homes': homes[template, reason]} for template, reason in homes
    ]


def tables_told(told: dict[str, Any]) -> list[ReportTable]:
    """Return the tables of tasks, or of questions about trajectories."""
    return needle_tables(told) if 'by_cell' in told else task_tables(told)


def task_tables(told: dict[str, Any]) -> list[ReportTable]:
    """Return the figures by category, and the templates that some homes have no task of."""
    rows = [
        (
            name,
            str(of['n']),
            *(number_text(of[figure]) for figure in FIGURES),
            interval_text(of['hl_sr_interval']),
        )
        for name, of in ({**told['by_category'], 'all': told['overall']}).items()
    ]
    header = ('', 'n', *FIGURES.values(), '95 % of HL-SR')
    found = [ReportTable('Tasks', header, tuple(rows), told['caution'])]
    if told['unfilled']:
        lines = [(one['template'], one['why'], str(len(one['homes']))) for one in told['unfilled']]
        found.append(ReportTable('Not filled', ('', 'because', 'homes'), tuple(lines)))
    return found
