"""Figures over records, and the one table that they are written as: with denominators and intervals."""

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from remembr_bench.evaluation.datasets.sample import LENGTHS
from remembr_bench.evaluation.metrics.scores import bootstrap_interval
from remembr_bench.evaluation.records.record import QuestionRecord
from remembr_ros.agent.model.answer import Kind

Records = Sequence[QuestionRecord]

GROUPS = (*LENGTHS, 'ALL')
UNITS = {Kind.POSITION: 'm', Kind.TIME: 'min', Kind.DURATION: 'min'}
NOTHING = '-'


@dataclass(frozen=True, slots=True)
class ReportTable:
    """A table for a person; the first column names the row."""

    caption: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ''

    def text(self) -> str:
        """Return it as lines of text, the first column to the left and all others to the right."""
        rows = [(self.caption, *self.header[1:]), *self.rows]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            '  '.join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])])
            for first, *others in rows
        ]
        return '\n'.join([*lines, *filter(None, [self.note])])

    def markdown(self) -> str:
        """Return it as Markdown."""
        rows = [(self.caption, *self.header[1:]), ('---',) * len(self.header), *self.rows]
        return '\n'.join(f'| {" | ".join(cell.replace("|", "/") for cell in row)} |' for row in rows)


def figure_table(
    caption: str,
    groups: Mapping[str, Mapping[str, Any]],
    columns: Mapping[str, str],
    note: str = '',
    form: str = '.2f',
) -> ReportTable:
    """Return a table with a row per group and a column per figure.

    :param groups: the figures of each group, by their names
    :param columns: titles of the figures, by their names
    :param form: of numbers that are not whole
    """
    rows = ((name, *(shown(figures.get(key), form) for key in columns)) for name, figures in groups.items())
    return ReportTable(caption, ('', *columns.values()), tuple(rows), note)


def shown(value: float | Sequence[float] | None, form: str = '.2f') -> str:
    """Return a number in this form, an interval such as '0.51 to 0.73', or a dash for None."""
    if value is None:
        return NOTHING
    if isinstance(value, Sequence):
        return ' to '.join(f'{end:{form}}' for end in value)
    return str(value) if isinstance(value, int) else f'{value:{form}}'


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
    groups = by_question((record, float(record.correct)) for record in records if record.correct is not None)
    values = [value for group in groups for value in group]
    return Fraction(round(sum(values)), len(values), bootstrap_interval(groups))


def by_question(values: Iterable[tuple[QuestionRecord, float]]) -> list[list[float]]:
    """Return values with the seeds of one question together."""
    groups: dict[tuple[str, str], list[float]] = {}
    for record, value in values:
        groups.setdefault((record.sequence, record.id), []).append(value)
    return list(groups.values())


def by_group(records: Records) -> dict[str, Records]:
    """Return the records by length of history, and all of them."""
    return {name: [record for record in records if name in ('ALL', record.length)] for name in GROUPS}


def of_kind(records: Records, *kinds: Kind) -> Records:
    """Return the records of questions of these kinds."""
    return [record for record in records if record.truth.kind in kinds]


def retrieved(records: Records) -> list[QuestionRecord]:
    """Return a record of each question whose answer is known to be in the memory: retrieval has no seed."""
    once = {(record.sequence, record.id): record for record in records}.values()
    return [record for record in once if record.relevant or record.rank is not None]


def error_figures(records: Records) -> dict[str, Any]:
    """Return mean, standard deviation and number of the errors [m or min]; records of one unit only."""
    errors = [record.error for record in records if record.error is not None]
    return {
        'error_mean': statistics.fmean(errors) if errors else None,
        'error_std': statistics.stdev(errors) if len(errors) > 1 else None,
        'error_n': len(errors),
    }


def cost_figures(records: Records) -> dict[str, Any]:
    """Return calls and tokens of the language model, in all and per question, and latencies [s]."""
    latencies = [record.latency_sec for record in records if record.latency_sec is not None]
    totals = {
        name: sum(getattr(record, name) for record in records)
        for name in ('llm_calls', 'prompt_tokens', 'completion_tokens')
    }
    return {
        **totals,
        'latency_p50_sec': quantile(latencies, 0.5),
        'latency_p95_sec': quantile(latencies, 0.95),
        'per_question': {name: total / len(records) if records else None for name, total in totals.items()},
    }


def quantile(values: Sequence[float], share: float) -> float | None:
    """Return the smallest value that this share of the values does not exceed; None of none."""
    return float(np.quantile(values, share, method='inverted_cdf')) if values else None
