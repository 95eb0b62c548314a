"""Splits a command into clauses, and reads each: where it goes to, what it asks, what more it wants."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from remembr_ros.agent.model.english import PLACING, Tree, Word, parse
from remembr_ros.agent.model.quoting import any_case
from remembr_ros.agent.offline.word_classes import word_class
from remembr_ros.agent.times.day import MONTHS, WEEKDAYS

_BEFORE = 'You should '
_FIRST = 2
"""Index of the word that a tree of a command begins with."""
GO = word_class('order_go') | {'revisit'}
TELL, VERBS = map(word_class, ('order_tell', 'order'))
_FIND, _PUT, _PERSONS = map(word_class, ('order_find', 'order_put', 'person'))
_ME, _THING, _IN, _TO = map(word_class, ('me', 'it', 'where', 'whither'))
_LINK = any_case(
    r'[\s,;:.!]*(?:[,;.!]|\b(?:and|but|then)\b)'
    r'(?:[\s,;:.!]|\b(?:and|but|then|afterwards|finally|next|please|also)\b)*'
)
_ASKS = any_case(
    r'^(?:(?:tell|show|give|inform) (?:me|us) (?:if|whether|wh\w+|how|about'
    r'|(?:the|an?) (?:number|list|names?|count|summary|overview|description))|describe|list|count)\b'
)
_QUESTION = any_case(r'^(?:where|what|which|who|how many|how much|is|are)\b')
_BY_ANYBODY = any_case(r'\b(?:did|do|does|has|have|had|you|i|we|was|were)\b')
_OF_IT = any_case(r'^\w+ (?:me|us|it|them|that|this|one|to|there)\b')
_NUMBERED = any_case(r'\b(from|to|in|at|into|on|of|visit|and) (?!the |an? )(?=[a-z]+ [a-z]?\d)')
_AN_ARTICLE = r'\g<0>the '
_WITH_NUMBER = any_case(r'\bthe (?=(?:room|lab|ward|gate|floor|door|level|office|bay|aisle|hall) [a-z]?\d)')


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a command that has a verb of its own.

    :param goals: requests for the places to visit, in their order, each with what it is called
    :param asks: the goal is a question that wants an answer
    :param undone: it wants more than to be told something or to be taken somewhere
    :param doubts: sentences that say why nobody is sure of it
    """

    text: str
    goals: Mapping[str, str] = field(default_factory=dict)
    asks: bool = False
    undone: bool = False
    doubts: Sequence[str] = ()


def split_command(text: str) -> list[str]:
    """Return the clauses of a command; none: it is no command.

    A question may be the first of several: 'What is on the table? And then take me to the lift.'
    """
    text = f'{text[:1].lower()}{text[1:]}'
    question = text if _QUESTION.match(text) else ''
    text = _NUMBERED.sub(_AN_ARTICLE, f'tell me {text}' if question else text)
    # Most questions need not be parsed.
    if (question and not _LINK.search(text)) or re.split(r'\W', text, maxsplit=1)[0] not in VERBS:
        return []
    tree = _command_tree(text)
    words = {word.start - len(_BEFORE): word for word in tree}
    links = [link for link in _LINK.finditer(text) if _begins(tree, words.get(link.end()))]
    starts, ends = [0, *(link.end() for link in links)], [*(link.start() for link in links), len(text)]
    clauses = [f'{text[at].lower()}{text[at + 1 : end]}' for at, end in zip(starts, ends, strict=True)]
    # Nobody did what follows a question: 'What did you take and bring to the lift?'
    follows = clauses[1:] and all(map(_OF_IT.match, clauses[1:]))
    if question and (not follows or _BY_ANYBODY.search(clauses[0].removeprefix('tell me'))):
        return []
    # 'go to the kitchen, then to the lift'
    return [_WITH_NUMBER.sub('', f'go {one}' if one.split(' ', 1)[0] in _TO else one) for one in clauses]


