"""The figures of a run as tables: over records, with denominators and intervals."""

import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from remembr_ros.agent.model.answer import Kind
from remembr_ros.evaluation.datasets.sample import LENGTHS
from remembr_ros.evaluation.metrics.scores import (
    CUTOFFS,
    Outcome,
    bootstrap_interval,
    found_at,
    retrieval_json,
)
from remembr_ros.evaluation.records.record import QuestionRecord

Records = Sequence[QuestionRecord]

GROUPS = (*LENGTHS, 'ALL')
UNITS = {Kind.POSITION: 'm', Kind.TIME: 'min', Kind.DURATION: 'min'}
KINDS = (Kind.POSITION, Kind.TIME, Kind.DURATION, Kind.BINARY, Kind.TEXT)
"""Of the paper; a data set may have questions about what is not there, too."""

NOTHING = '-'

_KIND_NAMES = {Kind.BINARY: 'yes/no', Kind.NOT_SEEN: 'absent things'}


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table for a person; the first column names the row."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ''


@dataclass(frozen=True, slots=True)
class Fraction:
    """How many answers are correct.

    :param n: answers that are scored, over all seeds
    :param interval: 95 %; the seeds of a question belong together; None over nothing
    """

    correct: int
    n: int
    interval: tuple[float, float] | None = None

    @property
    def value(self) -> float | None:
        return self.correct / self.n if self.n else None

    @property
    def text(self) -> str:
        """Return it with its denominator, such as '0.63 (47/75)'."""
        return f'{self.value:.2f} ({self.correct}/{self.n})' if self.n else NOTHING


def fraction(records: Records) -> Fraction:
    """Return how many of the records that can be scored are correct, with a bootstrap interval."""
    groups = scored(records)
    values = [value for group in groups for value in group]
    return Fraction(round(sum(values)), len(values), bootstrap_interval(groups))


def scored(records: Records) -> list[list[float]]:
    """Return whether answers are correct, 0 or 1, by question."""
    return by_question((record, float(record.correct)) for record in records if record.correct is not None)


def by_question(values: Iterable[tuple[QuestionRecord, float]]) -> list[list[float]]:
    """Return values with the seeds of one question together."""
    groups: dict[tuple[str, str], list[float]] = {}
    for record, value in values:
        groups.setdefault((record.sequence, record.id), []).append(value)
    return list(groups.values())


def retrieved(records: Records) -> list[QuestionRecord]:
    """Return a record of each question whose answer is known to be in the memory: retrieval has no seed."""
    once = {(r.sequence, r.id): r for r in records}.values()
    return [r for r in once if r.relevant or r.rank is not None]


def kinds_of(records: Records) -> tuple[Kind, ...]:
    """Return the kinds that a run is reported by."""
    absent = any(record.truth.kind is Kind.NOT_SEEN for record in records)
    return (*KINDS, Kind.NOT_SEEN) if absent else KINDS


def by_group(records: Records) -> dict[str, Records]:
    """Return the records by length of history, and all of them."""
    return {name: [r for r in records if name in ('ALL', r.length)] for name in GROUPS}


def tables(records: Records) -> list[ReportTable]:
    """Return the tables of a report; of a run that measured retrieval alone, only that."""
    if records and all(r.answer is None and r.outcome is Outcome.UNSCORED for r in records):
        return [_retrieval(records)]
    found = [_paper(records), _by_kind(records), _outcomes(records), _retrieval(records), _cost(records)]
    seeds = sorted({r.seed for r in records})
    if len(seeds) > 1:
        cells = {str(seed): partial(_correct, seed=seed) for seed in seeds}
        found.insert(1, replace(_grouped('Correct, per seed', records, cells), header=('seed', *GROUPS)))
    return found


def across(runs: Mapping[str, Records]) -> list[ReportTable]:
    """Return a table per figure, with a row per run: the form of the paper's table I.

    Figures that say nothing of any run, such as tokens where there is no language model, are left out.
    """
    rows: dict[str, list[tuple[str, ...]]] = {}
    for name, records in runs.items():
        for table in (_paper(records), _retrieval(records), _cost(records)):
            for figure, *cells in table.rows:
                rows.setdefault(figure, []).append((name, *cells))
    said = {name: found for name, found in rows.items() if any(set(r[1:]) - {NOTHING, '0.0'} for r in found)}
    return [ReportTable(name, ('', *GROUPS), tuple(found)) for name, found in said.items()]


def table_markdown(table: ReportTable) -> str:
    """Return a table as Markdown."""
    rows = [(table.caption, *table.header[1:]), ('---',) * len(table.header), *table.rows]
    lines = [f'| {" | ".join(cell.replace("|", "/") for cell in row)} |' for row in rows]
    return '\n'.join([*lines, *(['', table.note] if table.note else [])])


