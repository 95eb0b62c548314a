"""Whether one run is better than another, on the questions that both were asked.

Pairs are made by sequence, id and seed. Differences are B minus A throughout.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from remembr_bench.evaluation.metrics.scores import bootstrap_interval
from remembr_bench.evaluation.records.reading import Key
from remembr_bench.evaluation.records.record import QuestionRecord
from remembr_bench.evaluation.report.figures import GROUPS, UNITS, ReportTable, by_question, shown

Pair = tuple[QuestionRecord, QuestionRecord]

FEWEST = 6  # non-zero differences that Wilcoxon's test needs: with fewer its p cannot fall below 0.05


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """A figure of two runs over the pairs that have it in both; fractions, or errors [m or min].

    :param difference: mean; like all others but the number of pairs None where there are no pairs
    :param interval: of the difference, 95 %, by bootstrap over questions
    :param p: two-sided; exact McNemar test of correctness, Wilcoxon signed-rank test of errors (None: fewer
        than FEWEST differences that are not zero). It takes the seeds of one question for independent, which
        makes it too small
    """

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
    :param errors: by position [m], time [min] and duration [min]
    :param wins: the pairs that are correct in B alone
    :param losses: the pairs that are correct in A alone
    :param unscored: pairs out of the correctness, because a run has no score for them
    :param only_a: asked in A alone
    :param only_b: asked in B alone
    :param changed: the key is in both, but its question, window or truth differs: out of every figure
    """

    correctness: dict[str, PairedDifference]
    errors: dict[str, PairedDifference]
    wins: tuple[Key, ...]
    losses: tuple[Key, ...]
    unscored: tuple[Key, ...]
    only_a: tuple[Key, ...]
    only_b: tuple[Key, ...]
    changed: tuple[Key, ...]


def compare(a: Sequence[QuestionRecord], b: Sequence[QuestionRecord]) -> Comparison:
    """Compare two runs question by question."""
    in_a, in_b = ({record.key: record for record in records} for records in (a, b))
    both = [(in_a[key], in_b[key]) for key in in_a if key in in_b]
    pairs = [pair for pair in both if _is_same_question(*pair)]
    scored = [(x, y) for x, y in pairs if x.correct is not None and y.correct is not None]
    return Comparison(
        correctness={
            name: _difference([pair for pair in scored if name in ('ALL', pair[0].length)], 'correct')
            for name in GROUPS
        },
        errors={
            kind.value: _difference([pair for pair in pairs if pair[0].truth.kind is kind], 'error')
            for kind in UNITS
        },
        wins=tuple(y.key for x, y in scored if y.correct and not x.correct),
        losses=tuple(x.key for x, y in scored if x.correct and not y.correct),
        unscored=tuple(x.key for x, y in pairs if x.correct is None or y.correct is None),
        only_a=tuple(key for key in in_a if key not in in_b),
        only_b=tuple(key for key in in_b if key not in in_a),
        changed=tuple(x.key for x, y in both if not _is_same_question(x, y)),
    )


def comparison_text(comparison: Comparison) -> str:
    """Return a comparison for a person."""
    rows = [(f'correct, {name}', '.2f', found) for name, found in comparison.correctness.items()]
    rows += [
        (f'{kind.value} error [{unit}]', '.1f', comparison.errors[kind.value]) for kind, unit in UNITS.items()
    ]
    cells = tuple(
        (
            *(name, str(found.pairs), shown(found.mean_a, form), shown(found.mean_b, form)),
            *(shown(found.difference, f'+{form}'), shown(found.interval, f'+{form}'), shown(found.p, '.3f')),
        )
        for name, form, found in rows
    )
    lines = [
        ReportTable('', ('', 'pairs', 'A', 'B', 'B - A', '95 % interval', 'p'), cells).text(),
        '',
        f'B wins {len(comparison.wins)} pairs and loses {len(comparison.losses)}; '
        f'{len(comparison.unscored)} pairs are not scored in both runs and out of the fractions.',
        'p: McNemar of correctness, Wilcoxon of errors; it takes seeds for independent, intervals do not.',
    ]
    for what, keys in (
        ('only in A', comparison.only_a),
        ('only in B', comparison.only_b),
        ('differs between the runs', comparison.changed),
    ):
        lines += [f'{what}: {sequence} {id_} seed {seed}' for sequence, id_, seed in keys]
    return '\n'.join(lines)


def _is_same_question(x: QuestionRecord, y: QuestionRecord) -> bool:
    return all(getattr(x, name) == getattr(y, name) for name in ('question', 'length', 'window_ns', 'truth'))


def _difference(pairs: Sequence[Pair], figure: str) -> PairedDifference:
    """Compare the field `correct` or `error`; pairs that lack it on one side are left out."""
    from scipy.stats import binomtest, wilcoxon  # takes a second to import

    valued = [(x, getattr(x, figure), getattr(y, figure)) for x, y in pairs]
    valued = [row for row in valued if None not in row[1:]]
    if not valued:
        return PairedDifference(0, None, None, None, None, None)
    a, b = np.array([row[1:] for row in valued], np.float64).T
    off = b - a
    nonzero, p = off[off != 0.0], None
    if figure == 'correct':
        p = float(binomtest(int((off > 0.0).sum()), len(nonzero)).pvalue) if len(nonzero) else 1.0
    elif len(nonzero) >= FEWEST:
        p = float(wilcoxon(nonzero).pvalue)
    groups = by_question((record, value) for (record, _, _), value in zip(valued, off.tolist(), strict=True))
    mean_a, mean_b, difference = (float(values.mean()) for values in (a, b, off))
    return PairedDifference(len(off), mean_a, mean_b, difference, bootstrap_interval(groups), p)
