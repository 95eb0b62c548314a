"""How likely a memory shows what was asked for: seen or not is decided here.

The coefficients are fitted, not set: docs/offline-planner.md tells on what, and the command.
"""

import math
from dataclasses import dataclass

from remembr_ros.agent.model.answer import Kind


@dataclass(frozen=True, slots=True)
class Likeness:
    """What speaks for a memory to show a thing.

    :param score: of the recall by text, 0 to 1
    :param covered: share of the asked words that the memory has, 0 to 1, other words for the same and
        misread ones included
    :param named: whether it has the word for the thing: of 'a person with a red bag' the person
    """

    score: float
    covered: float
    named: bool


@dataclass(frozen=True, slots=True)
class Coefficients:
    """Of a logistic model over a :class:`Likeness`."""

    offset: float
    score: float
    covered: float
    named: float


FITTED = Coefficients(offset=-4.68, score=4.98, covered=4.72, named=0.17)

LEAST = {
    Kind.POSITION: 0.25,
    Kind.TIME: 0.2,
    Kind.DURATION: 0.2,
    Kind.BINARY: 0.2,
    Kind.TEXT: 0.2,
}
"""How likely it has to be, by the kind of the answer: more to drive there than to show a sentence.

To miss what is there counts for more than to show what is like it: an answer quotes what it rests on.
"""


def chance(likeness: Likeness, by: Coefficients = FITTED) -> float:
    """Return how likely a memory that is so like what was asked for shows it, 0 to 1."""
    total = by.offset + by.score * likeness.score + by.covered * likeness.covered + by.named * likeness.named
    return 1.0 / (1.0 + math.exp(-total))
