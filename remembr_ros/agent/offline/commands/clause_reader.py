"""Splits a command into clauses, and reads each: where it goes to, what it asks, what more it wants."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from remembr_ros.agent.model.english import Tree, Word, parse
from remembr_ros.agent.model.quoting import any_case

_FIRST = 2
"""Index of the word that a tree of a command begins with."""
GO = frozenset(
    'go navigate drive walk move head return come proceed visit revisit travel run '
    'take bring lead guide escort accompany direct get send meet'.split()
)
"""Go there, without an object or with the asker for one."""
_FIND = frozenset('find locate look search seek spot show'.split())
TELL = frozenset('tell describe list count say show report summarise summarize'.split())
_PUT = frozenset('put place set lay drop store deliver leave'.split())
VERBS = frozenset(
    'grasp grab fetch pick hold lift open close shut clean wash wipe cook make turn switch push pull unload '
    'load dance sing play wait stay remove collect sort fill empty vacuum mop press water feed shake check '
    'give hand carry throw pour serve greet salute introduce contact follow answer ask talk speak offer wave '
    'inform call invite remind warn help hug'.split()
) | (GO | _FIND | TELL | _PUT)
"""Other verbs are read where they stand between clauses, but a text does not begin with a command."""

_PERSONS = frozenset(
    'person people man woman guest visitor boy girl child friend colleague somebody someone anybody anyone '
    'host customer waiter kid lady gentleman him her them'.split()
)
_ME = frozenset(('me', 'us'))
_THING = frozenset('it them that this one'.split())
_IN = frozenset('in at on inside near by'.split())
_TO = frozenset(('to', 'into', 'onto', 'back'))
_PLACING = _IN | _TO | {'from'}
_LINKS = any_case(r'(?:[\s,;:.!]|\b(?:and|but|then|afterwards|finally|next|please|also)\b)+$')
_JOINS = frozenset((',', ';', '.', '!', 'and', 'but', 'then'))
_PAST = frozenset(('VBD', 'VBN'))

_ASKS = any_case(
    r'^(?:(?:tell|show|give|inform) (?:me|us) (?:if|whether|wh\w+|how|about'
    r'|(?:the|an?) (?:number|list|names?|count|summary|overview|description))|describe|list|count)\b'
)
_QUESTION = any_case(r'^(?:where|what|which|who|how many|how much|is|are)\b')
_BY_ANYBODY = any_case(r'\b(?:did|do|does|has|have|had|you|i|we|was|were)\b')
_NUMBERED = any_case(r'\b(from|to|in|at|into|on|of|visit|and) (?!the |an? )(?=[a-z]+ [a-z]?\d)')
_WITH_NUMBER = any_case(r'\bthe (?=(?:room|lab|ward|gate|floor|door|level|office|bay|aisle|hall) [a-z]?\d)')


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a command that has a verb of its own.

    :param goals: requests for the places to visit, in their order, each with what it is called
    :param asks: the goal is a question that wants an answer
    :param undone: it wants more than to be told something or to be taken somewhere
    :param doubts: sentences that say why nobody is sure of it
    :param known: its verb is understood
    """

    text: str
    goals: Mapping[str, str] = field(default_factory=dict)
    asks: bool = False
    undone: bool = False
    doubts: Sequence[str] = ()
    known: bool = True


def begins_with_verb(text: str) -> bool:
    """Tell whether a text begins as a command does."""
    return re.split(r'\W', text.strip().lower(), maxsplit=1)[0] in VERBS


def split_command(text: str) -> list[str]:
    """Return the clauses of a command; none: it is no command.

    A question may be the first of several: 'What is on the table? And then take me to the lift.'
    """
    text = f'{text[:1].lower()}{text[1:]}'
    asking = bool(_QUESTION.match(text))
    text = f'tell me {text}' if asking else text
    if not begins_with_verb(text):
        return []
    words = _command_tree(text).words
    starts, links = [_FIRST], set[str]()
    for word in words[_FIRST + 1 :]:
        if _LINKS.match(word.text):
            links.add(word.low)
            continue
        if not links.isdisjoint(_JOINS) and _begins(words[starts[-1] : word.index + 2], word, links):
            starts.append(word.index)
        links = set()
    clauses: list[str] = []
    verb = ''
    for start, end in zip(starts, [*starts[1:], len(words)], strict=True):
        clause = _LINKS.sub('', _said(words[start:end]))
        if words[start].low in _TO:  # 'go to the kitchen, then to the lift'
            clause = f'{verb}{clause}'
        verb = re.split(rf'\b(?:{"|".join(_TO)})\b', clause)[0]
        clauses.append(f'{clause[:1].lower()}{clause[1:]}')
    # Nobody did what follows a question: 'What did you take and bring to the lift?'
    after = {words[start + 1].low for start in starts[1:] if start + 1 < len(words)}
    follows = after and after <= _ME | _THING | {'to', 'there'}
    if asking and (not follows or _BY_ANYBODY.search(clauses[0].removeprefix('tell me'))):
        return []
    return clauses


