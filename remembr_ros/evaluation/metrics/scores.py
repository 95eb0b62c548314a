"""Scores of answers and means over them. Knows no files, no store and no planner.

Correctness as in the ReMEmbR paper (arXiv 2409.13682, section V-B): within 15 m, within 2 min, yes or no
exactly. A text is right or wrong by the verdict of a judge; without one it is unscored.
"""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.evaluation.datasets.sample import Truth
from remembr_ros.geometry import Point, distance
from remembr_ros.timestamps import NS


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

    :param kind: of the right answer
    :param correct: None: unscored; no answer is not correct, but has no error either
    :param error: [m] for a position, [min] for a time or a duration; None: there is none
    """

    kind: Kind
    length: str
    outcome: Outcome
    correct: bool | None = None
    error: float | None = None


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean with the number of values it is over.

    :param value: None over no values
    :param std: sample standard deviation; None over fewer than two values
    """

    value: float | None
    n: int
    std: float | None = None


def mean(values: Iterable[float]) -> Mean:
    """Return the mean of the values."""
    values = list(values)
    if not values:
        return Mean(None, 0)
    return Mean(statistics.fmean(values), len(values), statistics.stdev(values) if len(values) > 1 else None)


def position_error(answer: Point, truths: Iterable[Point]) -> float:
    """Return the distance to the nearest of the right positions [m]."""
    return min(distance(answer, truth) for truth in truths)


def time_error(answer_ns: int, truths_ns: Iterable[int]) -> float:
    """Return how far a time is from the nearest of the right ones [min]."""
    return min(abs(answer_ns - truth) for truth in truths_ns) / (60 * NS)


def duration_error(answer_s: float, truth_min: float) -> float:
    """Return by how much a duration is wrong [min]."""
    return abs(answer_s / 60.0 - truth_min)


def score(truth: Truth, length: str, answer: Answer | None, verdict: bool | None = None) -> Score:
    """Score an answer.

    An answer of another kind than asked for is wrong, without an error. Not to have seen what is not there is
    right, and so is to say that it was not there.

    :param answer: None: the planner failed
    :param verdict: kind TEXT: what the judge says; None: there is no judge, or it could not tell
    """
    if truth.unscored_because:
        return Score(truth.kind, length, Outcome.FAILED if answer is None else Outcome.UNSCORED)
    if truth.kind is Kind.TEXT and verdict is not None:
        return Score(truth.kind, length, _outcome(answer), verdict)
    if answer is None or (answer.kind is Kind.NOT_SEEN and truth.kind is not Kind.NOT_SEEN):
        return Score(truth.kind, length, _outcome(answer), None if truth.kind is Kind.TEXT else False)
    if truth.kind is Kind.TEXT:
        return Score(truth.kind, length, Outcome.UNSCORED)
    error = _error(truth, answer)
    if truth.kind is Kind.NOT_SEEN:
        correct = answer.kind is Kind.NOT_SEEN or (answer.kind is Kind.BINARY and answer.binary is False)
    elif truth.kind is Kind.BINARY:
        correct = answer.kind is Kind.BINARY and answer.binary is truth.binary
    elif truth.kind is Kind.POSITION:
        correct = error is not None and error <= truth.within_m
    else:
        correct = error is not None and error <= truth.within_min
    return Score(truth.kind, length, _outcome(answer), correct, error)


def _outcome(answer: Answer | None) -> Outcome:
    if answer is None:
        return Outcome.FAILED
    return Outcome.NOT_SEEN if answer.kind is Kind.NOT_SEEN else Outcome.ANSWERED


def _error(truth: Truth, answer: Answer) -> float | None:
    """Return how far a number is off [m or min]; None if there is none of the asked kind."""
    error: float | None = None
    if answer.kind is truth.kind:
        if truth.kind is Kind.POSITION and answer.pose is not None:
            error = position_error(answer.pose.position, truth.positions)
        elif truth.kind is Kind.TIME and answer.time_ns is not None:
            error = time_error(answer.time_ns, truth.times_ns)
        elif truth.kind is Kind.DURATION and answer.duration_s is not None and truth.duration_min is not None:
            error = duration_error(answer.duration_s, truth.duration_min)
    return error if error is not None and math.isfinite(error) else None


def correctness(scores: Iterable[Score]) -> Mean:
    """Return the fraction of correct answers over all questions that can be scored, answered or not."""
    return mean(float(s.correct) for s in scores if s.correct is not None)


def correctness_answered(scores: Iterable[Score]) -> Mean:
    """Return the fraction of correct answers over those that were given."""
    return mean(float(s.correct) for s in scores if s.outcome is Outcome.ANSWERED and s.correct is not None)


def errors(scores: Iterable[Score]) -> Mean:
    """Return the mean error [m or min] over the answers that have one; scores of one kind only make sense."""
    return mean(s.error for s in scores if s.error is not None)


def rank(found: Sequence[str], relevant: frozenset[str]) -> int | None:
    """Return the place, from 1, of the first relevant id; None if there is none."""
    return next((i for i, memory_id in enumerate(found, 1) if memory_id in relevant), None)


def recall_at(k: int, ranks: Iterable[int | None]) -> Mean:
    """Return the fraction of questions whose answer is among the first k found."""
    return mean(float(r is not None and r <= k) for r in ranks)


def mean_reciprocal_rank(ranks: Iterable[int | None]) -> Mean:
    """Return the mean of one over the rank, of zero where nothing relevant was found."""
    return mean(0.0 if r is None else 1.0 / r for r in ranks)
