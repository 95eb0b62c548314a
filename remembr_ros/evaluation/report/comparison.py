"""Whether one run is better than another, on the questions that both were asked.

Pairs are made by sequence, id and seed. Differences are B minus A throughout.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from remembr_ros.agent.model.answer import Kind
from remembr_ros.evaluation.metrics.scores import bootstrap_interval
from remembr_ros.evaluation.records.reading import Key
from remembr_ros.evaluation.records.record import QuestionRecord
from remembr_ros.evaluation.report.figures import GROUPS, UNITS, Fraction, ReportTable, by_question, shown

Pair = tuple[QuestionRecord, QuestionRecord]

FEWEST = 6  # non-zero differences that Wilcoxon's test needs: with fewer its p cannot fall below 0.05


@dataclass(frozen=True, slots=True)
class Correctness:
    """Correct answers in pairs that are scored in both runs.

    :param pairs: how many that are
    :param wins: B is correct where A is not
    :param losses: A is correct where B is not
    :param difference: of the fractions that are correct, -1 to 1; None: no pairs
    :param interval: of the difference, 95 %, by bootstrap over questions; None: no pairs
    :param p: exact McNemar test, two-sided: that wins and losses are equally likely; None: no pairs. It takes
        the seeds of one question for independent, which makes it too small
    """

    pairs: int
    correct_a: int
    correct_b: int
    wins: int
    losses: int
    difference: float | None
    interval: tuple[float, float] | None
    p: float | None


@dataclass(frozen=True, slots=True)
class Errors:
    """Errors in pairs where both answers have one.

    :param unit: m or min
    :param difference: mean [unit]; None: no pairs
    :param interval: of the difference, 95 %, by bootstrap over questions; None: no pairs
    :param p: Wilcoxon signed-rank test, two-sided; None: fewer than FEWEST differences that are not zero
    """

    unit: str
    pairs: int
    mean_a: float | None
    mean_b: float | None
    difference: float | None
    interval: tuple[float, float] | None
    p: float | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs, A and B, side by side.

    :param correctness: by SHORT, MEDIUM, LONG and ALL
    :param errors: by position, time and duration
    :param wins: the pairs that B gains
    :param losses: the pairs that B loses
    :param unscored: pairs out of the correctness, because a run has no score for them
    :param only_a: asked in A alone
    :param only_b: asked in B alone
    :param changed: the key is in both, but its question, window or truth differs: out of every figure
    :param seeds: most seeds of one question among the pairs
    """

    correctness: dict[str, Correctness]
    errors: dict[str, Errors]
    wins: tuple[Key, ...]
    losses: tuple[Key, ...]
    unscored: tuple[Key, ...]
    only_a: tuple[Key, ...]
    only_b: tuple[Key, ...]
    changed: tuple[Key, ...]
    seeds: int


def compare(a: Sequence[QuestionRecord], b: Sequence[QuestionRecord]) -> Comparison:
    """Compare two runs question by question."""
    in_a, in_b = ({record.key: record for record in records} for records in (a, b))
    both = [(in_a[key], in_b[key]) for key in in_a if key in in_b]
    pairs = [pair for pair in both if _asked(pair[0]) == _asked(pair[1])]
    scored = [(x, y) for x, y in pairs if x.correct is not None and y.correct is not None]
    return Comparison(
        correctness={
            name: _correctness([pair for pair in scored if name in ('ALL', pair[0].length)])
            for name in GROUPS
        },
        errors={kind.value: _errors(kind, pairs) for kind in UNITS},
        wins=tuple(y.key for x, y in scored if y.correct and not x.correct),
        losses=tuple(x.key for x, y in scored if x.correct and not y.correct),
        unscored=tuple(x.key for x, y in pairs if x.correct is None or y.correct is None),
        only_a=tuple(key for key in in_a if key not in in_b),
        only_b=tuple(key for key in in_b if key not in in_a),
        changed=tuple(x.key for x, y in both if _asked(x) != _asked(y)),
        seeds=max(Counter((x.sequence, x.id) for x, _ in pairs).values(), default=0),
    )