def table_text(table: ReportTable) -> str:
    """Return a table as lines of text."""
    rows = [(table.caption, *table.header[1:]), *table.rows]
    return '\n'.join([aligned(rows), *([table.note] if table.note else [])])


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """Return rows as lines of text, the first column to the left and all others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return '\n'.join(
        '  '.join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    )


def number_text(value: float | None, form: str = '.2f') -> str:
    """Return a number in this form; of nothing, what tables show."""
    return NOTHING if value is None else f'{value:{form}}'


def interval_text(interval: tuple[float, float] | None, form: str = '.2f') -> str:
    """Return an interval, such as '0.51 to 0.73'."""
    return NOTHING if interval is None else f'{interval[0]:{form}} to {interval[1]:{form}}'


def _grouped(
    caption: str, records: Records, cells: Mapping[str, Callable[[Records], str]], note: str = ''
) -> ReportTable:
    """Return a table with a row per figure, and a column per length of history."""
    groups = by_group(records).values()
    rows = tuple((name, *map(cell, groups)) for name, cell in cells.items())
    return ReportTable(caption, ('', *GROUPS), rows, note)


def _paper(records: Records) -> ReportTable:
    return _grouped(
        'Per length of history',
        records,
        {
            'Descriptive question accuracy ↑': lambda group: _correct(_of(group, Kind.BINARY, Kind.TEXT)),
            'Positional error [m] ↓': lambda group: _errors(_of(group, Kind.POSITION)),
            'Temporal error [min] ↓': lambda group: _errors(_of(group, Kind.TIME, Kind.DURATION)),
            'Overall correctness ↑': _correct,
            '95 % interval': lambda group: interval_text(fraction(group).interval),
        },
        'After table I of the paper (arXiv 2409.13682). Descriptive: yes/no and judged texts. '
        'Temporal: times and durations. Errors: mean ± standard deviation over the answers that have one. '
        'Correct: within 15 m and 2 min (of buildings: 5 m and 5 s), yes or no exactly, a text by its judge; '
        'what was not seen or failed is not correct. Intervals: bootstrap, over questions.',
    )


def _by_kind(records: Records) -> ReportTable:
    rows = []
    for kind in kinds_of(records):
        of_kind = _of(records, kind)
        correct = fraction(of_kind)
        spread = ('', '', '')
        if kind in UNITS:
            errors = sorted(errors_of(of_kind))
            median = statistics.median(errors) if errors else None
            spread = (
                _errors(of_kind, f' {UNITS[kind]}'),
                number_text(median, '.1f'),
                number_text(quantile(errors, 0.9), '.1f'),
            )
        name = _KIND_NAMES.get(kind, kind.value)
        rows.append((name, str(len(of_kind)), correct.text, interval_text(correct.interval), *spread))
    return ReportTable(
        'Per kind of answer',
        ('', 'asked', 'correct', '95 % interval', 'error', 'median', '90 % within'),
        tuple(rows),
        _texts(_of(records, Kind.TEXT)),
    )


def _texts(records: Records) -> str:
    """Return how near the texts are to their references, which needs no judge."""
    exact = [r.exact for r in records if r.exact is not None]
    f1 = [r.token_f1 for r in records if r.token_f1 is not None]
    parts = []
    if exact:
        parts.append(f'{sum(exact)} of {len(exact)} texts are the reference word for word')
    if f1:
        parts.append(f'token F1 with the reference {statistics.fmean(f1):.2f} (n={len(f1)})')
    return f'{"; ".join(parts)}.' if parts else ''


def _outcomes(records: Records) -> ReportTable:
    cells: dict[str, Callable[[Records], str]] = {
        outcome.value.replace('_', ' '): partial(_count, outcome=outcome) for outcome in Outcome
    }
    cells['all'] = lambda group: str(len(group))
    return _grouped('Outcomes', records, cells, 'Unscored: answered, but what is right cannot be told here.')


def _retrieval(records: Records) -> ReportTable:
    measured = retrieved(records)
    without = len({(r.sequence, r.id) for r in records}) - len(measured)
    note = 'Whether a memory that holds the answer is among the first found with the raw question.'
    return _grouped(
        'Retrieval',
        measured,
        {
            **{f'recall@{k}': partial(_recall_at, k=k) for k in CUTOFFS},
            'mean reciprocal rank': lambda group: number_text(retrieval_json([r.rank for r in group])['mrr']),
        },
        f'{note} Without {without} whose answer no memory is known to hold.' if without else note,
    )


def _cost(records: Records) -> ReportTable:
    calls, prompt, completion = (
        sum(getattr(r, name) for r in records) for name in ('llm_calls', 'prompt_tokens', 'completion_tokens')
    )
    return _grouped(
        'Cost',
        records,
        {
            'calls of the language model per question': partial(_mean_of, name='llm_calls'),
            'prompt tokens per question': partial(_mean_of, name='prompt_tokens'),
            'completion tokens per question': partial(_mean_of, name='completion_tokens'),
            'latency [s], median': lambda group: number_text(quantile(latencies(group), 0.5)),
            'latency [s], 95 % within': lambda group: number_text(quantile(latencies(group), 0.95)),
        },
        f'In all {calls:,} calls, {prompt:,} prompt and {completion:,} completion tokens.',
    )


def _correct(records: Records, seed: int | None = None) -> str:
    return fraction([r for r in records if seed in (None, r.seed)]).text


def _count(records: Records, outcome: Outcome) -> str:
    return str(sum(r.outcome is outcome for r in records))


def _recall_at(records: Records, k: int) -> str:
    return Fraction(found_at(k, [r.rank for r in records]), len(records)).text


def _mean_of(records: Records, name: str) -> str:
    return f'{statistics.fmean(getattr(r, name) for r in records):,.1f}' if records else NOTHING


def _of(records: Records, *kinds: Kind) -> Records:
    return [r for r in records if r.truth.kind in kinds]


def _errors(records: Records, unit: str = '') -> str:
    errors = errors_of(records)
    if not errors:
        return NOTHING
    spread = f' ± {statistics.stdev(errors):.1f}' if len(errors) > 1 else ''
    return f'{statistics.fmean(errors):.1f}{spread}{unit} (n={len(errors)})'


def errors_of(records: Records) -> list[float]:
    """Return the errors of the answers that have one [m or min]; records of one kind only make sense."""
    return [r.error for r in records if r.error is not None]


def latencies(records: Records) -> list[float]:
    """Return how long the answers took, ascending [s]."""
    return sorted(r.latency_sec for r in records if r.latency_sec is not None)


def quantile(ordered: Sequence[float], share: float) -> float | None:
    """Return the smallest value that this share of the values does not exceed; None of none."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)] if ordered else None
