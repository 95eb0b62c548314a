"""Commands in clauses: 'find the cup and bring it to me' has two."""

import re
from collections.abc import Iterator, Sequence

from remembr_ros.agent.model.english import Tree, Word, parse
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.commands.command_words import (
    ASKING,
    BY_ANYBODY,
    IT,
    JOINS,
    LINKS,
    ME,
    UNLIKE,
    VERBS,
)

FIRST = 2
"""Index of the word that a tree of a command begins with."""
_NUMBERED = any_case(r'\b(from|to|in|at|into|on|of) (?!the |an? )(?=[a-z]+ [a-z]?\d)')
_WITH_NUMBER = any_case(
    r'\bthe (?=(?:room|lab|ward|gate|floor|door|level|office|bay|aisle|hall|unit) [a-z]?\d)'
)


def command_tree(text: str) -> Tree:
    """Return the tree of 'You should ...': the model has seldom seen imperatives, nor 'to room 117'."""
    return parse(f'You should {_NUMBERED.sub(lambda found: f"{found[0]}the ", text)}')


def said(words: Sequence[Word]) -> str:
    """Return words as they stand in their text."""
    text, end = '', words[0].start if words else 0
    for word in words:
        text += f'{" " if word.start > end else ""}{word.text}'
        end = word.start + len(word.text)
    return _WITH_NUMBER.sub('', text)


def split_command(text: str) -> list[str]:
    """Return the clauses of a command; none: it is no command.

    A question may be the first of several: 'What is on the table? And then take me to the lift.'
    """
    asking = bool(ASKING.match(text))
    text = f'tell me {text[:1].lower()}{text[1:]}' if asking else f'{text[:1].lower()}{text[1:]}'
    if re.split(r'\W', text, maxsplit=1)[0] not in VERBS:
        return []
    tree = command_tree(text)
    starts, led = [FIRST], {FIRST: ''}
    for word in tree.words[FIRST + 1 :]:
        links = set(_links_before(tree, word))
        if links.isdisjoint(JOINS) or word.low in LINKS:
            continue
        if _begins(tree, word, links, tree.words[starts[-1] : word.index]):
            starts.append(word.index)
            led[word.index] = ''
        elif word.low in ('to', 'into', 'back') and not _infinitive(
            tree, word
        ):  # 'go to the kitchen, then to the lift'
            led[word.index] = led[starts[-1]] or _until_to(tree.words[starts[-1] : word.index])
            starts.append(word.index)
    if asking and not _may_follow(tree, starts):
        return []
    ends = [*starts[1:], len(tree.words)]
    parts = [(led[start], _trimmed(tree.words[start:end])) for start, end in zip(starts, ends, strict=True)]
    return [f'{verb}{part}' if verb else f'{part[:1].lower()}{part[1:]}' for verb, part in parts]


def _may_follow(tree: Tree, starts: Sequence[int]) -> bool:
    """Tell whether what follows a question is a command: nobody did it."""
    after = [tree.words[start + 1].low for start in starts[1:] if start + 1 < len(tree.words)]
    if not after or BY_ANYBODY.search(said(tree.words[FIRST + 2 : starts[1]])):
        return False
    return ME | IT | {'to', 'there'} >= set(after)


def _begins(tree: Tree, word: Word, links: set[str], before: Sequence[Word]) -> bool:
    """Tell whether a clause begins with a word."""
    after = tree.words[word.index + 1].tag if word.index + 1 < len(tree.words) else ''
    if word.low not in VERBS:
        return word.tag == 'VB' and word.dep != 'aux' and bool(links & {'and', 'then'})
    told = any(other.dep.startswith('nsubj') and other.tag == 'PRP' for other in before)
    if word.low in UNLIKE and told and 'then' not in links:
        return False
    return word.tag.startswith('V') or after in ('DT', 'PRP', 'PRP$', 'IN', 'TO')


def _infinitive(tree: Tree, word: Word) -> bool:
    after = tree.words[word.index + 1 : word.index + 2]
    return any(other.low in VERBS or (word.tag == 'TO' and other.tag == 'VB') for other in after)


def _links_before(tree: Tree, word: Word) -> Iterator[str]:
    index = word.index - 1
    while index > FIRST and tree.words[index].low in LINKS:
        yield tree.words[index].low
        index -= 1


def _until_to(words: Sequence[Word]) -> str:
    end = next((i for i, word in enumerate(words) if word.low in ('to', 'into', 'back')), 1)
    return f'{said(words[:end])} '


def _trimmed(words: Sequence[Word]) -> str:
    kept = list(words)
    while kept and kept[-1].low in LINKS:
        kept.pop()
    return said(kept)
