"""Reads a clause of a command: where it goes to, what it asks, what more it wants, and who it is about."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from remembr_ros.agent.model.english import Tree, Word
from remembr_ros.agent.offline.commands.command_clauses import FIRST, command_tree, said
from remembr_ros.agent.offline.commands.command_words import (
    ASKED,
    AT,
    CHOOSING,
    FIND,
    GO,
    HIM,
    IT,
    LEAD,
    ME,
    NO_PLACE,
    NOT,
    OF_MEMORY,
    PERSONS,
    PREPOSITIONS,
    PUT,
    SOCIAL,
    TELL,
    VERBS,
)

_NO_PERSON = 'I know no person by sight, so not {}.'
_NOUN_TAGS = frozenset('DT PRP$ NN NNS NNP JJ CD HYPH POS'.split())


@dataclass(frozen=True, slots=True)
class Destination:
    """Where a clause goes to.

    :param text: the question for it
    :param said: what that is, in the asker's words
    :param source: where a thing shall be, which is where to go if it is not known; empty: anywhere
    """

    text: str
    said: str
    source: str = ''


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a command that has a verb of its own.

    :param goals: in the order of the visit
    :param asks: a question that it wants answered; empty: none
    :param undone: it wants more than to be told something or to be taken somewhere
    :param doubts: sentences that say why nobody is sure of it
    :param known: its verb is understood
    """

    text: str
    goals: tuple[Destination, ...] = ()
    asks: str = ''
    undone: bool = False
    doubts: tuple[str, ...] = ()
    known: bool = True


class ClauseReader:
    """Reads the clauses of one text, one after the other: what 'it' and 'there' are, an earlier one says.

    :param places: names of places, in lower case: what is called so is no person
    """

    def __init__(self, places: Collection[str] = ()) -> None:
        self._names = places
        self._thing = self._place = self._person = ''
        self._last_was_person = False
        self._sought: set[str] = set()

    def read(self, text: str) -> Clause:
        """Return what a clause wants."""
        text = self._bound(text)
        tree = command_tree(text)
        root = tree.words[FIRST]
        objects = [word for word in tree.children(root, 'dobj') if word.index > FIRST]
        thing = objects[0] if objects else None
        whom = [word for word in tree.children(root) if word.low in ME]
        led = bool(whom) and (thing is None or thing in whom)
        if ASKED.match(text) or (root.low == 'count' and thing is not None):
            return self._asking(text, tree, thing)
        if root.low in FIND or (root.low == 'show' and not led and thing is not None):
            return self._finding(text, tree, thing)
        if root.low in GO and (thing is None or root.low in ('visit', 'revisit')):
            return self._going(text, tree)
        if led and root.low in (*LEAD, *GO, 'meet', 'wait'):
            return self._going(text, tree)
        if root.low == 'get' and thing is None and tree.children(root, 'prep'):
            return self._going(text, tree)
        return self._doing(text, tree, thing)

    def _bound(self, text: str) -> str:
        """Return a clause with the thing and the place of one before."""
        place = self._place or self._thing
        if place and text.split(' ', 1)[0] in GO | LEAD:
            text = re.sub(r'(?<=\w )(?:to )?there$', f'to {place}', text)
        elif place:
            text = re.sub(r'\b((?:you|we) (?:were|have been)\b.*) there$', rf'\1 in {place}', text)
        if self._thing:
            text = re.sub(r'\b(to|where|when you(?: last)? saw) (?:it|that)\b', rf'\1 {self._thing}', text)
        return text

    def _asking(self, text: str, tree: Tree, thing: Word | None) -> Clause:
        nouns = [w for w in tree.words[FIRST + 1 :] if w.tag in ('NN', 'NNS') and w.dep != 'compound']
        doubts = [f'I do not know what is {w.low}.' for w in tree if w.tag == 'JJS' and w.low not in CHOOSING]
        if any(word.lemma in PERSONS for word in nouns) and not OF_MEMORY.search(text):
            doubts.append(_NO_PERSON.format('who is where now'))
        if nouns:
            self._mean(_phrase(tree, nouns[0]))
        if tree.words[FIRST].low == 'count' and thing is not None:
            text = f'How many {re.sub("^the ", "", said(tree.words[_start(tree, thing) :]))} are there?'
        return Clause(text, asks=text, doubts=tuple(doubts))

    def _going(self, text: str, tree: Tree) -> Clause:
        ends = tree.children(tree.words[FIRST], 'prep', 'dative')
        places = self._places(tree, ends)
        self._place = places[-1][1] if places else self._place
        doubts = tuple(self._doubts(tree, ends))
        goals: tuple[Destination, ...] = (
            Destination(text, places[-1][1] if places and re.search('[a-z]', places[-1][1]) else text),
        )
        if tree.words[FIRST].low != 'drive' and {'from', 'to'} <= {low for low, _ in places}:
            goals = tuple(_to(place) for side in ('from', 'to') for low, place in places if low == side)
        elif several := _several(tree):
            goals = tuple(map(_to, several))
        return Clause(text, goals, doubts=doubts)

    def _finding(self, text: str, tree: Tree, thing: Word | None) -> Clause:
        if thing is None:
            fors = [word for word in tree.children(tree.words[FIRST], 'prep') if word.low == 'for']
            thing = next((word for prep in fors for word in tree.children(prep, 'pobj')), None)
        if thing is None:
            return Clause(text, (Destination(text, text),))
        if self._is_person(tree, thing):
            who = self._whom(tree, thing)
            goals = tuple(_to(place) for _, place in self._places(tree, tree.words))
            return Clause(
                text, goals or (Destination(f'Where is {who}?', who),), doubts=(_NO_PERSON.format(who),)
            )
        self._mean(_phrase(tree, thing))
        self._sought.add(self._thing)
        if several := _several(tree):
            return Clause(text, tuple(Destination(f'Where is {one}?', one) for one in several))
        rest = said(tree.words[_start(tree, thing) :])
        return Clause(text, (Destination(f'Where is {rest}?', rest),), doubts=tuple(self._doubts(tree, ())))

    def _doing(self, text: str, tree: Tree, thing: Word | None) -> Clause:
        verb = tree.words[FIRST].low
        found = self._places(tree, tree.words)
        doubts: list[str] = []
        goals: list[Destination] = []
        if thing is not None and self._is_person(tree, thing):
            doubts.append(_NO_PERSON.format(self._whom(tree, thing)))
        elif thing is not None and verb in VERBS - SOCIAL - TELL and thing.low not in ME:
            own = self._thing or thing.low if thing.low in IT else _phrase(tree, thing)
            outward = ('to', 'into', 'onto', *(('on', 'in', 'at', 'inside') if verb in PUT else ()))
            sources = (f'{AT.get(low, low)} {place}' for low, place in found if low not in outward)
            if own not in self._sought:
                goals.append(Destination(f'Where is {own}?', own, next(sources, '')))
            found = [(low, place) for low, place in found if low in outward]
            self._mean(own)
            self._sought.add(own)
        found.sort(key=lambda place: place[0] != 'from')  # from there, and then to the other
        goals += [_to(place) for _, place in found]
        self._place = found[-1][1] if found else self._place
        doubts += self._doubts(tree, tree.words)
        return Clause(text, tuple(goals), undone=True, doubts=tuple(doubts), known=verb in VERBS)

    def _mean(self, thing: str) -> None:
        self._thing, self._place, self._last_was_person = thing, thing, False

    def _whom(self, tree: Tree, noun: Word) -> str:
        """Return what a person is called who is meant from now on."""
        if noun.low not in HIM:
            self._person = _phrase(tree, noun)
        self._last_was_person = True
        return self._person or noun.text

    def _doubts(self, tree: Tree, words: Sequence[Word]) -> Iterator[str]:
        """Yield what is to be said of the persons after prepositions, and of what is not to be done."""
        for word in words:
            nouns = tree.children(word, 'pobj') if word.index > FIRST else []
            more = [other for other in tree.below(word) if other.lemma in PERSONS and other.dep == 'nsubj']
            for noun in (*nouns, *more):
                if self._is_person(tree, noun):
                    yield _NO_PERSON.format(self._whom(tree, noun))
        if any(word.low in NOT for word in tree):
            yield 'I do not understand what is left out or not to be done.'

    def _places(self, tree: Tree, words: Sequence[Word]) -> list[tuple[str, str]]:
        """Return the places after prepositions, each with that: 'the table in the kitchen' is one.

        What is said of the past ('that you saw in the hall') is none.
        """
        past = {below.index for word in tree if word.dep == 'relcl' for below in tree.below(word)}
        places: list[tuple[str, str]] = []
        end = -1
        for word in words:
            if word.low not in PREPOSITIONS or word.index <= FIRST or word.index in past:
                continue
            for noun in tree.children(word, 'pobj'):
                if noun.low in NO_PLACE:
                    continue
                own = _own(tree, noun)
                if self._is_person(tree, noun):
                    end = -1
                elif places and word.low in ('in', 'at', 'on') and word.index == end + 1:
                    places[-1] = (places[-1][0], f'{places[-1][1]} {word.low} {_phrase(tree, noun)}')
                    end = own[-1].index
                else:
                    places.append((word.low, _phrase(tree, noun)))
                    end = own[-1].index
        return places

    def _is_person(self, tree: Tree, noun: Word) -> bool:
        if noun.lemma in PERSONS or noun.low in PERSONS:
            return True
        if noun.low in HIM:
            return noun.low not in IT or self._last_was_person
        named = noun.tag in ('NNP', 'NNPS') and not tree.children(noun, 'det', 'nummod')
        return named and noun.low not in self._names and not any(map(str.isdigit, noun.text))


