"""Whether the robot is spoken to."""

import re
from collections.abc import Sequence

from remembr_ros.errors import InvalidRequest

WAKE_PHRASES = ('robot', 'hey robot')

FILLERS = frozenset(
    ('ah', 'eh', 'ey', 'hay', 'hello', 'hey', 'hi', 'oh', 'ok', 'okay', 'so', 'uh', 'um', 'well')
)
"""Words that may come before the wake phrase."""

MAX_FILLERS = 2

LETTERS_PER_ERROR = 5
"""One letter in so many may be heard wrong: 'row bot', 'hey robat'."""

_WORD = re.compile(r'[^\W_]+')
_SEPARATORS = ' \t\r\n.,;:!?-\u2013\u2014\u2026'


def strip_wake_phrase(text: str, phrases: Sequence[str] = WAKE_PHRASES) -> str | None:
    """Return what was said after the wake phrase.

    Case and punctuation do not matter, and a small recognition error is tolerated.

    :param text: a transcript
    :param phrases: any of them wakes; none: everything said is meant for the robot
    :return: None: the robot was not spoken to, or nothing was asked
    :raises InvalidRequest: a phrase has no letters
    """
    if not phrases:
        return text.strip() or None
    words = list(_WORD.finditer(text))
    heard = [word[0].casefold() for word in words]
    best: tuple[int, int] | None = None
    for phrase in phrases:
        spoken = [word.casefold() for word in _WORD.findall(phrase)]
        if not spoken:
            raise InvalidRequest(f'the wake phrase {phrase!r} has no letters; give one such as "hey robot"')
        for first in range(min(MAX_FILLERS, len(heard)) + 1):
            if first and heard[first - 1] not in FILLERS:
                break
            found = _match(spoken, heard[first:])
            if found is not None:
                distance, count = found
                best = min(best or (distance, first + count), (distance, first + count))
    if best is None:
        return None
    rest = text[words[best[1] - 1].end() :].lstrip(_SEPARATORS).rstrip()
    return rest if _WORD.search(rest) else None


def _match(spoken: list[str], heard: list[str]) -> tuple[int, int] | None:
    """Return errors and number of words if what was heard begins with the phrase, the best way to read it."""
    phrase = ''.join(spoken)
    allowed = len(phrase) // LETTERS_PER_ERROR
    # A word may be heard as two, two as one.
    ways = []
    for count in range(max(len(spoken) - 1, 1), min(len(spoken) + 1, len(heard)) + 1):
        # A word more or less is 'row bot' for 'robot', not 'a robot'.
        if count != len(spoken) and heard[0][0] != phrase[0]:
            continue
        distance = edit_distance(phrase, ''.join(heard[:count]), allowed)
        if distance <= allowed:
            ways.append((distance, count))
    return min(ways, default=None)


def edit_distance(a: str, b: str, limit: int) -> int:
    """Return how many letters have to be changed, added or left out to turn one into the other.

    :param limit: more than this are not counted: limit + 1 is returned
    """
    if abs(len(a) - len(b)) > limit:
        return limit + 1
    row = list(range(len(b) + 1))
    for i, letter in enumerate(a, 1):
        previous, row[0] = row[0], i
        for j, other in enumerate(b, 1):
            previous, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, previous + (letter != other))
    return min(row[-1], limit + 1)
