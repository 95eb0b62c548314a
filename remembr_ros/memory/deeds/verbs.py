"""Verbs of deeds: which words of people and of robots name the same kind of deed.

The kinds of remembr_ros.memory.deeds.deed have the usual words for them; any other word is met by its forms
(loaded, loading) and by the noun made of it (introduce, introduction).
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from remembr_ros.memory.matching.bm25 import term_of
from remembr_ros.memory.matching.terms import words

_IRREGULAR = {
    form: plain
    for plain, *forms in (
        line.split()
        for line in (
            'take took taken,bring brought,give gave given,go went gone,drive drove driven,leave left,'
            'tell told,say said,speak spoke spoken,hold held,stick stuck,get got gotten,sweep swept,'
            'show shown,hang hung,find found,fall fell fallen,break broke broken,throw threw thrown,'
            'build built,feed fed,make made,lay laid,meet met,send sent,teach taught,wake woke woken,'
            'run ran,stand stood,sing sang sung,write wrote written,spill spilt,begin began begun,'
            'lose lost,come came,see saw seen,do did done,carry carried carries,try tried tries,'
            'explain explanation explanations,grip gripped gripping,shake shook shaken,ride rode ridden'
        ).split(',')
    )
    for form in forms
}
_SAME = (
    'pick grab grasp take lift fetch collect retrieve remove grip get',
    'place put lay leave deposit store stow set deliver',
    'go drive navigate travel head walk move trip journey ride visit come return',
    'open',
    'close shut',
    'ask request',
    'answer reply respond tell say',
    'dock',
    'charge recharge',
    'fail',
    'see saw spot notice observe',
    'begin start',
    'end finish conclude',
)
"""The usual words for a kind, the kind first."""
_NOUN_ENDINGS = frozenset(
    ('t', 'ti', 'at', 'i', 'eri', 'al', 'er', 'or', 'ment', 'anc', 'enc', 'ur', 'ion', 'e')
)
"""What a stem of a noun may have after that of its verb: introduc-t(ion), deliver-i, guid-anc(e)."""
_WHO = frozenset(('er', 'or'))
"""Endings of nouns for whoever does it: a visitor is no visit."""
PARTICLES = frozenset('up down off away out over back in on into onto'.split())


@lru_cache(10_000)
def base(word: str) -> str:
    """Return what the forms of a verb have in common."""
    return term_of(_IRREGULAR.get(word, word))


_GROUPS = [[base(word) for word in group.split()] for group in _SAME]
_GROUP = {word: group for group in _GROUPS for word in group}


@lru_cache(50_000)
def is_form(word: str, other: str) -> bool:
    """Tell whether two words are forms of one verb, or the noun made of it: load, loading; introduction."""
    root, two = sorted((base(word), base(other)), key=len)
    return root == two or (len(root) > 3 and two.startswith(root) and two[len(root) :] in _NOUN_ENDINGS)


def is_same_kind(word: str, other: str) -> bool:
    """Tell whether two words are usual ones for the same kind of deed: grasp, pick."""
    return is_form(word, other) or (bool(_group(word)) and base(other) in _group(word))


@lru_cache(10_000)
def _group(word: str) -> Sequence[str]:
    """Return the usual words for the kind that a verb means, or the noun made of it: delivery."""
    root = base(word)
    ended = (verb for verb in _GROUP if len(verb) > 3 and root.startswith(verb))
    verb = next((verb for verb in ended if root[len(verb) :] in _NOUN_ENDINGS - _WHO), root)
    return _GROUP.get(root, _GROUP.get(verb, ()))


def is_deed(word: str) -> bool:
    """Tell whether a word may say what was done: a usual verb, or an irregular form of another one."""
    return word in _IRREGULAR or base(word) in _GROUP


def verb_of(phrase: str) -> list[str]:
    """Return the words of a kind, 'step back', without a particle that says no more: 'pick' of 'pick up'."""
    spoken = words(phrase)
    return spoken[:1] if len(spoken) == 2 and spoken[1] in PARTICLES and base(spoken[0]) in _GROUP else spoken


def kinds_meant(asked: str, kinds: Iterable[str]) -> list[frozenset[str]]:
    """Return which kinds of deeds may be meant: those that have these words; with usual ones for them.

    :param kinds: those that there are
    """
    wanted, verb = verb_of(asked), {kind: verb_of(kind) for kind in kinds}
    if not wanted:
        return []
    found = [
        frozenset(kind for kind in verb if _has(verb[kind], wanted, same)) for same in (is_form, is_same_kind)
    ]
    return [matches for matches in found if matches]


def _has(verb: list[str], wanted: list[str], same: object) -> bool:
    return all(any(same(word, part) for part in verb) for word in wanted)  # type: ignore[operator]
