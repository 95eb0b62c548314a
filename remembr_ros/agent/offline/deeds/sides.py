"""What something was done before, after, between, during or when, read from the tree of its sentence."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from remembr_ros.agent.model.english import Tree, Word
from remembr_ros.agent.model.quoting import ordinal

_SIDES = {
    **dict.fromkeys('before prior ahead until till beforehand'.split(), 'before'),
    **dict.fromkeys('after following once since afterwards afterward next then thereafter'.split(), 'after'),
    **dict.fromkeys('during while whilst throughout middle course as'.split(), 'during'),
    **dict.fromkeys('between from'.split(), 'between'),
    **dict.fromkeys('when time'.split(), 'at'),
}
"""Words of time; 'at': at that same time, or right after it: 'the last time that you were asked to'."""
_BACK = frozenset('that this it beforehand afterwards afterward next then thereafter'.split())
_RIGHT = frozenset('right immediately just directly straight shortly next'.split())
_END = frozenset(', ; : . ! ?'.split())


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
        if word.low in _SIDES and not any(side.start <= word.index < side.stop for side in found):
            found += _between(tree, word) if _SIDES[word.low] == 'between' else _side(tree, word)
    return found


def _side(tree: Tree, word: Word) -> list[Side]:
    name, anchor, start = _SIDES[word.low], _anchor(tree, word), word.index
    before = tree.words[max(start - 5, 0) : start]
    soon = [other.low for other in before[-2:]] == ['as', 'soon']
    name, start = ('after', start - 2) if soon else (name, start)
    right = [w.index for w in before if w.low in _RIGHT and ('thing' in before[-1].text or w is before[-1])]
    if name == 'at' and word.low == 'time':
        start = tree.children(word)[0].index
    is_back = word.low in _BACK or (anchor is not None and anchor.low in _BACK)
    if is_back:  # 'You polished the cup. What did you do after that?'
        last = min(w.index for w in tree.below(tree.roots()[-1]))
        said = tree.words[:last]
        if not said or word.index < last:
            return []
        right = right or [start] * (name == 'before' or word.low == 'next')
        return [Side(name, tree.roots()[0], said, 0, last, bool(right))]
    said = _said(tree, word, anchor) if anchor is not None else []
    if anchor is None or not said:
        return []
    return [Side(name, anchor, said, min([start, *right]), said[-1].index + 1, bool(right))]


def _anchor(tree: Tree, word: Word) -> Word | None:
    """Return what a word of time is about: a thing or a verb; None: nothing that is said after it."""
    follows = tree.words[min(word.index + 1, len(tree.words) - 1)]
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
    below = {w.index for w in tree.below(anchor)}
    start = word.index + 1 + (tree.words[min(word.index + 1, anchor.index)].low in ('to', 'of', 'that'))
    return list(takewhile(lambda w: w.index in below and w.low not in _END, tree.words[start:]))


def _between(tree: Tree, word: Word) -> list[Side]:
    """Return both sides of 'between' and 'from ... to ...'."""
    inner = next(iter(tree.children(word, 'pobj', 'pcomp')), None)
    if inner is None or (word.low == 'from' and inner.tag != 'VBG'):
        return []
    until = ('and',) if word.low == 'between' else ('to', 'until', 'till')
    said = _said(tree, word, tree.head(word) if word.low == 'from' else inner)
    for other in said[1:]:
        if other.low not in until:
            continue
        pairs = [(one, end) for one in said for end in tree.children(one, 'conj') if end.index > other.index]
        if word.low == 'from':
            pairs = [(inner, end) for end in tree.children(other, 'pobj', 'pcomp')]
        for one, end in pairs[:1]:
            first = inner if end.tag.startswith('VB') else one
            return [
                Side('after', first, tree.words[word.index + 1 : other.index], word.index, other.index),
                Side(
                    'before',
                    end,
                    tree.words[other.index + 1 : said[-1].index + 1],
                    other.index,
                    said[-1].index + 1,
                ),
            ]
    return []
