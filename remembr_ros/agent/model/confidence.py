"""How likely memories show what was asked: a recall's scores as probabilities, embedder by embedder.

A cosine of one embedder is not that of another, so the coefficients are kept under its name; how they were
fitted is in docs/offline-planner.md.
"""

import logging
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from remembr_ros.embedding.embedders import OFFLINE, canonical_name
from remembr_ros.memory.matching.ranking import searchable
from remembr_ros.memory.matching.terms import content_stems
from remembr_ros.memory.model.recall import Hit
from remembr_ros.memory.model.record import Memory

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ScoreCalibration:
    """Of logistic models, for one embedder and the score that recalls by text have with it.

    :param cited: offset, weights of the best score and of the share of the asked words: so do cited memories
    :param shown: offset, weights of the score, of that the memory has all of the asked words, and of the
        share of them that a short one lacks: it shows the thing that the words are about
    """

    cited: tuple[float, float, float]
    shown: tuple[float, float, float, float]


WARY = ScoreCalibration(cited=(-5.0, 3.0, 3.0), shown=(-2.9, 1.2, 2.6, -2.7))
"""For an embedder that nobody measured: nothing is likely until scores and words are high."""

CALIBRATIONS = {OFFLINE: ScoreCalibration(cited=(-1.24, 2.87, 2.41), shown=(-3.18, 4.35, 3.08, -4.16))}

SHORT = 150  # Characters of a text up to which it says no more than what is there

WORDS = ((0.75, 'surely'), (0.5, 'likely'), (0.2, 'perhaps'), (0.0, 'hardly'))
"""What a probability is called that is at least this."""


def in_a_word(likely: float) -> str:
    """Return what a probability is called."""
    return next(word for least, word in WORDS if likely >= least)


def cited_confidence(text: str, hits: Sequence[Hit], embedder: str) -> float:
    """Return how likely the memories that a language model cites for a question show what it asks, 0 to 1.

    :param text: the question
    :param hits: what is cited, with the scores of the recalls by text that found them
    """
    if not hits:
        return 0.0
    asked = content_stems(text)
    having = max(len(asked & content_stems(searchable(hit.memory))) for hit in hits)
    covered = having / max(len(asked), 1)
    return logistic(calibration_of(embedder).cited, (max(hit.score for hit in hits), covered))


def shown_confidence(hit: Hit, covered: float, embedder: str) -> float:
    """Return how likely a memory shows the thing that a recall by text was for, 0 to 1.

    A long caption may tell of a thing in other words; a short text that lacks its words does not.

    :param hit: with the score of that recall
    :param covered: share of the words for the thing that the memory has, in whatever spelling
    """
    features = hit.score, float(covered >= 1.0), lacking(hit.memory, covered)
    return logistic(calibration_of(embedder).shown, features)


def lacking(memory: Memory, covered: float) -> float:
    """Return how much it says that a memory lacks a share of the words: less, the longer its text is."""
    length = len(memory.caption) + sum(map(len, memory.scene_text))
    return (1.0 - covered) * SHORT / max(length, SHORT)


def is_calibrated(embedder: str) -> bool:
    """Tell whether an embedder's scores were measured; for another one, confidence is wary."""
    return canonical_name(embedder) in CALIBRATIONS


def logistic(weights: Sequence[float], features: Sequence[float]) -> float:
    """Return a probability from features.

    :param weights: an offset, then one for each feature
    """
    total = weights[0] + sum(w * f for w, f in zip(weights[1:], features, strict=True))
    return 1.0 / (1.0 + math.exp(-max(min(total, 30.0), -30.0)))


@cache
def calibration_of(embedder: str) -> ScoreCalibration:
    """Return the coefficients of an embedder; wary ones, and a line in the log, where nobody measured it."""
    if not is_calibrated(embedder):
        logger.warning('the scores of embedder %r are not calibrated: answers are less sure', embedder)
        return WARY
    return CALIBRATIONS[canonical_name(embedder)]
