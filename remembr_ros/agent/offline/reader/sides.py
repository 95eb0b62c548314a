"""Which deeds are meant: before, after or during others, by the tree; the second, the longest, the failed."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from remembr_ros.agent.model.english import Tree, Word
from remembr_ros.agent.model.quoting import any_case, cardinal, ordinal
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.memory.deeds.query import DeedOrder
from remembr_ros.memory.matching.terms import words

SIDES = {word: name for name in ('before', 'after', 'during', 'between', 'at') for word in word_class(name)}
"""Words of time; 'at': at that same time, or right after it: 'the last time that you were asked to'."""
_CHOSEN = ('longest', 'shortest', 'nearest', 'farthest')
_ORDERS = {word: DeedOrder(name) for name in _CHOSEN for word in word_class(name)}
_BACK, _RIGHT, _STEPS = map(word_class, ('said_before', 'right', 'steps'))
_OUTCOMES = {
    'failed': any_case(
        r'\bfail\w*|\b(?:unsuccess\w+|in vain|refus\w+|unable|stuck|gave up)\b|\b(?:go|went|gone|goes) (?:'
        r'wrong|badly)\b|\bnot (?:able|manage|succe)\w*'
    ),
    'cancelled': any_case(r'\b(?:cancel|abort|interrupt)\w*|\b(?:broken?|called|cut) (?:off|short)\b'),
    'succeeded': any_case(
        r'(?:^|(?<!not) )\bsucce(?:ed|ss)\w*|(?<!not\s)\bmanaged?\b|\b(?:that|it|this) work(?:s|ed)?\b'
        r'|went well'
    ),
}


@dataclass(frozen=True, slots=True)
class Side:
    """What something was done before, after or during.

    :param name: 'after', 'before', 'during' or 'at'
    :param anchor: the noun or the verb of that
    :param said: the words of that
    :param start: index of the first word that says it, which may be 'right'
    :param stop: of the next one after all of these
    :param right: nothing else was done in between
    """

    name: str
    anchor: Word
    said: Sequence[Word]
    start: int
    stop: int
    right: bool = False


def find_sides(tree: Tree) -> list[Side]:
    """Return what a text puts in relation to what it is about; no word is of two."""
    found = list[Side]()
    for word in tree:
        if word.low in SIDES and not any(side.start <= word.index < side.stop for side in found):
            found += _between(tree, word) if SIDES[word.low] == 'between' else _side(tree, word)
    return found


def _side(tree: Tree, word: Word) -> list[Side]:
    name, anchor, start = SIDES[word.low], _anchor(tree, word), word.index
    before = tree.words[max(start - 5, 0) : start]
    if word.low in _BACK or (anchor is not None and anchor.low in _BACK):
        # What was said before: 'You polished the cup. What did you do after that?'
        last = tree.below(tree.roots()[-1])[0].index
        right = name == 'before' or word.low == 'next' or bool(_RIGHT & {w.low for w in before[-1:]})
        return [Side(name, tree.roots()[0], tree.words[:last], 0, last, right)] if 0 < last <= start else []
    if anchor is None or not (said := _said(tree, word, anchor)):
        return []
    if [other.low for other in before[-2:]] == ['as', 'soon']:
        name, start = 'after', start - 2
    if word.low == 'time':
        start = tree.children(word)[0].index
    thing = any(w.lemma == 'thing' for w in before)  # 'the next thing you did after'
    right_at = [w.index for w in (before if thing else before[-1:]) if w.low in _RIGHT]
    return [Side(name, anchor, said, min([start, *right_at]), said[-1].index + 1, bool(right_at))]


def _anchor(tree: Tree, word: Word) -> Word | None:
    """Return what a word of time is about: a thing or a verb; None: nothing that is said after it."""
    follows = tree.after(word)
    if word.low == 'time':
        nth = any(ordinal(other.low) for other in tree.children(word))
        return next((verb for verb in tree.children(word, 'relcl', 'acl', 'advcl') if nth), None)
    if word.low == 'when':
        return tree.head(word) if follows.pos != 'AUX' and word.dep != 'ROOT' else None
    if word.dep == 'mark':
        return tree.head(word) if follows.low != 'when' else None
    return next(iter([*tree.children(word, 'pobj', 'pcomp', 'dobj'), *tree.about(word)]), None)


def _said(tree: Tree, word: Word, anchor: Word) -> list[Word]:
    """Return the words after one that are about an anchor, up to the end of the clause."""
    below = tree.below(anchor)
    start = word.index + 1 + (tree.words[min(word.index + 1, anchor.index)].low in ('to', 'of', 'that'))
    return list(takewhile(lambda w: w in below and w.low not in ',;:.!?', tree.words[start:]))


def _between(tree: Tree, word: Word) -> list[Side]:
    """Return both sides of 'between' and 'from ... to ...'."""
    inner = next(iter(tree.children(word, 'pobj', 'pcomp')), None)
    if inner is None or (word.low == 'from' and inner.tag != 'VBG'):
        return []
    between = word.low == 'between'
    said = _said(tree, word, inner if between else tree.head(word))
    for other in (w for w in said[1:] if w.low in (('and',) if between else ('to', 'until', 'till'))):
        at, stop = other.index, said[-1].index + 1
        pairs = [(inner, end) for end in tree.children(other, 'pobj', 'pcomp')]
        if between:
            pairs = [(one, end) for one in said for end in tree.children(one, 'conj') if end.index > at]
        for one, end in pairs[:1]:
            after = inner if end.tag.startswith('VB') else one
            first = Side('after', after, tree.words[word.index + 1 : at], word.index, at)
            return [first, Side('before', end, tree.words[at + 1 : stop], at, stop)]
    return []


def order_of(text: str) -> DeedOrder:
    """Return what comes first."""
    spoken = words(text)
    said = [_ORDERS[word] for word in spoken if word in _ORDERS]
    if {'way', 'route', 'path'} & {*spoken} and (said or 'best' in spoken):
        return DeedOrder.WAY
    return said[0] if said else DeedOrder.FIRST


def outcomes_of(text: str) -> tuple[str, ...]:
    """Return how what is asked for ended; none: however."""
    return tuple(name for name, said in _OUTCOMES.items() if said.search(text))


def which_ones(text: str) -> tuple[int | None, int | None, bool]:
    """Return which one is asked for, or how many, and whether these are the last ones."""
    spoken = words(text)
    for at, (number, what) in enumerate(pairwise(spoken)):
        count = {'couple': 2, 'few': 3}.get(number) or cardinal(number)
        if count and {what, *spoken[at + 2 : at + 3 * (what == 'of')]} & _STEPS:
            return None, count, spoken[at - 1 : at] in (['last'], ['previous'], ['latest'])
    for word, *follows in zip(spoken, [*spoken[1:], ''], [*spoken[2:], '', ''], strict=False):
        if word == 'penultimate' or follows == ['to', 'last']:
            return -2, None, False
        nth = -1 if word == 'most' and follows[0].startswith('recent') else ordinal(word)
        if nth and follows[0] not in ('aid', 'floor'):
            return nth, None, False
    return None, None, False