class ClauseReader:
    """Reads the clauses of one text, one after the other: what 'it' and 'there' are, an earlier one says.

    :param places: names of places, in lower case: what is called so is no person
    """

    def __init__(self, places: Collection[str] = ()) -> None:
        self._names = places
        self._thing = self._place = ''
        self._sought: set[str] = set()

    def read(self, text: str) -> Clause:
        """Return what a clause wants."""
        text = self._bound(text)
        tree = _command_tree(text)
        root = tree.words[_FIRST]
        objects = [*tree.children(root, 'dobj'), *tree.about(root, 'for')]
        said = tree.words[_FIRST + 1 : _tells(tree.words)]
        thing = next((word for word in objects if word in said and word.low not in _ME), None)
        doubts = list(self._doubts(tree))
        if _ASKS.match(text):
            nouns = [word for word in tree if word.tag in ('NN', 'NNS') and word.dep != 'compound']
            self._thing = self._place = _phrase(tree, nouns[0]) if nouns else self._thing
            return Clause(text, {text: text}, asks=True, doubts=doubts)
        places = self._places(tree)
        places.sort(key=lambda place: place[0] != 'from')  # from there, and then to the other
        if root.low in GO and (thing is None or root.low in ('visit', 'revisit')):
            several = [place for _, place in places]
            if root.low == 'drive' or {'from', 'to'} - {low for low, _ in places}:
                several = _joined(tree, thing or next(iter(tree.about(root, 'to')), None))
            goals = {f'Go to {one}': one for one in several}
            self._place = places[-1][1] if places else self._place
            return Clause(text, goals if len(goals) > 1 else {text: ''.join(several) or text}, doubts=doubts)
        finds = root.low in _FIND
        is_person = thing is not None and self._is_person(tree, thing)
        goals = {} if thing is None or is_person else self._things(tree, thing, finds)
        if is_person:
            self._thing = ''
        elif goals:
            there = _TO | _IN if root.low in _PUT else _TO
            of = '' if finds else ', '.join(f'{low} {one}' for low, one in places if low not in there)
            doubts += [f'Whether it is the one {of} I do not know.'] if of else []
            places = [] if finds else [place for place in places if place[0] in there]
        goals |= {f'Go to {place}': place for _, place in places}
        self._place = places[-1][1] if places else self._place
        if finds and not goals:
            goals = {text: text}
        return Clause(text, goals, undone=not finds, doubts=doubts, known=root.low in VERBS)

    def _things(self, tree: Tree, thing: Word, finds: bool) -> dict[str, str]:
        """Return the requests for things, if they were not found by a clause before."""
        it = self._thing or thing.low if thing.low in _THING else _phrase(tree, thing)
        is_new = it not in self._sought
        self._thing = self._place = it
        self._sought.add(it)
        sought = [it] if thing.low in _THING else _joined(tree, thing)
        if finds and len(sought) < 2:  # with all that is said of it
            sought = [_said(tree.words[tree.below(thing)[0].index :])]
        return {f'Where is {one}?': one for one in sought} if is_new else {}

    def _bound(self, text: str) -> str:
        """Return a clause with the thing and the place of one before."""
        place = self._place or self._thing
        if place and text.split(' ', 1)[0] in GO:
            text = re.sub(r'(?<=\w )(?:to )?there$', f'to {place}', text)
        elif place:
            text = re.sub(r'\b((?:you|we) (?:were|have been)\b.*) there$', rf'\1 in {place}', text)
        if self._thing:
            text = re.sub(r'\b(to|where|when you(?: last)? saw) (?:it|that)\b', rf'\1 {self._thing}', text)
        return text

    def _doubts(self, tree: Tree) -> Iterator[str]:
        """Yield what is to be said of persons, and of what is not to be done."""
        told = _tells(tree.words)
        of_past = told is not None or any(word.tag in _PAST for word in tree)
        for word in () if of_past and tree.words[_FIRST].low in TELL else tree.words[_FIRST + 1 : told]:
            if word.dep in ('dobj', 'pobj', 'dative', 'nsubj') and self._is_person(tree, word):
                yield f'I know no person by sight, so not {_phrase(tree, word)}.'
        if any(word.dep == 'neg' or word.low in ('not', 'never', 'except', 'without') for word in tree):
            yield 'I do not understand what is left out or not to be done.'

    def _places(self, tree: Tree) -> list[tuple[str, str]]:
        """Return the places after prepositions, each with that: 'the table in the kitchen' is one."""
        places: list[tuple[str, str]] = []
        end = -1
        for word in tree.words[_FIRST + 1 : _tells(tree.words)]:
            for noun in tree.children(word, 'pobj') if word.low in _PLACING else []:
                if noun.tag in ('PRP', 'DT') or noun.low in ('left', 'right') or self._is_person(tree, noun):
                    continue
                own = _phrase(tree, noun)
                if places and word.low in _IN and word.index == end + 1:
                    places[-1] = (places[-1][0], f'{places[-1][1]} {word.low} {own}')
                else:
                    places.append((word.low, own))
                end = _own(tree, noun)[-1].index
        return places

    def _is_person(self, tree: Tree, noun: Word) -> bool:
        if noun.low == 'them':
            return not self._thing
        if noun.lemma in _PERSONS or noun.low in _PERSONS:
            return True
        named = noun.tag in ('NNP', 'NNPS') and not tree.children(noun, 'det', 'nummod')
        return named and noun.low not in self._names and not any(map(str.isdigit, noun.text))