def _to(place: str) -> Destination:
    return Destination(f'Go to {place}', place)


def _several(tree: Tree) -> list[str]:
    """Return the places or things after a verb that 'and' joins, each with an article or a number."""
    words = [word for word in tree.words[FIRST + 1 :] if word.text not in '.!']
    at = next((i for i, word in enumerate(words) if word.low in ('to', 'for')), -1)
    parts: list[list[Word]] = [[]]
    for word in words[at + 1 :]:
        if word.text == ',' or word.low == 'and':
            parts.append([])
        elif word.tag in _NOUN_TAGS:
            parts[-1].append(word)
        else:
            return []
    parts = [part for part in parts if part]
    whole = all(part[0].tag in ('DT', 'PRP$') or part[-1].tag == 'CD' for part in parts)
    return [said(part) for part in parts] if whole and len(parts) > 1 else []


def _start(tree: Tree, noun: Word) -> int:
    return tree.below(noun)[0].index


def _own(tree: Tree, noun: Word) -> list[Word]:
    """Return a noun with what says which one it is, without the places after it."""
    after = [word for word in tree.children(noun) if word.index > noun.index]
    cut = [word.index for word in after if word.low in PREPOSITIONS or word.dep in ('cc', 'conj', 'punct')]
    own = [word for word in tree.below(noun) if word.index < min(cut, default=len(tree.words))]
    numbers = [word for word in tree.words[own[-1].index + 1 :][:1] if word.tag == 'CD']  # 'ward 3'
    return [*own, *numbers]


def _phrase(tree: Tree, noun: Word) -> str:
    return said(_own(tree, noun))
