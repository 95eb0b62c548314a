"""The tables of a run: over questions after table I of the ReMEmbR paper (arXiv 2409.13682), and of tasks."""

from collections.abc import Mapping
from typing import Any

from remembr_bench.evaluation.datasets.sample import FIFTHS
from remembr_bench.evaluation.metrics.scores import CUTOFFS, Outcome
from remembr_bench.evaluation.report.figures import (
    GROUPS,
    NOTHING,
    Records,
    ReportTable,
    by_group,
    error_figures,
    figure_table,
    fraction,
    of_kind,
    shown,
)
from remembr_bench.evaluation.report.results import FIGURES
from remembr_ros.agent.model.answer import Kind

_KINDS = {
    'n': 'asked', 'scored': 'scored', 'correct': 'correct', 'interval': '95 % interval',
    'error_mean': 'error', 'error_std': '±', 'exact': 'word for word', 'token_f1': 'token F1',
}  # fmt: skip
_OUTCOMES = {outcome.value: outcome.value.replace('_', ' ') for outcome in Outcome}
_RETRIEVAL = {**{f'recall@{k}': f'recall@{k}' for k in CUTOFFS}, 'mrr': 'mean reciprocal rank'}
_COST = {
    'llm_calls': 'calls of the language model', 'prompt_tokens': 'prompt tokens',
    'completion_tokens': 'completion tokens', 'latency_p50_sec': 'latency [s], median',
    'latency_p95_sec': '95 % within',
}  # fmt: skip


def tables(records: Records, results: Mapping[str, Any]) -> list[ReportTable]:
    """Return the tables of a report; of a run that measured retrieval alone, only that.

    :param results: as in results.json
    """
    retrieval = figure_table(
        'Retrieval',
        {f'{results["retrievable"]} questions': results['retrieval']},
        _RETRIEVAL,
        'Whether a memory that holds the answer is among the first found with the raw question; '
        'of the questions whose answer a memory is known to hold.',
    )
    outcomes = figure_table(
        'Outcomes',
        {'questions': results['outcomes']},
        _OUTCOMES,
        'Unscored: answered, but what is right cannot be told here.',
    )
    cost = {'a question': {**results['cost'], **results['cost'].get('per_question', {})}}
    besides = [outcomes, retrieval, figure_table('Cost', cost, _COST)]
    if 'by_category' in results:
        besides = besides if results['retrievable'] else [outcomes, besides[-1]]
        return [*_grouped_tables(results), *(besides if 'caution' not in results else [])]
    if records and all(record.answer is None and record.outcome is Outcome.UNSCORED for record in records):
        return [retrieval]
    return [_paper(records), figure_table('Per kind of answer', results['by_kind'], _KINDS), *besides]


def across(runs: Mapping[str, Mapping[str, Any]]) -> ReportTable:
    """Return a table with a row per run.

    :param runs: what results.json holds of each
    """
    figures = {
        name: {
            **results['overall'],
            **results['retrieval'],
            **results['cost'],
            **results['cost']['per_question'],
            '95 %': results['overall']['interval']['ALL'],
        }
        for name, results in runs.items()
    }
    columns = {name: name for name in (*GROUPS, '95 %')} | _RETRIEVAL | _COST
    return figure_table('Correct, retrieval, cost of a question', figures, columns)


def _grouped_tables(results: Mapping[str, Any]) -> list[ReportTable]:
    overall = results['overall']
    besides = ('by_category', 'by_kind', 'by_cell', 'by_length', 'by_depth', 'by_wording_and_category')
    columns = {'n': 'n', **{name: title for name, title in FIGURES.items() if name in overall}}
    main = next((name for name in columns if name != 'n'), 'n')
    columns |= {f'{main}_interval': f'95 % of {columns[main]}'} if main != 'n' else {}
    groups = {**results['by_category'], 'all': overall}
    for key, found in results.items():
        if key.startswith('by_') and key not in besides:
            groups |= {f'{key[3:]}: {name}': figures for name, figures in found.items()}
    found = [figure_table('By category', groups, columns, results.get('caution', ''))]
    if both := results.get('by_wording_and_category'):
        words = (*(results['by_wording']),)
        # Of a run that was cut off a category may have been asked in one wording alone.
        rows = tuple(
            (name, *(shown(of.get(word, {}).get(main)) for word in words))
            for name, of in {**both, 'all': results['by_wording']}.items()
        )
        found.append(ReportTable(f'{columns[main]} in both wordings', ('', *words), rows))
    found += [_by_cell(results, main)] if 'by_cell' in results else []
    unfilled = [(row['template'], row['why'], str(len(row['homes']))) for row in results.get('unfilled', ())]
    return [
        *found,
        *([ReportTable('Not filled', ('', 'because', 'homes'), tuple(unfilled))] if unfilled else []),
    ]


def _by_cell(results: Mapping[str, Any], main: str) -> ReportTable:
    groups = {
        length: {fifth: f'{shown(cell[main])} ({cell["n"]})' for fifth, cell in cells.items()}
        for length, cells in results['by_cell'].items()
    }
    rows = tuple(
        (
            *(length, *(cells.get(fifth, NOTHING) for fifth in FIFTHS)),
            *(shown(cost, '.4g') for cost in results['cost']['by_length'][length].values()),
        )
        for length, cells in groups.items()
    )
    header = ('', *FIFTHS, 'p50 [s]', 'prompt', 'all captions')
    return ReportTable('By length [tokens] and depth; cost', header, rows)


def _paper(records: Records) -> ReportTable:
    groups = by_group(records).values()
    rows = {
        'Descriptive question accuracy ↑': [
            fraction(of_kind(group, Kind.BINARY, Kind.TEXT)).text for group in groups
        ],
        'Positional error [m] ↓': [_error(of_kind(group, Kind.POSITION)) for group in groups],
        'Temporal error [min] ↓': [_error(of_kind(group, Kind.TIME, Kind.DURATION)) for group in groups],
        'Overall correctness ↑': [fraction(group).text for group in groups],
        '95 % interval': [shown(fraction(group).interval) for group in groups],
    }
    return ReportTable(
        'Per length of history',
        ('', *GROUPS),
        tuple((name, *cells) for name, cells in rows.items()),
        'After table I of the paper (arXiv 2409.13682). Descriptive: yes/no and judged texts. '
        'Temporal: times and durations. Errors: mean ± standard deviation over the answers that have one. '
        'Correct: within 15 m and 2 min (of buildings: 5 m and 5 s), yes or no exactly, a text by its judge; '
        'what was not seen or failed is not correct. Intervals: bootstrap, over questions.',
    )


def _error(records: Records) -> str:
    mean, std, n = error_figures(records).values()
    spread = '' if std is None else f' ± {std:.1f}'
    return f'{mean:.1f}{spread} (n={n})' if n else NOTHING