def _command_tree(text: str) -> Tree:
    """Return the tree of 'You should ...': the model has seldom seen imperatives, nor 'to room 117'."""
    return parse(f'You should {_NUMBERED.sub(lambda found: f"{found[0]}the ", text)}')


def _begins(words: Sequence[Word], word: Word, links: set[str]) -> bool:
    """Tell whether a clause begins with a word, the last but one of some, after one that has begun."""
    if word.low in _TO:
        return word.dep != 'aux'
    if word.low not in VERBS:
        return word.tag == 'VB' and word.dep != 'aux' and not links.isdisjoint(('and', 'then'))
    if word.tag in _PAST and _tells(words):  # 'where you picked it and put it'
        return False
    return word.tag[0] == 'V' or words[-1].tag in ('DT', 'PRP', 'PRP$', 'IN', 'TO')


def _tells(words: Sequence[Word]) -> int | None:
    """Return where a clause begins to tell what was: 'where you saw the man'; None: nowhere."""
    told = (word.index for word in words if word.dep == 'nsubj' and word.tag == 'PRP')
    return next((index for index in told if index >= _FIRST), None)


def _said(words: Sequence[Word]) -> str:
    """Return words as they stand in their text."""
    text, end = '', words[0].start if words else 0
    for word in words:
        text += f'{" " if word.start > end else ""}{word.text}'
        end = word.start + len(word.text)
    return _WITH_NUMBER.sub('', text)


def _joined(tree: Tree, noun: Word | None) -> list[str]:
    """Return what a noun is called, and each that 'and' joins to it; nothing of coordinates.

    Where more is said, as that they are 'in the kitchen', nobody knows of which of them.
    """
    if noun is None or not re.search('[a-z]', _phrase(tree, noun)):
        return []
    more = any(word.tag in ('IN', 'WDT', 'WRB') and word.low not in ('to', 'for', 'of') for word in tree)
    others = [] if more else [_joined(tree, other) for other in tree.children(noun, 'conj', 'appos')]
    return [_phrase(tree, noun), *(each for found in others for each in found)]


def _own(tree: Tree, noun: Word) -> list[Word]:
    """Return a noun with what says which one it is, without the places after it."""
    after = [word for word in tree.children(noun) if word.index > noun.index]
    outer = [
        word.index for word in after if word.low in _PLACING or word.dep in ('cc', 'conj', 'appos', 'punct')
    ]
    own = [word for word in tree.below(noun) if word.index < min(outer, default=len(tree.words))]
    numbers = [word for word in tree.words[own[-1].index + 1 :][:1] if word.tag == 'CD']  # 'ward 3'
    return [*own, *numbers]


def _phrase(tree: Tree, noun: Word) -> str:
    return _said(_own(tree, noun))
