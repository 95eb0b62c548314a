"""Detects the wake phrase in a transcript."""

import re
import unicodedata
from collections.abc import Sequence
from itertools import pairwise

from remembr_ros.errors import InvalidRequest

WAKE_PHRASES = ('robot', 'hey robot')

FILLERS = frozenset(
    ('ah', 'eh', 'ey', 'hay', 'hello', 'hey', 'hi', 'oh', 'ok', 'okay', 'so', 'uh', 'um', 'well')
)
"""Words that may come before the wake phrase."""

MAX_FILLERS = 2
LETTERS_PER_ERROR = 5  # one letter in so many may be heard wrong: 'hey robat', 'robots'
VOWELS = frozenset('aeiouwyh')  # told apart badly or not spoken: half an error, so 'rowboat' is 'robot'
_WORD = re.compile(r"[^\W_]+(?:['\u2019][^\W_]+)*")
_JOINT = re.compile(r'[\s-]*')  # what may lie between the parts of a word that was heard as two
_SEPARATORS = ' \t\r\n.,;:!?-\u2013\u2014\u2026'


def after_wake_phrase(text: str, phrases: Sequence[str] = WAKE_PHRASES) -> str | None:
    """Return what was said after the wake phrase; empty: nothing.

    Case, accents and punctuation do not matter, and a small recognition error is tolerated.

    :param text: a transcript
    :param phrases: any of them wakes; none: everything said is meant for the robot
    :return: None: the robot was not spoken to
    :raises InvalidRequest: a phrase has no letters
    """
    if not phrases:
        return text.strip() if _WORD.search(text) else None
    words = list(_WORD.finditer(text))
    heard = [_plain(word[0]) for word in words]
    joined = [bool(_JOINT.fullmatch(text, a.end(), b.start())) for a, b in pairwise(words)]
    readings = []
    for phrase in phrases:
        spoken = [_plain(word) for word in _WORD.findall(phrase)]
        if not spoken:
            raise InvalidRequest(f'the wake phrase {phrase!r} has no letters; give one such as "hey robot"')
        for first in range(min(MAX_FILLERS, len(heard)) + 1):
            if first and heard[first - 1] not in FILLERS:
                break
            found = _match(spoken, heard[first:], joined[first:])
            if found is not None:
                errors, count = found
                readings.append((errors, first + count))
    if not readings:
        return None
    _, spent = min(readings)
    rest = text[words[spent - 1].end() :].lstrip(_SEPARATORS).rstrip()
    return rest if _WORD.search(rest) else ''


def _plain(word: str) -> str:
    """Return a word's letters without case, accents and apostrophes."""
    letters = unicodedata.normalize('NFKD', word.casefold())
    return ''.join(letter for letter in letters if letter.isalnum())


def _match(spoken: list[str], heard: list[str], joined: list[bool]) -> tuple[int, int] | None:
    """Return errors and number of words if what was heard begins with the phrase, the best way to read it.

    :param joined: whether each word of heard and the next may be one
    """
    phrase = ''.join(spoken)
    allowed = 2 * (len(phrase) // LETTERS_PER_ERROR)
    # A word may be heard as two, two as one.
    ways = []
    for count in range(max(len(spoken) - 1, 1), min(len(spoken) + 1, len(heard)) + 1):
        # A word more or less is 'row bot' for 'robot', not 'a robot'.
        if count != len(spoken) and heard[0][:1] != phrase[0]:
            continue
        # 'Rob, at the door' names somebody else.
        if count > len(spoken) and not all(joined[: count - 1]):
            continue
        errors = half_errors(phrase, ''.join(heard[:count]), allowed)
        if errors <= allowed:
            ways.append((errors, count))
    return min(ways, default=None)


def half_errors(a: str, b: str, limit: int) -> int:
    """Return what has to be changed, added or left out to turn one text into the other.

    A letter counts two, one of the VOWELS, also in place of another, counts one.

    :param limit: more than this is not counted: limit + 1 is returned
    """
    row = [0]
    for letter in b:
        row.append(row[-1] + _weight(letter))
    for letter in a:
        previous, row[0] = row[0], row[0] + _weight(letter)
        for j, other in enumerate(b, 1):
            change = 0 if letter == other else max(_weight(letter), _weight(other))
            least = min(row[j] + _weight(letter), row[j - 1] + _weight(other), previous + change)
            previous, row[j] = row[j], least
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)


def _weight(letter: str) -> int:
    return 1 if letter in VOWELS else 2
