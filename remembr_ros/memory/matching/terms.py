"""The words of a text, their stems and synonyms, which carry meaning, and signs that OCR read differently."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import cache, lru_cache
from importlib.resources import files
from typing import Any

import yaml

# Words of which questions are made, whatever they are about.
STOP_WORDS = frozenset(
    'a about after again ago all am an and any anything are as ask at away back be been before being '
    'between both but by called came can come could day did do does done down drive driving each ever '
    'every find first for from get give go going got had happened has have having he here him his how '
    'i if in into is it its just last latest lead let like long look many may me might more most much '
    'my near need next no not now of off on once one only or our out over past place please read '
    'recently remember robot said saw say says see seen she should show so some something soon take '
    'tell than that the their them then there these they thing things this those through time to '
    'today told too under until up us very want was way we went were what when where whether which '
    'while who whom whose why will with would yesterday you your'.split(' ')
)

_INSIDE = re.compile(r'(?<=[a-z])(?=[A-Z])')  # where TrafficLight has its second word
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


def words(text: str) -> list[str]:
    """Return the words of a text: lower case, letters and digits, in order."""
    found = _WORD.findall(text.lower())
    return [word.removesuffix("'s") for word in found] if "'" in text else found


@lru_cache(100_000)
def stem(word: str) -> str:
    """Return a word without the ending of a plural, so that 'signs' meets 'sign': a name for the same thing.

    Full-text search goes further, see :func:`remembr_ros.memory.matching.bm25.term_of`.
    """
    if word.endswith('shelves'):
        return word[:-3] + 'f'
    if len(word) > 4 and word.endswith('ies'):
        return word[:-3] + 'y'
    if len(word) > 4 and word.endswith(('ches', 'shes', 'sses', 'xes')):
        return word[:-2]
    if len(word) > 3 and word.endswith('s') and not word.endswith(('ss', 'us', 'is')):
        return word[:-1]
    return word


@cache
def synonyms(stemmed: str) -> tuple[str, ...]:
    """Return the other stems for the same thing."""
    groups = map(str.split, _names()['words'].split(','))
    found = (other for group in groups if stemmed in group for other in group)
    return tuple(other for other in dict.fromkeys(found) if other != stemmed)


@cache
def everyday_names(label: str) -> tuple[str, ...]:
    """Return what people call what a detector calls so, the name that is shown first.

    Of labels that nobody has listed, 'cell_phone', 'TrafficLight' and 'Monitor/TV', it is their words.
    """
    spaced = _INSIDE.sub(' ', label).replace('_', ' ').replace('-', ' ')
    first, *others = [' '.join(part.split()) for part in spaced.split('/') if part.strip()] or [label]
    for shown, listed in _names()['labels'].items():
        if first.lower().replace(' ', '') == shown.replace(' ', ''):
            return (shown, *listed.split(', '), *others)
    return (first, *others)


@cache
def _names() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load(files(__package__).joinpath('names.yaml').read_text('utf-8'))
    return loaded


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning; of all words if none does."""
    return frozenset(map(stem, words_without(STOP_WORDS, text)))


def words_without(meaningless: frozenset[str], text: str) -> list[str]:
    """Return the words of a text that tell something; all of them if none does."""
    everything = words(text)
    return [w for w in everything if w not in meaningless] or everything


def told_apart(text: str) -> list[str]:
    """Return the words of a search text that carry meaning, each once; none of fewer than two."""
    found = list(dict.fromkeys(word for word in words(text) if word not in STOP_WORDS))
    return found if len(found) > 1 else []


# Readings with this share of common letters (Ratcliff and Obershelp) are of one sign: EXIT and FXIT have it,
# PUSH and PULL have 0.5.
SAME_SPELLING = 0.75
MOST_ADDED = 2  # Letters that OCR adds to a sign, as from the frame around it
LEAST_LETTERS = 3  # shorter readings without a digit are specks more often than signs

_LETTERS = re.compile(r'[^\W_]+')
_DIGITS = re.compile(r'\d+')
_MISREAD = str.maketrans('01589', 'oisbg')


@lru_cache(16_384)
def folded(text: str) -> str:
    """Return a reading without case, spaces, punctuation and the digits that OCR puts in place of letters."""
    return ''.join(map(_folded_word, _LETTERS.findall(text.casefold())))


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
    letters = ''.join(_LETTERS.findall(text))
    return len(letters) >= LEAST_LETTERS or any(map(str.isdigit, letters))


def _explains(known: str, text: str) -> bool:
    if text in known:
        return True
    if len(text) > len(known) or _DIGITS.findall(text) != _DIGITS.findall(known):
        return False
    return _alike(known, text)


def _alike(word: str, other: str) -> bool:
    # More letters than the shorter one has are not common.
    if 2 * min(len(word), len(other)) < SAME_SPELLING * (len(word) + len(other)):
        return False
    return SequenceMatcher(None, word, other, False).ratio() >= SAME_SPELLING