def comparison_text(comparison: Comparison) -> str:
    """Return a comparison for a person."""
    by_length = comparison.correctness.values()
    rows = (
        ('pairs', *(str(c.pairs) for c in by_length)),
        ('correct in A', *(Fraction(c.correct_a, c.pairs).text for c in by_length)),
        ('correct in B', *(Fraction(c.correct_b, c.pairs).text for c in by_length)),
        ('difference B - A', *(shown(c.difference, '+.2f') for c in by_length)),
        ('  95 % interval', *(shown(c.interval, '+.2f') for c in by_length)),
        ('wins / losses of B', *(f'{c.wins} / {c.losses}' for c in by_length)),
        ('McNemar p', *(_p(c.p) for c in by_length)),
    )
    errors = []
    for kind, e in comparison.errors.items():
        means, gain = (shown(e.mean_a, '.1f'), shown(e.mean_b, '.1f')), shown(e.difference, '+.1f')
        errors.append((f'{kind} [{e.unit}]', str(e.pairs), *means, gain, shown(e.interval, '+.1f'), _p(e.p)))
    header = ('', 'pairs', 'A', 'B', 'B - A', '95 % interval', 'Wilcoxon p')
    lines = [
        ReportTable('', ('', *comparison.correctness), rows).text(),
        '',
        ReportTable('error', header, tuple(errors)).text(),
        '',
        f'{len(comparison.unscored)} pairs are not scored in both runs and out of the fractions.',
    ]
    if comparison.seeds > 1:
        lines.append(
            f'{comparison.seeds} seeds: intervals resample questions; p takes seeds for independent.'
        )
    for what, keys in (
        ('only in A', comparison.only_a),
        ('only in B', comparison.only_b),
        ('differs between the runs', comparison.changed),
    ):
        lines += [f'{what}: {sequence} {id_} seed {seed}' for sequence, id_, seed in keys]
    return '\n'.join(lines)


def _asked(record: QuestionRecord) -> tuple[Any, ...]:
    return (record.question, record.length, record.window_ns, record.truth)


def _correctness(pairs: Sequence[Pair]) -> Correctness:
    from scipy.stats import binomtest  # takes a second to import

    n = len(pairs)
    wins = sum(bool(y.correct and not x.correct) for x, y in pairs)
    losses = sum(bool(x.correct and not y.correct) for x, y in pairs)
    differences = by_question((x, float(bool(y.correct)) - bool(x.correct)) for x, y in pairs)
    return Correctness(
        pairs=n,
        correct_a=sum(bool(x.correct) for x, _ in pairs),
        correct_b=sum(bool(y.correct) for _, y in pairs),
        wins=wins,
        losses=losses,
        difference=(wins - losses) / n if n else None,
        interval=bootstrap_interval(differences),
        p=(float(binomtest(wins, wins + losses).pvalue) if wins + losses else 1.0) if n else None,
    )


def _errors(kind: Kind, pairs: Sequence[Pair]) -> Errors:
    from scipy.stats import wilcoxon

    found = [
        (x, x.error, y.error)
        for x, y in pairs
        if x.truth.kind is kind and x.error is not None and y.error is not None
    ]
    differences = [(x, error_b - error_a) for x, error_a, error_b in found]
    nonzero = [value for _, value in differences if value != 0.0]
    return Errors(
        unit=UNITS[kind],
        pairs=len(found),
        mean_a=fmean(error_a for _, error_a, _ in found) if found else None,
        mean_b=fmean(error_b for _, _, error_b in found) if found else None,
        difference=fmean(value for _, value in differences) if found else None,
        interval=bootstrap_interval(by_question(differences)),
        p=float(wilcoxon(nonzero).pvalue) if len(nonzero) >= FEWEST else None,
    )


def _p(p: float | None) -> str:
    return '< 0.001' if p is not None and p < 0.001 else shown(p, '.3f')