class ClauseReader:
    """Reads the clauses of one text, one after the other: what 'it' and 'there' are, an earlier one says.

    :param places: names of places, in lower case: what is called so is no person
    """

    def __init__(self, places: Collection[str] = ()) -> None:
        self._names, self._sought = places, set[str]()
        self._thing = self._place = ''

    def read(self, text: str) -> Clause:
        """Return what a clause wants."""
        text = self._bound(text)
        tree = _command_tree(text)
        verb, said = tree.words[_FIRST], tree.words[_FIRST + 1 : _tells(tree.words)]
        doubts = self._doubts(tree, said)
        if _ASKS.match(text):
            nouns = [word for word in tree if word.tag in ('NN', 'NNS') and word.dep != 'compound']
            self._thing = self._place = _said(tree.phrase(nouns[0])) if nouns else self._thing
            return Clause(text, {text: text}, asks=True, doubts=doubts)
        objects = [*tree.children(verb, 'dobj'), *tree.about(verb, 'for')]
        thing = next((word for word in objects if word in said and word.low not in _ME), None)
        places, finds = self._places(tree, said), verb.low in _FIND
        goes = verb.low in GO and (thing is None or verb.low in ('visit', 'revisit'))
        goals = {} if thing is None or goes else self._things(tree, thing, finds)
        if goes and (verb.low == 'drive' or not {'from', 'to'} <= {low for low, _ in places}):
            several = [thing] if thing else tree.about(verb, 'to')
            places = [('to', one) for noun in several[:1] for one in _joined(tree, noun)]
        elif goals and finds:  # what is said of the thing is asked for with it
            places = []
        elif goals:
            there = _TO | _IN if verb.low in _PUT else _TO
            of = ', '.join(f'{low} {one}' for low, one in places if low not in there)
            doubts += [f'Whether it is the one {of} I do not know.'] if of else []
            places = [place for place in places if place[0] in there]
        goals |= {f'Go to {place}': place for _, place in places}
        self._place = places[-1][1] if places else self._place
        if (goes and len(goals) < 2) or (finds and not goals):
            goals = {text: ''.join(goals.values()) or text}
        return Clause(text, goals, undone=verb.low in VERBS and not (finds or goes), doubts=doubts)

    def _things(self, tree: Tree, thing: Word, finds: bool) -> dict[str, str]:
        """Return the requests for things, if they were not found by a clause before."""
        if self._is_person(tree, thing):
            self._thing = ''
            return {}
        sought = _joined(tree, thing)
        if thing.low in _THING:
            sought = [self._thing or thing.low]
        elif finds and len(sought) < 2:  # with all that is said of it
            sought = [_said(tree.words[tree.below(thing)[0].index :])]
        self._thing = self._place = it = sought[0] if thing.low in _THING else _said(tree.phrase(thing))
        is_new = it not in self._sought
        self._sought.add(it)
        return {f'Where is {one}?': one for one in sought} if is_new else {}

    def _bound(self, text: str) -> str:
        """Return a clause with the thing and the place of one before."""
        verb, place = text.split(' ', 1)[0], self._place or self._thing
        if place and verb in GO | TELL:
            text = re.sub(r'(?<=\w )(?:to )?there$', f'{"to" if verb in GO else "in"} {place}', text)
        if self._thing:
            text = re.sub(r'\b(to|where|when you(?: last)? saw) (?:it|that)\b', rf'\1 {self._thing}', text)
        return text

    def _doubts(self, tree: Tree, said: Sequence[Word]) -> list[str]:
        """Return what is to be said of persons, of what is not to be done, and of an unknown verb."""
        people = [
            w for w in said if w.dep in ('dobj', 'pobj', 'dative', 'nsubj') and self._is_person(tree, w)
        ]
        doubts = [f'I know no person by sight, so not {_said(tree.phrase(person))}.' for person in people]
        if any(word.dep == 'neg' or word.low in ('not', 'never', 'except', 'without') for word in tree):
            doubts.append('I do not understand what is left out or not to be done.')
        if tree.words[_FIRST].low not in VERBS:
            doubts.append(f'I do not understand: {_said(tree.words[_FIRST:])}.')
        return doubts

    def _places(self, tree: Tree, said: Sequence[Word]) -> list[tuple[str, str]]:
        """Return the places after prepositions, each with that: 'the table in the kitchen' is one."""
        places, end = list[tuple[str, str]](), -1
        for word, noun in ((w, noun) for w in said if w.low in PLACING for noun in tree.children(w, 'pobj')):
            if noun.pos == 'PRON' or noun.low in ('left', 'right') or self._is_person(tree, noun):
                continue
            if places and word.low in _IN and word.index == end + 1:
                places[-1] = (places[-1][0], f'{places[-1][1]} {word.low} {_said(tree.phrase(noun))}')
            else:
                places += [(word.low, one) for one in _joined(tree, noun)]
            end = tree.phrase(noun)[-1].index
        return sorted(places, key=lambda place: place[0] != 'from')  # from there, and then to the other

    def _is_person(self, tree: Tree, noun: Word) -> bool:
        if not {noun.lemma, noun.low}.isdisjoint(_PERSONS):
            return noun.low != 'them' or not self._thing
        named = noun.tag in ('NNP', 'NNPS') and not tree.children(noun, 'det', 'nummod')
        return (
            named
            and noun.low not in {*self._names, *WEEKDAYS, *MONTHS}
            and not any(map(str.isdigit, noun.text))
        )


def _command_tree(text: str) -> Tree:
    """Return the tree of 'You should ...': the model has seldom seen imperatives, nor 'to room 117'."""
    return parse(f'{_BEFORE}{_NUMBERED.sub(_AN_ARTICLE, text)}')


def _begins(tree: Tree, word: Word | None) -> bool:
    """Tell whether a clause begins with the word after a link."""
    # None: nothing is after it. And 'where you picked it and put it' is one clause.
    if word is None or (word.tag in ('VBD', 'VBN') and _tells(tree.words[: word.index])):
        return False
    is_verb = word.tag[0] == 'V' or tree.after(word).tag in ('DT', 'PRP', 'PRP$', 'IN', 'TO')
    return word.low in _TO or (word.low in VERBS and is_verb) or (word.tag == 'VB' and word.dep != 'aux')


def _tells(words: Sequence[Word]) -> int | None:
    """Return where a clause begins to tell what was: 'where you saw the man'; None: nowhere."""
    return next((w.index for w in words[_FIRST:] if w.dep == 'nsubj' and w.tag == 'PRP'), None)


def _said(words: Sequence[Word]) -> str:
    """Return words as they stand in their text."""
    text = re.sub(r' (?=\W)|(?<=[-/]) ', '', ' '.join(word.text for word in words))
    return _WITH_NUMBER.sub('', text)


def _joined(tree: Tree, noun: Word) -> list[str]:
    """Return what a noun is called, and each that 'and' joins to it; nothing of coordinates.

    Where more is said, as that they are 'in the kitchen', nobody knows of which of them.
    """
    called = _said(tree.phrase(noun))
    more = any(word.tag in ('IN', 'WDT', 'WRB') and word.low not in ('to', 'for', 'of') for word in tree)
    others = [] if more else tree.children(noun, 'conj', 'appos')
    joined = [called, *(each for other in others for each in _joined(tree, other))]
    return joined if re.search('[a-z]', called) else []
