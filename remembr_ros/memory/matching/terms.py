"""The words of a text, their stems and synonyms, and which carry meaning."""

import re
from functools import cache, lru_cache

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
    found = (other for group in _SAME if stemmed in group for other in group)
    return tuple(other for other in dict.fromkeys(found) if other != stemmed)


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
