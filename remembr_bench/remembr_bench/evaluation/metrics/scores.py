"""Scores of answers. Knows no files, no store and no planner.

Correctness as in the ReMEmbR paper (arXiv 2409.13682, section V-B): within 15 m, within 2 min, yes or no
exactly. A text is right or wrong by the verdict of a judge; without one it is unscored. Texts are compared
as in SQuAD (arXiv 1606.05250, section 5): lower case, no punctuation, no articles.
"""

import math
import re
import statistics
import string
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np

from remembr_bench.evaluation.datasets.sample import Truth
from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.geometry import distance
from remembr_ros.timestamps import NS

CUTOFFS = (1, 5, 10, 15)  # numbers of memories among which an answer is looked for
_ARTICLES = re.compile(r'\b(a|an|the)\b')
_PUNCTUATION = str.maketrans(dict.fromkeys(string.punctuation + '\u2018\u2019\u201c\u201d', ' '))

RESAMPLES = 10_000


class Outcome(str, Enum):
    """What became of a question."""

    ANSWERED = 'answered'
    NOT_SEEN = 'not_seen'
    """The planner found no evidence: no answer, which has no error."""
    FAILED = 'failed'
    """There was no answer: a server out of reach, a deadline, a reply that could not be used."""
    UNSCORED = 'unscored'
    """Answered, but what is right cannot be told here."""


@dataclass(frozen=True, slots=True)
class Score:
    """How good one answer is.

    :param correct: None: unscored; no answer is not correct, but has no error either
    :param error: [m] for a position, [min] for a time or a duration; None: there is none
    """

    outcome: Outcome
    correct: bool | None = None
    error: float | None = None


def score(truth: Truth, answer: Answer | None, verdict: bool | None = None) -> Score:
    """Score an answer.

    An answer of another kind than asked for is wrong, without an error. Not to have seen what is not there is
    right, and so is to say that it was not there.

    :param answer: None: the planner failed
    :param verdict: kind TEXT: what the judge says; None: there is no judge, or it could not tell
    """
    if answer is None:
        outcome = Outcome.FAILED
    else:
        outcome = Outcome.NOT_SEEN if answer.kind is Kind.NOT_SEEN else Outcome.ANSWERED
    if truth.kind is Kind.TEXT:
        unjudged = verdict is None and outcome is Outcome.ANSWERED
        return Score(Outcome.UNSCORED if unjudged else outcome, verdict)
    if answer is None or (answer.kind is Kind.NOT_SEEN and truth.kind is not Kind.NOT_SEEN):
        return Score(outcome, False)
    error = _error(truth, answer)
    if truth.kind is Kind.NOT_SEEN:
        correct = answer.kind is Kind.NOT_SEEN or (answer.kind is Kind.BINARY and answer.binary is False)
    elif truth.kind is Kind.BINARY:
        correct = answer.kind is Kind.BINARY and answer.binary is truth.binary
    else:
        within = truth.within_m if truth.kind is Kind.POSITION else truth.within_min
        correct = error is not None and error <= within
    return Score(outcome, correct, error)


def _error(truth: Truth, answer: Answer) -> float | None:
    """Return how far a number is from the nearest right one [m or min]; None: it has none of that kind."""
    error: float | None = None
    if answer.kind is truth.kind:
        if truth.kind is Kind.POSITION and answer.pose is not None:
            away = (distance(answer.pose.position, position) for position in truth.positions)
            error = min(away, default=math.inf)
        elif truth.kind is Kind.TIME and answer.time_ns is not None:
            error = min(abs(answer.time_ns - time_ns) for time_ns in truth.times_ns) / (60 * NS)
        elif truth.kind is Kind.DURATION and answer.duration_s is not None and truth.duration_min is not None:
            error = abs(answer.duration_s / 60.0 - truth.duration_min)
    return error if error is not None and math.isfinite(error) else None


def rank(found: Sequence[str], relevant: frozenset[str]) -> int | None:
    """Return the place, from 1, of the first relevant id; None if there is none."""
    return next((i for i, memory_id in enumerate(found, 1) if memory_id in relevant), None)


def found_at(k: int, ranks: Iterable[int | None]) -> int:
    """Return of how many questions the answer is among the first k found."""
    return sum(r is not None and r <= k for r in ranks)


def retrieval_json(ranks: Sequence[int | None]) -> dict[str, float | None]:
    """Return recall@k and the mean of one over the rank, of zero where it is None; None over nothing."""
    n = len(ranks)
    return {
        **{f'recall@{k}': found_at(k, ranks) / n if n else None for k in CUTOFFS},
        'mrr': statistics.fmean(0.0 if r is None else 1.0 / r for r in ranks) if n else None,
    }


def normalised(text: str) -> list[str]:
    """Return the words that count."""
    return _ARTICLES.sub(' ', text.lower().translate(_PUNCTUATION)).split()


def exact_match(answer: str, reference: str) -> bool:
    """Tell whether the texts have the same words in the same order."""
    return normalised(answer) == normalised(reference)


def token_f1(answer: str, reference: str) -> float:
    """Return the harmonic mean of precision and recall of the words, 0 to 1; 1 if both texts have none."""
    given, asked = normalised(answer), normalised(reference)
    if not given or not asked:
        return float(given == asked)
    shared = sum((Counter(given) & Counter(asked)).values())
    return 2.0 * shared / (len(given) + len(asked))


def bootstrap_interval(groups: Sequence[Sequence[float]]) -> tuple[float, float] | None:
    """Return the 95 % percentile interval of the mean over all values, resampling whole groups.

    The same values give the same interval, in whatever order.

    :param groups: values that belong together, such as the seeds of one question
    :return: None over nothing
    """
    # In an order of their own: questions that run at once end in any.
    groups = sorted(sorted(group) for group in groups if group)
    if not groups:
        return None
    sums = np.array([math.fsum(group) for group in groups])
    sizes = np.array([len(group) for group in groups])
    drawn = np.random.default_rng(0).integers(0, len(groups), (RESAMPLES, len(groups)))
    low, high = np.quantile(sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1), [0.025, 0.975])
    return float(low), float(high)


def home_mean(values: Iterable[tuple[object, float]]) -> tuple[float | None, tuple[float, float] | None]:
    """Return the mean of values, each with the home that it is of, and its 95 % interval, resampling homes.

    :return: None over nothing
    """
    by_home: defaultdict[object, list[float]] = defaultdict(list)
    for home, value in values:
        by_home[home].append(value)
    every = [value for of_home in by_home.values() for value in of_home]
    return statistics.fmean(every) if every else None, bootstrap_interval(list(by_home.values()))
