"""What a question compares, tells apart by group or leaves out, and the words that say by what."""

import re
from dataclasses import dataclass
from enum import Enum

from remembr_ros.agent.model.quoting import any_case


class ComparedBy(Enum):
    """By what occurrences are compared: how many there are, when the first or the last was, how long they
    took, how far away they are, how large things are, which number a sign has."""

    COUNT = 'count'
    FIRST = 'first'
    LAST = 'last'
    SECONDS = 'seconds'
    METRES = 'metres'
    AWAY = 'away'
    SIZE = 'size'
    NUMBER = 'number'


class Among(Enum):
    """What is told of several groups: of each, of the one that has most or least, of those without any, or of
    those that reach a limit."""

    EACH = 'each'
    BEST = 'best'
    NONE = 'none'
    LIMIT = 'limit'


@dataclass(frozen=True, slots=True)
class Contrast:
    """What a question compares.

    :param sides: what is compared, each as a question of its own, such as 'did you water the fern'; of groups
        and of a limit one
    :param names: what each side is called
    :param measure: by what
    :param most: whoever has most of that is asked for, or is said to be the first side; else least
    :param group: by what occurrences are told apart: a field of deeds, 'day' or 'each', which is by
        themselves; empty: not at all
    :param grouped: the noun for that, in the asker's words
    :param among: which groups are told
    :param least: that many, or so long [s], at least
    :param fewest: the same at most; of two sides how many times as much the first one has
    :param nth: 2: the second most
    :param without: what is left out
    :param anchor: how far from what; empty: from here
    :param yes: yes or no is asked for
    :param said: words of the question that say all this
    """

    sides: tuple[str, ...]
    names: tuple[str, ...] = ()
    measure: ComparedBy = ComparedBy.COUNT
    most: bool = True
    group: str = ''
    grouped: str = ''
    among: Among = Among.BEST
    least: float = 0.0
    fewest: float = float('inf')
    nth: int = 1
    without: tuple[str, ...] = ()
    anchor: str = ''
    yes: bool = False
    said: tuple[str, ...] = ()


MEASURES = {
    word: (measure, most)
    for measure, most, said in (
        (ComparedBy.COUNT, True, 'more most busiest'),
        (ComparedBy.COUNT, False, 'less fewer fewest least rarest quietest'),
        (ComparedBy.SECONDS, True, 'longer longest slower slowest'),
        (ComparedBy.SECONDS, False, 'shorter shortest quicker quickest faster fastest'),
        (ComparedBy.FIRST, False, 'first earlier earliest sooner'),
        (ComparedBy.LAST, True, 'last later latest'),
        (ComparedBy.AWAY, False, 'nearer closer nearest closest'),
        (ComparedBy.AWAY, True, 'farther further farthest furthest'),
        (ComparedBy.SIZE, True, 'larger bigger largest biggest'),
        (ComparedBy.SIZE, False, 'smaller smallest'),
        (ComparedBy.NUMBER, True, 'highest'),
        (ComparedBy.NUMBER, False, 'lowest'),
    )
    for word in said.split()
}
"""What a word compares by, and whether that one is meant which has more of it."""
COUNTED = r'(?P<counted>(?: (?:(?:of (?:the|your) )?time|often|frequently|times)\b)?)'
NEVER = any_case(r'(?<!and\s)(?<!but\s)\b(?:never|not|no|without(?: (?:a|an|any))?(?! \w+ing)|neither)\b')
HERE = ('you', 'me', 'us', 'here')
PRONOUN = any_case(r'\b(?:it|them)\b')
TIMES = {'once': 1, 'twice': 2, 'thrice': 3}
_DRIVEN = any_case(r'\b(?:you|we|to) (?:drive|drove|travel(?:led)?)\b|\b(?:driven|distance)\b')
YES = any_case(r'^\W*(?:more|fewer|less|is|are|was|were|did|do|does|has|have|had)\b')


def measured(found: re.Match[str], text: str) -> tuple[ComparedBy, bool]:
    """Return by what a word compares, and whether more of that is meant."""
    measure, most = MEASURES[found['by'].lower()]
    if measure is ComparedBy.COUNT and found['counted'].lower().endswith('time'):
        return ComparedBy.SECONDS, most
    driven = measure in (ComparedBy.COUNT, ComparedBy.AWAY) and not found['counted'] and _DRIVEN.search(text)
    return ComparedBy.METRES if driven else measure, most


def plain_text(text: str) -> str:
    return ' '.join(text.split()).strip(' ,;:')


def side_name(text: str) -> str:
    """Return what a side is called."""
    return re.sub(r'(?i)^(?:any|did you|you|are there|is|in|on|at) ', '', plain_text(text))
