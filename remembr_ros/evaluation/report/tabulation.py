"""The figures of a run as tables: over records, with denominators and intervals."""

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from remembr_ros.agent.model.answer import Kind
from remembr_ros.evaluation.datasets.sample import LENGTHS
from remembr_ros.evaluation.metrics.intervals import bootstrap_interval, wilson_interval
from remembr_ros.evaluation.metrics.scores import Outcome
from remembr_ros.evaluation.run.record import QuestionRecord

Records = Sequence[QuestionRecord]

GROUPS = (*LENGTHS, 'ALL')
CUTOFFS = (1, 5, 10, 15)
UNITS = {Kind.POSITION: 'm', Kind.TIME: 'min', Kind.DURATION: 'min'}
KINDS = (Kind.POSITION, Kind.TIME, Kind.DURATION, Kind.BINARY, Kind.TEXT)
"""Of the paper; a data set may have questions about what is not there, too."""
HISTORY_EDGES_MIN = (0, 1, 2, 4, 6, 8, 10, 15, 20, 30, 45, 60, 90, 120, 180, 240, 360, 480)
"""Bins of history length [min]: the same for every run, so that runs can be laid side by side."""

NOTHING = '-'

_KIND_NAMES = {Kind.BINARY: 'yes/no', Kind.NOT_SEEN: 'absent things'}


@dataclass(frozen=True, slots=True)
class Table:
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
    interval: tuple[float, float] | None

    @property
    def value(self) -> float | None:
        return self.correct / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Bin:
    """Correct answers to the questions that look back from low (inclusive) to high (exclusive) [min]."""

    low_min: float
    high_min: float
    fraction: Fraction


def fraction(records: Records) -> Fraction:
    """Return how many of the records that can be scored are correct, with a bootstrap interval."""
    groups = _scored(records)
    values = [value for group in groups for value in group]
    return Fraction(round(sum(values)), len(values), bootstrap_interval(groups))


def _scored(records: Records) -> list[list[float]]:
    """Return whether answers are correct, 0 or 1, by question."""
    groups: dict[tuple[str, str], list[float]] = {}
    for record in records:
        if record.correct is not None:
            groups.setdefault((record.sequence, record.id), []).append(float(record.correct))
    return list(groups.values())


def history_bins(records: Records) -> list[Bin]:
    """Return the correctness by length of history, as figure 4 of the paper, without empty bins.

    The intervals are Wilson's: a bin holds few questions.
    """
    bins = []
    for low, high in pairwise((*HISTORY_EDGES_MIN, math.inf)):
        inside = [r for r in records if low <= r.history_sec / 60.0 < high]
        groups = _scored(inside)
        if groups:
            sure = sum(map(statistics.fmean, groups))
            found = replace(fraction(inside), interval=wilson_interval(sure, len(groups)))
            longest = max(r.history_sec / 60.0 for r in inside)
            bins.append(Bin(low, high if math.isfinite(high) else longest, found))
    return bins


def retrieved(records: Records) -> list[QuestionRecord]:
    """Return a record of each question whose answer is known to be in the memory: retrieval has no seed."""
    once = {(r.sequence, r.id): r for r in records}.values()
    return [r for r in once if r.relevant or r.rank is not None]


def kinds_of(records: Records) -> tuple[Kind, ...]:
    """Return the kinds that a run is reported by."""
    absent = any(record.truth.kind is Kind.NOT_SEEN for record in records)
    return (*KINDS, Kind.NOT_SEEN) if absent else KINDS


def tables(records: Records) -> list[Table]:
    """Return the tables of a report; of a run that measured retrieval alone, only that."""
    if records and all(r.answer is None and r.outcome is Outcome.UNSCORED for r in records):
        return [_retrieval(records)]
    found = [_paper(records), _by_kind(records), _outcomes(records), _retrieval(records), _cost(records)]
    seeds = sorted({r.seed for r in records})
    if len(seeds) > 1:
        rows = tuple((str(seed), *_fractions([r for r in records if r.seed == seed])) for seed in seeds)
        found.insert(1, Table('Correct, per seed', ('seed', *GROUPS), rows))
    return found


def across(runs: Mapping[str, Records]) -> list[Table]:
    """Return a table per figure, with a row per run: the form of the paper's table I.

    Figures that say nothing of any run, such as tokens where there is no language model, are left out.
    """
    rows: dict[str, list[tuple[str, ...]]] = {}
    for name, records in runs.items():
        for table in (_paper(records), _retrieval(records), _cost(records)):
            for figure, *cells in table.rows:
                rows.setdefault(figure, []).append((name, *cells))
    said = {name: found for name, found in rows.items() if any(set(r[1:]) - {NOTHING, '0.0'} for r in found)}
    return [Table(name, ('', *GROUPS), tuple(found)) for name, found in said.items()]


def table_markdown(table: Table) -> str:
    """Return a table as Markdown."""
    rows = [(table.caption, *table.header[1:]), ('---',) * len(table.header), *table.rows]
    lines = [f'| {" | ".join(cell.replace("|", "/") for cell in row)} |' for row in rows]
    return '\n'.join([*lines, *(['', table.note] if table.note else [])])


def table_text(table: Table) -> str:
    """Return a table as lines of text."""
    rows = [(table.caption, *table.header[1:]), *table.rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        '  '.join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    ]
    return '\n'.join([*lines, *([table.note] if table.note else [])])


def fraction_text(found: Fraction) -> str:
    """Return a fraction with its denominator, such as '0.63 (47/75)'."""
    return NOTHING if found.value is None else f'{found.value:.2f} ({found.correct}/{found.n})'


def interval_text(interval: tuple[float, float] | None) -> str:
    """Return an interval, such as '0.51 to 0.73'."""
    return NOTHING if interval is None else f'{interval[0]:.2f} to {interval[1]:.2f}'


