"""Whether two readings are of the same sign: OCR reads EXIT, EXI or EX1T."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache

# Readings with this share of common letters (Ratcliff and Obershelp) are of one sign: EXIT and FXIT have it,
# PUSH and PULL have 0.5.
SAME_SPELLING = 0.75
MOST_ADDED = 2  # Letters that OCR adds to a sign, as from the frame around it
LEAST_LETTERS = 3  # shorter readings without a digit are specks more often than signs

_WORD = re.compile(r'[^\W_]+')
_DIGITS = re.compile(r'\d+')
_MISREAD = str.maketrans('01589', 'oisbg')


@lru_cache(16_384)
def folded(text: str) -> str:
    """Return a reading without case, spaces, punctuation and the digits that OCR puts in place of letters."""
    return ''.join(map(_folded_word, _WORD.findall(text.casefold())))


def new_readings(texts: Iterable[str], known: Iterable[str]) -> list[str]:
    """Return the texts that no known one explains.

    A text is explained by one that it is a part of, or a misreading of with the same numbers. A longer text
    is new: EXI explains no EXIT, so that the better reading is remembered, too. Specks are never new.
    """
    have = [folded(text) for text in known]
    return [text for text in texts if _is_sign(text) and not any(_explains(k, folded(text)) for k in have)]


def is_longer_misreading(text: str, known: str) -> bool:
    """Tell whether a text is a known one with up to MOST_ADDED letters too many: EXITI of EXIT."""
    longer, right = folded(text), folded(known)
    added = len(longer) - len(right)
    return (
        0 < added <= MOST_ADDED and _DIGITS.findall(text) == _DIGITS.findall(known) and _alike(longer, right)
    )


def _folded_word(word: str) -> str:
    if 2 * sum(map(str.isdigit, word)) > len(word):
        return word
    return word.translate(_MISREAD).replace('l', 'i')


def _is_sign(text: str) -> bool:
    letters = ''.join(_WORD.findall(text))
    return len(letters) >= LEAST_LETTERS or any(map(str.isdigit, letters))


def _explains(known: str, text: str) -> bool:
    if text in known:
        return True
    if len(text) > len(known) or _DIGITS.findall(text) != _DIGITS.findall(known):
        return False
    return _alike(known, text)


def _alike(one: str, other: str) -> bool:
    # More letters than the shorter one has are not common.
    if 2 * min(len(one), len(other)) < SAME_SPELLING * (len(one) + len(other)):
        return False
    return SequenceMatcher(None, one, other, False).ratio() >= SAME_SPELLING
