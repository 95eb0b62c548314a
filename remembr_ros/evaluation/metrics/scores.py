"""Scores of answers. Knows no files, no store and no planner.

Correctness as in the ReMEmbR paper (arXiv 2409.13682, section V-B): within 15 m, within 2 min, yes or no
exactly. A text is right or wrong by the verdict of a judge; without one it is unscored.
"""

import math
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.model.answer import Answer, Kind
from remembr_ros.evaluation.datasets.sample import Truth
from remembr_ros.geometry import distance
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
    if truth.unscored_because:
        return Score(Outcome.FAILED if answer is None else Outcome.UNSCORED)
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
            error = min(distance(answer.pose.position, position) for position in truth.positions)
        elif truth.kind is Kind.TIME and answer.time_ns is not None:
            error = min(abs(answer.time_ns - time_ns) for time_ns in truth.times_ns) / (60 * NS)
        elif truth.kind is Kind.DURATION and answer.duration_s is not None and truth.duration_min is not None:
            error = abs(answer.duration_s / 60.0 - truth.duration_min)
    return error if error is not None and math.isfinite(error) else None
