"""The words of a text: what they are, which carry meaning, and which of them must be there literally."""

import re
from functools import cache, lru_cache
from typing import NamedTuple

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

_SAME = tuple(
    tuple(same.split())
    for same in (
        'lift elevator, toilet restroom bathroom washroom, sofa couch, bicycle bike, '
        'stair staircase stairway, bin trash garbage, picture painting, car vehicle, '
        # what detectors call it, and people
        'cup mug, tv television, refrigerator fridge, phone telephone, motorbike motorcycle, '
        'aeroplane airplane, shelf shelve, knife knive, scarf scarve, '
        'person people man woman pedestrian someone somebody anyone anybody men women human'
    ).split(',')
)
"""Stems of words that people and signs use for the same thing."""

MOST_IDENTIFIERS = 50  # of a text: each is looked for in every memory that was found

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_TOKEN = re.compile(r"[^\W_]+(?:['\u2019.-][^\W_]+)*")


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
    found = (other for group in _SAME if stemmed in group for other in group)
    return tuple(other for other in dict.fromkeys(found) if other != stemmed)


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry meaning; of all words if none does."""
    return frozenset(map(stem, words_without(STOP_WORDS, text)))


def words_without(meaningless: frozenset[str], text: str) -> list[str]:
    """Return the words of a text that tell something; all of them if none does."""
    everything = words(text)
    return [w for w in everything if w not in meaningless] or everything


def essence(text: str) -> str:
    """Return a search text without the words that only make it a question.

    'Where did you see a red sofa?' is nearer to each 'In the video you see ...' than to any sofa.
    """
    return ' '.join(w for w in _WORD.findall(text) if w.lower() not in STOP_WORDS) or text


def told_apart(text: str) -> list[str]:
    """Return the words of a search text that carry meaning, each once; none of fewer than two."""
    found = list(dict.fromkeys(word for word in words(text) if word not in STOP_WORDS))
    return found if len(found) > 1 else []


class Identifier(NamedTuple):
    """What a memory has to have literally.

    :param word: as it is asked, lower case
    :param has_digit: it is a number, or has one; else a name
    """

    word: str
    pattern: re.Pattern[str]
    has_digit: bool


@lru_cache(256)
def identifiers(text: str) -> tuple[Identifier, ...]:
    """Return what has to be met literally: what has a digit, and names, as far as capitals tell; of a text
    with more than MOST_IDENTIFIERS the first ones.

    'B-204' is also met by 'B204' and 'b 204'. The first word is capitalised in any case and tells nothing.
    """
    found: dict[str, Identifier] = {}
    for index, token in enumerate(_TOKEN.findall(text)):
        word = re.sub(r"['\u2019]s$", '', token)
        named = index > 0 and len(word) > 1 and word[0].isupper() and word.lower() not in STOP_WORDS
        has_digit = any(c.isdigit() for c in word)
        if not named and not has_digit:
            continue
        parts = map(re.escape, re.findall(r'\d+|[^\W\d_]+', word.lower()))
        spelled = r'[\W_]?'.join(parts)
        pattern = re.compile(rf'(?<![^\W_]){spelled}(?![^\W_])', re.IGNORECASE)
        found.setdefault(spelled, Identifier(word.lower(), pattern, has_digit))
        if len(found) == MOST_IDENTIFIERS:
            break
    return tuple(found.values())