def _paper(records: Records) -> Table:
    descriptive = _per_group(
        records, lambda group: fraction_text(fraction(_of(group, Kind.BINARY, Kind.TEXT)))
    )
    position = _per_group(records, lambda group: _errors(_of(group, Kind.POSITION)))
    temporal = _per_group(records, lambda group: _errors(_of(group, Kind.TIME, Kind.DURATION)))
    intervals = _per_group(records, lambda group: interval_text(fraction(group).interval))
    return Table(
        'Per length of history',
        ('', *GROUPS),
        (
            ('Descriptive question accuracy ↑', *descriptive),
            ('Positional error [m] ↓', *position),
            ('Temporal error [min] ↓', *temporal),
            ('Overall correctness ↑', *_fractions(records)),
            ('95 % interval', *intervals),
        ),
        'After table I of the paper (arXiv 2409.13682). Descriptive: yes/no and judged texts. '
        'Temporal: times and durations. Errors: mean ± standard deviation over the answers that have one. '
        'Correct: within 15 m and 2 min (of buildings: 5 m and 5 s), yes or no exactly, a text by its judge; '
        'what was not seen or failed is not correct. Intervals: bootstrap, over questions.',
    )


def _by_kind(records: Records) -> Table:
    rows = []
    for kind in kinds_of(records):
        of_kind = _of(records, kind)
        correct = fraction(of_kind)
        errors = sorted(r.error for r in of_kind if r.error is not None)
        spread = ('', '', '')
        if kind in UNITS:
            spread = (
                _errors(of_kind, f' {UNITS[kind]}'),
                f'{statistics.median(errors):.1f}' if errors else NOTHING,
                f'{quantile(errors, 0.9):.1f}' if errors else NOTHING,
            )
        rows.append(
            (
                _KIND_NAMES.get(kind, kind.value),
                str(len(of_kind)),
                fraction_text(correct),
                interval_text(correct.interval),
                *spread,
            )
        )
    return Table(
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


def _outcomes(records: Records) -> Table:
    def count(outcome: Outcome) -> Callable[[Records], str]:
        return lambda group: str(sum(r.outcome is outcome for r in group))

    rows = [(outcome.value.replace('_', ' '), *_per_group(records, count(outcome))) for outcome in Outcome]
    rows.append(('all', *_per_group(records, lambda group: str(len(group)))))
    return Table(
        'Outcomes', ('', *GROUPS), tuple(rows), 'Unscored: answered, but what is right cannot be told here.'
    )


def _retrieval(records: Records) -> Table:
    measured = retrieved(records)
    rows = []
    for k in CUTOFFS:
        rows.append((f'recall@{k}', *_per_group(measured, _recall_at(k))))
    rows.append(('mean reciprocal rank', *_per_group(measured, _reciprocal)))
    without = len({(r.sequence, r.id) for r in records}) - len(measured)
    note = 'Whether a memory that holds the answer is among the first found with the raw question.'
    return Table(
        'Retrieval',
        ('', *GROUPS),
        tuple(rows),
        f'{note} Without {without} whose answer no memory is known to hold.' if without else note,
    )


def _recall_at(k: int) -> Callable[[Records], str]:
    def cell(group: Records) -> str:
        found = sum(r.rank is not None and r.rank <= k for r in group)
        return f'{found / len(group):.2f} ({found}/{len(group)})' if group else NOTHING

    return cell


def _reciprocal(group: Records) -> str:
    return f'{statistics.fmean(1 / r.rank if r.rank else 0.0 for r in group):.2f}' if group else NOTHING


def _cost(records: Records) -> Table:
    def mean_of(name: str) -> Callable[[Records], str]:
        return lambda group: f'{statistics.fmean(getattr(r, name) for r in group):,.1f}' if group else NOTHING

    def latency(share: float) -> Callable[[Records], str]:
        def cell(group: Records) -> str:
            times = sorted(r.latency_sec for r in group if r.latency_sec is not None)
            return f'{quantile(times, share):.2f}' if times else NOTHING

        return cell

    rows = (
        ('calls of the language model per question', *_per_group(records, mean_of('llm_calls'))),
        ('prompt tokens per question', *_per_group(records, mean_of('prompt_tokens'))),
        ('completion tokens per question', *_per_group(records, mean_of('completion_tokens'))),
        ('latency [s], median', *_per_group(records, latency(0.5))),
        ('latency [s], 95 % within', *_per_group(records, latency(0.95))),
    )
    calls, prompt, completion = (
        sum(getattr(r, name) for r in records) for name in ('llm_calls', 'prompt_tokens', 'completion_tokens')
    )
    total = f'In all {calls:,} calls, {prompt:,} prompt and {completion:,} completion tokens.'
    return Table('Cost', ('', *GROUPS), rows, total)


def _fractions(records: Records) -> tuple[str, ...]:
    return _per_group(records, lambda group: fraction_text(fraction(group)))


def _per_group(records: Records, cell: Callable[[Records], str]) -> tuple[str, ...]:
    return tuple(cell([r for r in records if name in ('ALL', r.length)]) for name in GROUPS)


def _of(records: Records, *kinds: Kind) -> Records:
    return [r for r in records if r.truth.kind in kinds]


def _errors(records: Records, unit: str = '') -> str:
    errors = [r.error for r in records if r.error is not None]
    if not errors:
        return NOTHING
    spread = f' ± {statistics.stdev(errors):.1f}' if len(errors) > 1 else ''
    return f'{statistics.fmean(errors):.1f}{spread}{unit} (n={len(errors)})'


def quantile(ordered: Sequence[float], share: float) -> float:
    """Return the smallest value that this share of the values does not exceed; there is at least one."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]
