"""The tables of a run over questions, after table I of the ReMEmbR paper (arXiv 2409.13682)."""

from collections.abc import Callable, Mapping
from statistics import fmean, median

from remembr_ros.agent.model.answer import Kind
from remembr_ros.evaluation.metrics.scores import CUTOFFS, Outcome, found_at, retrieval_json
from remembr_ros.evaluation.report.figures import (
    GROUPS,
    NOTHING,
    UNITS,
    Fraction,
    Records,
    ReportTable,
    by_group,
    cost_figures,
    error_figures,
    fraction,
    quantile,
    retrieved,
    shown,
)

Cell = Callable[[Records], str]

_KIND_NAMES = {Kind.BINARY: 'yes/no', Kind.NOT_SEEN: 'absent things'}


def tables(records: Records) -> list[ReportTable]:
    """Return the tables of a report; of a run that measured retrieval alone, only that."""
    if records and all(r.answer is None and r.outcome is Outcome.UNSCORED for r in records):
        return [_retrieval(records)]
    found = [_paper(records), _by_kind(records), _outcomes(records), _retrieval(records), _cost(records)]
    seeds = sorted({r.seed for r in records})
    if len(seeds) > 1:
        groups = by_group(records).values()
        rows = [
            (str(seed), *(fraction([r for r in group if r.seed == seed]).text for group in groups))
            for seed in seeds
        ]
        found.insert(1, ReportTable('Correct, per seed', ('seed', *GROUPS), tuple(rows)))
    return found


def across(runs: Mapping[str, Records]) -> list[ReportTable]:
    """Return a table per figure, with a row per run.

    Figures that say nothing of any run, such as tokens where there is no language model, are left out.
    """
    rows: dict[str, list[tuple[str, ...]]] = {}
    for name, records in runs.items():
        for table in (_paper(records), _retrieval(records), _cost(records)):
            for figure, *cells in table.rows:
                rows.setdefault(figure, []).append((name, *cells))
    said = {name: found for name, found in rows.items() if any(set(r[1:]) - {NOTHING, '0.0'} for r in found)}
    return [ReportTable(name, ('', *GROUPS), tuple(found)) for name, found in said.items()]


def kinds_of(records: Records) -> list[Kind]:
    """Return the kinds that a run is reported by: the paper's, and what is not there if that was asked."""
    absent = any(record.truth.kind is Kind.NOT_SEEN for record in records)
    return [*UNITS, Kind.BINARY, Kind.TEXT, *([Kind.NOT_SEEN] if absent else [])]


def of_kind(records: Records, *kinds: Kind) -> Records:
    """Return the records of questions of these kinds."""
    return [r for r in records if r.truth.kind in kinds]


def _grouped(caption: str, records: Records, cells: Mapping[str, Cell], note: str = '') -> ReportTable:
    """Return a table with a row per figure, and a column per length of history."""
    groups = by_group(records).values()
    rows = tuple((name, *map(cell, groups)) for name, cell in cells.items())
    return ReportTable(caption, ('', *GROUPS), rows, note)


def _paper(records: Records) -> ReportTable:
    return _grouped(
        'Per length of history',
        records,
        {
            'Descriptive question accuracy ↑': lambda group: (
                fraction(of_kind(group, Kind.BINARY, Kind.TEXT)).text
            ),
            'Positional error [m] ↓': lambda group: _errors(of_kind(group, Kind.POSITION)),
            'Temporal error [min] ↓': lambda group: _errors(of_kind(group, Kind.TIME, Kind.DURATION)),
            'Overall correctness ↑': lambda group: fraction(group).text,
            '95 % interval': lambda group: shown(fraction(group).interval),
        },
        'After table I of the paper (arXiv 2409.13682). Descriptive: yes/no and judged texts. '
        'Temporal: times and durations. Errors: mean ± standard deviation over the answers that have one. '
        'Correct: within 15 m and 2 min (of buildings: 5 m and 5 s), yes or no exactly, a text by its judge; '
        'what was not seen or failed is not correct. Intervals: bootstrap, over questions.',
    )


def _by_kind(records: Records) -> ReportTable:
    rows = []
    for kind in kinds_of(records):
        some = of_kind(records, kind)
        correct, spread = fraction(some), ('', '', '')
        if kind in UNITS:
            errors = [r.error for r in some if r.error is not None]
            middle = shown(median(errors) if errors else None, '.1f')
            spread = (_errors(some, f' {UNITS[kind]}'), middle, shown(quantile(errors, 0.9), '.1f'))
        name = _KIND_NAMES.get(kind, kind.value)
        rows.append((name, str(len(some)), correct.text, shown(correct.interval), *spread))
    header = ('', 'asked', 'correct', '95 % interval', 'error', 'median', '90 % within')
    exact = [r.exact for r in records if r.exact is not None]
    f1 = [r.token_f1 for r in records if r.token_f1 is not None]
    note = ''
    if exact and f1:  # how near the texts are to their references, which needs no judge
        note = f'{sum(exact)} of {len(exact)} texts are the reference word for word; '
        note += f'token F1 with the reference {fmean(f1):.2f} (n={len(f1)}).'
    return ReportTable('Per kind of answer', header, tuple(rows), note)


def _outcomes(records: Records) -> ReportTable:
    def counted(outcome: Outcome) -> Cell:
        return lambda group: str(sum(r.outcome is outcome for r in group))

    cells = {outcome.value.replace('_', ' '): counted(outcome) for outcome in Outcome}
    cells['all'] = lambda group: str(len(group))
    return _grouped('Outcomes', records, cells, 'Unscored: answered, but what is right cannot be told here.')


def _retrieval(records: Records) -> ReportTable:
    def found(k: int) -> Cell:
        return lambda group: Fraction(found_at(k, [r.rank for r in group]), len(group)).text

    measured = retrieved(records)
    without = len({(r.sequence, r.id) for r in records}) - len(measured)
    note = 'Whether a memory that holds the answer is among the first found with the raw question.'
    cells = {f'recall@{k}': found(k) for k in CUTOFFS}
    cells['mean reciprocal rank'] = lambda group: shown(retrieval_json([r.rank for r in group])['mrr'])
    note += f' Without {without} whose answer no memory is known to hold.' if without else ''
    return _grouped('Retrieval', measured, cells, note)


def _cost(records: Records) -> ReportTable:
    def per_question(name: str) -> Cell:
        return lambda group: shown(cost_figures(group)['per_question'][name], ',.1f')

    cost = cost_figures(records)
    return _grouped(
        'Cost',
        records,
        {
            'calls of the language model per question': per_question('llm_calls'),
            'prompt tokens per question': per_question('prompt_tokens'),
            'completion tokens per question': per_question('completion_tokens'),
            'latency [s], median': lambda group: shown(cost_figures(group)['latency_p50_sec']),
            'latency [s], 95 % within': lambda group: shown(cost_figures(group)['latency_p95_sec']),
        },
        f'In all {cost["llm_calls"]:,} calls, {cost["prompt_tokens"]:,} prompt and '
        f'{cost["completion_tokens"]:,} completion tokens.',
    )


def _errors(records: Records, unit: str = '') -> str:
    mean, std, n = error_figures(records).values()
    spread = '' if std is None else f' ± {std:.1f}'
    return f'{mean:.1f}{spread}{unit} (n={n})' if n else NOTHING
